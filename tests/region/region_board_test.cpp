// SPDX-License-Identifier: MIT
// tests/region/region_board_test.cpp -- ANNOUNCE-1 to ANNOUNCE-3 both ways, which no small machine chooses by itself
#include "region/region_board.hpp"

#include <lockstep/member.hpp>
#include "loop/loop_crew.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "support/asleep.hpp"
#include "support/effort.hpp"
#include "support/policies.hpp"
#include "support/rank_places.hpp"
#include "support/threads.hpp"
#include "support/watchers.hpp"

namespace {

using lockstep::member;
using lockstep::detail::announcement;
using lockstep::detail::assignment;
using lockstep::detail::cpu_separation;
using lockstep::detail::job;
using lockstep::detail::loop_share;
using lockstep::detail::rank_groups;
using lockstep::detail::rank_tree;
using lockstep::detail::region_board;
using lockstep::detail::region_head;
using lockstep::test::watchers_of;

struct parameters {
  lockstep::test::named_policy policy;
  rank_tree::way how;
  std::size_t members;
  std::size_t width;
  unsigned caches = 1;  ///< to which the ranks are dealt

  rank_tree tree() const {
    return rank_tree(members, width, rank_groups(lockstep::test::dealt_ranks(members, caches)),
                     how);
  }
  friend std::ostream& operator<<(std::ostream& out, const parameters& p) {
    return out << p.policy << (p.how == rank_tree::way::direct ? "_direct_" : "_relayed_")
               << p.members << "_width_" << p.width
               << (p.caches > 1 ? "_caches_" + std::to_string(p.caches) : "");
  }
};

std::vector<parameters> all_parameters() {
  std::vector<parameters> all;
  for (const rank_tree::way how : {rank_tree::way::direct, rank_tree::way::relayed}) {
    for (const auto& policy : lockstep::test::all_policies()) {
      all.push_back({policy, how, 2, rank_tree::usual_width});
      if (policy.policy.is_spin()) continue;  // a crowd of spinners measures the scheduler only
      if (lockstep::test::is_brief() && std::string(policy.name) != "default") {
        all.push_back({policy, how, 17, rank_tree::usual_width});
        all.push_back({policy, how, 13, 2, 5});
        continue;
      }
      for (const std::size_t members : {8u, 9u, 17u, 64u, 65u}) {
        if (lockstep::test::is_brief() && members != 9 && members != 65) continue;
        all.push_back({policy, how, members, rank_tree::usual_width});
      }
      all.push_back({policy, how, 9, 2});  // four levels
      all.push_back({policy, how, 28, 3});
      all.push_back({policy, how, 17, rank_tree::usual_width, 3});
      all.push_back({policy, how, 13, 2, 5});
    }
  }
  return all;
}

/// Which members a member has told of a region, by the lines of the tree.
std::vector<std::size_t> told_by_lines(const rank_tree& tree, std::size_t rank, announcement of) {
  std::vector<std::size_t> told;
  const std::size_t end = of.is_loop() ? of.size() : tree.members();
  const auto add = [&](const rank_tree::line& at) {
    for (const std::size_t watcher : watchers_of(tree, at)) {
      if (watcher < end) told.push_back(watcher);
    }
  };
  if (rank == 0 && of.parts() > 1) told.push_back(0);
  tree.for_each_led(rank, of.size(), add);
  std::sort(told.begin(), told.end());
  return told;
}

TEST(region_board_told, those_told_are_the_watchers_of_the_lines_that_are_announced_ANNOUNCE_2) {
  for (const rank_tree::way how : {rank_tree::way::direct, rank_tree::way::relayed}) {
    for (const std::size_t width : {2u, 3u, 8u}) {
      for (std::size_t k = 0; k < 100; k += lockstep::test::is_brief() ? 11 : 1) {
        const std::size_t members = 1 + k % 70;
        const unsigned caches = k < 70 ? 1 : 3;
        const rank_tree tree(members, width,
                             rank_groups(lockstep::test::dealt_ranks(members, caches)), how);
        cpu_separation separation(members, false);
        const region_board board(tree, lockstep::wait_policy(), separation);
        for (std::uint32_t size = 1; size <= members; ++size) {
          for (const std::uint32_t parts : {0u, 1u, 3u}) {
            const announcement of(parts > 0 ? 1 : 2, size, parts);
            for (std::size_t rank = 0; rank < members; ++rank) {
              std::vector<std::size_t> told;
              board.for_each_told(rank, of, [&](std::size_t at) { told.push_back(at); });
              std::sort(told.begin(), told.end());
              ASSERT_EQ(told, told_by_lines(tree, rank, of))
                  << "rank " << rank << " of " << members << ", size " << size << ", width "
                  << width;
            }
          }
        }
      }
    }
  }
}

/// A board and its workers, which are plain threads that do what those of a team do.
class crew {
 public:
  crew(const parameters& p, std::uint32_t first_phase,
       std::uint64_t most_age = region_board::usual_most_age)
      : separation_(p.members, false),
        board(p.tree(), p.policy.policy, separation_, first_phase, false, most_age),
        loops_(board, stop_, error_,
               {p.members, p.members, p.how == rank_tree::way::direct, false, 1}),
        seen_(p.members),
        threads_(p.members) {
    start();
  }
  ~crew() {
    if (!workers_.empty()) close();
  }

 private:
  cpu_separation separation_;

 public:
  region_board board;

  void start() {
    for (std::size_t rank = 1; rank < seen_.size(); ++rank) {
      workers_.emplace_back([this, rank] { work(rank); });
    }
  }
  void close() {
    board.close();
    for (std::thread& each : workers_) each.join();
    workers_.clear();
  }
  void wait_until_all_sleep() const {
    for (std::size_t rank = 1; rank < threads_.size(); ++rank) threads_[rank].wait_until_asleep();
  }

  /// One region, of which the caller is member 0.
  template <class Function>
  void run(std::size_t size, Function& f) {
    const region_head head = next_head(size);
    if (size > 1) board.announce(head, lockstep::detail::job::of<member>(f));
    call(0, f);
    if (size > 1) board.collect(0, board.current());
  }
  /// The same of a loop.
  template <class Function>
  void loop(std::size_t size, Function& f, std::uint32_t parts, bool wakes) {
    const region_head head = next_head(size);
    job work = job::of<loop_share>(f);
    loops_.begin(head.size, parts);
    if (size > 1) board.announce(head, work, parts, wakes);
    loops_.lead(head.region, work);
  }

  std::uint32_t regions() const noexcept { return regions_; }
  /// The heads that a worker has taken part in (plain: ANNOUNCE-3).
  const std::vector<region_head>& seen_by(std::size_t rank) const { return seen_[rank]; }

 private:
  template <class Function>
  static void call(std::size_t rank, Function& f) {
    lockstep::detail::stop_source stop;
    lockstep::detail::member_state own;
    own.belong_to(nullptr, &stop, rank);
    lockstep::detail::member_access here(own);
    f(here.self);
  }

  region_head next_head(std::size_t size) {
    ++regions_;
    return {regions_, static_cast<std::uint32_t>(size)};
  }

  void work(std::size_t rank) {
    threads_[rank].enter();
    assignment what;
    while (board.next(rank, what)) {
      if (what.is_loop()) {
        loops_.serve(rank, what);
        continue;
      }
      board.relay(rank, what, true);
      const region_head head = what.head();
      if (rank < head.size) {
        seen_[rank].push_back(head);
        call(rank, what.line->what);
      }
      board.collect(rank, what.announced);
      board.report(rank, what.announced);
    }
  }

  lockstep::detail::stop_source stop_;
  lockstep::detail::first_error error_;
  struct told_crew : lockstep::detail::loop_crew {
    using loop_crew::loop_crew;
    void begin(std::uint32_t shares, std::uint32_t parts) {
      plan({shares, nullptr, 0, false, lockstep::call_site::none()});
      plan_.shares = shares;
      plan_.parts = parts;
    }
  } loops_;
  std::vector<std::vector<region_head>> seen_;
  std::vector<lockstep::test::watched_thread> threads_;
  std::vector<std::thread> workers_;
  std::uint32_t regions_ = 0;
};

class region_board_of : public testing::TestWithParam<parameters> {
 protected:
  std::size_t members() const { return GetParam().members; }
  std::uint32_t regions() const {
    const std::uint32_t plenty = GetParam().policy.policy.is_spin() ? 40
                                 : members() > 17                   ? 60
                                                                    : 200;
    return lockstep::test::is_brief() ? plenty / 4 : plenty;
  }
  /// A size for each region: all, few, next to those of before.
  std::size_t size_of(std::uint32_t region) const {
    const std::size_t draws[] = {members(), 1 + region * 7 % members(), 2, members() - region % 2,
                                 members()};
    return std::max<std::size_t>(1, draws[region % 5]);
  }
  /// Regions of changing sizes, each of which calls `f` on ranks below its size, and nobody else.
  void run_regions(crew& workers, bool with_loops = false) const {
    constexpr std::uint32_t most_parts = 3;
    std::vector<std::uint32_t> calls(most_parts * members()),
        expected(calls.size());           // plain: ANNOUNCE-3
    std::uint32_t before = 0, wrong = 0;  // plain: seen by all
    for (std::uint32_t region = 1; region <= regions(); ++region) {
      const std::size_t size = size_of(region);
      const std::uint32_t parts = with_loops ? region % 4 : 0;
      before = region;
      std::vector<std::uint32_t> misses(calls.size());
      const auto note = [&calls, &misses, &before, region](std::size_t which) {
        ++calls[which];
        misses[which] += before != region;
      };
      const auto small = [note](member& me) { note(most_parts * me.rank()); };
      const std::array<std::uint64_t, 16> ballast = {region};
      const auto large = [&, ballast](member& me) {
        small(me);
        misses[most_parts * me.rank()] += ballast[0] != region;
      };
      static_assert(lockstep::detail::job::travels_as<decltype(small)>(), "copied into the line");
      static_assert(!lockstep::detail::job::travels_as<decltype(large)>(), "called by its address");
      const auto part = [note](loop_share& me) {
        const std::size_t all = me.size() * me.parts();
        note(most_parts * me.rank() + me.block_of({0, all}).first % me.parts());
      };
      if (parts > 0) {
        workers.loop(size, part, size == 1 ? 1 : parts, region % 3 != 0);
      } else if (region % 3 == 0) {
        workers.run(size, large);
      } else {
        workers.run(size, small);
      }
      for (std::size_t rank = 0; rank < size; ++rank) {
        for (std::uint32_t k = 0; k < (size == 1 || parts == 0 ? 1 : parts); ++k) {
          ++expected[most_parts * rank + k];
        }
      }
      for (const std::uint32_t each : misses) wrong += each;
      ASSERT_EQ(calls, expected) << "region " << region << " of " << size << ", parts " << parts;
    }
    EXPECT_EQ(wrong, 0u);
  }
};

INSTANTIATE_TEST_SUITE_P(ways, region_board_of, testing::ValuesIn(all_parameters()),
                         testing::PrintToStringParamName());

TEST_P(region_board_of,
       FORK_3_each_region_calls_the_ranks_below_its_size_once_before_collect_returns) {
  crew workers(GetParam(), 0);
  run_regions(workers);
}

TEST_P(region_board_of, FORK_1_no_announcement_is_missed_where_phases_wrap_around) {
  for (const std::uint32_t steps_before : {1u, 2u, 5u}) {
    crew workers(GetParam(), 0u - steps_before);
    run_regions(workers);
  }
}

TEST_P(region_board_of,
       FORK_2_ANNOUNCE_6_each_part_of_a_loop_is_run_once_whoever_comes_or_is_woken) {
  crew workers(GetParam(), 0);
  run_regions(workers, true);
}

TEST_P(region_board_of, FORK_5_lines_and_claims_are_renewed_where_phases_wrap_around) {
  for (const std::uint64_t most_age : {2u, 6u, 40u}) {
    crew workers(GetParam(), 0u - 30u, most_age);
    run_regions(workers, true);
  }
}

TEST_P(region_board_of, workers_read_the_head_that_was_announced) {
  crew workers(GetParam(), 0);
  const auto nothing = [](member&) {};
  std::vector<std::vector<region_head>> expected(members());
  for (std::uint32_t region = 1; region <= 20; ++region) {
    const std::size_t size = size_of(region);
    workers.run(size, nothing);
    for (std::size_t rank = 1; rank < size; ++rank) {
      expected[rank].push_back({region, static_cast<std::uint32_t>(size)});
    }
  }
  const auto is_same = [](const region_head& a, const region_head& b) {
    return a.region == b.region && a.size == b.size;
  };
  for (std::size_t rank = 1; rank < members(); ++rank) {
    const std::vector<region_head>& seen = workers.seen_by(rank);
    EXPECT_TRUE(
        std::equal(seen.begin(), seen.end(), expected[rank].begin(), expected[rank].end(), is_same))
        << rank;
  }
}

TEST_P(region_board_of, close_lets_go_workers_that_have_never_had_a_region) {
  for (int i = 0; i < 5; ++i) crew(GetParam(), 0).close();
}

TEST_P(region_board_of, close_lets_go_workers_that_sleep) {
  if (GetParam().policy.policy.is_spin()) GTEST_SKIP() << "spinners do not sleep";
  crew workers(GetParam(), 0);
  const auto nothing = [](member&) {};
  workers.run(members(), nothing);
  workers.wait_until_all_sleep();
  workers.close();
}

TEST_P(region_board_of, a_region_wakes_workers_that_sleep) {
  if (GetParam().policy.policy.is_spin()) GTEST_SKIP() << "spinners do not sleep";
  crew workers(GetParam(), 0);
  std::vector<int> calls(members());
  const auto count = [&calls](member& me) { ++calls[me.rank()]; };
  for (int region = 1; region <= 3; ++region) {
    workers.wait_until_all_sleep();
    workers.run(members(), count);
    EXPECT_EQ(calls, std::vector<int>(members(), region));
  }
}

TEST_P(region_board_of, a_worker_that_comes_after_close_does_not_wait) {
  cpu_separation separation(GetParam().members, false);
  region_board board(GetParam().tree(), GetParam().policy.policy, separation);
  board.close();
  assignment none;
  for (std::size_t rank = 1; rank < members(); ++rank) EXPECT_FALSE(board.next(rank, none));
}

TEST_P(region_board_of, reset_makes_a_closed_board_as_new_for_other_workers) {
  crew workers(GetParam(), 0);
  run_regions(workers);
  workers.close();
  for (const std::uint32_t first_phase : {0u, 77u, 0u - 3u}) {
    workers.board.reset(first_phase);
    std::vector<int> calls(members());
    const auto count = [&calls](member& me) { ++calls[me.rank()]; };
    workers.start();
    for (int region = 1; region <= 5; ++region) {
      workers.run(members(), count);
      EXPECT_EQ(calls, std::vector<int>(members(), region));
    }
    workers.close();
  }
}

}  // namespace
