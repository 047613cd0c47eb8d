// SPDX-License-Identifier: MIT
// objects.cpp -- C++: objects in data clauses and tasks, thread-private objects, exceptions, regions before and after main().
// Reductions, iterators and lambdas are the compiler's: what it calls is what it calls for C.
#include <omp.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "check.h"

namespace {

// Counts how many of it there are, and how they came to be.
struct counted {
  static std::atomic<int> alive, made, copied, assigned;
  int value = 0;
  std::string text = "a text that is too long for the small buffer";

  counted() : counted(0) {}
  explicit counted(int v) : value(v) { ++alive, ++made; }
  counted(const counted& other) : value(other.value), text(other.text) { ++alive, ++copied; }
  counted& operator=(const counted& other) {
    value = other.value;
    text = other.text;
    ++assigned;
    return *this;
  }
  ~counted() { --alive; }
  static void forget() { made = copied = assigned = 0; }
};
std::atomic<int> counted::alive{0}, counted::made{0}, counted::copied{0}, counted::assigned{0};

void data_clauses() {
  counted::forget();
  counted one(5), two(6), last(0);
  std::vector<int> list(100, 1);
  int sum = 0;
#pragma omp parallel num_threads(4) firstprivate(one, list) private(two) reduction(+ : sum)
  {
    one.value += omp_get_thread_num();
    list.push_back(omp_get_thread_num());
    two.value = one.value;
    sum += two.value + static_cast<int>(list.size());
  }
  CHECK(sum == 4 * 5 + 6 + 404);
  CHECK(one.value == 5 && list.size() == 100 && two.value == 6 && counted::alive == 3);
  CHECK(counted::copied == 4 && counted::made == 3 + 4);
#pragma omp parallel num_threads(4)
  {
#pragma omp for lastprivate(last) schedule(dynamic, 2)
    for (int i = 0; i < 60; ++i) last.value = i;
  }
  CHECK(last.value == 59 && counted::assigned == 1 && counted::alive == 3);
#pragma omp parallel num_threads(3)
  {
    counted from_single;
#pragma omp single copyprivate(from_single)
    from_single.value = 77;
    CHECK(from_single.value == 77);
  }
  CHECK(counted::assigned == 3 && counted::alive == 3);
  std::printf("data clauses: %d, %d made, %d copied\n", sum, counted::made.load(),
              counted::copied.load());
}

void tasks() {
  counted::forget();
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
  data_clauses();
  tasks();
  exceptions();
  thread_private_objects();
  return result();
}
