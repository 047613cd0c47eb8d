// SPDX-License-Identifier: MIT
// src/platform/posix.hpp -- what calls of POSIX's systems have in common (layer: platform)
#ifndef LOCKSTEP_SRC_PLATFORM_POSIX_HPP
#define LOCKSTEP_SRC_PLATFORM_POSIX_HPP

#include <errno.h>
#include <time.h>

#include <climits>
#include <cstdint>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// errno is as it was, whatever is called while this lives.
class kept_errno {
 public:
  kept_errno() noexcept : saved_(errno) {}
  ~kept_errno() { errno = saved_; }
  kept_errno(const kept_errno&) = delete;
  kept_errno& operator=(const kept_errno&) = delete;

 private:
  const int saved_;
};

/// The longest time stands for all above.
template <class Time>
Time system_time(std::uint64_t nanoseconds) noexcept {
  constexpr std::uint64_t second = 1000000000, longest = std::uint64_t{INT_MAX} * second;
  const std::uint64_t time = nanoseconds < longest ? nanoseconds : longest;
  Time made;
  made.tv_sec = static_cast<decltype(made.tv_sec)>(time / second);
  made.tv_nsec = static_cast<decltype(made.tv_nsec)>(time % second);
  return made;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_POSIX_HPP
