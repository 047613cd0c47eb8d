// SPDX-License-Identifier: MIT
// lockstep/team/cargo.hpp -- values of any type in cells of 16 bytes (layer: team)
//
// A value that is trivially copyable and fits a cell lies in it. Of any other the cell has the address, and
// a keeper the value: its writer holds it until nobody can read the cell any more. Readers copy.
//
// Cost   small values: a copy. Others: an allocation for each hand-over.
#ifndef LOCKSTEP_TEAM_CARGO_HPP
#define LOCKSTEP_TEAM_CARGO_HPP

#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "group.hpp"

namespace lockstep {

template <class T>
constexpr bool fits_cell() noexcept {
  return std::is_trivially_copyable<T>::value && sizeof(T) <= cell::size &&
         alignof(T) <= cell::size;
}

/// Writes values of T into cells, and reads them.
template <class T, bool InTheCell = fits_cell<T>()>
struct cargo {
  /// Makes room for `count` values that put() brings; those of `place` before are gone.
  static void prepare(std::unique_ptr<keeper>&, std::size_t) noexcept {}

  static void put(std::unique_ptr<keeper>&, cell& into, const T& value) noexcept {
    std::memcpy(into.bytes, &value, sizeof(T));
  }
  static T get(const cell& from) noexcept {
    typename std::aligned_storage<sizeof(T), alignof(T)>::type storage;
    std::memcpy(&storage, from.bytes, sizeof(T));
    return *reinterpret_cast<T*>(&storage);
  }
};

template <class T>
struct cargo<T, false> {
  struct values : keeper {
    std::vector<T> all;
  };

  static void prepare(std::unique_ptr<keeper>& place, std::size_t count) {
    std::unique_ptr<values> room(new values);
    room->all.reserve(count);
    place = std::move(room);
  }
  static void put(std::unique_ptr<keeper>& place, cell& into, T value) {
    std::vector<T>& all = static_cast<values&>(*place).all;
    all.push_back(std::move(value));  // there is room: earlier ones stay where they are
    const T* const address = &all.back();
    std::memcpy(into.bytes, &address, sizeof address);
  }
  static T get(const cell& from) {
    const T* address;
    std::memcpy(&address, from.bytes, sizeof address);
    return *address;
  }
};

}  // namespace lockstep

#endif  // LOCKSTEP_TEAM_CARGO_HPP
