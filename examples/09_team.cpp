// SPDX-License-Identifier: MIT
// 09_team [members] [elements] -- the code of README.md
//
// README.md has the code between [first_page] and [/first_page], word for word:
// scripts/check/openmp_page.py compares the two.
#include <cmath>
#include <functional>
#include <lockstep/lockstep.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "numbered.hpp"

namespace {

/// Moves the values of a part half way to zero. Returns by how much they have changed in all.
double halve(const std::vector<double>& x, std::vector<double>& x_next, std::size_t first,
             std::size_t last) {
  double change = 0;
  for (std::size_t i = first; i < last; ++i) {
    x_next[i] = 0.5 * x[i];
    change += std::abs(x_next[i] - x[i]);
  }
  return change;
}

/// Whole numbers and powers of two: sums are exact, whatever the number of members.
bool is_converged(const std::vector<double>& x, const std::vector<double>& x_next,
                  double tolerance) {
  const double n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x_next[i] != x_next[0] || x[i] != 2 * x_next[0]) return false;
  }
  // The last step changed little enough, and it was the first to do so.
  return x.empty() || (n * x_next[0] < tolerance && (x[0] == 1 || n * x[0] >= tolerance));
}

}  // namespace

int main(int argc, char** argv) {
  numbered::arguments given(argc, argv);
  const std::size_t members = given.number("members", 1, 1000, lockstep::usable_cpus());
  const std::size_t n = given.number("elements", 0, 10000000, 1000000);
  given.end();

  const double a = 2.0;
  const double tolerance = 0.001;
  std::vector<double> x(n, 1.0);
  std::vector<double> x_next(n);
  std::vector<double> y(n);
  for (std::size_t i = 0; i < n; ++i) y[i] = 2.0 * static_cast<double>(i) - 1.0;
  double sent = 0;
  const auto sweep = [&](std::size_t first, std::size_t last) {
    return halve(x, x_next, first, last);
  };

  // [first_page]
  lockstep::team team(members);  // without a number: one thread for each usable CPU

  team.for_each(0, n, [&](std::size_t i) { y[i] += a * x[i]; });  // all threads share the loop
  const double dot = team.reduce_each(
      0, n, 0.0, [&](std::size_t i) { return x[i] * y[i]; },
      std::plus<double>());  // the same bits for any number of threads

  team.run([&](lockstep::member& me) {  // all threads call this function
    while (true) {
      // Each thread sweeps parts of the range, and gets the sum over all.
      const double change = me.reduce_range(0, n, 0.0, sweep, std::plus<double>());
      if (change < tolerance) break;
      me.single([&] { std::swap(x, x_next); });  // one thread does it, the others wait
    }
  });
  // [/first_page]

  lockstep::event ready;  // the primitives work with threads of your own, too
  std::thread producer([&] {
    sent = dot;
    ready.notify();
  });
  ready.wait();  // from here on, what the producer wrote is visible
  producer.join();

  // y[i] is now 2 i + 1, and the sum of the first n odd numbers is n squared.
  const double square = static_cast<double>(n) * static_cast<double>(n);
  const bool is_right = sent == square && is_converged(x, x_next, tolerance);
  numbered::print_line(std::to_string(team.size()) + " members");
  numbered::print_line("sum " + std::to_string(sent));
  numbered::print_line(is_right ? "check: ok" : "check: FAILED");
  return is_right ? 0 : 1;
}
