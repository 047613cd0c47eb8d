// SPDX-License-Identifier: MIT
// src/mpi/halo.cpp -- mpi/halo.hpp (layer: mpi)
#include <cstdio>
#include <vector>

#include <lockstep/mpi/halo.hpp>

#include "halo_matching.hpp"
#include "halo_protocol.hpp"
#include "halo_transport.hpp"
#include "world_body.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

/// A communicator of the halo's own: its messages meet no others. MATCH-1 holds for who gets one.
class own_communicator {
 public:
  own_communicator(lockstep::mpi::world& of,
                   const std::vector<lockstep::mpi::halo_neighbour>& neighbours) {
    MPI_Request request = MPI_REQUEST_NULL;
    checked(MPI_Comm_idup(of.comm(), &comm_, &request), "MPI_Comm_idup");
    await_requests(of.thread_level(), "lockstep::mpi::halo", of.policy(1), 1, &request);
    checked(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    const release_unless_checked here{*this};
    halo_matching::check(of, comm_, neighbours);
    here.of.is_checked_ = true;
  }
  ~own_communicator() {
    if (exceptions_in_flight() == 0 && is_active()) MPI_Comm_free(&comm_);
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

struct halo_body final : public early_end_listener {
  halo_body(lockstep::mpi::world& of, const team& by,
            const std::vector<lockstep::mpi::halo_neighbour>& neighbours)
      : ranks(of),
        comm(of, neighbours),
        transport(comm.get(), of.thread_level(), neighbours),
        protocol(transport, neighbours.size(), by.size(), of.policy(by.size())) {
    region().add(*this);
  }
  ~halo_body() { region().remove(*this); }
  halo_body(const halo_body&) = delete;
  halo_body& operator=(const halo_body&) = delete;

  // HALO-8.
  void leave() override { transport.leave(started()); }
  void settle() override {
    transport.settle(started(), ranks.policy(protocol.members()));
    protocol.reset();
  }
  bool is_under_way() const noexcept override {
    return protocol.is_under_way() || transport.is_leaving();
  }
  void progress() noexcept override {
    protocol.look_beside(!transport.has_left());
    transport.push_notices();
  }

  /// The member, in a region of the world.
  member_state& state_of(const char* function, member& me) const {
    member_state& at = member_access::state_of(me);
    if (LOCKSTEP_UNLIKELY(!region().is_in_progress())) fail_region(function);
    if (at.rank() == 0) check_may_call(ranks.thread_level(), "lockstep::mpi::halo");
    return at;
  }

  lockstep::mpi::world& ranks;
  own_communicator comm;
  halo_transport transport;
  halo_protocol<halo_transport> protocol;

 private:
  struct started_by {
    const halo_protocol<halo_transport>& of;
    std::uint32_t operator()(std::size_t i) const noexcept { return of.started(i); }
  };
  started_by started() const noexcept { return {protocol}; }
  world_region& region() const noexcept { return world_access::body_of(ranks).region; }

  [[noreturn]] static void fail_region(const char* function) {
    char message[240];
    std::snprintf(
        message, sizeof message,
        "lockstep::mpi::halo::%s: called outside of the regions of its world: begin them by "
        "world.run(team, f) on every rank, so that a rank that fails ends the waits of the "
        "others",
        function);
    fail_use(message);
  }
};

}  // namespace mpi
}  // namespace detail

namespace mpi {

LOCKSTEP_INLINE halo::halo(world& of, const team& by, const std::vector<halo_neighbour>& neighbours)
    : body_(new detail::mpi::halo_body(of, by, neighbours)) {}
LOCKSTEP_INLINE halo::~halo() {
  if (body_->protocol.is_at_rest() || detail::exceptions_in_flight() != 0) return;
  detail::end_program(
      "lockstep::mpi::halo: destroyed on rank %zu while an exchange is under way: call "
      "await_ghosts() after each publish(), also after the last one",
      body_->ranks.rank());
}

LOCKSTEP_INLINE std::size_t halo::neighbours() const noexcept {
  return body_->protocol.neighbours();
}

LOCKSTEP_INLINE void halo::publish(member& me) {
  detail::member_state& at = body_->state_of("publish", me);
  for (std::size_t i = 0; i < neighbours(); ++i) body_->protocol.publish(at, i);
}
LOCKSTEP_INLINE void halo::publish(member& me, std::size_t neighbour) {
  body_->protocol.publish(body_->state_of("publish", me), neighbour);
}

LOCKSTEP_INLINE bool halo::await_ghosts_unless_stopped(member& me, call_site where) {
  detail::member_state& at = body_->state_of("await_ghosts", me);
  for (std::size_t i = 0; i < neighbours(); ++i) {
    if (body_->protocol.is_pending(at, i) && !body_->protocol.await(at, i, where)) return false;
  }
  return !at.is_stopped();
}
LOCKSTEP_INLINE bool halo::await_ghosts_unless_stopped(member& me, std::size_t neighbour,
                                                       call_site where) {
  return body_->protocol.await(body_->state_of("await_ghosts", me), neighbour, where);
}
LOCKSTEP_INLINE bool halo::await_ghosts(member& me, call_site where) {
  const bool goes_on = await_ghosts_unless_stopped(me, where);
  if (!goes_on) detail::leave_stopped_region();
  return goes_on;
}
LOCKSTEP_INLINE bool halo::await_ghosts(member& me, std::size_t neighbour, call_site where) {
  const bool goes_on = await_ghosts_unless_stopped(me, neighbour, where);
  if (!goes_on) detail::leave_stopped_region();
  return goes_on;
}

LOCKSTEP_INLINE void halo::progress(member& me) {
  body_->protocol.look(body_->state_of("progress", me));
}

}  // namespace mpi
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
