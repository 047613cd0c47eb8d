// SPDX-License-Identifier: MIT
// lockstep/mpi/halo.hpp -- ranks exchange the boundaries of their parts while they work inside (layer: mpi)
//
// A rank's part of a grid has a boundary, which its neighbours need, and around it ghosts, which are copies of theirs. In
// each step every member
//
//     writes its part of the boundary      ghosts.publish(me): mine is ready. The last member's call starts the exchange
//     works inside                         meanwhile messages are under way
//     waits                                ghosts.await_ghosts(me): the ghosts are there, the boundary is free again
//
// No barrier is needed in between. Both calls also exist for one neighbour alone. One of the members that wait looks after
// MPI, the others wait as for anything else: on CPUs that ranks share they sleep.
//
//   HALO-6  publish() says two things: this member's part of the boundary is written, and it has read the ghosts of the
//       exchange before. So it changes neither until its await_ghosts() returns.
//   HALO-7  In each exchange with a neighbour every member of the region publishes once, also one that has written nothing of
//       it, and waits once before it publishes again.
//   HALO-8  A rank whose region ends early, by an exception or by request_stop, ends the waits of its neighbours: their regions
//       end too, as at a construct with the world (RANKS-3 of world.hpp). After that ghosts hold anything, and the halo
//       serves the next region.
//
// Blocks have datatypes of MPI, which sends them with persistent requests. It moves large messages only inside of
// its calls, unless it has a thread for that: a member that works long inside calls progress(me) now and then.
//
// With MPI_THREAD_FUNNELED only member 0 may call MPI. Then the others' publish() leaves the start to member 0, which does it
// in its next publish(), progress() or await_ghosts(): there too it serves all members.
//
// Order  what any member of a rank does before publish() happens before the exchange reads the boundary, or writes the
//        ghosts. That happens before every return from await_ghosts(), on each member.
// Errors lists of neighbours that do not fit each other, on the ranks or in size: std::invalid_argument, on all ranks,
//        which names one. Calls against HALO-7, a region that world.run has not begun, more members than the team had:
//        std::logic_error. A bad neighbour: std::out_of_range. MPI's errors: std::runtime_error with its text. In a region
//        that is stopped await_ghosts() throws region_stopped, the form ..._unless_stopped returns false.
// Cost   publish: a read-modify-write for each neighbour; the last: two calls of MPI. await_ghosts: one load for each
//        neighbour whose exchange is done. To make one: collective, a communicator of its own.
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

#include <cstddef>
#include <cstdio>
#include <vector>

#include <lockstep/detail/mpi/halo_matching.hpp>
#include <lockstep/detail/mpi/halo_protocol.hpp>
#include <lockstep/detail/mpi/halo_transport.hpp>
#include <lockstep/mpi/halo_block.hpp>
#include <lockstep/mpi/world.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace mpi {

/// Exchanges blocks with neighbouring ranks, again and again. The members of a world's region use it; between regions, and
/// to make and destroy it, one thread of each rank.
class halo {
 public:
  /// Collective: all ranks of the world make the same halos in the same order, each with its own neighbours, of which it may
  /// have none. For regions of up to all members of the team. The blocks' memory must outlive the halo.
  halo(world& of, const team& by, const std::vector<halo_neighbour>& neighbours)
      : world_(of),
        comm_(of, neighbours),
        transport_(comm_.get(), of.thread_level(), neighbours),
        protocol_(transport_, neighbours.size(), by.size(), of.policy(by.size())),
        at_early_end_(*this) {}
  /// Collective, unless the stack is unwound. Ends the program with a message if an exchange is under way, in whose blocks
  /// MPI may still read and write: every publish() has its await_ghosts() before the halo ends.
  ~halo() {
    if (protocol_.is_at_rest() || detail::exceptions_in_flight() != 0) return;
    detail::end_program(
        "lockstep::mpi::halo: destroyed on rank %zu while an exchange is under way: call "
        "await_ghosts() after each publish(), also after the last one",
        world_.rank());
  }
  halo(const halo&) = delete;
  halo& operator=(const halo&) = delete;

  /// How many there are: they are called by their number in the list.
  std::size_t neighbours() const noexcept { return protocol_.neighbours(); }

  /// HALO-6, for all neighbours. Waits for nobody.
  void publish(member& me) {
    detail::member_state& at = detail::member_access::state_of(me);
    check_region("publish", at);
    for (std::size_t i = 0; i < neighbours(); ++i) protocol_.publish(at, i);
  }
  /// The same for one. Fails if neighbour >= neighbours().
  void publish(member& me, std::size_t neighbour) {
    detail::member_state& at = detail::member_access::state_of(me);
    check_region("publish", at);
    protocol_.publish(at, neighbour);
  }

  /// Blocks until all exchanges are done that this member has published and not waited for.
  LOCKSTEP_NODISCARD_UNLESS_THROWN bool await_ghosts(member& me, call_site where = {}) {
    return or_leave(await_ghosts_unless_stopped(me, where));
  }
  /// The same; false once the region is stopped.
  LOCKSTEP_NODISCARD bool await_ghosts_unless_stopped(member& me, call_site where = {}) {
    detail::member_state& at = detail::member_access::state_of(me);
    check_region("await_ghosts", at);
    for (std::size_t i = 0; i < neighbours(); ++i) {
      if (protocol_.is_pending(at, i) && !protocol_.await(at, i, where)) return false;
    }
    return !at.is_stopped();
  }
  /// For one neighbour. Fails with std::logic_error if this member has published nothing for it since its last wait.
  LOCKSTEP_NODISCARD_UNLESS_THROWN bool await_ghosts(member& me, std::size_t neighbour,
                                                     call_site where = {}) {
    return or_leave(await_ghosts_unless_stopped(me, neighbour, where));
  }
  LOCKSTEP_NODISCARD bool await_ghosts_unless_stopped(member& me, std::size_t neighbour,
                                                      call_site where = {}) {
    detail::member_state& at = detail::member_access::state_of(me);
    check_region("await_ghosts", at);
    return protocol_.await(at, neighbour, where);
  }

  /// Lets MPI move what is under way, unless another member does that now. Never waits for a message.
  void progress(member& me) {
    detail::member_state& at = detail::member_access::state_of(me);
    check_region("progress", at);
    protocol_.look(at);
  }

 private:
  using protocol = detail::mpi::halo_protocol<detail::mpi::halo_transport>;

  /// A communicator of the halo's own: its messages meet no others. MATCH-1 holds for who gets one.
  class own_communicator {
   public:
    own_communicator(world& of, const std::vector<halo_neighbour>& neighbours) {
      MPI_Request request = MPI_REQUEST_NULL;
      detail::mpi::checked(MPI_Comm_idup(of.comm(), &comm_, &request), "MPI_Comm_idup");
      detail::mpi::await_requests(of.thread_level(), "lockstep::mpi::halo", of.policy(1), 1,
                                  &request);
      detail::mpi::checked(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN),
                           "MPI_Comm_set_errhandler");
      const release_unless_checked here{*this};
      detail::mpi::halo_matching::check(of, comm_, neighbours);
      here.of.is_checked_ = true;
    }
    ~own_communicator() {
      if (detail::exceptions_in_flight() == 0 && detail::mpi::is_active()) MPI_Comm_free(&comm_);
    }
    own_communicator(const own_communicator&) = delete;
    own_communicator& operator=(const own_communicator&) = delete;

    MPI_Comm get() const noexcept { return comm_; }

   private:
    /// Lists that do not fit are found on all ranks: they all free it then.
    struct release_unless_checked {
      own_communicator& of;
      ~release_unless_checked() {
        if (!of.is_checked_) MPI_Comm_free(&of.comm_);
      }
    };

    MPI_Comm comm_ = MPI_COMM_NULL;
    bool is_checked_ = false;
  };

  /// HALO-8.
  class early_end final : public detail::mpi::early_end_listener {
   public:
    explicit early_end(halo& of) : of_(of) { detail::mpi::world_access::add(of_.world_, *this); }
    ~early_end() { detail::mpi::world_access::remove(of_.world_, *this); }
    early_end(const early_end&) = delete;
    early_end& operator=(const early_end&) = delete;

    void leave() override { of_.transport_.leave(started()); }
    void settle() override {
      of_.transport_.settle(started(), of_.world_.policy(of_.protocol_.members()));
      of_.protocol_.reset();
    }

    bool is_under_way() const noexcept override {
      return of_.protocol_.is_under_way() || of_.transport_.is_leaving();
    }
    void progress() noexcept override {
      of_.protocol_.look_beside(!of_.transport_.has_left());
      of_.transport_.push_notices();
    }

   private:
    struct started_by {
      const protocol& of;
      std::uint32_t operator()(std::size_t i) const noexcept { return of.started(i); }
    };
    started_by started() const noexcept { return {of_.protocol_}; }

    halo& of_;
  };

  void check_region(const char* function, const detail::member_state& at) const {
    if (LOCKSTEP_UNLIKELY(!detail::mpi::world_access::has_region(world_))) fail_region(function);
    if (at.rank() == 0) detail::mpi::check_may_call(world_.thread_level(), "lockstep::mpi::halo");
  }
  static bool or_leave(bool goes_on) {
    if (!goes_on) detail::leave_stopped_region();
    return goes_on;
  }
  [[noreturn]] LOCKSTEP_NOINLINE static void fail_region(const char* function) {
    char message[240];
    std::snprintf(
        message, sizeof message,
        "lockstep::mpi::halo::%s: called outside of the regions of its world: begin them by "
        "world.run(team, f) on every rank, so that a rank that fails ends the waits of the "
        "others",
        function);
    detail::fail_use(message);
  }

  world& world_;
  own_communicator comm_;
  detail::mpi::halo_transport transport_;
  protocol protocol_;
  early_end at_early_end_;
};

}  // namespace mpi
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_MPI_HALO_HPP
