// SPDX-License-Identifier: MIT
// openmp/runtime/parallel.hpp -- regions: how many threads, and what they do; teams
#ifndef LOCKSTEP_OPENMP_RUNTIME_PARALLEL_HPP
#define LOCKSTEP_OPENMP_RUNTIME_PARALLEL_HPP

#include "loop_cursor.hpp"
#include "part.hpp"

namespace lockstep::openmp {

/// What the compiler asks for besides the function and its data.
struct region_request {
  proc_bind bind = proc_bind::no;  ///< no: not given
  const loop_spec* loop =
      nullptr;                  ///< the loop of a combined construct, with which each member begins
  task_group* group = nullptr;  ///< of `parallel` with task reductions
  int threads_inside = 0;       ///< for regions inside; 0: not given
  unsigned asked = 0;           ///< num_threads(asked); 0: not given
  part_body body =
      nullptr;  ///< calls the function with the data and one more word; null: function(data)
  void* more = nullptr;
};

/// How many threads a region gets that `self` encounters. `asked`: num_threads(asked), or 0. `sections`: those of a
/// parallel sections construct, or 0. If the threads are taken from a thread limit, run_region() gives them back.
unsigned resolve_threads(part& self, unsigned asked, unsigned sections = 0) noexcept;

/// Runs a region with as many threads as resolve_threads() has returned.
void run_region(part& self, outlined_function function, void* data, unsigned size,
                const region_request& request) noexcept;
/// Runs a region with as many threads as `request` asks for.
void run_region(part& self, outlined_function function, void* data,
                const region_request& request) noexcept;

/// Runs a region of 2 or more threads, with the threads of the thread that has `record`.
void run_region_with_pool_of(thread_record& record, part& self, outlined_function function,
                             void* data, unsigned size, const region_request& request) noexcept;

/// Runs teams one after another on the encountering thread; each has all threads for its regions. `teams` and
/// `thread_limit` are 0 if the program gives none.
void run_teams(part& self, outlined_function function, void* data, unsigned teams,
               int thread_limit) noexcept;

/// Ends the threads that the calling thread has for its regions; later regions start new threads. False if the thread
/// is in a region.
bool end_threads() noexcept;

/// A part of a region that has one member, on the calling thread, as long as this lives.
struct lone_part : part {
  lone_part(part& encountering, outlined_function called, const region_request& request) noexcept;
  ~lone_part();
  lone_part(const lone_part&) = delete;
  lone_part& operator=(const lone_part&) = delete;
};

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_PARALLEL_HPP
