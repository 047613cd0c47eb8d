// SPDX-License-Identifier: MIT
// bench/team/lockstep_overheads.cpp -- our counterparts of OpenMP's constructs
#include <atomic>
#include <functional>
#include <lockstep/lockstep.hpp>
#include <string>

#include "team/overheads.hpp"
#include "team/peers/lockstep_team.hpp"
#include "team/settled.hpp"
#include "team/team_entries.hpp"

namespace team_bench {
namespace {

using lockstep::member;
using lockstep::team;

void parallel(team& on, const overhead_setup& with, std::size_t times) {
  const std::size_t rounds = with.rounds;
  for (std::size_t i = 0; i < times; ++i) on.run([rounds](member&) { delay(rounds); });
}

void parallel_loop(team& on, const overhead_setup& with, std::size_t times) {
  const std::size_t rounds = with.rounds;
  for (std::size_t i = 0; i < times; ++i) {
    on.for_each(0, with.threads, [rounds](std::size_t) { delay(rounds); });
  }
}

void range_loop(team& on, const overhead_setup& with, std::size_t times) {
  const std::size_t rounds = with.rounds;
  for (std::size_t i = 0; i < times; ++i) {
    on.for_range(0, with.threads, [rounds](std::size_t first, std::size_t last) {
      for (; first < last; ++first) delay(rounds);
    });
  }
}

void barrier(team& on, const overhead_setup& with, std::size_t times) {
  on.run([&](member& self) {
    for (std::size_t i = 0; i < times; ++i) {
      delay(with.rounds);
      self.sync_threads();
    }
  });
}

void loop(team& on, const overhead_setup& with, std::size_t times) {
  on.run([&](member& self) {
    for (std::size_t i = 0; i < times; ++i) {
      self.for_each(0, with.threads, [&](std::size_t) { delay(with.rounds); });
    }
  });
}

void single(team& on, const overhead_setup& with, std::size_t times) {
  on.run([&](member& self) {
    for (std::size_t i = 0; i < times; ++i) self.single([&] { delay(with.rounds); });
  });
}

void critical(team& on, const overhead_setup& with, std::size_t times) {
  on.run([&](member& self) {
    for (std::size_t i = 0; i < times / with.threads; ++i) {
      self.critical<struct team_bench_critical>([&] { delay(with.rounds); });
    }
  });
}

void ordered(team& on, const overhead_setup& with, std::size_t times) {
  on.run([&](member& self) {
    self.for_ordered(
        0, times, [&](std::size_t, auto& turn) { turn([&] { delay(with.rounds); }); },
        lockstep::static_schedule(1));
  });
}

void reduction(team& on, const overhead_setup& with, std::size_t times) {
  const std::size_t rounds = with.rounds;
  for (std::size_t i = 0; i < times; ++i) {
    double sum = on.reduce_each(
        0, with.threads, 0.0,
        [rounds](std::size_t) {
          delay(rounds);
          return 1.0;
        },
        std::plus<double>());
    asm volatile("" : "+m"(sum));
  }
}

void perform_loop(team& on, const overhead_setup& with, std::size_t times, lockstep::schedule how) {
  on.run([&](member& self) {
    for (std::size_t i = 0; i < times; ++i) {
      self.for_each(
          0, with.iterations * with.threads, [&](std::size_t) { delay(with.rounds); }, how);
    }
  });
}

void static_loop(team& on, const overhead_setup& with, std::size_t times) {
  perform_loop(
      on, with, times,
      with.chunk == 0 ? lockstep::static_schedule() : lockstep::static_schedule(with.chunk));
}

void dynamic_loop(team& on, const overhead_setup& with, std::size_t times) {
  perform_loop(on, with, times, lockstep::dynamic_schedule(with.chunk == 0 ? 1 : with.chunk));
}

void guided_loop(team& on, const overhead_setup& with, std::size_t times) {
  perform_loop(on, with, times, lockstep::guided_schedule(with.chunk == 0 ? 1 : with.chunk));
}

void lock_unlock(team& on, const overhead_setup& with, std::size_t times) {
  lockstep::mutex lock;
  on.run([&](member&) {
    for (std::size_t i = 0; i < times / with.threads; ++i) {
      lock.lock();
      delay(with.rounds);
      lock.unlock();
    }
  });
}

void atomic(team& on, const overhead_setup& with, std::size_t times) {
  std::atomic<double> sum{0};
  on.run([&](member&) {
    for (std::size_t i = 0; i < times / with.threads; ++i) {
      sum.fetch_add(1, std::memory_order_relaxed);
    }
  });
}

void add(catalogue& to, const char* construct, reference kind,
         void (*perform)(team&, const overhead_setup&, std::size_t)) {
  to.push_back({std::string("overhead/") + construct, "lockstep", [=](const request& wanted) {
                  settled<lockstep_team> settled_team(wanted);
                  team& on = settled_team.itself();
                  return measure_overhead(settled_team, wanted, kind,
                                          [&](const overhead_setup& with, std::size_t times) {
                                            perform(on, with, times);
                                          });
                }});
}

}  // namespace

void add_lockstep_overheads(catalogue& to) {
  add(to, "parallel", reference::one_delay, parallel);
  add(to, "for", reference::one_delay, loop);
  add(to, "parallel_for", reference::one_delay, parallel_loop);
  add(to, "for_range", reference::one_delay, range_loop);
  add(to, "barrier", reference::one_delay, barrier);
  add(to, "single", reference::one_delay, single);
  add(to, "critical", reference::one_delay, critical);
  add(to, "lock_unlock", reference::one_delay, lock_unlock);
  add(to, "ordered", reference::one_delay, ordered);
  add(to, "atomic", reference::addition, atomic);
  add(to, "reduction", reference::delay_and_addition, reduction);
  add(to, "static", reference::loop, static_loop);
  add(to, "dynamic", reference::loop, dynamic_loop);
  add(to, "guided", reference::loop, guided_loop);
  add(to, "long-static", reference::long_loop, static_loop);
  add(to, "long-dynamic", reference::long_loop, dynamic_loop);
  add(to, "long-guided", reference::long_loop, guided_loop);
}

}  // namespace team_bench
