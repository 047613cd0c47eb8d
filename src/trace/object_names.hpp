// SPDX-License-Identifier: MIT
// src/trace/object_names.hpp -- the table of names that objects were given (layer: trace)
//
// For named_object.hpp, which says what names are. The table is one for the process: lists that only grow, by the
// address. Entries are changed under a lock that is held around fork(), and read without.
//
// Memory order (# marks the line)
//   #  access       order    pairs  why it suffices
//   1  first.store  release  2      an entry is whole before it is in the list
//   2  first.load   acquire  1      the other half
//   3  first.load   relaxed  -      under the lock under which it is stored
#ifndef LOCKSTEP_SRC_TRACE_OBJECT_NAMES_HPP
#define LOCKSTEP_SRC_TRACE_OBJECT_NAMES_HPP

#include <cstddef>
#include <cstdint>

#include "thread_log.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct object_name {
  const void* object;  ///< null: the entry is free
  char text[48];
};

struct object_names {
  /// Null or "" takes the name away. False if there is no memory, or no object.
  static bool set(const void* object, const char* name) noexcept;
  /// False if it has none.
  static bool find(const void* object, object_name& out) noexcept;
  /// The table is whole in the child.
  static void in_child() noexcept {}

 private:
  struct entry {
    shown<object_name> name;
    entry* next;
  };

  static observer_atomic<void*>& list_of(const void* object) noexcept {
    const std::size_t place = reinterpret_cast<std::uintptr_t>(object) / 8;
    return process().object_names[place % process_state::object_names_size].first;
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_OBJECT_NAMES_HPP
