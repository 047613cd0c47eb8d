// SPDX-License-Identifier: MIT
// Variables of a thread, where the compiler leaves them to the runtime (-fnoopenmp-use-tls): their first value, constructors,
// copyin, what is there in the next region, and destructors at the end of a thread. For Clang.
#include <atomic>
#include <thread>

#include <omp.h>

#include "../conformance/check.h"

namespace {

std::atomic<int> alive{0};

struct counted {
  int value = 40;
  counted() { ++alive; }
  counted(const counted& other) : value(other.value) { ++alive; }
  counted& operator=(const counted&) = default;
  ~counted() { --alive; }
};

int plain = 3;
double array[70] = {0, 1.5};
counted object;
counted objects[3];
#pragma omp threadprivate(plain, array, object, objects)

void two_regions() {
  plain = 9;
  object.value = 41;
#pragma omp parallel num_threads(4) copyin(plain, object)
  {
    CHECK(plain == 9 && object.value == 41 && objects[2].value == 40 && array[1] == 1.5);
    plain += omp_get_thread_num();
    array[69] = omp_get_thread_num();
    objects[1].value = omp_get_thread_num();
  }
#pragma omp parallel num_threads(4)
  {
    CHECK(plain == 9 + omp_get_thread_num());
    CHECK(array[69] == omp_get_thread_num() && objects[1].value == omp_get_thread_num());
  }
  CHECK(plain == 9 && array[69] == 0);
}

}  // namespace

int main() {
  const int before = alive;
  two_regions();
  CHECK(alive == before + 3 * 4);
  // A thread of the program has its own, with the first value, and its regions' threads have theirs, too.
  std::thread([] {
    CHECK(plain == 3 && object.value == 40);
    two_regions();
  }).join();
  CHECK(plain == 9);
  CHECK(alive == before + 3 * 4);
  return failures != 0;
}
