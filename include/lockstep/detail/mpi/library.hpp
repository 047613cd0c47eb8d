// SPDX-License-Identifier: MIT
// lockstep/detail/mpi/library.hpp -- the MPI library's header, and its names for types of numbers (layer: mpi)
#ifndef LOCKSTEP_DETAIL_MPI_LIBRARY_HPP
#define LOCKSTEP_DETAIL_MPI_LIBRARY_HPP

// Leaves out MPI's old C++ classes: programs of today do not link with them.
#if !defined(OMPI_SKIP_MPICXX)
#define OMPI_SKIP_MPICXX 1
#endif
#if !defined(MPICH_SKIP_MPICXX)
#define MPICH_SKIP_MPICXX 1
#endif
#ifdef __has_include
#if !__has_include(<mpi.h>)
#error \
    "lockstep: <lockstep/mpi.hpp> needs MPI's <mpi.h>, which is not found: compile with mpicxx, or use CMake's target lockstep::mpi"
#endif
#endif
#include <mpi.h>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

/// MPI's name for a type of numbers; MPI_DATATYPE_NULL where it has none.
inline MPI_Datatype number_type(const void*) noexcept { return MPI_DATATYPE_NULL; }
inline MPI_Datatype number_type(const float*) noexcept { return MPI_FLOAT; }
inline MPI_Datatype number_type(const double*) noexcept { return MPI_DOUBLE; }
inline MPI_Datatype number_type(const long double*) noexcept { return MPI_LONG_DOUBLE; }
inline MPI_Datatype number_type(const signed char*) noexcept { return MPI_SIGNED_CHAR; }
inline MPI_Datatype number_type(const unsigned char*) noexcept { return MPI_UNSIGNED_CHAR; }
inline MPI_Datatype number_type(const short*) noexcept { return MPI_SHORT; }
inline MPI_Datatype number_type(const unsigned short*) noexcept { return MPI_UNSIGNED_SHORT; }
inline MPI_Datatype number_type(const int*) noexcept { return MPI_INT; }
inline MPI_Datatype number_type(const unsigned*) noexcept { return MPI_UNSIGNED; }
inline MPI_Datatype number_type(const long*) noexcept { return MPI_LONG; }
inline MPI_Datatype number_type(const unsigned long*) noexcept { return MPI_UNSIGNED_LONG; }
inline MPI_Datatype number_type(const long long*) noexcept { return MPI_LONG_LONG; }
inline MPI_Datatype number_type(const unsigned long long*) noexcept {
  return MPI_UNSIGNED_LONG_LONG;
}

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_MPI_LIBRARY_HPP
