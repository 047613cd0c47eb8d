// SPDX-License-Identifier: MIT
// tests/stress/stress.cpp -- every object and construct, under every policy, load and disturbance
//
//   stress --seconds 60                     the whole matrix, at least one round of each cell
//   stress --only event/block/8x ...        one cell: scenario/policy/load
//   stress --disturb signals                beside a signal storm; see disturbance.hpp
//
// A cell is a scenario, a wait policy and a load (threads per usable CPU). Every round has a seed that
// follows from --seed, the cell and the round's number; with LOCKSTEP_ATOMIC_SEAM="support/delay_atomic.hpp"
// the delays of the crew's threads follow from it, too. A failing run prints the command that repeats it.
#include <fmt/format.h>
#include <fnmatch.h>
#include <getopt.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <lockstep/build_info.hpp>
#include "stress/disturbance.hpp"
#include "stress/round.hpp"
#include "stress/watchdog.hpp"

namespace lockstep::stress {

using namespace detail;
namespace {

using clock_type = std::chrono::steady_clock;
using seconds = std::chrono::duration<double>;

enum exit_status : int { success = 0, failed = 1, bad_arguments = 2, skipped = 77 };

struct options {
  double seconds = 10;
  double patience = 120;
  std::uint64_t seed = 0;
  std::string only = "*";
  std::string disturb = "none";
  bool list = false, help = false;
};

struct named_policy {
  const char* name;
  wait_policy policy;
};
constexpr named_policy policies[] = {
    {"spin", wait_policy::spin()},
    {"block", wait_policy::block()},
    {"hybrid", wait_policy::hybrid(std::chrono::microseconds(2))},
    {"default", wait_policy()},
};

constexpr std::size_t loads[] = {1, 8, 32};
constexpr std::size_t most_threads = 512;

std::size_t threads_at(std::size_t load) {
  return std::clamp<std::size_t>(load * usable_cpus(), 2, most_threads);
}

struct cell {
  scenario what;
  wait_policy policy;
  std::size_t load;
  std::string name;
};

/// All cells of a load whose names match. Spinners need a CPU each.
std::vector<cell> cells_of(std::size_t load, const std::string& only, bool may_spin) {
  std::vector<cell> cells;
  for (const auto unit :
       {notify_scenarios, barrier_scenarios, lock_scenarios, opening_scenarios, team_scenarios}) {
    for (const scenario& what : unit()) {
      for (const named_policy& each : policies) {
        if (each.policy.is_spin() && (!may_spin || threads_at(load) > usable_cpus())) continue;
        const std::string name = fmt::format("{}/{}/{}x", what.name, each.name, load);
        if (fnmatch(only.c_str(), name.c_str(), 0) == 0)
          cells.push_back({what, each.policy, load, name});
      }
    }
  }
  return cells;
}

struct tally {
  std::uint64_t rounds = 0, operations = 0;
  std::size_t fewest_threads = ~std::size_t{0}, most_threads = 0;
};

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0;
  for (const char each : text) hash = mix(hash, static_cast<unsigned char>(each));
  return hash;
}

std::string reached(const crew& workers) {
  std::string text;
  for (std::size_t rank = 0; rank < workers.size(); ++rank) {
    const actor& each = workers.at(rank);
    const char* const wrong = each.first_broken();
    text += fmt::format("  thread {}: {} operations{}{}\n", rank, each.operations(),
                        wrong != nullptr ? ", found: " : "", wrong != nullptr ? wrong : "");
  }
  return text;
}

class stress_run {
 public:
  stress_run(const options& chosen, std::string program)
      : chosen_(chosen),
        program_(std::move(program)),
        only_(chosen.only),
        dog_(patience(chosen), [this] { running_.reset(); }) {}

  /// The part of the matrix under one disturbance. Throws `broken`, `unavailable`.
  void run(const std::string& disturbance, seconds budget) {
    running_ = start_disturbance(disturbance, chosen_.seed);
    disturbance_ = disturbance;
    const bool may_spin = disturbance != "one-cpu";
    std::size_t left = 0;
    for (const std::size_t load : loads) left += cells_of(load, only_, may_spin).size();
    const clock_type::time_point end =
        clock_type::now() + std::chrono::duration_cast<clock_type::duration>(budget);
    for (const std::size_t load : loads) {
      crew workers(threads_at(load));
      for (const cell& each : cells_of(load, only_, may_spin)) {
        const clock_type::time_point now = clock_type::now();
        run_cell(each, workers, now + (end - now) / static_cast<long>(left--));
      }
    }
    running_.reset();
  }

  exit_status print_summary() const {
    if (tallies_.empty()) {
      fmt::print(stderr, "stress: no cell matches --only: see --list\n");
      return bad_arguments;
    }
    std::uint64_t operations = 0;
    for (const auto& [name, each] : tallies_) {
      fmt::print("{:<20} {:>8} rounds {:>12} operations  {} to {} threads\n", name, each.rounds,
                 each.operations, each.fewest_threads, each.most_threads);
      operations += each.operations;
    }
    fmt::print("{} operations in {} scenarios, nothing lost\n", operations, tallies_.size());
    return success;
  }

 private:
  static std::chrono::seconds patience(const options& chosen) {
    return std::chrono::seconds(static_cast<long>(chosen.patience) * (is_sanitized() ? 3 : 1));
  }

  void run_cell(const cell& of, crew& workers, clock_type::time_point until) {
    const std::string again = fmt::format(
        "{} ({} threads, disturbance {})\nagain: {} --seed {} --only {} --disturb {}", of.name,
        workers.size(), disturbance_, program_, chosen_.seed, of.name, disturbance_);
    const std::uint64_t seed = mix(chosen_.seed, hash_of(of.name));
    tally& sum = tallies_[of.what.name];
    sum.fewest_threads = std::min(sum.fewest_threads, workers.size());
    sum.most_threads = std::max(sum.most_threads, workers.size());
    std::uint64_t number = 0;
    do {
      const std::string what = fmt::format("round {} of {}", number, again);
      dog_.begin(what, [&workers] { return reached(workers); });
      round one(workers, of.policy, mix(seed, number));
      try {
        of.what.run(one);
      } catch (const broken& error) {
        throw broken(fmt::format("{}\nin {}", error.what(), what));
      }
      dog_.end();
      ++sum.rounds;
      sum.operations += one.operations();
      ++number;
    } while (clock_type::now() < until);
  }

  const options chosen_;
  const std::string program_;
  const std::string only_;
  std::unique_ptr<disturbance> running_;
  std::string disturbance_;
  std::map<std::string, tally> tallies_;
  watchdog dog_;
};

exit_status run_all(const options& chosen, const char* program) {
  fmt::print("stress: seed {}, {} s, disturbance {}, {} CPUs\n", chosen.seed, chosen.seconds,
             chosen.disturb, usable_cpus());
  std::fflush(stdout);
  std::vector<std::string> disturbances = {chosen.disturb};
  if (chosen.disturb == "all") disturbances = disturbance_names();
  stress_run all(chosen, program);
  std::size_t done = 0;
  for (const std::string& each : disturbances) {
    try {
      all.run(each, seconds(chosen.seconds / static_cast<double>(disturbances.size())));
      ++done;
    } catch (const unavailable& reason) {
      fmt::print("without the disturbance {}: {}\n", each, reason.what());
    }
  }
  return done == 0 ? skipped : all.print_summary();
}

void print_list() {
  for (const std::size_t load : loads) {
    for (const cell& each : cells_of(load, "*", true)) {
      fmt::print("{:<32} {}\n", each.name, each.what.what);
    }
  }
}

constexpr const char* usage = R"(usage: stress [OPTION]...
Seeded random workloads on every object of the library, checked exactly.
  --seconds S       time for all cells together (10)
  --seed N          where all draws come from (default: the time)
  --only PATTERN    of the shell, for scenario/policy/load: 'event/*/8x'
  --disturb WHAT    what goes on beside; all: each in turn; one of: all, {}
  --patience S      seconds after which a round hangs; three times that with a sanitizer (120)
  --list            print the cells and what each proves
  --help            print this
)";

/// The user's arguments do not fit the usage.
struct bad_usage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

double number_in(const std::string& option, const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(number >= 0))
    throw bad_usage(option + ": not a number: '" + text + "'");
  return number;
}

std::uint64_t seed_in(const std::string& text) {
  char* end = nullptr;
  const std::uint64_t seed = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0') throw bad_usage("--seed: not a number: '" + text + "'");
  return seed;
}

std::string disturbance_in(const std::string& text) {
  const std::vector<std::string> names = disturbance_names();
  if (text != "all" && std::find(names.begin(), names.end(), text) == names.end()) {
    throw bad_usage("--disturb: unknown: '" + text + "'");
  }
  return text;
}

/// By the system's function: a general parser of options takes longer to compile than all scenarios, in each build with a
/// sanitizer.
options read_options(int count, char** arguments) {
  static const ::option known[] = {
      {"seconds", required_argument, nullptr, 's'}, {"patience", required_argument, nullptr, 'p'},
      {"seed", required_argument, nullptr, 'n'},    {"only", required_argument, nullptr, 'o'},
      {"disturb", required_argument, nullptr, 'd'}, {"list", no_argument, nullptr, 'l'},
      {"help", no_argument, nullptr, 'h'},          {nullptr, 0, nullptr, 0}};
  options chosen;
  const auto now = clock_type::now().time_since_epoch().count();
  chosen.seed = static_cast<std::uint64_t>(now) % 1000000007;
  opterr = 0;
  for (int found; (found = getopt_long(count, arguments, ":", known, nullptr)) != -1;) {
    switch (found) {
      case 's': chosen.seconds = number_in("--seconds", optarg); break;
      case 'p': chosen.patience = number_in("--patience", optarg); break;
      case 'n': chosen.seed = seed_in(optarg); break;
      case 'o': chosen.only = optarg; break;
      case 'd': chosen.disturb = disturbance_in(optarg); break;
      case 'l': chosen.list = true; break;
      case 'h': chosen.help = true; break;
      default:
        throw bad_usage(arguments[optind - 1] + std::string(": unknown, or without its value"));
    }
  }
  if (optind < count) throw bad_usage(arguments[optind] + std::string(": unknown"));
  return chosen;
}

void print_usage() {
  std::string names;
  for (const std::string& each : disturbance_names()) names += (names.empty() ? "" : ", ") + each;
  fmt::print(fmt::runtime(usage), names);
}

int run_program(int argc, char** argv) {
  exempt_this_thread();
  usable_cpus();  // counted now, before a disturbance takes some away
  try {
    const options chosen = read_options(argc, argv);
    if (!chosen.list && !chosen.help) return run_all(chosen, argv[0]);
    chosen.help ? print_usage() : print_list();
    return success;
  } catch (const bad_usage& error) {
    fmt::print(stderr, "stress: {}; see --help\n", error.what());
    return bad_arguments;
  } catch (const std::exception& error) {
    std::fflush(stdout);
    fmt::print(stderr, "stress: BROKEN: {}\n", error.what());
    std::_Exit(failed);  // after a failure no search for leaks
  }
}

}  // namespace
}  // namespace lockstep::stress

int main(int argc, char** argv) { return lockstep::stress::run_program(argc, argv); }
