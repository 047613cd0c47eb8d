// SPDX-License-Identifier: MIT
// The second unit that includes the library: whatever is not inline is defined twice by now.
#include "lockstep_header.hpp"

void wait_and_pass_on(lockstep::event& first, lockstep::event& second) {
  first.wait();
  second.notify();
}
