// SPDX-License-Identifier: MIT
// lockstep/mpi/halo_block.hpp -- what a halo sends and receives, and a neighbour to exchange it with (layer: mpi)
//
// A block is what MPI's calls take for a message: an address, a count and a datatype. decomposition.hpp makes blocks for arrays
// with ghost layers, block_of() for any other box of an array; for what is no box, give a datatype of MPI's that is committed.
//
// Order  none: these are values. The memory of a block is the user's, and must outlive every halo with it.
// Errors of block_of: a box of no elements or beyond its array, an array of more than 2^31 - 1 elements in a dimension, no
//        memory: std::invalid_argument. MPI must be initialised.
// Cost   block_of: a datatype, unless the box lies in one piece; freed with the last copy of the block. A halo copies what it needs of it.
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

/// So many elements of a datatype, from an address on: as in MPI_Send and MPI_Recv.
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

/// Another rank, and what is exchanged with it. A block that is sent with `send_tag` arrives in the block of the other
/// side that has the same number as its `receive_tag`; both have as many bytes. Tags tell blocks apart where a rank is a
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

/// MPI_Type_create_subarray, with what it would end the program for refused by an exception; none where the box lies in one
/// piece. `number`: MPI's type of the elements, if it has one.
lockstep::mpi::halo_block box_of(void* array, MPI_Datatype number, std::size_t element_size,
                                 std::size_t dimensions, const std::size_t* of,
                                 const std::size_t* extents, const std::size_t* from);

}  // namespace mpi
}  // namespace detail

namespace mpi {

/// The box of `extents` elements whose first one has the indices `from`, of the array of `of` elements that begins at `array`,
/// the last dimension fastest.
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
