// SPDX-License-Identifier: MIT
#include "explore.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace lockstep::model {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 0);
}

/// One for the process: its stacks and tables are used again.
explorer& the_explorer() {
  static explorer instance;
  return instance;
}

constexpr budget no_limit = {1000000, 1000000, 4};

/// A schedule as text: how far it may go, "2/1/0" and "c" if the clock may crawl, and its trail. Which
/// questions are asked depends on the former.
std::string schedule_text(const settings& how, const std::vector<std::uint8_t>& trail) {
  std::ostringstream text;
  text << how.limits.preemptions << "/" << how.limits.stale << "/" << how.limits.spurious
       << (how.clock_may_crawl ? "c " : " ") << to_text(trail);
  return text.str();
}

/// Takes the limits off the text and returns the trail.
std::vector<std::uint8_t> read(const std::string& schedule, settings& how) {
  char crawl = 0;
  int length = 0;
  if (std::sscanf(schedule.c_str(), "%u/%u/%u%n", &how.limits.preemptions, &how.limits.stale,
                  &how.limits.spurious, &length) < 3) {
    throw std::invalid_argument("LOCKSTEP_MODEL_TRAIL: begins with limits as in 2/1/0");
  }
  std::string rest = schedule.substr(static_cast<std::size_t>(length));
  crawl = rest.empty() ? ' ' : rest[0];
  how.clock_may_crawl = crawl == 'c';
  if (crawl == 'c') rest.erase(0, 1);
  return to_trail(rest);
}

constexpr unsigned most_seconds_to_repeat = 60;

/// What f() returns, called in a child process: an execution that failed leaves the library's tables as they were.
std::string in_child(const std::function<std::string()>& f) {
  int ends[2] = {};
  if (pipe(ends) != 0) return "";
  if (empty_queues != nullptr) empty_queues();
  const pid_t child = fork();
  if (child == 0) {
    alarm(most_seconds_to_repeat);
    const std::string text = f();
    const bool written = ::write(ends[1], text.data(), text.size()) >= 0;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? text : text + "(the repetition crashed)";
}

class search {
 public:
  search(const std::function<void()>& scenario, const plan& by) : scenario_(scenario), plan_(by) {}

  /// What went wrong, or nothing.
  std::string run() {
    if (const char* const trail = std::getenv("LOCKSTEP_MODEL_TRAIL")) return repeat(trail);
    const std::uint64_t before = the_explorer().steps();
    the_explorer().begin_search();
    const bool is_brief = number_from("LOCKSTEP_MODEL_BRIEF", 0) != 0;
    const std::uint64_t most = is_brief ? number_from("LOCKSTEP_MODEL_MOST", all) : all;
    for (const budget& each : budgets()) {
      if (!exhaust(each, most)) return failure_;
    }
    const auto deeper = static_cast<unsigned>(number_from("LOCKSTEP_MODEL_DEEPER", 0));
    for (budget each : deeper > 0 ? plan_.budgets : std::vector<budget>()) {
      each.preemptions += deeper;
      if (!exhaust(each, number_from("LOCKSTEP_MODEL_MOST", 5000000))) return failure_;
    }
    if (plan_.searches_at_random) walk();
    std::cout << "[ explored ]" << report_.str() << "; " << the_explorer().steps() - before
              << " operations" << std::endl;
    return failure_;
  }

 private:
  /// Those of the plan; in brief with fewer preemptions, and without those that another one contains.
  std::vector<budget> budgets() const {
    const auto most = static_cast<unsigned>(number_from("LOCKSTEP_MODEL_BRIEF", 0));
    if (most == 0) return plan_.budgets;
    std::vector<budget> cut = plan_.budgets, left;
    for (budget& each : cut) each.preemptions = std::min(each.preemptions, most);
    for (std::size_t i = 0; i < cut.size(); ++i) {
      bool is_contained = false;
      for (std::size_t j = 0; j < cut.size(); ++j) {
        if (i == j || !contains(cut[j], cut[i])) continue;
        is_contained = is_contained || !contains(cut[i], cut[j]) || j < i;
      }
      if (!is_contained) left.push_back(cut[i]);
    }
    return left;
  }

  bool exhaust(budget limits, std::uint64_t most) {
    settings how = plan_.how;
    how.limits = limits;
    exhaustive_search every;
    std::uint64_t schedules = 0;
    while (every.begin()) {
      if (++schedules > most) break;
      if (!one(every, how, "")) return false;
    }
    if (schedules > most)
      the_explorer().begin_search();  // states were left before all that follows was explored
    report_ << (schedules > most ? " CUT at " : " ") << schedules << " with at most "
            << limits.preemptions << " preemptions, " << limits.stale << " stale, "
            << limits.spurious << " spurious;";
    return true;
  }

  void walk() {
    settings how = plan_.how;
    how.limits = no_limit;
    how.clock_may_crawl = true;
    how.most_steps *= 4;
    const std::uint64_t schedules = number_from("LOCKSTEP_MODEL_SCHEDULES", 3000);
    const std::uint64_t seed = number_from("LOCKSTEP_MODEL_SEED", 1);
    random_search some(seed, schedules);
    while (some.begin()) {
      if (!one(some, how, "LOCKSTEP_MODEL_SEED=" + std::to_string(some.seed_of_schedule()) + " ")) {
        return;
      }
    }
    report_ << " " << schedules << " at random from seed " << seed;
  }

  bool one(strategy& by, const settings& how, const std::string& seed) {
    const outcome came = the_explorer().execute(scenario_, by, how);
    if (came.good) return true;
    replay again(by.trail());
    settings recorded = how;
    recorded.records = true;
    const std::string interleaving = in_child(
        [&] { return to_text(the_explorer().execute(scenario_, replaying(again), recorded)); });
    failure_ = describe(came.failure, by, how, seed) + interleaving;
    return false;
  }
  static strategy& replaying(replay& again) {
    again.begin();
    return again;
  }

  std::string repeat(const char* trail) {
    settings how = plan_.how;
    how.records = true;
    how.most_steps *= 4;
    replay given(read(trail, how));
    const outcome came = the_explorer().execute(scenario_, replaying(given), how);
    return came.good ? "" : describe(came.failure, given, how, "") + to_text(came);
  }

  static std::string describe(const std::string& failure, const strategy& by, const settings& how,
                              const std::string& seed) {
    return failure + "\nschedule: " + seed + "LOCKSTEP_MODEL_TRAIL=\"" +
           schedule_text(how, by.trail()) + "\"\n";
  }
  static std::string to_text(const outcome& came) {
    constexpr std::size_t most = 300;
    const std::size_t count = came.interleaving.size(), left_out = count > most ? count - most : 0;
    std::string text;
    if (left_out > 0) text = "  (" + std::to_string(left_out) + " operations before)\n";
    for (std::size_t i = left_out; i < count; ++i) text += "  " + came.interleaving[i] + "\n";
    return text;
  }

  static constexpr std::uint64_t all = ~std::uint64_t{0};

  const std::function<void()>& scenario_;
  const plan& plan_;
  std::ostringstream report_;
  std::string failure_;
};

}  // namespace

std::string find_failure(const std::function<void()>& scenario, const plan& by) {
  return search(scenario, by).run();
}

void explore(const std::function<void()>& scenario, const plan& by) {
  static bool has_failed = false;
  if (has_failed) GTEST_SKIP() << "an earlier failure has left the library's tables as they were";
  const std::string failure = find_failure(scenario, by);
  if (failure.empty()) return;
  has_failed = true;
  ADD_FAILURE() << failure;
}

void threads(const std::vector<std::function<void()>>& bodies) {
  explorer::active()->run_together(bodies);
}
void threads(std::initializer_list<std::function<void()>> bodies) {
  threads(std::vector<std::function<void()>>(bodies));
}

void check(bool holds, const char* why) {
  if (!holds) explorer::active()->fail(why);
}

}  // namespace lockstep::model
