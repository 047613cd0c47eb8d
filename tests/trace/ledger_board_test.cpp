// SPDX-License-Identifier: MIT
// tests/trace/ledger_board_test.cpp -- accounts and what is made of them, without a thread or a clock
#include "trace/ledger_board.hpp"

#include <lockstep/ledger.hpp>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace {

using lockstep::call_site;
using lockstep::ledger;
using lockstep::detail::account_table;
using lockstep::detail::construct_key;
using lockstep::detail::ledger_board;
using lockstep::detail::ledger_count;
using lockstep::detail::member_ledger;

constexpr double per_second = 1e9;  // a tick is a nanosecond

construct_key key_of(const char* kind, unsigned line, const char* label = nullptr) {
  return {kind, call_site{"solver.cpp", line}, nullptr, label};
}

/// A segment of two members that ends at the construct: both are busy from 0 until they arrive, at `first` and at
/// `second`. It is over a tick after the later arrival.
void meet(ledger_board& board, const construct_key& key, std::uint64_t first,
          std::uint64_t second) {
  static std::uint32_t phase = 0;
  ++phase;
  const std::uint64_t arrivals[] = {first, second}, over = std::max(first, second) + 1;
  const std::uint32_t weight = board.of(0).paces.meetings.weight_of(phase);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    member_ledger& own = board.of(rank);
    const std::size_t account = own.accounts.find(key);
    own.accounts[account].passes.add(1);
    own.note_wait(own.accounts[account], over - arrivals[rank], weight);
    if (rank != 0 || weight == 0) continue;
    own.paces.meetings.took(over);
    own.times()[0] = {0, first, 0};
    own.times()[1] = {0, second, 1};
    own.note_segment(account, 2, over, weight);
  }
}

TEST(account_table, keeps_the_texts_of_what_is_gone_and_tells_it_from_what_has_its_place) {
  account_table table(1);
  char kind[] = "sync_threads", file[] = "plugin.cpp";
  const construct_key key = {kind, {file, 7}, nullptr, nullptr};
  const std::size_t first = table.find(key),
                    other = table.find({"loop", {"a", 1}, nullptr, nullptr});
  EXPECT_EQ(table.find(key), first);
  static_cast<void>(table.find({"loop", {"a", 1}, nullptr, nullptr}));
  std::memcpy(file, "another.cp", sizeof file);  // what a module that was loaded later has there
  EXPECT_STREQ(table.key(first).where.file, "plugin.cpp");
  EXPECT_STREQ(table.key(first).kind, "sync_threads");
  EXPECT_NE(table.key(first).kind, kind) << "a copy";
  table.compare_again();
  const std::size_t second = table.find(key);
  EXPECT_NE(second, first);
  EXPECT_NE(second, other);
  EXPECT_STREQ(table.key(second).where.file, "another.cp");
  EXPECT_EQ(table.find(key), second);
  EXPECT_EQ(table.used(), 3u);
}

TEST(ledger_board, constructs_without_room_share_an_account_that_is_shown) {
  ledger_board board(1, per_second);
  account_table& table = board.of(0).accounts;
  for (unsigned line = 0; line < account_table::most + 10; ++line) {
    const std::size_t account = table.find(key_of("sync_threads", line));
    EXPECT_EQ(account == account_table::others, line >= account_table::most);
    table[account].passes.add(1);
  }
  EXPECT_EQ(table.used(), account_table::most);
  const ledger result = board.gather("t");
  ASSERT_EQ(result.constructs.size(), account_table::most + 1);
  EXPECT_EQ(result.constructs.back().kind, "others");
  EXPECT_EQ(result.constructs.back().count, 10u);
}

TEST(ledger_board, staged_imbalance_names_the_last_member_the_gain_and_the_counts) {
  ledger_board board(2, per_second);
  for (int i = 0; i < 10; ++i) meet(board, key_of("sync_threads", 41), 100, 500);
  for (int i = 0; i < 5; ++i) meet(board, key_of("for_each", 52), 300, 200);
  const ledger result = board.gather("solver");
  EXPECT_EQ(result.team, "solver");
  EXPECT_EQ(result.members, 2u);
  ASSERT_EQ(result.constructs.size(), 2u);
  const ledger::construct& first = result.constructs[0];
  EXPECT_EQ(first.kind, "sync_threads");
  EXPECT_EQ(first.file, "solver.cpp");
  EXPECT_EQ(first.line, 41u);
  EXPECT_EQ(first.count, 10u);
  EXPECT_EQ(first.all.count, 20u);
  EXPECT_DOUBLE_EQ(first.members[0].total, 4010);
  EXPECT_DOUBLE_EQ(first.members[1].total, 10);
  EXPECT_DOUBLE_EQ(first.all.worst, 401);
  EXPECT_NEAR(first.members[0].median, 401, 25);
  EXPECT_DOUBLE_EQ(first.members[1].p99, 1);
  EXPECT_EQ(first.seen, 10u);
  EXPECT_EQ(first.last, (std::vector<std::uint64_t>{0, 10}));
  EXPECT_DOUBLE_EQ(first.gain, 10 * 200);
  EXPECT_EQ(first.busy, (std::vector<double>{10, 4000, 1000}));
  EXPECT_EQ(result.constructs[1].last, (std::vector<std::uint64_t>{5, 0}));
  EXPECT_DOUBLE_EQ(result.constructs[1].gain, 5 * 50);
  EXPECT_EQ(result.busy(), (std::vector<double>{15, 4500, 2000}));
}

TEST(ledger_board, long_segments_are_all_looked_at_LEDGER_2) {
  ledger_board board(2, per_second);
  for (int i = 0; i < 1000; ++i) meet(board, key_of("sync_threads", 1), 1000000, 500000);
  const ledger::construct one = board.gather("t").constructs.at(0);
  EXPECT_EQ(one.seen, 1000u);
  EXPECT_EQ(one.last, (std::vector<std::uint64_t>{1000, 0}));
  EXPECT_DOUBLE_EQ(one.gain, 1000 * 250000.0);
}

TEST(ledger_board, short_segments_that_are_looked_at_stand_for_the_others_LEDGER_2) {
  ledger_board board(2, per_second);
  constexpr unsigned passes = 1600000;
  for (unsigned i = 0; i < passes; ++i) {
    // Eight constructs in turns, as in the steps of a program; a quarter of all passes has member 0 last.
    meet(board, key_of("sync_threads", i % 8), i / 8 % 4 == 0 ? 900 : 100, 500);
  }
  const ledger result = board.gather("t");
  ASSERT_EQ(result.constructs.size(), 8u);
  for (const ledger::construct& each : result.constructs) {
    EXPECT_EQ(each.count, passes / 8);
    EXPECT_NEAR(static_cast<double>(each.seen), passes / 8, passes / 80);
    EXPECT_NEAR(static_cast<double>(each.last[0]), passes / 32, passes / 160);
    EXPECT_NEAR(each.gain, passes / 8 * 200.0, passes / 80 * 200.0);
  }
}

TEST(ledger_board, neither_a_chosen_segment_nor_the_one_before_it_is_left_out) {
  lockstep::detail::ledger_pace pace;
  pace.begin(20000);
  for (unsigned i = 0; i <= lockstep::detail::ledger_pace::first_ones; ++i) {
    EXPECT_FALSE(pace.leaves_out(i));
    pace.took(1);
  }
  unsigned left_out = 0;
  for (std::uint32_t i = 0; i < 100000; ++i) {
    const bool is_chosen = pace.weight_of(i) != 0 || pace.weight_of(i + 1) != 0;
    EXPECT_EQ(pace.leaves_out(i), !is_chosen);
    left_out += pace.leaves_out(i) ? 1 : 0;
  }
  EXPECT_NEAR(left_out, 100000 - 2 * 100000 / lockstep::detail::ledger_pace::usual, 200);
}

TEST(ledger_board, meetings_that_are_counted_lightly_are_counted_with_their_long_waits) {
  ledger_board board(1, per_second);
  member_ledger& own = board.of(0);
  std::uint32_t phase = 0;
  while (!own.passes_lightly(phase)) {
    own.paces.meetings.took(1);
    ++phase;
  }
  own.long_wait += 700;
  own.long_wait += 300;  // another member in the same meeting
  own.count_light("sync_sum", call_site{"solver.cpp", 1});
  EXPECT_EQ(own.long_wait, 0u);
  own.long_wait += 11;  // for something else
  EXPECT_FALSE(own.passes_lightly(phase + 1));
  own.begin_meeting();
  EXPECT_EQ(own.long_wait, 0u);
  const ledger result = board.gather("t");
  ASSERT_EQ(result.constructs.size(), 1u);
  EXPECT_EQ(result.constructs[0].count, 1u);
  EXPECT_DOUBLE_EQ(result.constructs[0].all.total, 1000);
  EXPECT_DOUBLE_EQ(result.constructs[0].all.worst, 1000);
}

TEST(ledger_board, constructs_in_two_regions_of_the_user_are_two) {
  ledger_board board(2, per_second);
  const std::string a = "assemble", other_a = a;
  meet(board, key_of("sync_threads", 1, a.c_str()), 1, 2);
  meet(board, key_of("sync_threads", 1, "solve"), 1, 2);
  meet(board, key_of("sync_threads", 1), 1, 2);
  // As another member spells it.
  board.of(1)
      .accounts[board.of(1).accounts.find(key_of("sync_threads", 1, other_a.c_str()))]
      .passes.add(1);
  const ledger result = board.gather("t");
  ASSERT_EQ(result.constructs.size(), 3u);
  for (const ledger::construct& each : result.constructs) {
    EXPECT_EQ(each.members.at(1).count, each.label == "assemble" ? 2u : 1u) << each.label;
  }
  EXPECT_NE(result.table().find("solver.cpp:1         assemble"), std::string::npos)
      << result.table();
}

TEST(ledger_board, nodes_leave_half_of_the_places_to_others) {
  ledger_board board(1, per_second);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < 2 * account_table::most; ++i) names.push_back(std::to_string(i));
  for (const std::string& each : names)
    board.of(0).note_node(each.c_str(), call_site{"plan.cpp", 3}, 10);
  EXPECT_EQ(board.of(0).accounts.used(), account_table::most / 2);
  EXPECT_NE(board.of(0).accounts.find(key_of("sync_threads", 1)), account_table::others);
  const ledger::construct node = board.gather("t").constructs.at(0);
  EXPECT_DOUBLE_EQ(node.all.total, 10 * 1.5 * account_table::most);  // "others"
}

TEST(ledger_board, one_very_long_segment_does_not_make_the_short_ones_long_LEDGER_2) {
  lockstep::detail::ledger_pace pace;
  pace.begin(1000);
  for (int i = 0; i < 100; ++i) pace.took(10);
  const auto chosen_of_64 = [&] {
    int chosen = 0;
    for (std::uint32_t number = 0; number < 64; ++number) chosen += pace.weight_of(number) != 0;
    return chosen;
  };
  EXPECT_LT(chosen_of_64(), 8);
  pace.took(1000000000);
  EXPECT_EQ(chosen_of_64(), 64);
  for (int i = 0; i < 3; ++i) pace.took(10);
  EXPECT_LT(chosen_of_64(), 8);
}

TEST(ledger_board, long_waits_stand_for_themselves_and_chosen_short_ones_for_others_LEDGER_2) {
  ledger_board board(1, per_second);
  member_ledger& own = board.of(0);
  auto& account = own.accounts[own.accounts.find(key_of("sync_threads", 1))];
  const auto waited = [&](std::uint64_t long_wait, std::uint64_t ticks, std::uint64_t weight) {
    const std::uint64_t before = account.waited.get();
    own.long_wait = long_wait;
    own.note_wait(account, ticks, weight);
    return account.waited.get() - before;
  };
  EXPECT_EQ(waited(0, 7, 32), 7 * 32u);
  EXPECT_EQ(waited(0, 7, 0), 0u);
  EXPECT_EQ(waited(1000, 1100, 32), 1100u);
  EXPECT_EQ(waited(1000, 0, 0), 1000u);
  EXPECT_EQ(account.longest_wait.get(), 1100u);
}

TEST(ledger_board, busy_time_and_skew_of_a_chosen_segment_stand_for_others_LEDGER_2) {
  ledger_board board(2, per_second);
  member_ledger& own = board.of(0);
  const std::size_t account = own.accounts.find(key_of("run", 1));
  own.accounts[account].passes.add(1);
  own.times()[0] = {0, 10, 0};
  own.times()[1] = {0, 30, 1};
  own.note_segment(account, 2, 32, 32);
  own.note_skew(account, 5, 32);
  const ledger::construct one = board.gather("t").constructs.at(0);
  EXPECT_EQ(one.busy, (std::vector<double>{2 * 32, 20 * 32, 10 * 32}));
  EXPECT_DOUBLE_EQ(one.skew, 5 * 32);
  EXPECT_DOUBLE_EQ(one.worst_skew, 5);
}

TEST(ledger_board, a_construct_that_units_spell_at_different_addresses_is_one) {
  ledger_board board(2, per_second);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    static char kinds[2][8] = {"run", "run"}, files[2][8] = {"a.cpp", "a.cpp"};
    account_table& table = board.of(rank).accounts;
    table[table.find({kinds[rank], call_site{files[rank], 3}, nullptr, nullptr})].passes.add(rank +
                                                                                             1);
  }
  const ledger result = board.gather("t");
  ASSERT_EQ(result.constructs.size(), 1u);
  EXPECT_EQ(result.constructs[0].members.at(0).count, 1u);
  EXPECT_EQ(result.constructs[0].members.at(1).count, 2u);
}

TEST(ledger_board, no_quantile_is_above_the_worst_wait) {
  ledger_board board(1, per_second);
  member_ledger& own = board.of(0);
  auto& account = own.accounts[own.accounts.find(key_of("run", 1))];
  account.passes.add(1);
  own.note_wait(account, 512, 1);  // the least value of its bucket
  const ledger::construct one = board.gather("t").constructs.at(0);
  EXPECT_DOUBLE_EQ(one.all.worst, 512);
  for (const ledger::waits& each : {one.all, one.members.at(0)}) {
    EXPECT_DOUBLE_EQ(each.median, 512);
    EXPECT_DOUBLE_EQ(each.p99, 512);
  }
}

TEST(ledger_board, numbers_begin_at_zero_again_after_a_reset) {
  ledger_board board(2, per_second);
  meet(board, key_of("sync_threads", 1), 1, 2);
  board.of(1).count(ledger_count::missed);
  board.of(0).loops_on(2).add(3);
  board.reset();
  const ledger empty = board.gather("t");
  EXPECT_TRUE(empty.constructs.empty());
  EXPECT_EQ(empty.decided.missed, 0u);
  EXPECT_EQ(empty.decided.loops_on, (std::vector<std::uint64_t>{0, 0, 0}));
  meet(board, key_of("sync_threads", 1), 1, 2);
  EXPECT_EQ(board.gather("t").constructs.at(0).count, 1u);
}

TEST(ledger_board, decisions_of_all_members_are_counted_together) {
  ledger_board board(3, per_second);
  board.of(0).loops_on(1).add(1);
  board.of(0).loops_on(3).add(2);
  for (std::size_t rank = 0; rank < 3; ++rank) board.of(rank).count(ledger_count::waits_slept);
  board.of(2).count(ledger_count::anticipated);
  board.of(0).count(ledger_count::crowded);
  board.of(1).count(ledger_count::inline_runs);
  board.of(1).count(ledger_count::inline_loops);
  board.of(2).count(ledger_count::inline_loops);
  const ledger result = board.gather("t");
  const ledger::decisions& decided = result.decided;
  EXPECT_EQ(decided.loops_on, (std::vector<std::uint64_t>{0, 1, 0, 2}));
  EXPECT_EQ(decided.slept, 3u);
  EXPECT_EQ(decided.anticipated, 1u);
  EXPECT_EQ(decided.missed, 0u);
  EXPECT_EQ(decided.crowded, 1u);
  EXPECT_EQ(decided.inline_runs, 1u);
  EXPECT_EQ(decided.inline_loops, 2u);
  EXPECT_NE(result.table().find("run alone: 1 region, 2 loops"), std::string::npos)
      << result.table();
  EXPECT_NE(result.table().find("more members than CPUs for them: 1"), std::string::npos);
  const nlohmann::json read = nlohmann::json::parse(result.json()).at("decisions");
  EXPECT_EQ(read.at("crowded"), 1);
  EXPECT_EQ(read.at("inline_runs"), 1);
  EXPECT_EQ(read.at("inline_loops"), 2);
}

TEST(ledger_board, the_json_is_whole_and_says_what_the_data_say) {
  ledger_board board(2, per_second);
  for (int i = 0; i < 3; ++i)
    meet(board, {"sync_sum", call_site{"C:\\a \"b\"\n.cpp", 7}, nullptr, "a \"label\""}, 100, 500);
  board.of(0).loops_on(2).add(9);
  const ledger result = board.gather("team \"x\"");
  const nlohmann::json read = nlohmann::json::parse(result.json());
  EXPECT_EQ(read.at("team"), "team \"x\"");
  EXPECT_EQ(read.at("members"), 2);
  const nlohmann::json& one = read.at("constructs").at(0);
  EXPECT_EQ(one.at("kind"), "sync_sum");
  EXPECT_EQ(one.at("file"), "C:\\a \"b\"\n.cpp");
  EXPECT_EQ(one.at("line"), 7);
  EXPECT_EQ(one.at("label"), "a \"label\"");
  EXPECT_EQ(one.at("count"), 3);
  EXPECT_EQ(one.at("waits").at("worst"), 401);
  EXPECT_EQ(one.at("members").at(1).at("total"), 3);
  EXPECT_EQ(one.at("last"), (std::vector<int>{0, 3}));
  EXPECT_EQ(one.at("busy"), (std::vector<int>{3, 1200, 300}));
  EXPECT_EQ(one.at("gain"), 600);
  EXPECT_EQ(read.at("decisions").at("loops_on").at(2), 9);
}

TEST(ledger_board, an_empty_ledger_has_a_table_and_json_too) {
  const ledger none;
  EXPECT_NE(none.table().find("lockstep ledger"), std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(none.json()).at("constructs").empty());
}

TEST(ledger_board, the_table_has_a_line_for_each_construct_with_its_place) {
  ledger_board board(2, per_second);
  meet(board, {"sync_threads", call_site{"/src/app/solver.cpp", 41}, nullptr, nullptr}, 100,
       1234567);
  const std::string table = board.gather("t").table();
  EXPECT_NE(table.find("sync_threads   solver.cpp:41"), std::string::npos) << table;
  EXPECT_NE(table.find("1: 100 %"), std::string::npos) << table;
  EXPECT_NE(table.find("617 us"), std::string::npos) << table;
}

}  // namespace
