// SPDX-License-Identifier: MIT
#include "mpi/halo_protocol.hpp"

#include <gtest/gtest.h>
#include <lockstep/lockstep.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/effort.hpp"

// The protocol of a halo over a transport that is memory. Ranks are teams of this process in a ring. The transport orders
// as little as MPI must: what is sent is there when it is received. All else is plain data, so a hole in the protocol is a
// report of ThreadSanitizer: a boundary that is written too late, a ghost that is read too early or overwritten too
// early, a transport that two threads use at a time.
namespace {

using lockstep::member;
using lockstep::team;
using lockstep::team_options;
using lockstep::wait_policy;
using lockstep::detail::member_access;

/// A message box from one rank to another, for one message at a time.
struct channel {
  std::atomic<std::uint32_t> sent{0}, received{0};
  std::vector<std::uint64_t> content;
};

enum class level { funneled, serialized, multiple };

/// One rank's side: neighbour 0 is the rank before, neighbour 1 the rank after.
class ring_transport {
 public:
  ring_transport(level how, std::size_t members, channel* in_before, channel* in_after,
                 channel* out_before, channel* out_after)
      : boundary{std::vector<std::uint64_t>(members), std::vector<std::uint64_t>(members)},
        ghosts{std::vector<std::uint64_t>(members), std::vector<std::uint64_t>(members)},
        how_(how),
        in_{in_before, in_after},
        out_{out_before, out_after} {}

  int start() {
    if (fails_at_start) return 7;
    for (const std::size_t i : {0u, 1u}) {
      EXPECT_FALSE(is_started_[i]) << "an exchange was started while it was under way";
      is_started_[i] = true;
      is_sent_[i] = is_received_[i] = false;
      push(i);
    }
    return 0;
  }
  int look(bool& has_ended) {
    if (fails_at_look) return 8;
    has_ended = true;
    for (const std::size_t i : {0u, 1u}) {
      push(i);
      if (!is_received_[i] && in_[i]->sent.load(std::memory_order_acquire) == phase_ + 1) {
        ghosts[i] = in_[i]->content;
        in_[i]->received.store(phase_ + 1, std::memory_order_release);
        is_received_[i] = true;
      }
      has_ended = has_ended && is_sent_[i] && is_received_[i];
    }
    if (!has_ended) return 0;
    ++phase_;
    is_started_[0] = is_started_[1] = false;
    return 0;
  }
  int look_for_leavers(bool& has_left) {
    has_left = left.load(std::memory_order_relaxed);
    return 0;
  }
  bool may_be_used_by(std::size_t rank) const { return how_ != level::funneled || rank == 0; }
  [[noreturn]] void fail(int code) { throw std::runtime_error("code " + std::to_string(code)); }

  std::vector<std::uint64_t> boundary[2], ghosts[2];  // an element of each member
  std::atomic<bool> left{false};
  bool fails_at_start = false, fails_at_look = false;

 private:
  void push(std::size_t i) {
    if (is_sent_[i] || out_[i]->received.load(std::memory_order_acquire) != phase_) return;
    out_[i]->content = boundary[i];
    out_[i]->sent.store(phase_ + 1, std::memory_order_release);
    is_sent_[i] = true;
  }

  const level how_;
  channel* in_[2];
  channel* out_[2];
  std::uint32_t phase_ = 0;
  bool is_started_[2] = {false, false}, is_sent_[2] = {true, true},
       is_received_[2] = {false, false};
};

using protocol = lockstep::detail::mpi::halo_protocol<ring_transport>;

/// Ranks in a ring, each with a transport and a protocol.
class ring {
 public:
  ring(std::size_t ranks, std::size_t members, level how, wait_policy policy = wait_policy(),
       std::uint32_t first_phase = 0)
      : channels_(2 * ranks) {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const std::size_t before = (rank + ranks - 1) % ranks, after = (rank + 1) % ranks;
      // channel 2 r: from r to the rank before it; 2 r + 1: to the rank after it.
      transports_.push_back(std::make_unique<ring_transport>(
          how, members, &channels_[2 * before + 1], &channels_[2 * after], &channels_[2 * rank],
          &channels_[2 * rank + 1]));
      protocols_.push_back(
          std::make_unique<protocol>(*transports_.back(), members, policy, first_phase));
    }
  }
  ring_transport& transport(std::size_t rank) { return *transports_[rank]; }
  protocol& halo(std::size_t rank) { return *protocols_[rank]; }

 private:
  std::vector<channel> channels_;
  std::vector<std::unique_ptr<ring_transport>> transports_;
  std::vector<std::unique_ptr<protocol>> protocols_;
};

struct setting {
  std::size_t ranks, members;
  level how;
  wait_policy policy;
  std::uint32_t first_phase;
};

std::uint64_t value_of(std::size_t rank, std::size_t side, std::size_t member, std::size_t step) {
  return ((rank * 2 + side) * 64 + member) * 1000000 + step;
}

/// Runs `part(rank, member)` on a team for each rank.
template <class Part>
void on_all_ranks(const setting& with, Part part) {
  std::vector<std::thread> ranks;
  for (std::size_t rank = 0; rank < with.ranks; ++rank) {
    ranks.emplace_back([&, rank] {
      team mine(team_options().members(with.members).policy(with.policy));
      mine.run([&](member& me) { part(rank, me); });
    });
  }
  for (std::thread& each : ranks) each.join();
}

// HALO_1 and HALO_2: all data is plain. HALO_3: nothing but publish() and await() is between two steps.
void exchange_steps(const setting& with, std::size_t steps) {
  ring all(with.ranks, with.members, with.how, with.policy, with.first_phase);
  std::atomic<std::size_t> wrong{0};
  on_all_ranks(with, [&](std::size_t rank, member& me) {
    auto& self = member_access::state_of(me);
    ring_transport& transport = all.transport(rank);
    protocol& halo = all.halo(rank);
    const std::size_t before = (rank + with.ranks - 1) % with.ranks,
                      after = (rank + 1) % with.ranks;
    std::minstd_rand dice(static_cast<unsigned>(rank * 64 + me.rank() + 1));
    for (std::size_t step = 1; step <= steps; ++step) {
      for (const std::size_t i : {0u, 1u}) {
        transport.boundary[i][me.rank()] = value_of(rank, i, me.rank(), step);
      }
      halo.publish(self);
      if (dice() % 4 == 0) halo.look(self);
      if (dice() % 16 == 0) std::this_thread::yield();
      if (!halo.await(self)) return;
      for (const std::size_t i : {0u, 1u}) {
        // Every member reads what all members of the neighbour sent.
        for (std::size_t member = 0; member < with.members; ++member) {
          const std::size_t from = i == 0 ? before : after;
          if (transport.ghosts[i][member] != value_of(from, 1 - i, member, step)) ++wrong;
        }
      }
    }
  });
  EXPECT_EQ(wrong.load(), 0u);
  for (std::size_t rank = 0; rank < with.ranks; ++rank) {
    EXPECT_EQ(all.halo(rank).done(), with.first_phase + static_cast<std::uint32_t>(steps));
    EXPECT_TRUE(all.halo(rank).is_at_rest());
  }
}

class halo_protocol : public testing::TestWithParam<level> {};

INSTANTIATE_TEST_SUITE_P(levels, halo_protocol,
                         testing::Values(level::funneled, level::serialized, level::multiple),
                         [](const auto& one) {
                           return std::string(one.param == level::funneled     ? "funneled"
                                              : one.param == level::serialized ? "serialized"
                                                                               : "multiple");
                         });

TEST_P(halo_protocol, HALO_1_HALO_2_HALO_3_every_member_reads_what_all_of_the_neighbour_sent) {
  for (const std::size_t ranks : {1u, 2u, 3u}) {
    for (const std::size_t members : {1u, 2u, 4u, 12u}) {
      for (const wait_policy policy : {wait_policy(), wait_policy::block()}) {
        exchange_steps({ranks, members, GetParam(), policy, 0},
                       lockstep::test::effort<std::size_t>(members > 4 ? 160 : 640));
      }
    }
  }
}

TEST_P(halo_protocol, HALO_3_numbers_wrap_around) {
  exchange_steps({2, 3, GetParam(), wait_policy(), ~std::uint32_t{0} - 20}, 60);
}

// A member that sleeps until others publish, and one that sleeps while another polls.
TEST_P(halo_protocol, HALO_5_a_stop_ends_every_wait) {
  for (const std::size_t members : {2u, 4u}) {
    for (const wait_policy policy : {wait_policy(), wait_policy::block()}) {
      const setting with{2, members, GetParam(), policy, 0};
      ring all(with.ranks, with.members, with.how, with.policy);
      std::atomic<int> ended{0};
      // Rank 1 never publishes. On rank 0 all but the last member publish or all do, and wait; then the region is stopped.
      for (const bool is_full : {false, true}) {
        team mine(team_options().members(members).policy(policy));
        std::atomic<std::size_t> waiting{0};
        EXPECT_FALSE(mine.run([&](member& me) {
          auto& self = member_access::state_of(me);
          const bool is_last = me.rank() + 1 == members;
          if (!is_last || is_full) all.halo(0).publish(self);
          ++waiting;
          if (is_last) {
            while (waiting != members) std::this_thread::yield();
            std::this_thread::sleep_for(std::chrono::milliseconds(2));  // most others sleep by then
            me.request_stop();
          } else {
            EXPECT_FALSE(all.halo(0).await(self));
            ++ended;
          }
        }));
        all.halo(0).reset();
      }
      EXPECT_EQ(ended.load(), 2 * static_cast<int>(members - 1));
    }
  }
}

TEST_P(halo_protocol, a_rank_that_has_left_ends_the_region_of_the_others) {
  const setting with{1, 3, GetParam(), wait_policy(), 0};
  ring all(2, with.members, with.how);  // rank 1 has left
  all.transport(0).left = true;
  team mine(team_options().members(with.members));
  EXPECT_FALSE(mine.run([&](member& me) {
    auto& self = member_access::state_of(me);
    all.halo(0).publish(self);
    EXPECT_FALSE(all.halo(0).await(self));
  }));
}

TEST_P(halo_protocol, what_the_transport_says_is_thrown_and_ends_the_region) {
  for (const bool at_start : {true, false}) {
    ring all(2, 3, GetParam());
    (at_start ? all.transport(0).fails_at_start : all.transport(0).fails_at_look) = true;
    team mine(team_options().members(3));
    try {
      mine.run([&](member& me) {
        auto& self = member_access::state_of(me);
        all.halo(0).publish(self);
        EXPECT_FALSE(all.halo(0).await(self));
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), std::string(at_start ? "code 7" : "code 8"));
    }
  }
}

template <class Use>
std::string refusal_of(std::size_t halo_members, std::size_t members, Use use) {
  ring all(1, halo_members, level::multiple);
  team mine(team_options().members(members));
  try {
    mine.run([&](member& me) { use(all.halo(0), member_access::state_of(me)); });
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "";
}

TEST(halo_misuse, is_refused_with_cause_and_remedy) {
  const auto twice = [](protocol& of, auto& self) {
    of.publish(self);
    of.publish(self);
  };
  EXPECT_NE(refusal_of(1, 1, twice).find("not waited for the exchange"), std::string::npos);
  const auto nothing = [](protocol& of, auto& self) { EXPECT_TRUE(of.await(self)); };
  EXPECT_EQ(refusal_of(1, 1, nothing), "");
  const auto publish = [](protocol& of, auto& self) { of.publish(self); };
  EXPECT_NE(refusal_of(1, 2, publish).find("a region of 2 members uses a halo that was made for 1"),
            std::string::npos);
}

TEST(halo_protocol_reset, a_halo_serves_again_after_a_region_that_was_stopped) {
  ring all(1, 2, level::multiple);
  team mine(team_options().members(2));
  EXPECT_FALSE(mine.run([&](member& me) {
    if (me.rank() == 0) all.halo(0).publish(member_access::state_of(me));
    if (me.rank() == 1) me.request_stop();
  }));
  all.halo(0).reset();
  EXPECT_TRUE(mine.run([&](member& me) {
    auto& self = member_access::state_of(me);
    for (const std::size_t i : {0u, 1u}) {
      all.transport(0).boundary[i][me.rank()] = 5 + i;
    }
    all.halo(0).publish(self);
    EXPECT_TRUE(all.halo(0).await(self));
    EXPECT_EQ(all.transport(0).ghosts[0][1 - me.rank()], 6u);
  }));
}

}  // namespace
