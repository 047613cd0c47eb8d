// SPDX-License-Identifier: MIT
// bench/openmp/drivers/overheads.cpp -- the time of each construct of OpenMP, after the method of the EPCC suite.
//
// Inside each construct is a delay; its time alone is the case "delay". Every construct also counts what it did: the value
// is "right" only if nothing was lost or done twice.
#include <algorithm>
#include <functional>

#include "batches.hpp"

namespace {

using openmp_case::delay;
using openmp_case::slot;

struct construct {
  const char* name;
  // Does so many repetitions; false if one of them did something else than it should.
  std::function<bool(int)> repeat;
};

int team_size() {
  int size = 0;
#pragma omp parallel
#pragma omp master
  size = omp_get_num_threads();
  return size;
}

bool all_are(const std::vector<slot>& slots, long expected) {
  return std::all_of(slots.begin(), slots.end(),
                     [=](const slot& s) { return s.count == expected; });
}

std::vector<construct> constructs(int threads) {
  const auto slots = [=] { return std::vector<slot>(static_cast<std::size_t>(threads)); };
  const auto me = [] { return static_cast<std::size_t>(omp_get_thread_num()); };
  return {
      {"delay",
       [](int repetitions) {
         double sum = 0;
         for (int r = 0; r < repetitions; ++r) sum += delay();
         return sum > 0;
       }},
      {"parallel",
       [=](int repetitions) {
         auto done = slots();
         for (int r = 0; r < repetitions; ++r) {
#pragma omp parallel
           {
             delay();
             ++done[me()].count;
           }
         }
         return all_are(done, repetitions);
       }},
      {"parallel for",
       [=](int repetitions) {
         auto done = slots();
         for (int r = 0; r < repetitions; ++r) {
#pragma omp parallel for schedule(static)
           for (int i = 0; i < threads; ++i) {
             delay();
             ++done[static_cast<std::size_t>(i)].count;
           }
         }
         return all_are(done, repetitions);
       }},
      {"for",
       [=](int repetitions) {
         auto done = slots();
#pragma omp parallel
         for (int r = 0; r < repetitions; ++r) {
#pragma omp for schedule(static)
           for (int i = 0; i < threads; ++i) {
             delay();
             ++done[static_cast<std::size_t>(i)].count;
           }
         }
         return all_are(done, repetitions);
       }},
      {"barrier",
       [=](int repetitions) {
         auto done = slots();
         bool right = true;
#pragma omp parallel reduction(&& : right)
         for (int r = 0; r < repetitions; ++r) {
           delay();
           done[me()].count = r + 1;
#pragma omp barrier
           // Between two barriers nobody is more than one step ahead: with an odd number of steps only.
           const std::size_t next = (me() + 1) % done.size();
           long seen;
#pragma omp atomic read
           seen = done[next].count;
           right = right && (seen == r + 1 || seen == r + 2);
         }
         return right && all_are(done, repetitions);
       }},
      {"single",
       [=](int repetitions) {
         long count = 0;
#pragma omp parallel
         for (int r = 0; r < repetitions; ++r) {
#pragma omp single
           {
             delay();
             ++count;
           }
         }
         return count == repetitions;
       }},
      {"critical",
       [=](int repetitions) {
         long count = 0;
#pragma omp parallel
         for (int r = 0; r < repetitions; ++r) {
#pragma omp critical
           {
             delay();
             ++count;
           }
         }
         return count == static_cast<long>(repetitions) * threads;
       }},
      {"ordered",
       [=](int repetitions) {
         long next = 0;
         bool right = true;
#pragma omp parallel for ordered schedule(static, 1)
         for (int r = 0; r < repetitions; ++r) {
#pragma omp ordered
           {
             delay();
             right = right && next == r;
             ++next;
           }
         }
         return right && next == repetitions;
       }},
      {"reduction",
       [=](int repetitions) {
         long count = 0;
         for (int r = 0; r < repetitions; ++r) {
#pragma omp parallel reduction(+ : count)
           {
             delay();
             ++count;
           }
         }
         return count == static_cast<long>(repetitions) * threads;
       }},
      {"dynamic(1), of 64 per thread",
       [=](int repetitions) {
         auto done = slots();
#pragma omp parallel
         for (int r = 0; r < repetitions; ++r) {
#pragma omp for schedule(dynamic, 1)
           for (int i = 0; i < 64 * threads; ++i) {
             delay();
             ++done[me()].count;
           }
         }
         long count = 0;
         for (const slot& s : done) count += s.count;
         return count == 64L * repetitions * threads;
       }},
      {"atomic of a long double",  // wider than the machine's atomics: the runtime's lock
       [=](int repetitions) {
         long double count = 0;
#pragma omp parallel
         for (int r = 0; r < repetitions; ++r) {
           delay();
#pragma omp atomic
           count += 1;
         }
         return count == static_cast<long double>(repetitions) * threads;
       }},
      {"task",
       [=](int repetitions) {
         auto done = slots();
#pragma omp parallel
         for (int r = 0; r < repetitions; ++r) {
#pragma omp task shared(done)
           {
             delay();
             ++done[me()].count;
           }
         }
         long count = 0;
         for (const slot& s : done) count += s.count;
         return count == static_cast<long>(repetitions) * threads;
       }},
  };
}

}  // namespace

int main() {
  for (const construct& c : constructs(team_size())) openmp_case::measure(c.name, c.repeat, 3);
  openmp_case::print_runtime();
}
