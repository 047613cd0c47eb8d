// SPDX-License-Identifier: MIT
// src/mpi/halo_block.cpp -- mpi/halo_block.hpp (layer: mpi)
#include <climits>

#include <lockstep/mpi/halo_block.hpp>

#include "calls.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

/// Owns a datatype that we made: its last block frees it.
LOCKSTEP_INLINE std::shared_ptr<void> owner_of(MPI_Datatype type) {
  struct owned {
    MPI_Datatype type;
    ~owned() {
      if (is_active()) MPI_Type_free(&type);
    }
  };
  return std::shared_ptr<void>(new owned{type}, [](void* of) { delete static_cast<owned*>(of); });
}

LOCKSTEP_INLINE lockstep::mpi::halo_block box_of(void* array, MPI_Datatype number,
                                                 std::size_t element_size, std::size_t dimensions,
                                                 const std::size_t* of, const std::size_t* extents,
                                                 const std::size_t* from) {
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
  // A box in one piece needs no subarray: as a subarray, MPICH 4.0 takes twice as long for it.
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

LOCKSTEP_INLINE std::size_t mpi::halo_block::bytes() const {
  if (type == MPI_DATATYPE_NULL || count <= 0) return 0;
  MPI_Count size = 0;
  detail::mpi::checked(MPI_Type_size_x(type, &size), "MPI_Type_size_x");
  return static_cast<std::size_t>(size) * static_cast<std::size_t>(count);
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
