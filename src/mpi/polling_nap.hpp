// SPDX-License-Identifier: MIT
// src/mpi/polling_nap.hpp -- how long a waiter naps between two looks for another rank (layer: mpi)
//
// Nothing can wake a waiter of MPI, so it oversleeps. Then its partner waits longer, and naps as well. So a nap lasts
// an eighth of the time waited so far, and 1 ms at most; the first comes after 400 us. A wait gets longer by an eighth.
// Naps of 20 to 160 us that began after 34 us were too many: after one late message, a ring took 50 to 280 us a round
// instead of 0.7, for ever.
#ifndef LOCKSTEP_SRC_MPI_POLLING_NAP_HPP
#define LOCKSTEP_SRC_MPI_POLLING_NAP_HPP

#include <chrono>
#include <cstdint>
#include <thread>

#include "../platform/system.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

/// The last stage of one wait.
class polling_nap {
 public:
  /// Yields, or sleeps.
  void take() {
    const std::uint64_t now = monotonic_nanoseconds();
    if (began_ == 0) began_ = now;
    const std::uint64_t nap = (now - began_) / 8;
    if (nap < shortest) return yield_thread();
    const std::uint64_t time = nap < longest ? nap : longest;  // C++11 has no address of a constant
    std::this_thread::sleep_for(std::chrono::nanoseconds(time));
  }

 private:
  static constexpr std::uint64_t shortest = 50000, longest = 1000000;

  std::uint64_t began_ = 0;
};

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_MPI_POLLING_NAP_HPP
