// SPDX-License-Identifier: MIT
// lockstep/detail/mpi/library.hpp -- the MPI library: its header, its errors, its thread level (layer: mpi)
//
// All of lockstep's own calls of MPI are on a communicator whose errors come back as codes; checked() turns them into
// exceptions. Where the program must not call MPI at all, the functions say so before they call it.
#ifndef LOCKSTEP_DETAIL_MPI_LIBRARY_HPP
#define LOCKSTEP_DETAIL_MPI_LIBRARY_HPP

// The C++ classes of old, which programs of today do not link with.
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

#include <cstdio>
#include <stdexcept>

#include <lockstep/detail/platform/error.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

[[noreturn]] LOCKSTEP_NOINLINE inline void fail_call(const char* call, int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) text[0] = '\0';
  char message[MPI_MAX_ERROR_STRING + 160];
  std::snprintf(message, sizeof message, "lockstep::mpi: %s failed: %s", call, text);
  fail<std::runtime_error>(message);
}

/// Fails with std::runtime_error where an MPI call returned an error; `call` is its name.
inline void checked(int code, const char* call) {
  if (LOCKSTEP_UNLIKELY(code != MPI_SUCCESS)) fail_call(call, code);
}

/// Whether MPI can be called: it has begun, and has not ended.
inline bool is_active() {
  int has_begun = 0, has_ended = 0;
  MPI_Initialized(&has_begun);
  if (has_begun != 0) MPI_Finalized(&has_ended);
  return has_begun != 0 && has_ended == 0;
}

/// Fails with std::logic_error unless MPI can be called.
inline void check_active(const char* who) {
  if (is_active()) return;
  int has_begun = 0;
  MPI_Initialized(&has_begun);
  char message[240];
  std::snprintf(
      message, sizeof message,
      has_begun == 0
          ? "%s: MPI is not initialised: call MPI_Init_thread(&argc, &argv, "
            "MPI_THREAD_SERIALIZED, &provided) before, or make the world from argc and argv"
          : "%s: MPI has ended: make worlds before MPI_Finalize, and let them end before it",
      who);
  fail_use(message);
}

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

inline const char* name_of_level(int level) noexcept {
  return level == MPI_THREAD_SINGLE       ? "MPI_THREAD_SINGLE"
         : level == MPI_THREAD_FUNNELED   ? "MPI_THREAD_FUNNELED"
         : level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
                                          : "MPI_THREAD_MULTIPLE";
}

/// The level at which MPI runs. Fails with std::logic_error if it is below FUNNELED.
inline int checked_level(const char* who) {
  int level = MPI_THREAD_SINGLE;
  checked(MPI_Query_thread(&level), "MPI_Query_thread");
  if (level < MPI_THREAD_FUNNELED) {
    char message[240];
    std::snprintf(
        message, sizeof message,
        "%s: MPI runs with MPI_THREAD_SINGLE, which forbids other threads: initialise it by "
        "MPI_Init_thread with MPI_THREAD_FUNNELED at least, better MPI_THREAD_SERIALIZED",
        who);
    fail_use(message);
  }
  return level;
}

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_MPI_LIBRARY_HPP
