/* SPDX-License-Identifier: MIT */
/* Regions and what stands in them, as compilers of LLVM call them: nested, of one, from several threads at once, crowded, in
 * a child of fork(). For Clang. */
#include "../conformance/check.h"

#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct ident ident;
typedef int32_t critical_name[8];

int32_t __kmpc_global_thread_num(ident*);
void __kmpc_fork_call(ident*, int32_t, void (*)(int32_t*, int32_t*, ...), ...);
void __kmpc_fork_call_if(ident*, int32_t, void (*)(int32_t*, int32_t*, ...), int32_t, void*);
void __kmpc_push_num_threads_strict(ident*, int32_t, int32_t, int, const char*);
void __kmpc_push_num_threads_list(ident*, int32_t, uint32_t, const int32_t*);
int32_t __kmpc_barrier_master(ident*, int32_t);
void __kmpc_end_barrier_master(ident*, int32_t);
int32_t __kmpc_barrier_master_nowait(ident*, int32_t);
int32_t __kmpc_single(ident*, int32_t);
void* __kmpc_copyprivate_light(ident*, int32_t, void*);
void __kmpc_barrier(ident*, int32_t);
int32_t __kmpc_bound_thread_num(ident*);
int32_t __kmpc_bound_num_threads(ident*);
int32_t __kmpc_in_parallel(ident*);
int32_t __kmpc_ok_to_fork(ident*);

/* What is asked of one region is not the next one's, whether that is of one or not. */
static void asked_once(int no, int yes) {
  int sizes[4] = {0};
  omp_set_num_threads(3);
#pragma omp parallel num_threads(5) if (no)
  sizes[0] += omp_get_num_threads() + 10 * omp_get_level() + 100 * omp_in_parallel();
#pragma omp parallel
#pragma omp single
  sizes[1] = omp_get_num_threads();
#pragma omp parallel num_threads(1)
  sizes[2] += omp_get_num_threads() + 10 * omp_get_level() + 100 * omp_in_parallel();
#pragma omp parallel num_threads(2) if (yes) proc_bind(spread)
#pragma omp single
  sizes[3] = omp_get_num_threads();
  CHECK(sizes[0] == 11 && sizes[1] == 3 && sizes[2] == 11 && sizes[3] == 2);
  CHECK(omp_get_level() == 0 && !omp_in_parallel());
  /* Regions of one in regions of one, with tasks, barriers and singles. */
  int steps = 0;
#pragma omp parallel if (no)
#pragma omp parallel if (no)
  {
#pragma omp single
    ++steps;
#pragma omp barrier
#pragma omp master
    ++steps;
#pragma omp critical
    ++steps;
    CHECK(omp_get_level() == 2);
  }
  CHECK(steps == 3);
}

/* Up to any number of variables. */
#define SIXTEEN(DO) \
  DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)
static void many_words(void) {
#define DECLARE(i) long a##i = i, b##i = 100 + i, c##i = 0;
  SIXTEEN(DECLARE)
  long sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
  {
#define ADD(i) sum += a##i + b##i;
    SIXTEEN(ADD)
#pragma omp master
    {
#define COPY(i) c##i = a##i + b##i;
      SIXTEEN(COPY)
    }
  }
  CHECK(sum == 3 * (120 + 120 + 1600));
#define LOOK(i) CHECK(c##i == 100 + 2 * i);
  SIXTEEN(LOOK)
}

static int seen[4][20];
static void take_words(int32_t* id, int32_t* rank, long* a, long* b, long* c, long* d, long* e, long* f, long* g,
                       long* h, long* i, long* j, long* k, long* l) {
  CHECK(*id == __kmpc_global_thread_num(0) && *rank == omp_get_thread_num());
  long* const all[] = {a, b, c, d, e, f, g, h, i, j, k, l};
  for (int n = 0; n < 12; ++n) seen[*rank][n] = (int)*all[n];
}
static void take_none(int32_t* id, int32_t* rank) {
  (void)id;
  seen[*rank][19] = 1 + __kmpc_bound_num_threads(0);
  CHECK(__kmpc_bound_thread_num(0) == *rank);
}
static void take_one(int32_t* id, int32_t* rank, long* word) {
  (void)id;
  __atomic_add_fetch(word, *rank + 1 + 10 * __kmpc_in_parallel(0), __ATOMIC_RELAXED);
}
static void direct_calls(void) {
  long v[12], sum = 0;
  for (int n = 0; n < 12; ++n) v[n] = n * n;
  omp_set_num_threads(4);
  __kmpc_fork_call(0, 12, (void (*)(int32_t*, int32_t*, ...))take_words, v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7,
                   v + 8, v + 9, v + 10, v + 11);
  __kmpc_fork_call(0, 0, (void (*)(int32_t*, int32_t*, ...))take_none);
  for (int r = 0; r < 4; ++r) {
    for (int n = 0; n < 12; ++n) CHECK(seen[r][n] == n * n);
    CHECK(seen[r][19] == 5);
  }
  __kmpc_fork_call_if(0, 1, (void (*)(int32_t*, int32_t*, ...))take_one, 1, &sum);
  CHECK(sum == 50);
  __kmpc_fork_call_if(0, 1, (void (*)(int32_t*, int32_t*, ...))take_one, 0, &sum);
  CHECK(sum == 51 && omp_get_level() == 0 && __kmpc_ok_to_fork(0) == 1);
  __kmpc_fork_call_if(0, 0, (void (*)(int32_t*, int32_t*, ...))take_none, 1, 0);

  __kmpc_push_num_threads_strict(0, 0, 2, 1, "not said");
  int size = 0;
#pragma omp parallel
#pragma omp single
  size = omp_get_num_threads();
  CHECK(size == 2);
  omp_set_max_active_levels(2);
  const int32_t list[2] = {2, 3};
  int inside = 0;
  __kmpc_push_num_threads_list(0, 0, 2, list);
#pragma omp parallel reduction(+ : inside)
#pragma omp parallel reduction(+ : inside)
  inside += omp_get_num_threads();
  CHECK(inside == 2 * 9);
  omp_set_max_active_levels(1);

  int first = 0, order = 0;
#pragma omp parallel num_threads(4) shared(first, order)
  {
    int own = 0;
    const int32_t id = __kmpc_global_thread_num(0);
    if (__kmpc_barrier_master(0, id)) {
      first = 7;
      __kmpc_end_barrier_master(0, id);
    }
    CHECK(first == 7);
    own = omp_get_thread_num() + 1;
    int* const data = __kmpc_copyprivate_light(0, id, __kmpc_single(0, id) ? &own : 0);
    CHECK(*data >= 1 && *data <= 4);
    __kmpc_barrier(0, id);
    if (__kmpc_barrier_master_nowait(0, id)) ++order;
  }
  CHECK(order == 1);
}

typedef struct {
  long part[6];
} large;
static void add_large(large* to, const large* from) {
  for (int i = 0; i < 6; ++i) to->part[i] += from->part[i];
}
#pragma omp declare reduction(add : large : add_large(&omp_out, &omp_in)) initializer(omp_priv = (large){{0}})

/* Many more threads than processors: each construct once, reductions by atomic operations and by a lock. */
static void crowded(void) {
  enum { threads = 64, rounds = 20 };
  static int at[threads];
  int singles = 0, masters = 0, inside = 0, inside_named = 0, maxima = -1;
  double halves = 0;
  long array[5] = {0};
  large all = {{0}};
#pragma omp parallel num_threads(threads) reduction(+ : halves, array) reduction(add : all) reduction(max : maxima)
  {
    const int rank = omp_get_thread_num();
    for (int round = 0; round < rounds; ++round) {
      at[rank] = round;
#pragma omp barrier
      CHECK(at[(rank + 1) % threads] == round);
#pragma omp single
      ++singles;
#pragma omp masked filter(3)
      ++masters;
#pragma omp critical(a_name)
      ++inside_named;
#pragma omp critical
      ++inside;
      int mine = -1;
#pragma omp single copyprivate(mine)
      mine = round;
      CHECK(mine == round);
#pragma omp barrier
    }
    halves += 0.5;
    for (int i = 0; i < 5; ++i) array[i] += i;
    for (int i = 0; i < 6; ++i) all.part[i] += rank;
    maxima = rank > maxima ? rank : maxima;
  }
  CHECK(singles == rounds && masters == rounds && inside == rounds * threads);
  CHECK(inside_named == rounds * threads);
  CHECK(halves == threads / 2 && maxima == threads - 1);
  for (int i = 0; i < 5; ++i) CHECK(array[i] == i * threads);
  for (int i = 0; i < 6; ++i) CHECK(all.part[i] == threads * (threads - 1) / 2);
}

static void teams(void) {
  int sum = 0, most = 0;
#pragma omp teams num_teams(3) thread_limit(2) reduction(+ : sum)
  {
    CHECK(omp_get_num_teams() == 3 && omp_get_num_threads() == 1);
    const int team = omp_get_team_num();
#pragma omp parallel num_threads(4) reduction(+ : sum)
    {
      CHECK(omp_get_num_threads() <= 2 && omp_get_team_num() == team);
      sum += omp_get_thread_num() == 0 ? team + 1 : 0;
    }
    if (team > most) most = team;
  }
  CHECK(sum == 6 && most == 2 && omp_get_num_teams() == 1);
}

static void locks(void) {
  struct {
    char before[8];
    omp_lock_t plain;
    char between[8];
    omp_nest_lock_t nested;
    char behind[8];
  } l = {"1234567", 0, "1234567", {0}, "1234567"};
  int inside = 0, inside_nested = 0, depth_right = 1;
  omp_init_lock_with_hint(&l.plain, omp_lock_hint_contended);
  omp_init_nest_lock(&l.nested);
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 100; ++i) {
    omp_set_lock(&l.plain);
    ++inside;
    CHECK(!omp_test_lock(&l.plain));
    omp_unset_lock(&l.plain);
    omp_set_nest_lock(&l.nested);
    if (omp_test_nest_lock(&l.nested) != 2) depth_right = 0;
    ++inside_nested;
    omp_unset_nest_lock(&l.nested);
    omp_unset_nest_lock(&l.nested);
  }
  CHECK(inside == 400 && inside_nested == 400 && depth_right);
  CHECK(l.before[6] == '7' && l.between[0] == '1' && l.between[6] == '7' && l.behind[0] == '1');
  omp_destroy_nest_lock(&l.nested);
  omp_destroy_lock(&l.plain);
}

/* What GCC 12 does not know: omp_all_memory, sets of readers; and more addresses than a small task has room for. */
static void dependences(void) {
  enum { wide = 40 };
  int cells[wide] = {0}, order = 0, wrong = 0, readers = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < wide; ++i) {
#pragma omp task depend(out : cells[i]) firstprivate(i, round) shared(cells)
      cells[i] = round + i;
    }
#pragma omp task depend(iterator(k = 0 : wide), in : cells[k]) shared(cells, wrong, order)
    {
      for (int i = 0; i < wide; ++i) wrong += cells[i] != round + i;
      ++order;
    }
    for (int i = 0; i < 4; ++i) {
#pragma omp task depend(inoutset : cells[0]) shared(readers)
      add(&readers, 1);
    }
#pragma omp task depend(mutexinoutset : cells[0]) shared(readers, wrong)
    if (get(&readers) != 4 * (round + 1)) add(&wrong, 1);
#pragma omp taskwait depend(inout : omp_all_memory)
    if (order != round + 1) add(&wrong, 1);
  }
  CHECK(wrong == 0 && order == 20 && readers == 80);
}

static void in_child(void) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    crowded();
    fflush(stdout);
    _exit(failures != 0);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(int arguments, char** unused) {
  (void)unused;
  asked_once(arguments > 1, arguments > 0);
  many_words();
  direct_calls();
  crowded();
  teams();
  locks();
  dependences();
  in_child();
  return failures != 0;
}
