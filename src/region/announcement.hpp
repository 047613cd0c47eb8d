// SPDX-License-Identifier: MIT
// src/region/announcement.hpp -- what members are told of a region (layer: region)
//
// A line of the region board says which region begins and what is to be done. Its first word announces the region; a
// member that watches the line waits for that word to change. Beside it lie the rest of the head, and the job. Plain
// data.
#ifndef LOCKSTEP_SRC_REGION_ANNOUNCEMENT_HPP
#define LOCKSTEP_SRC_REGION_ANNOUNCEMENT_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/region/job.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What the members of a region have to know before they start.
struct region_head {
  std::uint32_t region;  ///< its number, never 0
  std::uint32_t size;    ///< members that take part: ranks below it
  std::uint32_t phase;   ///< of the barrier when it begins
};

/// The word that announces a region: a value. It says all that a member must know before it has claimed a part of a
/// loop (share_board.hpp); the rest of the line it may read only after that.
//
//   bits    of the word         set by the member that announces the region
//   63..32  its phase           the lowest bit is the kind of region: 1 for a loop
//   31..16  its size less 1     ranks from that on have no share of a loop
//   15      1: a seen `run`     its members tell observers of their parts
//   14..0   parts of a share    0 for a `run`
class announcement {
 public:
  static constexpr std::uint32_t most_parts = 0x7FFF;

  constexpr explicit announcement(std::uint64_t word = 0) noexcept : word_(word) {}
  /// Requires 0 < size <= 65536; parts is 0 for a `run`, 1 to most_parts for a loop.
  constexpr announcement(std::uint32_t phase, std::uint32_t size, std::uint32_t parts,
                         bool is_seen = false) noexcept
      : word_(std::uint64_t{phase} << 32 | std::uint64_t{size - 1} << 16 |
              (is_seen ? seen_bit : 0u) | parts) {}

  constexpr std::uint64_t word() const noexcept { return word_; }
  constexpr std::uint32_t phase() const noexcept { return static_cast<std::uint32_t>(word_ >> 32); }
  /// Each share is run by its member unless that is late; else every member is needed.
  constexpr bool is_loop() const noexcept { return (phase() & 1u) != 0; }
  constexpr std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(word_ >> 16 & 0xFFFF) + 1;
  }
  constexpr std::uint32_t parts() const noexcept {
    return static_cast<std::uint32_t>(word_) & most_parts;
  }
  constexpr bool is_seen() const noexcept { return (word_ & seen_bit) != 0; }

 private:
  static constexpr std::uint32_t seen_bit = most_parts + 1;

  std::uint64_t word_;
};

/// What lies beside the word on its line.
struct announced_region {
  std::uint32_t region = 0;
  std::uint32_t barrier_phase = 0;
  job what;

  region_head head(announcement as) const noexcept { return {region, as.size(), barrier_phase}; }
};
static_assert(sizeof(announced_region) <= 64 - sizeof(std::uint64_t),
              "the word, the region and its job share a cache line");

/// What a worker is to do: the region of its line, and which part of a share if that is a loop. Valid until the
/// worker has reported, or finished the part.
struct assignment {
  announced_region* line = nullptr;
  announcement announced{};
  std::uint32_t part = 0;

  bool is_loop() const noexcept { return announced.is_loop(); }
  region_head head() const noexcept { return line->head(announced); }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_REGION_ANNOUNCEMENT_HPP
