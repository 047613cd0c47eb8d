// SPDX-License-Identifier: MIT
// Programs that lean on their header: it includes the standard headers and opens namespace std.
#define LOCKSTEP_COMPAT_USING_NAMESPACE_STD
#include "thread_synchronizer.h"

#include "compat/original_style.hpp"

vector<string> original_style::binary_oscillator(int rounds) {
  WaitNotifySingle wn1, wn2;
  vector<string> log;

  thread th1([&] {
    for (int i = 0; i < rounds; i++) {
      wn1.wait();
      log.push_back("task 1");
      wn2.notify();
    }
    wn1.wait();  // takes the last notification, or else task 2 would not end
  });
  thread th2([&] {
    for (int i = 0; i < rounds; i++) {
      wn2.wait();
      log.push_back("task 2");
      wn1.notify();
    }
  });
  wn1.notify();

  th1.join();
  th2.join();
  return log;
}

vector<string> original_style::cycle_scheduler(int num_threads, int num_cycles) {
  WaitNotifySingle parent;
  vector<WaitNotifySingle*> wns(static_cast<size_t>(num_threads));
  for (WaitNotifySingle*& wn : wns) wn = new WaitNotifySingle;
  vector<string> log;
  atomic_int counter(0);

  auto task = [&](const int num) {
    while (true) {
      wns[static_cast<size_t>(num)]->wait();
      if (wns[static_cast<size_t>(num)]->isTerminating()) break;
      ostringstream line;
      line << "task " << num << " cycle " << setw(2) << counter.load();
      log.push_back(line.str());
      const bool last = num == num_threads - 1;
      if (last && counter.fetch_add(1) + 1 == num_cycles) {
        parent.notify();
      } else {
        wns[static_cast<size_t>((num + 1) % num_threads)]->notify();
      }
    }
  };
  vector<thread> threads;
  threads.reserve(static_cast<size_t>(num_threads));
  for (int i = 0; i < num_threads; i++) threads.emplace_back(task, i);
  wns[0]->notify();
  parent.wait();

  for (WaitNotifySingle* wn : wns) wn->terminate();
  for (thread& th : threads) th.join();
  for (WaitNotifySingle* wn : wns) delete wn;
  return log;
}

vector<string> original_style::parallel_scheduler(int num_threads, int num_iterations) {
  WaitNotifyMultipleWaiters fan_out(num_threads);
  WaitNotifyMultipleNotifiers fan_in(num_threads);
  WaitNotifyEachOther mid_sync(num_threads);
  mutex mt;
  vector<string> log;
  int outer = 0;

  auto part = [&](const int tid, const int number, const int inner) {
    ostringstream line;
    line << "task " << tid << " part " << number << " inner " << inner << " outer " << outer;
    unique_lock<mutex> lock(mt);
    log.push_back(line.str());
    lock.unlock();
    mid_sync.syncThreads(tid);
    return !mid_sync.isTerminating();
  };
  auto task = [&](const int tid) {
    while (true) {
      fan_out.wait(tid);
      if (fan_out.isTerminating()) break;
      for (int i = 0; i < 4; i++) {
        if (!part(tid, 1, i) || !part(tid, 2, i)) return;
      }
      fan_in.notify();
    }
  };
  vector<thread> threads;
  threads.reserve(static_cast<size_t>(num_threads));
  for (int i = 0; i < num_threads; i++) threads.emplace_back(task, i);
  for (; outer < num_iterations; outer++) {
    fan_out.notify();
    fan_in.wait();
  }
  fan_out.terminate();
  mid_sync.terminate();
  for (thread& th : threads) th.join();
  return log;
}
