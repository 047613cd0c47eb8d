// SPDX-License-Identifier: MIT
// bench/baselines/std_objects.hpp -- the standard library's mutex, condition variable and barrier
#pragma once

#include <barrier>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string_view>

namespace bench {

/// A condition variable with the shape of std::condition_variable, waited on with a lock that is held.
template <class Condition, class Mutex>
class adopted_condition {
 public:
  void wait(Mutex& held) {
    std::unique_lock<Mutex> lock(held, std::adopt_lock);
    changed_.wait(lock);
    lock.release();
  }
  void notify_all() { changed_.notify_all(); }

 private:
  Condition changed_;
};

struct std_objects {
  static constexpr std::string_view name = "std";
  using mutex = std::mutex;
  using condition = adopted_condition<std::condition_variable, std::mutex>;

  class barrier {
   public:
    explicit barrier(std::size_t participants) : all_(static_cast<std::ptrdiff_t>(participants)) {}
    bool arrive_and_wait(std::size_t) {
      all_.arrive_and_wait();
      return true;
    }

   private:
    std::barrier<> all_;
  };
};

}  // namespace bench
