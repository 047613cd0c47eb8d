// SPDX-License-Identifier: MIT
// examples/mpi/graph/plate.cpp -- mpirun -n R mpi_plate --plate T.mtx: the temperature of a plate, as a graph across ranks
//
// The border of the plate keeps its temperature, and inside it settles: each cell becomes the mean of its four neighbours,
// until nothing changes by more than the tolerance. The plate is cut into strips of rows. A strip is a few nodes of the
// graph, and its nodes may be on any rank: the edges are the same, and so is the result, bit for bit.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mpi/support/program_of_ranks.hpp"
#include "mpi/support/ranks.hpp"
#include "support/error.hpp"
#include "support/files.hpp"
#include "support/matrix_market.hpp"

namespace examples {
namespace {

struct plate_options {
  std::string plate;
  std::string output;
  double tolerance = 1e-6;
  unsigned most_turns = 100'000;
  unsigned strips = 8;
  unsigned members = 0;
  bool compares = false;
};

struct plate {
  std::size_t rows = 0, columns = 0;
  std::vector<double> cells;  // row by row
};

plate read_plate(const std::string& path) {
  const market_matrix matrix = parse_matrix_market(read_file(path), path);
  if (matrix.rows < 3 || matrix.columns < 3 || matrix.is_symmetric) {
    throw input_error(
        fmt::format("{}: a plate is a general matrix of 3 x 3 at least", one_line(path)));
  }
  plate made{matrix.rows, matrix.columns,
             std::vector<double>(std::size_t{matrix.rows} * matrix.columns)};
  for (const matrix_entry& each : matrix.entries) {
    made.cells[each.row * made.columns + each.column] = each.value;
  }
  return made;
}

// Some rows of the plate, with what their neighbours have told of the rows beside them.
struct strip {
  strip(const plate& whole, lockstep::index_range of)
      : first(of.first),
        rows(of.last - of.first),
        columns(whole.columns),
        cells(whole.cells.begin() + static_cast<std::ptrdiff_t>(first * columns),
              whole.cells.begin() + static_cast<std::ptrdiff_t>((first + rows) * columns)),
        next(cells) {
    for (auto* row : {&above, &below, &top, &bottom}) row->resize(columns);
  }

  void show() {
    std::copy_n(cells.begin(), columns, top.begin());
    std::copy_n(cells.end() - static_cast<std::ptrdiff_t>(columns), columns, bottom.begin());
  }
  void relax(std::size_t rows_of_plate) {
    change = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      if (first + r == 0 || first + r + 1 == rows_of_plate) continue;  // the border
      const double* const here = cells.data() + r * columns;
      const double* const up = r == 0 ? above.data() : here - columns;
      const double* const down = r + 1 == rows ? below.data() : here + columns;
      for (std::size_t c = 1; c + 1 < columns; ++c) {
        const double mean = ((up[c] + down[c]) + (here[c - 1] + here[c + 1])) / 4;
        change = std::max(change, std::abs(mean - here[c]));
        next[r * columns + c] = mean;
      }
    }
    std::copy(next.begin(), next.end(), cells.begin());
  }

  std::size_t first, rows, columns;
  std::vector<double> cells, next;
  std::vector<double> above, below;  // the neighbours' rows
  std::vector<double> top, bottom;   // its own, for them
  double change = 0;
};

struct settled {
  unsigned turns = 0;
  bool has_converged = false;
};

std::vector<strip> cut(const plate& whole, std::size_t count) {
  std::vector<strip> strips;
  for (std::size_t s = 0; s < count; ++s) {
    strips.emplace_back(whole, lockstep::static_block(0, whole.rows, s, count));
  }
  return strips;
}

settled settle_serially(plate& whole, const plate_options& options) {
  strip all(whole, {0, whole.rows});
  settled how;
  while (!how.has_converged && how.turns < options.most_turns) {
    all.relax(whole.rows);
    ++how.turns;
    how.has_converged = all.change <= options.tolerance;
  }
  whole.cells = all.cells;
  return how;
}

// The result is in `whole` on rank 0.
settled settle(plate& whole, const plate_options& options, lockstep::mpi::world& world,
               lockstep::team& team) {
  // [plate]
  std::vector<strip> strips = cut(whole, options.strips);
  std::vector<double> changes(strips.size());
  settled how;
  lockstep::mpi::world_graph g;
  const auto begin = g.node(0, "begin");
  const auto test = g.node(0, "test", [&] {
    ++how.turns;
    how.has_converged = *std::max_element(changes.begin(), changes.end()) <= options.tolerance;
    return !how.has_converged && how.turns < options.most_turns;
  });
  const auto gather = g.node(0, "gather");
  std::vector<lockstep::graph_node> shows, relaxes;
  for (std::size_t s = 0; s < strips.size(); ++s) {
    const std::size_t rank = s * world.size() / strips.size();
    strip& own = strips[s];
    shows.push_back(g.node(rank, fmt::format("show {}", s), [&] { own.show(); }));
    relaxes.push_back(g.node(rank, fmt::format("relax {}", s), [&] { own.relax(whole.rows); }));
    g.edge(begin, shows[s]).edge(shows[s], relaxes[s]);
    g.edge(relaxes[s], test, &own.change, &changes[s], 1);
    g.edge(relaxes[s], gather, own.cells.data(), &whole.cells[own.first * own.columns],
           own.cells.size());  // leaves the loop: once, at its end
  }
  for (std::size_t s = 0; s + 1 < strips.size(); ++s) {
    strip &upper = strips[s], &lower = strips[s + 1];
    g.edge(shows[s], relaxes[s + 1], upper.bottom.data(), lower.above.data(), whole.columns);
    g.edge(shows[s + 1], relaxes[s], lower.top.data(), upper.below.data(), whole.columns);
  }
  g.edge(test, gather).repeat_while(test, begin);
  lockstep::mpi::world_plan(g, world, team).run();
  // [/plate]
  return how;
}

exit_status run(lockstep::mpi::world& world, plate_options options) {
  // All ranks read the file, and fail alike.
  plate whole = read_plate(options.plate);
  const plate before = options.compares ? whole : plate();
  options.strips = std::min(options.strips, static_cast<unsigned>(whole.rows));
  std::optional<output_file> output;
  first_rank_does(world, [&] { output.emplace(options.output); });
  lockstep::team_options team_options = world.options();
  if (options.members != 0) team_options.members(options.members);
  lockstep::team team(team_options);
  const settled how = settle(whole, options, world, team);
  exit_status status = exit_status::success;
  first_rank_does(world, [&] {
    fmt::print("turns: {} ({}), {} strips on {} ranks x {} members\n", how.turns,
               how.has_converged ? "converged" : "NOT converged", options.strips, world.size(),
               team.size());
    if (options.compares) {
      plate serial = before;
      const settled alone = settle_serially(serial, options);
      const bool is_same = alone.turns == how.turns && serial.cells == whole.cells;
      fmt::print("check: {}\n", is_same ? "ok" : "FAILED");
      if (!is_same) status = exit_status::check_failed;
    }
    if (status == exit_status::check_failed) return;
    output->write(to_matrix_market(
        whole.cells, fmt::format("plate of {} x {}, row by row", whole.rows, whole.columns)));
    commit_all({&*output});
    if (!how.has_converged) status = exit_status::not_converged;
  });
  return world.broadcast(0, status);
}

}  // namespace
}  // namespace examples

int main(int argc, char** argv) {
  using namespace examples;
  lockstep::mpi::world world(argc, argv);
  plate_options options;
  CLI::App app(
      "How the temperature of a plate settles, as a graph of strips of the plate on the ranks of "
      "mpirun.\nThe result is the same, bit for bit, for every number of ranks, members and "
      "strips.\nExit status: 0 done, 1 the check failed, 2 bad arguments or input, 3 stopped by "
      "--max-turns (the\nresult is written all the same).");
  app.add_option("--plate", options.plate, "temperatures, a Matrix Market file; the border stays")
      ->required()
      ->type_name("FILE");
  add_real(app, "--tolerance", options.tolerance, "stop when no cell changes by more");
  add_count(app, "--max-turns", options.most_turns, 1, std::numeric_limits<unsigned>::max(),
            "stop after so many turns");
  add_count(app, "--strips", options.strips, 1, 4096, "strips of the plate, at most its rows");
  add_count(app, "--members", options.members, 0, 1024,
            "members of each rank's team; 0: so many that the ranks of a node share its CPUs");
  app.add_flag("--check", options.compares,
               "rank 0 computes it once more by one thread, and compares the results bit for bit");
  app.add_option("--output", options.output, "write the temperatures, a Matrix Market array")
      ->type_name("FILE");
  return run_on_ranks(world, app, argc, argv, [&] { return run(world, options); });
}
