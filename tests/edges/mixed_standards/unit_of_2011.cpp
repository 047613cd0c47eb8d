// SPDX-License-Identifier: MIT
#include "unit_of_2011.hpp"

#include <chrono>

namespace of_2011 {

lockstep::joinable_thread start(void (*f)()) { return lockstep::joinable_thread(f); }

void end(lockstep::joinable_thread) {}

lockstep::wait_status join_for_a_moment(lockstep::joinable_thread& thread) {
  return thread.join_for(std::chrono::microseconds(10));
}

}  // namespace of_2011
