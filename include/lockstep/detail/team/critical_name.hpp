// SPDX-License-Identifier: MIT
// lockstep/detail/team/critical_name.hpp -- one mutex for each name, in all modules of the process (layer: team)
//
// A name is a type, often incomplete and with hidden symbols. So the linker does not merge the mutexes of several
// modules. Instead modules compare the text of the name, as the compiler spells it.
//
//   NAME-1  The same name is the same mutex, whichever module asks, once and for ever.
//   NAME-2  A name in a function or an unnamed namespace belongs to its module: another module may use the same text
//       for a different name.
//
// Memory order (# marks the line)
//   #  access             order    pairs  why it suffices
//   1  known.load         acquire  2      the mutex is made before a thread finds it by the way of another
//   2  known.store        release  1      every writer writes the same
//   3  first.load         acquire  4      an entry is whole before it is in the list
//   4  first.compare_exch release  3      as 3
//
// Cost   a load and a branch. Once for each name and module: a walk through all names. Once for each name: an
//        allocation.
#ifndef LOCKSTEP_DETAIL_TEAM_CRITICAL_NAME_HPP
#define LOCKSTEP_DETAIL_TEAM_CRITICAL_NAME_HPP

#include <cstddef>

#include <lockstep/detail/platform/type_name.hpp>
#include <lockstep/mutex.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

namespace critical_name {

/// An entry of the list of the process; never destroyed. The text is a copy: a module's own text would go with the
/// module.
struct entry {
  mutex lock;
  entry* next;
  std::size_t length;
  char text[1];  // and what was allocated behind it
};

/// The lock of that name, for all modules. Throws std::bad_alloc as `new` does.
mutex& find_or_add(const type_name& name);

/// What this module knows of a name.
template <class Name>
struct LOCKSTEP_MODULE_LOCAL in_module {
  static mutex own;
  static detail::atomic<mutex*> known;
};
template <class Name>
mutex in_module<Name>::own;
template <class Name>
detail::atomic<mutex*> in_module<Name>::known{nullptr};

template <class Name>
LOCKSTEP_NOINLINE mutex& find() {
  const detail::type_name name = detail::name_of_type<Name>();
  mutex& found = name.is_of_module ? in_module<Name>::own : find_or_add(name);
  in_module<Name>::known.store(&found, detail::memory_order_release);  // 2
  return found;
}

template <class Name>
mutex& mutex_of() {
  mutex* const known = in_module<Name>::known.load(detail::memory_order_acquire);  // 1
  return known != nullptr ? *known : find<Name>();
}

}  // namespace critical_name
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_CRITICAL_NAME_HPP
