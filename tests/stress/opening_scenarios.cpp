// SPDX-License-Identifier: MIT
// tests/stress/opening_scenarios.cpp -- manual_reset_event, eventual, future_set, mailbox
#include <deque>
#include <stdexcept>

#include <lockstep/event.hpp>
#include <lockstep/eventual.hpp>
#include <lockstep/future_set.hpp>
#include <lockstep/mailbox.hpp>
#include <lockstep/semaphore.hpp>
#include "stress/round.hpp"
#include "support/starting_at.hpp"

namespace lockstep::stress {
namespace {

/// What wait_some_way needs of an object that is waited for without rank.
template <class Object>
void wait_for(Object& at, actor& self) {
  wait_some_way(
      self, [&] { return at.try_wait(); }, [&](auto time) { return at.wait_for(time); },
      [&] { at.wait(); });
}

/// Two gates, open in turn; rank 0 closes one when all have passed, and opens the other.
void run_manual_reset_event(round& the) {
  const std::size_t waiters = the.threads() - 1, steps = the.steps();
  using gate_type = test::starting_at<manual_reset_event>;
  gate_type gates[2] = {gate_type(the.random.first_phase(), the.policy()),
                        gate_type(the.random.first_phase(), the.policy())};
  semaphore passed(0, the.policy());
  std::size_t message = 0;
  the.run(the.threads() * steps, [&](actor& self) {
    for (std::size_t step = 1; step <= steps; ++step) {
      manual_reset_event& gate = gates[step % 2];
      if (self.rank() == 0) {
        self.pause();
        message = step;
        gate.notify();
        if (self.random.once_in(4)) gate.notify();
        for (std::size_t i = 0; i < waiters; ++i) passed.acquire();
        gate.reset();
      } else {
        wait_for(gate, self);
        self.require(message == step, "manual_reset_event: the message is not there");
        passed.release();
      }
      self.done();
    }
  });
}

/// An eventual for each step. One or two threads try to set it, to a value or an exception.
class setting_step {
 public:
  explicit setting_step(wait_policy policy) : value_(policy) {}

  bool set(std::uint64_t to) {
    try {
      if (to % 8 == 0) {
        value_.set_exception(std::make_exception_ptr(std::range_error("agreed")));
      } else {
        value_.set_value(to);
      }
      return true;
    } catch (const std::logic_error&) {
      return false;
    }
  }
  bool is(std::uint64_t expected, actor& self) {
    wait_for(value_, self);
    try {
      return value_.get() == expected && expected % 8 != 0;
    } catch (const std::range_error&) {
      return expected % 8 == 0;
    }
  }

 private:
  eventual<std::uint64_t> value_;
};

void run_eventual(round& the) {
  const std::size_t threads = the.threads();
  std::deque<setting_step> steps;
  for (std::size_t i = 0; i < the.steps(); ++i) steps.emplace_back(the.policy());
  std::vector<std::uint64_t> won(threads);
  const std::size_t setters = 1 + the.random.below(2);
  the.run(threads * steps.size(), [&](actor& self) {
    for (std::size_t step = 0; step < steps.size(); ++step) {
      self.pause();
      for (std::size_t i = 0; i < setters; ++i) {
        if (self.rank() == (step + i) % threads && steps[step].set(step + 1)) ++won[self.rank()];
      }
      self.require(steps[step].is(step + 1, self), "eventual: not what was set");
      self.done();
    }
  });
  std::uint64_t all = 0;
  for (const std::uint64_t each : won) all += each;
  the.require_equal(all, steps.size(), "successful settings");
}

/// A set for each step. All contribute, now and then one of them an exception, and all wait.
struct contributing_step {
  std::uint64_t expected_sum = 0, calls = 0;
  future_set<std::uint64_t> values;
  bool fails;

  contributing_step(round& the, std::size_t step)
      : values(
            the.threads(), [this](const future_set<std::uint64_t>::values&) { ++calls; },
            the.policy()),
        fails(the.random.once_in(8)) {
    for (std::size_t rank = 0; rank < the.threads(); ++rank) expected_sum += step + rank;
  }
  void contribute(std::size_t step, std::size_t rank) {
    if (fails && rank == step % values.contributions()) {
      values.contribute_exception(std::make_exception_ptr(std::range_error("agreed")));
    } else {
      values.contribute(step + rank);
    }
  }
  bool is_right(actor& self) {
    try {
      wait_for(values, self);
      std::uint64_t sum = 0;
      for (const std::uint64_t each : values.get()) sum += each;
      return !fails && sum == expected_sum && calls == 1;
    } catch (const std::range_error&) {
      return fails && calls == 0;
    }
  }
};

void run_future_set(round& the) {
  std::deque<contributing_step> steps;
  for (std::size_t i = 0; i < the.steps(); ++i) steps.emplace_back(the, i);
  the.run(the.threads() * steps.size(), [&](actor& self) {
    for (std::size_t step = 0; step < steps.size(); ++step) {
      self.pause();
      steps[step].contribute(step, self.rank());
      self.require(steps[step].is_right(self), "future_set: not what was contributed");
      self.done();
    }
  });
}

/// Rank 0 owns the mailbox; calls of one poster come in order, none is lost, none comes twice.
class mail_owner {
 public:
  mail_owner(round& the, mailbox& box)
      : box_(box), next_(the.threads()), all_((the.threads() - 1) * the.steps()) {}

  /// Runs on the owner.
  void receive(std::size_t sender, std::size_t number, actor& self) {
    self.require(next_[sender] == number, "mailbox: a call is lost, doubled or out of order");
    next_[sender] = number + 1;
    ++received_;
    self.done();
  }
  void serve(actor& self) {
    while (received_ < all_) {
      const std::size_t wanted = received_ + 1;
      switch (self.random.below(5)) {
        case 0: box_.run_pending(); break;
        case 1: box_.wait_and_run_for(self.random.short_time()); break;
        case 2: box_.serve_until([&] { return received_ >= wanted; }); break;
        default: self.require(box_.wait_and_run(), "mailbox: said terminated");
      }
    }
  }

 private:
  mailbox& box_;
  std::vector<std::size_t> next_;
  std::uint64_t received_ = 0, all_;
};

void run_mailbox(round& the) {
  test::starting_at<mailbox> box(the.random.first_phase(), 1 + the.random.below(16), the.policy());
  mail_owner owner(the, box);
  const std::uint64_t all = (the.threads() - 1) * the.steps();
  actor* served = nullptr;
  eventual<void> begun(the.policy());
  the.run(2 * all, [&](actor& self) {
    if (self.rank() == 0) {
      served = &self;
      begun.set_value();
      return owner.serve(self);
    }
    begun.wait();
    for (std::size_t step = 0; step < the.steps(); ++step) {
      self.pause();
      const auto call = [&owner, &served, from = self.rank(), step] {
        owner.receive(from, step, *served);
      };
      while (!box.post(call)) std::this_thread::yield();
      self.done();
    }
  });
  box.terminate();
  the.require_equal(box.post([] {}), 0, "posts after terminate()");
  the.require_equal(box.wait_and_run(), 0, "calls left");
}

}  // namespace

std::vector<scenario> opening_scenarios() {
  return {{"manual_reset_event", "an open gate lets everyone through, with its message",
           run_manual_reset_event},
          {"eventual", "set once, read by all", run_eventual},
          {"future_set", "ready when all have contributed; one callback", run_future_set},
          {"mailbox", "each call runs once, in its poster's order", run_mailbox}};
}

}  // namespace lockstep::stress
