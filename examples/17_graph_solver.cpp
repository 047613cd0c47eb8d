// SPDX-License-Identifier: MIT
// 17_graph_solver [members] [unknowns] [show] -- a solver as a graph with a loop: update, swap, take residuals, test
//
// Jacobi's iteration for 4 x[i] - x[i-1] - x[i+1] = b[i], where b is such that all x are 1. The loop of the algorithm is
// a loop of the graph: "test" returns true as long as the loop goes on. `show` prints, instead of the result: 1 the graph
// for Graphviz, 2 its plan for Graphviz, 3 the plan in words. README.md has the code between [graph] and [/graph].
#include <algorithm>
#include <cmath>
#include <lockstep/lockstep.hpp>
#include <string>
#include <utility>
#include <vector>

#include "numbered.hpp"

namespace {

constexpr double tolerance = 1e-10;
constexpr std::size_t parts = 4;

class jacobi {
 public:
  explicit jacobi(std::size_t n) : n_(n), b_(n), residuals_(parts) {
    for (std::size_t i = 0; i < n; ++i) b_[i] = 4.0 - (i > 0 ? 1 : 0) - (i + 1 < n ? 1 : 0);
  }

  void set_up() {
    x_.assign(n_, 0.0);
    x_next_.assign(n_, 0.0);
    steps_ = 0;
  }
  void update(std::size_t part) {
    const lockstep::index_range mine = lockstep::static_block(0, n_, part, parts);
    for (std::size_t i = mine.first; i < mine.last; ++i) {
      x_next_[i] = (b_[i] + neighbours(i)) / 4.0;
    }
  }
  void swap() {
    std::swap(x_, x_next_);
    ++steps_;
  }
  void take_residual(std::size_t part) {
    const lockstep::index_range mine = lockstep::static_block(0, n_, part, parts);
    double largest = 0;
    for (std::size_t i = mine.first; i < mine.last; ++i) {
      largest = std::max(largest, std::abs(b_[i] + neighbours(i) - 4.0 * x_[i]));
    }
    residuals_[part] = largest;
  }
  double residual() const { return *std::max_element(residuals_.begin(), residuals_.end()); }

  std::size_t steps() const { return steps_; }
  const std::vector<double>& x() const { return x_; }

 private:
  double neighbours(std::size_t i) const {
    return (i > 0 ? x_[i - 1] : 0.0) + (i + 1 < n_ ? x_[i + 1] : 0.0);
  }

  std::size_t n_;
  std::size_t steps_ = 0;
  std::vector<double> b_, x_, x_next_, residuals_;
};

/// A node for each part, beside each other.
template <class Function>
lockstep::graph_block nodes_of(lockstep::graph& g, const std::string& name, Function f) {
  std::vector<lockstep::graph_block> block;
  for (std::size_t part = 0; part < parts; ++part) {
    block.push_back(g.node(name + std::to_string(part), [f, part] { f(part); }));
  }
  return g.parallel(block);
}

/// The same without a graph.
void solve_alone(jacobi& alone) {
  alone.set_up();
  do {
    for (std::size_t part = 0; part < parts; ++part) alone.update(part);
    alone.swap();
    for (std::size_t part = 0; part < parts; ++part) alone.take_residual(part);
  } while (alone.residual() > tolerance);
}

}  // namespace

int main(int argc, char** argv) {
  numbered::arguments given(argc, argv);
  const std::size_t members = given.number("members", 1, 1000, lockstep::usable_cpus());
  const std::size_t unknowns = given.number("unknowns", 1, 10000000, 1000);
  const unsigned long show = given.number("show", 1, 3, 0);
  given.end();

  jacobi problem(unknowns);
  std::vector<double> answer;
  lockstep::team team(members);

  // [graph]
  lockstep::graph g;
  auto set_up = g.node("set up", [&] { problem.set_up(); });
  auto update = nodes_of(g, "update ", [&](std::size_t part) { problem.update(part); });
  auto swap = g.node("swap", [&] { problem.swap(); });
  auto residual = nodes_of(g, "residual ", [&](std::size_t part) { problem.take_residual(part); });
  auto test = g.node("test", [&] { return problem.residual() > tolerance; });  // true: again
  auto output = g.node("output", [&] { answer = problem.x(); });
  g.series(set_up, g.loop(g.series(update, swap, residual, test)), output);
  lockstep::plan plan(g, team);  // decides once which member runs what, and waits for which
  plan.run();                    // allocates nothing, takes no lock
  // [/graph]

  if (show != 0) {
    const std::string texts[] = {g.dot(), plan.dot(), plan.text()};
    numbered::print_line(texts[show - 1]);
    return 0;
  }
  jacobi alone(unknowns);
  solve_alone(alone);
  const bool same = answer == alone.x() && problem.steps() == alone.steps();
  const bool is_near = std::all_of(answer.begin(), answer.end(),
                                   [](double x) { return std::abs(x - 1.0) < tolerance; });
  numbered::print_line(std::to_string(members) + " members");
  numbered::print_line(std::to_string(problem.steps()) + " steps");
  numbered::print_line(same && is_near ? "check: ok" : "check: FAILED");
  return same && is_near ? 0 : 1;
}
