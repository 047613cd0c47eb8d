// SPDX-License-Identifier: MIT
// tests/edges/mixed_standards/unit_of_2011.hpp -- what the unit does that is compiled as C++11
#pragma once

#include <lockstep/thread.hpp>

namespace of_2011 {

lockstep::joinable_thread start(void (*f)());
/// Leaves the end to the destructor.
void end(lockstep::joinable_thread thread);
lockstep::wait_status join_for_a_moment(lockstep::joinable_thread& thread);

}  // namespace of_2011
