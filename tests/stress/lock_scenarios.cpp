// SPDX-License-Identifier: MIT
// tests/stress/lock_scenarios.cpp -- locks, condition variables, semaphores: plain data under their care
#include <algorithm>
#include <mutex>
#include <shared_mutex>

#include <lockstep/condition_variable.hpp>
#include <lockstep/event.hpp>
#include <lockstep/mutex.hpp>
#include <lockstep/semaphore.hpp>
#include <lockstep/shared_mutex.hpp>
#include "stress/round.hpp"

namespace lockstep::stress {
namespace {

template <class Lock>
void lock_some_way(Lock& lock, actor& self) {
  const auto lock_for = [&](auto time) {
    return lock.try_lock_for(time) ? wait_status::ready : wait_status::timed_out;
  };
  wait_some_way(self, [&] { return lock.try_lock(); }, lock_for, [&] { lock.lock(); });
}

/// Two plain counters that agree whenever no thread holds the lock.
struct guarded {
  std::uint64_t first = 0, second = 0;

  void add_one(actor& self, const char* what) {
    self.require(first == second, what);
    ++first;
    self.pause();
    ++second;
  }
};

/// Some rounds are long: bypasses of the mutex count up to mutex::bypass_limit.
template <class Lock>
void run_lock(round& the, Lock& lock, std::size_t most_times) {
  const std::size_t steps = the.steps() * (the.random.once_in(8) ? 16 : 1);
  guarded data;
  the.run(the.threads() * steps, [&](actor& self) {
    for (std::size_t step = 0; step < steps; ++step) {
      const std::size_t times = 1 + self.random.below(most_times);
      for (std::size_t i = 0; i < times; ++i) lock_some_way(lock, self);
      data.add_one(self, "two threads hold the lock");
      for (std::size_t i = 0; i < times; ++i) lock.unlock();
      self.done();
      self.pause();
    }
  });
  the.require_equal(data.second, the.threads() * steps, "additions under the lock");
}

void run_mutex(round& the) {
  mutex lock(the.policy());
  run_lock(the, lock, 1);
}
void run_recursive_mutex(round& the) {
  recursive_mutex lock(the.policy());
  run_lock(the, lock, 3);
}

void run_shared_mutex(round& the) {
  shared_mutex lock(the.policy());
  guarded data;
  std::vector<std::uint64_t> written(the.threads());
  const std::size_t readers_in = 2 + the.random.below(6);
  the.run(the.threads() * the.steps(), [&](actor& self) {
    for (std::size_t step = 0; step < the.steps(); ++step) {
      if (self.random.once_in(readers_in)) {
        lock_some_way(lock, self);
        data.add_one(self, "a writer is not alone");
        lock.unlock();
        ++written[self.rank()];
      } else {
        const auto lock_for = [&](auto time) {
          return lock.try_lock_shared_for(time) ? wait_status::ready : wait_status::timed_out;
        };
        wait_some_way(
            self, [&] { return lock.try_lock_shared(); }, lock_for, [&] { lock.lock_shared(); });
        const std::uint64_t first = data.first;
        self.pause();
        self.require(first == data.second, "a reader sees a writer at work");
        lock.unlock_shared();
      }
      self.done();
    }
  });
  std::uint64_t expected = 0;
  for (const std::uint64_t each : written) expected += each;
  the.require_equal(data.second, expected, "additions by writers");
}

/// Lets the other threads go once the lock is held, and waits for what they have to do meanwhile.
class held_scope {
 public:
  void open() noexcept { is_held_.store(true, std::memory_order_release); }
  void wait_until_open() const noexcept {
    while (!is_held_.load(std::memory_order_acquire)) std::this_thread::yield();
  }
  void leave() noexcept { left_.fetch_add(1, std::memory_order_release); }
  void wait_until_left_by(std::size_t threads) const noexcept {
    while (left_.load(std::memory_order_acquire) < threads) std::this_thread::yield();
  }

 private:
  std::atomic<bool> is_held_{false};
  std::atomic<std::size_t> left_{0};
};

/// All give up waiting for a held mutex. Then one thread takes it more often than mutex::bypass_limit: no
/// trace of those that have left may hinder it. Then all take it.
void run_mutex_timeouts(round& the) {
  mutex lock(the.policy());
  held_scope held;
  const std::uint64_t often = mutex::bypass_limit + 64;
  guarded data;
  the.run(the.threads(), [&](actor& self) {
    if (self.rank() == 0) {
      const std::lock_guard<mutex> holding(lock);
      held.open();
      held.wait_until_left_by(the.threads() - 1);
    } else {
      held.wait_until_open();
      self.require(!lock.try_lock_for(self.random.short_time()), "two threads hold the lock");
      held.leave();
    }
    self.done();
  });
  const auto add = [&](actor& self, std::uint64_t times) {
    for (; times > 0; --times) {
      const std::lock_guard<mutex> holding(lock);
      data.add_one(self, "two threads hold the lock");
      self.done();
    }
  };
  the.run(1, often, [&](actor& self) { add(self, often); });
  the.run(the.threads(), [&](actor& self) { add(self, 1); });
  the.require_equal(data.second, often + the.threads(), "additions under the lock");
}

/// While a reader holds the lock, writers queue up and give up: readers behind them must come in then.
void run_shared_timeouts(round& the) {
  shared_mutex lock(the.policy());
  held_scope held;
  the.run(the.threads(), [&](actor& self) {
    if (self.rank() == 0) {
      const std::shared_lock<shared_mutex> holding(lock);
      held.open();
      held.wait_until_left_by(the.threads() - 1);
    } else {
      held.wait_until_open();
      if (self.random.once_in(2)) {
        self.require(!lock.try_lock_for(self.random.short_time()), "a writer beside a reader");
      }
      const std::shared_lock<shared_mutex> holding(lock);
      held.leave();
    }
    self.done();
  });
}

/// A bounded buffer under a mutex and two condition variables.
template <class Mutex>
class buffer {
 public:
  buffer(Mutex& lock, std::size_t capacity, std::size_t tokens, wait_policy policy)
      : lock_(lock), not_full_(policy), not_empty_(policy), capacity_(capacity), seen_(tokens) {}

  void put(std::size_t token, actor& self) {
    std::unique_lock<Mutex> lock(lock_);
    wait(not_full_, lock, self, [this] { return items_.size() < capacity_; });
    items_.push_back(token);
    notify(not_empty_, lock, self);
  }
  void take(actor& self) {
    std::unique_lock<Mutex> lock(lock_);
    wait(not_empty_, lock, self, [this] { return !items_.empty(); });
    ++seen_[items_.back()];
    items_.pop_back();
    notify(not_full_, lock, self);
  }
  bool all_seen_once() const noexcept {
    return std::all_of(seen_.begin(), seen_.end(), [](unsigned each) { return each == 1; });
  }

 private:
  using guard = std::unique_lock<Mutex>;

  template <class Predicate>
  static void wait(condition_variable& at, guard& lock, actor& self, Predicate is_true) {
    wait_some_way(
        self, is_true,
        [&](auto time) {
          return at.wait_for(lock, time, is_true) ? wait_status::ready : wait_status::timed_out;
        },
        [&] { at.wait(lock, is_true); });
    self.require(lock.owns_lock(), "condition_variable: returned without the lock");
    self.require(is_true(), "condition_variable: returned before the predicate was true");
  }
  /// Notifies with the lock held or after it is released; now and then all waiters.
  static void notify(condition_variable& at, guard& lock, actor& self) {
    if (self.random.once_in(2)) lock.unlock();
    if (self.random.once_in(8)) {
      at.notify_all();
    } else {
      at.notify_one();
    }
  }

  Mutex& lock_;
  condition_variable not_full_, not_empty_;
  std::size_t capacity_;
  std::vector<std::size_t> items_;
  std::vector<unsigned> seen_;
};

template <class Mutex>
void run_buffer(round& the, Mutex& lock) {
  const std::size_t producers = 1 + the.random.below(the.threads() - 1);
  const std::size_t consumers = the.threads() - producers;
  const std::size_t tokens =
      producers * consumers * (1 + the.steps() / std::max(producers, consumers));
  buffer<Mutex> items(lock, 1 + the.random.below(4), tokens, the.policy());
  the.run(2 * tokens, [&](actor& self) {
    const bool is_producer = self.rank() < producers;
    const std::size_t mine = tokens / (is_producer ? producers : consumers);
    for (std::size_t i = 0; i < mine; ++i) {
      if (is_producer) {
        items.put(self.rank() * mine + i, self);
      } else {
        items.take(self);
      }
      self.done();
      self.pause();
    }
  });
  if (!items.all_seen_once()) throw broken("a token of the buffer was lost or doubled");
}

/// With a mutex of ours waiters move to its queue; with others they wake one another.
void run_condition_one(round& the) {
  if (the.random.once_in(3)) {
    recursive_mutex lock(the.policy());
    run_buffer(the, lock);
  } else {
    mutex lock(the.policy());
    run_buffer(the, lock);
  }
}

/// A barrier made of a condition variable: the last to come notifies all.
void run_condition_all(round& the) {
  mutex lock(the.policy());
  condition_variable next(the.policy());
  std::size_t arrived = 0, phase = 0;
  the.run(the.threads() * the.steps(), [&](actor& self) {
    for (std::size_t step = 0; step < the.steps(); ++step) {
      self.pause();
      std::unique_lock<mutex> held(lock);
      self.require(phase == step, "condition_variable: a thread is in another phase");
      if (++arrived == the.threads()) {
        arrived = 0;
        ++phase;
        next.notify_all();
      } else if (self.random.once_in(8)) {
        next.wait_for(held, self.random.short_time(), [&] { return phase != step; });
      }
      next.wait(held, [&] { return phase != step; });
      self.done();
    }
  });
}

template <class Semaphore>
void acquire_some_way(Semaphore& from, actor& self) {
  const auto acquire_for = [&](auto time) {
    return from.try_acquire_for(time) ? wait_status::ready : wait_status::timed_out;
  };
  wait_some_way(self, [&] { return from.try_acquire(); }, acquire_for, [&] { from.acquire(); });
}

/// As many permits as tokens, and a binary semaphore for the pool itself.
class token_pool {
 public:
  std::vector<std::size_t> tokens;

  token_pool(std::size_t size, wait_policy policy)
      : permits_(static_cast<std::ptrdiff_t>(size), policy), own_(1, policy) {
    for (std::size_t i = 0; i < size; ++i) tokens.push_back(i);
  }
  std::size_t take(actor& self) {
    acquire_some_way(permits_, self);
    acquire_some_way(own_, self);
    self.require(!tokens.empty(), "semaphore: more permits than tokens");
    const std::size_t token = tokens.empty() ? 0 : tokens.back();
    if (!tokens.empty()) tokens.pop_back();
    own_.release();
    return token;
  }
  void give(std::size_t token, actor& self) {
    acquire_some_way(own_, self);
    tokens.push_back(token);
    own_.release();
    permits_.release();
  }

 private:
  semaphore permits_;
  binary_semaphore own_;
};

void run_semaphore(round& the) {
  std::vector<std::uint64_t> used(1 + the.random.below(the.threads()));
  token_pool pool(used.size(), the.policy());
  the.run(the.threads() * the.steps(), [&](actor& self) {
    for (std::size_t step = 0; step < the.steps(); ++step) {
      const std::size_t token = pool.take(self);
      ++used[token];
      self.pause();
      pool.give(token, self);
      self.done();
    }
  });
  the.require_equal(pool.tokens.size(), used.size(), "tokens in the pool");
  std::sort(pool.tokens.begin(), pool.tokens.end());
  std::uint64_t uses = 0;
  for (std::size_t i = 0; i < used.size(); ++i) {
    the.require_equal(pool.tokens[i], i, "token of the pool");
    uses += used[i];
  }
  the.require_equal(uses, the.threads() * the.steps(), "uses of tokens");
}

/// One notification as a lock: the thread that has taken it is alone.
void run_auto_reset_event(round& the) {
  auto_reset_event free(the.policy());
  guarded data;
  free.notify();
  the.run(the.threads() * the.steps(), [&](actor& self) {
    for (std::size_t step = 0; step < the.steps(); ++step) {
      wait_some_way(
          self, [&] { return free.try_wait(); }, [&](auto time) { return free.wait_for(time); },
          [&] { free.wait(); });
      data.add_one(self, "two waits took one notification");
      free.notify();
      self.done();
    }
  });
  the.require_equal(data.second, the.threads() * the.steps(), "additions");
  the.require_equal(free.try_wait(), 1, "notifications left");
}

/// Many notifiers: a notification may be merged with a pending one, what it tells may not be lost.
void run_auto_reset_merged(round& the) {
  auto_reset_event work(the.policy());
  const std::uint64_t all = (the.threads() - 1) * the.steps();
  std::atomic<std::uint64_t> posted{0};
  the.run(all + 1, [&](actor& self) {
    if (self.rank() == 0) {
      while (posted.load(std::memory_order_relaxed) < all) work.wait();
      return self.done();
    }
    for (std::size_t step = 0; step < the.steps(); ++step) {
      self.pause();
      posted.fetch_add(1, std::memory_order_relaxed);
      work.notify();
      self.done();
    }
  });
}

}  // namespace

std::vector<scenario> lock_scenarios() {
  return {{"mutex", "one thread at a time", run_mutex},
          {"recursive_mutex", "one thread at a time, several times over", run_recursive_mutex},
          {"shared_mutex", "one writer or many readers", run_shared_mutex},
          {"mutex_timeouts", "who gave up waiting leaves no trace", run_mutex_timeouts},
          {"shared_timeouts", "who gave up waiting holds up nobody", run_shared_timeouts},
          {"condition_one", "notify_one: no token of a bounded buffer is lost", run_condition_one},
          {"condition_all", "notify_all: all go on to the next phase", run_condition_all},
          {"semaphore", "never more threads than permits, no permit lost", run_semaphore},
          {"auto_reset_event", "each notification is taken by one wait", run_auto_reset_event},
          {"auto_reset_merged", "a merged notification is seen", run_auto_reset_merged}};
}

}  // namespace lockstep::stress
