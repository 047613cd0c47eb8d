// SPDX-License-Identifier: MIT
#include "explore.hpp"

#include <gtest/gtest.h>

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

class search {
 public:
  search(const std::function<void()>& scenario, const plan& by) : scenario_(scenario), plan_(by) {}

  /// What went wrong, or nothing.
  std::string run() {
    if (const char* const trail = std::getenv("LOCKSTEP_MODEL_TRAIL")) return repeat(trail);
    const std::uint64_t before = the_explorer().steps();
    for (const budget& each : plan_.budgets) {
      if (!exhaust(each) || !failure_.empty()) return failure_;
    }
    walk();
    std::cout << "[ explored ]" << report_.str() << "; " << the_explorer().steps() - before
              << " operations" << std::endl;
    return failure_;
  }

 private:
  bool exhaust(budget limits) {
    limits.preemptions += static_cast<unsigned>(number_from("LOCKSTEP_MODEL_DEEPER", 0));
    settings how = plan_.how;
    how.limits = limits;
    exhaustive_search every;
    const std::uint64_t most = number_from("LOCKSTEP_MODEL_MOST", 5000000);
    std::uint64_t schedules = 0;
    while (every.begin()) {
      if (++schedules > most) break;
      if (!one(every, how, "")) return false;
    }
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
    const outcome repeated = the_explorer().execute(scenario_, replaying(again), recorded);
    failure_ = describe(came.failure, repeated, by, how, seed);
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
    return came.good ? "" : describe(came.failure, came, given, how, "");
  }

  static std::string describe(const std::string& failure, const outcome& came, const strategy& by,
                              const settings& how, const std::string& seed) {
    std::ostringstream text;
    text << failure << "\nschedule: " << seed << "LOCKSTEP_MODEL_TRAIL=\""
         << schedule_text(how, by.trail()) << "\"\n";
    for (const std::string& line : came.interleaving) text << "  " << line << "\n";
    return text.str();
  }

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
  const std::string failure = find_failure(scenario, by);
  if (!failure.empty()) ADD_FAILURE() << failure;
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
