// SPDX-License-Identifier: MIT
// bench/ring/ring.hpp -- the document's token ring, for one kind of place
//
// The latency of a hop is too short for a clock, so the first thread looks at the clock once in a
// stretch of laps. What a wait leaves time for is measured as in the document: each look at the place
// that finds nothing is followed by an addition, which depends on the one before.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <lockstep/padded.hpp>
#include <optional>
#include <vector>

#include "support/crew.hpp"
#include "support/placement.hpp"
#include "support/stopwatch.hpp"

namespace bench::ring {

struct ring_sample {
  std::size_t operations = 0;  // laps; fewer than asked for if it was cut
  elapsed_time time;
  std::vector<double> stretches_ns;  // time of a hop, mean of a stretch
  double additions = 0;              // in a wait for the token, mean over all threads
};

/// Seconds after which a ring ends before its time: threads that poll, and took nanoseconds a hop in
/// their trial, take a time slice for each when they come to share a CPU.
inline constexpr double longest_run = 2;

/// At least so many hops between looks at the clock, which take as long as a fast hop.
inline constexpr std::size_t stretch_hops = 64;

inline std::size_t stretch_laps(std::size_t threads) {
  return (stretch_hops + threads - 1) / threads;
}

/// What the first thread does when the token comes by: it measures, and decides when to end. Plain
/// data: only the holder of the token touches it.
class lap_clock {
 public:
  /// Laps before `begin` are not measured; the token stops in lap `end`.
  lap_clock(std::size_t threads, std::size_t begin, std::size_t end)
      : threads_(threads), begin_(begin), end_(end), stretch_(stretch_laps(threads)) {
    stamps_.reserve((end - begin) / stretch_ + 2);
  }

  void token_is_here(std::size_t lap) {
    if (lap % stretch_ == 0 && run_.wall_seconds() > longest_run) end_soon(lap);
    if (lap < begin_) return;
    const std::size_t done = lap - begin_;
    if (done == 0) watch_.emplace();
    if (done % stretch_ == 0) stamps_.push_back(std::chrono::steady_clock::now());
    if (lap == end_) time_ = watch_->elapsed();
  }

  [[nodiscard]] bool begins_after(std::size_t lap) const { return lap + 1 == begin_; }
  [[nodiscard]] bool ends_after(std::size_t lap) const { return lap + 1 == end_; }
  [[nodiscard]] bool ends_in(std::size_t lap) const { return lap == end_; }

  /// When all threads have ended.
  [[nodiscard]] ring_sample sample() const {
    const auto hops = static_cast<double>(stretch_ * threads_);
    ring_sample result{end_ - begin_, time_, {}, 0};
    for (std::size_t i = 1; i < stamps_.size(); ++i) {
      const std::chrono::duration<double, std::nano> stretch = stamps_[i] - stamps_[i - 1];
      result.stretches_ns.push_back(stretch.count() / hops);
    }
    return result;
  }

 private:
  /// After one measured lap at least.
  void end_soon(std::size_t lap) {
    begin_ = std::min(begin_, lap + 1);
    end_ = std::min(end_, std::max(lap, begin_) + 1);
  }

  const std::size_t threads_;
  std::size_t begin_, end_;
  const std::size_t stretch_;
  stopwatch run_;
  std::optional<stopwatch> watch_;
  std::vector<std::chrono::steady_clock::time_point> stamps_;
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

  ring_sample run() {
    crew workers(places_.size(), [this](std::size_t rank) {
      place(where_, rank);
      additions_[rank] = work(rank);
    });
    places_[0].value.fill();
    workers.join();
    ring_sample sample = clock_.sample();
    for (const double sum : additions_) sample.additions += sum;
    sample.additions /= static_cast<double>(sample.operations * places_.size());
    return sample;
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
