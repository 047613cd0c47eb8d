// SPDX-License-Identifier: MIT
// src/mpi/world_graph.cpp -- mpi/world_graph.hpp (layer: mpi)
#include <lockstep/mpi/world_graph.hpp>

#include <lockstep/detail/platform/error.hpp>

#include "graph_messages.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace mpi {

LOCKSTEP_INLINE graph_block world_graph::loop(const graph_block& body) {
  const graph_block made = graph::loop(body);
  if (rank_of_.size() < size()) {
    const auto& model = detail::graph_access::body_of(*this).model;
    rank_of_.push_back(rank_of_[model.feedbacks.back().from]);
  }
  return made;
}

LOCKSTEP_INLINE void world_graph::carry(const void* source, void* target, std::size_t each,
                                        std::size_t count) {
  constexpr std::size_t most = 0x7FFFFFFF;  // MPI counts by int
  detail::checked_range("lockstep::mpi::world_graph::edge", "values of that size", count, 0,
                        most / each);
  const std::size_t edges = detail::graph_access::body_of(*this).model.edges.size();
  data_.push_back({edges - 1, source, target, each * count});
}

}  // namespace mpi
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
