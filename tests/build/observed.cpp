// SPDX-License-Identifier: MIT
// tests/build/observed.cpp -- timeline, ledger and watchdog of a small program, for other systems
//
// usage: observed TRACE.json; prints the table of the ledger, and the watchdog reports a thread that is stuck.
#include <lockstep/lockstep.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

namespace {

bool trace(lockstep::team& team, const char* path) {
  if (!lockstep::start_trace()) return false;
  for (int i = 0; i < 5; ++i) {
    LOCKSTEP_TRACE_SCOPE("step");
    team.run([](lockstep::member& me) {
      me.sync_threads();
      static_cast<void>(me.sync_sum(1.0));
    });
  }
  return lockstep::stop_trace(path);
}

void be_stuck() {
  lockstep::start_watchdog(lockstep::watchdog_options().after(std::chrono::milliseconds(50)));
  lockstep::event never;
  std::thread stuck([&] { never.wait(); });
  // The watchdog reports on demand, and once more by itself, when the thread has waited for long enough.
  std::string report;
  while (report.find("lockstep::event") == std::string::npos) report = lockstep::who_waits();
  std::fputs(report.c_str(), stdout);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  never.notify();
  stuck.join();
  lockstep::stop_watchdog();
}

}  // namespace

int main(int, char** argv) {
  lockstep::team team(lockstep::team_options().members(2).ledger(true));
  if (!trace(team, argv[1])) return 1;
  std::fputs(team.ledger().table().c_str(), stdout);
  be_stuck();
  std::puts("ended");
  return 0;
}
