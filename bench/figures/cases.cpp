// SPDX-License-Identifier: MIT
#include "cases.hpp"

#include <pthread.h>

#include <barrier>
#include <deque>
#include <lockstep/lockstep.hpp>
#include <memory>
#include <semaphore>
#include <thread>

#include "measure.hpp"
#include "support/pause.hpp"
#include "support/stopwatch.hpp"

namespace figures {
namespace {

using lockstep::padded;

double lockstep_barrier(std::size_t members, std::size_t operations, placement where) {
  lockstep::ranked_barrier all(members);
  return time_per_operation(members, operations, where,
                            [&](std::size_t rank) { all.arrive_and_wait(rank); });
}

double std_barrier(std::size_t members, std::size_t operations, placement where) {
  std::barrier<> all(static_cast<std::ptrdiff_t>(members));
  return time_per_operation(members, operations, where,
                            [&](std::size_t) { all.arrive_and_wait(); });
}

double posix_barrier(std::size_t members, std::size_t operations, placement where) {
  pthread_barrier_t all;
  pthread_barrier_init(&all, nullptr, static_cast<unsigned>(members));
  const double result = time_per_operation(members, operations, where,
                                           [&](std::size_t) { pthread_barrier_wait(&all); });
  pthread_barrier_destroy(&all);
  return result;
}

/// On a thread of its own, so that a pinned caller pins nobody else. Members inherit its CPUs.
template <class Function>
double on_new_thread(placement where, Function f) {
  double result = 0;
  std::thread([&] {
    if (where == placement::one_cpu) place(where, 0);
    result = f();
  }).join();
  return result;
}

double lockstep_fork_join(std::size_t members, std::size_t operations, placement where) {
  return on_new_thread(where, [=] {
    lockstep::team team(members);
    return time_per_call(operations, [&] { team.run([](lockstep::member&) {}); });
  });
}

/// A token passed round: every thread waits for it and passes it on. Time per hop.
template <class Token>
double ring(std::size_t threads, std::size_t laps, placement where) {
  std::deque<padded<Token>> tokens(threads);
  return time_per_operation(threads, laps, where,
                            [&](std::size_t rank) {
                              const std::size_t next = rank + 1 == threads ? 0 : rank + 1;
                              if (rank == 0) tokens[next].value.notify();
                              tokens[rank].value.wait();
                              if (rank != 0) tokens[next].value.notify();
                            }) /
         static_cast<double>(threads);
}

/// What a hop costs at least: a release store to notify, a polling load to wait.
class release_store {
 public:
  void notify() {
    word_.store(word_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  void wait() {
    ++seen_.value;
    while (word_.load(std::memory_order_acquire) != seen_.value) bench::cpu_relax();
  }

 private:
  std::atomic<std::uint32_t> word_{0};
  padded<std::uint32_t> seen_;
};

class semaphore {
 public:
  void notify() { semaphore_.release(); }
  void wait() { semaphore_.acquire(); }

 private:
  std::counting_semaphore<> semaphore_{0};
};

void sleep_for(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

/// CPU time of the process, in percent of one CPU, from 10 ms to 210 ms after the last region.
double idle_cpu_percent() {
  lockstep::team team;
  for (int i = 0; i < 1000; ++i) team.run([](lockstep::member&) {});
  sleep_for(std::chrono::milliseconds(10));
  const bench::stopwatch watch;
  sleep_for(std::chrono::milliseconds(200));
  const bench::elapsed_time time = watch.elapsed();
  return 100 * time.cpu_seconds / time.wall_seconds;
}

double first_region_after_idle() {
  lockstep::team team;
  for (int i = 0; i < 1000; ++i) team.run([](lockstep::member&) {});
  sleep_for(std::chrono::milliseconds(50));
  const nanosecond_clock clock;
  team.run([](lockstep::member&) {});
  return clock.elapsed();
}

void add_crowded(std::vector<measured_case>& cases) {
  for (const std::size_t members : {4u, 16u, 64u}) {
    const std::size_t operations = 40000 / members;
    const std::string of = " of " + std::to_string(members);
    const auto add = [&](const std::string& work, const char* peer, auto run) {
      cases.push_back(
          {work + of, peer, "", [=] { return run(members, operations, placement::free); }});
    };
    add("barrier", "lockstep", lockstep_barrier);
    add("barrier", "std::barrier", std_barrier);
    add("barrier", "pthread", posix_barrier);
    add("fork/join", "lockstep", lockstep_fork_join);
  }
}

void add_rings(std::vector<measured_case>& cases) {
  cases.push_back({"hop, ring of 2", "lockstep", "",
                   [] { return ring<lockstep::event>(2, 50000, placement::spread); }});
  cases.push_back({"hop, ring of 2", "release store", "",
                   [] { return ring<release_store>(2, 50000, placement::spread); }});
  for (const std::size_t threads : {3u, 5u, 10u, 100u}) {
    const std::string work = "hop, ring of " + std::to_string(threads);
    const std::size_t laps = 20000 / threads;
    cases.push_back({work, "lockstep", "",
                     [=] { return ring<lockstep::event>(threads, laps, placement::free); }});
    cases.push_back({work, "std::semaphore", "",
                     [=] { return ring<semaphore>(threads, laps, placement::free); }});
  }
}

}  // namespace

std::vector<measured_case> all_cases() {
  std::vector<measured_case> cases = {
      {"barrier of 2", "lockstep", "",
       [] { return lockstep_barrier(2, 50000, placement::spread); }},
      {"barrier of 2", "std::barrier", "", [] { return std_barrier(2, 20000, placement::spread); }},
      {"fork/join of 2", "lockstep", "",
       [] { return lockstep_fork_join(2, 100000, placement::free); }},
      {"fork/join of 2", "std::thread", "",
       [] { return time_per_call(500, [] { std::thread([] {}).join(); }); }},
      {"barrier of 2 on one CPU", "lockstep", "",
       [] { return lockstep_barrier(2, 10000, placement::one_cpu); }},
      {"fork/join of 2 on one CPU", "lockstep", "",
       [] { return lockstep_fork_join(2, 10000, placement::one_cpu); }},
      {"idle team, after 10 ms", "lockstep", "", idle_cpu_percent, "% CPU"},
      {"first region after 50 ms idle", "lockstep", "", first_region_after_idle}};
  add_crowded(cases);
  add_rings(cases);
  for (measured_case& more : openmp_cases()) cases.push_back(std::move(more));
  return cases;
}

}  // namespace figures
