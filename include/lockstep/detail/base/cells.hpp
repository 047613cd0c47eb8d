// SPDX-License-Identifier: MIT
// lockstep/detail/base/cells.hpp -- 16 bytes by which members hand values to each other (layer: base)
//
// A small value lies in the cell itself. For any other value the cell holds the address, and a kept_block has the value.
// How values of any type get there: reduction_operations.hpp.
#ifndef LOCKSTEP_DETAIL_BASE_CELLS_HPP
#define LOCKSTEP_DETAIL_BASE_CELLS_HPP

#include <cstddef>
#include <cstring>
#include <utility>

#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct cell {
  static constexpr std::size_t size = 16;
  alignas(8) unsigned char bytes[size];

  /// Of a value that does not fit.
  void* address() const noexcept {
    void* found;
    std::memcpy(&found, bytes, sizeof found);
    return found;
  }
};

/// A value of a trivially copyable type, which may have no default constructor, from its bytes at any address.
template <class Type>
Type copy_of_bytes(const void* from) noexcept {
  alignas(Type) unsigned char storage[sizeof(Type)];
  std::memcpy(storage, from, sizeof(Type));
  return std::move(*reinterpret_cast<Type*>(storage));
}

/// Memory for values of one type that do not fit a cell, made one by one.
class kept_block {
 public:
  explicit kept_block(std::size_t room) noexcept : room_(room) {}
  virtual ~kept_block() = default;
  kept_block(const kept_block&) = delete;
  kept_block& operator=(const kept_block&) = delete;

 protected:
  std::size_t room_;  ///< for so many more

 private:
  friend class kept_values;
  owner<kept_block> next_;
};

/// Owns the values of one type whose addresses are in cells.
class kept_values {
 public:
  kept_values() noexcept = default;
  kept_values(kept_values&&) noexcept = default;
  kept_values& operator=(kept_values&&) noexcept = default;
  ~kept_values() {
    if (first_) clear();
  }

  /// With room for another value. Block: a kept_block.
  template <class Block>
  Block& block() {
    if (!first_ || first_->room_ == 0) {
      owner<kept_block> made(new Block);
      made->next_ = std::move(first_);
      first_ = std::move(made);
    }
    return static_cast<Block&>(*first_);
  }
  LOCKSTEP_NOINLINE void clear() noexcept {
    while (first_) first_.reset(first_->next_.release());
  }
  /// Leaves them alone, for ever.
  void forget() noexcept { static_cast<void>(first_.release()); }

 private:
  owner<kept_block> first_;
};

/// How many values have cells: those of one member in one phase, and those of a loop's parts (reduction_tree.hpp).
constexpr std::size_t most_values_of_member = 18, most_values_of_loop = 1024;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_BASE_CELLS_HPP
