// SPDX-License-Identifier: MIT
// task_trees.c -- tasks that make tasks: recursion, ends before the children's, final, if, regions inside of tasks
#include <omp.h>
#include <stdlib.h>

#include "check.h"

static int fibonacci(int n) {
  int a, b;
  if (n < 2) return n;
#pragma omp task shared(a) final(n < 8) mergeable
  {
    CHECK(!(n < 8) || omp_in_final());
    a = fibonacci(n - 1);
  }
#pragma omp task shared(b) if (n > 10) untied
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}

struct node {
  struct node *left, *right;
  int visits;
};
static struct node* grow(int depth) {
  struct node* const one = calloc(1, sizeof *one);
  if (depth > 0) {
    one->left = grow(depth - 1);
    one->right = grow(depth - 1);
  }
  return one;
}
// Parents end before their children: only the barrier waits for all.
static void visit(struct node* one) {
  if (one->left) {
#pragma omp task
    visit(one->left);
  }
  if (one->right) {
#pragma omp task
    visit(one->right);
  }
  ++one->visits;
}
static int count_and_free(struct node* one) {
  if (!one) return 0;
  const int visits = one->visits + count_and_free(one->left) + count_and_free(one->right);
  free(one);
  return visits;
}

// A task that is run at once makes one that is not, and ends before it.
static void leave_behind(int* count) {
#pragma omp task if (0) firstprivate(count)
  {
#pragma omp task firstprivate(count)
    add(count, 1);
    add(count, 1);
  }
}

static void barriers(int threads) {
  int made[3] = {0}, wrong = 0;
#pragma omp parallel num_threads(threads)
  {
    for (int phase = 0; phase < 30; ++phase) {
      for (int i = 0; i < 5; ++i) {
#pragma omp task firstprivate(phase)
        {
#pragma omp task
          add(&made[phase % 3], 1);
        }
      }
#pragma omp barrier
      if (get(&made[phase % 3]) != 5 * threads) add(&wrong, 1);
#pragma omp barrier
#pragma omp single
      made[phase % 3] = 0;
    }
  }
  CHECK(wrong == 0);
}

static void region_inside(void) {
  int sum = 0, ranks = 0;
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 12; ++i) {
#pragma omp task shared(sum, ranks)
    {
      const int rank = omp_get_thread_num();
#pragma omp parallel num_threads(3) shared(sum)
      {
#pragma omp task shared(sum)
        add(&sum, 1);
#pragma omp taskwait
        if (omp_get_level() != 2) add(&sum, 1000);
      }
      if (omp_get_thread_num() == rank && omp_get_level() == 1) add(&ranks, 1);
    }
  }
  CHECK(sum == 36 && ranks == 12);
  omp_set_max_active_levels(1);
}

static void variables_of_tasks(void) {
  int wrong = 0;
#pragma omp parallel num_threads(2) shared(wrong)
  {
    omp_set_num_threads(3 + omp_get_thread_num());
    const int mine = 3 + omp_get_thread_num();
    for (int i = 0; i < 50; ++i) {
#pragma omp task firstprivate(mine) shared(wrong)
      {
        if (omp_get_max_threads() != mine) add(&wrong, 1);
        omp_set_num_threads(9);
#pragma omp task shared(wrong)
        if (omp_get_max_threads() != 9) add(&wrong, 1);
      }
    }
#pragma omp taskwait
    if (omp_get_max_threads() != mine) add(&wrong, 1);
  }
  CHECK(wrong == 0);
}

static void large_data(void) {
  struct {
    char bytes[3000];
  } data;
#ifdef __clang__  // aligns the data of a task to 16 bytes
  enum { alignment = 16 };
#else
  enum { alignment = 256 };
#endif
  typedef struct {
    _Alignas(alignment) int value;
  } aligned;
  aligned one;
  int wrong = 0;
#pragma omp parallel num_threads(3) private(data, one) shared(wrong)
  for (int i = 0; i < 40; ++i) {
    memset(&data, i, sizeof data);
    one.value = i;
#pragma omp task firstprivate(data, one, i) shared(wrong)
    {
      for (unsigned k = 0; k < sizeof data; ++k) {
        if (data.bytes[k] != (char)i) add(&wrong, 1);
      }
      if (one.value != i || (size_t)&one % alignment != 0) add(&wrong, 1);
    }
  }
  CHECK(wrong == 0);
}

// A barrier waits for tasks that others took from those that have arrived, and shows to all what they did.
static void seen_after_barrier(int threads) {
  enum { tasks = 4 };
  int values[tasks] = {0}, sum = 0;
#pragma omp parallel num_threads(threads)
  for (int round = 1; round <= 5; ++round) {
#pragma omp single
    for (int i = 0; i < tasks; ++i) {
#pragma omp task shared(values) firstprivate(i)
      {
        for (int yields = 0; yields < 50; ++yields) sched_yield();
        values[i] = round * (i + 1);
      }
    }
    int here = 0;
    for (int i = 0; i < tasks; ++i) here += values[i];
    CHECK(here == round * tasks * (tasks + 1) / 2);
    add(&sum, here);
#pragma omp barrier
  }
  CHECK(sum == threads * 15 * tasks * (tasks + 1) / 2);
}

// Tasks that end only where as many run at once as there are members.
static void meet_in_rounds(int* arrived, int members) {
  const int number = add(arrived, 1);
  wait_for(arrived, (number + members - 1) / members * members);
}

// Every member runs tasks wherever it waits: also those that another has taken for later, or makes meanwhile.
static void all_members_run_tasks(int threads) {
  for (int how = 0; how < 6; ++how) {
    int arrived = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
    {
      const int members = omp_get_num_threads(), all = 3 * members;
      if (how == 2) {
#pragma omp taskloop num_tasks(all) shared(arrived)
        for (int i = 0; i < all; ++i) meet_in_rounds(&arrived, members);
      } else if (how == 3) {
#pragma omp taskloop num_tasks(all) nogroup shared(arrived)
        for (int i = 0; i < all; ++i) meet_in_rounds(&arrived, members);
      } else if (how == 4) {
#pragma omp taskgroup
#pragma omp task shared(arrived)
        for (int i = 0; i < all; ++i) {
#pragma omp task shared(arrived)
          meet_in_rounds(&arrived, members);
        }
      } else if (how == 5) {
#pragma omp taskgroup
        for (int i = 0; i < all; ++i) {
#pragma omp task shared(arrived)
          meet_in_rounds(&arrived, members);
        }
      } else {
        for (int i = 0; i < all; ++i) {
#pragma omp task shared(arrived)
          meet_in_rounds(&arrived, members);
        }
        if (how == 1) {
#pragma omp taskwait
        }
      }
    }
    CHECK(arrived == 3 * threads);
  }
}

int main(void) {
  for (int threads = 1; threads <= 6; ++threads) {
    int number = 0, left = 0;
    struct node* const root = grow(11);
#pragma omp parallel num_threads(threads)
    {
#pragma omp single
      {
        number = fibonacci(17);
        visit(root);
      }
      for (int i = 0; i < 100; ++i) leave_behind(&left);
    }
    CHECK(number == 1597 && left == 200 * threads);
    CHECK(count_and_free(root) == 4095);
    barriers(threads);
    // GCC's library does not promise it, and at times does not end.
    for (int i = 0; i < 10 && getenv("LOCKSTEP_REFERENCE") == NULL; ++i) all_members_run_tasks(threads);
    for (int i = 0; i < 10; ++i) seen_after_barrier(threads);
    printf("%d threads\n", threads);
  }
  for (int i = 0; i < 10; ++i) region_inside();
  variables_of_tasks();
  large_data();
  // Outside of regions.
  int made = 0;
  for (int i = 0; i < 10; ++i) {
#pragma omp task shared(made)
    ++made;
  }
#pragma omp taskwait
  CHECK(made == 10 && fibonacci(10) == 55);
  return result();
}
