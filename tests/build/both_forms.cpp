// SPDX-License-Identifier: MIT
// The single header and the many in one unit, as when a library brings one and a program the other. The formatter must
// not sort the includes: hence the blank lines.
#ifdef CONSUMER_SINGLE_FIRST
#include <lockstep.hpp>

#include <lockstep/event.hpp>
#else
#include <lockstep/event.hpp>
#include <lockstep/schedule.hpp>

#include <lockstep.hpp>
#endif

#include <thread_synchronizer.h>
#include <lockstep/lockstep.hpp>

#include <cstdio>

int main() {
  lockstep::team team(2);
  lockstep::event event;
  WaitNotifyEachOther alone(1);
  alone.syncThreads(0);
  team.run([&](lockstep::member& me) {
    if (me.rank() == 0) event.notify();
    if (me.rank() == 1) event.wait();
  });
  std::puts("ok");
}
