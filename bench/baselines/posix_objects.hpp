// SPDX-License-Identifier: MIT
// bench/baselines/posix_objects.hpp -- the C library's mutex, condition variable and barrier
#pragma once

#include <pthread.h>

#include <string_view>

#include "baselines/standard.hpp"

namespace bench {

struct posix_objects {
  static constexpr std::string_view name = "pthread";

  class mutex {
   public:
    mutex() = default;
    ~mutex() { pthread_mutex_destroy(&handle_); }
    mutex(const mutex&) = delete;
    mutex& operator=(const mutex&) = delete;

    void lock() { pthread_mutex_lock(&handle_); }
    void unlock() { pthread_mutex_unlock(&handle_); }

   private:
    friend posix_objects;
    pthread_mutex_t handle_ = PTHREAD_MUTEX_INITIALIZER;
  };

  class condition {
   public:
    condition() = default;
    ~condition() { pthread_cond_destroy(&handle_); }
    condition(const condition&) = delete;
    condition& operator=(const condition&) = delete;

    void wait(mutex& held) { pthread_cond_wait(&handle_, &held.handle_); }
    void notify_all() { pthread_cond_broadcast(&handle_); }

   private:
    pthread_cond_t handle_ = PTHREAD_COND_INITIALIZER;
  };

  using barrier = standard::barrier;
};

}  // namespace bench
