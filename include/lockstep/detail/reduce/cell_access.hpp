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

/// Writes values of Type into cells, and reads them.
template <class Type, bool InTheCell = fits_cell<Type>()>
struct cell_access {
  /// The memory that put() needs besides the cell: none.
  using room = void*;
  /// Makes room for `count` calls of put(), and destroys the values that `keeps` had before. Members call prepare_of()
  /// instead.
  static room prepare(owner<kept_values>&, std::size_t) noexcept { return nullptr; }

  static void put(room, cell& into, const Type& value) noexcept {
    std::memcpy(into.bytes, &value, sizeof(Type));
  }
  static Type get(const cell& from) noexcept {
    alignas(Type) unsigned char storage[sizeof(Type)];
    std::memcpy(storage, from.bytes, sizeof(Type));
    return std::move(*reinterpret_cast<Type*>(storage));
  }
  /// The same, if the caller is the only reader of this cell.
  static Type take(const cell& from) noexcept { return get(from); }
};

template <class Type>
struct cell_access<Type, false> {
  /// Values on lines of their own. They have the alignment of Type, which C++11's `new` need not respect.
  class values final : public kept_values {
   public:
    explicit values(std::size_t most) : storage_(most) {}
    ~values() override {
      while (count_ > 0) reinterpret_cast<Type*>(storage_[--count_].bytes)->~Type();
    }
    Type* add(Type&& value) {
      Type* const address =
          ::new (static_cast<void*>(storage_[count_].bytes)) Type(std::move(value));
      ++count_;
      return address;
    }

   private:
    struct storage {
      storage() noexcept {}  // not initialised
      alignas(Type) unsigned char bytes[sizeof(Type)];
    };
    aligned_array<storage> storage_;
    std::size_t count_ = 0;
  };
  using room = values*;

  static room prepare(owner<kept_values>& keeps, std::size_t count) {
    values* const made = new values(count);
    keeps.reset(made);
    return made;
  }
  static void put(room here, cell& into, Type value) {
    Type* const address = here->add(std::move(value));
    std::memcpy(into.bytes, &address, sizeof address);
  }
  static Type get(const cell& from) { return static_cast<const Type&>(value_in(from)); }
  static Type take(const cell& from) { return std::move(value_in(from)); }

 private:
  static Type& value_in(const cell& from) noexcept {
    Type* address;
    std::memcpy(&address, from.bytes, sizeof address);
    return *address;
  }
};

/// prepare() for a member: the end of the region destroys the values.
template <class Type>
typename cell_access<Type>::room prepare_of(member_state& at, owner<kept_values>& keeps,
                                            std::size_t count) {
  if (!fits_cell<Type>()) member_state::note_kept_values(at.shared());
  return cell_access<Type>::prepare(keeps, count);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_REDUCE_CELL_ACCESS_HPP
