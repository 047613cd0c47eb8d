// SPDX-License-Identifier: MIT
// lockstep/detail/reduce/cell_access.hpp -- values of any type in cells (layer: reduce)
//
// A value that is trivially copyable and has at most 16 bytes lies in the cell. For any other value the cell holds the
// address. The writer keeps the value as long as a member may read the cell. The region's caller destroys the values
// that are left when the region ends (GROUP-3 of group.hpp).
//
// Cost   small values: a copy. Others: an allocation for each hand-over.
#ifndef LOCKSTEP_DETAIL_REDUCE_CELL_ACCESS_HPP
#define LOCKSTEP_DETAIL_REDUCE_CELL_ACCESS_HPP

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include <lockstep/detail/base/cells.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/region/member_state.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

template <class Type>
constexpr bool fits_cell() noexcept {
  return std::is_trivially_copyable<Type>::value && sizeof(Type) <= cell::size &&
         alignof(Type) <= cell::size;
}

/// What the library needs to know about values that do not fit a cell.
struct value_type {
  element_type room;  ///< for any_aligned_array: memory, in which it makes nothing
  void (*destroy)(void* value);
  void (*move)(void* to, void* from);        ///< constructs `to`; `from` is still to be destroyed
  void (*copy)(void* to, const void* from);  ///< constructs `to`
};
template <class Type>
struct value_type_of {
  static void make_nothing(void*) noexcept {}
  static void destroy(void* value) { static_cast<Type*>(value)->~Type(); }
  static void move(void* to, void* from) { ::new (to) Type(std::move(*static_cast<Type*>(from))); }
  static void copy_value(void* to, const void* from, std::true_type /*copyable*/) {
    ::new (to) Type(*static_cast<const Type*>(from));
  }
  static void copy_value(void*, const void*, std::false_type) noexcept {}
  static void copy(void* to, const void* from) {
    copy_value(to, from, std::is_copy_constructible<Type>());
  }
  static const value_type& get() noexcept {
    static const value_type all = {
        {sizeof(Type), alignof(Type) > cache_line_size ? alignof(Type) : cache_line_size,
         make_nothing, nullptr},
        destroy,
        move,
        copy};
    return all;
  }
};

/// Makes room for `count` values, and destroys those that `keeps` had before.
void* make_room(const value_type& type, owner<kept_values>& keeps, std::size_t count);
/// Moves a value to the room, and puts its address into the cell.
void put_value(void* room, cell& into, void* value);

/// Reads values of Type from cells, and writes them. `keeps` owns what does not fit, until the end of the region.
template <class Type, bool InTheCell = fits_cell<Type>()>
struct cell_access {
  static void put(cell& into, const Type& value) noexcept {
    std::memcpy(into.bytes, &value, sizeof(Type));
  }
  static void put(void*, cell& into, const Type& value) noexcept { put(into, value); }
  static void put(member_state&, owner<kept_values>&, cell& into, const Type& value) noexcept {
    put(into, value);
  }
  static Type get(const cell& from) noexcept {
    alignas(Type) unsigned char storage[sizeof(Type)];
    std::memcpy(storage, from.bytes, sizeof(Type));
    return std::move(*reinterpret_cast<Type*>(storage));
  }
};
template <class Type>
struct cell_access<Type, false> {
  /// Moves from `value`. `room` comes from make_room().
  static void put(void* room, cell& into, Type& value) { put_value(room, into, &value); }
  static void put(member_state& at, owner<kept_values>& keeps, cell& into, Type value) {
    member_state::note_kept_values(at.shared());
    put_value(make_room(value_type_of<Type>::get(), keeps, 1), into, &value);
  }
  static const Type& get(const cell& from) noexcept {
    const Type* address;
    std::memcpy(&address, from.bytes, sizeof address);
    return *address;
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_REDUCE_CELL_ACCESS_HPP
