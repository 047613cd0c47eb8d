// SPDX-License-Identifier: MIT
// A user's program for ThreadSanitizer: plain data that each family of types orders. With an argument it has one race.
#include <lockstep/lockstep.hpp>
#include <lockstep/thread.hpp>

#include <cstddef>
#include <cstdio>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace {

int wrong = 0;
bool has_race = false;
void expect(bool condition, const char* what) {
  if (condition) return;
  ++wrong;
  std::printf("wrong: %s\n", what);
}

void use_regions(lockstep::team& team) {
  std::vector<long> seen(team.size());
  std::vector<std::size_t> squares(100), reversed(100);
  long shared = 0, critical = 0;
  for (int round = 0; round < 50; ++round) {
    team.run([&](lockstep::member& me) {
      seen[me.rank()] += round;
      if (has_race) ++shared;
      me.sync_threads();
      long sum = 0;
      for (const long each : seen) sum += each;
      expect(me.sync_sum(sum) == sum * static_cast<long>(me.size()), "sync_sum");
      me.critical<struct name>([&] { ++critical; });
      me.single([&] { ++shared; });
      me.for_each(std::size_t{0}, squares.size(), [&](std::size_t i) { squares[i] = i * i; });
      me.for_each(
          std::size_t{0}, squares.size(), [&](std::size_t i) { reversed[i] = squares[99 - i]; },
          lockstep::dynamic_schedule());
      me.publish(round + 1);
      if (me.rank() > 0) me.await_step(me.rank() - 1, round + 1);
    });
  }
  expect(reversed[0] == 99 * 99, "for_each");
  expect(critical == 50 * static_cast<long>(team.size()), "critical");
  expect(has_race || shared == 50, "single");
}

void use_loops(lockstep::team& team) {
  constexpr std::size_t n = 20000;
  for (int round = 0; round < 50; ++round) {
    std::vector<double> x(n, 1.0);
    team.for_each(0, n, [&](std::size_t i) { x[i] += static_cast<double>(i); });
    team.for_each(0, n, [&](std::size_t i) { x[i] += 1; }, lockstep::dynamic_schedule(64));
    team.for_range(0, n, [&](std::size_t first, std::size_t last) {
      for (; first < last; ++first) x[first] -= 1;
    });
    const double sum =
        team.reduce_each(0, n, 0.0, [&](std::size_t i) { return x[i]; }, std::plus<double>());
    expect(sum == n + n * (n - 1) / 2.0, "reduce_each");
    int left = 0, right = 0;
    team.sections([&] { left = round; }, [&] { right = round; });
    expect(left == round && right == round, "sections");
  }
}

void use_graph(lockstep::team& team) {
  long first = 0, second = 0, last = 0;
  int turns = 0;
  lockstep::graph g;
  auto begin = g.node("begin", [&] { ++first; });
  auto middle = g.node("middle", [&] { second += first; });
  auto end = g.node("end", [&] {
    last += second;
    return ++turns % 3 != 0;
  });
  g.loop(g.series(begin, middle, end));
  lockstep::plan plan(g, team);
  for (int i = 0; i < 20; ++i) plan.run();
  expect(first == 60 && turns == 60, "graph");
}

void use_objects() {
  lockstep::event there, back;
  lockstep::mutex lock;
  lockstep::shared_mutex readers;
  lockstep::semaphore permits(0);
  lockstep::condition_variable changed;
  lockstep::barrier<> meeting(2);
  lockstep::latch done(1);
  long plain = 0, guarded = 0, read = 0;
  bool is_set = false;
  lockstep::joinable_thread other([&] {
    for (int i = 0; i < 200; ++i) {
      there.wait();
      ++plain;
      back.notify();
      {
        const std::lock_guard<lockstep::mutex> held(lock);
        ++guarded;
      }
      {
        const std::lock_guard<lockstep::shared_mutex> held(readers);
        ++read;
      }
      permits.release();
      meeting.arrive_and_wait();
      ++plain;
      meeting.arrive_and_wait();
    }
    {
      const std::lock_guard<lockstep::mutex> held(lock);
      is_set = true;
    }
    changed.notify_all();
    plain = -1;
    done.count_down();
  });
  for (int i = 0; i < 200; ++i) {
    ++plain;
    there.notify();
    back.wait();
    ++plain;
    {
      const std::lock_guard<lockstep::mutex> held(lock);
      ++guarded;
    }
    readers.lock_shared();
    expect(read <= i + 1, "shared_mutex");
    readers.unlock_shared();
    permits.acquire();
    meeting.arrive_and_wait();
    meeting.arrive_and_wait();
  }
  std::unique_lock<lockstep::mutex> held(lock);
  while (!is_set) changed.wait(held);
  done.wait();
  expect(plain == -1 && guarded == 400, "objects");
  other.join();
}

}  // namespace

int main(int count, char**) {
  has_race = count > 1;
  for (const std::size_t members : {2, 3}) {
    lockstep::team team(members);
    use_regions(team);
    use_loops(team);
    use_graph(team);
  }
  use_objects();
  std::puts(wrong == 0 ? "ok" : "wrong result");
  return wrong == 0 ? 0 : 1;
}
