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

#include <climits>
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
  std::size_t bytes() const {
    if (type == MPI_DATATYPE_NULL || count <= 0) return 0;
    MPI_Count size = 0;
    detail::mpi::checked(MPI_Type_size_x(type, &size), "MPI_Type_size_x");
    return static_cast<std::size_t>(size) * static_cast<std::size_t>(count);
  }
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

/// A datatype of ours, until its last block ends.
inline std::shared_ptr<void> owner_of(MPI_Datatype type) {
  struct owned {
    MPI_Datatype type;
    ~owned() {
      if (is_active()) MPI_Type_free(&type);
    }
  };
  return std::shared_ptr<void>(new owned{type}, [](void* of) { delete static_cast<owned*>(of); });
}

/// MPI_Type_create_subarray, with what it would end the program for refused by an exception; none where the box lies in one
/// piece.
inline lockstep::mpi::halo_block box_of(void* array, MPI_Datatype number, std::size_t element_size,
                                        std::size_t dimensions, const std::size_t* of,
                                        const std::size_t* extents, const std::size_t* from) {
  constexpr std::size_t most_dimensions = 8;
  int sizes[3][most_dimensions];
  std::size_t place = 0, elements = 1;
  bool fits = dimensions <= most_dimensions && array != nullptr, is_contiguous = true;
  for (std::size_t d = 0; fits && d < dimensions; ++d) {
    fits = of[d] <= static_cast<std::size_t>(INT_MAX) && extents[d] != 0 && extents[d] <= of[d] &&
           from[d] <= of[d] - extents[d];
    if (!fits) break;
    sizes[0][d] = static_cast<int>(of[d]);
    sizes[1][d] = static_cast<int>(extents[d]);
    sizes[2][d] = static_cast<int>(from[d]);
    is_contiguous = is_contiguous && (elements == 1 || extents[d] == of[d]);
    place = place * of[d] + from[d];
    elements *= extents[d];
  }
  if (!fits) {
    fail_argument(
        "lockstep::mpi::block_of: the box has no elements, or is not within the array, or the "
        "array "
        "has no memory, or more elements in a dimension than MPI counts; give the array's sizes, "
        "the box's, and its first element's indices; leave out a neighbour with which nothing is "
        "exchanged");
  }
  // A row: MPICH 4.0 takes twice as long for it as a subarray.
  const bool is_number = number != MPI_DATATYPE_NULL;
  const std::size_t units = is_number ? elements : elements * element_size;
  if (is_contiguous && units <= static_cast<std::size_t>(INT_MAX)) {
    return {static_cast<unsigned char*>(array) + place * element_size, static_cast<int>(units),
            is_number ? number : MPI_BYTE};
  }
  MPI_Datatype element = number, type = MPI_DATATYPE_NULL;
  if (!is_number) {
    checked(MPI_Type_contiguous(static_cast<int>(element_size), MPI_BYTE, &element),
            "MPI_Type_contiguous");
  }
  checked(MPI_Type_create_subarray(static_cast<int>(dimensions), sizes[0], sizes[1], sizes[2],
                                   MPI_ORDER_C, element, &type),
          "MPI_Type_create_subarray");
  if (!is_number) MPI_Type_free(&element);
  std::shared_ptr<void> owner = owner_of(type);
  checked(MPI_Type_commit(&type), "MPI_Type_commit");
  return {array, 1, type, std::move(owner)};
}

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
