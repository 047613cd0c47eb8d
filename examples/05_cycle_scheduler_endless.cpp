// SPDX-License-Identifier: MIT
// 05_cycle_scheduler_endless [cycles] -- five tasks in turn, until Ctrl-C or for a number of cycles
//
// A ring of events: each task waits for its own event and notifies that of the next task. No task
// knows when the ring ends. terminate() ends all waits, which then return false.
#include <atomic>
#include <csignal>
#include <lockstep/lockstep.hpp>
#include <string>
#include <thread>
#include <vector>

#include "numbered.hpp"

namespace {

constexpr std::size_t tasks = 5;

std::atomic<bool> stop_requested(false);

// A signal handler may store to a lock-free atomic. NOLINTNEXTLINE(bugprone-signal-handler)
extern "C" void request_stop(int) { stop_requested.store(true); }

}  // namespace

int main(int argc, char** argv) {
  numbered::arguments given(argc, argv);
  const unsigned long endless = 0;
  const unsigned long limit = given.number("cycles", 1, 100000000, endless);
  given.end();
  std::signal(SIGINT, request_stop);

  std::vector<lockstep::event> turn(tasks);
  unsigned long cycles = 0;

  const auto is_over = [&] {
    ++cycles;
    return cycles == limit || stop_requested.load();
  };
  const auto play = [&](std::size_t task) {
    while (turn[task].wait()) {
      numbered::print_line("task " + std::to_string(task + 1));
      if (task + 1 == tasks && is_over()) {
        for (lockstep::event& each : turn) each.terminate();
      } else {
        turn[(task + 1) % tasks].notify();
      }
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(tasks);
  for (std::size_t task = 0; task < tasks; ++task) threads.emplace_back(play, task);
  turn[0].notify();
  for (std::thread& each : threads) each.join();

  numbered::print_line("ended after " + std::to_string(cycles) + " cycles");
}
