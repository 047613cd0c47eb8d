// SPDX-License-Identifier: MIT
// tests/model/explorer/races.hpp -- plain accesses that nothing orders
//
// The scenarios and the shipped headers in them are compiled with the instrumentation of
// ThreadSanitizer, but linked with functions of our own (plain_hooks.cpp): so every plain access comes
// here, and is compared with the last ones to the same bytes by the vector clocks of the model.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "knowledge.hpp"

namespace lockstep::model {

class races {
 public:
  races() : table_(entries) {}

  void reset() noexcept {
    if (++execution_ == 0) *this = races();
  }

  /// Notes the access. False if another thread's is neither before nor after it, or no room is left.
  bool read(std::uintptr_t address, std::size_t size, thread_number who, const knowledge& now) {
    return each_cell(address, size, [&](cell& at, std::uint8_t bytes) {
      const bool ordered = after_write(at, bytes, who, now);
      at.read_at[who] = now.clock[who];
      at.read_bytes[who] = bytes;
      return ordered;
    });
  }
  bool write(std::uintptr_t address, std::size_t size, thread_number who, const knowledge& now) {
    return each_cell(address, size, [&](cell& at, std::uint8_t bytes) {
      const bool ordered = after_write(at, bytes, who, now) && after_reads(at, bytes, who, now);
      at.writer = static_cast<std::uint8_t>(who);
      at.written_at = now.clock[who];
      at.written_bytes = bytes;
      return ordered;
    });
  }
  /// The memory is given back, or is another object's from now on.
  void forget(std::uintptr_t address, std::size_t size) {
    for (std::uintptr_t granule = address / 8; granule <= (address + size - 1) / 8; ++granule) {
      if (cell* const found = find(granule)) {
        found->written_bytes = 0;
        found->read_bytes = {};
      }
    }
  }

 private:
  /// Eight bytes of memory. The last write and the last read of each thread are remembered: accesses to
  /// different bytes side by side may hide a race, but never make one up. A cache line: most of the
  /// explorer's time goes into reading these.
  struct alignas(64) cell {
    std::uintptr_t granule = 0;
    std::uint32_t execution = 0;
    std::uint32_t written_at = 0;
    std::array<std::uint32_t, most_threads> read_at{};
    std::array<std::uint8_t, most_threads> read_bytes{};
    std::uint8_t writer = 0;
    std::uint8_t written_bytes = 0;
  };
  static_assert(sizeof(cell) == 64, "one line for each cell");

  static bool after_write(const cell& at, std::uint8_t bytes, thread_number who,
                          const knowledge& now) noexcept {
    return (at.written_bytes & bytes) == 0 || at.writer == who ||
           at.written_at <= now.clock[at.writer];
  }
  static bool after_reads(const cell& at, std::uint8_t bytes, thread_number who,
                          const knowledge& now) noexcept {
    for (thread_number other = 0; other < most_threads; ++other) {
      const bool is_another = other != who && (at.read_bytes[other] & bytes) != 0;
      if (is_another && at.read_at[other] > now.clock[other]) return false;
    }
    return true;
  }

  static std::uint8_t bytes_of(std::size_t first, std::size_t count) noexcept {
    return static_cast<std::uint8_t>(((1u << count) - 1) << first);
  }
  template <class Function>
  bool each_cell(std::uintptr_t address, std::size_t size, Function f) {
    const auto in_first = static_cast<unsigned>(address % 8);
    if (in_first + size <= 8) {
      cell* const found = cell_of(address / 8);
      return found != nullptr && f(*found, bytes_of(in_first, size));
    }
    bool good = true;
    for (std::uintptr_t at = address; at < address + size;) {
      const std::uintptr_t granule = at / 8;
      const std::uintptr_t end = std::min(address + size, (granule + 1) * 8);
      cell* const found = cell_of(granule);
      good = found != nullptr && f(*found, bytes_of(at % 8, end - at)) && good;
      at = end;
    }
    return good;
  }

  static std::size_t first_place(std::uintptr_t granule) noexcept {
    return static_cast<std::size_t>((granule * 0x9E3779B97F4A7C15u) >> 50);
  }
  /// The cell that is there already, if any.
  cell* find(std::uintptr_t granule) noexcept {
    std::size_t at = first_place(granule);
    for (std::size_t probes = 0; probes < entries; ++probes, at = (at + 1) % entries) {
      if (table_[at].execution != execution_) return nullptr;
      if (table_[at].granule == granule) return &table_[at];
    }
    return nullptr;
  }
  cell* cell_of(std::uintptr_t granule) noexcept {
    cell& first = table_[first_place(granule)];
    return first.granule == granule && first.execution == execution_ ? &first : made_of(granule);
  }
  [[gnu::noinline]] cell* made_of(std::uintptr_t granule) noexcept {
    std::size_t at = first_place(granule);
    for (std::size_t probes = 0; probes < entries; ++probes, at = (at + 1) % entries) {
      cell& here = table_[at];
      if (here.execution == execution_ && here.granule == granule) return &here;
      if (here.execution != execution_) {
        here = cell();
        here.granule = granule;
        here.execution = execution_;
        return &here;
      }
    }
    return nullptr;
  }

  static constexpr std::size_t entries = std::size_t{1} << 14;
  std::vector<cell> table_;
  std::uint32_t execution_ = 1;
};

}  // namespace lockstep::model
