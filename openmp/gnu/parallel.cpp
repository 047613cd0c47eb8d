// SPDX-License-Identifier: MIT
// Regions, as compilers from GCC 4.9 on call them.
#include <cstdint>

#include "runtime/loops.hpp"
#include "runtime/ompt.hpp"
#include "runtime/parallel.hpp"
#include "runtime/task_groups.hpp"

using namespace lockstep::openmp;

namespace {

region_request request_of(unsigned threads, unsigned flags, const loop_spec* loop = nullptr) {
  region_request request;
  request.bind = static_cast<proc_bind>(flags & 7u);
  request.loop = loop;
  request.asked = threads;
  return request;
}

void run_loop(part& self, outlined_function function, void* data, unsigned threads,
              const loop_spec& loop, unsigned flags) noexcept {
  run_region(self, function, data, request_of(threads, flags, &loop));
}

}  // namespace

OPENMP_IN_BOTH(void, GOMP_parallel)(outlined_function function, void* data, unsigned threads,
                                    unsigned flags) {
  run_region(entered(), function, data, request_of(threads, flags));
}

OPENMP_IN_BOTH(unsigned, GOMP_parallel_reductions)(outlined_function function, void* data,
                                                   unsigned threads, unsigned flags) {
  part& self = entered();
  const unsigned size = resolve_threads(self, threads);
  region_request request = request_of(threads, flags);
  request.group = begin_parallel_reductions(*static_cast<std::uintptr_t**>(data), size);
  run_region(self, function, data, size, request);
  end_parallel_reductions(request.group);
  return size;
}

#define PARALLEL_LOOP(NAME, KIND, MONOTONIC)                                                       \
  OPENMP_IN_BOTH(void, GOMP_parallel_loop_##NAME)                                                  \
  (outlined_function function, void* data, unsigned threads, long start, long end, long increment, \
   long chunk, unsigned flags) {                                                                   \
    const loop_spec range = loop_spec::of(start, end, increment);                                  \
    run_loop(entered(), function, data, threads,                                                   \
             range.with(schedule_kind::KIND, MONOTONIC, chunk), flags);                            \
  }
#define PARALLEL_LOOP_AT_RUNTIME(NAME, MAY_BE_NONMONOTONIC)                                        \
  OPENMP_IN_BOTH(void, GOMP_parallel_loop_##NAME)                                                  \
  (outlined_function function, void* data, unsigned threads, long start, long end, long increment, \
   unsigned flags) {                                                                               \
    part& self = entered();                                                                        \
    const loop_spec range = loop_spec::of(start, end, increment);                                  \
    run_loop(self, function, data, threads, as_runtime(range, self, MAY_BE_NONMONOTONIC), flags);  \
  }

PARALLEL_LOOP(static, fixed, true)
PARALLEL_LOOP(dynamic, dynamic, true)
PARALLEL_LOOP(guided, guided, true)
PARALLEL_LOOP(nonmonotonic_dynamic, dynamic, false)
PARALLEL_LOOP(nonmonotonic_guided, guided, false)
PARALLEL_LOOP_AT_RUNTIME(runtime, false)
PARALLEL_LOOP_AT_RUNTIME(nonmonotonic_runtime, true)
PARALLEL_LOOP_AT_RUNTIME(maybe_nonmonotonic_runtime, true)

OPENMP_IN_BOTH(void, GOMP_parallel_sections)(outlined_function function, void* data,
                                             unsigned threads, unsigned count, unsigned flags) {
  part& self = entered();
  const loop_spec sections = sections_of(count);
  run_region(self, function, data, resolve_threads(self, threads, count),
             request_of(threads, flags, &sections));
}
