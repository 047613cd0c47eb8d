// SPDX-License-Identifier: MIT
// tests/edges/mixed_flags/unit.cpp -- one unit of a program whose units are compiled with different flags
#include "unit.hpp"

#include <mutex>

const unit& UNIT() {
  static const unit all = {
      [](account& of) { of.guard.lock(); },
      [](account& of) { of.guard.unlock(); },
      [](account& of) { of.readers.lock_shared(); },
      [](account& of) { of.readers.unlock_shared(); },
      [](account& of) {
        std::unique_lock<lockstep::mutex> lock(of.guard);
        while (of.balance <= 0) of.changed.wait(lock);
      },
      [](account& of) { of.changed.notify_all(); },
      [] {
        lockstep::team team(2);
        int result = 0;
        team.run([&](lockstep::member& self) {
          const int sum = self.sync_sum(1);
          if (self.rank() == 0) result = sum;
        });
        return result;
      },
      [](void (*f)()) {
        lockstep::team team(2);
        team.run([&](lockstep::member&) { f(); });
      },
  };
  return all;
}
