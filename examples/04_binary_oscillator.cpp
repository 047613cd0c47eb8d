// SPDX-License-Identifier: MIT
// 04_binary_oscillator [rounds] -- two tasks that alternate by means of two events
//
// Each task waits for its own event and notifies the other's. An event keeps a notification
// until a wait takes it, so it does not matter which thread is ready first.
#include <lockstep/lockstep.hpp>
#include <string>
#include <thread>

#include "numbered.hpp"

int main(int argc, char** argv) {
  numbered::arguments given(argc, argv);
  const unsigned long rounds = given.number("rounds", 1, 100000, 10);
  given.end();

  lockstep::event turn1;
  lockstep::event turn2;

  const auto play = [rounds](lockstep::event& mine, lockstep::event& other,
                             const std::string& name) {
    for (unsigned long i = 0; i < rounds; ++i) {
      mine.wait();
      numbered::print_line(name);
      other.notify();
    }
  };
  std::thread task1([&] { play(turn1, turn2, "task 1"); });
  std::thread task2([&] { play(turn2, turn1, "task 2"); });
  turn1.notify();
  task1.join();
  task2.join();
}
