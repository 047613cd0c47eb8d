// SPDX-License-Identifier: MIT
// examples/browser/page.cpp -- lockstep in a page: jacobi on a team, and a ring of threads (WebAssembly with threads)
//
// main() runs on a worker (PROXY_TO_PTHREAD): a page's own thread must not sleep. It hands what it found to the page,
// which draws it; index.html has the functions page_*. Built and opened by ./do everywhere wasm-chromium.
#include <emscripten.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <lockstep/lockstep.hpp>
#include <string>
#include <vector>

#include "jacobi/solver.hpp"
#include "support/linear_system.hpp"

namespace {

using seconds = std::chrono::duration<double>;

constexpr std::uint32_t side = 64;

/// Heat on a plate: the grid's left edge is warm, and a spot below the middle; what is lost to the room cools it.
examples::linear_system plate() {
  examples::market_matrix matrix, heat;
  matrix.name = heat.name = "plate";
  matrix.is_symmetric = heat.is_array = true;
  matrix.rows = matrix.columns = heat.rows = side * side;
  heat.columns = 1;
  for (std::uint32_t at = 0; at < side * side; ++at) {
    const std::uint32_t x = at % side, y = at / side;
    matrix.entries.push_back({at, at, 4.02, 0});
    if (x > 0) matrix.entries.push_back({at, at - 1, -1, 0});
    if (y > 0) matrix.entries.push_back({at, at - side, -1, 0});
    const bool is_spot = (x - 40) * (x - 40) + (y - 44) * (y - 44) < 20;
    heat.entries.push_back({at, 0, (x == 0 ? 1.0 : 0.0) + (is_spot ? 0.4 : 0.0), 0});
  }
  return examples::make_linear_system(matrix, heat);
}

template <class Function>
double seconds_of(Function function) {
  const auto started = std::chrono::steady_clock::now();
  function();
  return seconds(std::chrono::steady_clock::now() - started).count();
}

/// The temperatures as JSON, in thousandths.
std::string numbers(const std::vector<double>& values) {
  std::string text = "[";
  for (const double value : values)
    text += (text.size() > 1 ? "," : "") + std::to_string(int(value * 1000));
  return text + "]";
}

void solve() {
  const examples::linear_system system = plate();
  const examples::stopping_rule rule{1e-6, 100'000};
  examples::solution serial, answer;
  const double alone = seconds_of([&] { serial = examples::solve_serial(system, rule); });
  lockstep::team team(2);
  const double together = seconds_of([&] { answer = examples::solve_on_team(system, rule, team); });
  const std::string text =
      "{\"side\":" + std::to_string(side) + ",\"iterations\":" + std::to_string(answer.iterations) +
      ",\"same\":" + (examples::are_identical(serial, answer) ? "true" : "false") +
      ",\"serial\":" + std::to_string(alone) + ",\"team\":" + std::to_string(together) +
      ",\"members\":" + std::to_string(team.size()) + ",\"values\":" + numbers(answer.x) + "}";
  MAIN_THREAD_EM_ASM({ page_jacobi(JSON.parse(UTF8ToString($0))); }, text.c_str());
}

/// A token goes around; the time of each ten rounds, because the clock of a browser goes in steps of 5 us and more.
void pass_around(unsigned members) {
  constexpr int rounds = 2000, together = 10, samples = rounds / together;
  std::vector<lockstep::event> places(members);
  std::vector<double> microseconds(samples);
  lockstep::team team(members);
  long passed = 0;  // written by the thread that has the token
  team.run([&](lockstep::member& me) {
    lockstep::event& next = places[(me.rank() + 1) % members];
    auto started = std::chrono::steady_clock::now();
    for (int round = 0; round < rounds; ++round) {
      if (me.rank() != 0) places[me.rank()].wait();
      ++passed;
      next.notify();
      if (me.rank() != 0) continue;
      places[0].wait();
      if (round % together != together - 1) continue;
      const auto now = std::chrono::steady_clock::now();
      microseconds[std::size_t(round / together)] = seconds(now - started).count() * 1e6 / together;
      started = now;
    }
  });
  std::sort(microseconds.begin(), microseconds.end());
  const std::string text =
      "{\"members\":" + std::to_string(members) + ",\"rounds\":" + std::to_string(rounds) +
      ",\"passed\":" + std::to_string(passed) +
      ",\"median\":" + std::to_string(microseconds[samples / 2] / members) +
      ",\"late\":" + std::to_string(microseconds[samples * 99 / 100] / members) + "}";
  MAIN_THREAD_EM_ASM({ page_ring(JSON.parse(UTF8ToString($0))); }, text.c_str());
}

}  // namespace

int main() {
  solve();
  for (const unsigned members : {2u, 3u, 4u}) pass_around(members);
  const std::string system = to_string(lockstep::build_info());
  MAIN_THREAD_EM_ASM({ page_done(UTF8ToString($0)); }, system.c_str());
  return 0;
}
