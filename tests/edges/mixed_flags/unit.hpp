// SPDX-License-Identifier: MIT
// tests/edges/mixed_flags/unit.hpp -- a user's type with an object of the library inside, and what units do with it
//
// Each unit is unit.cpp with its own UNIT and its own flags.
#pragma once

#include <lockstep/lockstep.hpp>

struct account {
  lockstep::mutex guard;
  lockstep::shared_mutex readers;
  lockstep::condition_variable changed;
  long balance = 0;
};

struct unit {
  void (*lock)(account&);
  void (*unlock)(account&);
  void (*lock_shared)(account&);
  void (*unlock_shared)(account&);
  void (*wait_until_positive)(account&);
  void (*notify)(account&);
  /// The sum over the members of the unit's own team.
  int (*sum)();
  /// Calls f on every member of a team of the unit's own.
  void (*run)(void (*f)());
};

const unit& plain();          // checked, with exceptions
const unit& release();        // NDEBUG
const unit& no_exceptions();  // -fno-exceptions
