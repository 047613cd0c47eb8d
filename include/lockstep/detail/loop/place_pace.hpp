// SPDX-License-Identifier: MIT
// lockstep/detail/loop/place_pace.hpp -- what is learned of the loops at one place of a program (layer: loop)
//
// One static object for each closure type in each module. The cost of an iteration holds for every team. The number of
// iterations from which on a loop pays holds for one team. Rules: src/loop/loop_pace.hpp.
//
//   bits of `alone`  meaning
//   63..40           the team that has learned it; 0: none
//   39..16           the most iterations of a loop that runs alone
//   15..0            how many more loops may run alone
// Its use: LONE-4 of src/team/team_loops.cpp. `cost` has the bits of a place_pace::cost.
//
// Memory order (# marks the line)
//   #  access       order    pairs  why it suffices
//   1  alone.load   relaxed  -      LONE-4: it says how a loop is run, and orders nothing
//   2  alone.store  relaxed  -      as 1
//   3  cost.load    relaxed  -      as 1
//   4  cost.store   relaxed  -      as 1
#ifndef LOCKSTEP_DETAIL_LOOP_PLACE_PACE_HPP
#define LOCKSTEP_DETAIL_LOOP_PLACE_PACE_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class place_pace {
 public:
  static constexpr std::size_t most_iterations = (std::size_t{1} << 24) - 1;
  static constexpr std::uint32_t most_loops = 0xFFFF;

  /// Whether a loop of the team may run alone; counts it.
  bool allows(std::uint32_t team, std::size_t iterations) noexcept {
    const std::uint64_t seen = alone_.load(memory_order_relaxed);  // 1
    if ((seen >> 40) != team || iterations > (seen >> 16 & most_iterations)) return false;
    if ((seen & most_loops) == 0) return false;
    alone_.store(seen - 1, memory_order_relaxed);  // 2
    return true;
  }
  void allow(std::uint32_t team, double iterations, std::uint32_t loops) noexcept {
    constexpr double most = static_cast<double>(most_iterations);
    const std::uint64_t limit =
        iterations < most ? static_cast<std::uint64_t>(iterations) : std::uint64_t{most_iterations};
    alone_.store(std::uint64_t{team} << 40 | limit << 16 | loops, memory_order_relaxed);  // 2
  }
  /// Whether no more of the team's loops may run alone: the next one is to be measured.
  bool is_spent(std::uint32_t team) const noexcept {
    const std::uint64_t seen = alone_.load(memory_order_relaxed);  // 1
    return (seen >> 40) == team && (seen & most_loops) == 0;
  }

  struct cost {
    float iteration;  ///< nanoseconds; 0: unknown
    std::uint8_t samples, steady;
    std::uint16_t skipped;  ///< loops since the last sample
  };
  cost look() const noexcept {
    const std::uint64_t bits = cost_.load(memory_order_relaxed);  // 3
    cost known;
    std::memcpy(&known, &bits, sizeof known);
    return known;
  }
  void keep(const cost& known) noexcept {
    std::uint64_t bits;
    std::memcpy(&bits, &known, sizeof bits);
    cost_.store(bits, memory_order_relaxed);  // 4
  }

 private:
  unseamed_atomic<std::uint64_t> alone_{0}, cost_{0};
};

/// The place_pace of a function's type.
template <class Function>
struct LOCKSTEP_MODULE_LOCAL pace_of {
  static place_pace at;
};
template <class Function>
place_pace pace_of<Function>::at;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_LOOP_PLACE_PACE_HPP
