// SPDX-License-Identifier: MIT
// src/mpi/halo.cpp -- mpi/halo.hpp: neighbours that fit each other, and their persistent requests (layer: mpi)
//
// When a halo is made, each rank tells its neighbours once what it will send them and what it expects. So lists that do
// not fit each other are found at once, on all ranks. Without that, a wait would never end.
//
//   MATCH-1  Every neighbour has one partner: on the other rank, the neighbour that receives with this one's send_tag
//       and sends with its receive_tag. Blocks that meet have the same number of bytes.
//   MATCH-2  An error on one rank is thrown on all. The text has the lowest rank with an error, and that error.
//
// For each neighbour there are a send and a receive, made once by MPI_Send_init and MPI_Recv_init and started in each
// exchange. Their blocks have MPI's datatypes, so nothing is packed here. halo_protocol.hpp decides when to call them.
//
// When a region ends early, early_ends.hpp ends what is under way. Partners differ by one exchange at most (HALO-3).
// The one that is behind starts one more, with this partner alone. What arrives in ghosts then is of no use.
//
// Cost   to make one: two meetings of the ranks and an alltoall of one number a rank; a message to each neighbour. An
//        exchange: an MPI_Startall and, while it is under way, an MPI_Testall at each look. Once in 16 looks a test for
//        ranks that have left.
#include <vector>

#include <lockstep/mpi/halo.hpp>

#include "../platform/system_texts.hpp"
#include "communicator.hpp"
#include "early_ends.hpp"
#include "halo_protocol.hpp"
#include "world_region.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

using neighbour_list = std::vector<lockstep::mpi::halo_neighbour>;

/// What a rank says of one of its neighbours.
struct halo_description {
  std::int32_t send_tag, receive_tag;
  std::uint64_t sent;  ///< bytes
};

template <class... Values>
std::string text_with(const char* format, Values... values) {
  std::string made;
  append(made, format, values...);
  return made;
}

/// What is wrong with this rank's list by itself; empty if nothing is.
LOCKSTEP_INLINE std::string own_error(const communicator& ranks, const neighbour_list& neighbours) {
  constexpr int most_tag = 16383;
  const auto is_tag = [](int tag) { return tag >= 0 && tag <= int{most_tag}; };
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    const auto& one = neighbours[i];
    if (one.rank >= ranks.size()) {
      return text_with("neighbour %zu is rank %zu, but there are ranks 0 to %u only", i, one.rank,
                       ranks.size() - 1);
    }
    if (!is_tag(one.send_tag) || !is_tag(one.receive_tag)) {
      return text_with("neighbour %zu has the tags %d and %d; give tags from 0 to %d", i,
                       one.send_tag, one.receive_tag, int{most_tag});
    }
    if (one.send.bytes() == 0 || one.receive.bytes() == 0) {
      return text_with("neighbour %zu has a block without elements; make blocks by block_of()", i);
    }
    for (std::size_t before = 0; before < i; ++before) {
      const auto& other = neighbours[before];
      if (other.rank != one.rank ||
          (other.send_tag != one.send_tag && other.receive_tag != one.receive_tag)) {
        continue;
      }
      return text_with(
          "neighbours %zu and %zu are both rank %zu and have the same tag; give each block a tag "
          "of its own",
          before, i, one.rank);
    }
  }
  return "";
}

/// For each rank, what it says of those of its neighbours that are this rank, in the order of its list.
LOCKSTEP_INLINE std::vector<std::vector<halo_description>> told_by_others(
    const communicator& ranks, const neighbour_list& neighbours) {
  const std::size_t size = ranks.size();
  std::vector<std::vector<halo_description>> told(size), heard(size);
  for (const auto& one : neighbours) {
    told[one.rank].push_back({one.send_tag, one.receive_tag, one.send.bytes()});
  }
  std::vector<int> to(size), from(size);
  for (std::size_t rank = 0; rank < size; ++rank) to[rank] = static_cast<int>(told[rank].size());
  ranks.perform("MPI_Ialltoall", [&](MPI_Request* request) {
    return MPI_Ialltoall(to.data(), 1, MPI_INT, from.data(), 1, MPI_INT, ranks.comm(), request);
  });
  std::vector<MPI_Request> requests(2 * size, MPI_REQUEST_NULL);
  const auto bytes = [](int count) { return count * static_cast<int>(sizeof(halo_description)); };
  for (std::size_t k = 0; k < size; ++k) {
    heard[k].resize(static_cast<std::size_t>(from[k]));
    const int rank = static_cast<int>(k);
    if (from[k] != 0) {
      ranks.begin("MPI_Irecv", [&] {
        return MPI_Irecv(heard[k].data(), bytes(from[k]), MPI_BYTE, rank, 0, ranks.comm(),
                         &requests[2 * k]);
      });
    }
    if (to[k] != 0) {
      ranks.begin("MPI_Isend", [&] {
        return MPI_Isend(told[k].data(), bytes(to[k]), MPI_BYTE, rank, 0, ranks.comm(),
                         &requests[2 * k + 1]);
      });
    }
  }
  ranks.await(requests.size(), requests.data());
  return heard;
}

/// Tests MATCH-1 for the neighbours of this rank. The other side tests the rest.
LOCKSTEP_INLINE std::string error_in(const std::vector<std::vector<halo_description>>& heard,
                                     const communicator& ranks, const neighbour_list& neighbours) {
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    const auto& mine = neighbours[i];
    const halo_description* partner = nullptr;
    for (const halo_description& theirs : heard[mine.rank]) {
      if (theirs.send_tag == mine.receive_tag && theirs.receive_tag == mine.send_tag) {
        partner = &theirs;
      }
    }
    if (partner == nullptr) {
      return text_with(
          "neighbour %zu is rank %zu with send_tag %d and receive_tag %d, but rank %zu has no "
          "neighbour that is rank %u with send_tag %d and receive_tag %d; neighbours come in "
          "pairs, one on each side",
          i, mine.rank, mine.send_tag, mine.receive_tag, mine.rank, ranks.rank(), mine.receive_tag,
          mine.send_tag);
    }
    if (partner->sent == mine.receive.bytes()) continue;
    return text_with(
        "neighbour %zu is to receive %zu bytes, but rank %zu sends %llu; make both blocks from the "
        "same extents and types",
        i, mine.receive.bytes(), mine.rank, static_cast<unsigned long long>(partner->sent));
  }
  return "";
}

/// The Transport of halo_protocol.
class halo_transport {
 public:
  /// Collective. Fails on all ranks with std::invalid_argument unless their lists fit each other.
  halo_transport(const lockstep::mpi::world& of, wait_policy policy,
                 const neighbour_list& neighbours)
      : ranks_(of.comm(), of.thread_level(), policy, "lockstep::mpi::halo"),
        ends_(ranks_),
        requests_(2 * neighbours.size(), MPI_REQUEST_NULL) {
    ranks_.agree(own_error(ranks_, neighbours));
    ranks_.agree(error_in(told_by_others(ranks_, neighbours), ranks_, neighbours));
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      const auto& one = neighbours[i];
      const int other = static_cast<int>(one.rank);
      checked(
          MPI_Recv_init(one.receive.first, one.receive.count, one.receive.type, other,
                        early_ends::first_tag + one.receive_tag, ranks_.comm(), &requests_[2 * i]),
          "MPI_Recv_init");
      checked(
          MPI_Send_init(one.send.first, one.send.count, one.send.type, other,
                        early_ends::first_tag + one.send_tag, ranks_.comm(), &requests_[2 * i + 1]),
          "MPI_Send_init");
      ends_.add_way(true, other, one.send_tag, i);
      ends_.add_way(false, other, one.receive_tag, i);
    }
  }
  /// Requires: nothing is under way.
  ~halo_transport() {
    if (!is_active()) return;
    for (MPI_Request& each : requests_) {
      if (each != MPI_REQUEST_NULL) MPI_Request_free(&each);
    }
  }

  // For halo_protocol.

  int start() {
    if (requests_.empty()) return MPI_SUCCESS;  // Open MPI refuses to start no requests
    const call_permit permit(ranks_.level(), ranks_.who());
    return MPI_Startall(static_cast<int>(requests_.size()), requests_.data());
  }
  int look(bool& has_ended) {
    const call_permit permit(ranks_.level(), ranks_.who());
    int flag = 0;
    const int code = MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &flag,
                                 MPI_STATUSES_IGNORE);
    has_ended = flag != 0;
    return code;
  }
  int look_for_leavers(bool& has_left) {
    return ++looks_ % looks_per_word != 0 ? MPI_SUCCESS : ends_.look(has_left);
  }
  bool may_be_used_by(std::size_t rank) const noexcept {
    return rank == 0 || ranks_.level() != MPI_THREAD_FUNNELED;
  }
  [[noreturn]] void fail(int code) const { fail_call("an exchange of a halo", code); }

  early_ends& ends() noexcept { return ends_; }
  const early_ends& ends() const noexcept { return ends_; }
  /// This rank's part is over. It has started so many exchanges, and starts no more.
  void leave(std::uint32_t started) {
    ends_.leave([started](std::size_t) { return started; });
  }
  /// Ends all that is under way.
  void settle(std::uint32_t started) {
    leave(started);
    ends_.settle([&](std::size_t i, std::uint32_t by_partner) {
      if (static_cast<std::int32_t>(by_partner - started) <= 0) return;
      // The partner has ended the exchange before, and started one more. So this end completes the exchange before, and
      // starts one more, too.
      ranks_.await(2, &requests_[2 * i]);
      ranks_.begin("MPI_Startall", [&] { return MPI_Startall(2, &requests_[2 * i]); });
    });
    ranks_.await(requests_.size(), requests_.data());
  }

 private:
  static constexpr unsigned looks_per_word = 16;

  communicator ranks_;
  early_ends ends_;
  std::vector<MPI_Request> requests_;  ///< of neighbour i: the receive at 2 i, the send at 2 i + 1
  unsigned looks_ = 0;
};

struct halo_body final : public early_end_listener {
  halo_body(lockstep::mpi::world& of, const team& by, const neighbour_list& neighbours)
      : ranks(of),
        transport(of, of.policy(by.size()), neighbours),
        protocol(transport, by.size(), of.policy(by.size())) {
    region().add(*this);
  }
  ~halo_body() { region().remove(*this); }

  // HALO-8.
  void leave() override { transport.leave(protocol.start_no_more()); }
  void settle() override {
    transport.settle(protocol.start_no_more());
    protocol.reset();
  }
  bool is_under_way() const noexcept override {
    return protocol.is_under_way() || transport.ends().is_leaving();
  }
  void progress() noexcept override {
    protocol.look_beside();
    transport.ends().push_words();
  }

  /// The state of a member. Fails outside of the regions of the world.
  member_state& state_of(const char* function, member& me) const {
    member_state& at = member_access::state_of(me);
    if (LOCKSTEP_UNLIKELY(!region().is_in_progress())) fail_region(function);
    if (at.rank() == 0) check_may_call(ranks.thread_level(), "lockstep::mpi::halo");
    return at;
  }

  lockstep::mpi::world& ranks;
  halo_transport transport;
  halo_protocol<halo_transport> protocol;

 private:
  world_region& region() const noexcept { return world_access::body_of(ranks).region; }

  [[noreturn]] static void fail_region(const char* function) {
    fail_use(
        "lockstep::mpi::halo::%s: called outside of the regions of its world: begin them by "
        "world.run(team, f) on every rank, so that a rank that fails ends the waits of the "
        "others",
        function);
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

LOCKSTEP_INLINE void halo::publish(member& me) {
  body_->protocol.publish(body_->state_of("publish", me));
}
LOCKSTEP_INLINE bool halo::await_ghosts_unless_stopped(member& me, call_site where) {
  return body_->protocol.await(body_->state_of("await_ghosts", me), where);
}
LOCKSTEP_INLINE bool halo::await_ghosts(member& me, call_site where) {
  const bool goes_on = await_ghosts_unless_stopped(me, where);
  if (!goes_on) detail::leave_stopped_region();
  return goes_on;
}

LOCKSTEP_INLINE void halo::progress(member& me) {
  body_->protocol.look(body_->state_of("progress", me));
}

}  // namespace mpi
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
