// SPDX-License-Identifier: MIT
// src/platform/plain_thread.hpp -- a thread that calls a plain function: what a team starts its workers with (layer: platform)
//
// A std::thread, without what that includes where the system has threads of its own. Part of the system seam (system.hpp).
#ifndef LOCKSTEP_SRC_PLATFORM_PLAIN_THREAD_HPP
#define LOCKSTEP_SRC_PLATFORM_PLAIN_THREAD_HPP

#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/system.hpp>

#if (defined(__unix__) || defined(__APPLE__)) && !defined(LOCKSTEP_SYSTEM_SEAM)
#include <pthread.h>
#elif defined(_WIN32) && !defined(LOCKSTEP_SYSTEM_SEAM)
#include <errno.h>
#include <process.h>

#include <new>

#include "windows.hpp"
#else
#include <system_error>
#include <thread>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if (defined(__unix__) || defined(__APPLE__)) && !defined(LOCKSTEP_SYSTEM_SEAM)
class plain_thread {
 public:
  /// f(of). Returns 0, or the number of the system's error.
  int start(void* (*f)(void*), void* of) noexcept {
    return pthread_create(&native_, nullptr, f, of);
  }
  void join() noexcept { pthread_join(native_, nullptr); }

 private:
  pthread_t native_ = pthread_t();
};
#elif defined(_WIN32) && !defined(LOCKSTEP_SYSTEM_SEAM)
class plain_thread {
 public:
  int start(void* (*f)(void*), void* of) noexcept {
    call* const what = new (std::nothrow) call{f, of};
    if (what == nullptr) return ENOMEM;
    native_ = reinterpret_cast<void*>(_beginthreadex(nullptr, 0, run, what, 0, nullptr));
    if (native_ != nullptr) return 0;
    delete what;
    return EAGAIN;
  }
  void join() noexcept {
    WaitForSingleObject(native_, 0xffffffff);
    CloseHandle(native_);
  }

 private:
  struct call {
    void* (*f)(void*);
    void* of;
  };
  static unsigned __stdcall run(void* of) {
    const call what = *static_cast<call*>(of);
    delete static_cast<call*>(of);
    what.f(what.of);
    return 0;
  }

  void* native_ = nullptr;
};
#else
class plain_thread {
#if defined(LOCKSTEP_SYSTEM_SEAM)
  using thread = system_thread;
#else
  using thread = std::thread;
#endif

 public:
  int start(void* (*f)(void*), void* of) {
#if LOCKSTEP_HAS_EXCEPTIONS
    try {
      native_.reset(new thread(f, of));
    } catch (const std::system_error& error) {
      return error.code().value();
    }
#else
    native_.reset(new thread(f, of));
#endif
    return 0;
  }
  void join() { native_->join(); }

 private:
  owner<thread> native_;
};
#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_PLAIN_THREAD_HPP
