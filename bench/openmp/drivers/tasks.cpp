// SPDX-License-Identifier: MIT
// bench/openmp/drivers/tasks.cpp -- the time of a small task, by which threads make it and how it is waited for.
//
// The first cells are those of the EPCC suite's taskbench, by its names; then taskloops, chains of dependences, and a
// recursion. A task is a delay that counts itself. A cell's time is that of its batch over the tasks that
// each thread would have, if all were dealt evenly: with 2 threads a task of 0.1 us takes at least 0.1 us of the table.
// The value is "right" only if no task was lost or run twice.
#include <functional>
#include <vector>

#include "batches.hpp"

namespace {

using openmp_case::delay;
using openmp_case::slot;

constexpr int tree_depth = 6;
constexpr int loop_tasks = 2048;

std::vector<slot> done;

void work() {
  delay();
  ++done[static_cast<std::size_t>(omp_get_thread_num())].count;
}

int threads() { return static_cast<int>(done.size()); }

bool is_false() {
  const volatile bool value = false;
  return value;
}

struct cell {
  const char* name;
  // How many tasks `repetitions` of each thread become, for checking.
  std::function<long(long)> tasks;
  std::function<void(long)> repeat;
};

void measure(const cell& c) {
  const auto repeat = [&c](int repetitions) {
    for (slot& each : done) each.count = 0;
    c.repeat(repetitions);
    long count = 0;
    for (const slot& of : done) count += of.count;
    return count == c.tasks(repetitions);
  };
  openmp_case::measure(c.name, repeat, loop_tasks);
}

void branch(int level) {
  if (level == 0) return;
#pragma omp task firstprivate(level)
  {
    branch(level - 1);
    branch(level - 1);
    work();
  }
}

void leaf(int level) {
  if (level == 0) return work();
#pragma omp task firstprivate(level)
  {
    leaf(level - 1);
    leaf(level - 1);
  }
}

long fibonacci(int n) {
  if (n < 2) return n;
  long first, second;
#pragma omp task shared(first)
  first = fibonacci(n - 1);
#pragma omp task shared(second)
  second = fibonacci(n - 2);
#pragma omp taskwait
  return first + second;
}

/// So many tasks, each of which depends on the one before in its chain.
void make_chains(long tasks, int chains) {
  std::vector<char> heads(static_cast<std::size_t>(chains));
  char* const head = heads.data();
#pragma omp parallel master
  {
    for (long j = 0; j < tasks; ++j) {
      [[maybe_unused]] char* const at = head + j % chains;
#pragma omp task depend(inout : *at)
      work();
    }
#pragma omp taskwait
  }
}

const auto of_each = [](long repetitions) { return repetitions * threads(); };

const std::vector<cell> cells = {
    {"parallel task", of_each,
     [](long repetitions) {
#pragma omp parallel
       for (long j = 0; j < repetitions; ++j) {
#pragma omp task
         work();
       }
     }},
    {"master task", of_each,
     [](long repetitions) {
#pragma omp parallel master
       for (long j = 0; j < repetitions * threads(); ++j) {
#pragma omp task
         work();
       }
     }},
    {"master task, busy others", of_each,
     [](long repetitions) {
#pragma omp parallel
       {
         const bool is_master = omp_get_thread_num() == 0;
         for (long j = 0; j < repetitions; ++j) {
           if (is_master) {
#pragma omp task
             work();
           } else {
             work();
           }
         }
       }
     }},
    {"conditional task", of_each,
     [](long repetitions) {
#pragma omp parallel
       for (long j = 0; j < repetitions; ++j) {
#pragma omp task if (is_false())
         work();
       }
     }},
    {"task wait", of_each,
     [](long repetitions) {
#pragma omp parallel
       for (long j = 0; j < repetitions; ++j) {
#pragma omp task
         work();
#pragma omp taskwait
       }
     }},
    {"task barrier", of_each,
     [](long repetitions) {
#pragma omp parallel
       for (long j = 0; j < repetitions; ++j) {
#pragma omp task
         work();
#pragma omp barrier
       }
     }},
    {"nested task",
     [](long repetitions) { return repetitions / threads() * threads() * threads(); },
     [](long repetitions) {
#pragma omp parallel
       for (long j = 0; j < repetitions / threads(); ++j) {
#pragma omp task
         {
           for (int k = 0; k < threads(); ++k) {
#pragma omp task
             work();
           }
#pragma omp taskwait
         }
       }
     }},
    {"nested master task", of_each,
     [](long repetitions) {
#pragma omp parallel master
       for (long j = 0; j < repetitions; ++j) {
#pragma omp task
         {
           for (int k = 0; k < threads(); ++k) {
#pragma omp task
             work();
           }
#pragma omp taskwait
         }
       }
     }},
    {"branch task tree",
     [](long repetitions) {
       return (repetitions >> tree_depth) * ((1 << tree_depth) - 1) * threads();
     },
     [](long repetitions) {
#pragma omp parallel
       for (long j = 0; j < repetitions >> tree_depth; ++j) branch(tree_depth);
     }},
    {"leaf task tree",
     [](long repetitions) { return (repetitions >> tree_depth) * (1 << tree_depth) * threads(); },
     [](long repetitions) {
#pragma omp parallel
       for (long j = 0; j < repetitions >> tree_depth; ++j) leaf(tree_depth);
     }},
    {"taskgroup", of_each,
     [](long repetitions) {
#pragma omp parallel
       for (long j = 0; j < repetitions; j += 8) {
#pragma omp taskgroup
         for (int k = 0; k < 8; ++k) {
#pragma omp task
           work();
         }
       }
     }},
    {"taskloop of 2048 tasks", of_each,
     [](long repetitions) {
#pragma omp parallel master
       for (long j = 0; j < repetitions * threads(); j += loop_tasks) {
#pragma omp taskloop num_tasks(loop_tasks)
         for (int k = 0; k < loop_tasks; ++k) work();
       }
     }},
    {"taskloop of 2048 iterations", of_each,
     [](long repetitions) {
#pragma omp parallel master
       for (long j = 0; j < repetitions * threads(); j += loop_tasks) {
#pragma omp taskloop
         for (int k = 0; k < loop_tasks; ++k) work();
       }
     }},
    {"depend, one chain", of_each,
     [](long repetitions) { make_chains(repetitions * threads(), 1); }},
    {"depend, 16 chains", of_each,
     [](long repetitions) { make_chains(repetitions * threads(), 16); }},
    {"recursion (fibonacci of 16)",
     [](long repetitions) { return repetitions / loop_tasks * threads(); },
     [](long repetitions) {
#pragma omp parallel master
       for (long j = 0; j < repetitions / loop_tasks * threads(); ++j) {
         done[0].count += fibonacci(16) == 987;
       }
     }},
};

}  // namespace

int main() {
  int size = 0;
#pragma omp parallel
#pragma omp master
  size = omp_get_num_threads();
  done.resize(static_cast<std::size_t>(size));
  for (const cell& c : cells) measure(c);
  openmp_case::print_runtime();
}
