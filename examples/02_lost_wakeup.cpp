// SPDX-License-Identifier: MIT
// 02_lost_wakeup -- a condition variable by itself loses a wake-up that comes before the wait
//
// Do not write this: notify_one() wakes a thread that waits at that moment, and leaves no trace if
// none does. Without the time limit task 2 would wait forever. 03_repaired shows what is missing.
#include <chrono>
#include <condition_variable>
#include <lockstep/lockstep.hpp>
#include <mutex>
#include <thread>

#include "numbered.hpp"

int main(int argc, char** argv) {
  numbered::arguments(argc, argv).end();

  std::mutex lock;
  std::condition_variable wake_up;
  lockstep::event order;  // makes sure that task 1 comes first, as it may at any time

  std::thread task1([&] {
    numbered::print_line("task 1 notifies");
    wake_up.notify_one();
    order.notify();
  });
  std::thread task2([&] {
    order.wait();
    numbered::print_line("task 2 waits");
    std::unique_lock<std::mutex> held(lock);
    // The wait may also end for no reason: the second fault. No notification will come, so wait on.
    while (wake_up.wait_for(held, std::chrono::milliseconds(50)) == std::cv_status::no_timeout) {
    }
    numbered::print_line("task 2 gives up after 50 ms: the wake-up was lost");
  });
  task1.join();
  task2.join();
}
