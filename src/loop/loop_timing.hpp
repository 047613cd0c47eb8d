// SPDX-License-Identifier: MIT
// src/loop/loop_timing.hpp -- what the caller of a loop measures of it (layer: loop)
//
// The caller looks at the clock after parts that it has run. Where it may, it wakes the members as soon as what is left
// of the loop is worth that (STEER-1). What the times say of the next loops: loop_steering.hpp.
#ifndef LOCKSTEP_SRC_LOOP_LOOP_TIMING_HPP
#define LOCKSTEP_SRC_LOOP_LOOP_TIMING_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/platform/clock.hpp>
#include "../observe/hooks.hpp"
#include "../region/region_board.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class loop_timing {
 public:
  explicit loop_timing(region_board& board) noexcept : board_(board) {}
  loop_timing(const loop_timing&) = delete;
  loop_timing& operator=(const loop_timing&) = delete;

  /// Before a loop of so many parts, over all shares. Nobody is woken in it.
  void begin(std::size_t parts) {
    all_ = parts;
    parts_ = own_parts_ = 0;
    woken_at_ = 0;
    members_ = 0;
    start_ = own_end_ = monotonic_nanoseconds();
  }
  /// After begin(): so many members are woken where more than `least` nanoseconds of work are left.
  void wake_above(double least, std::uint32_t members) noexcept {
    least_ = least;
    members_ = members;
  }

  /// The caller has run a part: of its own share, or of another.
  void after_part(bool is_own) {
    ++parts_;
    if (is_own) {
      ++own_parts_;
      own_end_ = monotonic_nanoseconds();
    }
    if (members_ != 0) wake_if_long(is_own ? own_end_ : monotonic_nanoseconds());
  }
  /// The caller has run so many parts, all of them its own, and nobody else has run any.
  void note_run(std::size_t parts) {
    parts_ = own_parts_ = parts;
    own_end_ = monotonic_nanoseconds();
  }

  std::size_t own_parts() const noexcept { return own_parts_; }
  std::uint64_t start() const noexcept { return start_; }
  /// When the caller's last own part was done.
  std::uint64_t own_end() const noexcept { return own_end_; }
  /// When members were woken in the loop, or 0.
  std::uint64_t woken_at() const noexcept { return woken_at_; }
  /// The work that is left at a time, in nanoseconds. Requires: a part was run.
  double left_at(std::uint64_t now) const noexcept {
    const double each = static_cast<double>(now - start_) / static_cast<double>(parts_);
    return each * static_cast<double>(all_ - parts_);
  }

 private:
  void wake_if_long(std::uint64_t now);

  region_board& board_;
  std::size_t all_ = 0, parts_ = 0, own_parts_ = 0;
  std::uint64_t start_ = 0, own_end_ = 0, woken_at_ = 0;
  double least_ = 0;
  std::uint32_t members_ = 0;  ///< who may be woken; 0: nobody
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_LOOP_LOOP_TIMING_HPP
