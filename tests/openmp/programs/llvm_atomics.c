// SPDX-License-Identifier: MIT
// llvm_atomics.c -- __kmpc_atomic_...: what each does to a variable, what it returns, and that no change is lost
#include <complex.h>
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "../conformance/check.h"

enum { threads = 4, rounds = 2000 };

int __kmpc_global_thread_num(void*);
#define id() __kmpc_global_thread_num(0)

// One operation: __kmpc_atomic_NAME_VERB, and what is behind it in the variable.
#define UPDATES(NAME, TYPE, VERB, EXPRESSION)                                      \
  do {                                                                             \
    void __kmpc_atomic_##NAME##_##VERB(void*, int, TYPE*, TYPE);                   \
    for (unsigned i = 0; i < sizeof values / sizeof *values; ++i) {                \
      TYPE x = values[i][0];                                                       \
      const TYPE before = x, v = values[i][1];                                     \
      __kmpc_atomic_##NAME##_##VERB(0, id(), &x, v);                                  \
      CHECK(x == (TYPE)(EXPRESSION));                                              \
    }                                                                              \
  } while (0)
#define CAPTURES(NAME, TYPE, VERB, EXPRESSION)                                     \
  do {                                                                             \
    TYPE __kmpc_atomic_##NAME##_##VERB(void*, int, TYPE*, TYPE, int);              \
    for (unsigned i = 0; i < 2 * sizeof values / sizeof *values; ++i) {            \
      TYPE x = values[i / 2][0];                                                   \
      const TYPE before = x, v = values[i / 2][1];                                 \
      const TYPE wanted = __kmpc_atomic_##NAME##_##VERB(0, id(), &x, v, i % 2);       \
      CHECK(x == (TYPE)(EXPRESSION) && wanted == (i % 2 ? x : before));            \
    }                                                                              \
  } while (0)
#define BOTH(NAME, TYPE, VERB, EXPRESSION)    \
  UPDATES(NAME, TYPE, VERB, EXPRESSION);      \
  CAPTURES(NAME, TYPE, VERB##_cpt, EXPRESSION)
#define DIRECTED(NAME, TYPE, VERB, OPERATOR)                     \
  BOTH(NAME, TYPE, VERB, before OPERATOR v);                     \
  UPDATES(NAME, TYPE, VERB##_rev, v OPERATOR before);            \
  CAPTURES(NAME, TYPE, VERB##_cpt_rev, v OPERATOR before)
#define ACCESSES(NAME, TYPE)                                     \
  do {                                                           \
    TYPE __kmpc_atomic_##NAME##_rd(void*, int, TYPE*);           \
    void __kmpc_atomic_##NAME##_wr(void*, int, TYPE*, TYPE);     \
    TYPE __kmpc_atomic_##NAME##_swp(void*, int, TYPE*, TYPE);    \
    TYPE x = values[0][0];                                       \
    CHECK(__kmpc_atomic_##NAME##_rd(0, id(), &x) == values[0][0]);  \
    __kmpc_atomic_##NAME##_wr(0, id(), &x, values[0][1]);           \
    CHECK(x == values[0][1]);                                    \
    CHECK(__kmpc_atomic_##NAME##_swp(0, id(), &x, values[1][0]) == values[0][1] && x == values[1][0]); \
  } while (0)
#define ARITHMETIC(NAME, TYPE)         \
  ACCESSES(NAME, TYPE);                \
  BOTH(NAME, TYPE, add, before + v);   \
  BOTH(NAME, TYPE, mul, before * v);   \
  DIRECTED(NAME, TYPE, sub, -);        \
  DIRECTED(NAME, TYPE, div, /)
#define REAL(NAME, TYPE)                            \
  ARITHMETIC(NAME, TYPE);                           \
  BOTH(NAME, TYPE, max, before > v ? before : v);   \
  BOTH(NAME, TYPE, min, before < v ? before : v)
// Of variables that are not where the processor wants them as well.
#define NOTHING_LOST(NAME, TYPE)                                          \
  do {                                                                    \
    void __kmpc_atomic_##NAME##_add(void*, int, TYPE*, TYPE);             \
    static _Alignas(64) char memory[2 * sizeof(TYPE)];                    \
    TYPE* const x = (TYPE*)(memory + (sizeof(TYPE) > 1));                 \
    TYPE sum, aligned = 0;                                                \
    _Pragma("omp parallel num_threads(threads)")                          \
    for (int i = 0; i < rounds; ++i) {                                    \
      __kmpc_atomic_##NAME##_add(0, id(), x, 1);                             \
      __kmpc_atomic_##NAME##_add(0, id(), &aligned, 1);                      \
    }                                                                     \
    memcpy(&sum, x, sizeof sum);                                          \
    CHECK(sum == (TYPE)(threads * rounds) && aligned == sum);             \
  } while (0)

#define INTEGER(BYTES, TYPE, UNSIGNED)                                    \
  static void integers_##BYTES(void) {                                    \
    static const TYPE values[][2] = {{7, 3}, {-7, 2}, {1, 1}, {3, 5}};    \
    REAL(fixed##BYTES, TYPE);                                             \
    BOTH(fixed##BYTES, TYPE, andb, before & v);                           \
    BOTH(fixed##BYTES, TYPE, orb, before | v);                            \
    BOTH(fixed##BYTES, TYPE, xor, before ^ v);                            \
    BOTH(fixed##BYTES, TYPE, neqv, before ^ v);                           \
    BOTH(fixed##BYTES, TYPE, eqv, before ^ ~v);                           \
    BOTH(fixed##BYTES, TYPE, andl, before && v);                          \
    BOTH(fixed##BYTES, TYPE, orl, before || v);                           \
    BOTH(fixed##BYTES, TYPE, shl, (UNSIGNED)before << v);                 \
    BOTH(fixed##BYTES, TYPE, shr, before >> v);                           \
    NOTHING_LOST(fixed##BYTES, TYPE);                                     \
    void __kmpc_atomic_fixed##BYTES##_mul_float8(void*, int, TYPE*, double); \
    TYPE x = 10;                                                          \
    __kmpc_atomic_fixed##BYTES##_mul_float8(0, id(), &x, 2.5);               \
    CHECK(x == 25);                                                       \
    bool __kmpc_atomic_bool_##BYTES##_cas(void*, int, TYPE*, TYPE, TYPE); \
    TYPE __kmpc_atomic_val_##BYTES##_cas(void*, int, TYPE*, TYPE, TYPE);  \
    bool __kmpc_atomic_bool_##BYTES##_cas_cpt(void*, int, TYPE*, TYPE, TYPE, TYPE*); \
    TYPE __kmpc_atomic_val_##BYTES##_cas_cpt(void*, int, TYPE*, TYPE, TYPE, TYPE*);  \
    TYPE out = 99;                                                        \
    CHECK(!__kmpc_atomic_bool_##BYTES##_cas(0, id(), &x, 1, 2) && x == 25);  \
    CHECK(__kmpc_atomic_bool_##BYTES##_cas(0, id(), &x, 25, 2) && x == 2);   \
    CHECK(__kmpc_atomic_val_##BYTES##_cas(0, id(), &x, 1, 3) == 2 && x == 2);\
    CHECK(__kmpc_atomic_bool_##BYTES##_cas_cpt(0, id(), &x, 2, 4, &out) && x == 4 && out == 99);      \
    CHECK(!__kmpc_atomic_bool_##BYTES##_cas_cpt(0, id(), &x, 2, 5, &out) && x == 4 && out == 4);      \
    CHECK(__kmpc_atomic_val_##BYTES##_cas_cpt(0, id(), &x, 4, 6, &out) == 4 && x == 6 && out == 6);   \
    CHECK(__kmpc_atomic_val_##BYTES##_cas_cpt(0, id(), &x, 4, 7, &out) == 6 && x == 6 && out == 6);   \
  }                                                                       \
  static void unsigned_##BYTES(void) {                                    \
    static const UNSIGNED values[][2] = {{(UNSIGNED)-1, 3}, {200, 7}};    \
    DIRECTED(fixed##BYTES##u, UNSIGNED, div, /);                          \
    BOTH(fixed##BYTES##u, UNSIGNED, shr, before >> v);                    \
  }
INTEGER(1, signed char, uint8_t)
INTEGER(2, int16_t, uint16_t)
INTEGER(4, int32_t, uint32_t)
INTEGER(8, int64_t, uint64_t)

static void reals(void) {
  {
    static const float values[][2] = {{7.5f, 3}, {-7, 2.25f}};
    REAL(float4, float);
    NOTHING_LOST(float4, float);
    void __kmpc_atomic_float4_sub_float8(void*, int, float*, double);
    float x = 1;
    __kmpc_atomic_float4_sub_float8(0, id(), &x, 0.25);
    CHECK(x == 0.75f);
  }
  {
    static const double values[][2] = {{7.5, 3}, {-7, 2.25}};
    REAL(float8, double);
    NOTHING_LOST(float8, double);
  }
  {
    static const long double values[][2] = {{7.5L, 3}, {-7, 2.25L}};
    REAL(float10, long double);
  }
  {
    static const double complex values[][2] = {{7.5 + 2 * I, 3 - I}, {-7, 2.25 * I}};
    ARITHMETIC(cmplx8, double complex);
    NOTHING_LOST(cmplx8, double complex);
  }
  {
    static const float complex values[][2] = {{7.5f + 2 * I, 3 - I}, {-7, 2.25f * I}};
    UPDATES(cmplx4, float complex, add, before + v);
    UPDATES(cmplx4, float complex, div_rev, v / before);
    NOTHING_LOST(cmplx4, float complex);
    void __kmpc_atomic_cmplx4_sub_cpt_rev(void*, int, float complex*, float complex, float complex*, int);
    void __kmpc_atomic_cmplx4_swp(void*, int, float complex*, float complex, float complex*);
    float complex x = 1 + I, out = 0;
    __kmpc_atomic_cmplx4_sub_cpt_rev(0, id(), &x, 3, &out, 0);
    CHECK(x == 2 - I && out == 1 + I);
    __kmpc_atomic_cmplx4_swp(0, id(), &x, 5, &out);
    CHECK(x == 5 && out == 2 - I);
  }
}

typedef struct {
  int64_t words[4];
} large;
static void add_large(void* out, void* x, void* v) {
  for (int i = 0; i < 4; ++i) ((large*)out)->words[i] = ((large*)x)->words[i] + ((large*)v)->words[i];
}
static void add_eight(void* out, void* x, void* v) { *(double*)out = *(double*)x + *(double*)v; }

static void by_function(void) {
  void __kmpc_atomic_32(void*, int, void*, void*, void (*)(void*, void*, void*));
  void __kmpc_atomic_8(void*, int, void*, void*, void (*)(void*, void*, void*));
  void __kmpc_atomic_start(void);
  void __kmpc_atomic_end(void);
  large x = {{0}};
  double y = 0;
  int under_lock = 0;
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < rounds; ++i) {
    large one = {{1, 2, 3, 4}};
    double half = 0.5;
    __kmpc_atomic_32(0, id(), &x, &one, add_large);
    __kmpc_atomic_8(0, id(), &y, &half, add_eight);
    __kmpc_atomic_start();
    ++under_lock;
    __kmpc_atomic_end();
  }
  for (int i = 0; i < 4; ++i) CHECK(x.words[i] == (int64_t)(i + 1) * threads * rounds);
  CHECK(y == 0.5 * threads * rounds && under_lock == threads * rounds);
}

int main(void) {
  integers_1();
  integers_2();
  integers_4();
  integers_8();
  unsigned_1();
  unsigned_2();
  unsigned_4();
  unsigned_8();
  reals();
  by_function();
  return failures != 0;
}
