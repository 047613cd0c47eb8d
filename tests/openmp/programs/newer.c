/* SPDX-License-Identifier: MIT */
/* What GCC 14 to 16 call and this machine's omp.h may not declare. Linked with the library, which has it. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../conformance/check.h"

void *GOMP_alloc(size_t, size_t, uintptr_t);
void GOMP_free(void *, uintptr_t);
void GOMP_add_alloc(void *);
bool GOMP_is_alloc(void *);
void *GOMP_target_map_indirect_ptr(void *);
void GOMP_interop(int, int, void ***, const int *, const char **, int, void **, int, void ***, unsigned, void **);
int omp_get_num_interop_properties(const void *);
intptr_t omp_get_interop_int(const void *, int, int *);
void *omp_get_interop_ptr(const void *, int, int *);
const char *omp_get_interop_str(const void *, int, int *);
const char *omp_get_interop_name(const void *, int);
const char *omp_get_interop_type_desc(const void *, int);
const char *omp_get_interop_rc_desc(const void *, int);
void omp_get_interop_str_(const char **, size_t *, const void *, int, int *);
void omp_get_interop_name_(const char **, size_t *, const void *, int);
void omp_get_interop_type_desc_(const char **, size_t *, const void *, int);
void omp_get_interop_rc_desc_(const char **, size_t *, const void *, int);
const char *omp_get_uid_from_device(int);
void omp_get_uid_from_device_(const char **, size_t *, int32_t);
void omp_get_uid_from_device_8_(const char **, size_t *, int64_t);
int omp_get_device_from_uid(const char *);
int omp_get_device_from_uid_(const char *, size_t);
void *omp_target_memset(void *, int, size_t, int);
void *omp_target_memset_async(void *, int, size_t, int, int, void **);
int omp_get_default_device(void);

/* As gfortran calls it: a scalar that the directive allocates is asked for where it is freed, by whoever does it. */
static void scalars_of_fortran(void) {
  void *blocks[300];
  for (int i = 0; i < 300; ++i) GOMP_add_alloc(blocks[i] = GOMP_alloc(8, 8, 1));
  int right = 0;
#pragma omp parallel for reduction(+ : right) num_threads(4)
  for (int i = 0; i < 300; ++i) {
    char other;
    right += GOMP_is_alloc(blocks[i]) && !GOMP_is_alloc(blocks[i]) && !GOMP_is_alloc(&other);
    GOMP_free(blocks[i], 0);
  }
  CHECK(right == 300);
  GOMP_add_alloc(NULL);
  CHECK(!GOMP_is_alloc(NULL));
}

/* There is no foreign runtime: all objects are omp_interop_none. */
static void interoperability(void) {
  void *objects[2] = {&objects, &objects};
  void **addresses[2] = {&objects[0], &objects[1]};
  const int kinds[2] = {1, 2};
  GOMP_interop(0, 2, addresses, kinds, NULL, 0, NULL, 0, NULL, 0, NULL);
  CHECK(objects[0] == NULL && objects[1] == NULL);
  GOMP_interop(0, 0, NULL, NULL, NULL, 1, objects, 1, addresses, 1, NULL);
  CHECK(objects[0] == NULL);
  CHECK(omp_get_num_interop_properties(NULL) == 0);
  for (int property = -11; property < 3; ++property) {
    const int is_one = property >= -9 && property <= -1, wanted = is_one ? -1 : -2;
    int result = 7;
    CHECK(omp_get_interop_int(NULL, property, &result) == 0 && result == wanted);
    result = 7;
    CHECK(omp_get_interop_ptr(NULL, property, &result) == NULL && result == wanted);
    result = 7;
    CHECK(omp_get_interop_str(NULL, property, &result) == NULL && result == wanted);
    CHECK(omp_get_interop_str(NULL, property, NULL) == NULL);
    CHECK((omp_get_interop_name(NULL, property) != NULL) == is_one);
    CHECK(omp_get_interop_type_desc(NULL, property) == NULL);
  }
  CHECK(strcmp(omp_get_interop_name(NULL, -1), "fr_id") == 0);
  CHECK(strcmp(omp_get_interop_name(NULL, -9), "targetsync") == 0);
  for (int result = -8; result < 4; ++result) {
    CHECK((omp_get_interop_rc_desc(NULL, result) != NULL) == (result >= -5 && result <= 1));
  }
  const char *text;
  size_t length = 7;
  int result = 7;
  omp_get_interop_str_(&text, &length, NULL, -2, &result);
  CHECK(text == NULL && length == 0 && result == -1);
  omp_get_interop_type_desc_(&text, &length, NULL, -2);
  CHECK(text == NULL && length == 0);
  omp_get_interop_name_(&text, &length, NULL, -5);
  CHECK(length == 10 && memcmp(text, "device_num", 10) == 0);
  omp_get_interop_rc_desc_(&text, &length, NULL, 0);
  CHECK(length == strlen(omp_get_interop_rc_desc(NULL, 0)));
}

static void names_of_devices(void) {
  const char *const host = omp_get_uid_from_device(-1);
  CHECK(strcmp(host, "OMP_INITIAL_DEVICE") == 0);
  CHECK(omp_get_uid_from_device(0) == host && omp_get_uid_from_device(-5) == host);
  CHECK(omp_get_uid_from_device(1) == NULL && omp_get_uid_from_device(-4) == NULL);
  CHECK(omp_get_device_from_uid(host) == -1 && omp_get_device_from_uid("none") == -4);
  CHECK(omp_get_device_from_uid(NULL) == -4);
  CHECK(omp_get_device_from_uid_("OMP_INITIAL_DEVICEx", 18) == -1 && omp_get_device_from_uid_("x", 1) == -4);
  const char *text;
  size_t length;
  omp_get_uid_from_device_(&text, &length, 0);
  CHECK(text == host && length == 18);
  omp_get_uid_from_device_8_(&text, &length, 77);
  CHECK(text == NULL && length == 0);
}

static void memory(void) {
  char block[5] = "abcd";
  CHECK(omp_target_memset(block, 'x', 2, 0) == block && strcmp(block, "xxcd") == 0);
  CHECK(omp_target_memset(NULL, 'x', 0, 0) == NULL);
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    CHECK(omp_target_memset_async(block + 2, 'y', 2, -1, 0, NULL) == block + 2);
#pragma omp taskwait
    CHECK(strcmp(block, "xxyy") == 0);
  }
  CHECK(GOMP_target_map_indirect_ptr((void *)memory) == (void *)memory);
}

int main(void) {
  scalars_of_fortran();
  interoperability();
  names_of_devices();
  memory();
  return failures != 0;
}
