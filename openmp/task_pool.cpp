// SPDX-License-Identifier: MIT
// openmp/task_pool.cpp -- the explicit tasks of a region: see task_pool.hpp
#include "task_pool.hpp"

#include <cstdint>
#include <cstdlib>
#include <new>

#include "barrier.hpp"
#include "message.hpp"
#include "part.hpp"
#include "shared_region.hpp"
#include "task_dependences.hpp"
#include "task_groups.hpp"

namespace lockstep::openmp {

namespace {

template <task_link explicit_task::* Link>
void insert(task_list& list, explicit_task& one, explicit_task* before,
            explicit_task* after) noexcept {
  one.*Link = {after, before};
  (before != nullptr ? (before->*Link).next : list.first) = &one;
  (after != nullptr ? (after->*Link).previous : list.last) = &one;
}

/// Before those of the same priority.
template <task_link explicit_task::* Link>
void add_first(task_list& list, explicit_task& one) noexcept {
  explicit_task* before = nullptr;
  explicit_task* after = list.first;
  while (after != nullptr && after->priority > one.priority) {
    before = after;
    after = (after->*Link).next;
  }
  insert<Link>(list, one, before, after);
}

/// Behind them.
template <task_link explicit_task::* Link>
void add_last(task_list& list, explicit_task& one) noexcept {
  explicit_task* before = list.last;
  explicit_task* after = nullptr;
  while (before != nullptr && before->priority < one.priority) {
    after = before;
    before = (before->*Link).previous;
  }
  insert<Link>(list, one, before, after);
}

template <task_link explicit_task::* Link>
void remove(task_list& list, explicit_task& one) noexcept {
  const task_link at = one.*Link;
  (at.previous != nullptr ? (at.previous->*Link).next : list.first) = at.next;
  (at.next != nullptr ? (at.next->*Link).previous : list.last) = at.previous;
}

std::size_t round_up(std::size_t size, std::size_t align) noexcept {
  return (size + align - 1) / align * align;
}

void* allocate_bytes(std::size_t size) noexcept {
  void* const memory = std::aligned_alloc(64, round_up(size, 64));
  if (memory == nullptr) fail("Out of memory allocating %zu bytes", size);
  return memory;
}

void*& next_block(void* block) noexcept { return *static_cast<void**>(block); }

/// Under the pool's lock.
void add_to(detail::atomic<std::uint32_t>& word, int change) noexcept {
  word.store(word.load(detail::memory_order_relaxed) + static_cast<std::uint32_t>(change),  // 5
             detail::memory_order_release);                                                 // 4
}

}  // namespace

// Waiting.

/// Whether a waiter for certain tasks was notified.
struct is_notified {
  bool operator()(std::uint32_t word) const noexcept { return (word & task_waiter::notified) != 0; }
};

/// For finish().
struct task_pool::finish_wait {
  task_pool& tasks;
  std::uint32_t parity;

  bool ready() const noexcept { return tasks.has_ready() || !tasks.has_unfinished(parity); }
  void sleep(deadline until) { tasks.finishers_.sleep(*this, until, detail::fence_payer::both); }
  void describe(detail::wait_subject& to) const noexcept {
    to.object = &tasks;
    to.sleeps_on = &tasks.finishers_;
    to.kind = detail::wait_kind::end_of_part;
  }
};

void task_pool::notify(task_waiter*& place, wakes& them) noexcept {
  if (place == nullptr) return;
  detail::wait_word& word = place->word;
  place = nullptr;
  const std::uint32_t old =
      word.exchange(task_waiter::notified, detail::memory_order_release);  // 6
  if ((old & detail::sleeping_bit) == 0) return;
  if (them.count < wakes::most) {
    them.sleepers[them.count++] = &word;
  } else {
    detail::wake_sleepers(&word, old);
  }
}

void task_pool::wake(part* self, wakes& them) noexcept {
  for (unsigned i = 0; i < them.count; ++i)
    detail::wake_sleepers(them.sleepers[i], detail::sleeping_bit);
  if (them.barrier) wake_barrier(*self);
  if (them.finishers) finishers_.notify(detail::fence_payer::both);
  them = wakes();
}

/// Runs what pick() names until done(), and waits where there is nothing. Both are called under the lock.
template <class Pick, class Done>
void task_pool::help(part& self, task_waiter*& place, const Pick& pick, const Done& done) noexcept {
  wakes after;
  lock_.lock();
  take_own(self, after);
  while (!done()) {
    explicit_task* const next = pick();
    if (next != nullptr) {
      run_taken(self, *next, after);
    } else {
      task_waiter waiter;
      place = &waiter;
      lock_.unlock();
      wake(&self, after);
      detail::wait_until_word(waiter.word, is_notified(), this, process_settings().waiting);
      lock_.lock();
    }
  }
  lock_.unlock();
  wake(&self, after);
}

void task_pool::wait_for_children(part& self, task_family& of) noexcept {
  help(
      self, of.waiter, [&] { return of.ready.first; },
      [&] { return of.unfinished.load(detail::memory_order_relaxed) == 0; });  // 5
}

void task_pool::wait_for_end(part& self, task_family& of, const bool& ended) noexcept {
  help(self, of.waiter, [&] { return of.ready.first; }, [&] { return ended; });
}

void task_pool::wait_for_group(part& self, task_group& of) noexcept {
  help(
      self, of.waiter, [&] { return of.ready.first; },
      [&] { return of.unfinished.load(detail::memory_order_relaxed) == 0; });  // 5
}

void task_pool::wait_for_dependences(part& self, task_family& of, void** depend) noexcept {
  if (of.dependences == nullptr) return;  // only the parent makes it
  explicit_task wait;
  wait.is_wait = true;
  wait.siblings = &of;
  wait.blockers = 0;
  lock_.lock();
  of.dependences->add_wait(wait, depend);
  lock_.unlock();
  // What it waits for depends on tasks with dependences only.
  const auto first_with_dependences = [&] {
    explicit_task* one = of.ready.first;
    while (one != nullptr && one->use_count == 0) one = one->in_family.next;
    return one;
  };
  help(self, of.waiter, first_with_dependences, [&] { return wait.blockers == 0; });
}

void task_pool::yield(part& self, task_family& of) noexcept {
  publish(self);
  lock_.lock();
  explicit_task* const next = of.ready.first;
  if (next == nullptr) return lock_.unlock();
  take(*next);
  lock_.unlock();
  run_now(self, *next);
}

void task_pool::run_ready(part& self) noexcept {
  wakes after;
  std::uint64_t count = 0;
  const std::uint64_t start = detail::monotonic_nanoseconds();
  lock_.lock();
  for (;;) {
    explicit_task* const next = first_ready(after);
    // A task of another parity was made by a member that has left the barrier already.
    if (next == nullptr || next->parity != (self.barriers & 1)) break;
    run_taken(self, *next, after);
    ++count;
  }
  lock_.unlock();
  wake(&self, after);
  if (count != 0) let_some_gather(self, start, count);
}

/// Where tasks are so small that fetching them costs more than running them, a member that takes each as soon as it is
/// there slows down the one that makes them. So it stays away for a moment.
void task_pool::let_some_gather(part& self, std::uint64_t start, std::uint64_t count) noexcept {
  if (self.at == nullptr || self.at->shared().barrier.policy().is_crowded()) return;
  const std::uint64_t now = detail::monotonic_nanoseconds();
  if (now - start >= count * small_task) return;
  while (detail::monotonic_nanoseconds() - now < gathering) {
    for (int i = 0; i < 4; ++i) detail::polling_pause();
  }
}

void task_pool::finish(part& self, std::uint32_t parity) noexcept {
  while (has_unfinished(parity)) {
    run_ready(self);
    finish_wait what{*this, parity};
    detail::wait_engine::wait(
        what, process_settings().waiting,
        self.at != nullptr ? self.at->history : detail::this_thread_history());
  }
}

// A task's way.

bool task_pool::is_full(part& self) const noexcept {
  if (self.blocks == nullptr) return false;
  const bool has_fresh = self.blocks->fresh.load(detail::memory_order_relaxed) != nullptr;  // 9
  const unsigned fresh = has_fresh ? self.blocks->fresh_count : 0;
  if (self.running->depth >= deep) {
    return static_cast<std::uint32_t>(ready_.load(detail::memory_order_relaxed)) + fresh >=  // 5
           most_deep_per_member * self.size;
  }
  if (self.blocks->at_once != 0) return --self.blocks->at_once, true;
  if (unfinished_[0].load(detail::memory_order_relaxed) +
          unfinished_[1].load(detail::memory_order_relaxed) +  // 5
          fresh <=
      most_per_member * self.size) {
    return false;
  }
  self.blocks->at_once = at_once_when_full;
  return true;
}

explicit_task& task_pool::make(part& self, task& parent, std::size_t size, std::size_t align,
                               std::size_t uses) noexcept {
  const std::size_t uses_at = sizeof(explicit_task);
  const std::size_t argument_at = uses_at + uses * sizeof(dependence_use);
  const std::size_t all = argument_at + size + align;
  const bool is_small = all <= block_size;
  char* const memory = static_cast<char*>(is_small ? allocate(self) : allocate_bytes(all));
  explicit_task& one = *::new (static_cast<void*>(memory)) explicit_task;
  one.inherit(parent);
  one.family = nullptr;
  one.is_explicit = one.is_pooled = true;
  one.is_final = false;
  one.argument = reinterpret_cast<void*>(
      round_up(reinterpret_cast<std::uintptr_t>(memory) + argument_at, align));
  one.pool = this;
  one.home = &self;
  one.priority = 0;
  one.blockers = 0;
  one.successors = nullptr;
  one.uses = reinterpret_cast<dependence_use*>(memory + uses_at);
  one.use_count = static_cast<std::uint32_t>(uses);
  one.parity = self.barriers & 1;
  one.is_small = is_small;
  one.runs_always = one.is_wait = one.has_event = one.is_fulfilled = one.is_over = one.is_dropped =
      false;
  one.tells_end = nullptr;
  return one;
}

bool task_pool::add(part& self, task& parent, explicit_task& one, void** depend,
                    bool runs_now) noexcept {
  wakes after;
  bool is_ready = true;
  task_family& family = family_of(parent);
  one.siblings = &family;
  if (depend == nullptr && !runs_now && one.priority == 0 && !one.has_event &&
      one.tells_end == nullptr && (one.group == nullptr || one.group->maker == &parent)) {
    add_fresh(self, one);
    return false;
  }
  lock_.lock();
  count(1, one);
  if (depend != nullptr) {
    if (family.dependences == nullptr) {
      family.dependences = ::new (allocate_bytes(sizeof(dependence_table))) dependence_table;
    }
    family.dependences->add(one, depend);
    is_ready = one.blockers == 0;
  }
  if (is_ready && !runs_now) make_ready(one, after);
  lock_.unlock();
  wake(&self, after);
  return is_ready && runs_now;
}

void task_pool::add_fresh(part& self, explicit_task& one) noexcept {
  task_blocks& mine = blocks_of(self);
  mine.is_published = false;
  explicit_task* before = mine.fresh.load(detail::memory_order_relaxed);  // 9
  do {
    one.in_pool.next = before;
  } while (!mine.fresh.compare_exchange_weak(before, &one, detail::memory_order_release,  // 7
                                             detail::memory_order_relaxed));  // 9
  if (before != nullptr) {
    ++mine.fresh_count;
    return;
  }
  mine.fresh_count = 1;
  if (ready_.fetch_add(fresh_list, detail::memory_order_release) == 0) {  // 2, POOL-2
    wakes now;
    now.barrier = now.finishers = true;
    wake(&self, now);
  }
}

/// Under the lock.
void task_pool::take_fresh(task_blocks& of, wakes& them) noexcept {
  if (of.fresh.load(detail::memory_order_relaxed) == nullptr) return;              // 9
  explicit_task* last = of.fresh.exchange(nullptr, detail::memory_order_acquire);  // 8
  if (last == nullptr) return;
  explicit_task* first = nullptr;
  while (last != nullptr) {
    explicit_task* const before = last->in_pool.next;
    last->in_pool.next = first;
    first = last;
    last = before;
  }
  while (first != nullptr) {
    explicit_task& one = *first;
    first = one.in_pool.next;
    count(1, one);
    make_ready(one, them);
  }
  ready_.fetch_sub(fresh_list, detail::memory_order_release);  // 2
}

/// Under the lock.
void task_pool::take_own(part& self, wakes& them) noexcept {
  if (self.blocks == nullptr || self.blocks->is_published) return;
  take_fresh(*self.blocks, them);
  self.blocks->is_published = true;
}

void task_pool::publish(part& self) noexcept {
  if (self.blocks == nullptr || self.blocks->is_published) return;
  wakes after;
  lock_.lock();
  take_own(self, after);
  lock_.unlock();
  wake(&self, after);
}

/// Under the lock: the task to be run next, or null.
explicit_task* task_pool::first_ready(wakes& them) noexcept {
  for (task_blocks* of = blocks_of_members_; of != nullptr && all_ready_.first == nullptr;
       of = of->next) {
    take_fresh(*of, them);
  }
  return all_ready_.first;
}

void task_pool::make_ready(explicit_task& one, wakes& them) noexcept {
  if (one.is_wait) return notify(one.siblings->waiter, them);
  add_last<&explicit_task::in_pool>(all_ready_, one);
  add_first<&explicit_task::in_family>(one.siblings->ready, one);
  notify(one.siblings->waiter, them);
  if (one.group != nullptr) {
    add_first<&explicit_task::in_group>(one.group->ready, one);
    notify(one.group->waiter, them);
  }
  if (ready_.fetch_add(1, detail::memory_order_release) == 0)
    them.barrier = them.finishers = true;  // 2, POOL-2
}

void task_pool::take(explicit_task& one) noexcept {
  remove<&explicit_task::in_pool>(all_ready_, one);
  remove<&explicit_task::in_family>(one.siblings->ready, one);
  if (one.group != nullptr) remove<&explicit_task::in_group>(one.group->ready, one);
  ready_.fetch_sub(1, detail::memory_order_release);  // 2
}

void task_pool::perform(part& self, explicit_task& one) noexcept {
  task* const before = self.running;
  self.running = &one;
  if (!is_cancelled(self, one)) one.function(one.argument);
  self.running = before;
}

/// Under the lock, which is free while the task runs.
void task_pool::run_taken(part& self, explicit_task& one, wakes& after) noexcept {
  take(one);
  lock_.unlock();
  wake(&self, after);
  perform(self, one);
  lock_.lock();
  end_of_function(&self, one, after);
}

void task_pool::run_now(part& self, explicit_task& one) noexcept {
  wakes after;
  perform(self, one);
  lock_.lock();
  end_of_function(&self, one, after);
  lock_.unlock();
  wake(&self, after);
}

bool task_pool::is_cancelled(const part& self, const explicit_task& one) const noexcept {
  if (!process_settings().can_cancel || one.runs_always) return false;
  return is_region_cancelled(self) || is_taskgroup_cancelled(one);
}

void task_pool::end_of_function(part* self, explicit_task& one, wakes& them) noexcept {
  if (self != nullptr) take_own(*self, them);  // it may be their parent
  one.is_over = true;
  if (one.has_event && !one.is_fulfilled) {
    add_last<&explicit_task::in_pool>(detached_, one);
  } else {
    complete(self, one, them);
  }
}

void task_pool::complete(part* self, explicit_task& one, wakes& them) noexcept {
  task_family& family = *one.siblings;
  task_group* const group = one.group;
  if (one.use_count != 0) {
    family.dependences->remove(one);
    family.dependences->release(one, [&](explicit_task& successor) {
      if (--successor.blockers == 0) make_ready(successor, them);
    });
  }
  if (one.tells_end != nullptr) *one.tells_end = true;
  const bool is_last_child = family.unfinished.load(detail::memory_order_relaxed) == 1;  // 5
  if (is_last_child || one.tells_end != nullptr) notify(family.waiter, them);
  if (group != nullptr && group->unfinished.load(detail::memory_order_relaxed) == 1) {  // 5
    notify(group->waiter, them);
  }
  count(-1, one);  // POOL-7: after it the group may be gone
  if (unfinished_[one.parity].load(detail::memory_order_relaxed) == 0) them.finishers = true;  // 5
  if (is_last_child && family.is_orphaned) drop_family(self, family);
  if (one.family == nullptr) {
    give_back(self, one);
  } else {
    one.family->is_orphaned = true;  // POOL-4
    if (one.family->unfinished.load(detail::memory_order_relaxed) == 0)
      drop_family(self, *one.family);  // 5
  }
}

void task_pool::count(int change, const explicit_task& one) noexcept {
  add_to(one.siblings->unfinished, change);
  if (one.group != nullptr) add_to(one.group->unfinished, change);
  add_to(unfinished_[one.parity], change);
}

void task_pool::fulfil(explicit_task& one) noexcept {
  task_pool& tasks = *one.pool;
  wakes after;
  tasks.lock_.lock();
  one.is_fulfilled = true;
  if (one.is_dropped) {
    one.is_dropped = false;
    if (one.family == nullptr) tasks.give_back(nullptr, one);
  } else if (one.is_over) {
    part* const home = one.home;
    remove<&explicit_task::in_pool>(tasks.detached_, one);
    tasks.complete(nullptr, one, after);
    tasks.wake(home, after);  // under the lock: the pool is not destroyed before it is free
  }
  tasks.lock_.unlock();
}

void task_pool::discard(part& self) noexcept {
  wakes after;
  lock_.lock();
  const auto drop = [&](explicit_task& one) {
    one.is_dropped = one.has_event && !one.is_fulfilled;
    complete(nullptr, one, after);
  };
  for (;;) {
    if (first_ready(after) != nullptr) {
      explicit_task& one = *all_ready_.first;
      take(one);
      drop(one);
    } else if (detached_.first != nullptr) {
      explicit_task& one = *detached_.first;
      remove<&explicit_task::in_pool>(detached_, one);
      drop(one);
    } else {
      break;
    }
  }
  while (kept_ != nullptr) free_kept(kept_);
  lock_.unlock();
  wake(&self, after);
}

// Families.

task_family& task_pool::family_of(task& parent) noexcept {
  if (parent.family == nullptr) {
    if (parent.is_pooled) {
      explicit_task& one = static_cast<explicit_task&>(parent);
      one.children.parent = &one;
      parent.family = &one.children;
    } else {
      parent.family = ::new (allocate_bytes(sizeof(task_family))) task_family;
    }
    parent.family->pool = this;
  }
  return *parent.family;
}

void task_pool::orphan(task_family& of) noexcept {
  lock_.lock();
  of.is_orphaned = true;
  if (of.unfinished.load(detail::memory_order_relaxed) == 0) drop_family(nullptr, of);  // 5
  lock_.unlock();
}

/// The parent and all children have ended.
void task_pool::drop_family(part* self, task_family& of) noexcept {
  if (of.dependences != nullptr) {
    of.dependences->~dependence_table();
    std::free(of.dependences);
  }
  explicit_task* const parent = of.parent;
  if (parent != nullptr) {
    parent->family = nullptr;
    give_back(self, *parent);
  } else {
    of.~task_family();
    std::free(&of);
  }
}

void end_family(task& of) noexcept {
  of.family->pool->orphan(*of.family);
  of.family = nullptr;
}

// Memory.

void* task_pool::allocate(part& self) noexcept {
  task_blocks& mine = blocks_of(self);
  if (mine.first == nullptr) {
    lock_.lock();
    for (; mine.count < blocks_at_once && free_blocks_ != nullptr; ++mine.count) {
      void* const block = free_blocks_;
      free_blocks_ = next_block(block);
      next_block(block) = mine.first;
      mine.first = block;
    }
    lock_.unlock();
    if (mine.first == nullptr) return allocate_bytes(block_size);
  }
  void* const block = mine.first;
  mine.first = next_block(block);
  --mine.count;
  return block;
}

/// Under the lock. `self`: the calling member, or null.
void task_pool::give_back(part* self, explicit_task& one) noexcept {
  if (one.is_dropped) return;  // fulfil() will
  const bool is_small = one.is_small;
  one.~explicit_task();
  void* const block = &one;
  if (!is_small) {
    std::free(block);
  } else if (self != nullptr && self->blocks != nullptr &&
             self->blocks->count < 2 * blocks_at_once) {
    next_block(block) = self->blocks->first;
    self->blocks->first = block;
    ++self->blocks->count;
  } else {
    next_block(block) = free_blocks_;
    free_blocks_ = block;
  }
}

task_blocks& task_pool::blocks_of(part& self) noexcept {
  if (self.blocks != nullptr) return *self.blocks;
  lock_.lock();
  task_blocks* mine = blocks_of_members_;
  while (mine != nullptr && mine->rank != self.rank) mine = mine->next;
  if (mine == nullptr) {
    mine = ::new (allocate_bytes(sizeof(task_blocks))) task_blocks;  // on a line of its own
    mine->rank = self.rank;
    mine->next = blocks_of_members_;
    blocks_of_members_ = mine;
  }
  lock_.unlock();
  self.blocks = mine;
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
  while (blocks_of_members_ != nullptr) {
    task_blocks* const one = blocks_of_members_;
    blocks_of_members_ = one->next;
    free_blocks(one->first);
    std::free(one);
  }
  while (kept_ != nullptr) free_kept(kept_);
}

kept_memory* task_pool::keep(void* start) noexcept {
  kept_memory* const one =
      ::new (allocate_bytes(sizeof(kept_memory))) kept_memory{nullptr, start, 0};
  lock_.lock();
  one->next = kept_;
  kept_ = one;
  lock_.unlock();
  return one;
}

void task_pool::join(kept_memory& of) noexcept {
  lock_.lock();
  ++of.users;
  lock_.unlock();
}

void task_pool::leave(kept_memory& of, bool is_cancelled) noexcept {
  lock_.lock();
  if (--of.users == 0 && !is_cancelled) free_kept(&of);
  lock_.unlock();
}

/// Under the lock.
void task_pool::free_kept(kept_memory* of) noexcept {
  kept_memory** at = &kept_;
  while (*at != of) at = &(*at)->next;
  *at = of->next;
  std::free(of->start);
  std::free(of);
}

}  // namespace lockstep::openmp
