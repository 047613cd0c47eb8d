// SPDX-License-Identifier: MIT
// tests/edges/ranges_test.cpp -- loops over signed, narrow, empty, backward and huge ranges; chunks for one as for many
#include <lockstep/lockstep.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <mutex>
#include <numeric>
#if __has_include(<ranges>)
#include <ranges>
#endif
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "support/effort.hpp"

namespace {

using lockstep::dynamic_schedule;
using lockstep::guided_schedule;
using lockstep::index_range;
using lockstep::index_range_2;
using lockstep::index_range_3;
using lockstep::member;
using lockstep::nowait;
using lockstep::ordered_turn;
using lockstep::schedule;
using lockstep::static_schedule;
using lockstep::team;

/// Collects indices from all members.
template <class Index>
class bag {
 public:
  void put(Index i) {
    const std::lock_guard<std::mutex> hold(lock_);
    all_.push_back(i);
  }
  std::vector<Index> sorted() {
    std::sort(all_.begin(), all_.end());
    return all_;
  }

 private:
  std::mutex lock_;
  std::vector<Index> all_;
};

template <class Index>
std::vector<Index> counted(Index first, std::size_t n) {
  std::vector<Index> all(n);
  std::iota(all.begin(), all.end(), first);
  return all;
}

std::vector<schedule> schedules() {
  return {static_schedule(),  static_schedule(1),   static_schedule(3),     static_schedule(1000),
          dynamic_schedule(), dynamic_schedule(4),  dynamic_schedule(1000), guided_schedule(),
          guided_schedule(2), guided_schedule(1000)};
}

class ranges_of : public testing::TestWithParam<std::size_t> {
 protected:
  team workers{GetParam()};

  /// for_each and reduce_each take the indices [first, last), each once, of type Index.
  template <class Index, class First, class Last>
  void expect_counted(First first, Last last, const std::vector<Index>& expected) {
    for (const schedule how : schedules()) {
      bag<Index> found;
      const auto put = [&](auto i) {
        static_assert(std::is_same<decltype(i), Index>::value, "the common type of the bounds");
        found.put(i);
      };
      EXPECT_TRUE(workers.for_each(first, last, put, how));
      EXPECT_EQ(found.sorted(), expected);
    }
    const auto one = [](Index) { return std::size_t{1}; };
    EXPECT_EQ(workers.reduce_each(first, last, std::size_t{0}, one, std::plus<std::size_t>()),
              expected.size());
  }

  /// Every loop construct calls f with the indices [first, last), each once, of type Index; or none if empty.
  template <class Index, class First, class Last>
  void expect_indices(First first, Last last, const std::vector<Index>& expected) {
    const auto check = [&](const char* construct, const std::function<void(bag<Index>&)>& run) {
      bag<Index> found;
      run(found);
      EXPECT_EQ(found.sorted(), expected) << construct;
    };
    const auto into = [](bag<Index>& found) {
      return [&found](auto i) {
        static_assert(std::is_same<decltype(i), Index>::value, "the common type of the bounds");
        found.put(i);
      };
    };
    check("for_each", [&](bag<Index>& b) { workers.for_each(first, last, into(b)); });
    lockstep::weighted_schedule weighted(workers.size());
    check("for_each weighted",
          [&](bag<Index>& b) { workers.for_each(first, last, into(b), weighted); });
    check("for_each weighted", [&](bag<Index>& b) {
      workers.run([&](member& me) { me.for_each(first, last, into(b), weighted); });
    });
    for (const schedule how : schedules()) {
      SCOPED_TRACE(testing::Message() << "kind " << int(how.kind()) << " chunk " << how.chunk());
      check("for_each", [&](bag<Index>& b) { workers.for_each(first, last, into(b), how); });
      check("for_each", [&](bag<Index>& b) {
        workers.run([&](member& me) {
          me.for_each(first, last, into(b), how);
          if (!expected.empty()) me.for_each(nowait, last, first, into(b), how);  // backward
        });
      });
      check("for_range", [&](bag<Index>& b) {
        workers.run([&](member& me) {
          me.for_range(
              first, last,
              [&](auto begin, auto end) {
                static_assert(std::is_same<decltype(begin), Index>::value, "");
                EXPECT_LT(begin, end);
                for (auto i = begin; i < end; ++i) b.put(i);
              },
              how);
        });
      });
      std::vector<Index> in_turn;
      workers.run([&](member& me) {
        me.for_ordered(
            first, last, [&](Index i, ordered_turn& turn) { turn([&] { in_turn.push_back(i); }); },
            how);
      });
      EXPECT_EQ(in_turn, expected) << "for_ordered";
    }
    const auto value = [](Index i) { return static_cast<std::int64_t>(i % 100); };
    const std::int64_t sum = std::accumulate(expected.begin(), expected.end(), std::int64_t{7},
                                             [&](std::int64_t a, Index i) { return a + value(i); });
    const auto add = std::plus<std::int64_t>();
    const std::int64_t seven = 7;
    EXPECT_EQ(workers.reduce_each(first, last, seven, value, add), sum);
    EXPECT_EQ(workers.reduce_each(first, last, seven, value, add, dynamic_schedule(3)), sum);
    std::vector<std::int64_t> running(expected.size());
    EXPECT_EQ(workers.scan_each(first, last, seven, value, add,
                                [&](Index i, std::int64_t at) {
                                  running[static_cast<std::size_t>(i - static_cast<Index>(first))] =
                                      at;
                                }),
              sum);
    std::int64_t at = 7;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      at += value(expected[k]);
      EXPECT_EQ(running[k], at);
    }
    workers.run([&](member& me) {
      EXPECT_EQ(me.reduce_each(first, last, seven, value, add), sum);
      const auto part = [&](Index begin, Index end) {
        std::int64_t here = 0;
        for (Index i = begin; i < end; ++i) here += value(i);
        return here;
      };
      EXPECT_EQ(me.reduce_range(first, last, seven, part, add), sum);
    });
  }
};
INSTANTIATE_TEST_SUITE_P(members, ranges_of, testing::Values(1, 2, 3));

TEST_P(ranges_of, SPAN_1_signed_bounds_count_as_a_for_loop_does) {
  expect_indices(-5, 5, counted(-5, 10));
  expect_counted(std::int64_t{-3}, std::int64_t{4}, counted(std::int64_t{-3}, 7));
  expect_counted(short{-2}, short{9}, counted(short{-2}, 11));
  expect_indices(-20, -10, counted(-20, 10));
}

TEST_P(ranges_of, SPAN_1_bounds_of_two_types_count_in_their_common_type) {
  const std::vector<int> v(9);
  expect_indices(0, v.size(), counted(std::size_t{0}, 9));
  expect_counted(std::uint8_t{3}, 10, counted(3, 7));
  expect_counted(-3, std::int64_t{4}, counted(std::int64_t{-3}, 7));
  expect_counted(2u, 5, counted(2u, 3));
}

TEST_P(ranges_of, SPAN_2_a_loop_whose_end_is_not_after_its_first_is_empty) {
  const int n = 0;
  expect_indices(1, n - 1, std::vector<int>());
  expect_indices(0, -3, std::vector<int>());
  expect_indices(5, 5, std::vector<int>());
  expect_indices(-3, -7, std::vector<int>());
  expect_counted(std::size_t{5}, -1, std::vector<std::size_t>());
  expect_counted(0u, -3, std::vector<unsigned>());
  expect_counted(std::numeric_limits<int>::max(), std::numeric_limits<int>::min(),
                 std::vector<int>());
}

TEST_P(ranges_of, SPAN_3_loops_go_up_to_the_limits_of_their_type) {
  expect_counted(std::uint8_t{250}, std::uint8_t{255}, counted(std::uint8_t{250}, 5));
  expect_counted(std::uint8_t{0}, std::uint8_t{255}, counted(std::uint8_t{0}, 255));
  expect_indices(std::int8_t{-128}, std::int8_t{127}, counted(std::int8_t{-128}, 255));
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  expect_counted(least, least + 3, counted(least, 3));
  expect_counted(most - 3, most, counted(most - 3, 3));
  if (!lockstep::test::is_brief()) {
    expect_counted(std::int16_t{-32768}, std::int16_t{32767}, counted(std::int16_t{-32768}, 65535));
  }
  const std::size_t last = std::numeric_limits<std::size_t>::max();
  expect_counted(last - 4, last, counted(last - 4, 4));
}

TEST_P(ranges_of, SPAN_3_the_longest_range_of_all_has_all_its_blocks) {
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> firsts(workers.size()), lasts(workers.size());
  EXPECT_TRUE(workers.run([&](member& me) {
    me.for_range(lockstep::nowait, least, most, [&](std::int64_t first, std::int64_t last) {
      firsts[me.rank()] = first;
      lasts[me.rank()] = last;
    });
  }));
  EXPECT_EQ(firsts.front(), least);
  EXPECT_EQ(lasts.back(), most);
  for (std::size_t k = 1; k < workers.size(); ++k) EXPECT_EQ(firsts[k], lasts[k - 1]);
}

/// Each way of a loop visits the positions of [first, last) once.
template <class Position>
void expect_positions(team& workers, Position first, Position last) {
  const std::size_t n = last > first ? static_cast<std::size_t>(last - first) : 0;
  std::vector<std::atomic<int>> visits(n);
  const auto visit = [&visits, first](Position at) {
    ++visits[static_cast<std::size_t>(at - first)];
  };
  const auto visit_block = [&visit](Position a, Position b) {
    for (; a != b; ++a) visit(a);
  };
  int expected = 0;
  const auto all_visited = [&] {
    ++expected;
    return std::all_of(visits.begin(), visits.end(),
                       [&](const std::atomic<int>& each) { return each == expected; });
  };
  workers.for_each(first, last, visit);
  EXPECT_TRUE(all_visited());
  workers.for_range(first, last, visit_block);
  EXPECT_TRUE(all_visited());
  for (const schedule how : schedules()) {
    workers.for_each(first, last, visit, how);
    EXPECT_TRUE(all_visited());
    workers.run([&](member& me) { me.for_each(first, last, visit, how); });
    EXPECT_TRUE(all_visited());
    workers.run([&](member& me) { me.for_each(nowait, first, last, visit, how); });
    EXPECT_TRUE(all_visited());
    workers.run([&](member& me) { me.for_range(lockstep::nowait, first, last, visit_block, how); });
    EXPECT_TRUE(all_visited());
    workers.run([&](member& me) {
      me.for_ordered(
          first, last, [&](Position at, ordered_turn& turn) { turn([&] { visit(at); }); }, how);
    });
    EXPECT_TRUE(all_visited());
  }
}

TEST_P(ranges_of, SPAN_1_loops_run_from_pointer_to_pointer_and_from_iterator_to_iterator) {
  std::vector<double> v(1000);
  double* const none = nullptr;
  for (const std::size_t n : {0u, 1u, 7u, 1000u}) {
    const auto step = static_cast<std::ptrdiff_t>(n);
    expect_positions(workers, v.data(), v.data() + n);
    expect_positions<const double*>(workers, v.data(), v.data() + n);
    expect_positions(workers, v.begin(), v.begin() + step);
    expect_positions(workers, v.crbegin(), v.crbegin() + step);
  }
  std::deque<int> far(300);
  expect_positions(workers, far.begin(), far.end());
  expect_positions(workers, none, none);
}

TEST_P(ranges_of, SPAN_1_an_iterator_and_a_const_iterator_count_as_const_iterators) {
  std::vector<int> v(100, 1);
  std::atomic<int> calls{0};
  const auto visit = [&](std::vector<int>::const_iterator i) { calls += *i; };
  workers.for_each(v.begin(), v.cend(), visit);
  workers.for_each(v.cbegin(), v.end(), visit);
  EXPECT_EQ(calls, 200);
}

TEST_P(ranges_of, SPAN_2_positions_that_are_reversed_are_empty) {
  std::vector<int> v(10);
  const auto never = [](std::vector<int>::iterator) { FAIL(); };
  EXPECT_TRUE(workers.for_each(v.end(), v.begin(), never));
  EXPECT_EQ(workers.reduce_each(
                v.data() + 5, v.data(), 7, [](const int* i) { return *i; }, std::plus<int>()),
            7);
}

TEST_P(ranges_of, reductions_and_scans_over_positions_have_the_bits_of_those_over_indices) {
  std::vector<double> v(5000), by_index(v.size()), by_position(v.size());
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = 1.0 / static_cast<double>(i + 1);
  const auto add = std::plus<double>();
  const auto at = [](std::vector<double>::const_iterator i) { return *i; };
  const auto by = [&](std::size_t i) { return v[i]; };
  const double expected = workers.reduce_each(0, v.size(), 0.25, by, add);
  EXPECT_EQ(workers.reduce_each(v.cbegin(), v.cend(), 0.25, at, add), expected);
  workers.scan_each(0, v.size(), 0.25, by, add, [&](std::size_t i, double x) { by_index[i] = x; });
  workers.scan_each(v.cbegin(), v.cend(), 0.25, at, add,
                    [&](std::vector<double>::const_iterator i, double x) {
                      by_position[static_cast<std::size_t>(i - v.cbegin())] = x;
                    });
  EXPECT_EQ(by_position, by_index);
  workers.run([&](member& me) {
    EXPECT_EQ(me.reduce_each(v.cbegin(), v.cend(), 0.25, at, add), expected);
    EXPECT_EQ(me.reduce_each(
                  v.data(), v.data() + v.size(), 0.25, [](const double* i) { return *i; }, add),
              expected);
    const auto block = [&](const double* a, const double* b) {
      return std::accumulate(a + 1, b, *a);
    };
    EXPECT_EQ(me.reduce_range<double>(v.data(), v.data() + v.size(), 0.25, block, add), expected);
  });
}

TEST_P(ranges_of, a_reduction_over_2_to_the_40_is_cut_into_blocks_that_cover_it) {
  constexpr std::int64_t n = std::int64_t{1} << 40;
  const auto length = [](std::int64_t a, std::int64_t b) { return b - a; };
  workers.run([&](member& me) {
    EXPECT_EQ(
        me.reduce_range(std::int64_t{0}, n, std::int64_t{0}, length, std::plus<std::int64_t>()), n);
  });
}

TEST_P(ranges_of, SPAN_4_a_first_below_zero_with_an_unsigned_end_is_refused) {
  const std::vector<int> v(9);
  EXPECT_THROW(workers.for_each(-1, v.size(), [](std::size_t) {}), std::invalid_argument);
  EXPECT_THROW(workers.run([&](member& me) { me.for_each(-1, v.size(), [](std::size_t) {}); }),
               std::invalid_argument);
  EXPECT_TRUE(workers.run([](member& me) { me.sync_threads(); }));
}

enum signed_bound { below = -5, above = 5 };
enum short_bound : std::int16_t { short_below = -2, short_above = 4 };
enum unsigned_bound : std::uint64_t { no_items = 0, items = 3 };
struct signed_number {
  long value;
  operator long() const { return value; }
};

TEST_P(ranges_of, SPAN_1_enumerations_and_what_converts_to_a_number_keep_their_sign) {
  expect_indices(below, above, counted(-5, 10));
  expect_counted(short_below, short_above, counted(-2, 6));
  expect_counted(no_items, items, counted(std::uint64_t{0}, 3));
  expect_counted(0, above, counted(0, 5));
  expect_counted(0, below, std::vector<int>());
  expect_counted(signed_number{-5}, signed_number{5}, counted(-5L, 10));
  expect_counted(0, signed_number{-3}, std::vector<long>());
  expect_counted(signed_number{-3}, 2, counted(-3L, 5));
  expect_counted(0, std::integral_constant<int, -3>(), std::vector<int>());
  expect_counted(std::integral_constant<int, -3>(), 1, counted(-3, 4));
  EXPECT_THROW(workers.for_each(below, std::size_t{9}, [](std::size_t) {}), std::invalid_argument);
}

struct any_number {
  template <class Number>
  operator Number() const {
    return 3;
  }
};

TEST_P(ranges_of, SPAN_1_what_converts_to_any_number_counts_in_size_t) {
  expect_counted(std::size_t{0}, any_number(), counted(std::size_t{0}, 3));
}

#if defined(__cpp_lib_ranges)
/// Its distances are no integers for std::is_integral, in strict C++20.
TEST_P(ranges_of, SPAN_1_loops_run_over_the_iterators_of_views_iota) {
  const auto view = std::views::iota(std::size_t{3}, std::size_t{900});
  bag<std::size_t> found, in_blocks;
  EXPECT_TRUE(workers.for_each(view.begin(), view.end(), [&](auto at) { found.put(*at); }));
  EXPECT_EQ(found.sorted(), counted(std::size_t{3}, 897));
  EXPECT_EQ(workers.reduce_each(
                view.begin(), view.end(), std::size_t{0}, [](auto at) { return *at; },
                std::plus<std::size_t>()),
            std::size_t{897} * 902 / 2);
  workers.run([&](member& me) {
    me.for_range(
        view.begin(), view.end(),
        [&](auto first, auto last) {
          for (; first != last; ++first) in_blocks.put(*first);
        },
        dynamic_schedule(5));
    me.for_each(view.end(), view.begin(), [](auto) { FAIL(); });
  });
  EXPECT_EQ(in_blocks.sorted(), counted(std::size_t{3}, 897));
}
#endif

/// An iterator whose copies throw when none is left.
struct fragile {
  static std::atomic<int> copies_left;

  const int* at;

  explicit fragile(const int* of) : at(of) {}
  fragile(const fragile& other) : at(other.at) {
    if (copies_left-- <= 0) throw std::runtime_error("no copy left");
  }
  fragile& operator=(const fragile&) = default;
  const int& operator*() const { return *at; }
  fragile& operator+=(std::ptrdiff_t n) {
    at += n;
    return *this;
  }
  fragile& operator++() { return *this += 1; }
  friend fragile operator+(const fragile& from, std::ptrdiff_t n) { return fragile(from.at + n); }
  friend std::ptrdiff_t operator-(const fragile& a, const fragile& b) { return a.at - b.at; }
  friend bool operator<(const fragile& a, const fragile& b) { return a.at < b.at; }
};
std::atomic<int> fragile::copies_left{0};

TEST_P(ranges_of, SPAN_5_an_iterator_whose_copy_throws_ends_the_loop_and_not_the_program) {
  const std::vector<int> v(40, 1);
  const fragile first(v.data()), last(v.data() + v.size());
  lockstep::weighted_schedule weighted(workers.size());
  const auto visit = [](const fragile& at) { EXPECT_EQ(*at, 1); };
  const auto value = [](const fragile& at) { return *at; };
  const auto part = [](const fragile& from, const fragile& to) {
    return static_cast<int>(to - from);
  };
  const auto store = [](const fragile&, int) {};
  const auto add = std::plus<int>();
  const auto in_region = [&](const std::function<void(member&)>& f) { workers.run(f); };
  const std::function<void()> loops[] = {
      [&] { workers.for_each(first, last, visit); },
      [&] { workers.for_each(first, last, visit, dynamic_schedule(7)); },
      [&] { workers.for_each(first, last, visit, weighted); },
      [&] { EXPECT_EQ(workers.reduce_each(first, last, 0, value, add), 40); },
      [&] { EXPECT_EQ(workers.scan_each(first, last, 0, value, add, store), 40); },
      [&] { in_region([&](member& me) { me.for_each(first, last, visit); }); },
      [&] { in_region([&](member& me) { me.for_each(first, last, visit, weighted); }); },
      [&] { in_region([&](member& me) { me.for_each(nowait, first, last, visit); }); },
      [&] { in_region([&](member& me) { me.for_range(lockstep::nowait, first, last, part); }); },
      [&] {
        in_region(
            [&](member& me) { me.for_ordered(first, last, [](const fragile&, ordered_turn&) {}); });
      },
      [&] { in_region([&](member& me) { me.reduce_each(first, last, 0, value, add); }); },
      [&] { in_region([&](member& me) { me.reduce_range(first, last, 0, part, add); }); },
      [&] { in_region([&](member& me) { me.scan_each(first, last, 0, value, add, store); }); },
  };
  for (const std::function<void()>& loop : loops) {
    int thrown = 0;
    for (int copies = 0; copies < 200; ++copies) {
      fragile::copies_left = copies;
      try {
        loop();
      } catch (const std::runtime_error&) {
        ++thrown;
      }
    }
    EXPECT_GE(thrown, 3) << &loop - loops;
    EXPECT_LT(thrown, 200) << &loop - loops;
    std::atomic<std::size_t> came{0};
    EXPECT_TRUE(workers.run([&](member& me) {
      me.sync_threads();
      ++came;
    }));
    EXPECT_EQ(came.load(), workers.size());
  }
}

TEST_P(ranges_of, nested_ranges_are_empty_where_one_is_and_refuse_indices_below_zero) {
  std::atomic<int> calls{0};
  const int n = 0;
  const auto count2 = [&](std::size_t, std::size_t) { ++calls; };
  const auto count3 = [&](std::size_t, std::size_t, std::size_t) { ++calls; };
  EXPECT_TRUE(workers.for_each(lockstep::index_range_2{{1, n - 1}, {0, 5}}, count2));
  EXPECT_TRUE(
      workers.for_each(lockstep::index_range_2{{0, 5}, {0, -3}}, count2, dynamic_schedule(2)));
  EXPECT_TRUE(workers.for_each(lockstep::index_range_2{{-3, -7}, {0, 5}}, count2));
  EXPECT_TRUE(workers.for_each(lockstep::index_range_3{{0, 5}, {0, 2}, {7, n}}, count3));
  workers.run([&](member& me) {
    me.for_each(index_range_2{{0, 3}, {2, n}}, count2, guided_schedule());
    me.for_each(index_range_3{{0, 3}, {n, -1}, {0, 2}}, count3);
  });
  EXPECT_EQ(calls.load(), 0);
  EXPECT_TRUE(workers.for_each(lockstep::index_range_2{{0, n + 2}, {1, 4}}, count2));
  EXPECT_EQ(calls.load(), 6);
  EXPECT_THROW(workers.for_each(lockstep::index_range_2{{-1, 5}, {0, 5}}, count2),
               std::invalid_argument);
  static_assert(index_range{0, -3}.last == 0 && index_range{2, 5}.last == 5, "constant");
}

// --- chunks, for one as for many ---

TEST_P(ranges_of, LOOPS_3_guided_chunks_shrink_to_the_least) {
  std::atomic<std::size_t> total{0};
  std::atomic<int> largest{0}, chunks{0};
  workers.run([&](member& me) {
    me.for_range(
        0, 1000,
        [&](int first, int last) {
          ++chunks;
          int seen = largest;
          while (last - first > seen && !largest.compare_exchange_weak(seen, last - first)) {
          }
          total += static_cast<std::size_t>(last - first);
        },
        guided_schedule(8));
  });
  EXPECT_EQ(total.load(), 1000u);
  EXPECT_LE(largest.load(), 500);
  EXPECT_GT(chunks.load(), 3);
}

TEST_P(ranges_of, LOOPS_3_inside_a_region_of_its_own_team_a_lone_member_takes_chunks_too) {
  workers.run([&](member&) {
    workers.run([](member& alone) {
      ASSERT_EQ(alone.size(), 1u);
      int expected = -4;
      alone.for_range(
          -4, 90,
          [&](int first, int last) {
            EXPECT_EQ(first, expected);
            EXPECT_LE(last - first, 8);
            expected = last;
          },
          dynamic_schedule(8));
      EXPECT_EQ(expected, 90);
    });
  });
}

TEST_P(ranges_of, sections_with_nothing_do_nothing) {
  EXPECT_TRUE(workers.sections());
  EXPECT_TRUE(workers.run([](member& me) {
    EXPECT_TRUE(me.sections());
    EXPECT_TRUE(me.sections(nowait));
    EXPECT_TRUE(me.sections_unless_stopped());
    EXPECT_TRUE(me.sections_unless_stopped(nowait));
  }));
}

// --- steps ---

TEST_P(ranges_of, waiting_for_an_own_step_that_is_not_published_is_an_error_for_one_and_for_many) {
  EXPECT_THROW(workers.run([](member& me) { me.await_step(me.rank(), 5); }), std::logic_error);
  EXPECT_TRUE(workers.run([](member& me) {
    EXPECT_TRUE(me.await_step(me.rank(), 0));
    me.publish(5);
    EXPECT_TRUE(me.await_step(me.rank(), 5));
    EXPECT_TRUE(me.await_step_unless_stopped((me.rank() + 1) % me.size(), 5));
    EXPECT_THROW(me.await_step(me.rank(), 6), std::logic_error);
    lockstep::sub_team part = me.split(me.rank());
    EXPECT_THROW(part->await_step(0, 1), std::logic_error);
    part->publish(3);
    lockstep::sub_team moved;
    moved = std::move(part);
    EXPECT_TRUE(moved->await_step(0, 3));
  }));
}

}  // namespace
