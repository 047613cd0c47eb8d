// SPDX-License-Identifier: MIT
// The library after headers that define macros in small letters, as those of Windows, X11, Qt and others do. With an
// argument: without exceptions a bad argument must print its message and abort.
// The system's own headers come first: not every standard library bears such macros.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <dirent.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

// windows.h
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define small char
#define hyper long long
#define near
#define far
#define interface struct
#define pascal
#define cdecl
#define IN
#define OUT
#define OPTIONAL
#define CONST const
#define VOID void
#define ERROR 0
#define DELETE 0x10000
#define NO_ERROR 0
#define TRUE 1
#define FALSE 0
#define IGNORE 0
#define INFINITE 0xFFFFFFFF
#define Yield()
#define MemoryBarrier() 0
#define YieldProcessor() 0
#define CreateEvent CreateEventW
#define CreateMutex CreateMutexW
#define CreateSemaphore CreateSemaphoreW
#define GetObject GetObjectW
// X11
#define None 0L
#define Bool int
#define Status int
#define Success 0
#define Always 2
#define True 1
#define False 0
// Qt
#define signals public
#define slots
#define emit
#define foreach for
#define forever for (;;)
// complex.h, sys/sysmacros.h, termios.h, sys/param.h, macOS, Arduino, Perl
#undef major
#undef minor
#define I 0
#define major(x) ((x) >> 8)
#define minor(x) ((x) & 255)
#define B0 0
#define howmany(x, y) (((x) + ((y) - 1)) / (y))
#define roundup(x, y) (x)
#define check(x) (x)
#define verify(x) (x)
#define require(x) (x)
#define round(x) (x)
#define abs(x) (x)
#define bit(b) (1 << (b))
#define likely(x) (x)
#define unlikely(x) (x)
#define container_of(x) (x)
#define offset_of(x) (x)
#define countof(x) (x)
#define ARRAY_SIZE(x) (x)
#define LOG 1
#define DEBUG 1
#define VERSION "1"
#define PAGE_SIZE 4096
#define CACHE_LINE_SIZE 64
#define assume(x) (x)
// Short names, as numerical programs define them.
#define A (0)
#define B (1)
#define C (2)
#define D (3)
#define E (4)
#define F (5)
#define G (6)
#define H (7)
#define J (8)
#define K (9)
#define L (10)
#define M (11)
#define N (12)
#define O (13)
#define P (14)
#define Q (15)
#define R (16)
#define S (17)
#define T (18)
#define U (19)
#define V (20)
#define W (21)
#define X (22)
#define Y (23)
#define Z (24)
#define Op (25)

#ifdef CONSUMER_SINGLE_HEADER
#include <lockstep.hpp>
#else
#include <thread_synchronizer.h>
#include <lockstep/lockstep.hpp>
#endif

static void report_abort(int) {
  std::puts("aborted");
  std::fflush(stdout);
  std::_Exit(0);
}

int main(int arguments, char**) {
  if (arguments > 1) {
    std::signal(SIGABRT, report_abort);
    lockstep::ranked_barrier without_participants(0);
  }
  lockstep::counting_semaphore<5> permits(2);
  const lockstep::latch open(0);
  bool good = (lockstep::counting_semaphore<5>::max)() >= 5 && (lockstep::latch::max)() > 0 &&
              (lockstep::barrier<>::max)() > 0 && permits.try_acquire() && open.try_wait();
  lockstep::team team(2);
  std::vector<int> values(100, 1);
  team.for_each(
      0, values.size(), [&](std::size_t i) { values[i] += 1; }, lockstep::dynamic_schedule(8));
  good = good && std::accumulate(values.begin(), values.end(), 0) == 200;
  std::puts(good ? "ok" : "wrong result");
  return good ? 0 : 1;
}
