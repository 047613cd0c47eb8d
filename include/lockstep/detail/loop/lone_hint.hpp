// SPDX-License-Identifier: MIT
// lockstep/detail/loop/lone_hint.hpp -- whether a loop may run on its caller alone (layer: loop)
//
// A loop that is known to be too short for two threads runs where it is called (LONE-1 to LONE-6 of lone_loops.hpp). What
// is known is a hint at the loop's place in the program, one word, which the steering of the team sets when it has
// learned what an iteration costs there (loop_steering.hpp). A hint is good for one team and for so many loops (LONE-4).
//
//   bits of a hint  meaning
//   63..40          which team has learned it; 0: none
//   39..16          loops of up to so many iterations run alone
//   15..0           how many loops may still do so
//
// Memory order (# marks the line)
//   #  access       order    pairs  why it suffices
//   1  hint.load    relaxed  -      LONE-4: it says how a loop is run, and orders nothing
//   2  hint.store   relaxed  -      as 1
#ifndef LOCKSTEP_DETAIL_LOOP_LONE_HINT_HPP
#define LOCKSTEP_DETAIL_LOOP_LONE_HINT_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct range_body;

class lone_hint {
 public:
  static constexpr std::size_t most_iterations = (std::size_t{1} << 24) - 1;
  static constexpr std::uint32_t most_loops = 0xFFFF;

  /// Whether a loop of the team may run alone; counts it.
  bool allows(std::uint32_t team, std::size_t iterations) noexcept {
    const std::uint64_t seen = word_.load(memory_order_relaxed);  // 1
    if ((seen >> 40) != team || iterations > (seen >> 16 & most_iterations)) return false;
    if ((seen & most_loops) == 0) return false;
    word_.store(seen - 1, memory_order_relaxed);  // 2
    return true;
  }
  void set(std::uint32_t team, double iterations, std::uint32_t loops) noexcept {
    constexpr double most = static_cast<double>(most_iterations);
    const std::uint64_t limit =
        iterations < most ? static_cast<std::uint64_t>(iterations) : std::uint64_t{most_iterations};
    word_.store(std::uint64_t{team} << 40 | limit << 16 | loops, memory_order_relaxed);  // 2
  }
  /// Whether the team's hint is used up: the next loop is to be measured.
  bool is_spent(std::uint32_t team) const noexcept {
    const std::uint64_t seen = word_.load(memory_order_relaxed);  // 1
    return (seen >> 40) == team && (seen & most_loops) == 0;
  }

 private:
  unseamed_atomic<std::uint64_t> word_{0};
};

/// The hint of a place: one for each type of leaf and module.
template <class Leaf>
struct LOCKSTEP_MODULE_LOCAL hint_of {
  static lone_hint at;
};
template <class Leaf>
lone_hint hint_of<Leaf>::at;

/// What became of a loop that was to run alone. Refused: nothing was run.
enum class lone_outcome { refused, complete, stopped };

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_LOOP_LONE_HINT_HPP
