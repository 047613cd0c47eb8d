// SPDX-License-Identifier: MIT
// tests/model/explorer/memory.hpp -- atomic memory as the C++ model has it: every location a history
//
// A location keeps all its changes in modification order, which here is the order of execution. A load
// may return any change that coherence and the reader's knowledge do not exclude; a read-modify-write
// takes the last. A release change carries the knowledge of its thread, an acquire load takes it over; a
// read-modify-write hands on what the change before it carried (release sequence).
//
// Left out: stores that enter the modification order before its end, loads of values that are stored
// later (load buffering), and the total order of seq_cst accesses: the library has none but fences.
// Source [KHSL17] for the views that changes carry, without its promises.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "knowledge.hpp"

namespace lockstep::model {

struct change {
  std::uint64_t value;
  int released;        // index of the knowledge it carries; -1 for none
  std::uint64_t past;  // see past.hpp
};

struct location {
  const void* address = nullptr;
  std::size_t number = 0;
  bool alive = false;
  thread_number maker = 0;
  std::uint32_t made_at = 0;  // of the maker's clock; 0: before all threads
  std::vector<change> history;
  std::array<std::uint32_t, most_threads> last_access{};

  stamp newest() const noexcept { return static_cast<stamp>(history.size() - 1); }
  std::uint64_t value() const noexcept { return history.back().value; }
  std::uint64_t past() const noexcept { return history.back().past; }
};

class memory {
 public:
  memory();

  /// Forgets all locations: another execution begins.
  void reset() noexcept;

  /// How many locations there have been in this execution.
  std::size_t used() const noexcept { return used_; }

  /// The location at that address, or none if it was not seen in this execution.
  location* find(const void* address) noexcept;
  /// A new one, in place of any other at that address. Null if there are too many.
  location* make(const void* address, std::uint64_t value, std::uint64_t past);

  /// Keeps a copy of the knowledge for a change to carry.
  int keep(const knowledge& what);
  const knowledge& kept(int index) const noexcept { return kept_[static_cast<std::size_t>(index)]; }
  knowledge& kept(int index) noexcept { return kept_[static_cast<std::size_t>(index)]; }

 private:
  struct entry {
    const void* address = nullptr;
    std::uint64_t execution = 0;
    std::size_t number = 0;
  };
  entry& entry_of(const void* address) noexcept;

  static constexpr std::size_t entries = 2048;  // a power of two, far above most_locations
  std::vector<entry> table_;
  std::vector<location> locations_;
  std::vector<knowledge> kept_;
  std::size_t used_ = 0;
  std::size_t kept_used_ = 0;
  std::uint64_t execution_ = 0;
};

}  // namespace lockstep::model
