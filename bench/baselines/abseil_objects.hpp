// SPDX-License-Identifier: MIT
// bench/baselines/abseil_objects.hpp -- Abseil's mutex and condition variable
//
// absl::Barrier is for one use only, so it has no part in a loop.
#pragma once

#include <absl/synchronization/mutex.h>

#include <string_view>

namespace bench {

struct abseil_objects {
  static constexpr std::string_view name = "abseil";

  class mutex {
   public:
    void lock() { handle_.Lock(); }
    void unlock() { handle_.Unlock(); }

   private:
    friend abseil_objects;
    absl::Mutex handle_;
  };

  class condition {
   public:
    void wait(mutex& held) { handle_.Wait(&held.handle_); }
    void notify_all() { handle_.SignalAll(); }

   private:
    absl::CondVar handle_;
  };
};

}  // namespace bench
