// SPDX-License-Identifier: MIT
// lockstep/adapters/fftw.hpp -- FFTW's parallel transforms on a team (layer: adapters)
//
//   fftw_init_threads();
//   fftw_threads_set_callback(lockstep::adapters::fftw_loop<lockstep::team>, &team);
//   fftw_plan_with_nthreads(static_cast<int>(team.size()));
//   fftw_plan plan = fftw_plan_dft_2d(256, 256, in, out, FFTW_FORWARD, FFTW_MEASURE);  // and so on, as without
//
// It is the same for fftwf_ and fftwl_: a process has one callback for each precision. Link with a library of FFTW that
// has threads (-lfftw3_threads, or -lfftw3_omp). With either, its own threads are not used.
//
//   FFTW-1  A plan's parts run on the members of the team: the caller and those that are awake or worth waking. A part
//           does not wait for another one, so a plan for more threads than members is right, too.
//   FFTW-2  Inside a region of the team, a member runs all parts of its transform itself. So members may transform
//           different data at once (fftw_execute_dft).
//   FFTW-3  Threads outside of regions take turns, one parallel step of a plan at a time.
//   FFTW-4  The team must live until the last transform has ended, or the callback is set to something else or null.
//
// Order  what happens before fftw_execute() happens before the plan's parts, and they before its return.
// Errors none of its own. FFTW is C: a request_stop() of the team leaves a transform incomplete, without a message.
// Cost   a loop of a team for each of the plan's parallel steps: two or so for a transform in two dimensions.
#ifndef LOCKSTEP_ADAPTERS_FFTW_HPP
#define LOCKSTEP_ADAPTERS_FFTW_HPP

#include <cstddef>

#include <lockstep/team.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace adapters {

/// For fftw_threads_set_callback, with a pointer to the team, or external_team: work(job) for each of `count` jobs.
template <class Team>
void fftw_loop(void* (*work)(char* job), char* jobs, std::size_t size, int count, void* of) {
  const auto run = [=](int job) { work(jobs + static_cast<std::size_t>(job) * size); };
  static_cast<Team*>(of)->for_each(0, count, run, grain(1));
}

}  // namespace adapters
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_ADAPTERS_FFTW_HPP
