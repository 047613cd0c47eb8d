// SPDX-License-Identifier: MIT
// tests/model/explorer/past.hpp -- what has happened, as a number: executions in the same state go on alike
//
// What a thread of a scenario does next follows from the answers to its operations so far, and an answer is a change that
// some thread has made. So the past of a thread is a hash of its operations, each with the past of the change that it has
// read; the past of a change is a hash of its writer's past and of the change before it. Where all threads and locations
// have the same pasts as in an execution before, the same operations have happened in the same partial order, however
// those that do not depend on each other were interleaved: the state is the same. What can come of it has been explored,
// unless less was left of the budget then. A state never comes again in the same execution, because each operation
// changes a past; so a state that is known was left behind by the search, with all that follows from it.
//
// What threads have in common beside atomics and ordered accesses must be told to explorer::unseen(). Two things are no part
// of a past: where memory was allocated, so that a fault that needs an address to come again (ABA), or two addresses in
// one bucket, may be left out; and which other bytes of its word an access found noted by races.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "explorer.hpp"

namespace lockstep::model {

/// Not commutative. Each bit of both makes a difference to all bits.
inline std::uint64_t mixed(std::uint64_t past, std::uint64_t with) noexcept {
  std::uint64_t x = (past ^ (past >> 32)) * 0x9E3779B97F4A7C15u + with;
  x = (x ^ (x >> 29)) * 0xBF58476D1CE4E5B9u;
  return x ^ (x >> 32);
}

/// The states that a search has been in. Where there are many it forgets some, which are explored again.
class known_states {
 public:
  known_states() : table_(entries) {}

  /// Whether the state was here with no less left of the budget; if not, it has been from now on.
  bool has(std::uint64_t state, const budget& left) {
    state = mixed(state, searches_);
    const std::size_t first = state % (entries / ways) * ways;
    for (std::size_t i = first; i < first + ways; ++i) {
      if (table_[i].state == state && contains(table_[i].left, left)) return true;
    }
    table_[first + next_++ % ways] = entry{state, left};
    return false;
  }
  /// Forgets all.
  void begin() noexcept { ++searches_; }

 private:
  struct entry {
    std::uint64_t state = 0;
    budget left = {0, 0, 0};
  };
  static constexpr std::size_t entries = std::size_t{1} << 20, ways = 4;

  std::vector<entry> table_;
  std::size_t next_ = 0;
  std::uint64_t searches_ = 0;
};

}  // namespace lockstep::model
