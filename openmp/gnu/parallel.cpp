// SPDX-License-Identifier: MIT
// Regions, as compilers from GCC 4.9 on call them.
#include <cstdint>

#include "runtime/loops.hpp"
#include "runtime/ompt.hpp"
#include "runtime/parallel.hpp"
#include "runtime/task_reductions.hpp"

using namespace lockstep::openmp;

namespace {

proc_bind bind_of(unsigned flags) noexcept { return static_cast<proc_bind>(flags & 7u); }

void run_loop(part& self, outlined_function function, void* data, unsigned threads,
              const loop_spec& loop, unsigned flags) noexcept {
  region_request request;
  request.bind = bind_of(flags);
  request.loop = &loop;
  request.asked = threads;
  run_region(self, function, data, resolve_threads(self, threads), request);
}

}  // namespace

OPENMP_API void GOMP_parallel(outlined_function function, void* data, unsigned threads,
                              unsigned flags) {
  part& self = entered();
  region_request request;
  request.bind = bind_of(flags);
  request.asked = threads;
  run_region(self, function, data, resolve_threads(self, threads), request);
}

OPENMP_API unsigned GOMP_parallel_reductions(outlined_function function, void* data,
                                             unsigned threads, unsigned flags) {
  part& self = entered();
  const unsigned size = resolve_threads(self, threads);
  region_request request;
  request.bind = bind_of(flags);
  request.asked = threads;
  request.group = begin_parallel_reductions(*static_cast<std::uintptr_t**>(data), size);
  run_region(self, function, data, size, request);
  end_parallel_reductions(request.group);
  return size;
}

OPENMP_API void GOMP_parallel_loop_static(outlined_function function, void* data, unsigned threads,
                                          long start, long end, long increment, long chunk,
                                          unsigned flags) {
  run_loop(entered(), function, data, threads,
           loop_spec::of(start, end, increment).with(schedule_kind::fixed, true, chunk), flags);
}
OPENMP_API void GOMP_parallel_loop_dynamic(outlined_function function, void* data, unsigned threads,
                                           long start, long end, long increment, long chunk,
                                           unsigned flags) {
  run_loop(entered(), function, data, threads,
           loop_spec::of(start, end, increment).with(schedule_kind::dynamic, true, chunk), flags);
}
OPENMP_API void GOMP_parallel_loop_guided(outlined_function function, void* data, unsigned threads,
                                          long start, long end, long increment, long chunk,
                                          unsigned flags) {
  run_loop(entered(), function, data, threads,
           loop_spec::of(start, end, increment).with(schedule_kind::guided, true, chunk), flags);
}
OPENMP_API void GOMP_parallel_loop_nonmonotonic_dynamic(outlined_function function, void* data,
                                                        unsigned threads, long start, long end,
                                                        long increment, long chunk,
                                                        unsigned flags) {
  run_loop(entered(), function, data, threads,
           loop_spec::of(start, end, increment).with(schedule_kind::dynamic, false, chunk), flags);
}
OPENMP_API void GOMP_parallel_loop_nonmonotonic_guided(outlined_function function, void* data,
                                                       unsigned threads, long start, long end,
                                                       long increment, long chunk, unsigned flags) {
  run_loop(entered(), function, data, threads,
           loop_spec::of(start, end, increment).with(schedule_kind::guided, false, chunk), flags);
}
OPENMP_API void GOMP_parallel_loop_runtime(outlined_function function, void* data, unsigned threads,
                                           long start, long end, long increment, unsigned flags) {
  part& self = entered();
  run_loop(self, function, data, threads,
           as_runtime(loop_spec::of(start, end, increment), self, false), flags);
}
OPENMP_API void GOMP_parallel_loop_nonmonotonic_runtime(outlined_function function, void* data,
                                                        unsigned threads, long start, long end,
                                                        long increment, unsigned flags) {
  part& self = entered();
  run_loop(self, function, data, threads,
           as_runtime(loop_spec::of(start, end, increment), self, true), flags);
}
OPENMP_API void GOMP_parallel_loop_maybe_nonmonotonic_runtime(outlined_function function,
                                                              void* data, unsigned threads,
                                                              long start, long end, long increment,
                                                              unsigned flags) {
  part& self = entered();
  run_loop(self, function, data, threads,
           as_runtime(loop_spec::of(start, end, increment), self, true), flags);
}

OPENMP_API void GOMP_parallel_sections(outlined_function function, void* data, unsigned threads,
                                       unsigned count, unsigned flags) {
  part& self = entered();
  const loop_spec sections = sections_of(count);
  region_request request;
  request.bind = bind_of(flags);
  request.loop = &sections;
  request.asked = threads;
  run_region(self, function, data, resolve_threads(self, threads, count), request);
}

ALSO_IN_LIBOMP(
    "GOMP_parallel, GOMP_parallel_reductions, GOMP_parallel_loop_static, "
    "GOMP_parallel_loop_dynamic, GOMP_parallel_loop_guided, "
    "GOMP_parallel_loop_nonmonotonic_dynamic, GOMP_parallel_loop_nonmonotonic_guided, "
    "GOMP_parallel_loop_runtime, GOMP_parallel_loop_nonmonotonic_runtime, "
    "GOMP_parallel_loop_maybe_nonmonotonic_runtime, GOMP_parallel_sections");
