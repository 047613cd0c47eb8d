// SPDX-License-Identifier: MIT
// tests/support/plain_thread.hpp -- the thread of a team's worker, out of a seam's own system_thread
//
// For headers that take the place of the system (LOCKSTEP_SYSTEM_SEAM), at their end.
#pragma once

#include <memory>
#include <system_error>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class plain_thread {
 public:
  /// Starts a thread that calls f(of). Returns 0, or the number of the system's error.
  int start(void* (*f)(void*), void* of) {
    try {
      native_ = std::make_unique<system_thread>(f, of);
    } catch (const std::system_error& error) {
      return error.code().value();
    }
    return 0;
  }
  void join() { native_->join(); }

 private:
  std::unique_ptr<system_thread> native_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
