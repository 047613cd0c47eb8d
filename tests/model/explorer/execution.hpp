// SPDX-License-Identifier: MIT
// tests/model/explorer/execution.hpp -- the course of one execution: which thread runs, what memory holds, how it ends
//
// For explorer.cpp only. An execution begins with the main thread's fiber and ends when that has ended, or
// in stop(), whose fibers are left as they are. Fibers switch by way of run(), at step() and block().
#pragma once

#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "explorer.hpp"
#include "fiber_thread.hpp"
#include "memory.hpp"
#include "past.hpp"
#include "races.hpp"

namespace lockstep::model {

inline std::uint64_t read_memory(atomic_place what) {
  std::uint64_t value = 0;
  std::memcpy(&value, what.at, what.size);
  return value;
}

inline constexpr std::uint64_t start_of_time = 1000000000, crawl = 25, stride = 500000;
inline constexpr std::uint64_t never = ~std::uint64_t{0};
inline constexpr unsigned idle_rounds_until_stuck = 400;
// So many deadlines may come before others get to run. Without a limit, a short one that is set again and again would
// leave them no turn.
inline constexpr unsigned most_early_deadlines = 16;
inline constexpr unsigned longest_impatience =
    60;  // longer than the stages before the sleep where time passes fast

struct execution {
  stack_pool stacks;
  memory words;
  races plain;
  std::array<fiber_thread, most_threads> threads;  // found with each plain access
  std::size_t count = 0;
  // Threads beside the main one. One execution goes on at a time, and each plain access looks at this.
  static inline std::size_t not_joined = 0;
  thread_number running = 0;
  strategy* by = nullptr;
  settings how;
  budget left;
  outcome result;
  bool over = false;
  bool just_chosen = false;  // the running thread has done nothing since
  std::uint64_t now = 0;
  std::uint64_t steps = 0, total_steps = 0;
  unsigned idle_rounds = 0, deadlines = 0;
  knowledge fences;  // what the full fences so far have made known: their one order
  struct bucket {
    knowledge known;  // what the wakes on a word have made known
    std::uint64_t past = 0;
  };
  std::unordered_map<const void*, bucket> buckets;
  std::uint64_t shared_past = 0;  // the sum of those of all locations and buckets
  std::uint64_t fences_past = 0, unseen_past = 0;
  known_states known;
  bool is_known = false;  // this execution goes on as another did
  std::vector<thread_number> options;

  fiber_thread& self() { return threads[running]; }
  std::size_t used() const noexcept { return words.used(); }
  /// What the main thread does now is after all that other threads did, and before all that they will do.
  static bool is_alone() noexcept { return not_joined == 0; }

  // --- the course of an execution ---

  void begin(strategy& strategy_, const settings& settings_) {
    by = &strategy_;
    how = settings_;
    left = how.limits;
    result = outcome();
    over = just_chosen = is_known = false;
    shared_past = fences_past = unseen_past = 0;
    now = start_of_time;
    steps = 0;
    idle_rounds = deadlines = 0;
    count = not_joined = 0;
    fences = knowledge();
    buckets.clear();
    words.reset();
    plain.reset();
  }

  thread_number add(std::function<void()> body) {
    if (count == most_threads) stop("the scenario has too many threads for the explorer");
    const thread_number number = static_cast<thread_number>(count++);
    fiber_thread& made = threads[number];
    made.is = status::ready;
    made.polls = made.has_paused = made.has_fenced = false;
    made.impatience = 0;
    made.body = std::move(body);
    made.exceptions = exceptions_in_flight();
    made.now = made.pending = made.fenced = knowledge();
    made.last_ran = 0;
    made.past = mixed(number, count);
    std::memset(made.own, 0, sizeof made.own);
    made.self = context::fiber(
        std::allocator_arg, keep_stack{stacks.stack(number)},
        [this, number](context::fiber&& root) { return live(number, std::move(root)); });
    return number;
  }

  context::fiber live(thread_number number, context::fiber&& root) {
    fiber_thread& me = threads[number];
    me.root = std::move(root);
    in_scenario = true;
    try {
      me.body();
    } catch (const std::exception& error) {
      in_scenario = false;
      stop(std::string("an exception left a thread: ") + error.what());
    }
    in_scenario = false;
    me.body = nullptr;
    me.is = status::finished;
    changed();
    for (std::size_t i = 0; i < count; ++i) {
      fiber_thread& other = threads[i];
      if (other.is == status::joining && may_go_on(other)) other.is = status::ready;
    }
    if (number == 0) {
      finish();
    } else {
      dispatch();
    }
    return std::move(me.root);
  }

  bool may_go_on(const fiber_thread& joining) const {
    for (thread_number i = joining.joins; i < joining.joins_before; ++i) {
      if (threads[i].is != status::finished) return false;
    }
    return true;
  }

  /// Blocks the running thread until those have ended, and lets it know what they knew.
  void await_end(thread_number first, thread_number last) {
    fiber_thread& me = self();
    me.joins = first;
    me.joins_before = last;
    if (!may_go_on(me)) {
      me.is = status::joining;
      block();
    }
    for (thread_number i = first; i < last; ++i) {
      me.now.join(threads[i].now, used());
      happens(threads[i].past);
    }
    not_joined -= last - first;
    tick();
  }

  thread_number start(std::function<void()> body) {
    const thread_number number = add(std::move(body));
    threads[number].now = self().now;
    threads[number].past = mixed(self().past, number);
    ++threads[number].now.clock[number];
    ++not_joined;
    tick();
    return number;
  }

  void finish() {
    for (std::size_t i = 0; i < count; ++i) {
      if (threads[i].is != status::finished) stop("the main thread ended before " + who(i));
    }
    over = true;
  }

  /// Fibers switch by way of the root only, so the one that comes back is the one that was resumed.
  void run() {
    while (!over && result.good) {
      fiber_thread& next = self();
      next.exceptions.swap();
      next.self = std::move(next.self).resume();
      in_scenario = false;
      next.exceptions.swap();
    }
    if (!result.good) leak_fibers();
  }

  /// A fiber that is destroyed would be unwound, through code that waits for others: better never.
  void leak_fibers() {
    for (fiber_thread& each : threads) {
      if (each.self) new context::fiber(std::move(each.self));
      if (each.root) new context::fiber(std::move(each.root));
    }
  }

  [[noreturn]] void stop(const std::string& why) {
    if (result.good) {
      result.good = false;
      result.failure = why;
      note("FAILURE: " + why, site{"", 0});
    }
    fiber_thread& me = self();
    while (true) me.root = std::move(me.root).resume();
  }

  // --- the past ---

  /// The running thread goes on from here with that.
  void happens(std::uint64_t with) { self().past = mixed(self().past, with); }
  void replace_past(std::uint64_t& of, std::uint64_t by_) {
    shared_past += mixed(by_, 1) - mixed(of, 1);
    of = by_;
  }

  /// Everything on which the rest depends, but for what is left of the budget.
  std::uint64_t state(question what) const {
    std::uint64_t hash = mixed(shared_past, mixed(fences_past, unseen_past));
    hash = mixed(hash, now);
    hash = mixed(hash, (static_cast<std::uint64_t>(what) << 32) + (idle_rounds << 8) + deadlines);
    hash = mixed(hash, running);
    for (std::size_t i = 0; i < count; ++i) {
      const fiber_thread& each = threads[i];
      hash = mixed(hash, each.past);
      hash = mixed(hash, static_cast<std::uint64_t>(each.is) * 4096 + each.impatience * 4 +
                             each.polls * 2 + each.has_paused);
      if (each.is == status::asleep) hash = mixed(hash, each.deadline);
      if (each.polls) {
        for (std::size_t j = 0; j < count; ++j) {
          hash = mixed(hash, threads[j].polls && threads[j].last_ran < each.last_ran);
        }
      }
    }
    return hash;
  }

  /// What this state leads to has been explored: the execution goes on as it may, and asks nothing more.
  void look_whether_known(question what) {
    if (is_known || !by->is_at_new_question()) return;
    if (!known.has(state(what), left)) return;
    is_known = true;
    left = budget{0, 0, 0};
  }

  unsigned answer(question what) { return is_known ? 0 : by->answer(what, options); }

  // --- choosing ---

  unsigned ask(question what, unsigned n) {
    if (n < 2) return 0;
    options.clear();
    for (unsigned i = 0; i < n; ++i) options.push_back(i);
    return answer(what);
  }

  bool runs(const fiber_thread& each) const { return each.is == status::ready && !each.polls; }

  /// Threads that can go on, sleepers whose time may be up (+ most_threads), and sleepers that may wake
  /// up for no reason (+ 2 * most_threads). Where nobody else can go on the first deadline comes.
  void collect(bool preempting) {
    options.clear();
    if (preempting) options.push_back(running);
    const bool may_preempt = left.preemptions > 0;
    if (preempting && !may_preempt) return;
    for (thread_number i = 0; i < count; ++i) {
      if (runs(threads[i]) && !(preempting && i == running)) options.push_back(i);
    }
    const bool somebody_runs = !options.empty();
    for (thread_number i = 0; i < count; ++i) {
      const fiber_thread& each = threads[i];
      if (each.is != status::asleep) continue;
      const bool may_be_early =
          how.deadlines_may_be_early && may_preempt && deadlines < most_early_deadlines;
      if (each.deadline != never && (somebody_runs ? may_be_early : each.deadline == earliest())) {
        options.push_back(i + most_threads);
      }
      if (left.spurious > 0 && somebody_runs) {
        options.push_back(i + 2 * static_cast<thread_number>(most_threads));
      }
    }
  }

  std::uint64_t earliest() const {
    std::uint64_t time = never;
    for (std::size_t i = 0; i < count; ++i) {
      if (threads[i].is == status::asleep) time = std::min(time, threads[i].deadline);
    }
    return time;
  }

  void take(thread_number candidate) {
    const thread_number number = candidate % most_threads;
    fiber_thread& next = threads[number];
    if (candidate != number) {
      const bool late = candidate < 2 * most_threads;
      if (late && next.deadline > now) now = next.deadline;
      if (late) ++deadlines;
      if (!late) --left.spurious;
      next.is = status::ready;
      running = number;
      note(late ? "  (the deadline of its sleep comes)" : "  (wakes for no reason)", site{"", 0});
    }
    running = number;
    just_chosen = true;
    next.last_ran = total_steps;
  }

  /// Another thread may go on before the running thread's next operation.
  void step(site where) {
    ++steps, ++total_steps;
    self().polls = self().has_paused = false;
    if (steps > how.most_steps) {
      stop("no progress: " + std::to_string(steps) + " operations and no end at " + to_text(where) +
           describe());
    }
    if (std::exchange(just_chosen, false)) return;
    collect(true);
    if (options.size() < 2) return;
    look_whether_known(question::preempt);
    const unsigned chosen = answer(question::preempt);
    if (chosen == 0) return;
    if (options[chosen] < 2 * most_threads) --left.preemptions;
    const thread_number me = running;
    take(options[chosen]);
    leave(me);
    just_chosen = false;
  }

  /// The running thread cannot go on: finds another.
  void dispatch() {
    collect(false);
    if (options.empty() && !wake_idle_poller()) stop(stuck());
    if (options.empty()) return;
    idle_rounds = 0;
    if (options.size() > 1) look_whether_known(question::dispatch);
    const unsigned chosen = options.size() < 2 ? 0 : answer(question::dispatch);
    const bool costs = options[chosen] >= most_threads && options[chosen] < 2 * most_threads &&
                       runs(threads[options[0] % most_threads]);
    if (costs) --left.preemptions;
    take(options[chosen]);
  }

  /// No other thread can go on: time passes for those that poll, one after the other.
  bool wake_idle_poller() {
    fiber_thread* longest = nullptr;
    thread_number number = 0;
    for (thread_number i = 0; i < count; ++i) {
      fiber_thread& each = threads[i];
      if (each.is != status::ready || !each.polls) continue;
      if (longest == nullptr || each.last_ran < longest->last_ran) {
        longest = &each;
        number = i;
      }
    }
    if (longest == nullptr || ++idle_rounds > idle_rounds_until_stuck) return false;
    longest->polls = false;
    // Longer and longer, so that threads that poll until a deadline reach it.
    now += stride << std::min(idle_rounds / 4, 30u);
    take(number);
    return true;
  }

  /// Goes to the root, which resumes the thread that was chosen.
  void leave(thread_number number) {
    if (running == number) return;
    fiber_thread& me = threads[number];
    me.root = std::move(me.root).resume();
  }
  void block() {
    const thread_number me = running;
    dispatch();
    leave(me);
  }

  /// Threads that poll may find something new.
  void changed() {
    for (std::size_t i = 0; i < count; ++i) {
      if (i != running) threads[i].polls = false;
    }
  }

  // --- memory ---

  location& touch(atomic_place what) {
    fiber_thread& me = self();
    location* found = words.find(what.at);
    if (found == nullptr) {
      const std::uint64_t past = reinterpret_cast<std::uintptr_t>(what.at);
      found = words.make(what.at, read_memory(what), past);
      shared_past += mixed(past, 1);
    }
    if (found == nullptr) stop("the scenario has too many atomics for the explorer");
    if (!found->alive) stop(word(what.at) + " is used after its destruction");
    if (found->maker != running && found->made_at > me.now.clock[found->maker]) {
      stop(word(what.at) + " is used by " + who(running) +
           ", and nothing orders that after its construction by " + who(found->maker));
    }
    found->last_access[running] = me.now.clock[running];
    return *found;
  }

  /// The end of an operation.
  void tick() {
    ++self().now.clock[running];
    happens(0);
  }

  /// The thread has read that change.
  void learn(location& from, stamp position, std::memory_order order) {
    fiber_thread& me = self();
    me.now.seen[from.number] = std::max(me.now.seen[from.number], position);
    happens(from.history[position].past);
    const int released = from.history[position].released;
    if (released < 0) return;
    (acquires(order) ? me.now : me.pending).join(words.kept(released), used());
  }

  /// The knowledge that a change of the running thread carries; `inherited` by a read-modify-write.
  int released_by(std::memory_order order, int inherited) {
    fiber_thread& me = self();
    const bool own = releases(order);
    if (!own && !me.has_fenced) return inherited;
    const int made = words.keep(own ? me.now : me.fenced);
    if (inherited >= 0) words.kept(made).join(words.kept(inherited), used());
    return made;
  }

  void append(location& to, atomic_place what, std::uint64_t value, int released) {
    fiber_thread& me = self();
    std::memcpy(what.at, &value, what.size);
    const std::uint64_t past = mixed(to.past(), me.past);
    shared_past += mixed(past, 1) - mixed(to.past(), 1);
    me.past = mixed(me.past, past);
    to.history.push_back(change{value, released, past});
    me.now.seen[to.number] = to.newest();
    changed();
    tick();
  }

  /// Which change a load returns.
  stamp pick(const location& from) {
    const stamp newest = from.newest(), oldest = self().now.seen[from.number];
    if (left.stale == 0 || newest == oldest) return newest;
    const int answers = std::min(newest - oldest + 1, 4);
    const unsigned answer = ask(question::stale, static_cast<unsigned>(answers));
    if (answer > 0) --left.stale;
    return static_cast<stamp>(newest - answer);
  }

  void full_fence(fiber_thread& who_) {
    who_.now.join(who_.pending, used());
    who_.now.join_seen(fences, used());
    fences.join_seen(who_.now, used());
    who_.fenced = who_.now;
    who_.has_fenced = true;
    fences_past = mixed(fences_past, who_.past);
    who_.past = mixed(who_.past, fences_past);
  }

  // --- messages ---

  std::string who(std::size_t number) const;
  std::string word(const void* at);
  /// What each thread does.
  std::string describe();
  std::string stuck();
  void note(const std::string& text, site where);
};

}  // namespace lockstep::model
