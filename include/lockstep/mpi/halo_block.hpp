// SPDX-License-Identifier: MIT
// lockstep/mpi/halo_block.hpp -- what a halo sends and receives, and a neighbour to exchange it with (layer: mpi)
//
// A block is what MPI's calls take for a message: an address, a count and a datatype. decomposition.hpp makes blocks
// for arrays with ghost layers, block_of() for any other box of an array. For other forms give a committed datatype.
//
// Order  none: these are values. The memory of a block is the user's, and must outlive every halo with it.
// Errors of block_of: a box of no elements or beyond its array, an array of more than 2^31 - 1 elements in a dimension,
//        no memory: std::invalid_argument. MPI must be initialised.
// Cost   block_of: a datatype, unless the box lies in one piece. It is freed with the last copy of the block; a halo
//        does not need the block any more once it is made.
// Example
//   int argc = 0;
//   char** argv = nullptr;
//   lockstep::mpi::world world(argc, argv);
//   std::vector<double> grid(10 * 12);  // 10 rows of 12
//   const lockstep::mpi::halo_block row(&grid[1 * 12 + 1], 10, MPI_DOUBLE);  // the inner part of row 1
//   const auto column = lockstep::mpi::block_of(grid.data(), {10, 12}, {8, 1}, {1, 1});  // that of column 1
//   lockstep::mpi::halo_neighbour to_self;
//   to_self.send = row;
//   to_self.receive = lockstep::mpi::halo_block(&grid[9 * 12 + 1], 10, MPI_DOUBLE);
#ifndef LOCKSTEP_MPI_HALO_BLOCK_HPP
#define LOCKSTEP_MPI_HALO_BLOCK_HPP

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include <lockstep/detail/mpi/library.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace mpi {

/// A number of elements of a datatype, from an address on, as in MPI_Send and MPI_Recv.
struct halo_block {
  void* first = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::shared_ptr<void> owner;  ///< of the type; empty where it is the user's or MPI's own

  halo_block() = default;
  halo_block(void* from, int how_many, MPI_Datatype of, std::shared_ptr<void> owned = nullptr)
      : first(from), count(how_many), type(of), owner(std::move(owned)) {}

  /// How many bytes travel.
  std::size_t bytes() const;
};

/// Another rank, and what is exchanged with it. A block that is sent with `send_tag` arrives in the other side's block
/// with the same number as `receive_tag`. Both have the same number of bytes. Tags tell blocks apart if a rank is a
/// neighbour more than once; else leave them 0.
struct halo_neighbour {
  std::size_t rank = 0;
  halo_block send;
  halo_block receive;
  int send_tag = 0;
  int receive_tag = 0;
};

}  // namespace mpi

namespace detail {
namespace mpi {

/// Calls MPI_Type_create_subarray, but throws where that would end the program. A box in one piece needs no such type.
/// `number`: MPI's type of the elements, if it has one.
lockstep::mpi::halo_block box_of(void* array, MPI_Datatype number, std::size_t element_size,
                                 std::size_t dimensions, const std::size_t* of,
                                 const std::size_t* extents, const std::size_t* from);

}  // namespace mpi
}  // namespace detail

namespace mpi {

/// A box of the array that begins at `array` and has `of` elements in each dimension, the last one fastest. The box has
/// `extents` elements, and `from` has the indices of its first one.
template <class Type, std::size_t Dimensions>
halo_block block_of(Type* array, const std::size_t (&of)[Dimensions],
                    const std::size_t (&extents)[Dimensions],
                    const std::size_t (&from)[Dimensions]) {
  static_assert(
      std::is_trivially_copyable<Type>::value,
      "lockstep::mpi::block_of: elements travel as bytes, so their type must be trivially "
      "copyable");
  return detail::mpi::box_of(array, detail::mpi::number_type(array), sizeof(Type), Dimensions, of,
                             extents, from);
}

}  // namespace mpi
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_MPI_HALO_BLOCK_HPP
