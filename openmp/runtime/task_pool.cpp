// SPDX-License-Identifier: MIT
// openmp/runtime/task_pool.cpp -- the explicit tasks of a region: see task_pool.hpp
#include "task_pool.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>

#include "message.hpp"
#include "ompt.hpp"
#include "part.hpp"
#include "shared_region.hpp"
#include "synchronization.hpp"
#include "task_dependences.hpp"
#include "task_groups.hpp"

namespace lockstep::openmp {

namespace {

int priority_of(const explicit_task& one) noexcept { return one.has_priority ? one.priority : 0; }

/// Adds a task behind those of the same priority.
void add_last(task_list& list, explicit_task& one) noexcept {
  explicit_task* before = list.last;
  explicit_task* after = nullptr;
  while (before != nullptr && priority_of(*before) < priority_of(one)) {
    after = before;
    before = before->in_list.previous;
  }
  one.in_list = {after, before};
  (before != nullptr ? before->in_list.next : list.first) = &one;
  (after != nullptr ? after->in_list.previous : list.last) = &one;
}

void remove(task_list& list, explicit_task& one) noexcept {
  const task_link at = one.in_list;
  (at.previous != nullptr ? at.previous->in_list.next : list.first) = at.next;
  (at.next != nullptr ? at.next->in_list.previous : list.last) = at.previous;
}

void* allocate_bytes(std::size_t size) noexcept {
  void* const memory = std::aligned_alloc(64, round_up(size, 64));
  if (memory == nullptr) fail("Out of memory allocating %zu bytes", size);
  return memory;
}

void*& next_block(void* block) noexcept { return *static_cast<void**>(block); }

/// Requires the deque's lock.
void add_to_count(task_deque& of, int change) noexcept {
  const std::uint32_t before = of.count.load(detail::memory_order_relaxed);                   // 11
  of.count.store(before + static_cast<std::uint32_t>(change), detail::memory_order_release);  // 12
}

/// Requires: the calling member is one.maker.
void count_in_group(explicit_task& one) noexcept {
  task_group* const group = one.group;
  if (group == nullptr || group->maker == nullptr) return;
  if (group->maker == one.maker) {
    ++group->balance;
  } else {
    group->others.fetch_add(1, detail::memory_order_relaxed);  // 17
  }
}

bool is_crowded(const part& self) noexcept {
  return self.at != nullptr && self.at->shared().barrier.policy().is_crowded();
}

detail::wait_history& history_of(part& self) noexcept {
  return self.at != nullptr ? self.at->history : detail::this_thread_history().on_words;
}

/// The size of what lies in front of a task (OMPT-2).
std::size_t told_size() noexcept { return has_tool() ? sizeof(ompt::task_info) : 0; }

int flags_of_cancel(const part& self) noexcept {
  return is_region_cancelled(self) ? ompt::cancel_parallel : ompt::cancel_taskgroup;
}

ompt::task_status status_at_end(const part& self, const explicit_task& one) noexcept {
  const bool is_cancelled =
      process_settings().can_cancel && (is_region_cancelled(self) || is_taskgroup_cancelled(one));
  return is_cancelled ? ompt::task_status::cancel : ompt::task_status::complete;
}

}  // namespace

ompt::task_info& info_of(explicit_task& one) noexcept {
  return one.is_wait ? *static_cast<ompt::task_info*>(one.argument)
                     : *(reinterpret_cast<ompt::task_info*>(&one) - 1);
}

// Deques.

void task_pool::push(part& self, explicit_task* const* first, std::uint32_t count) noexcept {
  if (count == 0) return;
  task_deque& own = self.tasks->ready;
  own.lock.lock();
  while (own.back - own.front + count > own.room) grow(own);
  for (std::uint32_t i = 0; i < count; ++i) own.ring[own.back++ & (own.room - 1)] = first[i];
  own.is_dear = process_settings().throttles_tasks && self.tasks->pace.is_dear();
  add_to_count(own, static_cast<int>(count));
  own.lock.unlock();
  announce(self.at);
}

/// Requires the deque's lock.
void task_pool::grow(task_deque& of) noexcept {
  const std::uint32_t room = of.room == 0 ? first_room : 2 * of.room;
  explicit_task** const ring = static_cast<explicit_task**>(allocate_bytes(room * sizeof *ring));
  for (std::uint64_t at = of.front; at != of.back; ++at)
    ring[at & (room - 1)] = of.ring[at & (of.room - 1)];
  std::free(of.ring);
  of.ring = ring;
  of.room = room;
}

/// The last task of the member's own deque, if the member may run it here (POOL-3).
explicit_task* task_pool::pop(part& self) noexcept {
  if (self.tasks == nullptr) return nullptr;
  task_deque& own = self.tasks->ready;
  if (own.count.load(detail::memory_order_acquire) == 0) return nullptr;  // 20
  explicit_task* one = nullptr;
  own.lock.lock();
  if (own.back != own.front && own.back > self.running->begun_at) {
    one = own.ring[--own.back & (own.room - 1)];
    add_to_count(own, -1);
  }
  own.lock.unlock();
  return one;
}

/// The first allowed task of another member. Further tasks move into the member's own deque.
template <class Allowed>
explicit_task* task_pool::steal(part& self, const Allowed& allowed) noexcept {
  member_tasks& mine = tasks_of(self);
  constexpr bool is_in_barrier = std::is_same_v<Allowed, any_task>;
  std::uint32_t most = is_in_barrier ? most_taken : 1;
  if (is_in_barrier && mine.has_enough) return nullptr;
  explicit_task* taken[most_taken];
  for (member_tasks* from = mine.next;; from = from->next) {
    if (from == nullptr) from = first_member();
    if (from == &mine) return nullptr;
    task_deque& there = from->ready;
    if (there.count.load(detail::memory_order_relaxed) == 0) continue;  // 11
    std::uint32_t count = 0;
    there.thieves.lock();
    there.lock.lock();
    if (there.back != there.front && allowed(*there.ring[there.front & (there.room - 1)])) {
      const std::uint64_t half = (there.back - there.front + 1) / 2;
      if (is_in_barrier && there.is_dear && !is_crowded(self)) {
        mine.has_enough = true;
        most = most_taken_dear;
      }
      while (count < half && count < most)
        taken[count++] = there.ring[there.front++ & (there.room - 1)];
      add_to_count(there, -static_cast<int>(count));
    } else {
      task_range* of = there.ranges;
      while (of != nullptr && (of->begin == of->end || !allowed(*of))) of = of->outer;
      if (of != nullptr) taken[count++] = &split(self, *of);
      if (of != nullptr && of->begin == of->end) add_to_count(there, -1);
    }
    there.lock.unlock();
    there.thieves.unlock();
    if (count == 0) continue;
    push(self, taken + 1, count - 1);
    return taken[0];
  }
}

/// The later half of a range, as a task. Requires the lock of the deque that the range is in.
explicit_task& task_pool::split(part& self, task_range& of) noexcept {
  const std::uint64_t end = of.end;
  of.end -= (of.end - of.begin + 1) / 2;
  explicit_task& one = of.make_part(self, of, of.end, end);
  one.depth = of.around->depth;
  one.group = of.group;
  one.siblings = of.siblings;
  one.parity = static_cast<std::uint8_t>(of.parity);
  count_in_group(one);
  if (one.maker == of.maker && !of.siblings->is_closed) {
    ++of.siblings->balance;
  } else {
    of.siblings->others.fetch_add(1, detail::memory_order_relaxed);  // 17
  }
  one.maker = of.maker;
  return one;
}

void task_pool::open_range(part& self, task_range& of) noexcept {
  task_deque& own = tasks_of(self).ready;
  own.lock.lock();
  of.outer = own.ranges;
  own.ranges = &of;
  add_to_count(own, 1);
  own.lock.unlock();
  announce(self.at);
}

bool task_pool::take_from(part& self, task_range& of, std::uint64_t& begin,
                          std::uint64_t& end) noexcept {
  task_deque& own = self.tasks->ready;
  own.lock.lock();
  const std::uint64_t rest = of.end - of.begin;
  std::uint64_t count = rest / (4 * self.size);
  count = count < 1 ? 1 : count > most_taken_of_own ? most_taken_of_own : count;
  if (rest != 0) {
    begin = of.begin;
    end = of.begin += count;
    if (count == rest) add_to_count(own, -1);
  } else {
    own.ranges = of.outer;
  }
  own.lock.unlock();
  return rest != 0;
}

void task_pool::close_range(part& self, task_range& of) noexcept {
  task_deque& own = self.tasks->ready;
  own.lock.lock();
  if (of.begin != of.end) add_to_count(own, -1);
  own.ranges = of.outer;
  own.lock.unlock();
}

/// Announces that a task is ready. Any thread calls it, after it has counted the task where others look for it.
void task_pool::announce(detail::member_state* at) noexcept {
  detail::thread_fence(detail::memory_order_seq_cst);                // 19
  if (hint_.load(detail::memory_order_relaxed) != 0) return;         // 1
  if (hint_.exchange(1, detail::memory_order_relaxed) != 0) return;  // 2
  if (at != nullptr) wake_barrier(*at);
  finishers_.notify(detail::fence_payer::both);
}

bool task_pool::looks_ready() const noexcept {
  if (static_cast<std::uint32_t>(listed_.load(detail::memory_order_relaxed)) != 0)
    return true;  // 13
  const member_tasks* of = first_member();
  while (of != nullptr && of->ready.count.load(detail::memory_order_relaxed) == 0)
    of = of->next;  // 11
  return of != nullptr;
}

/// Called by a member that has found no task (POOL-2).
void task_pool::withdraw_hint(part& self) noexcept {
  hint_.store(0, detail::memory_order_relaxed);        // 3
  detail::thread_fence(detail::memory_order_seq_cst);  // 19
  if (looks_ready()) announce(self.at);
}

/// Requires the lock.
void task_pool::list_ready(explicit_task& one) noexcept {
  add_last(listed_tasks_, one);
  unfinished_[one.parity].fetch_add(1, detail::memory_order_relaxed);             // 18
  listed_.fetch_add((std::uint64_t{1} << 32) + 1, detail::memory_order_relaxed);  // 14
  announce(one.maker->at);
  for (member_tasks* of = first_member(); of != nullptr; of = of->next)
    of->news.notify(detail::fence_payer::both);
}

/// The first of the list that is allowed.
template <class Allowed>
explicit_task* task_pool::take_listed(const Allowed& allowed) noexcept {
  if (static_cast<std::uint32_t>(listed_.load(detail::memory_order_relaxed)) == 0)
    return nullptr;  // 13
  const detail::holding<detail::short_lock> here(lock_);
  explicit_task* one = listed_tasks_.first;
  while (one != nullptr && !allowed(*one)) one = one->in_list.next;
  if (one != nullptr) unlist(*one);
  return one;
}

/// Requires the lock, and that the caller is not in a barrier, or is counted.
void task_pool::unlist(explicit_task& one) noexcept {
  remove(listed_tasks_, one);
  listed_.fetch_sub(1, detail::memory_order_relaxed);  // 14
  uncount(one.parity);
}

void task_pool::uncount(std::uint32_t parity) noexcept {
  if (unfinished_[parity].fetch_sub(1, detail::memory_order_release) == 1)  // 5
    finishers_.notify(detail::fence_payer::both);
}

/// The next task that may run here. `kept`: a task that became ready for this member, or null.
template <class Allowed>
explicit_task* task_pool::take(part& self, explicit_task* kept, const Allowed& allowed) noexcept {
  if (explicit_task* const first = take_listed(allowed)) {
    if (kept != nullptr) push(self, *kept);
    return first;
  }
  if (kept == nullptr) kept = pop(self);
  return kept != nullptr ? kept : steal(self, allowed);
}

// Waiting.

/// Tasks that a member may take in a barrier. One of another parity was made by a member that has left it already.
struct task_pool::any_task {
  std::uint32_t parity;

  template <class Task>
  bool operator()(const Task& one) const noexcept {
    return one.parity == parity;
  }
};

/// The tasks that a member may take from others while it waits within a task (POOL-3).
struct task_pool::task_below {
  const task_family* family;
  const task_group* group;  ///< or null

  template <class Task>
  bool operator()(const Task& one) const noexcept {
    if (one.siblings == family) return true;
    const task_group* of = group != nullptr ? one.group : nullptr;
    while (of != nullptr && of != group) of = of->outer;
    return of != nullptr;
  }
};

/// For help().
template <class Done>
struct task_pool::news_wait final : detail::waitable {
  const task_pool& tasks;
  member_tasks& mine;
  const Done& done;
  std::uint64_t listed;

  news_wait(const task_pool& of, member_tasks& own, const Done& is_done,
            std::uint64_t so_many) noexcept
      : tasks(of), mine(own), done(is_done), listed(so_many) {}
  bool ready() noexcept override {
    return done() || tasks.listed_.load(detail::memory_order_relaxed) != listed;  // 13
  }
  void sleep(std::uint64_t until) override {
    mine.news.sleep(*this, until, detail::fence_payer::both);
  }
  void describe(detail::wait_subject& to) const noexcept override {
    to.object = &tasks;
    to.sleeps_on = &mine.news;
    to.kind = detail::wait_kind::end_of_part;
  }
};

/// For finish().
struct task_pool::finish_wait final : detail::waitable {
  task_pool& tasks;
  std::uint32_t parity;

  finish_wait(task_pool& of, std::uint32_t its_parity) noexcept : tasks(of), parity(its_parity) {}
  bool ready() noexcept override { return tasks.has_ready() || !tasks.has_unfinished(parity); }
  void sleep(std::uint64_t until) override {
    tasks.finishers_.sleep(*this, until, detail::fence_payer::both);
  }
  void describe(detail::wait_subject& to) const noexcept override {
    to.object = &tasks;
    to.sleeps_on = &tasks.finishers_;
    to.kind = detail::wait_kind::end_of_part;
  }
};

/// Runs tasks that may run here until done(), and waits if there are none. A thread that makes more of them does not
/// wake this member, so it looks again now and then.
template <class Done>
void task_pool::help(part& self, const task_family* of, const task_group* group,
                     const Done& done) noexcept {
  member_tasks& mine = tasks_of(self);
  mine.pace.forget();
  const task_below allowed{of, group};
  std::chrono::nanoseconds pause = first_pause;
  explicit_task* next = nullptr;
  while (!done()) {
    const std::uint64_t listed = listed_.load(detail::memory_order_relaxed);  // 13
    next = take(self, next, allowed);
    if (next != nullptr) {
      next = run(self, *next);
      pause = first_pause;
      continue;
    }
    report(mine);
    news_wait<Done> what(*this, mine, done, listed);
    const std::uint64_t until =
        self.is_alone() ? detail::no_deadline : deadline::after(pause).nanoseconds();
    detail::wait_engine::wait(what, process_settings().waiting, history_of(self), until);
    if (pause < longest_pause) pause *= 2;
  }
  if (next != nullptr) push(self, *next);
  report(mine);
}

void task_pool::wait_for_children(part& self, task_family& of) noexcept {
  help(self, &of, nullptr, [&] { return !of.has_unfinished(); });
}

void task_pool::wait_for_end(part& self, task_family& of,
                             const detail::atomic<bool>& ended) noexcept {
  help(self, &of, nullptr, [&] { return ended.load(detail::memory_order_acquire); });  // 10
}

void task_pool::wait_for_group(part& self, task_group& of) noexcept {
  help(self, self.running->family, &of, [&] { return !of.has_unfinished(); });
}

void task_pool::wait_for_dependences(part& self, task_family& of, const dependence_list& named,
                                     ompt::task_info* told) noexcept {
  if (of.dependences == nullptr) return;
  detail::atomic<bool> ended{false};
  explicit_task wait;
  wait.is_wait = true;
  wait.argument = told;
  wait.more_edges = nullptr;
  wait.maker = &tasks_of(self);
  wait.tells_end = &ended;
  if (!of.dependences->add_wait(self, wait, named)) wait_for_end(self, of, ended);
  free_edges(wait);
}

void task_pool::yield(part& self) noexcept {
  explicit_task* next = take_listed(task_below{self.running->family, nullptr});
  if (next == nullptr) next = pop(self);
  if (next == nullptr) return;
  if (has_tool()) ompt::this_thread().yields = true;
  run_now(self, *next);
}

void task_pool::run_own(part& self) noexcept {
  self.tasks->pace.forget();
  explicit_task* next = pop(self);
  while (next != nullptr) {
    next = run(self, *next);
    self.tasks->pace.forget();
    if (next == nullptr) next = pop(self);
  }
  report(*self.tasks);
}

void task_pool::run_ready(part& self) noexcept {
  // Before tasks_of(): a hint that another region left behind is no task of this one.
  if (!looks_ready()) return withdraw_hint(self);
  member_tasks& mine = tasks_of(self);
  const any_task allowed{self.barriers & 1};
  std::uint64_t count = 0;
  const std::uint64_t start = detail::monotonic_nanoseconds();
  unfinished_[allowed.parity].fetch_add(1, detail::memory_order_relaxed);  // 18
  mine.has_enough = false;
  explicit_task* next = nullptr;
  while ((next = take(self, next, allowed)) != nullptr) {
    mine.pace.forget();
    next = run(self, *next);
    ++count;
  }
  report(mine);
  uncount(allowed.parity);
  if (count != 0) let_some_gather(self, start, count);
}

/// If tasks are so small that fetching them costs more than running them, a member that takes each at once slows down
/// their maker. So it stays away for a moment, or until a task is in the list of all.
void task_pool::let_some_gather(part& self, std::uint64_t start, std::uint64_t count) noexcept {
  if (self.at == nullptr || is_crowded(self)) return;
  const std::uint64_t now = detail::monotonic_nanoseconds();
  if (now - start >= count * small_task) return;
  const std::uint64_t others = self.size - 1;
  const std::uint64_t longer = self.tasks->has_enough ? 4 * others * (now - start) : 0;
  const std::uint64_t pause = std::clamp(longer, gathering, longest_gathering * others);
  detail::team_barrier& barrier = self.at->shared().barrier;
  for (std::uint64_t away = 0; away < pause; away = detail::monotonic_nanoseconds() - now) {
    if (static_cast<std::uint32_t>(listed_.load(detail::memory_order_relaxed)) != 0) return;  // 13
    if (away > gathering && barrier.have_all_arrived(*self.at)) return;
    for (int i = 0; i < 4; ++i) detail::polling_pause();
  }
}

void task_pool::finish(part& self, std::uint32_t parity) noexcept {
  while (has_unfinished(parity)) {
    if (has_ready()) run_ready(self);
    finish_wait what(*this, parity);
    detail::wait_engine::wait(what, process_settings().waiting, history_of(self));
  }
}

// A task's way.

bool task_pool::is_full(part& self) noexcept {
  if (self.tasks == nullptr) return false;
  task_pace& pace = self.tasks->pace;
  const std::uint32_t ready = self.tasks->ready.count.load(detail::memory_order_relaxed);  // 11
  const bool throttles = process_settings().throttles_tasks;
  if (self.running->depth >= deep) return ready >= most_ready_deep && throttles;
  // Others may have taken most of the tasks meanwhile: while the maker runs long ones, they would wait for new ones.
  if (pace.at_once != 0 && ready >= most_ready / 2) return --pace.at_once, true;
  const bool is_full = ready >= most_ready && throttles;
  if (is_full || pace.runs || pace.row == most_ready) pace.begin(is_full);
  if (!is_full) ++pace.row;
  return is_full;
}

/// `is_full`: the next row of tasks is run at once.
void task_pace::begin(bool is_full) noexcept {
  const std::uint64_t now = detail::tick_clock::now();
  if (since != 0 && runs) run = (now - since) / (task_pool::at_once_when_full + 1 - at_once);
  if (since != 0 && !runs) {
    if (!is_full)
      run -= run / 32;  // not measured for 64 tasks: those may have been of another kind
    pushed += row;
    pushing_took += now - since;
    if (pushed >= task_pool::most_ready / 2) {
      push = pushing_took / pushed;
      pushed = pushing_took = 0;
    }
  }
  since = now;
  runs = is_full;
  at_once = is_full ? task_pool::at_once_when_full : 0;
  row = 0;
}

explicit_task& task_pool::make(part& self, const task& parent, std::size_t size, std::size_t align,
                               std::size_t uses) noexcept {
  const std::size_t argument_at = sizeof(explicit_task) + uses * sizeof(dependence_use);
  const std::size_t all = told_size() + argument_at + size + align;
  const bool is_small = all <= block_size;
  member_tasks& mine = tasks_of(self);
  char* memory = static_cast<char*>(is_small ? allocate(mine) : allocate_bytes(all));
  if (has_tool()) {
    ::new (static_cast<void*>(memory)) ompt::task_info;
    memory += told_size();
  }
  explicit_task& one = *::new (static_cast<void*>(memory)) explicit_task;
  one.inherit(parent);
  one.family = nullptr;
  one.is_explicit = one.is_pooled = true;
  one.is_final = false;
  one.argument = reinterpret_cast<void*>(
      round_up(reinterpret_cast<std::uintptr_t>(memory) + argument_at, align));
  one.maker = &mine;
  one.more_edges = nullptr;
  one.uses = reinterpret_cast<dependence_use*>(&one + 1);
  one.use_count = static_cast<std::uint32_t>(uses);
  one.named = 0;
  one.parity = self.barriers & 1;
  one.is_small = is_small;
  one.runs_always = one.is_wait = one.is_awaited = one.has_priority = one.has_event =
      one.is_fulfilled = one.is_over = one.is_dropped = one.has_orphans = false;
  return one;
}

void task_pool::make_uses(explicit_task& one, const void* end, std::size_t count) noexcept {
  const char* const block = reinterpret_cast<const char*>(&one);
  const std::size_t used = round_up(static_cast<std::size_t>(static_cast<const char*>(end) - block),
                                    alignof(dependence_use));
  const std::size_t needed = count * sizeof(dependence_use);
  one.uses = one.is_small && told_size() + used + needed <= block_size
                 ? reinterpret_cast<dependence_use*>(reinterpret_cast<char*>(&one) + used)
                 : allocate_uses(one, count);
  one.use_count = static_cast<std::uint32_t>(count);
}

bool task_pool::add(part& self, task& parent, explicit_task& one, const dependence_list& named,
                    bool runs_now) noexcept {
  task_family& family = family_of(parent);
  one.siblings = &family;
  ++family.balance;
  task_group* const group = one.group;
  if (group != nullptr && group->maker == nullptr && self.is_alone() && !group->is_of_construct)
    group->maker = one.maker;
  count_in_group(one);
  bool is_ready = true;
  if (named.count != 0) {
    if (family.dependences == nullptr) {
      family.dependences = ::new (allocate_bytes(sizeof(dependence_table))) dependence_table(*this);
    }
    is_ready = family.dependences->add(self, one, named);
  }
  if (!is_ready || runs_now) return is_ready;
  if (!one.has_priority) {
    push(self, one);
  } else {
    lock_.lock();
    list_ready(one);
    lock_.unlock();
  }
  return false;
}

inline void task_pool::close_family(part& self, explicit_task& one) noexcept {
  if (one.family == nullptr) return;
  close(self, *one.family);
  one.family = nullptr;
}

/// Called at the end of the task's function. True if its event is not fulfilled.
[[gnu::noinline, gnu::cold]] bool task_pool::detach(part& self, explicit_task& one) noexcept {
  const detail::holding<detail::short_lock> here(lock_);
  const bool is_detached = !one.is_fulfilled;
  if (is_detached) {
    one.is_over = true;
    add_last(detached_, one);
    unfinished_[one.parity].fetch_add(1, detail::memory_order_relaxed);  // 18
  }
  if (has_tool() && info_of(one).is_running) {
    ompt::end_task(self, info_of(one),
                   is_detached ? ompt::task_status::detach : ompt::task_status::complete);
  }
  return is_detached;
}

inline explicit_task* task_pool::end_function(part& self, explicit_task& one) noexcept {
  close_family(self, one);
  if (one.has_event && detach(self, one)) return nullptr;
  return complete(&self, one);
}

/// Returns a task that became ready when this one ended, for the caller to run, or null.
explicit_task* task_pool::run(part& self, explicit_task& one) noexcept {
  member_tasks& mine = *self.tasks;
  if (mine.family != one.siblings) report_family(mine);
  if (mine.group != one.group) report_group(mine);
  task* const before = self.running;
  one.begun_at = mine.ready.back;
  self.running = &one;
  if (__builtin_expect(process_settings().has_special_tasks, 0)) {
    call_special(self, one);
  } else {
    one.function(one.argument);
  }
  self.running = before;
  return end_function(self, one);
}

/// For a task that may be cancelled, or with a tool. The program's code begins above this frame of the stack.
[[gnu::noinline]] void task_pool::call_special(part& self, explicit_task& one) noexcept {
  const bool is_dropped = is_cancelled(self, one);
  if (!has_tool()) {
    if (!is_dropped) one.function(one.argument);
    return;
  }
  ompt::task_info& told = info_of(one);
  if (is_dropped) return ompt::tell_discarded(told, flags_of_cancel(self));
  ompt::begin_task(self, told);
  told.at.exit.pointer = __builtin_frame_address(0);
  one.function(one.argument);
  if (!one.has_event) ompt::end_task(self, told, status_at_end(self, one));
}

void task_pool::run_now(part& self, explicit_task& one) noexcept {
  static_cast<void>(tasks_of(self));
  explicit_task* const next = run(self, one);
  if (next != nullptr) push(self, *next);
  report(*self.tasks);
}

void task_pool::begin_within(part& self, explicit_task& one) noexcept {
  if (one.has_event) static_cast<void>(add(self, *self.running, one, {}, true));
  one.interrupted = self.running;
  one.begun_at = tasks_of(self).ready.back;
  self.running = &one;
  if (has_tool()) ompt::begin_task(self, info_of(one));
}

void task_pool::end_within(part& self, explicit_task& one) noexcept {
  if (has_tool() && !one.has_event) ompt::end_task(self, info_of(one), status_at_end(self, one));
  self.running = one.interrupted;
  if (!one.has_event) {
    close_family(self, one);
    return let_go(&self, one);
  }
  explicit_task* const next = end_function(self, one);
  if (next != nullptr) push(self, *next);
  wait_for_children(self, *self.running->family);
}

bool task_pool::is_cancelled(const part& self, const explicit_task& one) const noexcept {
  if (!process_settings().can_cancel || one.runs_always) return false;
  return is_region_cancelled(self) || is_taskgroup_cancelled(one);
}

/// `self` is null for a thread that is no member, which has the lock. Returns what run() does.
explicit_task* task_pool::complete(part* self, explicit_task& one) noexcept {
  if (one.is_awaited) {
    one.tells_end->store(true, detail::memory_order_release);  // 9
    one.maker->news.notify(detail::fence_payer::both);
  }
  const bool is_by_parent = self != nullptr && one.maker == self->tasks && !one.siblings->is_closed;
  dependence_edge* edges = nullptr;
  if (one.use_count != 0 && is_by_parent) edges = one.siblings->dependences->remove(one);
  count_end(self, one);
  if (one.use_count == 0 || is_by_parent) {
    let_go(self, one);
    return release(self, edges);
  }
  const std::uintptr_t before = dependence_table::end(one);
  if (dependence_table::is_forgotten(before)) let_go(self, one);
  return release(self, dependence_table::edges_of(before));
}

/// Releases the tasks that waited for a task that has ended.
explicit_task* task_pool::release(part* self, dependence_edge* edge) noexcept {
  explicit_task* ready = nullptr;
  while (edge != nullptr) {
    explicit_task& one = *edge->successor;
    edge = edge->next;  // the edge may be gone with its successor
    if (!dependence_table::unblock(one)) continue;
    if (one.is_wait) {
      member_tasks& waits = *one.maker;
      one.tells_end->store(true, detail::memory_order_release);  // 9
      waits.news.notify(detail::fence_payer::both);
    } else if (self == nullptr) {
      list_ready(one);
    } else if (one.has_priority) {
      lock_.lock();
      list_ready(one);
      lock_.unlock();
    } else {
      if (ready != nullptr) push(*self, *ready);
      ready = &one;
    }
  }
  return ready;
}

void task_pool::let_go(part* self, explicit_task& one) noexcept {
  if (one.has_orphans && one.holds.fetch_sub(1, detail::memory_order_acq_rel) != 1) return;  // 8
  give_back(self, one);
}

void task_pool::count_end(part* self, explicit_task& one) noexcept {
  task_family& family = *one.siblings;
  task_group* const group = one.group;
  member_tasks* const mine = self != nullptr ? self->tasks : nullptr;
  if (group != nullptr && group->maker != nullptr) {
    if (group->maker == mine) {
      --group->balance;
    } else if (mine != nullptr) {
      if (mine->group != group) report_group(*mine);
      mine->group = group;
      ++mine->group_ends;
    } else {
      end_in_group(*group, 1);
    }
  }
  if (one.maker == mine && !family.is_closed) {
    --family.balance;
  } else if (mine != nullptr) {
    if (mine->family != &family) report_family(*mine);
    mine->family = &family;
    mine->family_maker = one.maker;
    ++mine->family_ends;
  } else {
    end_children(family, 1, *one.maker);
  }
}

void task_pool::end_children(task_family& of, std::int64_t ends, member_tasks& maker) noexcept {
  const std::int64_t left = of.others.fetch_sub(ends, detail::memory_order_acq_rel) - ends;  // 7
  if (left == task_count::closed) {
    drop_family(of);
  } else if (left < task_count::closed / 2) {
    maker.news.notify(detail::fence_payer::both);
  }
}

void task_pool::end_in_group(task_group& of, std::int64_t ends) noexcept {
  member_tasks& maker = *of.maker;
  of.others.fetch_sub(ends, detail::memory_order_release);  // 22
  maker.news.notify(detail::fence_payer::both);
}

void task_pool::report_family(member_tasks& mine) noexcept {
  if (mine.family == nullptr) return;
  end_children(*mine.family, mine.family_ends, *mine.family_maker);
  mine.family = nullptr;
  mine.family_ends = 0;
}

void task_pool::report_group(member_tasks& mine) noexcept {
  if (mine.group == nullptr) return;
  end_in_group(*mine.group, mine.group_ends);
  mine.group = nullptr;
  mine.group_ends = 0;
}

void task_pool::report(member_tasks& mine) noexcept {
  report_group(mine);
  report_family(mine);
}

void task_pool::fulfil(explicit_task& one) noexcept {
  task_pool& tasks = *one.maker->pool;
  const detail::holding<detail::short_lock> here(tasks.lock_);
  one.is_fulfilled = true;
  if (has_tool()) ompt::tell_fulfilled(info_of(one), one.is_over);
  if (one.is_dropped) {
    one.is_dropped = false;
    tasks.give_back(nullptr, one);
  } else if (one.is_over) {
    // All of it holds the lock: the pool is not destroyed before the lock is free.
    const std::uint32_t parity = one.parity;
    remove(tasks.detached_, one);
    tasks.complete(nullptr, one);
    tasks.uncount(parity);
  }
}

void task_pool::discard(part&) noexcept {
  const detail::holding<detail::short_lock> here(lock_);
  const auto drop = [&](explicit_task& one) {
    one.is_dropped = one.has_event && !one.is_fulfilled;
    if (has_tool()) ompt::tell_discarded(info_of(one), ompt::cancel_parallel);
    complete(nullptr, one);
  };
  for (member_tasks* of = first_member(); of != nullptr; of = of->next) {
    task_deque& there = of->ready;
    there.count.store(0, detail::memory_order_relaxed);  // 21
    while (there.front != there.back) drop(*there.ring[there.front++ & (there.room - 1)]);
  }
  while (listed_tasks_.first != nullptr || detached_.first != nullptr) {
    if (listed_tasks_.first != nullptr) {
      explicit_task& one = *listed_tasks_.first;
      unlist(one);
      drop(one);
    } else {
      explicit_task& one = *detached_.first;
      remove(detached_, one);
      uncount(one.parity);
      drop(one);
    }
  }
  while (kept_ != nullptr) free_kept(kept_);
}

// Families.

task_family& task_pool::family_of(task& parent) noexcept {
  if (parent.family == nullptr) {
    if (parent.is_pooled) {
      explicit_task& one = static_cast<explicit_task&>(parent);
      parent.family = ::new (&one.children) task_family;
      parent.family->parent = &one;
    } else {
      parent.family = ::new (allocate_bytes(sizeof(task_family))) task_family;
    }
    parent.family->pool = this;
  }
  return *parent.family;
}

void task_pool::close(part& self, task_family& of) noexcept {
  if (of.dependences != nullptr) {
    of.dependences->forget_all(self);
    of.dependences->~dependence_table();
    std::free(of.dependences);
    of.dependences = nullptr;
  }
  of.is_closed = true;
  explicit_task* const parent = of.parent;
  if (of.has_unfinished()) {
    if (parent != nullptr) {
      parent->has_orphans = true;
      parent->holds.store(2, detail::memory_order_relaxed);  // 8
    }
    const std::int64_t more = task_count::closed + of.balance;
    if (of.others.fetch_add(more, detail::memory_order_acq_rel) + more != task_count::closed)
      return;  // 7
    if (parent != nullptr) parent->has_orphans = false;
  }
  free_family(of);
}

/// The parent's function has returned, and all children have ended.
void task_pool::drop_family(task_family& of) noexcept {
  explicit_task* const parent = of.parent;
  free_family(of);
  if (parent != nullptr && parent->holds.fetch_sub(1, detail::memory_order_acq_rel) == 1)
    give_back(nullptr, *parent);  // 8
}

void task_pool::free_family(task_family& of) noexcept {
  const bool is_alone = of.parent == nullptr;
  of.~task_family();
  if (is_alone) std::free(&of);
}

void end_family(part& self, task& of) noexcept {
  of.family->pool->close(self, *of.family);
  of.family = nullptr;
}

// Memory.

void* task_pool::allocate(member_tasks& mine) noexcept {
  if (mine.free_blocks == nullptr) {
    lock_.lock();
    for (; mine.free_count < blocks_at_once && free_blocks_ != nullptr; ++mine.free_count) {
      void* const block = free_blocks_;
      free_blocks_ = next_block(block);
      next_block(block) = mine.free_blocks;
      mine.free_blocks = block;
    }
    lock_.unlock();
    if (mine.free_blocks == nullptr) return allocate_bytes(block_size);
  }
  void* const block = mine.free_blocks;
  mine.free_blocks = next_block(block);
  --mine.free_count;
  return block;
}

/// `self` is the calling member, or null.
void task_pool::give_back(part* self, explicit_task& one) noexcept {
  if (one.is_dropped) return;  // fulfil() will do it
  const bool is_small = one.is_small;
  if (one.use_count != 0) free_edges(one);
  one.~explicit_task();
  void* const block = reinterpret_cast<char*>(&one) - told_size();
  if (!is_small || self == nullptr) return std::free(block);
  member_tasks& mine = *self->tasks;
  next_block(block) = mine.free_blocks;
  mine.free_blocks = block;
  if (++mine.free_count < 3 * blocks_at_once) return;
  lock_.lock();
  for (unsigned i = 0; i < blocks_at_once; ++i) {
    void* const more = mine.free_blocks;
    mine.free_blocks = next_block(more);
    next_block(more) = free_blocks_;
    free_blocks_ = more;
  }
  lock_.unlock();
  mine.free_count -= blocks_at_once;
}

member_tasks& task_pool::tasks_of(part& self) noexcept {
  if (self.tasks != nullptr) return *self.tasks;
  had_some_.store(true, detail::memory_order_relaxed);  // 24
  lock_.lock();
  member_tasks* const first = first_member();
  member_tasks* mine = first;
  while (mine != nullptr && mine->rank != self.rank) mine = mine->next;
  if (mine == nullptr) {
    // It lies on lines of its own.
    mine = ::new (allocate_bytes(sizeof(member_tasks))) member_tasks;
    mine->pool = this;
    mine->rank = self.rank;
    mine->next = first;
    members_.store(mine, detail::memory_order_release);  // 16
  }
  lock_.unlock();
  mine->at = self.at;
  self.tasks = mine;
  return *mine;
}

task_pool::~task_pool() {
  lock_.lock();  // fulfil() may still hold it
  lock_.unlock();
  const auto free_blocks = [](void* block) {
    while (block != nullptr) {
      void* const next = next_block(block);
      std::free(block);
      block = next;
    }
  };
  free_blocks(free_blocks_);
  for (member_tasks* of = first_member(); of != nullptr;) {
    member_tasks* const next = of->next;
    free_blocks(of->free_blocks);
    std::free(of->ready.ring);
    of->~member_tasks();
    std::free(of);
    of = next;
  }
  while (kept_ != nullptr) free_kept(kept_);
}

kept_memory* task_pool::keep(void* start) noexcept {
  kept_memory* const one =
      ::new (allocate_bytes(sizeof(kept_memory))) kept_memory{nullptr, start, 0};
  const detail::holding<detail::short_lock> here(lock_);
  one->next = kept_;
  kept_ = one;
  return one;
}

void task_pool::join(kept_memory& of) noexcept {
  const detail::holding<detail::short_lock> here(lock_);
  ++of.users;
}

void task_pool::leave(kept_memory& of, bool is_cancelled) noexcept {
  const detail::holding<detail::short_lock> here(lock_);
  if (--of.users == 0 && !is_cancelled) free_kept(&of);
}

void task_pool::free(kept_memory& of) noexcept {
  const detail::holding<detail::short_lock> here(lock_);
  free_kept(&of);
}

/// Requires the lock.
void task_pool::free_kept(kept_memory* of) noexcept {
  kept_memory** at = &kept_;
  while (*at != of) at = &(*at)->next;
  *at = of->next;
  std::free(of->start);
  std::free(of);
}

}  // namespace lockstep::openmp
