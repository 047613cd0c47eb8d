// SPDX-License-Identifier: MIT
// A user's C++11 program: a team fills an array, and a notification goes there and back.
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <thread>
#include <vector>

#include "lockstep_header.hpp"

void wait_and_pass_on(lockstep::event& first, lockstep::event& second);

#if defined(CONSUMER_LOCKS_ONLY)
static bool team_fills_array() { return true; }
#else
static bool team_fills_array() {
  std::vector<std::size_t> values(1000);
  lockstep::team team(3);
  team.for_each(0, values.size(), [&](std::size_t i) { values[i] = i; });
  return std::accumulate(values.begin(), values.end(), std::size_t{0}) == 499500;
}
#endif

static bool notification_comes_back() {
  lockstep::event there, back;
  std::thread other([&] { wait_and_pass_on(there, back); });
  there.notify();
  const bool returned = back.wait();
  other.join();
  return returned;
}

int main() {
  const bool good = team_fills_array() && notification_comes_back();
  std::puts(good ? "ok" : "wrong result");
  return good ? 0 : 1;
}
