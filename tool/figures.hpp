// SPDX-License-Identifier: MIT
// tool/figures.hpp -- what a trace says in numbers: of each thread, each region, each wait, each decision
#pragma once

#include <string>
#include <vector>

#include "tool/activity.hpp"
#include "tool/trace.hpp"

namespace tool {

struct thread_figures {
  activity when;  // also outside of the window
  nanoseconds computed = 0, waited = 0, serial = 0;
  std::size_t parts = 0;
  std::size_t waits = 0;
  nanoseconds longest_wait = 0;
};

/// One run of a region or a loop. Its members are the threads that began a part of it.
struct region_run {
  std::uint32_t look = 0;
  span time;
  span counted;  // the part in the window; all figures below but the starts are of this part
  nanoseconds first_start = 0;  // when the first and the last member began
  nanoseconds last_start = 0;
  std::uint32_t members = 1;
  nanoseconds parallel = 0;  // how long at least two members computed
  nanoseconds lost = 0;      // the time that members came late or waited, summed up

  [[nodiscard]] nanoseconds skew() const { return last_start - first_start; }
};

/// All runs of the same name and place, or the time in which no region runs.
struct region_figures {
  std::string name;
  bool is_serial = false;
  std::size_t count = 0;
  std::uint32_t members = 1;  // of the run with the most
  nanoseconds total = 0, median = 0, worst = 0;
  nanoseconds median_skew = 0, worst_skew = 0;
  double parallel_share = 0;  // of `total`
  nanoseconds lost = 0;
  double lost_share = 0;  // of the time of all members
  span worst_time;
};

/// Slices of one kind, name and place in the source, or marks of one name.
struct named_figures {
  std::string name;
  std::size_t count = 0;
  nanoseconds total = 0, median = 0, worst = 0;
};

/// Figures of what lies in the window of the trace. Only `runs` has all runs.
struct figures {
  std::vector<thread_figures> threads;
  std::vector<region_run> runs;         // by begin
  std::vector<region_figures> regions;  // the longest total first
  std::vector<named_figures>
      constructs;                    // how long members waited in them; the longest total first
  std::vector<named_figures> nodes;  // and the user's regions; the longest total first
  std::vector<named_figures> waits;  // the longest total first
  std::vector<named_figures> marks;  // the most frequent first; no times
};

[[nodiscard]] figures figures_of(const trace& of);

/// Requires: there are values.
[[nodiscard]] nanoseconds median(std::vector<nanoseconds> values);

/// How long at least two of some spans, in any order, overlap.
[[nodiscard]] nanoseconds time_of_two(const std::vector<span>& spans);

}  // namespace tool
