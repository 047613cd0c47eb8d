// SPDX-License-Identifier: MIT
// A program in the style of the original's samples, for its command: two groups of threads, one after the other.
#include <iostream>
#include <thread>
#include <vector>

#include "thread_synchronizer.h"

using namespace std;

int main() {
  const int num_threads = 3, num_cycles = 4;
  WaitNotifyMultipleWaiters start(num_threads);
  WaitNotifyMultipleNotifiers finish(num_threads);
  WaitNotifyEachOther mid(num_threads);
  WaitNotifyNxN across(num_threads);
  WaitNotifySingle done;
  vector<int> first(static_cast<size_t>(num_threads)), second(static_cast<size_t>(num_threads));
  vector<thread> threads;
  for (int id = 0; id < num_threads; id++) {
    const size_t at = static_cast<size_t>(id);
    threads.emplace_back([&, id, at] {
      while (true) {
        start.wait(id);
        if (start.isTerminating()) return;
        first[at]++;
        mid.syncThreads(id);
        across.notify();
        finish.notify();
      }
    });
    threads.emplace_back([&, id, at] {
      while (true) {
        across.wait(id);
        if (across.isTerminating()) return;
        second[at] += first[(at + 1) % first.size()];
      }
    });
  }
  thread other([&] { done.wait(); });
  for (int cycle = 0; cycle < num_cycles; cycle++) {
    start.notify();
    finish.wait();
  }
  done.notify();
  other.join();
  start.terminate();
  mid.terminate();
  finish.terminate();
  across.terminate();
  for (thread& one : threads) one.join();
  int sum = 0;
  for (const int one : first) sum += one;
  cout << (sum == num_threads * num_cycles ? "ok" : "wrong") << "\n" << flush;
  return sum == num_threads * num_cycles ? 0 : 1;
}
