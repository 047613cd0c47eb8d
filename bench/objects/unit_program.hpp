// SPDX-License-Identifier: MIT
// bench/objects/unit_program.hpp -- the program of Argobots' pull request #306, for any library
//
// Between two barriers (of the C library, whatever is measured) every thread repeats one of three
// operations. Three differences to the document: the threads are dealt out over the CPUs before they
// begin, or new ones would share a CPU for a while; they do a quarter of the repeats beforehand; and
// the number that the loops of the condition program look at without the lock is atomic (relaxed),
// where the document's is a data race.
#pragma once

#include <atomic>
#include <cstddef>
#include <lockstep/padded.hpp>
#include <optional>
#include <stdexcept>

#include "baselines/standard.hpp"
#include "baselines/sync_objects.hpp"
#include "support/crew.hpp"
#include "support/placement.hpp"
#include "support/stopwatch.hpp"

namespace bench::objects {

template <has_mutex Library>
class mutex_mode {
 public:
  explicit mutex_mode(std::size_t) {}
  void reset() {}
  void repeat(std::size_t, std::size_t repeats) {
    for (std::size_t i = 0; i < repeats; ++i) {
      mutex_.value.lock();
      // Do nothing.
      mutex_.value.unlock();
    }
  }
  [[nodiscard]] bool is_done(std::size_t) const { return true; }

 private:
  lockstep::padded<typename Library::mutex> mutex_;
};

/// A chain: the thread whose turn it is counts on and tells all others.
template <has_condition Library>
class condition_mode {
 public:
  /// Requires threads > 1.
  explicit condition_mode(std::size_t threads) : threads_(threads) {}
  void reset() { value_.value.store(0, std::memory_order_relaxed); }

  void repeat(std::size_t rank, std::size_t repeats) {
    while (value() < repeats) {
      mutex_.value.lock();
      if (value() % threads_ == rank) {
        value_.value.store(value() + 1, std::memory_order_relaxed);
        changed_.value.notify_all();
      } else if (value() < repeats) {
        changed_.value.wait(mutex_.value);
      }
      mutex_.value.unlock();
    }
  }
  /// The threads that came late may have counted on, each once.
  [[nodiscard]] bool is_done(std::size_t repeats) const {
    return value() >= repeats && value() < repeats + threads_;
  }

 private:
  [[nodiscard]] std::size_t value() const { return value_.value.load(std::memory_order_relaxed); }

  const std::size_t threads_;
  lockstep::padded<typename Library::mutex> mutex_;
  lockstep::padded<typename Library::condition> changed_;
  lockstep::padded<std::atomic<std::size_t>> value_;
};

template <has_barrier Library>
class barrier_mode {
 public:
  explicit barrier_mode(std::size_t threads) : barrier_(threads) {}
  void reset() {}
  void repeat(std::size_t rank, std::size_t repeats) {
    for (std::size_t i = 0; i < repeats; ++i) barrier_.arrive_and_wait(rank);
  }
  [[nodiscard]] bool is_done(std::size_t) const { return true; }

 private:
  typename Library::barrier barrier_;
};

/// What `repeats` operations by each of `threads` threads take.
template <class Mode>
elapsed_time run_unit_program(std::size_t threads, std::size_t repeats) {
  Mode subject(threads);
  standard::barrier all(threads);
  elapsed_time result;
  crew workers(threads, [&](std::size_t rank) {
    place(placement::dealt, rank);
    subject.repeat(rank, repeats / 4 + 1);
    all.arrive_and_wait(rank);
    std::optional<stopwatch> watch;
    if (rank == 0) {
      subject.reset();
      watch.emplace();
    }
    all.arrive_and_wait(rank);
    subject.repeat(rank, repeats);
    all.arrive_and_wait(rank);
    if (watch) result = watch->elapsed();
  });
  workers.join();
  if (!subject.is_done(repeats)) throw std::logic_error("the threads did not do what they should");
  return result;
}

}  // namespace bench::objects
