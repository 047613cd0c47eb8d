/* SPDX-License-Identifier: MIT */
/* Allocators and their traits. */
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../conformance/check.h"

static int is_aligned(const void* block, uintptr_t to) { return ((uintptr_t)block & (to - 1)) == 0; }

static omp_allocator_handle_t made(int count, const omp_alloctrait_t* traits) {
  return omp_init_allocator(omp_default_mem_space, count, traits);
}

static void predefined(void) {
  for (uintptr_t each = omp_null_allocator; each <= omp_thread_mem_alloc; ++each) {
    const omp_allocator_handle_t from = (omp_allocator_handle_t)each;
    char* const block = omp_alloc(100, from);
    CHECK(block != NULL && is_aligned(block, 16));
    memset(block, 7, 100);
    char* const larger = omp_realloc(block, 100000, from, from);
    CHECK(larger != NULL && larger[0] == 7 && larger[99] == 7);
    omp_free(larger, omp_null_allocator);
    CHECK(omp_alloc(0, from) == NULL && omp_aligned_alloc(64, 0, from) == NULL);
    CHECK(omp_calloc(0, 8, from) == NULL && omp_calloc(8, 0, from) == NULL);
    CHECK(omp_alloc((size_t)-100, from) == NULL && omp_calloc((size_t)1 << 40, (size_t)1 << 40, from) == NULL);
    char* const zeros = omp_aligned_calloc(4096, 3, 1000, from);
    CHECK(zeros != NULL && is_aligned(zeros, 4096) && zeros[0] == 0 && zeros[2999] == 0);
    CHECK(omp_realloc(zeros, 0, from, from) == NULL);
    CHECK(omp_realloc(NULL, 0, from, from) == NULL);
    omp_free(omp_realloc(NULL, 10, from, from), from);
    omp_free(NULL, from);
  }
}

static void traits(void) {
  const omp_alloctrait_t aligned[] = {{omp_atk_alignment, 256}, {omp_atk_sync_hint, omp_atv_contended}};
  const omp_allocator_handle_t a = made(2, aligned);
  CHECK(a != omp_null_allocator);
  for (int size = 1; size < 3000; size *= 3) {
    char* const block = omp_alloc((size_t)size, a);
    CHECK(is_aligned(block, 256));
    char* const moved = omp_realloc(block, (size_t)size * 50, a, a);
    CHECK(is_aligned(moved, 256));
    omp_free(moved, a);
    char* const more = omp_aligned_alloc(1024, (size_t)size, a);
    CHECK(is_aligned(more, 1024));
    omp_free(more, a);
  }
  omp_destroy_allocator(a);
  const omp_alloctrait_t wrong[][1] = {{{omp_atk_alignment, 3}},
                                       {{omp_atk_alignment, 0}},
                                       {{(omp_alloctrait_key_t)99, 0}},
                                       {{omp_atk_access, 99}},
                                       {{omp_atk_fallback, 99}},
                                       {{omp_atk_pinned, omp_atv_true}}};
  for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) CHECK(made(1, wrong[i]) == omp_null_allocator);
  CHECK(omp_init_allocator((omp_memspace_handle_t)9, 0, NULL) == omp_null_allocator);
}

static void pools(void) {
  const omp_alloctrait_t nothing_else[] = {{omp_atk_pool_size, 4096}, {omp_atk_fallback, omp_atv_null_fb}};
  const omp_allocator_handle_t small = made(2, nothing_else);
  void* const most = omp_alloc(3000, small);
  CHECK(most != NULL && omp_alloc(3000, small) == NULL);
  char* const grown = omp_realloc(most, 3900, small, small); /* there is no room for both */
  CHECK(grown != NULL && omp_realloc(grown, 5000, small, small) == NULL);
  omp_free(grown, small);
  void* const again = omp_alloc(3900, small);
  CHECK(again != NULL);
  omp_free(again, small);

  const omp_alloctrait_t other[] = {
      {omp_atk_pool_size, 1000}, {omp_atk_fallback, omp_atv_allocator_fb}, {omp_atk_fb_data, small}};
  const omp_allocator_handle_t chained = made(3, other);
  void* const first = omp_alloc(900, chained);
  void* const second = omp_alloc(3000, chained); /* from the other one */
  CHECK(first != NULL && second != NULL && omp_alloc(3000, chained) == NULL && omp_alloc(3000, small) == NULL);
  omp_free(first, chained);
  omp_free(second, omp_null_allocator);

  const omp_alloctrait_t usual[] = {{omp_atk_pool_size, 100}};
  const omp_allocator_handle_t tiny = made(1, usual);
  void* const large = omp_alloc(100000, tiny); /* the default memory is the default fallback */
  CHECK(large != NULL);
  omp_free(large, tiny);
  omp_destroy_allocator(tiny);
  omp_destroy_allocator(chained);

  /* All members take from one pool, and give all back. */
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 2000; ++i) omp_free(omp_alloc(700, small), small);
  void* const all_again = omp_alloc(3900, small);
  CHECK(all_again != NULL);
  omp_free(all_again, small);
  omp_destroy_allocator(small);
}

static void defaults(void) {
  const omp_alloctrait_t nothing[] = {{omp_atk_pool_size, 10}, {omp_atk_fallback, omp_atv_null_fb}};
  const omp_allocator_handle_t none = made(2, nothing);
  CHECK(omp_get_default_allocator() == omp_default_mem_alloc);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) omp_set_default_allocator(none);
#pragma omp barrier
    void* const block = omp_alloc(100, omp_null_allocator);
    CHECK((block == NULL) == (omp_get_thread_num() == 1));
    omp_free(block, omp_null_allocator);
  }
  CHECK(omp_get_default_allocator() == omp_default_mem_alloc);
  omp_set_default_allocator(none);
#pragma omp parallel num_threads(2)
  CHECK(omp_get_default_allocator() == none);
  omp_set_default_allocator(omp_null_allocator);
  CHECK(omp_get_default_allocator() == omp_default_mem_alloc);
  omp_destroy_allocator(none);
}

int main(void) {
  predefined();
  traits();
  pools();
  defaults();
  int x = 5;
#pragma omp parallel num_threads(2) firstprivate(x) allocate(omp_default_mem_alloc : x)
  CHECK(x == 5);
  return failures != 0;
}
