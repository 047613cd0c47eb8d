// SPDX-License-Identifier: MIT
// src/mpi/halo_protocol.hpp -- which member starts an exchange, looks for its end, or waits (layer: mpi)
//
// It is between the members of a rank and a transport. Exchanges with all neighbours follow each other. In an exchange
// every member publishes its part of the boundary. The last to publish starts the sends and the receives. Then the
// members wait. One of them, the poller, looks after what is under way. The others wait by the wait engine until the
// exchange is done or the poller has left. For users: mpi/halo.hpp.
//
// Transport: a code is 0 unless something failed, and only fail() throws
//   int start()                             begins the sends to all neighbours, and the receives
//   int look(bool& has_ended)               whether all are complete; never blocks. Not called again then
//   int look_for_leavers(bool& has_left)    whether a rank has left the region, so that its part may never come
//   bool may_be_used_by(std::size_t rank)   whether this member may call the three above
//   void fail(int code)                     throws what the code says
// The poller alone looks. Calls of start() and look() never overlap.
//
//   HALO-1  What any member does before it publishes happens before start(): the boundary is written, and no member
//       still reads the ghosts of the exchange before.
//   HALO-2  The look() that finds an exchange complete happens before the return of every await() of that exchange.
//   HALO-3  A member publishes exchange e + 1 only after its await() of e, so no member starts e + 1 while e is under
//       way. So one count and three numbers serve all exchanges, without a barrier in between.
//   HALO-4  While an exchange is under way and a member waits for it, a member that may use the transport is the
//       poller, or is about to be. A poller that leaves notifies all sleepers, and each looks whether it can take over.
//   HALO-5  A stop of the region ends every wait. The poller looks for it between two polls. While a member sleeps, the
//       mark is in the list of the stop_source (PUBLISH-3).
//
//   word      meaning                                          written by
//   arrived   members that have published the next exchange    each; the last sets it to 0
//   full      exchanges published, left to member 0 to start   the last to publish, if it may not start
//   started   exchanges started                                the member that starts
//   done      exchanges complete with all neighbours           the poller
//
// Memory order (# marks the line; each weakening must fail a test: tests/mpi/halo_protocol_test.cpp)
//   #   access             order    pairs  why it suffices
//   1   arrived.fetch_add  acq_rel  1      the last to publish comes after what all others did: HALO-1
//   2   arrived.store      relaxed  -      published with 3 or 5; the next publish() comes after 8
//   3   full.store         release  4      member 0 starts it after what all others did: HALO-1
//   4   full.load          acquire  3      the other half
//   5   started.store      release  6      the poller comes after start(), and so after HALO-1
//   6   started.load       acquire  5      the other half
//   7   done.store         release  8      HALO-2
//   8   done.load          acquire  7      the other half
//   9   poller.exchange    acquire  10     the new poller comes after all that the last one did in the transport, and
//                                          finds `done` and the poller's own data as that one left them
//   10  poller.store       release  9      the other half
//   11  poller.load        relaxed  -      a guess, which 9 tests
//   12  done.load          relaxed  -      it is known: to the poller by 9, to a publishing member by its last wait, 8
//   13  store              relaxed  -      no thread uses the object
//   14  arrived.load       relaxed  -      as 13
//
// Cost   publish: one RMW; for the last also start(), one store, one look for sleepers with a fence.
//        await: one load if the exchange is done; the poller one look() at a time.
// Source counts and a leader among the waiters: ours.
#ifndef LOCKSTEP_SRC_MPI_HALO_PROTOCOL_HPP
#define LOCKSTEP_SRC_MPI_HALO_PROTOCOL_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/error.hpp>
#include "../region/group.hpp"
#include "../wait/published_words.hpp"
#include "polling_nap.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

template <class Transport>
class halo_protocol {
 public:
  /// For up to `members` members. Tests begin next to wrap-around.
  halo_protocol(Transport& transport, std::size_t members, wait_policy policy,
                std::uint32_t first_phase = 0)
      : transport_(transport), policy_(policy), slots_(members) {
    process_fence::prepare();
    put_at_rest(first_phase);
  }

  /// This member's part is ready. Never waits for a member; fails where start() does.
  void publish(member_state& self) {
    slot& mine = slot_of(self);
    if (mine.is_pending) fail_published_twice(self.rank());
    mine.is_pending = true;
    mine.exchange = words_.done.load(memory_order_relaxed) + 1;                // 12
    const std::uint32_t before = arrived_.fetch_add(1, memory_order_acq_rel);  // 1
    if (before + 1 != self.size()) return;
    arrived_.store(0, memory_order_relaxed);  // 2
    if (transport_.may_be_used_by(self.rank())) {
      const int code = start(mine.exchange);
      if (code != 0) transport_.fail(code);
    } else {
      words_.full.store(mine.exchange, memory_order_release);  // 3
      wake();
    }
  }

  /// If this member has published an exchange and not waited for it: blocks until the exchange is done. False once the
  /// region is stopped.
  bool await(member_state& self, call_site where = call_site::none()) {
    slot& mine = slot_of(self);
    while (mine.is_pending && !is_done(mine.exchange)) {
      if (self.is_stopped()) return false;
      if (can_poll(self, mine.exchange) && take_poller()) {
        const poller_role role(*this);
        polling what(*this, self, mine.exchange, where);
        wait_engine::wait(what, policy_of(self), self.history);
        end_badly(self);
      } else {
        following what(*this, self, mine.exchange, where);
        wait_engine::wait(what, policy_of(self), self.history);
      }
    }
    mine.is_pending = false;
    return !self.is_stopped();
  }

  /// Looks once at what is under way, unless another thread does, or this member may not.
  void look(member_state& self) {
    if (!transport_.may_be_used_by(self.rank()) || !take_poller()) return;
    const poller_role role(*this);
    look_once();
    end_badly(self);
  }

  /// How many exchanges were started, and are done, modulo 2^32.
  std::uint32_t started() const noexcept {
    return words_.started.load(memory_order_acquire);  // 6
  }
  std::uint32_t done() const noexcept {
    return words_.done.load(memory_order_acquire);  // 8
  }
  bool is_under_way() const noexcept { return started() != done(); }
  /// A look by a thread that waits for other ranks. The next poller reports what went wrong in it.
  void look_beside() noexcept {
    if (!take_poller()) return;
    const poller_role role(*this);
    look_once();
  }
  /// After a region that was stopped: an exchange that is left to member 0 to start is not started. Requires: no member
  /// uses this object. Returns started().
  std::uint32_t start_no_more() noexcept {
    words_.full.store(started(), memory_order_relaxed);  // 13
    return started();
  }
  /// Whether every exchange that a member has published is done. Requires: no thread uses this object.
  bool is_at_rest() const noexcept {
    return arrived_.load(memory_order_relaxed) == 0 && !is_under_way() && !is_full();  // 14
  }
  /// Makes it as new, after a region that was stopped. Requires: no thread uses this object, and nothing is under way.
  void reset() noexcept {
    put_at_rest(0);
    for (std::size_t rank = 0; rank < slots_.size(); ++rank) slots_[rank].value = slot();
    code_ = 0;
    has_leavers_ = false;
  }

 private:
  /// What a member knows of its last exchange.
  struct slot {
    std::uint32_t exchange = 0;
    bool is_pending = false;
  };
  static constexpr unsigned looks_at_once = 8;

  struct awaited_exchange : waitable {
    halo_protocol& of;
    member_state& self;
    const std::uint32_t exchange;
    const source_place where;

    awaited_exchange(halo_protocol& protocol, member_state& member, std::uint32_t number,
                     call_site from) noexcept
        : of(protocol), self(member), exchange(number), where(from) {}
    void describe(wait_subject& to) const noexcept override {
      of.describe(to, self, exchange, where);
    }
  };
  /// The poller's wait: it looks at the transport instead of a word.
  struct polling final : awaited_exchange {
    using awaited_exchange::awaited_exchange;
    using awaited_exchange::exchange;
    using awaited_exchange::of;
    using awaited_exchange::self;
    polling_nap nap = polling_nap();

    /// Looks several times. A library that shares CPUs yields at the end of a call that finds nothing, and the next
    /// call sees what has come meanwhile. So a yield of the engine after each look would be one too many.
    bool ready() override {
      for (unsigned i = 0; i < looks_at_once; ++i) {
        if (looks()) return true;
      }
      return false;
    }
    bool looks() {
      of.look_once();
      return of.is_done(exchange) || self.is_stopped() || of.is_bad();
    }
    void sleep(std::uint64_t) override { nap.take(); }
  };

  /// The wait of the other members.
  struct following final : awaited_exchange {
    using awaited_exchange::awaited_exchange;
    using awaited_exchange::exchange;
    using awaited_exchange::of;
    using awaited_exchange::self;

    bool ready() noexcept override {
      return of.is_done(exchange) || self.is_stopped() ||
             (of.has_no_poller() && of.can_poll(self, exchange));
    }
    void sleep(std::uint64_t until) override {
      if (self.is_alone()) return;  // no other member can end the wait
      const sleeping_places::place here(&self.shared().barrier.stop(), &of.mark_, 1,
                                        fence_payer::both);  // HALO-5
      of.mark_.sleep(*this, until, fence_payer::both);
    }
  };

  /// The right to poll. It was taken before, and ends with this object.
  class poller_role {
   public:
    explicit poller_role(halo_protocol& of) noexcept : of_(of) {}
    ~poller_role() {
      of_.poller_.store(0, memory_order_release);  // 10
      of_.wake();
    }
    poller_role(const poller_role&) = delete;
    poller_role& operator=(const poller_role&) = delete;

   private:
    halo_protocol& of_;
  };

  bool take_poller() noexcept {
    return poller_.exchange(1, memory_order_acquire) == 0;  // 9
  }
  bool has_no_poller() const noexcept { return poller_.load(memory_order_relaxed) == 0; }  // 11

  /// Whether this member may poll, and there is something to look after. Whatever starts an exchange wakes its waiters.
  bool can_poll(const member_state& self, std::uint32_t exchange) const noexcept {
    return transport_.may_be_used_by(self.rank()) &&
           (phase_reached{exchange}(started()) || is_full());
  }
  /// Whether an exchange waits for member 0 to start it.
  bool is_full() const noexcept {
    return !transport_.may_be_used_by(1) &&
           words_.full.load(memory_order_acquire) == started() + 1;  // 4
  }
  bool is_done(std::uint32_t exchange) const noexcept { return phase_reached{exchange}(done()); }

  int start(std::uint32_t exchange) {
    const int code = transport_.start();
    if (code != 0) return code;
    words_.started.store(exchange, memory_order_release);  // 5
    wake();
    return 0;
  }

  /// By the poller.
  void look_once() {
    bool has_ended = false;
    if (code_ == 0 && is_full()) code_ = start(started() + 1);
    const std::uint32_t now = started();
    if (code_ == 0 && now != words_.done.load(memory_order_relaxed)) {  // 12
      code_ = transport_.look(has_ended);
    }
    if (code_ == 0 && has_ended) {
      words_.done.store(now, memory_order_release);  // 7
      wake();
    }
    if (code_ == 0) code_ = transport_.look_for_leavers(has_leavers_);
  }
  bool is_bad() const noexcept { return code_ != 0 || has_leavers_; }
  /// By the poller: ends the region if something went wrong.
  void end_badly(const member_state& self) {
    if (has_leavers_) self.request_stop();
    const int code = code_;
    code_ = 0;
    if (code != 0) transport_.fail(code);
  }

  void wake() { mark_.notify(fence_payer::both); }

  wait_policy policy_of(const member_state& self) const noexcept {
    return self.is_alone() ? policy_ : self.shared().barrier.policy();
  }
  slot& slot_of(const member_state& self) {
    if (self.rank() >= slots_.size()) fail_members(self.size());
    return slots_[self.rank()].value;
  }
  void put_at_rest(std::uint32_t phase) noexcept {
    arrived_.store(0, memory_order_relaxed);            // 13
    words_.full.store(phase, memory_order_relaxed);     // 13
    words_.started.store(phase, memory_order_relaxed);  // 13
    words_.done.store(phase, memory_order_relaxed);     // 13
  }
  void describe(wait_subject& to, const member_state& self, std::uint32_t exchange,
                source_place where) const noexcept {
    const observed_member who = self.observed();
    to.object = this;
    to.sleeps_on = &mark_;
    to.where = where;
    to.phase = exchange;
    to.rank = who.rank;
    to.size = who.size;
    to.team = who.team;
    to.region = who.region;
  }

  [[noreturn]] LOCKSTEP_NOINLINE static void fail_published_twice(std::size_t rank) {
    fail_use(
        "lockstep::mpi::halo::publish: member %zu has published its part and not waited for the "
        "exchange; call await_ghosts() before the next publish()",
        rank);
  }
  [[noreturn]] LOCKSTEP_NOINLINE void fail_members(std::size_t size) const {
    fail_use(
        "lockstep::mpi::halo: a region of %zu members uses a halo that was made for %zu; "
        "give its constructor the number of members of the team",
        size, slots_.size());
  }

  Transport& transport_;
  const wait_policy policy_;  ///< of a member that is alone
  aligned_array<padded<slot>> slots_;
  line_gap before_arrived_;
  wait_word arrived_{0};
  line_gap before_words_;  // members that publish do not disturb those that wait
  struct {
    wait_word full{0}, started{0}, done{0};
  } words_;
  line_gap before_poller_;
  wait_word poller_{0};
  sleeper_mark mark_;
  // Of the poller.
  int code_ = 0;
  bool has_leavers_ = false;
  line_gap after_;
};

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_MPI_HALO_PROTOCOL_HPP
