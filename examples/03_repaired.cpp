// SPDX-License-Identifier: MIT
// 03_repaired [rounds] -- the flag that a condition variable needs, and two tasks that alternate
//
// The flag remembers a notification that comes before the wait, and distinguishes it from a wake-up
// for no reason. lockstep::event does the same without a lock: see 04_binary_oscillator.
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "numbered.hpp"

namespace {

class signal {
 public:
  void notify() {
    {
      const std::lock_guard<std::mutex> held(lock_);
      notified_ = true;
    }
    wake_up_.notify_one();
  }
  void wait() {
    std::unique_lock<std::mutex> held(lock_);
    wake_up_.wait(held, [this] { return notified_; });
    notified_ = false;
  }

 private:
  std::mutex lock_;
  std::condition_variable wake_up_;
  bool notified_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  numbered::arguments given(argc, argv);
  const unsigned long rounds = given.number("rounds", 1, 100000, 10);
  given.end();

  signal turn1;
  signal turn2;
  turn1.notify();  // before anybody waits: the wake-up that 02_lost_wakeup loses

  const auto play = [rounds](signal& mine, signal& other, const std::string& name) {
    for (unsigned long i = 0; i < rounds; ++i) {
      mine.wait();
      numbered::print_line(name);
      other.notify();
    }
  };
  std::thread task1([&] { play(turn1, turn2, "task 1"); });
  std::thread task2([&] { play(turn2, turn1, "task 2"); });
  task1.join();
  task2.join();
}
