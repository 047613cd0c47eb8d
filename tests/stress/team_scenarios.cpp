// SPDX-License-Identifier: MIT
// tests/stress/team_scenarios.cpp -- team and joinable_thread
//
// The caller is the first thread of the crew and member 0; the team brings the other threads.
#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <lockstep/team.hpp>
#include <lockstep/thread.hpp>
#include "stress/round.hpp"

namespace lockstep::stress {
namespace {

/// How many regions or phases a round has: each takes all members.
std::size_t repeats(const round& the) { return the.steps() / 4; }

/// For teams beside others: a spinner needs a CPU of its own.
std::size_t fewest_members(const round& the) { return the.policy().is_spin() ? 1 : 2; }

/// What members find wrong: each counts for itself, the caller reads between regions.
class findings {
 public:
  explicit findings(std::size_t members) : of_(members) {}

  void expect(const member& me, bool fact) { of_[me.rank()] += !fact; }
  void require_none(actor& self, const char* text) const {
    for (const std::uint64_t each : of_) self.require(each == 0, text);
  }

 private:
  std::vector<std::uint64_t> of_;
};

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
      members.for_each(first, last, [&](std::size_t i) { ++cells[i]; });
      members.run([&](member& me) {
        const auto add = [&](std::size_t from, std::size_t to) {
          for (std::size_t i = from; i < to; ++i) ++cells[i];
        };
        me.for_range(lockstep::nowait, first, last, add);
        me.sync_threads();
        me.for_range(lockstep::nowait, 0, last, add);
      });
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::uint64_t expected = i >= last ? 0u : i < first ? 1u : 3u;
        self.require(cells[i] == expected, "for_range: an index was left out or done twice");
      }
      self.done();
    }
  });
}

/// Loops of all kinds whose shares are claimed, mixed with regions that need every member. So a member may have missed
/// loops, or be about to claim a share of one that is over.
void run_team_late(round& the) {
  team members(the.threads(), the.policy());
  const std::size_t size = members.size();
  std::vector<std::uint64_t> cells(3 * size + 5);  // plain: an index has one visitor in a loop
  const schedule how[] = {static_schedule(), static_schedule(2), dynamic_schedule(),
                          guided_schedule()};
  the.run(1, the.steps(), [&](actor& self) {
    std::uint64_t expected = 0;
    for (std::size_t step = 0; step < the.steps(); ++step) {
      const auto visit = [&](std::size_t i) { ++cells[i]; };
      const std::size_t draw = self.random.below(10);
      if (draw < 5) {
        self.require(members.for_each(0, cells.size(), visit), "nobody stopped the loop");
        ++expected;
      } else if (draw < 7) {
        members.for_each(0, cells.size(), visit, how[self.random.below(4)]);
        ++expected;
      } else if (draw == 7) {
        const std::size_t n = self.random.below(100);
        const std::uint64_t sum = members.reduce_each(
            std::size_t{0}, n, std::uint64_t{0}, [](std::size_t i) { return std::uint64_t{i}; },
            [](std::uint64_t a, std::uint64_t b) { return a + b; });
        self.require(sum == n * (n + 1) / 2 - n, "reduce_each: not the sum");
      } else if (draw == 8) {
        std::uint64_t called[2] = {};
        members.sections([&] { ++called[0]; }, [&] { ++called[1]; });
        self.require(called[0] == 1 && called[1] == 1, "sections: not once each");
      } else {
        std::vector<std::uint64_t> came(size);
        members.run(1 + self.random.below(size), [&](member& me) { ++came[me.rank()]; });
        self.require(std::count(came.begin(), came.end(), 1u) > 0, "run: nobody came");
      }
      for (const std::uint64_t each : cells) {
        self.require(each == expected, "a share was left out, or run twice");
      }
      self.done();
      if (self.random.once_in(4)) self.pause();
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

/// Regions of the first k members: those run, the others do not, whatever the k before was.
void run_team_some(round& the) {
  team members(the.threads(), the.policy());
  std::vector<std::uint64_t> cells(members.size()), expected(members.size());
  findings wrong(members.size());
  the.run(1, repeats(the), [&](actor& self) {
    for (std::size_t region = 0; region < repeats(the); ++region) {
      const std::size_t k = 1 + self.random.below(members.size());
      const bool has_phases = self.random.once_in(2);
      const bool complete = members.run(k, [&](member& me) {
        ++cells[me.rank()];
        wrong.expect(me, me.size() == k);
        if (!has_phases) return;
        wrong.expect(me, me.sync_count(me.rank() % 2 == 0) == (k + 1) / 2);
        wrong.expect(me, me.sync_threads());
      });
      for (std::size_t rank = 0; rank < k; ++rank) ++expected[rank];
      self.require(complete && cells == expected, "run(k): not the first k members once each");
      wrong.require_none(self, "run(k): members of another region, or a wrong count of them");
      self.done();
    }
  });
}

/// Parts of a team that work on their own, made again and again in one region.
void take_part_in_parts(member& me, std::uint64_t seed, std::size_t rounds, findings& wrong) {
  random_source common(seed);  // the same draws on all
  for (std::size_t i = 0; i < rounds; ++i) {
    const std::size_t colors = 1 + common.below(4), left_out = common.below(8),
                      k = 1 + common.below(me.size());
    const bool has_part = me.rank() % 8 != left_out;
    std::uint64_t size = 0, sum = 0, before = 0;
    for (std::size_t rank = me.rank() % colors; rank < me.size(); rank += colors) {
      if (rank % 8 == left_out) continue;
      ++size;
      sum += rank;
      before += rank < me.rank();
    }
    sub_team part = me.split(has_part ? me.rank() % colors : member::no_color);
    wrong.expect(me, static_cast<bool>(part) == has_part);
    if (part) {
      wrong.expect(me, part->size() == size && part->rank() == before);
      wrong.expect(me, part->sync_threads() && part->sync_sum(me.rank()) == sum);
    }
    sub_team few = me.first(k);
    wrong.expect(me, static_cast<bool>(few) == (me.rank() < k));
    if (few) wrong.expect(me, few->sync_max(me.rank()) == k - 1);
  }
}

void run_team_parts(round& the) {
  team members(the.threads(), the.policy());
  findings wrong(members.size());
  const std::size_t regions = 1 + repeats(the) / 8, rounds = 4;
  the.run(1, regions * rounds * members.size(), [&](actor& self) {
    for (std::size_t region = 0; region < regions; ++region) {
      const std::uint64_t seed = self.random.next();
      const bool complete =
          members.run([&](member& me) { take_part_in_parts(me, seed, rounds, wrong); });
      self.require(complete, "sub_team: the region was stopped by nobody");
      wrong.require_none(self, "sub_team: not the members that asked for it, or not their sum");
      self.done(rounds * members.size());
    }
  });
}

/// A run of ranks, combined in their order: too large for a cell.
struct rank_run {
  std::uint64_t first, last, is_in_order;
};

bool is_fused_phase_right(member& me, std::uint64_t phase) {
  const auto value_of = [phase](std::size_t rank) { return mix(phase, rank) % 1000; };
  std::uint64_t sum = 0, least = 1000, most = 0, even = 0;
  for (std::size_t rank = 0; rank < me.size(); ++rank) {
    sum += value_of(rank);
    least = std::min(least, value_of(rank));
    most = std::max(most, value_of(rank));
    even += value_of(rank) % 2 == 0;
  }
  const std::uint64_t mine = value_of(me.rank());
  switch (phase % 7) {
    case 0: return me.sync_sum(mine) == sum;
    case 1: return me.sync_min(mine) == least;
    case 2: return me.sync_max(mine) == most;
    case 3: return me.sync_count(mine % 2 == 0) == even;
    case 4: return me.broadcast(phase % me.size(), mine) == value_of(phase % me.size());
    case 5: return me.sync_threads();
    default: break;
  }
  const rank_run all =
      me.sync_reduce(rank_run{me.rank(), me.rank(), 1}, [](rank_run a, rank_run b) {
        return rank_run{a.first, b.last, a.is_in_order & b.is_in_order & (a.last + 1 == b.first)};
      });
  return all.is_in_order == 1 && all.first == 0 && all.last == me.size() - 1;
}

/// Barriers that carry values, of all kinds in turn.
void run_team_fused(round& the) {
  team members(the.threads(), the.policy());
  findings wrong(members.size());
  const std::size_t phases = the.steps();
  the.run(1, phases * members.size(), [&](actor& self) {
    const std::uint64_t first = self.random.below(1000);
    members.run([&](member& me) {
      for (std::uint64_t phase = first; phase < first + phases; ++phase) {
        wrong.expect(me, is_fused_phase_right(me, phase));
      }
    });
    wrong.require_none(self, "sync_reduce: not the value of all members");
    self.done(phases * members.size());
  });
}

/// Loops handed out piece by piece, one after the other without waiting: more than there are places.
void run_team_hand_out(round& the) {
  team members(the.threads(), the.policy());
  constexpr std::size_t loops = 21;
  const std::size_t length = 2 * members.size() + 5, regions = 1 + repeats(the) / 8;
  const schedule how[] = {dynamic_schedule(), dynamic_schedule(4), guided_schedule(),
                          static_schedule(3), static_schedule()};
  the.run(1, regions * loops * length, [&](actor& self) {
    for (std::size_t region = 0; region < regions; ++region) {
      std::vector<std::atomic<std::uint32_t>> visits(loops * length);
      std::vector<std::atomic<std::uint32_t>> once(loops);
      const bool complete = members.run([&](member& me) {
        for (std::size_t loop = 0; loop < loops; ++loop) {
          me.for_each(
              nowait, 0, length, [&](std::size_t i) { ++visits[loop * length + i]; },
              how[loop % 5]);
          if (loop % 3 == 0) me.single(nowait, [&] { ++once[loop]; });
          if (loop % 3 == 1) me.sections(nowait, [&] { ++once[loop]; }, [] {});
          if (loop % 7 == 6) me.sync_threads();
        }
      });
      self.require(complete, "for_each: the region was stopped by nobody");
      for (const auto& each : visits) {
        self.require(each == 1, "for_each: an index was left out or done twice");
      }
      for (std::size_t loop = 0; loop < loops; ++loop) {
        self.require(once[loop] == (loop % 3 < 2), "single or sections: not done once");
      }
      self.done(loops * length);
    }
  });
}

/// Loops by static schedules that wait at their end, with members that come late: others run their shares.
void run_team_late_shares(round& the) {
  team members(the.threads(), the.policy());
  const std::size_t loops = the.steps(), length = 2 * members.size() + 5;
  const std::uint64_t seed = 1 + the.threads();
  std::vector<std::uint64_t> visits(length);  // plain
  findings wrong(members.size());
  the.run(1, loops * length, [&](actor& self) {
    const bool complete = members.run([&](member& me) {
      for (std::size_t loop = 0; loop < loops; ++loop) {
        const std::uint64_t dawdles = (seed + loop) * 2654435761u % (members.size() + 2);
        for (int k = 0; dawdles == me.rank() && k < 20; ++k) std::this_thread::yield();
        me.for_each(
            0, length, [&](std::size_t i) { ++visits[i]; },
            loop % 4 == 3 ? static_schedule(2) : static_schedule());
        const auto value = [&](std::size_t i) { return visits[i]; };
        const std::uint64_t sum =
            me.reduce_each(0, length, std::uint64_t{0}, value, std::plus<std::uint64_t>());
        wrong.expect(me, sum == length * (loop + 1));
      }
    });
    self.require(complete, "for_each: the region was stopped by nobody");
    wrong.require_none(self, "for_each: an index was left out or done twice");
    self.done(loops * length);
  });
}

/// The parts of a loop that have a turn, in the order of the loop.
void run_team_ordered(round& the) {
  team members(the.threads(), the.policy());
  const std::size_t loops = 1 + repeats(the) / 4;
  const schedule how[] = {static_schedule(1), dynamic_schedule(), guided_schedule(),
                          static_schedule(2)};
  std::vector<std::size_t> order, expected;  // plain: turns follow each other
  for (std::size_t i = 0; i < 3 * members.size(); ++i) {
    if (i % 5 != 3) expected.push_back(i);
  }
  the.run(1, loops * expected.size(), [&](actor& self) {
    for (std::size_t loop = 0; loop < loops; ++loop) {
      order.clear();
      members.run([&](member& me) {
        me.for_ordered(
            0, 3 * members.size(),
            [&](std::size_t i, auto& turn) {
              if (i % 5 != 3) turn([&] { order.push_back(i); });
            },
            how[loop % 4]);
      });
      self.require(order == expected, "for_ordered: out of order, or not once each");
      self.done(order.size());
    }
  });
}

/// A wavefront: each member follows the one before it, step by step.
void run_team_progress(round& the) {
  team members(the.threads(), the.policy());
  const std::size_t size = members.size(), steps = the.steps(), regions = 2;
  the.run(1, regions * steps * size, [&](actor& self) {
    for (std::size_t region = 0; region < regions; ++region) {
      std::vector<std::uint64_t> cells(steps * size);
      const std::uint64_t seed = self.random.next();
      members.run([&](member& me) {
        for (std::size_t step = 1; step <= steps; ++step) {
          std::uint64_t* const row = &cells[(step - 1) * size];
          if (me.rank() > 0) me.await_step(me.rank() - 1, step);
          row[me.rank()] = mix(me.rank() > 0 ? row[me.rank() - 1] : seed, step);
          me.publish(step);
        }
      });
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::uint64_t before = i % size > 0 ? cells[i - 1] : seed;
        self.require(cells[i] == mix(before, i / size + 1), "wait_for: too early");
      }
      self.done(cells.size());
    }
  });
}

/// A team that leaves one thread of the crew its room.
std::size_t members_beside_one(const round& the) {
  return the.policy().is_spin() ? 1 : std::max<std::size_t>(2, the.threads() - 1);
}

/// One thread runs regions, another stops them at any time: all members hear of a stop, or none.
void run_team_stop(round& the) {
  team members(members_beside_one(the), the.policy());
  const std::size_t regions = repeats(the), phases = 8;
  std::atomic<bool> over{false};
  std::vector<std::uint64_t> cells(members.size());
  findings wrong(members.size());
  the.run(2, regions, [&](actor& self) {
    for (std::size_t region = 0; self.rank() == 0 && region < regions; ++region) {
      std::fill(cells.begin(), cells.end(), 0);
      const bool complete = members.run([&](member& me) {
        while (cells[me.rank()] < phases && me.sync_sum(std::uint64_t{1}) == members.size()) {
          ++cells[me.rank()];
        }
        wrong.expect(me, cells[me.rank()] == phases);
      });
      for (const std::uint64_t each : cells) {
        self.require(!complete || each == phases, "request_stop: a region lost a member's part");
      }
      wrong.require_none(self, "request_stop: a sum without all");
      self.done();
      self.pause();
    }
    if (self.rank() == 0) over = true;
    while (self.rank() == 1 && !over) {
      members.request_stop();
      std::this_thread::sleep_for(self.random.short_time());
    }
  });
  std::fill(cells.begin(), cells.end(), 0);
  members.run([&](member& me) { cells[me.rank()] = me.sync_sum(std::uint64_t{1}); });
  for (const std::uint64_t each : cells)
    the.require_equal(each, members.size(), "members after it");
}

/// Members throw out of loops and reductions, whatever the others are in.
void run_team_exceptions_in_loops(round& the) {
  team members(std::max<std::size_t>(2, the.threads()), the.policy());
  const std::size_t regions = 1 + repeats(the) / 4;
  the.run(1, regions, [&](actor& self) {
    for (std::size_t region = 0; region < regions; ++region) {
      const std::size_t at = self.random.below(4 * members.size()), loop_of = self.random.below(12);
      bool was_thrown = false;
      try {
        members.run([&](member& me) {
          for (std::size_t loop = 0; loop < 12; ++loop) {
            me.for_each(
                nowait, 0, 4 * members.size(),
                [&](std::size_t i) {
                  if (i == at && loop == loop_of) throw std::runtime_error("an iteration");
                },
                dynamic_schedule());
            if (loop % 4 == 3) me.sync_sum(loop);
          }
        });
      } catch (const std::runtime_error&) {
        was_thrown = true;
      }
      self.require(was_thrown, "team: the exception of a loop did not arrive");
      std::vector<std::uint64_t> sums(members.size());
      members.run([&](member& me) { sums[me.rank()] = me.sync_sum(std::uint64_t{1}); });
      for (const std::uint64_t each : sums) {
        self.require(each == members.size(), "team: not usable after an exception in a loop");
      }
      self.done();
    }
  });
}

/// The caller works between start and join, also in regions of its own.
void run_team_start(round& the) {
  team members(the.threads(), the.policy());
  std::vector<std::uint64_t> cells(members.size());
  the.run(1, repeats(the) * members.size(), [&](actor& self) {
    for (std::size_t region = 1; region <= repeats(the); ++region) {
      const std::vector<std::uint64_t> large(members.size(), region);
      const auto by_address = [&, large](member& me) {
        cells[me.rank()] = large[me.rank()];
        me.sync_threads();
      };
      started_region open = self.random.once_in(2)
                                ? members.start(by_address)
                                : members.start([&cells](member& me) { ++cells[me.rank()]; });
      self.pause();
      std::uint64_t alone = 0;
      if (self.random.once_in(2)) members.run([&](member& me) { alone = me.size(); });
      self.require(alone <= 1, "start: a region in between had company");
      self.require(cells[0] == region - 1, "start: has run the caller's part");
      self.require(open.join(), "join: the region was stopped by nobody");
      for (const std::uint64_t each : cells) {
        self.require(each == region, "join: a member has not run, or twice");
      }
      self.done(members.size());
    }
  });
}

/// One thread runs regions while another gives the team's threads back.
void run_team_pause(round& the) {
  team members(members_beside_one(the), the.policy());
  const std::size_t regions = repeats(the), pauses = 3;
  std::vector<std::uint64_t> cells(members.size());
  the.run(2, regions + pauses, [&](actor& self) {
    for (std::size_t i = 0; self.rank() == 1 && i < pauses; ++i) {
      std::this_thread::sleep_for(self.random.short_time());
      members.pause();
      self.pause();
      if (self.random.once_in(2)) members.resume();
      self.done();
    }
    for (std::size_t region = 1; self.rank() == 0 && region <= regions; ++region) {
      members.run([&](member& me) {
        if (me.sync_threads()) ++cells[me.rank()];
      });
      for (const std::uint64_t each : cells) {
        self.require(each == region, "pause: a region lost a member's part");
      }
      self.done();
      self.pause();
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
  return {
      {"team_run", "each member runs each region once", run_team_run},
      {"team_sync", "sync_threads: nobody is through before all have come", run_team_sync},
      {"team_for", "for_range and for_each do every index once", run_team_for},
      {"team_nested", "regions inside of regions, on the same team and on another",
       run_team_nested},
      {"team_exceptions", "the first exception arrives, nobody hangs, the team goes on",
       run_team_exceptions},
      {"team_callers", "threads from outside are served in turn", run_team_callers},
      {"team_lifetime", "teams may end at any time between regions", run_team_lifetime},
      {"team_some", "run(k): the first k members, and no others", run_team_some},
      {"team_late", "loops do each index once, without members that are late", run_team_late},
      {"team_parts", "sub-teams have their members only, and all of them", run_team_parts},
      {"team_fused", "barriers that carry values: those of all, in the order of ranks",
       run_team_fused},
      {"team_hand_out", "loops handed out without waiting do every index once", run_team_hand_out},
      {"team_late_shares", "shares of late members are run once", run_team_late_shares},
      {"team_ordered", "turns come in the order of the loop", run_team_ordered},
      {"team_progress", "nobody is ahead of whom it waits for", run_team_progress},
      {"team_stop", "stopped at any time: all of a region, or false", run_team_stop},
      {"team_exceptions_in_loops", "an exception out of a loop arrives, nobody hangs",
       run_team_exceptions_in_loops},
      {"team_start", "start and join run each member once, the caller in join", run_team_start},
      {"team_pause", "threads given back at any time lose no region", run_team_pause},
      {"joinable_thread", "what the thread did is there after its join", run_joinable_thread}};
}

}  // namespace lockstep::stress
