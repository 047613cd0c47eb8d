// SPDX-License-Identifier: MIT
// tests/mpi/rank_graph_test.cpp -- parts of graphs run as they should, with queues in place of MPI
//
// A rank is a thread with a team. A queue of messages has as many places as an edge has buffers. So a deadlock between
// processes is one here, too, and a missing order is a race that ThreadSanitizer sees.
#include "mpi/rank_part.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <lockstep/mpi/world_graph.hpp>
#include <lockstep/plan.hpp>
#include "support/world_shape.hpp"

namespace {

namespace world = lockstep::detail::mpi;
using lockstep::mpi::world_graph;
using lockstep::test::first_seed;
using lockstep::test::graph_taste;
using lockstep::test::graphs;
using lockstep::test::world_shape;

/// What all ranks share.
class queues {
 public:
  explicit queues(const world::graph_split& of) : of_(of), waiting_(of.messages.size()) {}

  bool send(std::size_t message, const void* bytes) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return has_ended_ || waiting_[message].size() < world::slots; });
    if (has_ended_) return false;
    const char* const first = static_cast<const char*>(bytes);
    waiting_[message].emplace_back(first, first + of_.messages[message].bytes);
    changed_.notify_all();
    return true;
  }
  bool receive(std::size_t message, void* bytes) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return has_ended_ || !waiting_[message].empty(); });
    if (has_ended_) return false;
    std::copy(waiting_[message].front().begin(), waiting_[message].front().end(),
              static_cast<char*>(bytes));
    waiting_[message].pop_front();
    changed_.notify_all();
    return true;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    changed_.notify_all();
  }
  bool are_empty() const {
    for (const auto& each : waiting_) {
      if (!each.empty()) return false;
    }
    return true;
  }

 private:
  const world::graph_split& of_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_ended_ = false;
  std::vector<std::deque<std::vector<char>>> waiting_;
};

class queue_transport final : public world::graph_transport {
 public:
  queue_transport(queues& of, world::part_state& state) : of_(of), state_(state) {}

  bool send(std::size_t message, const void* bytes) override {
    return of_.send(message, bytes) || ended();
  }
  bool receive(std::size_t message, void* bytes) override {
    return of_.receive(message, bytes) || ended();
  }
  void fail(lockstep::detail::node_index node) override {
    failed = node;
    ended();
    of_.end();
  }
  void look() noexcept override {}

  lockstep::plan* plan = nullptr;
  std::atomic<lockstep::detail::node_index> failed{lockstep::detail::no_node};

 private:
  bool ended() {
    state_.end();
    plan->request_stop();
    return false;
  }

  queues& of_;
  world::part_state& state_;
};

/// One rank: its variables, its graph, its team.
struct rank_of_test {
  rank_of_test(const world_graph& g, const world::graph_split& split, queues& through,
               std::uint32_t rank, std::size_t members, bool is_pinned)
      : of(g),
        placed(world::world_graph_access::placed(of)),
        part(world::part_of_rank(placed, split, rank)),
        transport(through, state),
        functions(split, world::world_graph_access::body_of(of).functions, state, transport),
        local(world::graph_of(part, functions, is_pinned ? 0 : lockstep::detail::no_node)),
        team(members),
        plan(local, team) {
    state.answers.assign(of.size(), 0);
    transport.plan = &plan;
  }

  bool run(std::size_t iterations) {
    state.begin();
    return plan.run(iterations);
  }

  const world_graph& of;
  world::placed_graph placed;
  world::rank_part part;
  world::part_state state;
  queue_transport transport;
  world::rank_functions functions;
  lockstep::graph local;
  lockstep::team team;
  lockstep::plan plan;
};

struct crowd {
  std::uint32_t ranks;
  std::size_t members;
};

class rank_graphs : public testing::TestWithParam<crowd> {
 protected:
  void compare(const graph_taste& taste, int count) {
    const crowd size = GetParam();
    int refused = 0, messages = 0;
    for (int k = 0; k < count; ++k) {
      const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(k);
      const world_shape shape(seed, taste, size.ranks);
      if (!shape.problem.empty()) {
        ++refused;
        continue;
      }
      const std::size_t iterations = 1 + seed % 6;
      std::vector<std::unique_ptr<world_shape::variables>> variables;
      std::vector<std::unique_ptr<world_graph>> globals;
      for (std::uint32_t r = 0; r < size.ranks; ++r) {
        variables.push_back(std::make_unique<world_shape::variables>(shape));
        globals.push_back(std::make_unique<world_graph>());
        shape.build(*globals[r], *variables[r]);
      }
      // Each rank has addresses of its own.
      std::vector<world::graph_split> splits;
      for (std::uint32_t r = 0; r < size.ranks; ++r) {
        splits.push_back(
            world::split_of(world::world_graph_access::placed(*globals[r]), size.ranks));
        ASSERT_EQ(splits[r].problem, "") << "seed " << seed;
      }
      messages += static_cast<int>(splits[0].messages.size());
      queues through(splits[0]);
      std::vector<std::unique_ptr<rank_of_test>> ranks;
      for (std::uint32_t r = 0; r < size.ranks; ++r) {
        ranks.push_back(std::make_unique<rank_of_test>(*globals[r], splits[r], through, r,
                                                       size.members, seed % 4 == 0));
      }
      std::vector<std::thread> threads;
      for (std::uint32_t r = 0; r < size.ranks; ++r) {
        threads.emplace_back([&, r] { EXPECT_TRUE(ranks[r]->run(iterations)); });
      }
      for (std::thread& each : threads) each.join();
      const world_shape::numbers right = shape.interpret(iterations);
      for (std::size_t n = 0; n < shape.size(); ++n) {
        ASSERT_EQ(variables[shape.rank_of[n]]->said.said[n], right.said[n])
            << "seed " << seed << ", node " << n << "\n"
            << globals[0]->dot();
      }
      EXPECT_TRUE(through.are_empty()) << "seed " << seed;
    }
    EXPECT_LT(refused, 1 + count / 2);
    if (size.ranks > 1) {
      EXPECT_GT(messages, count);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(of, rank_graphs,
                         testing::Values(crowd{1, 2}, crowd{2, 1}, crowd{2, 2}, crowd{3, 1},
                                         crowd{3, 4}, crowd{4, 1}, crowd{4, 2}),
                         [](const testing::TestParamInfo<crowd>& of) {
                           return std::to_string(of.param.ranks) + "_ranks_of_" +
                                  std::to_string(of.param.members);
                         });

TEST_P(rank_graphs, of_all_kinds) {
  for (const bool has_loops : {false, true}) {
    graph_taste taste;
    taste.has_loops = has_loops;
    taste.has_conditions = false;
    compare(taste, graphs(30, 3));
  }
  compare(graph_taste(), graphs(50, 3));
}
TEST_P(rank_graphs, with_all_and_many_nodes) {
  graph_taste taste;
  taste.most_nodes = 40;
  compare(taste, graphs(20, 3));
}

}  // namespace
