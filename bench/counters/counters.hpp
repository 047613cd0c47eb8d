// SPDX-License-Identifier: MIT
// bench/counters/counters.hpp -- the counters of the document, and two more
//
// A count that is not behind a lock is a relaxed load and a relaxed store: the three steps of the
// document's ++*sum, but defined behaviour when threads race. The document's loop was compiled without
// optimisation; being atomic keeps the optimiser from adding the whole loop up at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <lockstep/padded.hpp>
#include <numeric>
#include <vector>

namespace bench::counters {

using sum = std::atomic<std::uint64_t>;

inline void count_up(sum& to, std::uint64_t count) {
  while (count-- > 0) {
    to.store(to.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
}

/// All on one sum, without any agreement: counts get lost.
class racy_counter {
 public:
  explicit racy_counter(std::size_t) {}
  void work(std::size_t, std::uint64_t count) { count_up(sum_, count); }
  [[nodiscard]] std::uint64_t result() const { return sum_; }

 private:
  alignas(lockstep::cache_line_size) sum sum_{0};
};

/// A sum for each, side by side on one cache line.
class false_sharing_counter {
 public:
  explicit false_sharing_counter(std::size_t threads) : sums_(threads) {}
  void work(std::size_t rank, std::uint64_t count) { count_up(sums_[rank], count); }
  [[nodiscard]] std::uint64_t result() const {
    return std::accumulate(sums_.begin(), sums_.end(), std::uint64_t{0});
  }

 private:
  std::vector<sum> sums_;
};

/// A sum for each, on a cache line of its own.
class padded_counter {
 public:
  explicit padded_counter(std::size_t threads) : sums_(threads) {}
  void work(std::size_t rank, std::uint64_t count) { count_up(sums_[rank].value, count); }
  [[nodiscard]] std::uint64_t result() const {
    std::uint64_t total = 0;
    for (const lockstep::padded<sum>& each : sums_) total += each.value;
    return total;
  }

 private:
  std::vector<lockstep::padded<sum>> sums_;
};

/// A plain sum behind a lock, which lies elsewhere, as in the document.
template <class Mutex>
class locked_counter {
 public:
  explicit locked_counter(std::size_t) {}
  void work(std::size_t, std::uint64_t count) {
    while (count-- > 0) {
      mutex_.value.lock();
      ++sum_.value;
      mutex_.value.unlock();
    }
  }
  [[nodiscard]] std::uint64_t result() const { return sum_.value; }

 private:
  lockstep::padded<Mutex> mutex_;
  lockstep::padded<std::uint64_t> sum_;
};

class atomic_counter {
 public:
  explicit atomic_counter(std::size_t) {}
  void work(std::size_t, std::uint64_t count) {
    while (count-- > 0) sum_.fetch_add(1, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t result() const { return sum_; }

 private:
  alignas(lockstep::cache_line_size) sum sum_{0};
};

}  // namespace bench::counters
