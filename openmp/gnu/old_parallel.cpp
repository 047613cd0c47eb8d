// SPDX-License-Identifier: MIT
// Regions as compilers before GCC 4.9 called them: start, then the program calls the function itself, then end.
//
// So the program runs the part of member 0 between two calls of ours, but lockstep's team wants to call it. A thread of
// our own runs the region. It lends its member 0, with the part, to the thread that has called start.
#include <pthread.h>

#include <cstring>
#include <new>

#include "region/turns.hpp"

#include "runtime/loops.hpp"
#include "runtime/message.hpp"
#include "runtime/ompt.hpp"
#include "runtime/parallel.hpp"

namespace lockstep::openmp {

/// A region between its start and its end.
struct started_region {
  outlined_function function;
  void* data;
  unsigned size;
  const loop_spec* loop;
  part* outer;
  thread_record* record;  ///< of the thread that has started it
  const detail::nesting::region* outer_region;

  // Guarded by the lock.
  part* lent = nullptr;
  const detail::nesting::region* own_region = nullptr;
  bool is_given_back = false;

  loop_spec kept_loop{};
  pthread_t runner{};
  lone_part* alone = nullptr;
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t change = PTHREAD_COND_INITIALIZER;
};

namespace {

/// What the members of the region call.
void run_part(void* of) {
  started_region& region = *static_cast<started_region*>(of);
  part& self = here();
  self.function = region.function;
  if (self.rank != 0) return region.function(region.data);
  self.started = &region;
  pthread_mutex_lock(&region.lock);
  region.lent = &self;
  region.own_region = detail::innermost_region();
  pthread_cond_signal(&region.change);
  while (!region.is_given_back) pthread_cond_wait(&region.change, &region.lock);
  pthread_mutex_unlock(&region.lock);
}

void* run_region_for_another(void* of) {
  started_region& region = *static_cast<started_region*>(of);
  detail::innermost_region() = region.outer_region;
  region_request request;
  request.loop = region.loop;
  request.asked = region.size;
  run_region_with_pool_of(*region.record, *region.outer, run_part, &region, region.size, request);
  detail::innermost_region() = nullptr;
  if (has_tool()) ompt::end_worker();
  return nullptr;
}

void start(outlined_function function, void* data, unsigned size, const loop_spec* loop) noexcept {
  part& outer = here();
  started_region* const region = new (std::nothrow) started_region{
      function, data, size, nullptr, &outer, &this_record, detail::innermost_region()};
  if (region == nullptr) fail("Out of memory");
  if (loop != nullptr) {
    region->kept_loop = *loop;
    region->loop = &region->kept_loop;
  }
  if (size == 1) {
    region_request request;
    request.loop = region->loop;
    region->alone = new (std::nothrow) lone_part(outer, function, request);
    if (region->alone == nullptr) fail("Out of memory");
    region->alone->started = region;
    return;
  }
  const int error = pthread_create(&region->runner, nullptr, run_region_for_another, region);
  if (error != 0) fail("Thread creation failed: %s", std::strerror(error));
  pthread_mutex_lock(&region->lock);
  while (region->lent == nullptr) pthread_cond_wait(&region->change, &region->lock);
  pthread_mutex_unlock(&region->lock);
  detail::innermost_region() = region->own_region;
  this_record.current = region->lent;
}

void end() noexcept {
  started_region* const region = here().started;
  if (region == nullptr) return;
  if (region->alone != nullptr) {
    delete region->alone;
  } else {
    this_record.current = region->outer;
    detail::innermost_region() = region->outer_region;
    pthread_mutex_lock(&region->lock);
    region->is_given_back = true;
    pthread_cond_signal(&region->change);
    pthread_mutex_unlock(&region->lock);
    pthread_join(region->runner, nullptr);
  }
  delete region;
}

void start_loop(outlined_function function, void* data, unsigned threads,
                const loop_spec& loop) noexcept {
  start(function, data, resolve_threads(here(), threads), &loop);
}

}  // namespace
}  // namespace lockstep::openmp

using namespace lockstep::openmp;

OPENMP_IN_BOTH(void, GOMP_parallel_start)(outlined_function function, void* data,
                                          unsigned threads) {
  start(function, data, resolve_threads(here(), threads), nullptr);
}
OPENMP_IN_BOTH(void, GOMP_parallel_end)() { end(); }

#define LOOP_START(NAME, KIND)                                                         \
  OPENMP_IN_BOTH(void, GOMP_parallel_loop_##NAME##_start)                              \
  (outlined_function function, void* data, unsigned threads, long first, long last,    \
   long increment, long chunk) {                                                       \
    const loop_spec range = loop_spec::of(first, last, increment);                     \
    start_loop(function, data, threads, range.with(schedule_kind::KIND, true, chunk)); \
  }
LOOP_START(static, fixed)
LOOP_START(dynamic, dynamic)
LOOP_START(guided, guided)

OPENMP_IN_BOTH(void, GOMP_parallel_loop_runtime_start)(outlined_function function, void* data,
                                                       unsigned threads, long first, long last,
                                                       long increment) {
  start_loop(function, data, threads,
             as_runtime(loop_spec::of(first, last, increment), here(), false));
}
OPENMP_IN_BOTH(void, GOMP_parallel_sections_start)(outlined_function function, void* data,
                                                   unsigned threads, unsigned count) {
  const loop_spec sections = sections_of(count);
  start(function, data, resolve_threads(here(), threads, count), &sections);
}
