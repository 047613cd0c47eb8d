// SPDX-License-Identifier: MIT
// bench/graph/openmp.cpp -- the entries of an OpenMP runtime. The one unit that is compiled with OpenMP, by GCC for
// libgomp and by Clang for libomp; main(), the graphs and the work of nodes are the same objects in both runners.
#include "graph/graph_works.hpp"
#include "graph/peers/openmp_tasks.hpp"
#include "team/catalogue.hpp"
#include "team/openmp_names.hpp"

namespace team_bench {
namespace {

constexpr const char* peer = openmp_runtime;

}  // namespace

catalogue all_entries() {
  catalogue all;
  graph_bench::add_graphs<graph_bench::openmp_graph>(all, peer, graph_bench::all_shapes());
  graph_bench::add_loops<graph_bench::openmp_loop>(all, peer);
  return all;
}

std::map<std::string, std::string> peer_versions() { return openmp_version(); }

}  // namespace team_bench
