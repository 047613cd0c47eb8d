// SPDX-License-Identifier: MIT
// modules/lockstep.cppm -- the module lockstep: the public names of the headers, for `import lockstep;`
//
// The names are attached to no module, so a program may include the headers in one unit and import the module in another.
// scripts/check/packages.py keeps the list below equal to tests/build/public_names.txt. Not exported, because a module
// exports no macros: LOCKSTEP_VERSION and its parts, LOCKSTEP_DIAGNOSE_MISUSE, LOCKSTEP_TRACE_SCOPE. Include
// <lockstep/build_info.hpp> or <lockstep/trace.hpp> for these, before the import.
//
// It needs C++20 and Clang 19 or newer. By CMake 3.28 and later: the target lockstep::module, see docs/packages.md.
module;

#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>

export module lockstep;

export namespace lockstep {
// lockstep/barrier.hpp
using lockstep::barrier;

// lockstep/build_info.hpp
using lockstep::build_info;
using lockstep::build_information;
using lockstep::to_string;
using lockstep::usable_cpus;

// lockstep/call_site.hpp
using lockstep::call_site;

// lockstep/condition_variable.hpp
using lockstep::condition_variable;

// lockstep/event.hpp
using lockstep::auto_reset_event;
using lockstep::event;
using lockstep::manual_reset_event;

// lockstep/eventual.hpp
using lockstep::eventual;

// lockstep/external_team.hpp
using lockstep::external_team;

// lockstep/fan.hpp
using lockstep::fan_in;
using lockstep::fan_in_out;
using lockstep::fan_out;

// lockstep/first_touch.hpp
using lockstep::first_touch;
using lockstep::first_touch_array;

// lockstep/future_set.hpp
using lockstep::future_set;
using lockstep::future_values;

// lockstep/graph.hpp
using lockstep::buffer;
using lockstep::graph;
using lockstep::graph_block;
using lockstep::graph_node;

// lockstep/latch.hpp
using lockstep::latch;

// lockstep/ledger.hpp
using lockstep::ledger;

// lockstep/mailbox.hpp
using lockstep::mailbox;

// lockstep/member.hpp
using lockstep::member;

// lockstep/mutex.hpp
using lockstep::mutex;
using lockstep::recursive_mutex;
using lockstep::recursive_timed_mutex;
using lockstep::timed_mutex;

// lockstep/named_object.hpp
using lockstep::name_object;
using lockstep::named_object;

// lockstep/padded.hpp
using lockstep::cache_line_size;
using lockstep::padded;

// lockstep/per_member.hpp
using lockstep::per_member;

// lockstep/plan.hpp
using lockstep::plan;
using lockstep::timed_run;

// lockstep/ranked_barrier.hpp
using lockstep::ranked_barrier;

// lockstep/reduction.hpp
using lockstep::max_with_index;
using lockstep::maximum;
using lockstep::min_with_index;
using lockstep::minimum;
using lockstep::no_index;
using lockstep::plus;
using lockstep::together;
using lockstep::together_of;
using lockstep::value_and_index;
using lockstep::with_index;

// lockstep/region.hpp
using lockstep::inside_region;
using lockstep::region_token;
using lockstep::started_region;
using lockstep::this_region;

// lockstep/region_stopped.hpp
using lockstep::region_stopped;

// lockstep/schedule.hpp
using lockstep::dynamic_schedule;
using lockstep::grain;
using lockstep::guided_schedule;
using lockstep::independent;
using lockstep::independent_iterations;
using lockstep::index_range;
using lockstep::index_range_2;
using lockstep::index_range_3;
using lockstep::nowait;
using lockstep::nowait_t;
using lockstep::only_if;
using lockstep::ordered_turn;
using lockstep::schedule;
using lockstep::schedule_kind;
using lockstep::static_block;
using lockstep::static_schedule;

// lockstep/semaphore.hpp
using lockstep::binary_semaphore;
using lockstep::counting_semaphore;
using lockstep::semaphore;

// lockstep/shared_mutex.hpp
using lockstep::shared_mutex;
using lockstep::shared_timed_mutex;

// lockstep/stop_when.hpp
using lockstep::stop_when;

// lockstep/sub_team.hpp
using lockstep::sub_team;

// lockstep/team.hpp
using lockstep::default_team;
using lockstep::team;

// lockstep/team_options.hpp
using lockstep::binding;
using lockstep::team_options;

// lockstep/thread.hpp
using lockstep::joinable_thread;
using lockstep::swap;

// lockstep/topology.hpp
using lockstep::core_kind;
using lockstep::cpu_place;
using lockstep::topology;

// lockstep/trace.hpp
using lockstep::is_tracing;
using lockstep::name_this_thread;
using lockstep::start_trace;
using lockstep::stop_trace;
using lockstep::trace_counter;
using lockstep::trace_mark;
using lockstep::trace_options;
using lockstep::trace_scope;
using lockstep::trace_summary;
using lockstep::write_trace;

// lockstep/wait_policy.hpp
using lockstep::deadline;
using lockstep::wait_policy;
using lockstep::wait_status;

// lockstep/watchdog.hpp
using lockstep::start_watchdog;
using lockstep::stop_watchdog;
using lockstep::watchdog_options;
using lockstep::who_waits;

// lockstep/weighted_schedule.hpp
using lockstep::weighted_schedule;
}  // namespace lockstep

// What a unit that includes the headers does when it is loaded. A unit that only imports has no such code, and Clang leaves
// it out of the module's object, too. So the module does it, before the importing unit initialises anything.
namespace {
[[maybe_unused]] const bool is_loaded = [] {
  lockstep::detail::find_observers_at_load();
#if LOCKSTEP_HEADER_ONLY
  lockstep::detail::join_forks_at_load();
  lockstep::detail::start_debug_aids_at_load();
#endif
  return true;
}();
}  // namespace
