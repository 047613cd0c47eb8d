// SPDX-License-Identifier: MIT
// tests/fault/workloads.cpp -- see workloads.hpp
#include "fault/workloads.hpp"

#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "support/threads.hpp"

namespace lockstep::test {
namespace {

/// So short that many such waits time out, whatever the machine.
constexpr std::chrono::microseconds short_time(100);

template <class F>
void run_ranks(const setting& with, F f) {
  run_threads(with.threads, [&](std::size_t rank) {
    if (with.on_start) with.on_start(rank);
    f(rank);
  });
}

/// Calls f(rank, round), round by round, on each thread.
template <class F>
void run_rounds(const setting& with, F f) {
  run_ranks(with, [&](std::size_t rank) {
    for (int round = 0; round < with.rounds; ++round) f(rank, round);
  });
}

/// In two rounds of four waits without a deadline; in the other two with one, again and again until it is ready.
template <class Wait, class WaitFor>
void wait_either_way(int round, Wait wait, WaitFor wait_for) {
  if (round % 4 < 2) {
    wait();
  } else {
    while (wait_for(short_time) != wait_status::ready) continue;
  }
}

/// As above, on an object, for a rank if it has ranks.
template <class Object, class... Rank>
void wait_on(int round, Object& object, Rank... rank) {
  wait_either_way(
      round, [&] { object.wait(rank...); },
      [&](auto time) { return object.wait_for(rank..., time); });
}

/// As above, for locks.
template <class Lock>
void lock_either_way(int round, Lock& lock) {
  if (round % 4 < 2) {
    lock.lock();
  } else {
    while (!lock.try_lock_for(short_time)) continue;
  }
}

template <class Object, class... Arguments>
std::vector<std::unique_ptr<Object>> make_many(int count, Arguments... arguments) {
  std::vector<std::unique_ptr<Object>> many;
  for (int i = 0; i < count; ++i) many.push_back(std::make_unique<Object>(arguments...));
  return many;
}

/// Every thread writes its cell before arrive(rank, round) and reads all cells after it.
template <class Arrive>
long count_torn_phases(const setting& with, Arrive arrive) {
  std::vector<std::vector<long>> cells(2, std::vector<long>(with.threads, -1));
  std::atomic<long> wrong{0};
  run_rounds(with, [&](std::size_t rank, int round) {
    std::vector<long>& now = cells[static_cast<std::size_t>(round % 2)];
    now[rank] = round;
    arrive(rank, round);
    for (const long each : now) wrong += each != round;
  });
  return wrong;
}

/// Every thread counts between enter(round) and leave(round), at times giving up its CPU in the middle.
template <class Enter, class Leave>
long count_lost_increments(const setting& with, Enter enter, Leave leave) {
  long sum = 0;  // plain
  run_rounds(with, [&](std::size_t, int round) {
    enter(round);
    const long before = sum;
    if (round % 8 == 0) std::this_thread::yield();
    sum = before + 1;
    leave(round);
  });
  return sum - static_cast<long>(with.threads) * with.rounds;
}

long event_ring(const setting& with) {
  const auto ring = make_many<event>(static_cast<int>(with.threads), with.policy);
  std::size_t turns = 0;  // plain: the token is the right to write
  std::atomic<long> wrong{0};
  ring[0]->notify();
  run_rounds(with, [&](std::size_t rank, int round) {
    wait_on(round, *ring[rank]);
    wrong += turns++ % with.threads != rank;
    ring[(rank + 1) % with.threads]->notify();
  });
  return wrong;
}

long fan_out_and_in(const setting& with) {
  fan_out out(with.threads - 1, with.policy);
  fan_in in(with.threads - 1, with.policy);
  std::vector<long> cells(with.threads);
  std::atomic<long> wrong{0};
  run_rounds(with, [&](std::size_t rank, int round) {
    if (rank == 0) {
      cells[0] = round;
      out.notify();
      wait_on(round, in);
      for (const long each : cells) wrong += each != round;
    } else {
      wait_on(round, out, rank - 1);
      wrong += cells[0] != round;
      cells[rank] = round;
      in.notify(rank - 1);
    }
  });
  return wrong;
}

long fan_in_out_of_all(const setting& with) {
  fan_in_out all(with.threads, with.threads, with.policy);
  return count_torn_phases(with, [&](std::size_t rank, int round) {
    all.notify(rank);
    wait_on(round, all, rank);
  });
}

long ranked_phases(const setting& with) {
  ranked_barrier all(with.threads, with.policy);
  return count_torn_phases(with, [&](std::size_t rank, int round) {
    all.arrive(rank);
    wait_on(round, all, rank);
  });
}

long counted_barrier_of_all(const setting& with) {
  barrier<> all(static_cast<std::ptrdiff_t>(with.threads), {}, with.policy);
  return count_torn_phases(with, [&](std::size_t, int round) {
    auto token = all.arrive();
    wait_either_way(
        round, [&] { all.wait(std::move(token)); },
        [&](auto time) { return all.wait_for(token, time); });
  });
}

long latch_per_round(const setting& with) {
  const auto latches =
      make_many<latch>(with.rounds, static_cast<std::ptrdiff_t>(with.threads), with.policy);
  return count_torn_phases(with, [&](std::size_t, int round) {
    latch& now = *latches[static_cast<std::size_t>(round)];
    now.count_down();
    wait_on(round, now);
  });
}

/// The gate is opened for one round and closed for the next but one, when all have gone through.
long manual_reset_gate(const setting& with) {
  const auto gates = make_many<manual_reset_event>(2, with.policy);
  fan_in back(with.threads - 1, with.policy);
  long data = -1;
  std::atomic<long> wrong{0};
  run_rounds(with, [&](std::size_t rank, int round) {
    manual_reset_event& gate = *gates[static_cast<std::size_t>(round % 2)];
    if (rank == 0) {
      data = round;
      gate.notify();
      back.wait();
      gate.reset();
    } else {
      wait_on(round, gate);
      wrong += data != round;
      back.notify(rank - 1);
    }
  });
  return wrong;
}

long auto_reset_token(const setting& with) {
  auto_reset_event token(with.policy);
  token.notify();
  return count_lost_increments(
      with, [&](int round) { wait_on(round, token); }, [&](int) { token.notify(); });
}

long semaphore_as_lock(const setting& with) {
  semaphore permit(1, with.policy);
  return count_lost_increments(
      with,
      [&](int round) {
        if (round % 4 < 2) return permit.acquire();
        while (!permit.try_acquire_for(short_time)) continue;
      },
      [&](int) { permit.release(); });
}

long mutex_excludes(const setting& with) {
  mutex lock(with.policy);
  return count_lost_increments(
      with, [&](int round) { lock_either_way(round, lock); }, [&](int) { lock.unlock(); });
}

long recursive_mutex_excludes(const setting& with) {
  recursive_mutex lock(with.policy);
  return count_lost_increments(
      with,
      [&](int round) {
        lock_either_way(round, lock);
        lock.lock();
      },
      [&](int) {
        lock.unlock();
        lock.unlock();
      });
}

long shared_mutex_keeps_writers_alone(const setting& with) {
  shared_mutex lock(with.policy);
  long first = 0, second = 0;  // plain
  std::atomic<long> wrong{0};
  run_rounds(with, [&](std::size_t rank, int round) {
    if ((static_cast<std::size_t>(round) + rank) % 3 == 0) {
      lock_either_way(round, lock);
      ++first;
      if (round % 8 == 0) std::this_thread::yield();
      ++second;
      lock.unlock();
    } else {
      if (round % 2 == 0) {
        lock.lock_shared();
      } else {
        while (!lock.try_lock_shared_for(short_time)) continue;
      }
      wrong += first != second;
      lock.unlock_shared();
    }
  });
  return wrong;
}

/// Turns in order of rank; with the library's mutex, or with another lock. Not std::mutex: the system calls
/// of that leave registers as they are, so that a filter for the library's may refuse them too.
template <class Mutex>
long condition_turns(const setting& with) {
  Mutex lock;
  condition_variable changed(with.policy);
  std::size_t turn = 0;  // plain: the lock protects it
  long done = 0;
  run_rounds(with, [&](std::size_t rank, int round) {
    std::unique_lock<Mutex> hold(lock);
    const auto my_turn = [&] { return turn % with.threads == rank; };
    wait_either_way(
        round, [&] { changed.wait(hold, my_turn); },
        [&](auto time) {
          return changed.wait_for(hold, time, my_turn) ? wait_status::ready
                                                       : wait_status::timed_out;
        });
    ++turn;
    ++done;
    changed.notify_all();
  });
  return done - static_cast<long>(with.threads) * with.rounds;
}

/// Each is set by a thread that has waited for the one before.
long eventual_chain(const setting& with) {
  const auto chain = make_many<eventual<long>>(with.rounds, with.policy);
  std::atomic<long> wrong{0};
  run_rounds(with, [&](std::size_t rank, int round) {
    eventual<long>& now = *chain[static_cast<std::size_t>(round)];
    if (static_cast<std::size_t>(round) % with.threads == rank) {
      now.set_value(round);
    } else {
      wait_on(round, now);
      wrong += now.get() != round;
    }
  });
  return wrong;
}

long future_set_of_all(const setting& with) {
  std::atomic<long> called{0};
  const auto sets = make_many<future_set<long>>(
      with.rounds, with.threads, [&](const auto&) { ++called; }, with.policy);
  std::atomic<long> wrong{0};
  run_rounds(with, [&](std::size_t, int round) {
    future_set<long>& now = *sets[static_cast<std::size_t>(round)];
    now.contribute(round);
    wait_on(round, now);
    for (const long each : now.get()) wrong += each != round;
  });
  return wrong + called - with.rounds;
}

/// The owner answers each call, so that posters and owner wait for each other.
long mailbox_calls(const setting& with) {
  mailbox box(4, with.policy);
  const auto answers = make_many<event>(static_cast<int>(with.threads), with.policy);
  std::vector<int> last(with.threads, -1);  // plain, the owner's, as what follows
  long disordered = 0;
  std::size_t ended = 0;
  const auto run = [&](std::size_t rank, int round) {
    disordered += ++last[rank] != round;
    ended += round == with.rounds;
    answers[rank]->notify();
  };
  std::atomic<long> wrong{0};
  run_ranks(with, [&](std::size_t rank) {
    if (rank == 0) {
      while (ended + 1 < with.threads) box.wait_and_run_for(short_time);
      return;
    }
    for (int round = 0; round <= with.rounds; ++round) {
      while (!box.post([&run, rank, round] { run(rank, round); })) std::this_thread::yield();
      wrong += !answers[rank]->wait();
    }
  });
  return wrong + disordered;
}

long thread_after_thread(const setting& with) {
  std::atomic<long> wrong{0};
  run_ranks(with, [&](std::size_t rank) {
    for (int round = 0; round < with.rounds; round += 4) {
      int done = 0;  // plain
      joinable_thread other(with.policy, [&] {
        if (with.on_start) with.on_start(rank);
        done = 1;
      });
      wait_either_way(
          round / 4, [&] { other.join(); }, [&](auto time) { return other.join_for(time); });
      wrong += done != 1;
    }
  });
  return wrong;
}

/// Two outside threads run regions on one team.
long team_regions(const setting& with) {
  team workers(with.threads, with.policy);
  if (with.on_start) workers.run([&](member& self) { with.on_start(self.rank()); });
  std::vector<long> cells(with.threads), sums(with.threads);
  long regions = 0;
  std::atomic<long> wrong{0};
  run_threads(2, [&](std::size_t caller) {
    for (int round = 0; round < with.rounds; round += 2) {
      const long mark = round * 2 + static_cast<long>(caller);
      workers.run([&](member& self) {
        cells[self.rank()] = mark;
        wrong += !self.sync_threads();
        for (const long each : cells) wrong += each != mark;
        if (self.rank() == 0) ++regions;
      });
    }
  });
  return wrong + regions - (with.rounds + 1) / 2 * 2;
}

}  // namespace

const std::vector<workload>& all_workloads() {
  static const std::vector<workload> all = {
      {"event", event_ring},
      {"fan_out_and_fan_in", fan_out_and_in},
      {"fan_in_out", fan_in_out_of_all},
      {"ranked_barrier", ranked_phases},
      {"barrier", counted_barrier_of_all},
      {"latch", latch_per_round},
      {"manual_reset_event", manual_reset_gate},
      {"auto_reset_event", auto_reset_token},
      {"semaphore", semaphore_as_lock},
      {"mutex", mutex_excludes},
      {"recursive_mutex", recursive_mutex_excludes},
      {"shared_mutex", shared_mutex_keeps_writers_alone},
      {"condition_variable", condition_turns<mutex>},
      {"condition_variable_any", condition_turns<recursive_mutex>},
      {"eventual", eventual_chain},
      {"future_set", future_set_of_all},
      {"mailbox", mailbox_calls},
      {"joinable_thread", thread_after_thread},
      {"team", team_regions}};
  return all;
}

}  // namespace lockstep::test
