// SPDX-License-Identifier: MIT
#include "explorer.hpp"

#include <functional>
#include <utility>

#include "execution.hpp"

namespace lockstep::model {

explorer* explorer::active_ = nullptr;
const void* explorer::outermost_guard_ = nullptr;

explorer::explorer() : state_(new execution) {}
explorer::~explorer() = default;

void explorer::begin_search() { state_->known.begin(); }
std::uint64_t explorer::steps() const noexcept { return state_->total_steps; }
unsigned explorer::cpus() const noexcept { return state_->how.cpus; }

outcome explorer::execute(const std::function<void()>& scenario, strategy& by,
                          const settings& how) {
  state_->begin(by, how);
  active_ = this;
  state_->running = state_->add(scenario);
  state_->self().now.clock[0] = 1;
  state_->run();
  active_ = nullptr;
  return std::move(state_->result);
}

void explorer::fail(const std::string& why) {
  in_scenario = false;
  state_->stop(why);
}

// --- atomics ---

std::uint64_t explorer::load(atomic_place what, std::memory_order order, site where) {
  const inside here;
  order = mutated(order, where);
  state_->step(where);
  location& from = state_->touch(what);
  const stamp newest = from.newest(), position = state_->pick(from);
  state_->learn(from, position, order);
  const std::uint64_t value = from.history[position].value;
  if (state_->how.records) {
    state_->note("load " + state_->word(what.at) + " " + name_of(order) + " -> " +
                     std::to_string(value) +
                     (position == newest ? "" : ", though it is " + std::to_string(from.value())),
                 where);
  }
  state_->tick();
  return value;
}

void explorer::store(atomic_place what, std::uint64_t value, std::memory_order order, site where) {
  const inside here;
  order = mutated(order, where);
  state_->step(where);
  location& to = state_->touch(what);
  if (state_->how.records) {
    state_->note(
        "store " + state_->word(what.at) + " " + name_of(order) + " = " + std::to_string(value),
        where);
  }
  state_->append(to, what, value, state_->released_by(order, -1));
}

std::uint64_t explorer::modify(atomic_place what, update how, std::uint64_t operand,
                               std::memory_order order, site where) {
  const inside here;
  order = mutated(order, where);
  state_->step(where);
  location& to = state_->touch(what);
  const std::uint64_t old = to.value();
  const int inherited = to.history.back().released;
  state_->learn(to, to.newest(), order);
  std::uint64_t value = operand;
  if (how == update::add) value = old + operand;
  if (how == update::subtract) value = old - operand;
  if (how == update::bit_or) value = old | operand;
  if (how == update::bit_and) value = old & operand;
  if (what.size < 8) value &= (std::uint64_t{1} << what.size * 8) - 1;
  if (state_->how.records) {
    state_->note("change " + state_->word(what.at) + " " + name_of(order) + " " +
                     std::to_string(old) + " -> " + std::to_string(value),
                 where);
  }
  state_->append(to, what, value, state_->released_by(order, inherited));
  return old;
}

bool explorer::compare_exchange(atomic_place what, std::uint64_t& expected, std::uint64_t desired,
                                std::memory_order success, std::memory_order failure, bool weak,
                                site where) {
  const inside here;
  success = mutated(success, where);
  failure = mutated(failure, where, part::failure);
  state_->step(where);
  location& to = state_->touch(what);
  stamp position = state_->pick(to);
  // Only the newest change can be replaced; an older one counts where it makes the comparison fail.
  if (to.history[position].value == expected) position = to.newest();
  std::uint64_t found = to.history[position].value;
  bool equal = found == expected;
  if (equal && weak && state_->left.spurious > 0 && state_->ask(question::spurious, 2) == 1) {
    --state_->left.spurious;
    equal = false;
  }
  state_->learn(to, position, equal ? success : failure);
  if (state_->how.records) {
    state_->note(
        (equal ? "replace " : "compare in vain ") + state_->word(what.at) + " " +
            name_of(equal ? success : failure) + " " + std::to_string(found) +
            (equal ? " -> " + std::to_string(desired) : ", expected " + std::to_string(expected)),
        where);
  }
  if (!equal) {
    expected = found;
    state_->tick();
    return false;
  }
  const int inherited = to.history.back().released;
  state_->append(to, what, desired, state_->released_by(success, inherited));
  return true;
}

void explorer::made(const void* at, std::uint64_t value) {
  const inside here;
  const std::uint64_t past = state_->self().past;
  location* const made = state_->words.make(at, value, past);
  state_->shared_past += mixed(past, 1);
  if (made == nullptr) state_->stop("the scenario has too many atomics for the explorer");
  made->maker = state_->running;
  made->made_at = state_->self().now.clock[state_->running];
  state_->tick();
}

void explorer::destroyed(const void* at) {
  const inside here;
  location* const gone = state_->words.find(at);
  if (gone == nullptr) return;
  const knowledge& now = state_->self().now;
  for (thread_number other = 0; other < state_->count; ++other) {
    if (other != state_->running && gone->last_access[other] > now.clock[other]) {
      state_->stop(state_->word(at) + " is destroyed by " + state_->who(state_->running) +
                   ", and nothing orders that after its use by " + state_->who(other));
    }
  }
  gone->alive = false;
  state_->replace_past(gone->history.back().past, mixed(gone->past(), state_->self().past));
  state_->tick();
}

// --- fences ---

void explorer::fence(std::memory_order order, site where) {
  const inside here;
  if (is_dropped(where)) return;
  state_->step(where);
  fiber_thread& me = state_->self();
  if (order == std::memory_order_seq_cst) {
    state_->full_fence(me);
  } else {
    if (acquires(order)) me.now.join(me.pending, state_->used());
    if (releases(order)) {
      me.fenced = me.now;
      me.has_fenced = true;
    }
  }
  state_->note(std::string("fence ") + name_of(order), where);
  state_->tick();
}

void explorer::fence_light(site where) {
  if (state_->how.fence == process_fence_kind::symmetric) fence(std::memory_order_seq_cst, where);
}

bool explorer::fence_heavy(site where) {
  const inside here;
  if (is_dropped(where)) return true;
  state_->step(where);
  fiber_thread& me = state_->self();
  state_->full_fence(me);
  if (state_->how.fence == process_fence_kind::asymmetric) {
    for (std::size_t i = 0; i < state_->count; ++i) {
      if (i != state_->running) state_->full_fence(state_->threads[i]);
    }
    state_->full_fence(me);
  }
  const bool granted = state_->how.fence != process_fence_kind::refused;
  state_->note(granted ? "process-wide fence" : "process-wide fence, refused", where);
  state_->tick();
  return granted;
}

// --- the system ---

void explorer::futex_wait(atomic_place what, std::uint32_t expected, std::uint64_t deadline,
                          site where) {
  const inside here;
  state_->step(where);
  location& on = state_->touch(what);
  fiber_thread& me = state_->self();
  // FUTEX-3: a thread that comes after a wake sees the change before it; else the comparison is as weak as a load.
  const auto bucket = state_->buckets.find(what.at);
  if (bucket != state_->buckets.end()) {
    stamp& seen = me.now.seen[on.number];
    seen = std::max(seen, bucket->second.known.seen[on.number]);
    state_->happens(bucket->second.past);
  }
  const stamp position = state_->pick(on);
  const std::uint64_t found = on.history[position].value;
  state_->happens(on.history[position].past);
  me.now.seen[on.number] = std::max(me.now.seen[on.number], position);
  const bool in_vain = found != expected || deadline <= state_->now;
  const bool spurious =
      !in_vain && state_->left.spurious > 0 && state_->ask(question::spurious, 2) == 1;
  if (spurious) --state_->left.spurious;
  if (state_->how.records) {
    state_->note("futex wait " + state_->word(what.at) + " for a change of " +
                     std::to_string(expected) +
                     (in_vain    ? ": returns, it is " + std::to_string(found)
                      : spurious ? ": returns for no reason"
                                 : ": sleeps"),
                 where);
  }
  state_->tick();
  if (in_vain || spurious) return;
  me.is = status::asleep;
  me.impatience = 0;
  me.sleeps_on = what.at;
  me.deadline = deadline;
  state_->block();
  state_->happens(2);
}

void explorer::futex_wake(const void* at, bool all, site where) {
  const inside here;
  if (is_dropped(where)) return;
  state_->step(where);
  execution::bucket& bucket = state_->buckets[at];
  bucket.known.join_seen(state_->self().now, state_->used());
  state_->replace_past(bucket.past, bucket.past + mixed(state_->self().past, 5));
  std::vector<thread_number> sleepers;
  for (thread_number i = 0; i < state_->count; ++i) {
    const fiber_thread& each = state_->threads[i];
    if (each.is == status::asleep && each.sleeps_on == at) sleepers.push_back(i);
  }
  if (state_->how.records) {
    state_->note((all ? "futex wake all on " : "futex wake one on ") + state_->word(at) + ": " +
                     std::to_string(sleepers.size()) + " asleep",
                 where);
  }
  if (!all && sleepers.size() > 1) {
    const thread_number one =
        sleepers[state_->ask(question::sleeper, static_cast<unsigned>(sleepers.size()))];
    sleepers.assign(1, one);
  }
  for (const thread_number each : sleepers) state_->threads[each].is = status::ready;
  if (!sleepers.empty()) state_->changed();
  state_->tick();
}

void explorer::pause(const char* how, site where) {
  const inside here;
  fiber_thread& me = state_->self();
  state_->happens(3);
  if (std::exchange(me.has_paused, true)) return;
  if (me.impatience == 0 && state_->left.preemptions > 0 &&
      state_->ask(question::patience, 2) == 1) {
    --state_->left.preemptions;
    me.impatience = longest_impatience;
    state_->note("(polls on until its patience ends)", where);
  }
  if (me.impatience > 0) {
    --me.impatience;
    return;
  }
  state_->note(how, where);
  me.polls = true;
  state_->block();
  state_->happens(4);
}

std::uint64_t explorer::clock() {
  const inside here;
  const bool crawls = state_->how.clock_may_crawl && state_->ask(question::clock, 2) == 1;
  state_->now += crawls ? crawl : stride;
  state_->happens(state_->now);
  return state_->now;
}

unsigned explorer::deadlines() const noexcept {
  state_->happens(state_->deadlines);
  return state_->deadlines;
}

std::uint64_t explorer::number() noexcept { return state_->running + 1; }

void* explorer::per_thread(std::size_t slot) noexcept { return state_->self().own[slot]; }

thread_number explorer::start(std::function<void()> body, site where) {
  const inside here;
  state_->step(where);
  const thread_number number = state_->start(std::move(body));
  state_->note("starts " + state_->who(number), where);
  return number;
}

void explorer::run_together(const std::vector<std::function<void()>>& bodies) {
  const inside here;
  const thread_number first = static_cast<thread_number>(state_->count);
  for (const std::function<void()>& each : bodies) state_->start(each);
  state_->await_end(first, static_cast<thread_number>(state_->count));
}

void explorer::join(thread_number who, site where) {
  const inside here;
  state_->step(where);
  state_->note("joins " + state_->who(who), where);
  state_->await_end(who, who + 1);
}

// --- plain accesses ---

/// A function of its own: for most accesses the look whether they count is all.
[[gnu::noinline]] static void note_access(execution& s, std::uintptr_t address, std::size_t size,
                                          bool writes) {
  const knowledge& now = s.self().now;
  const bool good = writes ? s.plain.write(address, size, s.running, now)
                           : s.plain.read(address, size, s.running, now);
  if (good) return;
  const inside here;
  s.stop(std::string("a data race: ") + s.who(s.running) + (writes ? " writes " : " reads ") +
         std::to_string(size) + " bytes that another thread has used, and nothing orders the two");
}

void explorer::plain_access(std::uintptr_t address, std::size_t size, bool writes) {
  if (in_scenario && !execution::is_alone()) {
    note_access(*active_->state_, address, size, writes);
  }
}

void explorer::unseen(std::uint64_t value) {
  if (!in_scenario || execution::is_alone()) return;
  execution& s = *active_->state_;
  s.unseen_past = mixed(mixed(s.unseen_past, s.self().past), value);
  s.happens(s.unseen_past);
}

void explorer::forget_plain(std::uintptr_t address, std::size_t size) {
  if (!in_scenario || execution::is_alone()) return;
  const inside here;
  active_->state_->plain.forget(address, size);
}

void explorer::begin_static(const void* guard) {
  if (!in_scenario) return;
  in_scenario = false;
  outermost_guard_ = guard;
}

void explorer::end_static(const void* guard) {
  if (outermost_guard_ != guard) return;
  outermost_guard_ = nullptr;
  in_scenario = true;
}

}  // namespace lockstep::model
