// SPDX-License-Identifier: MIT
// 01_lock_only [rounds] -- a lock keeps two tasks apart, but does not make them take turns
//
// Each task runs `rounds` times with the lock held. Nothing says whose turn it is. Here task 2 comes
// late, and task 1 does not wait for it. Compare 04_binary_oscillator.
#include <lockstep/lockstep.hpp>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "numbered.hpp"

int main(int argc, char** argv) {
  numbered::arguments given(argc, argv);
  const unsigned long rounds = given.number("rounds", 4, 100000, 20);
  given.end();

  std::mutex lock;
  std::vector<int> order;  // which task ran, in order
  lockstep::event late;    // lets task 2 start

  const auto run_once = [&](int task) {
    const std::lock_guard<std::mutex> held(lock);
    order.push_back(task);
    numbered::print_line("task " + std::to_string(task));
  };
  std::thread task1([&] {
    for (unsigned long i = 1; i <= rounds; ++i) {
      run_once(1);
      if (i == rounds / 2) late.notify();
    }
  });
  std::thread task2([&] {
    late.wait();
    for (unsigned long i = 1; i <= rounds; ++i) run_once(2);
  });
  task1.join();
  task2.join();

  unsigned long in_a_row = 0;
  for (std::size_t i = 1; i < order.size(); ++i) in_a_row += order[i] == order[i - 1];
  numbered::print_line("the same task ran twice in a row " + std::to_string(in_a_row) +
                       " times of " + std::to_string(order.size() - 1));
}
