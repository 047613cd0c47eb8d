// SPDX-License-Identifier: MIT
// tests/stress/notify_scenarios.cpp -- event, fan_out, fan_in, fan_in_out: every notification is taken once
//
// The messages are plain data, written once and read after the wait: a hole in the ordering is a report
// of ThreadSanitizer or a wrong value, a lost notification a round that never ends.
#include <deque>

#include <lockstep/event.hpp>
#include <lockstep/fan.hpp>
#include <lockstep/ranked_barrier.hpp>
#include "stress/round.hpp"
#include "support/starting_at.hpp"

namespace lockstep::stress {
namespace {

void take(event& from, actor& self) {
  const auto must_wait = [&] { self.require(from.wait(), "event: wait() said terminated"); };
  const auto wait_for = [&](auto time) { return from.wait_for(time); };
  wait_some_way(self, [&] { return from.try_wait(); }, wait_for, must_wait);
}

/// Waits for a rank of a fan_out or fan_in_out.
template <class Object>
void take(Object& from, std::size_t rank, actor& self) {
  const auto must_wait = [&] { self.require(from.wait(rank), "wait() said terminated"); };
  const auto wait_for = [&](auto time) { return from.wait_for(rank, time); };
  wait_some_way(self, [&] { return from.try_wait(rank); }, wait_for, must_wait);
}

/// Two threads; the first is ahead by blocks of changing length.
struct event_pair {
  test::starting_at<event> forth, back;
  std::vector<std::uint64_t> messages;

  event_pair(round& of)
      : forth(of.random.first_phase(), of.policy()),
        back(of.random.first_phase(), of.policy()),
        messages(of.steps()) {}

  void notify_all_steps(actor& self, random_source blocks) {
    for (std::size_t step = 0; step < messages.size();) {
      for (std::size_t left = 1 + blocks.below(4); left > 0 && step < messages.size(); --left) {
        self.pause();
        messages[step] = step + 1;
        forth.notify();
        self.done();
        ++step;
      }
      take(back, self);
    }
  }
  void wait_for_all_steps(actor& self, random_source blocks) {
    for (std::size_t step = 0; step < messages.size();) {
      for (std::size_t left = 1 + blocks.below(4); left > 0 && step < messages.size(); --left) {
        take(forth, self);
        self.require(messages[step] == step + 1, "event: the message is not there");
        self.done();
        ++step;
      }
      back.notify();
    }
  }
};

void run_event(round& the) {
  const std::size_t pairs = the.threads() / 2;
  std::deque<event_pair> all;
  for (std::size_t i = 0; i < pairs; ++i) all.emplace_back(the);
  the.run(2 * pairs, 2 * pairs * the.steps(), [&](actor& self) {
    const std::size_t pair = self.rank() / 2;
    const random_source blocks(mix(the.seed(), pair));
    if (self.rank() % 2 == 0) {
      all[pair].notify_all_steps(self, blocks);
    } else {
      all[pair].wait_for_all_steps(self, blocks);
    }
  });
  for (event_pair& each : all) the.require_equal(each.forth.try_wait(), 0, "notifications left");
}

/// Tokens go round a ring of events; each is plain data of the thread that has it.
void run_event_ring(round& the) {
  const std::size_t threads = the.threads(), steps = the.steps();
  const std::size_t tokens = 1 + the.random.below(threads);
  std::deque<test::starting_at<event>> ring;
  for (std::size_t i = 0; i < threads; ++i) {
    ring.emplace_back(the.random.first_phase(), the.policy());
  }
  std::vector<std::uint64_t> hops(tokens);
  for (std::size_t i = 0; i < tokens; ++i) ring[0].notify();
  the.run(threads * steps, [&](actor& self) {
    for (std::size_t step = 0; step < steps; ++step) {
      take(ring[self.rank()], self);
      ++hops[step % tokens];
      self.pause();
      ring[(self.rank() + 1) % threads].notify();
      self.done();
    }
  });
  std::uint64_t all = 0, left = 0;
  for (const std::uint64_t each : hops) all += each;
  the.require_equal(all, threads * steps, "hops of all tokens");
  while (ring[0].try_wait()) ++left;
  the.require_equal(left, tokens, "tokens");
}

void run_fan_out(round& the) {
  const std::size_t waiters = the.threads() - 1, steps = the.steps();
  test::starting_at<fan_out> object(the.random.first_phase(), waiters, the.policy());
  std::vector<std::uint64_t> messages(steps);
  the.run(the.threads() * steps, [&](actor& self) {
    for (std::size_t step = 0; step < steps; ++step) {
      if (self.rank() == 0) {
        self.pause();
        messages[step] = step + 1;
        object.notify();
      } else {
        take(object, self.rank() - 1, self);
        self.require(messages[step] == step + 1, "fan_out: the message is not there");
      }
      self.done();
    }
  });
}

/// Messages of several notifiers, one for each step.
class letters {
 public:
  letters(std::size_t writers, std::size_t steps) : of_(writers), steps_(steps) {
    for (auto& each : of_) each.resize(steps);
  }
  std::size_t steps() const noexcept { return steps_; }
  void write(std::size_t writer, std::size_t step) { of_[writer][step] = step + 1; }
  bool are_there(std::size_t step) const noexcept {
    for (const auto& each : of_) {
      if (each[step] != step + 1) return false;
    }
    return true;
  }

 private:
  std::vector<std::vector<std::uint64_t>> of_;
  std::size_t steps_;
};

void run_fan_in(round& the) {
  const std::size_t notifiers = the.threads() - 1, steps = the.steps();
  test::starting_at<fan_in> object(the.random.first_phase(), notifiers, the.policy());
  letters mail(notifiers, steps);
  the.run(the.threads() * steps, [&](actor& self) {
    for (std::size_t step = 0; step < steps; ++step) {
      if (self.rank() > 0) {
        self.pause();
        mail.write(self.rank() - 1, step);
        object.notify(self.rank() - 1);
      } else {
        const auto must_wait = [&] { self.require(object.wait(), "fan_in: terminated"); };
        const auto wait_for = [&](auto time) { return object.wait_for(time); };
        wait_some_way(self, [&] { return object.try_wait(); }, wait_for, must_wait);
        self.require(mail.are_there(step), "fan_in: a message is not there");
      }
      self.done();
    }
  });
}

void run_fan_in_out(round& the) {
  const std::size_t notifiers = 1 + the.random.below(the.threads() - 1), steps = the.steps();
  test::starting_at<fan_in_out> object(the.random.first_phase(), notifiers,
                                       the.threads() - notifiers, the.policy());
  letters mail(notifiers, steps);
  the.run(the.threads() * steps, [&](actor& self) {
    for (std::size_t step = 0; step < steps; ++step) {
      if (self.rank() < notifiers) {
        self.pause();
        mail.write(self.rank(), step);
        object.notify(self.rank());
      } else {
        take(object, self.rank() - notifiers, self);
        self.require(mail.are_there(step), "fan_in_out: a message is not there");
      }
      self.done();
    }
  });
}

/// All threads but the last wait for what never comes; the last, at some time, terminates the object.
template <class Object, class Wait>
void terminate_one(round& the, Object& object, Wait wait) {
  the.run(the.threads(), [&](actor& self) {
    if (self.rank() + 1 < the.threads()) {
      self.require(!wait(self.rank()), "terminate: a wait returned as if it had been notified");
    } else {
      for (std::size_t i = self.random.below(64); i > 0; --i) self.pause();
      object.terminate();
    }
    self.done();
  });
}

void run_terminate(round& the) {
  const std::size_t waiters = the.threads() - 1;
  fan_out out(waiters, the.policy());
  terminate_one(the, out, [&](std::size_t rank) { return out.wait(rank); });
  fan_in_out meeting(2, waiters, the.policy());
  terminate_one(the, meeting, [&](std::size_t rank) { return meeting.wait(rank); });
  ranked_barrier gathering(waiters + 1, the.policy());
  terminate_one(the, gathering, [&](std::size_t rank) { return gathering.arrive_and_wait(rank); });
  std::deque<event> events;
  for (std::size_t i = 0; i < waiters; ++i) events.emplace_back(the.policy());
  struct {
    std::deque<event>& all;
    void terminate() {
      for (event& each : all) each.terminate();
    }
  } every{events};
  terminate_one(the, every, [&](std::size_t rank) { return events[rank].wait(); });
}

}  // namespace

std::vector<scenario> notify_scenarios() {
  return {{"event", "pairs: each notification lets one wait return, with its message", run_event},
          {"event_ring", "no token of a ring is lost or doubled", run_event_ring},
          {"fan_out", "each waiter takes each notification once", run_fan_out},
          {"fan_in", "a wait takes one notification of every notifier", run_fan_in},
          {"fan_in_out", "every waiter takes one notification of every notifier", run_fan_in_out},
          {"terminate", "terminate() lets every waiter go", run_terminate}};
}

}  // namespace lockstep::stress
