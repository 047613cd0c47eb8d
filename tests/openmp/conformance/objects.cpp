// SPDX-License-Identifier: MIT
// objects.cpp -- C++: exceptions inside of regions and tasks, objects in data clauses, thread-private objects, iterators,
// user-declared reductions of containers
#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <stdexcept>
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
#pragma omp parallel num_threads(4)
  {
    for (int round = 0; round < 50; ++round) {
      try {
        if ((round + omp_get_thread_num()) % 2 == 0) throw std::runtime_error("in a region");
      } catch (const std::exception&) {
        ++caught;
      }
    }
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 40; ++i) {
      try {
        counted local(i);
        if (i % 4 == 0) throw i;
      } catch (int thrown) {
        caught += thrown == i;
      }
    }
#pragma omp critical(throwing)
    try {
      throw std::string("in a critical region");
    } catch (const std::string& what) {
      caught += what.size() == 20;
    }
#pragma omp single
    {
      for (int i = 0; i < 20; ++i) {
#pragma omp task shared(caught)
        try {
          std::vector<int>(3).at(5) = 1;
        } catch (const std::out_of_range&) {
          ++caught;
        }
      }
    }
  }
  CHECK(caught == 100 + 10 + 4 + 20 && counted::alive == 0);
  // Through a region of one: nothing forbids it where the whole region runs in the thread that catches.
  try {
    std::vector<int> data(10);
    for (int& at : data) at = 3;
#pragma omp parallel num_threads(3)
    {
      std::unique_ptr<int> owned(new int(omp_get_thread_num()));
      CHECK(*owned == omp_get_thread_num());
    }
    throw std::logic_error("after a region");
  } catch (const std::logic_error&) {
    ++caught;
  }
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

#pragma omp declare reduction( \
        join : std::vector<int> : omp_out.insert(omp_out.end(), omp_in.begin(), omp_in.end()))
#ifdef __clang__  // which has no lambdas there that capture
void add_counts(std::map<int, int>& to, const std::map<int, int>& from) {
  for (const auto& one : from) to[one.first] += one.second;
}
#pragma omp declare reduction(histogram : std::map<int, int> : add_counts(omp_out, omp_in))
#else
#pragma omp declare reduction(histogram : std::map<int, int> : []{}(),                         \
                                  std::for_each(omp_in.begin(), omp_in.end(),                  \
                                                    [&](const std::pair<const int, int>& one){ \
                                                            omp_out[one.first] += one.second;}))
#endif
struct total {
  long sum = 0;
  total& operator+=(const total& other) {
    sum += other.sum;
    return *this;
  }
};
#pragma omp declare reduction(+ : total : omp_out += omp_in)

template <class Number>
Number sum_of(const std::vector<Number>& list) {
  Number sum{};
  auto& by_reference = sum;
#pragma omp parallel for reduction(+ : by_reference)
  for (auto at = list.begin(); at < list.end(); ++at) by_reference += *at;
  return sum;
}

void reductions() {
  std::vector<int> all;
  std::map<int, int> counts;
  total sum;
#pragma omp parallel for reduction(join : all) reduction(histogram : counts) reduction(+ : sum) \
    schedule(dynamic, 3)
  for (int i = 0; i < 500; ++i) {
    all.push_back(i);
    ++counts[i % 7];
    sum.sum += i;
  }
  std::sort(all.begin(), all.end());
  CHECK(all.size() == 500 && all.front() == 0 && all.back() == 499 &&
        std::adjacent_find(all.begin(), all.end()) == all.end());
  CHECK(counts.size() == 7 && counts[0] == 72 && counts[6] == 71 && sum.sum == 124750);
  const long longs = sum_of(std::vector<long>(1000, 3));
  const double doubles = sum_of(std::vector<double>(1000, 0.5));
  CHECK(longs == 3000 && doubles == 500);
  std::printf("reductions: %zu %d %ld %ld %g\n", all.size(), counts[0], sum.sum, longs, doubles);
}

struct member_data {
  std::vector<int> values = std::vector<int>(200);
  int offset = 3;
  int fill() {
    int highest = 0;
#pragma omp parallel for reduction(max : highest) schedule(guided)
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<int>(i) + offset;
      highest = std::max(highest, values[i]);
    }
    return highest;
  }
};

void loops_over_iterators() {
  member_data data;
  CHECK(data.fill() == 202);
  int sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 7)
  for (int value : data.values) sum += value;
  CHECK(sum == 19900 + 600);
  int backwards = 0;
#pragma omp parallel for lastprivate(backwards)
  for (auto at = data.values.rbegin(); at != data.values.rend(); ++at) backwards = *at;
  CHECK(backwards == 3);
  int pairs = 0;
#pragma omp parallel for collapse(2) reduction(+ : pairs)
  for (auto a = data.values.begin(); a < data.values.begin() + 20; a += 2)
    for (auto b = data.values.begin(); b < data.values.begin() + 10; ++b) pairs += *a < *b;
  std::printf("iterators: %d %d %d\n", sum, backwards, pairs);
}

void lambdas() {
  std::atomic<int> sum{0};
  const auto run = [&](int n, const auto& body) {
#pragma omp parallel num_threads(n)
    body(omp_get_thread_num());
  };
  for (int i = 1; i <= 6; ++i) run(i, [&](int rank) { sum += rank * i; });
  CHECK(sum == 2 + 9 + 24 + 50 + 90);
  std::printf("lambdas: %d\n", sum.load());
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
  reductions();
  loops_over_iterators();
  lambdas();
  return result();
}
