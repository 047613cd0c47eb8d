// SPDX-License-Identifier: MIT
// src/team/critical_name.cpp -- the bodies of critical_name.hpp (layer: team)
#include <lockstep/detail/team/critical_name.hpp>

#include <cstring>
#include <new>

#include "../platform/process.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace critical_name {

LOCKSTEP_INLINE mutex& find_or_add(const type_name& name) {
  detail::atomic<void*>& list = detail::process().critical_names;
  void* first = list.load(detail::memory_order_acquire);  // 3
  entry* made = nullptr;
  while (true) {
    for (entry* at = static_cast<entry*>(first); at != nullptr; at = at->next) {
      if (at->length != name.length || std::memcmp(name.text, at->text, at->length) != 0) continue;
      if (made != nullptr) made->~entry();
      ::operator delete(made);
      return at->lock;
    }
    if (made == nullptr) {
      made = ::new (::operator new(sizeof(entry) + name.length)) entry();
      made->length = name.length;
      std::memcpy(made->text, name.text, name.length);
    }
    made->next = static_cast<entry*>(first);
    if (list.compare_exchange_weak(first, made, detail::memory_order_release,  // 4
                                   detail::memory_order_acquire)) {            // 3
      return made->lock;
    }
  }
}

}  // namespace critical_name
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
