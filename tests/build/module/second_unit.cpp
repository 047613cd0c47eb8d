// SPDX-License-Identifier: MIT
// A unit that includes what the other imports.
#include <lockstep/lockstep.hpp>

#include <cstddef>

void included_unit_notifies(lockstep::event& event);
std::size_t included_unit_size(lockstep::team& team);

void included_unit_notifies(lockstep::event& event) { event.notify(); }

std::size_t included_unit_size(lockstep::team& team) {
  std::size_t members = 0;
  team.run([&](lockstep::member& me) {
    if (me.rank() == 0) members = me.size();
  });
  return members;
}
