// SPDX-License-Identifier: MIT
// tests/edges/shared_objects/plugin.hpp -- what a plug-in offers; its symbols but one are hidden
#pragma once

#include <cstdint>

#include <lockstep/lockstep.hpp>

struct plugin {
  void (*lock)(lockstep::mutex&);
  void (*unlock)(lockstep::mutex&);
  void (*acquire)(lockstep::semaphore&);
  void (*release)(lockstep::semaphore&);
  void (*wait)(lockstep::condition_variable&, lockstep::mutex&, bool& done);
  void (*notify)(lockstep::condition_variable&);
  /// What `f` returns, called on every member of a region of the team.
  bool (*run)(lockstep::team&, bool (*f)(void*), void* context);
  /// The caller is in a part that is critical by the name `log_file` while f() runs.
  void (*critical)(lockstep::member&, void (*f)(void*), void* context);
  void (*lock_recursive)(lockstep::recursive_mutex&);
  void (*unlock_recursive)(lockstep::recursive_mutex&);
  std::uint64_t (*thread_number)();
  unsigned (*usable_cpus)();
  const void* (*process)();
  lockstep::team* (*make_team)();
  void (*destroy_team)(lockstep::team*);
  lockstep::team& (*default_team)();
  /// Gives observers texts that lie in this module.
  void (*be_seen)(lockstep::team&);
};

using plugin_of = const plugin* (*)();
