// SPDX-License-Identifier: MIT
// bench/primitives/scheduler.hpp -- an experiment with its threads, ready to be timed
//
// What is counted are operations: hops of the token in a ring, rounds of fork and join otherwise.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace bench::primitives {

/// The constructor starts the threads; the destructor ends them if finish() has not.
class scheduler {
 public:
  scheduler() = default;
  virtual ~scheduler() = default;
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;

  /// What is timed.
  virtual void run(std::size_t operations) = 0;

  /// Ends and joins the threads. True if, since the start, every thread had exactly the turns that
  /// `operations` ask for: a mechanism that lets threads through too early or too often is found out.
  [[nodiscard]] virtual bool finish(std::size_t operations) = 0;
};

using scheduler_maker = std::function<std::unique_ptr<scheduler>(std::size_t threads)>;

/// How often each thread of a scheduler did its part.
using turn_counts = std::vector<std::size_t>;

}  // namespace bench::primitives
