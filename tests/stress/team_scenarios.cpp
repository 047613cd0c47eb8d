// SPDX-License-Identifier: MIT
// tests/stress/team_scenarios.cpp -- team and joinable_thread
//
// The caller is the first thread of the crew and member 0; the team brings the other threads.
#include <algorithm>
#include <memory>

#include "lockstep/team/joinable_thread.hpp"
#include "lockstep/team/team.hpp"
#include "stress/round.hpp"

namespace lockstep::stress {
namespace {

/// How many regions or phases a round has: each takes all members.
std::size_t repeats(const round& the) { return the.steps() / 4; }

/// Of teams beside others: a spinner needs a CPU of its own.
std::size_t fewest_members(const round& the) { return the.policy().is_spin() ? 1 : 2; }

/// Each member adds to its own plain cell in every region; the caller reads and writes all in between.
void run_team_run(round& the) {
  team members(the.threads(), the.policy());
  std::vector<std::uint64_t> cells(members.size());
  the.run(1, repeats(the) * members.size(), [&](actor& self) {
    for (std::size_t region = 1; region <= repeats(the); ++region) {
      if (self.random.once_in(2)) {
        members.run([&cells](member& me) { ++cells[me.rank()]; });
      } else {
        std::vector<std::uint64_t> large(members.size(), region);  // does not travel with the job
        members.run([&, large](member& me) { cells[me.rank()] = large[me.rank()]; });
      }
      for (const std::uint64_t each : cells) {
        self.require(each == region, "team: a member has not run, or twice");
      }
      self.done(members.size());
      self.pause();
    }
  });
}

/// One region, many phases: cells of one phase are read in the next by their neighbours.
void run_team_sync(round& the) {
  team members(the.threads(), the.policy());
  const std::size_t size = members.size(), phases = the.steps();
  std::vector<std::uint64_t> cells(2 * size);
  std::vector<std::uint64_t> wrong(size);
  the.run(1, phases * size, [&](actor& self) {
    members.run([&](member& me) {
      for (std::size_t phase = 1; phase <= phases; ++phase) {
        std::uint64_t* const now = &cells[phase % 2 * size];
        now[me.rank()] = phase;
        if (!me.sync_threads()) ++wrong[me.rank()];
        for (std::size_t i = 1; i < size; i *= 2)
          wrong[me.rank()] += now[(me.rank() + i) % size] != phase;
      }
    });
    for (const std::uint64_t each : wrong) {
      self.require(each == 0, "sync_threads: let somebody through too early");
    }
    self.done(phases * size);
  });
}

/// Every index once, whatever the length of the range.
void run_team_for(round& the) {
  team members(the.threads(), the.policy());
  std::vector<std::uint64_t> cells(4 * members.size());
  the.run(1, repeats(the), [&](actor& self) {
    for (std::size_t step = 0; step < repeats(the); ++step) {
      const std::size_t last = self.random.below(cells.size() + 1),
                        first = self.random.below(last + 1);
      std::fill(cells.begin(), cells.end(), 0);
      members.parallel_for(first, last, [&](std::size_t i) { ++cells[i]; });
      members.run([&](member& me) {
        const auto add = [&](std::size_t from, std::size_t to) {
          for (std::size_t i = from; i < to; ++i) ++cells[i];
        };
        me.for_range(first, last, add);
        me.sync_threads();
        me.for_range(0, last, add);
      });
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::uint64_t expected = i >= last ? 0u : i < first ? 1u : 3u;
        self.require(cells[i] == expected, "for_range: an index was left out or done twice");
      }
      self.done();
    }
  });
}

/// Regions inside regions: inline on the same team, in turn on another one.
void run_team_nested(round& the) {
  const std::size_t fewest = fewest_members(the), half = the.threads() / 2;
  team outer(std::max(fewest, half), the.policy());
  team inner(std::max(fewest, the.threads() - half), the.policy());
  std::vector<std::uint64_t> inline_cells(outer.size());
  std::vector<std::vector<std::uint64_t>> cells(inner.size(),
                                                std::vector<std::uint64_t>(outer.size()));
  const std::size_t regions = 1 + repeats(the) / outer.size();
  the.run(1, regions * outer.size() * inner.size(), [&](actor& self) {
    for (std::size_t region = 0; region < regions; ++region) {
      outer.run([&](member& mine) {
        outer.run([&](member& alone) { inline_cells[mine.rank()] += alone.size(); });
        inner.run([&](member& theirs) { ++cells[theirs.rank()][mine.rank()]; });
      });
    }
    for (const auto& each : cells) {
      for (const std::uint64_t calls : each) {
        self.require(calls == regions, "team: a nested region lost a call");
        self.done(calls);
      }
    }
  });
  for (const std::uint64_t each : inline_cells) the.require_equal(each, regions, "inline regions");
}

/// Some members throw at some phase; all are let go, the lowest rank's exception arrives.
class throwing_region {
 public:
  struct thrown {
    std::size_t rank;
  };

  throwing_region(std::size_t size, actor& self) : phase_of_(size, never), has_thrown_(size) {
    for (std::size_t i = self.random.below(3) + 1; i > 0; --i) {
      phase_of_[self.random.below(size)] = self.random.below(4);
    }
  }
  void run(team& members, actor& self) {
    try {
      members.run([this](member& me) { take_part(me); });
      self.require(false, "team: no exception arrived");
    } catch (const thrown& error) {
      const auto first = std::find(has_thrown_.begin(), has_thrown_.end(), 1);
      self.require(first - has_thrown_.begin() == static_cast<std::ptrdiff_t>(error.rank),
                   "team: not the exception of the lowest rank");
    }
  }

 private:
  static constexpr std::size_t never = ~std::size_t{0};

  void take_part(member& me) {
    for (std::size_t phase = 0;; ++phase) {
      if (phase == phase_of_[me.rank()]) {
        has_thrown_[me.rank()] = 1;
        throw thrown{me.rank()};
      }
      if (!me.sync_threads()) return;
    }
  }

  std::vector<std::size_t> phase_of_;
  std::vector<int> has_thrown_;
};

void run_team_exceptions(round& the) {
  team members(std::max<std::size_t>(2, the.threads()), the.policy());
  std::vector<std::uint64_t> cells(members.size());
  const std::size_t regions = 1 + repeats(the) / 4;
  the.run(1, regions, [&](actor& self) {
    for (std::size_t region = 1; region <= regions; ++region) {
      throwing_region(members.size(), self).run(members, self);
      members.run([&](member& me) {
        me.sync_threads();
        ++cells[me.rank()];
      });
      for (const std::uint64_t each : cells) {
        self.require(each == region, "team: not usable after an exception");
      }
      self.done();
    }
  });
}

/// Threads from outside use one team: one region at a time.
void run_team_callers(round& the) {
  const std::size_t callers = std::clamp<std::size_t>(the.threads() / 4, 2, 8);
  const bool has_room = the.threads() > callers;
  team members(has_room ? the.threads() - callers : fewest_members(the), the.policy());
  std::uint64_t regions = 0;  // plain: a region at a time
  std::vector<std::uint64_t> cells(members.size());
  const std::size_t each = 1 + repeats(the) / callers;
  the.run(callers, callers * each, [&](actor& self) {
    for (std::size_t i = 0; i < each; ++i) {
      members.run([&](member& me) {
        if (me.rank() == 0) ++regions;
        ++cells[me.rank()];
      });
      self.done();
      self.pause();
    }
  });
  the.require_equal(regions, callers * each, "regions");
  for (const std::uint64_t cell : cells)
    the.require_equal(cell, callers * each, "calls of a member");
}

/// Teams that end before their workers have waited once, or after a few regions.
void run_team_lifetime(round& the) {
  const std::size_t teams = 4;
  the.run(1, teams, [&](actor& self) {
    for (std::size_t i = 0; i < teams; ++i) {
      std::vector<std::uint64_t> cells(the.threads());
      const std::size_t regions = self.random.below(3);
      {
        team members(the.threads(), the.policy());
        for (std::size_t region = 0; region < regions; ++region) {
          members.run([&](member& me) { ++cells[me.rank()]; });
        }
      }
      for (const std::uint64_t each : cells)
        self.require(each == regions, "team: a call is missing");
      self.done();
    }
  });
}

/// Half of the threads start one each and join it, by time or for good.
void run_joinable_thread(round& the) {
  const std::size_t starters = std::max<std::size_t>(1, the.threads() / 2),
                    steps = 1 + the.steps() / 8;
  the.run(starters, starters * steps, [&](actor& self) {
    for (std::size_t step = 0; step < steps; ++step) {
      const std::size_t length = self.random.below(256);
      std::uint64_t sum = 0;
      joinable_thread child(the.policy(), [&sum, length] {
        for (std::size_t i = 0; i < length; ++i) sum += i;
        sum += 1;
      });
      wait_some_way(
          self, [] { return false; }, [&](auto time) { return child.join_for(time); },
          [&] { child.join(); });
      self.require(sum == 1 + length * (length - (length > 0)) / 2,
                   "joinable_thread: its work is not there");
      self.require(!child.joinable(), "joinable_thread: joined, but joinable");
      self.done();
    }
  });
}

}  // namespace

std::vector<scenario> team_scenarios() {
  return {{"team_run", "each member runs each region once", run_team_run},
          {"team_sync", "sync_threads: nobody is through before all have come", run_team_sync},
          {"team_for", "for_range and parallel_for do every index once", run_team_for},
          {"team_nested", "regions inside of regions, on the same team and on another",
           run_team_nested},
          {"team_exceptions", "the first exception arrives, nobody hangs, the team goes on",
           run_team_exceptions},
          {"team_callers", "threads from outside are served in turn", run_team_callers},
          {"team_lifetime", "teams may end at any time between regions", run_team_lifetime},
          {"joinable_thread", "what the thread did is there after its join", run_joinable_thread}};
}

}  // namespace lockstep::stress
