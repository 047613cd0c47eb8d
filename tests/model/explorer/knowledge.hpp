// SPDX-License-Identifier: MIT
// tests/model/explorer/knowledge.hpp -- what a thread of a model knows of the others
//
// Two things travel along release and acquire. `seen` says for each atomic location which change of it is
// the oldest that may still be read: coherence, and the reason why a stale value can be read at all.
// `clock` is a vector clock: what happens before this point; plain accesses are judged by it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace lockstep::model {

inline constexpr std::size_t most_threads = 8;
inline constexpr std::size_t most_locations = 640;

using thread_number = unsigned;
using stamp = std::uint16_t;  // position of a change in its location's history

struct knowledge {
  std::array<stamp, most_locations> seen{};
  std::array<std::uint32_t, most_threads> clock{};

  /// `used`: how many locations there are by now; the others are zero.
  void join_seen(const knowledge& other, std::size_t used) noexcept {
    for (std::size_t i = 0; i < used; ++i) seen[i] = std::max(seen[i], other.seen[i]);
  }
  void join(const knowledge& other, std::size_t used) noexcept {
    join_seen(other, used);
    for (std::size_t i = 0; i < most_threads; ++i) clock[i] = std::max(clock[i], other.clock[i]);
  }
  void copy(const knowledge& other, std::size_t used) noexcept {
    std::copy_n(other.seen.begin(), used, seen.begin());
    clock = other.clock;
  }
};

}  // namespace lockstep::model
