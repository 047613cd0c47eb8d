// SPDX-License-Identifier: MIT
// threads.cpp -- the program's own threads open regions, end, and come again; members that need each other at the same
// time; tasks that others help with; signals; a library with OpenMP that is loaded late
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

namespace {

std::atomic<int> total{0};

void region_of(int size) {
  int met = 0, sum = 0;
#pragma omp parallel num_threads(size) reduction(+ : sum)
  {
    meet(&met, size);
    sum += omp_get_num_threads();
#pragma omp barrier
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 20; ++i) sum += i;
  }
  CHECK(sum == size * size + 190);
  total += size;
}

void threads_that_come_and_go() {
  for (int round = 0; round < 100; ++round) {
    std::thread a([&] { region_of(2 + round % 3); });
    std::thread b([&] {
      region_of(3);
      region_of(2);
    });
    region_of(2);
    a.join();
    b.join();
  }
  std::printf("threads that come and go: %d\n", total.exchange(0));
}

// Detached, cancelled, with a small stack of its own.
void* small_thread(void* ended) {
  region_of(2);
  if (omp_get_level() == 0 && omp_get_thread_num() == 0) add(static_cast<int*>(ended), 1);
  return nullptr;
}
void pthreads() {
  int ended = 0;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 * 1024);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  for (int i = 0; i < 20; ++i) {
    pthread_t id;
    CHECK(pthread_create(&id, &attributes, small_thread, &ended) == 0);
  }
  wait_for(&ended, 20);
  pthread_attr_destroy(&attributes);
  std::printf("detached threads: %d\n", total.exchange(0));
}

// Settings of a thread are its own, and begin as those of the process.
void settings_of_threads() {
  const int usual = omp_get_max_threads();
  int wrong = 0;
  omp_set_num_threads(5);
  std::thread([&] {
    add(&wrong, omp_get_max_threads() != usual);
    omp_set_num_threads(3);
    int members = 0;
#pragma omp parallel
    add(&members, 1);
    add(&wrong, members != 3);
  }).join();
  CHECK(omp_get_max_threads() == 5 && wrong == 0);
  omp_set_num_threads(usual);
  std::printf("settings of threads: wrong %d\n", wrong);
}

// Two regions at the same time, of two threads, whose members wait for each other.
void regions_that_meet() {
  int met = 0;
  std::thread other([&] {
#pragma omp parallel num_threads(3)
    meet(&met, 6);
  });
#pragma omp parallel num_threads(3)
  meet(&met, 6);
  other.join();
  std::printf("regions that meet: %d\n", met);
}

// Tasks need each other, so members that wait at the end of the region must take them. Other waits: task_trees.c.
void tasks_get_help() {
  for (int round = 0; round < 60; ++round) {
    int met = 0;
#pragma omp parallel num_threads(3)
    {
      if (round % 2 == 0 && omp_get_thread_num() == 0)
        usleep(500);  // the others wait at the end by now
#pragma omp master
      for (int i = 0; i < 3; ++i) {
#pragma omp task shared(met)
        meet(&met, 3);
      }
    }
    CHECK(met == 3);
  }
  std::printf("tasks get help\n");
}

void priorities_and_yields() {
  int sum = 0, finals = 0, undeferred = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  {
    for (int i = 0; i < 50; ++i) {
#pragma omp task priority(i % 4) shared(sum) untied
      {
#pragma omp taskyield
        add(&sum, i);
      }
#pragma omp taskyield
    }
#pragma omp task final(1) shared(finals)
    {
      int inner = 0;
#pragma omp task shared(inner)
      inner = omp_in_final();
      finals = inner + omp_in_final();  // final tasks run theirs at once
    }
#pragma omp task if (0) shared(undeferred)
    undeferred = 1;
    CHECK(undeferred == 1);
#pragma omp taskloop simd shared(sum) priority(1)
    for (int i = 0; i < 100; ++i) add(&sum, 1);
  }
#pragma omp parallel master taskloop shared(sum) num_tasks(4) num_threads(3)
  for (int i = 0; i < 100; ++i) add(&sum, 1);
  CHECK(sum == 1225 + 200 && finals == 2 && !omp_in_final());
  std::printf("priorities and yields: %d %d %d\n", sum, finals, undeferred);
}

std::atomic<int> signals{0};
void on_signal(int) { ++signals; }

void signal_handlers() {
  struct sigaction action = {};
  action.sa_handler = on_signal;  // no SA_RESTART: every system call may be interrupted
  sigaction(SIGUSR1, &action, nullptr);
  std::atomic<bool> done{false};
  std::vector<pthread_t> members(4);
  int ready = 0;
#pragma omp parallel num_threads(4)
  {
    members[static_cast<std::size_t>(omp_get_thread_num())] = pthread_self();
    meet(&ready, 4);
  }
  std::thread sender([&] {
    while (!done) {
      for (pthread_t id : members) pthread_kill(id, SIGUSR1);
      usleep(200);
    }
  });
  long sum = 0;
  for (int round = 0; round < 200 || signals < 50; ++round) {
#pragma omp parallel num_threads(4) reduction(+ : sum)
    {
#pragma omp barrier
#pragma omp for schedule(dynamic) ordered
      for (int i = 0; i < 8; ++i) {
#pragma omp ordered
        sum += i;
      }
#pragma omp critical
      sum += 1;
    }
    if (round >= 200) sum -= 32;
  }
  done = true;
  sender.join();
  CHECK(sum == 200 * 32);
  std::printf("signals: %ld\n", sum);
}

void late_library(const char* name) {
  void* const library = dlopen(name, RTLD_NOW);
  if (library == nullptr) std::printf("%s\n", dlerror());
  CHECK(library != nullptr);
  if (library == nullptr) return;
  const auto work = reinterpret_cast<int (*)(int)>(dlsym(library, "late_work"));
  CHECK(work != nullptr && work(3) == 3 * 100 + 4950);
  int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
  sum += work(2);  // a region in a region, of another object
  CHECK(sum == 2 * (100 + 4950) || sum == 2 * (200 + 4950));
  dlclose(library);
  region_of(3);
  std::printf("late library: %d\n", total.exchange(0));
}

}  // namespace

int main(int, char** arguments) {
  threads_that_come_and_go();
  pthreads();
  settings_of_threads();
  regions_that_meet();
  tasks_get_help();
  priorities_and_yields();
  signal_handlers();
  late_library((std::string(arguments[0]) + ".late.so").c_str());
  return result();
}
