// SPDX-License-Identifier: MIT
// lockstep/mpi/strided_block.hpp -- a box of an array, and a neighbour to exchange boxes with (layer: mpi)
//
// Plain data, which needs no MPI: what a halo sends, what it receives, and with whom. decomposition.hpp makes it for
// arrays with ghost layers; for anything else fill it in.
//
// Order  none: these are values. The memory of a block is the user's, and must outlive every halo with it.
// Errors an extent of 0, more than 4 dimensions, a size that does not fit std::size_t, no memory where there are elements:
//        std::invalid_argument.
// Cost   80 bytes a block; nothing is copied.
// Example for C++20
//   std::vector<double> grid(10 * 12);  // 10 rows of 12
//   const auto row = lockstep::mpi::block_of(&grid[1 * 12 + 1], {10});           // the inner part of row 1
//   const auto column = lockstep::mpi::block_of(&grid[1 * 12 + 1], {8}, {12});   // that of column 1
//   const lockstep::mpi::halo_neighbour to_self{0, row, lockstep::mpi::block_of(&grid[9 * 12 + 1], {10}), 0, 0};
#ifndef LOCKSTEP_MPI_STRIDED_BLOCK_HPP
#define LOCKSTEP_MPI_STRIDED_BLOCK_HPP

#include <array>
#include <cstddef>
#include <initializer_list>
#include <type_traits>

#include "../detail/platform/error.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace mpi {

/// A box of elements at regular distances: extents[d] elements in dimension d, strides[d] bytes apart. The first
/// dimension varies slowest, as in a C array; the order of the elements is the order in which they travel.
struct strided_block {
  static constexpr std::size_t most_dimensions = 4;

  void* first = nullptr;
  std::size_t element_size = 0;
  std::size_t dimensions = 0;  ///< 0: no elements
  std::array<std::size_t, most_dimensions> extents{};
  std::array<std::ptrdiff_t, most_dimensions> strides{};

  /// How many elements it has.
  std::size_t elements() const noexcept {
    if (dimensions == 0) return 0;
    std::size_t product = 1;
    for (std::size_t d = 0; d < dimensions; ++d) product *= extents[d];
    return product;
  }
  std::size_t bytes() const noexcept { return elements() * element_size; }
};

/// Another rank, and what is exchanged with it. A block that is sent with `send_tag` arrives in the block of the other
/// side that has the same number as its `receive_tag`; both have as many elements of the same size. Tags tell blocks
/// apart where a rank is a neighbour more than once; else leave them 0.
struct halo_neighbour {
  std::size_t rank = 0;
  strided_block send;
  strided_block receive;
  int send_tag = 0;
  int receive_tag = 0;
};

}  // namespace mpi

namespace detail {
namespace mpi {

/// Fails unless the product of the extents and the element's size can be counted.
inline void check_extents(const lockstep::mpi::strided_block& block) {
  std::size_t left = static_cast<std::size_t>(-1) / 2 / (block.element_size | 1u);
  for (std::size_t d = 0; d < block.dimensions; ++d) {
    if (block.extents[d] == 0) {
      fail_argument(
          "lockstep::mpi::block_of: an extent is 0; leave out what has no elements, for instance "
          "the neighbour");
    }
    if (block.extents[d] > left) {
      fail_argument("lockstep::mpi::block_of: the block has more bytes than memory can have");
    }
    left /= block.extents[d];
  }
  if (block.first == nullptr) {
    fail_argument("lockstep::mpi::block_of: the block has elements, but its address is null");
  }
}

inline std::size_t checked_dimensions(std::size_t count) {
  if (count == 0 || count > lockstep::mpi::strided_block::most_dimensions) {
    fail_range("lockstep::mpi::block_of", "extents", count, 1,
               lockstep::mpi::strided_block::most_dimensions);
  }
  return count;
}

}  // namespace mpi
}  // namespace detail

namespace mpi {

/// A box of an array whose elements lie one after the other, the last dimension fastest, with nothing between rows.
template <class Type>
strided_block block_of(Type* first, std::initializer_list<std::size_t> extents) {
  static_assert(
      std::is_trivially_copyable<Type>::value,
      "lockstep::mpi::block_of: elements travel as bytes, so their type must be trivially "
      "copyable");
  strided_block block;
  block.first = first;
  block.element_size = sizeof(Type);
  block.dimensions = detail::mpi::checked_dimensions(extents.size());
  std::size_t d = 0;
  for (const std::size_t extent : extents) block.extents[d++] = extent;
  detail::mpi::check_extents(block);
  auto distance = static_cast<std::ptrdiff_t>(sizeof(Type));
  for (d = block.dimensions; d-- > 0;) {
    block.strides[d] = distance;
    distance *= static_cast<std::ptrdiff_t>(block.extents[d]);
  }
  return block;
}

/// The same with the distances of the elements in each dimension, in elements. Negative ones are allowed. Fails if there
/// are not as many as extents.
template <class Type>
strided_block block_of(Type* first, std::initializer_list<std::size_t> extents,
                       std::initializer_list<std::ptrdiff_t> strides) {
  strided_block block = block_of(first, extents);
  if (strides.size() != extents.size()) {
    detail::fail_argument(
        "lockstep::mpi::block_of: give as many strides as extents, one for each dimension");
  }
  std::size_t d = 0;
  for (const std::ptrdiff_t stride : strides) {
    block.strides[d++] = stride * static_cast<std::ptrdiff_t>(sizeof(Type));
  }
  return block;
}

}  // namespace mpi
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_MPI_STRIDED_BLOCK_HPP
