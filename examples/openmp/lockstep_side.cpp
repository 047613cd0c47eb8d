// SPDX-License-Identifier: MIT
// examples/openmp/lockstep_side.cpp -- the right side of docs/coming-from-openmp.md
//
// What stands between [name] and [/name] is on the page, word for word: scripts/check/openmp_page.py.
#include <algorithm>
#include <atomic>
#include <functional>
#include <lockstep/lockstep.hpp>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "constructs.hpp"

namespace {

using constructs::n;
using constructs::numbers;
using constructs::sum_of;

double parallel() {
  std::vector<std::size_t> seen(4);
  // [parallel]
  lockstep::team team(4);  // keep it: the threads stay
  team.run([&](lockstep::member& me) { seen[me.rank()] = me.size(); });
  // [/parallel]
  return sum_of(seen);
}

double num_threads() {
  lockstep::team team(4);
  std::size_t size = 0;
  // [num_threads]
  team.run(2, [&](lockstep::member& me) { me.single([&] { size = me.size(); }); });
  // [/num_threads]
  return static_cast<double>(size);
}

double parallel_for() {
  lockstep::team team(4);
  const std::vector<double> x = numbers();
  std::vector<double> y(n);
  // [parallel_for]
  team.for_each(0, n, [&](std::size_t i) { y[i] += x[i]; });
  // [/parallel_for]
  return sum_of(y);
}

double for_loop() {
  lockstep::team team(4);
  const std::vector<double> x = numbers();
  std::vector<double> y(n);
  team.run([&](lockstep::member& me) {
    // [for]
    me.for_each(0, n, [&](std::size_t i) { y[i] += x[i]; });
    // [/for]
  });
  return sum_of(y);
}

double schedules() {
  lockstep::team team(4);
  const std::vector<double> x = numbers();
  std::vector<double> y(n);
  team.run([&](lockstep::member& me) {
    // [schedules]
    const auto add = [&](std::size_t i) { y[i] += x[i]; };
    me.for_each(0, n, add, lockstep::static_schedule());
    me.for_each(0, n, add, lockstep::static_schedule(16));
    me.for_each(0, n, add, lockstep::dynamic_schedule(8));
    me.for_each(0, n, add, lockstep::guided_schedule(4));
    // [/schedules]
  });
  return sum_of(y);
}

double runtime_schedule() {
  lockstep::team team(4);
  const std::vector<double> x = numbers();
  std::vector<double> y(n);
  // [runtime_schedule]
  const lockstep::schedule how = lockstep::dynamic_schedule(8);  // a value: from wherever
  team.for_each(0, n, [&](std::size_t i) { y[i] += x[i]; }, how);
  // [/runtime_schedule]
  return sum_of(y);
}

double if_clause() {
  lockstep::team team(4);
  const std::vector<double> x = numbers();
  std::vector<double> y(n);
  // [if]
  team.for_each(0, n, [&](std::size_t i) { y[i] += x[i]; }, lockstep::only_if(n > 500));
  // [/if]
  return sum_of(y);
}

double blocks() {
  lockstep::team team(4);
  const std::vector<double> x = numbers();
  std::vector<double> y(n);
  // [blocks]
  team.run([&](lockstep::member& me) {
    me.for_range(0, n, [&](std::size_t first, std::size_t last) {
      std::copy(&x[first], &x[0] + last, &y[first]);
    });
  });
  // [/blocks]
  return sum_of(y);
}

double no_wait() {
  lockstep::team team(4);
  const std::vector<double> x = numbers();
  std::vector<double> y(n), z(n);
  team.run([&](lockstep::member& me) {
    // [nowait]
    me.for_each(lockstep::nowait, 0, n, [&](std::size_t i) { y[i] = x[i]; });
    me.for_each(0, n, [&](std::size_t i) { z[i] = x[i]; });
    // [/nowait]
  });
  return sum_of(y) + sum_of(z);
}

double collapse() {
  lockstep::team team(4);
  std::vector<double> a(30 * 40), b(5 * 6 * 7);
  team.run([&](lockstep::member& me) {
    // [collapse]
    const lockstep::index_range_2 plane = {{0, 30}, {0, 40}};
    me.for_each(plane, [&](std::size_t i, std::size_t j) { a[40 * i + j] = 1; });
    const lockstep::index_range_3 cube = {{0, 5}, {0, 6}, {0, 7}};
    me.for_each(
        cube, [&](std::size_t i, std::size_t j, std::size_t k) { b[(6 * i + j) * 7 + k] = 1; },
        lockstep::dynamic_schedule());
    // [/collapse]
  });
  return sum_of(a) + sum_of(b);
}

double single() {
  lockstep::team team(4);
  int once = 0, first = 0, mine = 0;
  team.run([&](lockstep::member& me) {
    // [single]
    me.single([&] { ++once; });
    me.single(lockstep::nowait, [&] { ++first; });
    me.masked([&] { ++mine; });
    // [/single]
  });
  return once + first + mine;
}

double copyprivate() {
  lockstep::team team(4);
  std::vector<int> seen(4);
  team.run([&](lockstep::member& me) {
    // [copyprivate]
    int value = 0;
    me.masked([&] { value = 42; });
    seen[me.rank()] = me.broadcast(0, value);  // member 0's
    // [/copyprivate]
  });
  return sum_of(seen);
}

double critical() {
  lockstep::team team(4);
  int count = 0, lines = 0;
  team.run([&](lockstep::member& me) {
    // [critical]
    me.critical([&] { ++count; });
    me.critical<struct log_file>([&] { ++lines; });
    // [/critical]
  });
  return count + lines;
}

double atomic() {
  lockstep::team team(4);
  // [atomic]
  std::atomic<int> count(0);
  team.for_each(0, n, [&](std::size_t) { count.fetch_add(1, std::memory_order_relaxed); });
  // [/atomic]
  return count;
}

double barrier() {
  lockstep::team team(4);
  std::vector<int> mine(4), seen(4);
  team.run([&](lockstep::member& me) {
    // [barrier]
    mine[me.rank()] = static_cast<int>(me.rank()) + 1;
    me.sync_threads();
    for (const int each : mine) seen[me.rank()] += each;
    // [/barrier]
  });
  return sum_of(seen);
}

double ordered() {
  lockstep::team team(4);
  std::vector<double> out;
  team.run([&](lockstep::member& me) {
    // [ordered]
    me.for_ordered(0, n, [&](std::size_t i, lockstep::ordered_turn& turn) {
      const double value = static_cast<double>(i) * 2;
      turn([&] { out.push_back(value); });
    });
    // [/ordered]
  });
  double rises = 0;
  for (std::size_t i = 1; i < out.size(); ++i) rises += out[i - 1] < out[i] ? 1 : 0;
  return rises;
}

double sections() {
  lockstep::team team(4);
  int a = 0, b = 0, c = 0;
  team.run([&](lockstep::member& me) {
    // [sections]
    me.sections([&] { a = 1; }, [&] { b = 2; }, [&] { c = 3; });
    // [/sections]
  });
  return a + b + c;
}

double parallel_sections() {
  lockstep::team team(4);
  int a = 0, b = 0, c = 0;
  // [parallel_sections]
  team.sections([&] { a = 1; }, [&] { b = 2; }, [&] { c = 3; });
  // [/parallel_sections]
  return a + b + c;
}

double reduction() {
  lockstep::team team(4);
  const std::vector<double> x = numbers();
  // [reduction]
  const double sum =
      team.reduce_each(0, n, 0.0, [&](std::size_t i) { return x[i]; }, std::plus<double>());
  // [/reduction]
  return sum;
}

double reduction_inside() {
  lockstep::team team(4);
  const std::vector<double> x = numbers();
  double sum_of_any = 0;
  // [reduction_inside]
  team.run([&](lockstep::member& me) {
    const double sum =
        me.reduce_each(0, n, 0.0, [&](std::size_t i) { return x[i]; }, std::plus<double>());
    // every member has the sum
    me.masked([&] { sum_of_any = sum; });
  });
  // [/reduction_inside]
  return sum_of_any;
}

double reduction_max() {
  lockstep::team team(4);
  const std::vector<double> x = numbers();
  // [reduction_max]
  const double most = team.reduce_each(
      0, n - 1, 0.0, [&](std::size_t i) { return x[i]; },
      [](double a, double b) { return std::max(a, b); });
  // [/reduction_max]
  return most;
}

double reduction_of_members() {
  lockstep::team team(4);
  std::vector<double> seen(4);
  // [reduction_of_members]
  team.run([&](lockstep::member& me) {
    seen[me.rank()] = me.sync_sum(static_cast<double>(me.rank() + 1));
  });
  // [/reduction_of_members]
  return sum_of(seen);
}

double scan() {
  lockstep::team team(4);
  const std::vector<double> x = numbers();
  std::vector<double> y(n);
  // [scan]
  team.scan_each(
      0, n, 0.0, [&](std::size_t i) { return x[i]; }, std::plus<double>(),
      [&](std::size_t i, double sum) { y[i] = sum; });
  // [/scan]
  return y[n - 1];
}

double private_values() {
  lockstep::team team(4);
  const std::vector<double> x = numbers();
  std::vector<double> y(n);
  // [private]
  double factor = 1, last = 0;
  team.for_each(0, n, [&, factor](std::size_t i) {  // factor: firstprivate
    const double square = x[i] * x[i];              // private
    y[i] = factor * square / std::max(x[i], 1.0);
    if (i == n - 1) last = x[i];  // lastprivate
  });
  // [/private]
  return sum_of(y) + last;
}

double flush() {
  lockstep::team team(4);
  int step = 0;
  // [flush]
  team.run([&](lockstep::member& me) {
    if (me.rank() > 0) me.await_step(me.rank() - 1, 1);
    ++step;  // after the parts of all members before
    me.publish(1);
  });
  // [/flush]
  return step;
}

// [threadprivate]
thread_local int scratch = 7;
// [/threadprivate]

double threadprivate() {
  lockstep::team team(4);
  std::vector<int> seen(4);
  team.run([&](lockstep::member& me) { seen[me.rank()] = scratch; });
  return sum_of(seen);
}

// What a thread needs before its first region, for threads made by the team.
thread_local std::vector<double> buffer;

double threadprivate_hooks() {
  std::vector<std::size_t> seen(4);
  // [threadprivate_hooks]
  buffer.resize(1000);  // the caller's own: it is member 0
  lockstep::team team(lockstep::team_options()
                          .members(4)
                          .on_start([](std::size_t) { buffer.resize(1000); })
                          .on_exit([](std::size_t) { buffer.clear(); }));
  // [/threadprivate_hooks]
  team.run([&](lockstep::member& me) { seen[me.rank()] = buffer.size(); });
  return sum_of(seen);
}

double cancel() {
  lockstep::team team(4);
  const std::vector<double> x = numbers();
  // [cancel]
  double found = -1;
  const bool ran_to_its_end = team.run([&](lockstep::member& me) {
    me.for_each(
        0, n,
        [&](std::size_t i) {
          if (x[i] == 700) {
            found = x[i];
            me.request_stop();  // ends the region, not only the loop
          }
        },
        lockstep::dynamic_schedule(16));
  });
  // [/cancel]
  return ran_to_its_end ? -1 : found;
}

double nested() {
  std::vector<std::size_t> sizes(4);
  // [nested]
  lockstep::team team(4);
  team.run([&](lockstep::member& me) {
    lockstep::sub_team half = me.split(me.rank() / 2);
    sizes[me.rank()] = half->size();
    half->sync_threads();  // waits for this half only
  });
  // [/nested]
  return sum_of(sizes);
}

double first_members() {
  lockstep::team team(4);
  double sum = 0;
  team.run([&](lockstep::member& me) {
    // [first]
    if (lockstep::sub_team few = me.first(2)) {
      few->for_each(0, 2, [&](std::size_t) {});
      few->masked([&] { sum = static_cast<double>(few->size()); });
    }
    // [/first]
  });
  return sum;
}

double lock() {
  lockstep::team team(4);
  int count = 0;
  // [lock]
  lockstep::mutex lock;
  team.run([&](lockstep::member&) {
    const std::lock_guard<lockstep::mutex> held(lock);
    ++count;
  });
  // [/lock]
  return count;
}

double simd() {
  lockstep::team team(4);
  const std::vector<double> x = numbers();
  std::vector<double> y(n);
  // [simd]
  team.for_range(0, n, [&](std::size_t first, std::size_t last) {
#pragma omp simd  // with -fopenmp-simd, which needs no OpenMP library
    for (std::size_t i = first; i < last; ++i) y[i] += x[i];
  });
  // [/simd]
  return sum_of(y);
}

// [kernel_function]
// Four sums at once, for the four places of a vector register.
double dot(std::size_t count, const double* a, const double* b) {
  double sums[4] = {0, 0, 0, 0};
  std::size_t i = 0;
  for (; count - i >= 4; i += 4) {
    for (std::size_t k = 0; k < 4; ++k) sums[k] += a[i + k] * b[i + k];
  }
  for (; i < count; ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
// [/kernel_function]

double kernel() {
  lockstep::team team(4);
  const std::vector<double> x = numbers();
  const std::vector<double> y(n, 2.0);
  // [kernel]
  const double sum = team.reduce_range(
      0, n, 0.0,
      [&](std::size_t first, std::size_t last) { return dot(last - first, &x[first], &y[first]); },
      std::plus<double>());
  // [/kernel]
  return sum;
}

double exception() {
  lockstep::team team(4);
  // [exception]
  bool was_caught = false;
  try {
    team.for_each(0, n, [](std::size_t i) {
      if (i == 700) throw std::runtime_error("no convergence");
    });
  } catch (const std::runtime_error&) {
    was_caught = true;
  }
  team.run([](lockstep::member&) {});  // the team goes on
  // [/exception]
  return was_caught ? 1 : 0;
}

double weighted() {
  lockstep::team team(4);
  const std::vector<double> x = numbers();
  std::vector<double> y(n);
  // [weighted]
  lockstep::weighted_schedule learning(team.size());  // one for each loop, kept
  for (int step = 0; step < 100; ++step) {
    team.for_each(0, n, [&](std::size_t i) { y[i] += x[i]; }, learning);
  }
  // [/weighted]
  return sum_of(y);
}

constexpr constructs::construct all[] = {
    {"parallel", parallel},
    {"num_threads", num_threads},
    {"parallel_for", parallel_for},
    {"for", for_loop},
    {"schedules", schedules},
    {"runtime_schedule", runtime_schedule},
    {"if", if_clause},
    {"blocks", blocks},
    {"nowait", no_wait},
    {"collapse", collapse},
    {"single", single},
    {"copyprivate", copyprivate},
    {"critical", critical},
    {"atomic", atomic},
    {"barrier", barrier},
    {"ordered", ordered},
    {"sections", sections},
    {"parallel_sections", parallel_sections},
    {"reduction", reduction},
    {"reduction_inside", reduction_inside},
    {"reduction_max", reduction_max},
    {"reduction_of_members", reduction_of_members},
    {"scan", scan},
    {"private", private_values},
    {"flush", flush},
    {"threadprivate", threadprivate},
    {"cancel", cancel},
    {"nested", nested},
    {"lock", lock},
    {"simd", simd},
};

/// Constructs that OpenMP does not have.
struct own_construct {
  const char* name;
  double (*run)();
  double value;
};
constexpr own_construct own[] = {
    {"threadprivate_hooks", threadprivate_hooks, 4 * 1000},
    {"first", first_members, 2},
    {"exception", exception, 1},
    {"weighted", weighted, 100 * 499500.0},
    {"kernel", kernel, 2 * 499500.0},
};

}  // namespace

int main() {
  int status = constructs::run_all(all);
  for (const own_construct& each : own) {
    const double result = each.run();
    if (result == each.value) continue;
    std::fprintf(stderr, "%s: %.17g is wrong\n", each.name, result);
    status = 1;
  }
  return status;
}
