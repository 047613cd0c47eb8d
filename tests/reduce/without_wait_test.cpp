// SPDX-License-Identifier: MIT
// tests/reduce/without_wait_test.cpp -- what comes after a construct without a wait, for every pair (LOOPS-6, REDUCE-5)
#include <lockstep/detail/reduce/reductions.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <lockstep/event.hpp>
#include <lockstep/sub_team.hpp>
#include <lockstep/team.hpp>
#include "support/effort.hpp"

namespace {

using lockstep::dynamic_schedule;
using lockstep::guided_schedule;
using lockstep::index_range_2;
using lockstep::member;
using lockstep::nowait;
using lockstep::schedule;
using lockstep::static_schedule;
using lockstep::sub_team;
using lockstep::team;
using number = std::uint64_t;

std::string text_of(schedule how) {
  const char* const kinds[] = {"static", "chunks", "dynamic", "guided"};
  return std::string(kinds[static_cast<int>(how.kind())]) + "(" + std::to_string(how.chunk()) + ")";
}

std::vector<schedule> static_schedules() {
  return {static_schedule(), static_schedule(1), static_schedule(3), static_schedule(16)};
}
std::vector<schedule> schedules() {
  std::vector<schedule> all = static_schedules();
  for (const schedule how : {dynamic_schedule(), dynamic_schedule(7), guided_schedule()}) {
    all.push_back(how);
  }
  return all;
}

using index_function = std::function<void(std::size_t)>;

/// Calls set(i) for every index below n, and waits for nobody.
struct writer {
  std::string name;
  std::function<void(member&, std::size_t n, const index_function& set)> run;
};

void add_loops(std::vector<writer>& to, schedule how) {
  to.push_back({"for_each " + text_of(how), [how](member& me, std::size_t n, auto& set) {
                  me.for_each(nowait, 0, n, set, how);
                }});
  to.push_back(
      {"for_each_unless_stopped " + text_of(how), [how](member& me, std::size_t n, auto& set) {
         EXPECT_TRUE(me.for_each_unless_stopped(nowait, 0, n, set, how));
       }});
  to.push_back({"for_range " + text_of(how), [how](member& me, std::size_t n, auto& set) {
                  const auto part = [&](std::size_t first, std::size_t last) {
                    for (std::size_t i = first; i < last; ++i) set(i);
                  };
                  me.for_range(lockstep::nowait, 0, n, part, how);
                }});
  to.push_back({"nested " + text_of(how), [how](member& me, std::size_t n, auto& set) {
                  const auto pair = [&](std::size_t i, std::size_t j) { set(2 * i + j); };
                  me.for_each(nowait, index_range_2{{0, n / 2}, {0, 2}}, pair, how);
                }});
}

std::vector<writer> writers() {
  std::vector<writer> all;
  for (const schedule how : schedules()) add_loops(all, how);
  const auto part = [](std::size_t first, std::size_t last, const index_function& set) {
    for (std::size_t i = first; i < last; ++i) set(i);
  };
  all.push_back({"sections", [part](member& me, std::size_t n, auto& set) {
                   me.sections(
                       nowait, [&] { part(0, n / 3, set); }, [&] { part(n / 3, n / 2, set); },
                       [&] { part(n / 2, n, set); });
                 }});
  all.push_back({"single", [part](member& me, std::size_t n, auto& set) {
                   me.single(nowait, [&] { part(0, n, set); });
                 }});
  all.push_back({"two ranges", [](member& me, std::size_t n, auto& set) {
                   me.for_each(nowait, 0, n / 2, set);
                   me.for_each(nowait, n / 2, n, set);
                 }});
  all.push_back({"blocks of another range", [](member& me, std::size_t n, auto& set) {
                   me.for_each(nowait, 0, n, set);
                   me.for_range(lockstep::nowait, 0, n + 1, [](std::size_t, std::size_t) {});
                 }});
  all.push_back({"blocks, then tickets", [](member& me, std::size_t n, auto& set) {
                   me.for_each(nowait, 0, n, set);
                   me.single(nowait, [] {});
                 }});
  return all;
}

/// One round: members write every index, the member of rank `late` last. Then a reader reads them.
class one_round {
 public:
  one_round(std::size_t n, std::size_t late, number base)
      : late_(late), base_(base), expected_(base), data_(n) {
    for (std::size_t i = 0; i < n; ++i) expected_ += value_of(i);
  }

  std::size_t length() const { return data_.size(); }
  number base() const { return base_; }
  number expected() const { return expected_; }
  number value_of(std::size_t i) const { return base_ + i * i; }

  void write(member& me, const writer& by) {
    bool is_first = true;
    const index_function set = [&](std::size_t i) {
      if (me.rank() == late_ && is_first) hold_up(me.size());
      is_first = false;
      data_[i].store(value_of(i), std::memory_order_relaxed);
    };
    if (me.rank() != late_) begun_.wait();
    by.run(me, length(), set);
    if (me.rank() == late_) begun_.notify();  // it may have no part
    ++came_;
  }
  /// Called by readers. The value of index i; counts it as wrong if it has not been written.
  number read(std::size_t i) {
    const number found = data_[i].load(std::memory_order_relaxed);
    if (found != value_of(i)) ++wrong_;
    return found;
  }
  int wrong() const { return wrong_.load(); }

 private:
  /// Returns when all others have come to the reader, and have had the time to read what is not there yet. Nothing
  /// depends on that time: a reader that waits, waits for longer.
  void hold_up(std::size_t size) {
    begun_.notify();
    while (came_.load() + 1 < size) std::this_thread::yield();
    for (int i = 0; i < 20 && wrong_.load() == 0; ++i) std::this_thread::yield();
  }

  const std::size_t late_;
  const number base_;
  number expected_;
  std::vector<std::atomic<number>> data_;  // atomic: a fault is a wrong value, not undefined
  lockstep::manual_reset_event begun_;
  std::atomic<std::size_t> came_{0};
  std::atomic<int> wrong_{0};
};

/// Reads every index, as `round` does; false where the result is wrong.
struct reader {
  std::string name;
  std::function<bool(member&, one_round&)> run;
};

std::vector<reader> reductions() {
  std::vector<reader> all;
  for (const schedule how : schedules()) {
    all.push_back({"reduce_each " + text_of(how), [how](member& me, one_round& round) {
                     const auto value = [&](std::size_t i) { return round.read(i); };
                     return me.reduce_each(0, round.length(), round.base(), value,
                                           std::plus<number>(), how) == round.expected();
                   }});
    all.push_back({"reduce_range " + text_of(how), [how](member& me, one_round& round) {
                     const auto value = [&](std::size_t first, std::size_t last) {
                       number sum = 0;
                       for (std::size_t i = first; i < last; ++i) sum += round.read(i);
                       return sum;
                     };
                     return me.reduce_range(0, round.length(), round.base(), value,
                                            std::plus<number>(), how) == round.expected();
                   }});
  }
  all.push_back({"reduce_each of what fits no cell", [](member& me, one_round& round) {
                   const auto value = [&](std::size_t i) {
                     return round.read(i) == round.value_of(i) ? std::string() : std::string("x");
                   };
                   return me.reduce_each(0, round.length(), std::string(), value,
                                         std::plus<std::string>()) == "";
                 }});
  all.push_back({"scan_each", [](member& me, one_round& round) {
                   const auto value = [&](std::size_t i) { return round.read(i); };
                   const auto store = [&](std::size_t, number) {};
                   return me.scan_each(0, round.length(), round.base(), value, std::plus<number>(),
                                       store) == round.expected();
                 }});
  return all;
}

/// Readers in which each member reads what it has written itself, by the same schedule.
std::vector<reader> by_rank(schedule how) {
  std::vector<reader> all;
  const auto read_all = [](one_round& round) {
    return [&round](std::size_t i) { static_cast<void>(round.read(i)); };
  };
  all.push_back({"for_each", [=](member& me, one_round& round) {
                   return me.for_each_unless_stopped(0, round.length(), read_all(round), how);
                 }});
  all.push_back({"for_each nowait", [=](member& me, one_round& round) {
                   return me.for_each_unless_stopped(nowait, 0, round.length(), read_all(round),
                                                     how);
                 }});
  all.push_back({"for_each twice", [=](member& me, one_round& round) {
                   me.for_range(lockstep::nowait, 0, round.length(),
                                [](std::size_t, std::size_t) {});
                   return me.for_each_unless_stopped(0, round.length(), read_all(round), how);
                 }});
  all.push_back({"for_each nested", [=](member& me, one_round& round) {
                   const auto pair = [&](std::size_t i, std::size_t j) { round.read(2 * i + j); };
                   return me.for_each_unless_stopped(index_range_2{{0, round.length() / 2}, {0, 2}},
                                                     pair, how);
                 }});
  all.push_back({"for_ordered", [=](member& me, one_round& round) {
                   const auto each = [&](std::size_t i, lockstep::ordered_turn&) { round.read(i); };
                   return me.for_ordered_unless_stopped(0, round.length(), each, how);
                 }});
  return all;
}

class without_wait : public testing::TestWithParam<std::size_t> {
 protected:
  without_wait() : workers_(GetParam()) {}

  std::size_t members() const { return GetParam(); }
  /// Blocks of leaves are those of the range for 64, and for 1024 with 2, 4 and 8 members.
  static std::vector<std::size_t> lengths() { return {64, 1000, 1024}; }
  std::vector<std::size_t> late_ranks() const { return {0, members() - 1}; }

  /// In brief, each pair has one length and one late member, the next pair others.
  void expect_right(const writer& first, const reader& second, bool in_sub_team = false) {
    std::size_t number_of_case = pairs_++;
    for (const std::size_t n : lengths()) {
      for (const std::size_t late : late_ranks()) {
        if (lockstep::test::is_brief() && number_of_case++ % 6 != 0) continue;
        one_round round(n, late, ++rounds_ << 32);
        std::atomic<int> wrong{0};
        workers_.run([&](member& me) {
          sub_team all;
          if (in_sub_team) all = me.split(0);
          member& as = in_sub_team ? *all : me;
          round.write(as, first);
          if (!second.run(as, round)) ++wrong;
          as.sync_threads();
        });
        EXPECT_EQ(round.wrong() + wrong.load(), 0)
            << first.name << ", then " << second.name << " of " << n << ", rank " << late
            << " is late";
      }
    }
  }

  team workers_;
  number rounds_ = 0;
  std::size_t pairs_ = 0;
};
INSTANTIATE_TEST_SUITE_P(sizes, without_wait, testing::Values(2, 3, 4, 8));

TEST_P(without_wait, REDUCE_5_a_reduction_or_scan_reads_what_any_construct_before_it_wrote) {
  // In brief, every third pair; with each number of members others.
  const std::size_t step = lockstep::test::is_brief() ? 3 : 1;
  std::size_t number_of_pair = GetParam();
  for (const writer& first : writers()) {
    for (const reader& second : reductions()) {
      if (number_of_pair++ % step == 0) expect_right(first, second);
    }
  }
}

TEST_P(without_wait, REDUCE_5_also_in_a_sub_team) {
  const std::vector<writer> all = writers();
  for (std::size_t i = 0; i < all.size(); i += lockstep::test::is_brief() ? 11 : 5) {
    for (const reader& second : reductions()) expect_right(all[i], second, true);
  }
}

TEST_P(without_wait, LOOPS_6_static_loops_by_the_same_schedule_go_on_with_their_own_parts) {
  // In brief, every second schedule; an odd number of members has the others.
  std::size_t number_of_schedule = 0;
  for (const schedule how : static_schedules()) {
    if (lockstep::test::is_brief() && number_of_schedule++ % 2 != GetParam() % 2) continue;
    std::vector<writer> loops;
    add_loops(loops, how);
    for (const writer& first : loops) {
      for (const reader& second : by_rank(how)) expect_right(first, second);
    }
  }
}

/// How many phases a member passes in a construct.
template <class Construct>
std::uint32_t phases_in(member& me, Construct construct) {
  const lockstep::detail::member_state& state = lockstep::detail::member_access::state_of(me);
  const std::uint32_t before = state.phase;
  construct();
  return state.phase - before;
}

TEST_P(without_wait, REDUCE_5_a_reduction_waits_first_only_after_a_construct_without_a_wait) {
  const auto nothing = [](std::size_t, std::size_t) {};
  const auto nought = [](std::size_t) {};
  workers_.run([&](member& me) {
    const auto sum = [&](std::size_t n) {
      return phases_in(
          me, [&] { me.reduce_each(0, n, 0, [](std::size_t) { return 1; }, std::plus<int>()); });
    };
    EXPECT_EQ(sum(1000), 1u) << "the first in a region";
    EXPECT_EQ(sum(1000), 1u);
    me.for_range(lockstep::nowait, 0, 1000, nothing);
    me.sync_threads();
    EXPECT_EQ(sum(1000), 1u) << "after a barrier";
    me.for_each(nowait, 0, 1000, nought);
    me.sync_sum(1);
    EXPECT_EQ(sum(1000), 1u) << "after a barrier with values";
    me.for_each(0, 1000, nought, dynamic_schedule());
    EXPECT_EQ(sum(1000), 1u);
    me.for_ordered(0, 10, [](std::size_t, lockstep::ordered_turn&) {});
    me.sections([] {}, [] {});
    EXPECT_EQ(sum(1000), 1u);
    me.for_range(lockstep::nowait, 0, 100, nothing);
    EXPECT_EQ(sum(100), 1u) << "leaves are iterations: each member has its own";
    me.for_range(lockstep::nowait, 0, 1000, nothing);
    EXPECT_EQ(sum(1000), 2u);
    EXPECT_EQ(sum(1000), 1u) << "once";
    me.for_range(lockstep::nowait, 0, 99, nothing);
    EXPECT_EQ(sum(100), 2u) << "blocks of another range";
    me.for_each(nowait, 0, 100, nought, static_schedule(1));
    EXPECT_EQ(sum(100), 2u);
    me.single(nowait, [] {});
    EXPECT_EQ(sum(100), 2u);
  });
  workers_.run([&](member& me) { me.for_range(lockstep::nowait, 0, 1000, nothing); });
  workers_.run([&](member& me) {
    const auto sum = [&] {
      me.reduce_each(0, 1000, 0, [](std::size_t) { return 1; }, std::plus<int>());
    };
    EXPECT_EQ(phases_in(me, sum), 1u) << "a region begins with a wait";
  });
}

/// Conjugate gradients on a band matrix in one region, as NPB CG has them: loops without a wait where OpenMP needs none.
std::vector<double> residuals_of_cg(team& by, std::size_t n, int iterations) {
  std::vector<double> x(n, 1.0), z(n), p(n), q(n), r(n), found;
  const auto row_times = [n](const std::vector<double>& of, std::size_t i) {
    const double left = i >= 3 ? of[i - 3] : 0, right = i + 3 < n ? of[i + 3] : 0;
    return 4.5 * of[i] - left - 1.25 * right;
  };
  by.run([&](member& me) {
    const std::plus<double> add;
    me.for_each(nowait, 0, n, [&](std::size_t i) {
      q[i] = z[i] = 0;
      r[i] = p[i] = x[i];
    });
    double rho = me.reduce_each(0, n, 0.0, [&](std::size_t i) { return r[i] * r[i]; }, add);
    for (int step = 0; step < iterations; ++step) {
      if (me.rank() == static_cast<std::size_t>(step) % me.size()) std::this_thread::yield();
      me.for_each(nowait, 0, n, [&](std::size_t i) { q[i] = row_times(p, i); });
      const double d = me.reduce_each(0, n, 0.0, [&](std::size_t i) { return p[i] * q[i]; }, add);
      const double alpha = rho / d, before = rho;
      me.for_each(nowait, 0, n, [&](std::size_t i) {
        z[i] += alpha * p[i];
        r[i] -= alpha * q[i];
      });
      rho = me.reduce_each(0, n, 0.0, [&](std::size_t i) { return r[i] * r[i]; }, add);
      me.for_each(0, n, [&](std::size_t i) { p[i] = r[i] + rho / before * p[i]; });
      me.masked([&] { found.push_back(rho); });
    }
    me.for_range(lockstep::nowait, 0, n, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) r[i] = row_times(z, i);
    });
    const double norm = me.reduce_each(
        0, n, 0.0, [&](std::size_t i) { return (x[i] - r[i]) * (x[i] - r[i]); }, add);
    me.masked([&] { found.push_back(norm); });
  });
  return found;
}

TEST_P(without_wait, REDUCE_5_conjugate_gradients_have_the_bits_of_one_member) {
  team alone(1);
  for (const std::size_t n : {700u, 1400u, 2048u}) {
    const std::vector<double> expected = residuals_of_cg(alone, n, 15);
    for (int round = 0; round < (lockstep::test::is_brief() ? 2 : 5); ++round) {
      EXPECT_EQ(residuals_of_cg(workers_, n, 15), expected) << n;
    }
  }
}

}  // namespace
