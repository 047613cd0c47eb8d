// SPDX-License-Identifier: MIT
// Regions, and teams.
#include "parallel.hpp"

#include <cstdint>

#include "affinity.hpp"
#include "display.hpp"
#include "loops.hpp"
#include "neighbours.hpp"
#include "ompt.hpp"
#include "pool.hpp"
#include "root.hpp"
#include "task_groups.hpp"
#include "task_memory.hpp"

namespace lockstep::openmp {
namespace {

constexpr int no_limit = 2147483647;

/// OMP_NUM_THREADS and OMP_PROC_BIND may have a value for each level.
void set_level(task_variables& of, unsigned level) noexcept {
  const process_variables& settings = process_settings();
  if (level < settings.threads_of_level.size() && !of.has_own_levels)
    of.threads = settings.threads_of_level[level];
  if (level < settings.bind_of_level.size()) of.bind = settings.bind_of_level[level];
}

/// Sets what most processes do not use: see is_process_plain().
void set_specials(region_frame& frame, const part& self, unsigned size,
                  const region_request& request) noexcept {
  const unsigned level = self.level + 1;
  if (affinity::is_on()) {
    const proc_bind own = self.variables().bind;
    frame.bind = own != proc_bind::no && request.bind != proc_bind::no ? request.bind : own;
    frame.is_bound = frame.bind != proc_bind::no;
    frame.own.bind = frame.bind;  // regions inside inherit it, unless OMP_PROC_BIND has a list
  }
  frame.is_displayed = process_settings().displays_affinity &&
                       display::is_new_region({level, size, frame.bind, self.places});
  frame.is_special = frame.is_bound || frame.is_displayed || has_tool();
  if (process_settings().has_levels()) set_level(frame.own, level);
}

/// POOL-5.
[[gnu::noinline]] void set_frame(pool& of, part& self, unsigned size,
                                 const region_request& request) noexcept {
  region_frame now;
  now.outer = &self;
  now.variables = &self.variables();
  now.group = request.group;
  now.own = self.variables();
  if (request.threads_inside != 0) {
    now.own.threads = request.threads_inside;
    now.own.has_own_levels = true;
  }
  if (!of.is_plain) {
    affinity::place_initial_thread(self);
    set_specials(now, self, size, request);
  }
  if (now.own != self.variables()) now.variables = &of.frame.own;
  if (now != of.frame) of.frame = now;
}

[[gnu::noinline, gnu::cold]] void set_specials(lone_part& of) noexcept {
  affinity::place_initial_thread(*of.outer);
  of.places = of.outer->places;
  of.tool = of.outer->tool;  // until it has a task of its own
  if (process_settings().has_levels()) set_level(of.implicit.own_variables(), of.level);
  if (process_settings().displays_affinity &&
      display::is_new_region({of.level, 1, proc_bind::no, of.places}))
    display::show_affinity(nullptr, of);
}

[[gnu::always_inline]] inline unsigned resolve(part& self, unsigned asked,
                                               unsigned sections) noexcept {
  const task_variables& own = self.variables();
  if (asked == 1 || self.active_level >= static_cast<unsigned>(own.max_active_levels)) return 1;
  unsigned size = asked != 0 ? asked : static_cast<unsigned>(own.threads);
  if (__builtin_expect(own.is_dynamic, 0)) {
    const unsigned most = static_cast<unsigned>(affinity::available_cpus());
    if (size > most) size = most;
    if (sections != 0 && size > sections) size = sections;
  }
  if (__builtin_expect(own.thread_limit != no_limit, 0) && size > 1)
    size = root_of(self).take_threads(size, static_cast<unsigned>(own.thread_limit));
  return size < detail::max_participants ? size : static_cast<unsigned>(detail::max_participants);
}

/// The place of a region, for observers.
[[gnu::noinline, gnu::cold]] call_site site_of(outlined_function of) noexcept {
  return call_site(name_of_function(reinterpret_cast<const void*>(of)), 0);
}

}  // namespace

unsigned resolve_threads(part& self, unsigned asked, unsigned sections) noexcept {
  return resolve(self, asked, sections);
}

lone_part::lone_part(part& encountering, outlined_function called,
                     const region_request& request) noexcept
    : part(&encountering) {
  function = called;
  implicit.variables = encountering.running->variables;
  implicit.group = request.group;
  if (__builtin_expect(request.threads_inside != 0, 0)) {
    implicit.own_variables().threads = request.threads_inside;
    implicit.own_variables().has_own_levels = true;
  }
  if (__builtin_expect(request.bind != proc_bind::no && variables().bind != proc_bind::no, 0))
    implicit.own_variables().bind = request.bind;
  this_record.current = this;
  if (__builtin_expect(process_settings().has_special_regions, 0)) set_specials(*this);
  if (request.loop != nullptr) loop.begin(*request.loop, nullptr, 0, 1);
}

lone_part::~lone_part() {
  if (tasks != nullptr && !is_cancelled) shared->tasks.run_own(*this);
  if (implicit.family != nullptr) end_family(*this, implicit);
  if (__builtin_expect(shared != nullptr, 0)) {
    task_pool& pool = shared->tasks;
    if (is_cancelled) {
      pool.discard(*this);
    } else if (pool.has_unfinished(barriers & 1u)) {
      pool.finish(*this, barriers & 1u);
    }
    delete shared;
  }
  this_record.current = outer;
}

namespace {

/// For member_call::more.
const void* more_of(const region_request& request) noexcept {
  return request.body != nullptr ? request.more : static_cast<const void*>(request.loop);
}

[[gnu::always_inline]] inline void run_with_pool(thread_record& record, part& self,
                                                 outlined_function function, void* data,
                                                 unsigned size,
                                                 const region_request& request) noexcept {
  pool& of = pool::idle_one(record);
  of.prepare(size);
  const task_variables& own = self.variables();
  const region_frame& before = of.frame;
  if (__builtin_expect(before.outer != &self || before.variables != &own ||
                           before.group != request.group || request.threads_inside != 0 ||
                           !of.is_plain,
                       0)) {
    set_frame(of, self, size, request);
  }
  const bool ends_with_barrier = task_memory::may_make(function);
  // Not made by a function: the compiler would copy it by pairs of words that have just been stored one by one.
  const member_call what = {
      function, data, more_of(request), request.body,
      reinterpret_cast<std::uintptr_t>(&of) | std::uintptr_t{ends_with_barrier}};
  const call_site where =
      __builtin_expect(detail::observers() != 0, 0) ? site_of(function) : call_site::none();
  const bool goes_on = of.run(size, what, where);
  if (ends_with_barrier) task_memory::learn(function, of.shared.tasks.take_had_some());
  if (__builtin_expect(!of.is_plain && self.outer == nullptr, 0) && affinity::resets())
    affinity::bind_this_thread(-1);
  if (__builtin_expect(!goes_on, 0)) {
    of.shared.tasks.discard(self);
    of.shared.reset();
  }
  if (__builtin_expect(own.thread_limit != no_limit, 0)) root_of(self).give_threads_back(size);
}

/// With a tool. It has a stack frame of its own, as run_told_part() of pool.cpp.
[[gnu::noinline]] void run_told_alone(part& self, outlined_function function, void* data,
                                      const region_request& request,
                                      ompt::region_info& region) noexcept {
  lone_part alone(self, function, request);
  ompt::begin_part(alone, region, region.primary);
  if (request.loop != nullptr) tell_loop(alone, *request.loop);
  region.primary.at.exit.pointer = __builtin_frame_address(0);
  member_call{function, data, more_of(request), request.body, 0}.call(alone);
  ompt::arrive_at_end(alone);
}

[[gnu::noinline, gnu::cold]] void run_told_region(thread_record& record, part& self,
                                                  outlined_function function, void* data,
                                                  unsigned size,
                                                  const region_request& request) noexcept {
  const unsigned asked =
      request.asked != 0 ? request.asked : static_cast<unsigned>(self.variables().threads);
  ompt::region_scope region(self, asked, size, ompt::parallel_team | ompt::invoker_runtime);
  if (size == 1) return run_told_alone(self, function, data, request, region.info);
  pool::idle_one(record).told = &region.info;
  run_with_pool(record, self, function, data, size, request);
}

// Flat: the part is made and ended inside this function.
[[gnu::flatten, gnu::noinline]] void run_alone(part& self, outlined_function function, void* data,
                                               const region_request& request) noexcept {
  lone_part alone(self, function, request);
  if (request.body == nullptr) return function(data);
  member_call{function, data, more_of(request), request.body, 0}.call(alone);
}

}  // namespace

void run_region_with_pool_of(thread_record& record, part& self, outlined_function function,
                             void* data, unsigned size, const region_request& request) noexcept {
  if (has_tool()) return run_told_region(record, self, function, data, size, request);
  run_with_pool(record, self, function, data, size, request);
}

void run_region(part& self, outlined_function function, void* data, unsigned size,
                const region_request& request) noexcept {
  if (size == 1 && !has_tool()) return run_alone(self, function, data, request);
  run_region_with_pool_of(this_record, self, function, data, size, request);
}

void run_region(part& self, outlined_function function, void* data,
                const region_request& request) noexcept {
  run_region(self, function, data, resolve(self, request.asked, 0), request);
}

// --- teams ---

namespace {

/// A league is to the regions of its teams what a part is to a region.
class league {
 public:
  league(part& of, unsigned teams, int thread_limit) noexcept
      : part_(of),
        team_num_(of.team_num),
        num_teams_(of.num_teams),
        is_in_teams_(of.is_in_teams),
        variables_(of.running->variables),
        own_(*of.running->variables) {
    affinity::place_initial_thread(of);
    places_ = of.places;
    of.num_teams = teams;
    of.is_in_teams = true;
    if (thread_limit > 0) of.running->own_variables().thread_limit = thread_limit;
  }
  ~league() {
    place(places_);
    part_.team_num = team_num_;
    part_.num_teams = num_teams_;
    part_.is_in_teams = is_in_teams_;
    part_.running->own = own_;
    part_.running->variables = variables_;
  }
  league(const league&) = delete;
  league& operator=(const league&) = delete;

  void begin(unsigned team) noexcept {
    part_.team_num = team;
    // As LLVM's runtime does. With GCC's, each team has all places.
    if (process_settings().is_of_llvm) {
      place(affinity::places_of_member(places_, team, part_.num_teams,
                                       process_settings().bind_of_teams));
    }
  }

 private:
  void place(const thread_places& where) noexcept {
    if (part_.places == where) return;
    part_.places = where;
    affinity::bind_this_thread(where.place);
  }

  part& part_;
  const unsigned team_num_, num_teams_;
  const bool is_in_teams_;
  const task_variables* const variables_;
  const task_variables own_;
  thread_places places_;
};

[[gnu::noinline, gnu::cold]] void run_told_teams(part& self, outlined_function function, void* data,
                                                 league& around, unsigned teams) noexcept {
  ompt::region_scope told(self, teams, teams, ompt::parallel_league | ompt::invoker_runtime);
  for (unsigned each = 0; each < teams; ++each) {
    around.begin(each);
    const ompt::team_scope team(self, told.info, each);
    self.tool->at.exit.pointer = __builtin_frame_address(0);
    function(data);
  }
}

}  // namespace

void run_teams(part& self, outlined_function function, void* data, unsigned teams,
               int thread_limit) noexcept {
  const process_variables& all = process_settings();
  if (teams == 0) teams = all.num_teams > 0 ? static_cast<unsigned>(all.num_teams) : 1;
  if (thread_limit == 0) thread_limit = all.teams_thread_limit;
  league around(self, teams, thread_limit);
  if (has_tool()) return run_told_teams(self, function, data, around, teams);
  for (unsigned each = 0; each < teams; ++each) {
    around.begin(each);
    function(data);
  }
}

}  // namespace lockstep::openmp
