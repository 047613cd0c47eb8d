// SPDX-License-Identifier: MIT
// tests/everywhere/jacobi_bits.cpp -- the bits of examples/jacobi's answers, which have to be the same on all systems
//
// Solves one system serially and on teams of 1 to 4 members, and prints for each the number of iterations and a
// checksum of the answer's bits. scripts/run/everywhere.py compares the lines with those of the machine that it runs
// on. IEEE arithmetic leaves no choice here, if no compiler contracts products and sums (-ffp-contract=off) or keeps
// more digits (x87).
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>

#include "jacobi/solver.hpp"
#include "support/linear_system.hpp"

namespace {

constexpr std::uint32_t side = 24;

/// How strongly neighbours of a grid are connected: uneven, so that equal mistakes do not cancel.
double strength(std::uint32_t a, std::uint32_t b) { return 1.0 / (1 + (a * 7 + b * 13) % 11); }

/// A grid of side * side unknowns; the lower triangle.
examples::market_matrix grid() {
  examples::market_matrix matrix;
  matrix.name = "grid";
  matrix.is_symmetric = true;
  matrix.rows = matrix.columns = side * side;
  std::vector<double> sums(side * side, 0.25);
  const auto connect = [&](std::uint32_t high, std::uint32_t low) {
    const double value = strength(high, low);
    matrix.entries.push_back({high, low, -value, 0});
    sums[high] += value;
    sums[low] += value;
  };
  for (std::uint32_t at = 0; at < side * side; ++at) {
    if (at % side != 0) connect(at, at - 1);
    if (at >= side) connect(at, at - side);
  }
  for (std::uint32_t at = 0; at < side * side; ++at)
    matrix.entries.push_back({at, at, sums[at], 0});
  return matrix;
}

/// FNV-1a of the numbers' bits.
std::uint64_t checksum(const examples::solution& answer) {
  std::uint64_t sum = 0xcbf29ce484222325u;
  const auto add = [&](double number) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    for (int i = 0; i < 8; ++i, bits >>= 8) sum = (sum ^ (bits & 0xff)) * 0x100000001b3u;
  };
  for (const double x : answer.x) add(x);
  add(answer.residual);
  return sum;
}

void print(const char* who, unsigned members, const examples::solution& answer) {
  const std::uint64_t sum = checksum(answer);
  std::printf("jacobi %s %u: %lu iterations, %s, bits %08lx%08lx\n", who, members,
              static_cast<unsigned long>(answer.iterations),
              answer.has_converged ? "converged" : "NOT converged",
              static_cast<unsigned long>(sum >> 32), static_cast<unsigned long>(sum & 0xffffffffu));
}

void solve() {
  const examples::linear_system system = examples::make_linear_system(grid(), {});
  const examples::stopping_rule rule{1e-12, 100'000};
  print("serial", 1, examples::solve_serial(system, rule));
  for (unsigned members = 1; members <= 4; ++members) {
    lockstep::team team(members);
    print("team", members, examples::solve_on_team(system, rule, team));
  }
}

}  // namespace

int main() {
  try {
    solve();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
