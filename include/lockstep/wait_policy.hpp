// SPDX-License-Identifier: MIT
// lockstep/wait_policy.hpp -- how a thread waits, a value of 4 bytes (layer: wait)
//
// Every object takes one when it is made. Which to choose:
//   wait_policy()      the default. Spins for at most 2 us, not at all when crowded or when spinning has
//                      not paid lately; then yields while that helps; then sleeps. Right nearly always.
//   spin()             never enters the kernel. For one thread per CPU that is yours alone, real time.
//                      When crowded a single wait costs whole time slices (milliseconds).
//   block()            sleeps at once. For waits that are known to be long. A wake costs 2 to 35 us.
//   hybrid(time)       spins for `time`, not where the object knows that it is crowded; then yields a
//                      while, then sleeps; no learning. (With the spin, a barrier of 64 on 2 CPUs takes
//                      150 us, without it 60.)
//
// All zero bits are the default, so that zero-initialised storage is a valid policy.
#ifndef LOCKSTEP_WAIT_POLICY_HPP
#define LOCKSTEP_WAIT_POLICY_HPP

#include <chrono>
#include <cstdint>

#include "detail/platform/config.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class wait_policy {
 public:
  /// The adaptive default.
  constexpr wait_policy() noexcept : bits_(0) {}

  static constexpr wait_policy spin() noexcept { return wait_policy(spin_kind, 0); }
  static constexpr wait_policy block() noexcept { return wait_policy(block_kind, 0); }

  /// Spins for `time`, cut to the range 0 to longest_spin().
  static constexpr wait_policy hybrid(std::chrono::nanoseconds time) noexcept {
    return wait_policy(hybrid_kind, time.count() < 0                 ? 0
                                    : time.count() > longest_spin_ns ? longest_spin_ns
                                                                     : time.count());
  }

  static constexpr std::chrono::nanoseconds longest_spin() noexcept {
    return std::chrono::nanoseconds(std::int64_t{longest_spin_ns});  // a value: not odr-used
  }

  constexpr bool is_adaptive() const noexcept { return (bits_ & kind_mask) <= crowded_kind; }
  constexpr bool is_spin() const noexcept { return (bits_ & kind_mask) == spin_kind; }
  constexpr bool is_block() const noexcept { return (bits_ & kind_mask) == block_kind; }
  constexpr bool is_hybrid() const noexcept { return (bits_ & kind_mask) >= hybrid_kind; }

  /// True for an adaptive or hybrid policy that was told it is crowded.
  constexpr bool is_crowded() const noexcept {
    return (bits_ & kind_mask) == crowded_kind || (bits_ & kind_mask) == crowded_hybrid_kind;
  }

  /// The time hybrid() was given; zero for the others.
  constexpr std::chrono::nanoseconds spin_time() const noexcept {
    return std::chrono::nanoseconds(bits_ >> kind_bits);
  }

  /// This policy, told whether the object's participants outnumber the CPUs. spin() and block() do not
  /// listen.
  constexpr wait_policy when_crowded(bool crowded) const noexcept {
    return is_adaptive() ? wait_policy(crowded ? crowded_kind : adaptive_kind, 0)
           : is_hybrid()
               ? wait_policy(crowded ? crowded_hybrid_kind : hybrid_kind, spin_time().count())
               : *this;
  }

  friend constexpr bool operator==(wait_policy a, wait_policy b) noexcept {
    return a.bits_ == b.bits_;
  }
  friend constexpr bool operator!=(wait_policy a, wait_policy b) noexcept { return !(a == b); }

 private:
  enum : std::uint32_t {
    adaptive_kind = 0,
    crowded_kind = 1,
    spin_kind = 2,
    block_kind = 3,
    hybrid_kind = 4,
    crowded_hybrid_kind = 5,
    kind_bits = 3,
    kind_mask = (1u << kind_bits) - 1
  };
  static constexpr std::int64_t longest_spin_ns = (std::int64_t{1} << (32 - kind_bits)) - 1;

  constexpr wait_policy(std::uint32_t kind, std::int64_t nanoseconds) noexcept
      : bits_(kind | static_cast<std::uint32_t>(nanoseconds) << kind_bits) {}

  std::uint32_t bits_;
};

static_assert(sizeof(wait_policy) == 4, "objects hold a policy each: keep it small");

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_WAIT_POLICY_HPP
