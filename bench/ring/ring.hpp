// SPDX-License-Identifier: MIT
// bench/ring/ring.hpp -- the document's token ring, for one kind of place
//
// What a wait leaves time for is measured as in the document: each look at the place that finds nothing is followed by an
// addition, which depends on the one before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <lockstep/padded.hpp>
#include <optional>
#include <vector>

#include "support/crew.hpp"
#include "support/placement.hpp"
#include "support/rows.hpp"
#include "support/stopwatch.hpp"

namespace bench::ring {

/// Seconds after which a ring ends before its time: threads that poll, and took nanoseconds a hop in
/// their trial, take a time slice for each when they come to share a CPU.
inline constexpr double longest_run = 2;

/// At least 64 hops lie between looks at the clock, which take as long as a fast hop.
inline std::size_t laps_between_looks(std::size_t threads) { return (64 + threads - 1) / threads; }

/// What the first thread does when the token comes by: it measures, and decides when to end. Plain
/// data: only the holder of the token touches it.
class lap_clock {
 public:
  /// Laps before `begin` are not measured; the token stops in lap `end`.
  lap_clock(std::size_t threads, std::size_t begin, std::size_t end)
      : looks_(laps_between_looks(threads)), begin_(begin), end_(end) {}

  void token_is_here(std::size_t lap) {
    if (lap % looks_ == 0 && run_.wall_seconds() > longest_run) end_soon(lap);
    if (lap == begin_) watch_.emplace();
    if (lap == end_) time_ = watch_->elapsed();
  }

  [[nodiscard]] bool begins_after(std::size_t lap) const { return lap + 1 == begin_; }
  [[nodiscard]] bool ends_after(std::size_t lap) const { return lap + 1 == end_; }
  [[nodiscard]] bool ends_in(std::size_t lap) const { return lap == end_; }

  /// When all threads have ended.
  [[nodiscard]] sample taken() const { return {end_ - begin_, time_}; }

 private:
  /// After one measured lap at least.
  void end_soon(std::size_t lap) {
    begin_ = std::min(begin_, lap + 1);
    end_ = std::min(end_, std::max(lap, begin_) + 1);
  }

  const std::size_t looks_;
  std::size_t begin_, end_;
  stopwatch run_;
  std::optional<stopwatch> watch_;
  elapsed_time time_;
};

/// The ring goes round `laps` times after a quarter of that, which is not measured.
template <class Place, bool CountsAdditions>
class token_ring {
 public:
  token_ring(std::size_t threads, std::size_t laps, placement where)
      : where_(where),
        places_(threads),
        additions_(threads),
        clock_(threads, laps / 4 + 1, laps / 4 + 1 + laps) {}

  sample run() {
    crew workers(places_.size(), [this](std::size_t rank) {
      place(where_, rank);
      additions_[rank] = work(rank);
    });
    places_[0].value.fill();
    workers.join();
    sample taken = clock_.taken();
    for (const double sum : additions_) taken.counted += sum;
    taken.counted /= static_cast<double>(taken.operations * places_.size());
    return taken;
  }

 private:
  double work(std::size_t rank) {
    Place& mine = places_[rank].value;
    Place& next = places_[rank + 1 == places_.size() ? 0 : rank + 1].value;
    double sum = 0;
    const auto idle = [&] {
      if constexpr (CountsAdditions) sum += 1.0;
    };
    for (std::size_t lap = 0;; ++lap) {
      mine.wait_until_full(idle);
      if (rank == 0) {
        clock_.token_is_here(lap);
        if (clock_.ends_in(lap)) return sum;
      }
      const bool begins = clock_.begins_after(lap), ends = clock_.ends_after(lap);
      next.wait_until_empty(idle);
      next.fill();
      mine.empty();
      if (begins) sum = 0;
      if (ends && rank != 0) return sum;
    }
  }

  const placement where_;
  std::vector<lockstep::padded<Place>> places_;
  std::vector<double> additions_;
  lap_clock clock_;
};

}  // namespace bench::ring
