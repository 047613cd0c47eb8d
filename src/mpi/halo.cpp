// SPDX-License-Identifier: MIT
// src/mpi/halo.cpp -- mpi/halo.hpp: neighbours that fit each other, and their persistent requests (layer: mpi)
//
// When a halo is made, each rank tells its neighbours once what it will send them and what it expects. So lists that do
// not fit each other are found there, on all ranks, and not as a wait that never ends.
//
//   MATCH-1  Every neighbour has one partner: on the other rank, the neighbour whose receive_tag is this one's send_tag,
//       and the other way round. Blocks that meet have as many bytes.
//   MATCH-2  An error on one rank is thrown on all: the text of the lowest rank that has one, which it names.
//
// For each neighbour there are a send and a receive, made once by MPI_Send_init and MPI_Recv_init and started in each
// exchange. Their blocks have MPI's datatypes, so nothing is packed here. halo_protocol.hpp decides who calls what when.
//
// A rank whose region ends early sends no more. So that its neighbours do not wait for it, it sends each of them one
// notice. Once all ranks know that the region has ended early, each neighbour has sent one notice, early or then:
//
//   LEAVE-1  A notice says how many exchanges of each pair the rank has started. Partners differ by one at most (HALO-3),
//       so the one that is behind starts one more, and all that is under way ends. What arrives in ghosts then is of
//       no use, but no request is left, and all halos go on with the next region.
//   LEAVE-2  Each rank sends each of its neighbouring ranks one notice for every region that ended early, and receives one.
//       So no notice is left for a later region.
//
// Cost   to make one: two meetings of the ranks and an alltoall of one number a rank; a message to each neighbour. An
//        exchange: two MPI_Start and, while any is under way, one MPI_Testsome for all neighbours at each look. A look for
//        notices: another MPI_Testsome, once in 16 looks.
#include <algorithm>
#include <vector>

#include <lockstep/mpi/halo.hpp>

#include "../platform/system_texts.hpp"
#include "communicator.hpp"
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

/// What is wrong without a look at others, or nothing.
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

/// What every rank says of its neighbours that are this rank: by ranks, in the order of its list.
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

/// MATCH-1, as far as this rank is concerned; the other side finds the rest.
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

/// Of halo_protocol.
class halo_transport {
 public:
  /// Collective. Fails on all ranks with std::invalid_argument unless their lists fit each other.
  halo_transport(const lockstep::mpi::world& of, wait_policy policy,
                 const neighbour_list& neighbours)
      : ranks_(of.comm(), of.thread_level(), policy, "lockstep::mpi::halo"),
        requests_(2 * neighbours.size(), MPI_REQUEST_NULL),
        ended_(2 * neighbours.size()),
        under_way_(neighbours.size(), 0),
        last_looked_after_(neighbours.size()) {
    ranks_.agree(own_error(ranks_, neighbours));
    ranks_.agree(error_in(told_by_others(ranks_, neighbours), ranks_, neighbours));
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      const auto& one = neighbours[i];
      const int other = static_cast<int>(one.rank);
      checked(MPI_Recv_init(one.receive.first, one.receive.count, one.receive.type, other,
                            first_tag + one.receive_tag, ranks_.comm(), &requests_[2 * i]),
              "MPI_Recv_init");
      checked(MPI_Send_init(one.send.first, one.send.count, one.send.type, other,
                            first_tag + one.send_tag, ranks_.comm(), &requests_[2 * i + 1]),
              "MPI_Send_init");
      side_of(other).pairs.push_back({i, one.send_tag, one.receive_tag});
    }
    receives_.assign(sides_.size(), MPI_REQUEST_NULL);
    sends_.assign(sides_.size(), MPI_REQUEST_NULL);
    indices_.resize(sides_.size());
    for (side& each : sides_) {
      each.sent.resize(each.pairs.size());
      each.received.resize(each.pairs.size());
    }
    expect_notices();
  }
  /// Nothing is under way but the receives of notices.
  ~halo_transport() {
    if (!is_active()) return;
    for (MPI_Request& each : requests_) {
      if (each != MPI_REQUEST_NULL) MPI_Request_free(&each);
    }
    for (MPI_Request& each : receives_) {
      if (each == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&each);
      MPI_Wait(&each, MPI_STATUS_IGNORE);
    }
  }

  // For halo_protocol.

  int start(std::size_t i) {
    const call_permit permit(level_of_exchanges(), ranks_.who());
    under_way_[i] = 2;
    return MPI_Startall(2, &requests_[2 * i]);
  }
  /// The poller looks after one neighbour after the other. The first of a round looks after all: MPI makes progress, and may
  /// give the CPU to another rank, in every call.
  int look(std::size_t i, bool& has_ended) {
    const call_permit permit(level_of_exchanges(), ranks_.who());
    const bool is_new_round = i <= last_looked_after_;
    last_looked_after_ = i;
    const int code = is_new_round ? look_after_all() : MPI_SUCCESS;
    has_ended = under_way_[i] == 0;
    return code;
  }
  int look_for_leavers(bool& has_left) {
    if (receives_.empty() || ++looks_ % looks_per_notice != 0) return MPI_SUCCESS;
    const call_permit permit(ranks_.level(), ranks_.who());
    int count = 0;
    const int code = MPI_Testsome(static_cast<int>(receives_.size()), receives_.data(), &count,
                                  indices_.data(), MPI_STATUSES_IGNORE);
    if (count != MPI_UNDEFINED && count > 0) has_left = true;
    return code;
  }
  bool may_be_used_by(std::size_t rank) const noexcept {
    return rank == 0 || ranks_.level() != MPI_THREAD_FUNNELED;
  }
  [[noreturn]] void fail(int code) const { fail_call("an exchange of a halo", code); }

  // When a region has ended early, by the thread that has run it.

  /// Tells the neighbours, once for each region. `started(i)`: how many exchanges were started with neighbour i.
  template <class Started>
  void leave(const Started& started) {
    if (has_left_) return;
    has_left_ = true;
    for (std::size_t s = 0; s < sides_.size(); ++s) {
      side& to = sides_[s];
      sort(to, &pair::send_tag);
      for (std::size_t k = 0; k < to.pairs.size(); ++k) to.sent[k] = started(to.pairs[k].neighbour);
      ranks_.begin("MPI_Isend", [&] {
        return MPI_Isend(to.sent.data(), static_cast<int>(to.sent.size()), MPI_UINT32_T, to.rank,
                         notice_tag, ranks_.comm(), &sends_[s]);
      });
    }
  }
  /// Whether the notices are made: nothing may be started any more, for they say how much was.
  bool has_left() const noexcept { return has_left_; }
  /// Whether notices may not have gone yet. They may stand behind large messages, so others wait for what this rank sends.
  bool is_leaving() const noexcept { return has_left_ && !have_gone_; }
  void push_notices() noexcept {
    if (!is_leaving()) return;
    const call_permit permit(ranks_.level(), ranks_.who());
    int flag = 0;
    MPI_Testall(static_cast<int>(sends_.size()), sends_.data(), &flag, MPI_STATUSES_IGNORE);
    have_gone_ = flag != 0;
  }
  /// Ends all that is under way: LEAVE-1. All ranks have left, or are about to.
  template <class Started>
  void settle(const Started& started) {
    leave(started);
    ranks_.await(receives_.size(), receives_.data());
    for (side& from : sides_) {
      sort(from, &pair::receive_tag);  // the order in which the other side has sent them
      for (std::size_t k = 0; k < from.pairs.size(); ++k) {
        const std::size_t i = from.pairs[k].neighbour;
        if (static_cast<std::int32_t>(from.received[k] - started(i)) > 0) catch_up(i);
      }
    }
    for (const pair& each : own_pairs_.pairs) settle_own(each, started);
    ranks_.await(requests_.size(), requests_.data());
    ranks_.await(sends_.size(), sends_.data());
    has_left_ = have_gone_ = false;
    expect_notices();
  }

 private:
  static constexpr int notice_tag = 0, first_tag = 1;
  static constexpr unsigned looks_per_notice = 16;

  struct pair {
    std::size_t neighbour;
    int send_tag, receive_tag;
  };
  /// A neighbouring rank, and what is exchanged with it.
  struct side {
    int rank;
    std::vector<pair> pairs;
    std::vector<std::uint32_t> sent, received;
  };

  /// One member starts an exchange while another looks after all of them: with MULTIPLE, too, one at a time.
  int level_of_exchanges() const noexcept {
    return ranks_.level() == MPI_THREAD_MULTIPLE ? MPI_THREAD_SERIALIZED : ranks_.level();
  }
  int look_after_all() {
    int count = 0;
    const int code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                                  ended_.data(), MPI_STATUSES_IGNORE);
    if (code != MPI_SUCCESS || count == MPI_UNDEFINED) return code;
    for (int k = 0; k < count; ++k)
      --under_way_[static_cast<std::size_t>(ended_[static_cast<std::size_t>(k)]) / 2];
    return code;
  }
  side& side_of(int rank) {
    if (rank == static_cast<int>(ranks_.rank())) return own_pairs_;
    for (side& each : sides_) {
      if (each.rank == rank) return each;
    }
    sides_.push_back({rank, {}, {}, {}});
    return sides_.back();
  }
  static void sort(side& of, int pair::* by) {
    std::sort(of.pairs.begin(), of.pairs.end(),
              [by](const pair& a, const pair& b) { return a.*by < b.*by; });
  }
  /// A rank that is its own neighbour has both partners.
  template <class Started>
  void settle_own(const pair& one, const Started& started) {
    for (const pair& other : own_pairs_.pairs) {
      if (other.send_tag != one.receive_tag || other.receive_tag != one.send_tag) continue;
      const std::uint32_t ahead = started(other.neighbour) - started(one.neighbour);
      if (static_cast<std::int32_t>(ahead) > 0) catch_up(one.neighbour);
    }
  }
  /// Starts the exchange that the partner has started. It has done so after the end of the one before, which therefore
  /// ends here too.
  void catch_up(std::size_t i) {
    ranks_.await(2, &requests_[2 * i]);
    checked(start(i), "MPI_Startall");
  }
  void expect_notices() {
    for (std::size_t s = 0; s < sides_.size(); ++s) {
      side& from = sides_[s];
      ranks_.begin("MPI_Irecv", [&] {
        return MPI_Irecv(from.received.data(), static_cast<int>(from.received.size()), MPI_UINT32_T,
                         from.rank, notice_tag, ranks_.comm(), &receives_[s]);
      });
    }
  }

  communicator ranks_;
  std::vector<MPI_Request> requests_;  ///< of neighbour i: the receive at 2 i, the send at 2 i + 1
  std::vector<int> ended_;             ///< of them, in one look
  std::vector<unsigned char> under_way_;  ///< of each neighbour's two
  std::size_t last_looked_after_;
  std::vector<side> sides_;  ///< other ranks
  side own_pairs_ = {};
  std::vector<MPI_Request> receives_, sends_;  ///< of notices, one a side
  std::vector<int> indices_;
  unsigned looks_ = 0;
  bool has_left_ = false;   ///< notices of this region are on their way
  bool have_gone_ = false;  ///< they have left this rank
};

struct halo_body final : public early_end_listener {
  halo_body(lockstep::mpi::world& of, const team& by, const neighbour_list& neighbours)
      : ranks(of),
        transport(of, of.policy(by.size()), neighbours),
        protocol(transport, neighbours.size(), by.size(), of.policy(by.size())) {
    region().add(*this);
  }
  ~halo_body() { region().remove(*this); }

  // HALO-8.
  void leave() override { transport.leave(started()); }
  void settle() override {
    transport.settle(started());
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
