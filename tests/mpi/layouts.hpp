// SPDX-License-Identifier: MIT
// tests/mpi/layouts.hpp -- how a test's ranks are taken for nodes, and how many members each has
#pragma once

#include <gtest/gtest.h>
#include <lockstep/mpi.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <utility>

namespace lockstep::test {

struct layout {
  std::size_t ranks_per_node, members;
};

inline std::string text_of(const testing::TestParamInfo<layout>& of) {
  return std::to_string(of.param.ranks_per_node) + "_per_node_" + std::to_string(of.param.members) +
         "_members";
}

/// A world and a team of the layout. Worlds are made once for each number of ranks per node: that is many calls of MPI, which
/// polls for the ranks that lack a CPU.
class ranks_and_members : public testing::TestWithParam<layout> {
 public:
  static void TearDownTestSuite() { worlds().clear(); }

 protected:
  mpi::world& ranks = world_with(GetParam());
  team members{team_options(ranks.options()).members(GetParam().members)};
  std::size_t all() const { return ranks.size() * members.size(); }

 private:
  static std::map<std::size_t, mpi::world>& worlds() {
    static std::map<std::size_t, mpi::world> all;
    return all;
  }
  static mpi::world& world_with(const layout& of) {
    return worlds().try_emplace(of.ranks_per_node, MPI_COMM_WORLD, of.ranks_per_node).first->second;
  }
};

}  // namespace lockstep::test
