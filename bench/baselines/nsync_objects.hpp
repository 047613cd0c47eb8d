// SPDX-License-Identifier: MIT
// bench/baselines/nsync_objects.hpp -- nsync's mutex and condition variable
#pragma once

#include <nsync_cv.h>
#include <nsync_mu.h>

#include <string_view>

namespace bench {

struct nsync_objects {
  static constexpr std::string_view name = "nsync";

  class mutex {
   public:
    void lock() { nsync::nsync_mu_lock(&handle_); }
    void unlock() { nsync::nsync_mu_unlock(&handle_); }

   private:
    friend nsync_objects;
    nsync::nsync_mu handle_ = NSYNC_MU_INIT;
  };

  class condition {
   public:
    void wait(mutex& held) { nsync::nsync_cv_wait(&handle_, &held.handle_); }
    void notify_all() { nsync::nsync_cv_broadcast(&handle_); }

   private:
    nsync::nsync_cv handle_ = NSYNC_CV_INIT;
  };
};

}  // namespace bench
