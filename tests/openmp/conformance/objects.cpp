// SPDX-License-Identifier: MIT
// objects.cpp -- C++: objects in tasks, exceptions, regions before and after main(). Data clauses, thread-private objects,
// reductions, iterators and lambdas are the compiler's: what it calls is what it calls for C.
#include <omp.h>

#include <atomic>
#include <memory>
#include <string>

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
  return result();
}
