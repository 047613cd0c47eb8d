// SPDX-License-Identifier: MIT
// tests/loop/promises_test.cpp -- what a program may rely on in a loop, whichever way the team takes to run it
//
// A table: every verb of a team, on 1, 2, 3 and 8 members, at a place that is not known, at one that is known to be short
// (where loops, reductions and scans take no turn: LONE-1 to LONE-6), while observers watch, and inside a region of the same
// team (where all run alone: ALONE-1 to ALONE-4). Each test is a promise.
#include <lockstep/lockstep.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "platform/process.hpp"
#include "region/turns.hpp"
#include "support/effort.hpp"

namespace {

using lockstep::external_team;
using lockstep::member;
using lockstep::team;
using lockstep::detail::reductions::block_value;
using lockstep::detail::reductions::each_value;
using lockstep::detail::reductions::scanned_value;

constexpr std::size_t chunk = 2;

/// What the loops of the table call for each index, or each part: with its first index, and the one after its last.
using part_function = std::function<void(std::size_t first, std::size_t last)>;

/// While it is not 0, each place is known by the team of this number as one of short loops.
std::uint32_t knowing_team = 0;

void know(lockstep::detail::place_pace& place) {
  using lockstep::detail::place_pace;
  if (knowing_team == 0) return;
  place.allow(knowing_team, place_pace::most_iterations, place_pace::most_loops);
}
template <class Leaf>
void know(const Leaf&) {
  know(lockstep::detail::sized_leaf<Leaf>::place.pace);
}
/// The place of a reduction or scan.
template <class Values>
void know_values() {
  using namespace lockstep::detail::reductions;
  know(operations_for<std::size_t, std::plus<>, Values>::pace);
}

/// The verbs. Each has one place in the program for each kind of team.
template <class Team>
struct verbs {
  static auto each(const part_function& part) {
    return [&part](std::size_t i) { part(i, i + 1); };
  }
  static auto sum_each(const part_function& part) {
    return [&part](std::size_t i) {
      part(i, i + 1);
      return std::size_t{1};
    };
  }
  static auto sum_parts(const part_function& part) {
    return [&part](std::size_t first, std::size_t last) {
      part(first, last);
      return last - first;
    };
  }
  /// A verb that returns a value throws when it was stopped.
  template <class Loop>
  static bool is_complete(std::size_t n, const Loop& loop) {
    try {
      EXPECT_EQ(loop(), n);
      return true;
    } catch (const lockstep::region_stopped&) {
      return false;
    }
  }

  /// for_each and for_range, with a schedule or none.
  template <class... How>
  static bool for_each(Team& on, std::size_t n, const part_function& part, How&&... how) {
    const auto f = each(part);
    know(lockstep::detail::each_of(lockstep::detail::span_of(std::size_t{0}, n), f));
    return on.for_each(std::size_t{0}, n, f, how...);
  }
  template <class... How>
  static bool for_parts(Team& on, std::size_t n, const part_function& part, How&&... how) {
    know(lockstep::detail::blocks_of(lockstep::detail::span_of(std::size_t{0}, n), part));
    return on.for_range(std::size_t{0}, n, part, how...);
  }
  static bool blocks(Team& on, std::size_t n, const part_function& part) {
    return for_each(on, n, part);
  }
  static bool static_chunks(Team& on, std::size_t n, const part_function& part) {
    return for_each(on, n, part, lockstep::static_schedule(chunk));
  }
  static bool dynamic(Team& on, std::size_t n, const part_function& part) {
    return for_each(on, n, part, lockstep::dynamic_schedule(chunk));
  }
  static bool guided(Team& on, std::size_t n, const part_function& part) {
    return for_each(on, n, part, lockstep::guided_schedule());
  }
  static bool weighted(Team& on, std::size_t n, const part_function& part) {
    lockstep::weighted_schedule how(on.size());
    return for_each(on, n, part, how);
  }
  static bool range_blocks(Team& on, std::size_t n, const part_function& part) {
    return for_parts(on, n, part);
  }
  static bool range_static(Team& on, std::size_t n, const part_function& part) {
    return for_parts(on, n, part, lockstep::static_schedule(chunk));
  }
  static bool range_dynamic(Team& on, std::size_t n, const part_function& part) {
    return for_parts(on, n, part, lockstep::dynamic_schedule(chunk));
  }
  static bool range_guided(Team& on, std::size_t n, const part_function& part) {
    return for_parts(on, n, part, lockstep::guided_schedule());
  }
  static bool pairs(Team& on, std::size_t n, const part_function& part) {
    const lockstep::index_range_2 ranges = {{0, n / 2}, {0, 2}};
    const auto f = [&](std::size_t i, std::size_t j) { part(2 * i + j, 2 * i + j + 1); };
    know(lockstep::detail::each_of_nested(ranges, f));
    return on.for_each(lockstep::index_range_2{ranges.rows, ranges.columns}, f,
                       lockstep::dynamic_schedule(chunk));
  }
  static bool triples(Team& on, std::size_t n, const part_function& part) {
    const lockstep::index_range_3 ranges = {{0, 1}, {0, n / 2}, {0, 2}};
    const auto f = [&](std::size_t, std::size_t i, std::size_t j) {
      part(2 * i + j, 2 * i + j + 1);
    };
    know(lockstep::detail::each_of_nested(ranges, f));
    return on.for_each(lockstep::index_range_3{ranges.planes, ranges.rows, ranges.columns}, f,
                       lockstep::static_schedule(chunk));
  }
  static bool reduce(Team& on, std::size_t n, const part_function& part) {
    const auto f = sum_each(part);
    know_values<each_value<std::size_t, std::size_t, decltype(f)>>();
    return is_complete(
        n, [&] { return on.reduce_each(std::size_t{0}, n, std::size_t{0}, f, std::plus<>()); });
  }
  static bool reduce_range(Team& on, std::size_t n, const part_function& part) {
    const auto f = sum_parts(part);
    know_values<block_value<std::size_t, std::size_t, decltype(f)>>();
    return is_complete(
        n, [&] { return on.reduce_range(std::size_t{0}, n, std::size_t{0}, f, std::plus<>()); });
  }
  static bool scan(Team& on, std::size_t n, const part_function& part) {
    // A long scan sums all values before it stores any.
    const bool is_long = n > 1024;
    const auto f = [&, is_long](std::size_t i) {
      if (is_long) part(i, i + 1);
      return std::size_t{1};
    };
    const auto store = [&, is_long](std::size_t i, std::size_t) {
      if (!is_long) part(i, i + 1);
    };
    know_values<scanned_value<std::size_t, std::size_t, decltype(f), decltype(store)>>();
    return is_complete(n, [&] {
      return on.scan_each(std::size_t{0}, n, std::size_t{0}, f, std::plus<>(), store);
    });
  }
  static bool invoke(Team& on, std::size_t, const part_function& part) {
    return on.sections([&] { part(0, 1); }, [&] { part(1, 2); }, [&] { part(2, 3); },
                       [&] { part(3, 4); });
  }
};

/// A row of the table.
struct verb {
  const char* name;
  bool (*of_team)(team&, std::size_t, const part_function&);
  bool (*of_external)(external_team&, std::size_t, const part_function&);
  bool may_be_alone;        ///< without a region
  std::size_t longest;      ///< part that a stop does not cut; 0: any
  bool is_given_parts;      ///< its function is, and not an index
  bool ends_early = false;  ///< a loop of 2^40 iterations
  std::size_t length = 16;

  /// Whether its function is given the chunks of its schedule.
  bool has_chunks() const { return is_given_parts && longest == chunk; }
  /// At most so many iterations have run when each member has run what it had begun at a stop.
  std::size_t most_after_stop(std::size_t members) const {
    return longest != 0 ? members * longest : length;
  }
};
#define VERB(name) #name, verbs<team>::name, verbs<external_team>::name
const verb table[] = {
    {VERB(blocks), true, 0, false},
    {VERB(static_chunks), true, chunk, false, true},
    {VERB(dynamic), true, chunk, false, true},
    {VERB(guided), true, 8, false},
    {VERB(weighted), false, 0, false},
    {VERB(range_blocks), true, 0, true},
    {VERB(range_static), true, chunk, true, true},
    {VERB(range_dynamic), true, chunk, true, true},
    {VERB(range_guided), true, 8, true},
    {VERB(pairs), true, chunk, false, true},
    {VERB(triples), true, chunk, false, true},
    {VERB(reduce), true, 0, false, true},
    {VERB(reduce_range), true, 0, true},
    {VERB(scan), true, 0, false, true},
    {VERB(invoke), false, 1, false, false, 4},
};
#undef VERB

/// A team of either kind.
class crew {
 public:
  virtual ~crew() = default;
  virtual bool loop(const verb& of, std::size_t n, const part_function& part) = 0;
  virtual bool run(const std::function<void(member&)>& f) = 0;
  virtual void request_stop() = 0;
  virtual void keep_ledger() = 0;
};
class own_threads final : public crew {
 public:
  explicit own_threads(std::size_t members) : team_(members) {}
  bool loop(const verb& of, std::size_t n, const part_function& part) override {
    return of.of_team(team_, n, part);
  }
  bool run(const std::function<void(member&)>& f) override { return team_.run(f); }
  void request_stop() override { team_.request_stop(); }
  void keep_ledger() override { team_.keep_ledger(true); }

 private:
  team team_;
};
class lent_threads final : public crew {
 public:
  explicit lent_threads(std::size_t members) : team_(members) {
    for (std::size_t rank = 1; rank < members; ++rank) {
      threads_.emplace_back([this, rank] { team_.serve(rank); });
    }
  }
  ~lent_threads() override { release(); }
  void release() {
    team_.release();
    for (std::thread& each : threads_) each.join();
    threads_.clear();
  }
  bool loop(const verb& of, std::size_t n, const part_function& part) override {
    return of.of_external(team_, n, part);
  }
  bool run(const std::function<void(member&)>& f) override { return team_.run(f); }
  void request_stop() override { team_.request_stop(); }
  void keep_ledger() override { team_.keep_ledger(true); }

 private:
  external_team team_;
  std::vector<std::thread> threads_;
};

/// Whether the calling thread runs a loop without a region.
bool is_alone() {
  const auto* const at = lockstep::detail::innermost_region();
  return at != nullptr && at->boards == nullptr;
}

enum class way { unknown, learned, observed, nested };

using parameters = std::tuple<std::size_t, way, bool>;

class promises_of : public testing::TestWithParam<parameters> {
 protected:
  std::size_t members() const { return std::get<0>(GetParam()); }
  way how() const { return std::get<1>(GetParam()); }
  bool has_lent_threads() const { return std::get<2>(GetParam()); }
  /// How many members run iterations at most.
  std::size_t runners() const { return how() == way::nested ? 1 : members(); }

  /// Calls check(crew, verb) for each verb, with a new team each time.
  template <class Check>
  void of_each_verb(const Check& check) {
    for (const verb& each : table) {
      SCOPED_TRACE(each.name);
      const std::uint32_t age =
          lockstep::detail::process().team_ages.load(lockstep::detail::memory_order_relaxed);
      std::unique_ptr<crew> all;
      if (has_lent_threads()) {
        all.reset(new lent_threads(members()));
      } else {
        all.reset(new own_threads(members()));
      }
      if (how() == way::observed) all->keep_ledger();
      knowing_team = how() == way::learned ? age & 0xFFFFFFu : 0;
      alone_ = 0;
      check(*all, each);
      knowing_team = 0;
      const bool is_nested = how() == way::nested;
      const bool may_be_alone = each.may_be_alone && how() != way::observed;
      if (!may_be_alone && !is_nested) {
        EXPECT_EQ(alone_, 0);
      }
      if (is_nested || (may_be_alone && (how() == way::learned || members() == 1))) {
        EXPECT_GT(alone_, 0);
      }
    }
  }
  /// Runs one, and notes which way it takes.
  bool loop(crew& on, const verb& of, std::size_t n, const part_function& part) {
    const part_function noted = [&](std::size_t first, std::size_t last) {
      if (is_alone()) ++alone_;
      part(first, last);
    };
    if (how() != way::nested) return on.loop(of, n, noted);
    bool is_complete = false;
    const bool region_is_complete = on.run([&](member& me) {
      if (me.rank() + 1 == me.size()) is_complete = on.loop(of, n, noted);
    });
    EXPECT_EQ(region_is_complete, is_complete);
    return is_complete;
  }
  bool loop(crew& on, const verb& of, const part_function& part) {
    return loop(on, of, of.length, part);
  }

  static void expect_usable(crew& on, const verb& of, std::size_t members) {
    std::atomic<std::size_t> came{0}, ran{0};
    EXPECT_TRUE(on.run([&](member& me) {
      me.sync_threads();
      ++came;
    }));
    EXPECT_EQ(came.load(), members);
    EXPECT_TRUE(on.loop(of, of.length, [&](std::size_t i, std::size_t j) { ran += j - i; }));
    EXPECT_EQ(ran.load(), of.length);
  }

 private:
  std::atomic<int> alone_{0};
};
std::string name_of(const testing::TestParamInfo<parameters>& of) {
  constexpr const char* ways[] = {"unknown", "learned", "observed", "nested"};
  return (std::get<2>(of.param) ? "lent_" : "own_") + std::to_string(std::get<0>(of.param)) + "_" +
         ways[static_cast<int>(std::get<1>(of.param))];
}
std::vector<std::size_t> sizes() {
  if (lockstep::test::is_brief()) return {1, 3};
  return {1, 2, 3, 8};
}
INSTANTIATE_TEST_SUITE_P(table, promises_of,
                         testing::Combine(testing::ValuesIn(sizes()),
                                          testing::Values(way::unknown, way::learned, way::observed,
                                                          way::nested),
                                          testing::Bool()),
                         name_of);

TEST_P(promises_of, every_index_once_and_the_loop_says_that_it_is_complete) {
  of_each_verb([&](crew& all, const verb& of) {
    for (const std::size_t n : {of.length, of.length == 4 ? of.length : 0, of.length}) {
      std::vector<std::atomic<int>> visits(n);
      EXPECT_TRUE(loop(all, of, n, [&](std::size_t first, std::size_t last) {
        EXPECT_LT(first, last);
        for (; first < last; ++first) ++visits[first];
      }));
      for (const std::atomic<int>& each : visits) EXPECT_EQ(each.load(), 1);
    }
  });
}

TEST_P(promises_of,
       parts_are_the_chunks_of_the_schedule_and_come_in_order_where_one_member_takes_them) {
  of_each_verb([&](crew& all, const verb& of) {
    std::mutex mutex;
    std::vector<std::size_t> firsts;
    EXPECT_TRUE(loop(all, of, [&](std::size_t first, std::size_t last) {
      const std::lock_guard<std::mutex> lock(mutex);
      firsts.push_back(first);
      if (of.has_chunks()) {
        EXPECT_EQ(first % chunk, 0u);
        EXPECT_EQ(last, first + chunk);
      }
    }));
    if (of.has_chunks()) {
      EXPECT_EQ(firsts.size(), of.length / chunk);
    }
    if (runners() == 1) {
      EXPECT_TRUE(std::is_sorted(firsts.begin(), firsts.end()));
    }
  });
}

TEST_P(promises_of, a_stop_by_an_iteration_is_seen_before_the_next_chunk_and_the_loop_says_so) {
  of_each_verb([&](crew& all, const verb& of) {
    std::atomic<bool> is_asked{false}, is_stopped{false};
    std::atomic<std::size_t> ran{0};
    EXPECT_FALSE(loop(all, of, [&](std::size_t first, std::size_t last) {
      ran += last - first;
      if (!is_asked.exchange(true)) {
        all.request_stop();
        is_stopped = true;
      }
      while (!is_stopped) std::this_thread::yield();
    }));
    EXPECT_LE(ran.load(), of.most_after_stop(runners()));
    expect_usable(all, of, members());
  });
}

TEST_P(promises_of, a_stop_by_the_last_iteration_is_said_too) {
  of_each_verb([&](crew& all, const verb& of) {
    std::atomic<std::size_t> ran{0};
    EXPECT_FALSE(loop(all, of, [&](std::size_t first, std::size_t last) {
      if ((ran += last - first) == of.length) all.request_stop();
    }));
    EXPECT_EQ(ran.load(), of.length);
  });
}

TEST_P(promises_of, a_stop_by_another_thread_is_seen_before_the_next_chunk_and_the_loop_says_so) {
  of_each_verb([&](crew& all, const verb& of) {
    std::atomic<bool> has_begun{false}, is_stopped{false};
    std::atomic<std::size_t> ran{0};
    int written = 0;
    std::thread other([&] {
      while (!has_begun) std::this_thread::yield();
      written = 1;
      all.request_stop();
      is_stopped.store(true, std::memory_order_relaxed);
    });
    EXPECT_FALSE(loop(all, of, [&](std::size_t first, std::size_t last) {
      ran += last - first;
      has_begun = true;
      while (!is_stopped.load(std::memory_order_relaxed)) std::this_thread::yield();
    }));
    EXPECT_EQ(written, 1) << "what came before the request";
    other.join();
    EXPECT_LE(ran.load(), of.most_after_stop(runners()));
    expect_usable(all, of, members());
  });
}

TEST_P(promises_of, a_stop_by_a_guest_of_the_loop_is_seen_as_well) {
  of_each_verb([&](crew& all, const verb& of) {
    std::atomic<bool> is_asked{false};
    EXPECT_FALSE(loop(all, of, [&](std::size_t, std::size_t) {
      if (is_asked.exchange(true)) return;
      const lockstep::region_token here = lockstep::this_region();
      std::thread([&] {
        const lockstep::inside_region guest(here);
        all.request_stop();
      }).join();
    }));
    expect_usable(all, of, members());
  });
}

TEST_P(promises_of, a_stop_by_a_member_of_another_team_is_seen_as_well) {
  of_each_verb([&](crew& all, const verb& of) {
    std::atomic<bool> has_begun{false}, is_stopped{false};
    std::thread other([&] {
      team(1).run([&] {
        while (!has_begun) std::this_thread::yield();
        all.request_stop();
      });
      is_stopped = true;
    });
    EXPECT_FALSE(loop(all, of, [&](std::size_t, std::size_t) {
      has_begun = true;
      while (!is_stopped) std::this_thread::yield();
    }));
    other.join();
  });
}

TEST_P(promises_of, a_loop_of_2_to_the_40_iterations_ends_when_it_is_stopped_whoever_asks) {
  if (sizeof(std::size_t) < 8) GTEST_SKIP();
  of_each_verb([&](crew& all, const verb& of) {
    static_cast<void>(loop(all, of, [](std::size_t, std::size_t) {}));
    if (!of.ends_early) return;
    for (const bool from_outside : {false, true}) {
      std::atomic<std::size_t> ran{0};
      std::thread other([&] {
        if (!from_outside) return;
        while (ran < 100) std::this_thread::yield();
        all.request_stop();
      });
      const std::size_t n = static_cast<std::size_t>(std::uint64_t{1} << 40);
      EXPECT_FALSE(loop(all, of, n, [&](std::size_t, std::size_t) {
        if (++ran == 100 && !from_outside) all.request_stop();
      }));
      other.join();
    }
  });
}

TEST_P(promises_of, a_stop_in_between_stops_nothing) {
  of_each_verb([&](crew& all, const verb& of) {
    all.request_stop();
    EXPECT_TRUE(loop(all, of, [](std::size_t, std::size_t) {}));
    EXPECT_FALSE(loop(all, of, [&](std::size_t, std::size_t) { all.request_stop(); }));
    EXPECT_TRUE(loop(all, of, [](std::size_t, std::size_t) {})) << "nor does the one of before";
  });
}

TEST_P(promises_of, an_exception_is_thrown_on_the_caller_and_leaves_the_team_usable) {
  of_each_verb([&](crew& all, const verb& of) {
    std::atomic<bool> has_thrown{false};
    EXPECT_THROW(loop(all, of,
                      [&](std::size_t, std::size_t) {
                        if (!has_thrown.exchange(true)) throw std::range_error("one");
                      }),
                 std::range_error);
    EXPECT_EQ(lockstep::detail::innermost_region(), nullptr);
    expect_usable(all, of, members());
  });
}

TEST_P(promises_of, an_exception_wins_over_a_stop) {
  of_each_verb([&](crew& all, const verb& of) {
    std::atomic<bool> has_thrown{false};
    EXPECT_THROW(loop(all, of,
                      [&](std::size_t, std::size_t) {
                        if (has_thrown.exchange(true)) return;
                        all.request_stop();
                        throw std::range_error("one");
                      }),
                 std::range_error);
    expect_usable(all, of, members());
  });
}

TEST_P(promises_of, what_iterations_call_of_the_team_runs_at_once_and_alone_TEAM_2) {
  of_each_verb([&](crew& all, const verb& of) {
    std::atomic<int> calls{0};
    EXPECT_TRUE(loop(all, of, [&](std::size_t, std::size_t) {
      std::vector<int> order;
      EXPECT_TRUE(all.run([&](member& me) {
        EXPECT_EQ(me.size(), 1u);
        me.sync_threads();
        me.single([&] { order.push_back(1); });
        me.critical([&] { order.push_back(2); });
        me.for_ordered(0, 2, [&](int i, lockstep::ordered_turn& turn) {
          turn([&] { order.push_back(3 + i); });
        });
        EXPECT_EQ(me.sync_sum(7), 7);
      }));
      EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4}));
      std::size_t ran = 0;
      EXPECT_TRUE(all.loop(of, of.length, [&](std::size_t i, std::size_t j) { ran += j - i; }));
      EXPECT_EQ(ran, of.length);
      EXPECT_FALSE(all.run([](member& me) { me.request_stop(); })) << "stops itself";
      EXPECT_THROW(all.run([](member&) { throw std::range_error("one"); }), std::range_error);
      EXPECT_THROW(all.keep_ledger(), std::logic_error) << "TEAM-6";
      ++calls;
    }));
    EXPECT_GT(calls.load(), 0);
  });
}

TEST_P(promises_of, a_stop_in_a_call_of_the_team_is_one_of_the_loop_around) {
  of_each_verb([&](crew& all, const verb& of) {
    EXPECT_FALSE(loop(
        all, of, [&](std::size_t, std::size_t) { all.run([&](member&) { all.request_stop(); }); }));
    EXPECT_FALSE(loop(all, of, [&](std::size_t, std::size_t) {
      try {
        all.loop(of, of.length, [&](std::size_t, std::size_t) { all.request_stop(); });
      } catch (const lockstep::region_stopped&) {
      }
    }));
    expect_usable(all, of, members());
  });
}

TEST_P(promises_of, a_stop_of_what_is_around_a_loop_is_seen_before_its_next_chunk) {
  if (sizeof(std::size_t) < 8) GTEST_SKIP();
  const std::size_t n = static_cast<std::size_t>(std::uint64_t{1} << 40);
  of_each_verb([&](crew& all, const verb& of) {
    static_cast<void>(loop(all, of, [](std::size_t, std::size_t) {}));
    if (!of.ends_early) return;
    // By an iteration, by the member whose loop it is, by another member, at two depths.
    EXPECT_FALSE(all.run([&](member& me) {
      if (me.rank() != 0) return;
      EXPECT_FALSE(all.loop(of, n, [&](std::size_t, std::size_t) { all.request_stop(); }));
    }));
    EXPECT_FALSE(all.run([&](member& me) {
      if (me.rank() != 0) return;
      EXPECT_FALSE(all.loop(of, n, [&](std::size_t, std::size_t) { me.request_stop(); }));
    }));
    EXPECT_TRUE(all.run([&](member& me) {
      if (me.rank() != 0) return;
      EXPECT_FALSE(all.run([&](member& inner) {
        EXPECT_FALSE(all.loop(of, n, [&](std::size_t, std::size_t) { inner.request_stop(); }));
      }));
      EXPECT_FALSE(me.stop_requested()) << "inner is a region of its own";
    }));
    std::atomic<bool> has_begun{false};
    EXPECT_FALSE(all.run([&](member& me) {
      if (me.rank() + 1 < me.size()) {
        while (!has_begun) std::this_thread::yield();
        return me.request_stop();
      }
      EXPECT_FALSE(all.run([&](member& inner) {
        EXPECT_FALSE(all.loop(of, n, [&](std::size_t, std::size_t) {
          has_begun = true;
          if (me.size() == 1) me.request_stop();
        }));
        EXPECT_TRUE(inner.stop_requested());
        EXPECT_FALSE(inner.sync_threads_unless_stopped());
      }));
    }));
    // A loop in an iteration of another.
    EXPECT_FALSE(loop(all, of, [&](std::size_t, std::size_t) {
      EXPECT_FALSE(all.loop(of, n, [&](std::size_t, std::size_t) { all.request_stop(); }));
    }));
    has_begun = false;
    std::thread other([&] {
      while (!has_begun) std::this_thread::yield();
      all.request_stop();
    });
    EXPECT_FALSE(loop(all, of, [&](std::size_t, std::size_t) {
      EXPECT_FALSE(all.loop(of, n, [&](std::size_t, std::size_t) { has_begun = true; }));
    }));
    other.join();
    expect_usable(all, of, members());
  });
}

TEST_P(promises_of, a_loop_in_a_region_that_was_stopped_before_calls_nothing) {
  of_each_verb([&](crew& all, const verb& of) {
    static_cast<void>(loop(all, of, [](std::size_t, std::size_t) {}));
    EXPECT_FALSE(all.run([&](member& me) {
      me.request_stop();
      EXPECT_FALSE(all.loop(of, of.length, [](std::size_t, std::size_t) { ADD_FAILURE(); }));
    }));
  });
}

TEST_P(promises_of,
       a_loop_of_a_busy_team_that_has_to_run_alone_is_stopped_as_one_beside_its_region) {
  of_each_verb([&](crew& all, const verb& of) {
    static_cast<void>(loop(all, of, [](std::size_t, std::size_t) {}));
    team younger(1);
    for (const bool from_outside : {false, true}) {
      std::atomic<bool> is_busy{false}, has_begun{false}, is_asked{false}, is_over{false};
      bool region_is_complete = false;
      std::thread other([&] {
        region_is_complete = all.run([&](member& me) {
          is_busy = true;
          while (!is_over && !me.stop_requested()) std::this_thread::yield();
        });
      });
      while (!is_busy) std::this_thread::yield();
      std::thread third([&] {
        while (!has_begun) std::this_thread::yield();
        if (from_outside) all.request_stop();
        is_asked = true;
      });
      EXPECT_TRUE(younger.run([&] {
        EXPECT_FALSE(all.loop(of, of.length, [&](std::size_t, std::size_t) {
          has_begun = true;
          while (!is_asked) std::this_thread::yield();
          if (!from_outside) all.request_stop();
        }));
      }));
      is_over = true;
      other.join();
      third.join();
      EXPECT_EQ(region_is_complete, !from_outside) << "an iteration stops its loop, and no other";
    }
  });
}

TEST_P(promises_of, a_region_that_stops_itself_stops_no_loop_that_runs_beside_it) {
  of_each_verb([&](crew& all, const verb& of) {
    std::atomic<bool> is_over{false};
    std::thread other([&] {
      for (int i = 0; i < lockstep::test::effort(100); ++i) {
        EXPECT_FALSE(all.run([&](member&) { all.request_stop(); }));
      }
      is_over = true;
    });
    int loops = 0;
    do {
      ASSERT_TRUE(loop(all, of, [](std::size_t, std::size_t) {}));
    } while (++loops < lockstep::test::effort(100) || !is_over);
    other.join();
  });
}

TEST_P(promises_of, without_its_threads_a_team_refuses_every_loop_of_several_members) {
  if (!has_lent_threads()) GTEST_SKIP() << "its threads are its own";
  of_each_verb([&](crew& all, const verb& of) {
    static_cast<void>(loop(all, of, [](std::size_t, std::size_t) {}));
    static_cast<lent_threads&>(all).release();
    for (int i = 0; i < 3; ++i) {
      std::atomic<std::size_t> ran{0};
      const auto late = [&] {
        return all.loop(of, of.length, [&](std::size_t, std::size_t) { ++ran; });
      };
      if (members() == 1) {
        EXPECT_TRUE(late());
        EXPECT_TRUE(all.run([](member&) {}));
      } else {
        EXPECT_THROW(late(), std::logic_error);
        EXPECT_THROW(all.run([](member&) {}), std::logic_error);
        EXPECT_EQ(ran.load(), 0u);
      }
    }
  });
}

}  // namespace
