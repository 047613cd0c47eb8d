// SPDX-License-Identifier: MIT
// objects.cpp -- C++: objects in tasks, thread-private objects, exceptions, regions before and after main(). Data clauses,
// reductions, iterators and lambdas are the compiler's: what it calls is what it calls for C.
#include <omp.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "check.h"

namespace {

// Counts how many of it there are.
struct counted {
  static std::atomic<int> alive;
  int value;
  std::string text = "a text that is too long for the small buffer";

  explicit counted(int v) : value(v) { ++alive; }
  counted(const counted& other) : value(other.value), text(other.text) { ++alive; }
  ~counted() { --alive; }
};
std::atomic<int> counted::alive{0};

void tasks() {
  counted payload(9);
  std::atomic<int> sum{0};
  std::string text = "something long enough to be allocated on the heap";
  auto shared = std::make_shared<int>(4);
#pragma omp parallel num_threads(4)
#pragma omp single
  {
    for (int i = 0; i < 100; ++i) {
#pragma omp task firstprivate(payload, text, shared) shared(sum)
      {
        payload.value += i;
        text += "!";
        sum += payload.value + *shared + static_cast<int>(text.size());
      }
    }
#pragma omp taskloop firstprivate(payload) shared(sum) grainsize(3)
    for (int i = 0; i < 50; ++i) sum += payload.value * 0 + 1;
  }
  CHECK(sum == 100 * (9 + 4 + 50) + 4950 + 50);
  CHECK(counted::alive == 1 && shared.use_count() == 1);
  std::printf("tasks: %d\n", sum.load());
}

void exceptions() {
  std::atomic<int> caught{0};
  const auto throw_and_catch = [&](int thrown) {
    try {
      counted local(thrown);
      throw thrown;
    } catch (int what) {
      caught += what == thrown;
    }
  };
#pragma omp parallel num_threads(4)
  {
    throw_and_catch(omp_get_thread_num());
#pragma omp task
    throw_and_catch(17);
  }
  CHECK(caught == 8 && counted::alive == 0);
  std::printf("exceptions: %d\n", caught.load());
}

struct slot {
  int value;
  std::array<double, 10> table{};
  std::map<int, int> seen;
  static std::atomic<int> alive;
  slot() : value(100) { ++alive; }
  slot(const slot& other) : value(other.value), table(other.table), seen(other.seen) { ++alive; }
  slot& operator=(const slot&) = default;
  ~slot() { --alive; }
};
std::atomic<int> slot::alive{0};
extern slot mine;
#pragma omp threadprivate(mine)
slot mine;

void thread_private_objects() {
  int wrong = 0;
  mine.value = 7;
#pragma omp parallel num_threads(4) reduction(+ : wrong)
  {
    wrong += mine.value != (omp_get_thread_num() == 0 ? 7 : 100);
    mine.value = omp_get_thread_num();
    mine.seen[omp_get_thread_num()] = 1;
  }
  for (int round = 0; round < 20; ++round) {
#pragma omp parallel num_threads(4) reduction(+ : wrong)
    wrong += mine.value != omp_get_thread_num() || mine.seen.size() != 1;
  }
  mine.table[3] = 2.5;
#pragma omp parallel num_threads(4) copyin(mine) reduction(+ : wrong)
  wrong += mine.table[3] != 2.5 || mine.seen.count(0) != 1;
  CHECK(wrong == 0 && slot::alive == 4);
  std::printf("thread-private objects: %d, wrong %d\n", slot::alive.load(), wrong);
}

// Static objects that use regions before and after main().
struct around_main {
  int before = 0;
  around_main() {
#pragma omp parallel num_threads(3) reduction(+ : before)
    before += 1;
  }
  ~around_main() {
    int after = 0;
#pragma omp parallel num_threads(3) reduction(+ : after)
    after += 2;
    std::printf("after main: %d\n", after);
    std::fflush(stdout);
  }
} around;

}  // namespace

int main() {
  CHECK(around.before == 3);
  tasks();
  exceptions();
  thread_private_objects();
  return result();
}
