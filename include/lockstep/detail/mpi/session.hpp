// SPDX-License-Identifier: MIT
// lockstep/detail/mpi/session.hpp -- MPI's begin and end, where a world sees to them, and what worlds refuse (layer: mpi)
#ifndef LOCKSTEP_DETAIL_MPI_SESSION_HPP
#define LOCKSTEP_DETAIL_MPI_SESSION_HPP

#include <cstdio>

#include <lockstep/detail/mpi/library.hpp>
#include <lockstep/detail/mpi/meeting_record.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

class session {
 public:
  /// Of a program that begins and ends MPI by itself.
  session() noexcept = default;
  session(int& argc, char**& argv) : is_ours_(true) {
    int has_begun = 0, level = MPI_THREAD_SINGLE;
    MPI_Initialized(&has_begun);
    if (has_begun != 0) {
      fail_use(
          "lockstep::mpi::world: MPI is initialised already: make the world from a communicator, "
          "such as "
          "MPI_COMM_WORLD");
    }
    checked(MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
  }
  /// Not while the stack is unwound: the others may be waiting for this rank, which is about to fail.
  ~session() {
    if (is_ours_ && exceptions_in_flight() == 0) MPI_Finalize();
  }
  session(const session&) = delete;
  session& operator=(const session&) = delete;

 private:
  bool is_ours_ = false;
};

/// `function`: of a world, called by a member of its region.
[[noreturn]] LOCKSTEP_NOINLINE inline void refuse_inside(const char* function) {
  char message[200];
  std::snprintf(message, sizeof message,
                "lockstep::mpi::world::%s: called inside of a region of this world: members call "
                "me.sync_threads(world), me.sync_sum(world, x) and so on",
                function);
  fail_use(message);
}

/// Of a meeting to which ranks came for different things.
[[noreturn]] LOCKSTEP_NOINLINE inline void fail_difference(const meeting_record& met) {
  char message[320];
  std::snprintf(message, sizeof message,
                "lockstep::mpi::world: ranks came to different constructs: rank %u to %s (%u "
                "bytes, argument %u), "
                "rank %u to %s (%u bytes, argument %u): all ranks call the same ones in the same "
                "order, with values "
                "of one type",
                met.rank, text_of(met.note.construct), met.note.bytes, met.note.argument, met.other,
                text_of(met.others.construct), met.others.bytes, met.others.argument);
  fail_use(message);
}

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_MPI_SESSION_HPP
