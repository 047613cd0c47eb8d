// SPDX-License-Identifier: MIT
// lockstep/detail/base/cells.hpp -- 16 bytes by which members hand values to each other (layer: base)
//
// A small value lies in the cell itself. For any other value the cell holds the address, and a kept_value has the value.
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
};

/// Memory with a value that does not fit a cell.
class kept_value {
 public:
  kept_value() noexcept = default;
  virtual ~kept_value() = default;
  kept_value(const kept_value&) = delete;
  kept_value& operator=(const kept_value&) = delete;

 private:
  friend class kept_values;
  owner<kept_value> next_;
};

/// What a cell holds in place of such a value.
struct kept_address {
  void* value;
  kept_value* keeper;

  static kept_address in(const cell& from) noexcept {
    kept_address found;
    std::memcpy(&found, from.bytes, sizeof found);
    return found;
  }
};
static_assert(sizeof(kept_address) <= cell::size, "it fits");

/// Owns the values whose addresses are in cells that other threads may read.
class kept_values {
 public:
  kept_values() noexcept = default;
  kept_values(kept_values&&) noexcept = default;
  kept_values& operator=(kept_values&&) noexcept = default;
  ~kept_values() {
    if (first_) clear();
  }

  void add(kept_value* one) noexcept {
    one->next_ = std::move(first_);
    first_.reset(one);
  }
  LOCKSTEP_NOINLINE void clear() noexcept {
    while (first_) first_.reset(first_->next_.release());
  }
  /// Leaves them alone, for ever.
  void forget() noexcept { static_cast<void>(first_.release()); }

 private:
  owner<kept_value> first_;
};

/// How many values have cells: those of one member in one phase, and those of a loop's parts (reduction_tree.hpp).
constexpr std::size_t most_values_of_member = 18, most_values_of_loop = 1024;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_BASE_CELLS_HPP
