// SPDX-License-Identifier: MIT
// lockstep/detail/team/critical_name.ipp -- the bodies of critical_name.hpp (layer: team)
//
// Memory order (# marks the line)
//   #  access               order    pairs  why it suffices
//   1  first.load           acquire  2      an entry is whole before it is in the list
//   2  first.compare_exch   release  1      as 1
#ifndef LOCKSTEP_DETAIL_TEAM_CRITICAL_NAME_IPP
#define LOCKSTEP_DETAIL_TEAM_CRITICAL_NAME_IPP

#include <cstring>
#include <new>

#include "critical_name.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace critical_name {

LOCKSTEP_COLD entry* find_among(void* first, const type_name& name) noexcept {
  entry* at = static_cast<entry*>(first);
  while (at != nullptr &&
         (at->length != name.length || std::memcmp(name.text, at->text, at->length) != 0)) {
    at = const_cast<entry*>(at->next);
  }
  return at;
}

LOCKSTEP_COLD entry* make(const type_name& name) {
  entry* const made = ::new (::operator new(sizeof(entry) + name.length)) entry();
  made->length = name.length;
  std::memcpy(made->text, name.text, name.length);
  return made;
}

LOCKSTEP_COLD mutex& find_or_add(const type_name& name) {
  detail::unseamed_atomic<void*>& list = detail::process().critical_names.first;
  void* first = list.load(detail::memory_order_acquire);  // 1
  entry* found = find_among(first, name);
  if (found != nullptr) return found->lock;
  entry* const made = make(name);
  do {
    found = find_among(first, name);
    if (found != nullptr) {
      made->~entry();
      ::operator delete(made);
      return found->lock;
    }
    made->next = static_cast<entry*>(first);
  } while (!list.compare_exchange_weak(first, made, detail::memory_order_release,  // 2
                                       detail::memory_order_acquire));  // 1
  return made->lock;
}

}  // namespace critical_name
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_CRITICAL_NAME_IPP
