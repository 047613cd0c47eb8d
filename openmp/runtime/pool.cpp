// SPDX-License-Identifier: MIT
#include "pool.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "platform/fork.hpp"
#include "platform/process.hpp"
#include "team/placement.hpp"

#include "affinity.hpp"
#include "display.hpp"
#include "loops.hpp"
#include "message.hpp"
#include "neighbours.hpp"
#include "ompt.hpp"
#include "root.hpp"
#include "synchronization.hpp"

namespace lockstep::openmp {
namespace {

detail::resolved_team team_for(unsigned size) {
  const process_variables& settings = process_settings();
  team_options options;
  options.members(size).name("OpenMP").bind(binding::none());
  if (settings.has_waiting) options.policy(settings.waiting);
  if (affinity::is_on()) options.cpu_separation(false);
  const detail::resolved_team made = detail::resolve(options);
  detail::display_first_team(made);
  return made;
}

/// The teams of the process that exist when it ends, for their ledgers. fork() holds the lock, so the list is whole in
/// a child.
detail::fork_section teams_lock;

/// glibc gives freed blocks of 128 KiB and more back to the system, so a program that takes several in each step faults in
/// all their pages anew. Freeing a larger block raises its limits, unless the user has set them: to the size of this one
/// for a block, and to twice that for all at the end of the heap (mallopt(3)). This block is freed untouched. It is the
/// largest that counts; glibc adds its header, and rounds up to pages.
[[gnu::cold]] void keep_freed_memory() noexcept {
  constexpr std::size_t largest = std::size_t{32} << 20, room = 8192;
  void* volatile block = std::malloc(largest - room);
  std::free(block);
}

[[gnu::noinline, gnu::cold]] void finish_tasks(part& self) noexcept {
  self.shared->tasks.finish(self, self.barriers & 1u);
}

/// The end of a member's part. Afterwards it has no tasks and holds no slot.
[[gnu::always_inline]] inline void end_part(part& self) noexcept {
  self.loop.leave_all();
  if (self.ends_with_barrier) {
    static_cast<void>(pass_barrier_untold(self, of_region));
  } else {
    task_pool& tasks = self.shared->tasks;
    if (__builtin_expect(self.tasks != nullptr, 0)) tasks.run_own(self);
    if (__builtin_expect(tasks.has_unfinished(self.barriers & 1u), 0) && !self.at->is_stopped()) {
      finish_tasks(self);
    }
  }
  if (__builtin_expect(self.implicit.family != nullptr, 0)) end_family(self, self.implicit);
}

[[gnu::noinline, gnu::cold]] void place_part(part& self, const region_frame& frame) noexcept {
  if (frame.is_bound) {
    self.places = affinity::places_of_member(frame.outer->places, self.rank, self.size, frame.bind);
    affinity::bind_this_thread(self.places.place);
  }
  if (frame.is_displayed) display::show_affinity(nullptr, self);
}

[[gnu::always_inline]] inline void run_part(part& self, const member_call& call) noexcept {
  if (const loop_spec* const loop = call.loop())
    self.loop.begin(*loop, self.at, self.rank, self.size);
  call.call(self);
  end_part(self);
}

/// With a tool. It has a stack frame of its own: the code of the region begins above it.
[[gnu::noinline, gnu::cold]] void run_told_part(part& self, const member_call& call) noexcept {
  ompt::region_info& region = *call.of().told;
  ompt::task_info own;
  ompt::begin_part(self, region, self.rank == 0 ? region.primary : own);
  if (const loop_spec* const loop = call.loop()) {
    self.loop.begin(*loop, self.at, self.rank, self.size);
    tell_loop(self, *loop);
  }
  self.tool->at.exit.pointer = __builtin_frame_address(0);
  call.call(self);
  ompt::arrive_at_end(self);
  end_part(self);
  if (self.rank != 0) ompt::end_part(self);
}

}  // namespace

void member_call::operator()(member& me) const noexcept {
  detail::member_state& at = detail::member_access::state_of(me);
  pool& its_pool = of();
  const region_frame& frame = its_pool.frame;
  part self(frame.outer);
  ++self.active_level;
  self.rank = static_cast<unsigned>(at.rank());
  self.size = static_cast<unsigned>(at.size());
  self.at = &at;
  self.shared = &its_pool.shared;
  self.function = function;
  self.implicit.variables = frame.variables;
  self.implicit.group = frame.group;
  self.ends_with_barrier = ends_with_barrier();
  thread_record& record = this_record;
  part* const before = record.current;
  record.current = &self;
  if (__builtin_expect(frame.is_special, 0)) place_part(self, frame);
  if (has_tool()) {
    run_told_part(self, *this);
  } else {
    run_part(self, *this);
  }
  record.current = before;
}

bool is_process_plain() noexcept {
  const process_variables& settings = process_settings();
  return !affinity::is_on() && !settings.has_special_regions;
}

void pool::end_all(thread_record& of) noexcept {
  while (of.pools != nullptr) {
    pool* const one = of.pools;
    of.pools = one->next;
    delete one;
  }
}

void pool::renew_teams(thread_record& of) noexcept {
  for (pool* each = of.pools; each != nullptr; each = each->next) {
    each->is_outdated_ = true;
    each->fitting_size_ = 0;
  }
}

int pool::count_threads(const thread_record& of) noexcept {
  unsigned count = 1;
  for (const pool* each = of.pools; each != nullptr; each = each->next) count += each->started_;
  return static_cast<int>(count);
}

pool& pool::next_idle_one(thread_record& of) noexcept {
  pool** at = &of.pools;
  while (*at != nullptr && (*at)->is_used_) at = &(*at)->next;
  if (*at != nullptr) return **at;
  pool* const made = new (std::nothrow) pool;
  if (made == nullptr) fail("Out of memory");
  static pthread_once_t is_begun = PTHREAD_ONCE_INIT;
  pthread_once(&is_begun, [] {
    tell_of_neighbours();
    keep_freed_memory();
  });
  *at = made;
  end_with_thread();
  return *made;
}

pool::served_team* pool::first_team = nullptr;
bool pool::is_printed_at_exit = false;

void pool::list(served_team& one) noexcept {
  detail::watch_forks<detail::held_around_fork<teams_lock>>();
  const std::lock_guard lock(teams_lock);
  if (first_team == nullptr && !is_printed_at_exit)
    is_printed_at_exit = std::atexit(print_ledgers) == 0;
  one.next = first_team;
  first_team = &one;
}

void pool::unlist(served_team& one) noexcept {
  const std::lock_guard lock(teams_lock);
  served_team** at = &first_team;
  while (*at != &one) at = &(*at)->next;
  *at = one.next;
}

void pool::print_ledgers() noexcept {
  const std::lock_guard lock(teams_lock);
  for (const served_team* at = first_team; at != nullptr; at = at->next)
    at->host.core().print_ledger();
}

pool::served_team::served_team(pool& its_pool, const detail::resolved_team& made, unsigned its_size)
    : host(team_options(), made, detail::thread_owner::others),
      of(its_pool),
      size(its_size),
      listener(this, in_child) {}

void pool::fit(unsigned size) noexcept {
  if (is_orphaned_) {
    team_ = nullptr;
    has_shrunk_ = false;
    last_ = nullptr;
    started_ = 0;
    serving_ = 0;
    teams_ = 0;
    offered_ = nullptr;
    is_orphaned_ = false;
    ::new (static_cast<void*>(&lock_)) std::mutex;
    pthread_cond_init(&news_, nullptr);
    pthread_cond_init(&leaving_, nullptr);
    // In a child of fork(), tasks and records of the region are as other threads have left them, so they are destroyed.
    shared.~shared_region();
    ::new (static_cast<void*>(&shared)) shared_region();
  }
  if (is_outdated_) {
    is_outdated_ = false;
    if (team_ != nullptr) return make_team(size);
  }
  if (team_ != nullptr && size == team_->size) {
    fitting_size_ = size;
    smaller_regions_ = 0;
    return;
  }
  if (team_ != nullptr && size < team_->size) {
    if (smaller_regions_ == 0 || size > smaller_size_) smaller_size_ = size;
    fitting_size_ = 0;  // so the next region is looked at, too
    if (++smaller_regions_ < shrink_after_) return;
    make_team(smaller_size_);
    has_shrunk_ = true;
    return;
  }
  if (has_shrunk_) {
    const bool has_paid = team_->host.core().begun() >= worthwhile;
    if (has_paid && shrink_after_ > 1) shrink_after_ /= 2;
    if (!has_paid && shrink_after_ < most_shrink_after) shrink_after_ *= 2;
  }
  make_team(size);
  has_shrunk_ = false;
}

void pool::make_team(unsigned size) noexcept {
  release_team();
  team_ = new (std::nothrow) served_team(*this, team_for(size), size);
  if (team_ == nullptr) fail("Out of memory");
  if (detail::environment::of_process().ledger.value) list(*team_);
  shared.reset();
  fitting_size_ = size;
  smaller_regions_ = 0;
  {
    const std::lock_guard lock(lock_);
    offered_ = team_;
    serving_ = size - 1;
    ++teams_;
    if (started_ != 0) pthread_cond_broadcast(&news_);
  }
  // Starts the threads now: a new thread finds the team, and need not sleep before its first region.
  if (started_ + 1 < size) start_threads(size);
}

void pool::release_team() noexcept {
  if (team_ == nullptr) return;
  team_->host.core().close();
  {
    const std::lock_guard lock(lock_);
    while (serving_ != 0) pthread_cond_wait(&leaving_, lock_.native_handle());
    offered_ = nullptr;
  }
  if (detail::environment::of_process().ledger.value) unlist(*team_);
  delete team_;
  team_ = nullptr;
}

void pool::start_threads(unsigned size) noexcept {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  const std::size_t stack_size = process_settings().stack_size;
  if (stack_size != 0 && pthread_attr_setstacksize(&attributes, stack_size) != 0) {
    say("Stack size change failed: %s", std::strerror(EINVAL));
  }
  while (started_ + 1 < size) {
    worker* const added = new (std::nothrow) worker{*this, started_ + 1, last_, pthread_t()};
    if (added == nullptr) fail("Out of memory");
    const int error = pthread_create(
        &added->thread, &attributes, [](void* self) -> void* { return run_worker(self); }, added);
    if (error != 0) {
      fail(
          "Thread creation failed: %s: thread %u of %u of a region. Ask for fewer threads "
          "(OMP_NUM_THREADS), or smaller "
          "stacks (OMP_STACKSIZE), or let the process have more (ulimit -u, ulimit -v, pids.max)",
          std::strerror(error), started_ + 1, size);
    }
    last_ = added;
    ++started_;
  }
  pthread_attr_destroy(&attributes);
}

pool::~pool() {
  if (is_orphaned_) return;
  release_team();
  {
    const std::lock_guard lock(lock_);
    is_over_ = true;
    pthread_cond_broadcast(&news_);
  }
  while (last_ != nullptr) {
    worker* const one = last_;
    last_ = one->before;
    pthread_join(one->thread, nullptr);
    delete one;
  }
}

void pool::in_child(void* team) noexcept {
  served_team& of_child = *static_cast<served_team*>(team);
  of_child.of.is_orphaned_ = true;
  of_child.of.fitting_size_ = 0;
}

void* pool::run_worker(void* self) noexcept {
  const worker& own = *static_cast<const worker*>(self);
  char name[32];
  std::snprintf(name, sizeof name, "OpenMP %u", own.rank);
  detail::name_this_thread(name);
  if (has_tool()) ompt::begin_worker();
  own.of.serve(own.rank);
  if (has_tool()) ompt::end_worker();
  return nullptr;
}

void pool::serve(unsigned rank) noexcept {
  std::uint64_t seen = 0;
  while (true) {
    served_team* team = nullptr;
    {
      const std::lock_guard lock(lock_);
      while (seen == teams_ && !is_over_) pthread_cond_wait(&news_, lock_.native_handle());
      if (is_over_) return;
      seen = teams_;
      team = offered_;
      if (team == nullptr || rank >= team->size) continue;
    }
    team->host.core().work(rank);
    const std::lock_guard lock(lock_);
    if (--serving_ == 0) pthread_cond_signal(&leaving_);
  }
}

}  // namespace lockstep::openmp
