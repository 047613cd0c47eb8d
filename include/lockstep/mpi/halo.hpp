// SPDX-License-Identifier: MIT
// lockstep/mpi/halo.hpp -- ranks exchange the boundaries of their parts while they work inside (layer: mpi)
//
// A rank's part of a grid has a boundary, which its neighbours need. Around it are ghosts, copies of theirs. In each
// step every member
//
//     writes its part of the boundary      ghosts.publish(me): mine is ready. The last member's call starts the exchange
//     works inside                         meanwhile messages are under way
//     waits                                ghosts.await_ghosts(me): the ghosts are there, the boundary is free again
//
// No barrier is needed in between. One of the members that wait looks after MPI. The others wait as for anything else:
// on CPUs that ranks share they sleep. To wait for neighbours one by one, make a halo for each.
//
//   HALO-6  publish() says two things: this member's part of the boundary is written, and it has read the ghosts of the
//       exchange before. So the member leaves both alone until its await_ghosts() returns.
//   HALO-7  In each exchange every member of the region publishes once, also one that has written nothing. It waits
//       once before it publishes again.
//   HALO-8  If a rank's region ends early, by an exception or by request_stop, the waits of its neighbours end, and so
//       do their regions, as at a construct with the world (RANKS-3 of world.hpp). Then ghosts hold anything. The next
//       region can use the halo.
//
// Blocks have datatypes of MPI, which sends them with persistent requests. It moves large messages only inside its
// calls, unless it has a thread for that. So a member that works inside for long calls progress(me) now and then.
//
// With MPI_THREAD_FUNNELED only member 0 may call MPI. Then member 0 starts each exchange for all members: in its
// publish() if that is the last one, else in its next progress() or await_ghosts().
//
// Order  what any member of a rank does before publish() happens before the exchange reads the boundary, or writes the
//        ghosts. That happens before every return from await_ghosts(), on each member.
// Errors lists of neighbours that do not fit each other, on the ranks or in size: std::invalid_argument, on all ranks,
//        which names one. Calls against HALO-7, a region that world.run has not begun, more members than the team had:
//        std::logic_error. MPI's errors: std::runtime_error with its text. In a region that is stopped await_ghosts() throws
//        region_stopped, the form ..._unless_stopped returns false.
// Cost   publish: a read-modify-write; the last: a call of MPI. await_ghosts: one load where the exchange is done. To make
//        one: collective, a communicator of its own.
// Example
//   int argc = 0;
//   char** argv = nullptr;
//   lockstep::mpi::world world(argc, argv);
//   lockstep::team team(world.options());
//   const lockstep::mpi::decomposition<1> cut(world.size(), {1000});
//   std::vector<double> x(cut.extents_with_ghosts(world.rank(), 1)[0], 1.0), next(x);
//   lockstep::mpi::halo ghosts(world, team, cut.neighbours(world.rank(), x.data(), 1));
//   world.run(team, [&](lockstep::member& me) {
//     for (int step = 0; step < 10; ++step) {
//       ghosts.publish(me);
//       me.for_range(2, x.size() - 2, [&](std::size_t first, std::size_t last) {
//         for (std::size_t i = first; i < last; ++i) next[i] = (x[i - 1] + x[i + 1]) / 2;
//       });
//       ghosts.await_ghosts(me);
//       me.single([&] {
//         for (const std::size_t i : {std::size_t{1}, x.size() - 2}) next[i] = (x[i - 1] + x[i + 1]) / 2;
//         for (std::size_t i = 1; i + 1 < x.size(); ++i) x[i] = next[i];
//       });
//     }
//   });
#ifndef LOCKSTEP_MPI_HALO_HPP
#define LOCKSTEP_MPI_HALO_HPP

#include <vector>

#include <lockstep/mpi/halo_block.hpp>
#include <lockstep/mpi/world.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {
struct halo_body;  // src/mpi/halo.cpp
}
}  // namespace detail
namespace mpi {

/// Exchanges blocks with neighbouring ranks, again and again. The members of a world's region use it. Between regions,
/// one thread of each rank makes and destroys it.
class halo {
 public:
  /// Collective: all ranks of the world make the same halos in the same order, each with its own neighbours, or with
  /// none. For regions of up to all members of the team. The blocks' memory must outlive the halo.
  halo(world& of, const team& by, const std::vector<halo_neighbour>& neighbours);
  /// Collective, unless the stack is unwound. Requires: await_ghosts() has returned after each publish(). Ends the program
  /// with a message if an exchange is under way, because MPI may still read and write its blocks.
  ~halo();
  halo(const halo&) = delete;
  halo& operator=(const halo&) = delete;

  /// HALO-6. Waits for no other thread or rank.
  void publish(member& me);

  /// If this member has published an exchange and not waited for it: blocks until the exchange is done.
  LOCKSTEP_NODISCARD_UNLESS_THROWN bool await_ghosts(member& me, call_site where = {});
  /// The same; false once the region is stopped.
  LOCKSTEP_NODISCARD bool await_ghosts_unless_stopped(member& me, call_site where = {});
  /// Lets MPI move what is under way, unless another member does that now. Never waits for a message.
  void progress(member& me);

 private:
  detail::owner<detail::mpi::halo_body> body_;
};

}  // namespace mpi
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_MPI_HALO_HPP
