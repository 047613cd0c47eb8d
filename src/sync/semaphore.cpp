// SPDX-License-Identifier: MIT
// src/sync/semaphore.cpp -- how threads wait for permits, and the errors of a semaphore (layer: sync)
#include <lockstep/semaphore.hpp>

#include <cstdio>
#include <stdexcept>

#include <lockstep/detail/platform/error.hpp>

#include "../wait/parking_lot.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What the bits of a semaphore mean (parking_lot.hpp). All threads want the same: a permit.
struct semaphore_rules {
  static constexpr parking_lot::kind queue = parking_lot::kind::semaphore;
  static constexpr bool backs_off = false;

  static constexpr std::uint32_t waiting = 1, one_permit = 2;

  static bool may_take(std::uint32_t word, std::uint32_t) noexcept {
    return word >= one_permit && (word & waiting) == 0;
  }
  static bool may_be_given(std::uint32_t word, std::uint32_t) noexcept {
    return word >= one_permit;
  }
  static std::uint32_t taken(std::uint32_t word, std::uint32_t) noexcept {
    return word - one_permit;
  }
  static std::uint32_t marked(std::uint32_t word, std::uint32_t) noexcept { return word | waiting; }
  static std::uint32_t without_waiters(std::uint32_t word) noexcept { return word & ~waiting; }
};
static_assert(parking_lot::without_waiters(semaphore_rules::queue) == ~semaphore_rules::waiting,
              "PARKING-4");

LOCKSTEP_INLINE bool permit_count::take_slowly(deadline until, call_site where) {
  return handed_word<semaphore_rules>(word_, policy_).take_slowly(0, until, where);
}

LOCKSTEP_INLINE void permit_count::hand_over() {
  handed_word<semaphore_rules>(word_, policy_).hand_over();
}

[[noreturn]] LOCKSTEP_INLINE std::uint32_t permit_count::fail_permits(std::ptrdiff_t permits,
                                                                      std::ptrdiff_t most) {
  char message[120];
  std::snprintf(message, sizeof message,
                "lockstep::counting_semaphore: %td permits given, must be 0 to %td", permits, most);
  fail<std::invalid_argument>(message);
}

[[noreturn]] LOCKSTEP_INLINE void permit_count::fail_release(std::ptrdiff_t count,
                                                             std::ptrdiff_t there,
                                                             std::ptrdiff_t most) {
  constexpr const char* kind = "lockstep::counting_semaphore";
  char message[240];
  std::snprintf(
      message, sizeof message,
      "%s%srelease of %td permits by %s while it has %td of at most %td; release what was "
      "acquired, or give it a larger maximum",
      misuse::diagnosed ? "" : kind, misuse::diagnosed ? "" : ": ", count,
      label_of_this_thread().text, there, most);
  if (misuse::diagnosed) misuse::report(this, kind, message);
  fail<std::invalid_argument>(message);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
