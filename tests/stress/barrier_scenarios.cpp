// SPDX-License-Identifier: MIT
// tests/stress/barrier_scenarios.cpp -- barriers: nobody goes on before all are there
//
// Every participant writes a plain cell of its own before each phase and reads all cells after it.
#include <algorithm>
#include <deque>

#include <lockstep/barrier.hpp>
#include <lockstep/latch.hpp>
#include <lockstep/ranked_barrier.hpp>
#include "stress/round.hpp"
#include "support/ranked_barriers.hpp"
#include "support/starting_at.hpp"

namespace lockstep::stress {
namespace {

/// Two sets in turn: a thread that writes those of phase p + 2 knows that all have read those of phase p.
class phase_cells {
 public:
  explicit phase_cells(std::size_t ranks) : odd_(ranks), even_(ranks) {}

  void write(std::size_t rank, std::size_t phase) { of(phase)[rank] = phase; }
  bool are_written(std::size_t phase) {
    return are_written(phase, [](std::size_t) { return true; });
  }
  template <class Predicate>
  bool are_written(std::size_t phase, Predicate is_member) {
    const std::vector<std::size_t>& cells = of(phase);
    for (std::size_t rank = 0; rank < cells.size(); ++rank) {
      if (is_member(rank) && cells[rank] != phase) return false;
    }
    return true;
  }

 private:
  std::vector<std::size_t>& of(std::size_t phase) noexcept { return phase % 2 != 0 ? odd_ : even_; }
  std::vector<std::size_t> odd_, even_;
};

/// The second half of a phase, for barriers with ranks.
template <class Barrier>
void wait_for_phase(Barrier& at, std::size_t rank, actor& self) {
  const auto must_wait = [&] { self.require(at.wait(rank), "barrier: wait() said terminated"); };
  const auto wait_for = [&](auto time) { return at.wait_for(rank, time); };
  wait_some_way(self, [&] { return at.try_wait(rank); }, wait_for, must_wait);
}

/// One thread for the ranks first to last - 1, which it has to itself.
template <class Barrier>
void take_part(Barrier& at, phase_cells& cells, std::size_t first, std::size_t last,
               std::size_t steps, actor& self) {
  for (std::size_t phase = 1; phase <= steps; ++phase) {
    self.pause();
    for (std::size_t rank = first; rank < last; ++rank) cells.write(rank, phase);
    if (last - first == 1 && self.random.once_in(2)) {
      self.require(at.arrive_and_wait(first), "barrier: said terminated");
    } else {
      for (std::size_t rank = first; rank < last; ++rank) at.arrive(rank);
      self.pause();
      for (std::size_t rank = first; rank < last; ++rank) wait_for_phase(at, rank, self);
    }
    self.require(cells.are_written(phase), "barrier: let somebody through too early");
    self.done();
  }
}

/// Groups small enough for the barrier's way with flags.
void run_barrier_flags(round& the) {
  const std::size_t size = 2 + the.random.below(detail::most_flags_for(the.policy()) - 1);
  std::deque<test::barrier_starting_at> barriers;
  std::deque<phase_cells> cells;
  for (std::size_t left = the.threads(); left > 0; left -= std::min(left, size)) {
    barriers.emplace_back(the.random.first_phase(), std::min(left, size), the.policy());
    cells.emplace_back(std::min(left, size));
  }
  the.run(the.threads() * the.steps(), [&](actor& self) {
    const std::size_t group = self.rank() / size, rank = self.rank() % size;
    take_part(barriers[group], cells[group], rank, rank + 1, the.steps(), self);
  });
}

/// Every thread has as many ranks as are needed for `least` participants.
template <class Barrier>
void run_ranked(round& the, std::size_t least) {
  const std::size_t each = (least + the.threads() - 1) / the.threads();
  Barrier at(the.random.first_phase(), each * the.threads(), the.policy());
  phase_cells cells(each * the.threads());
  the.run(the.threads() * the.steps(), [&](actor& self) {
    take_part(at, cells, self.rank() * each, (self.rank() + 1) * each, the.steps(), self);
  });
}
void run_barrier_tree(round& the) {
  run_ranked<test::barrier_starting_at>(the, detail::most_flags_for(the.policy()) + 1);
}
void run_small_trees(round& the) {
  run_ranked<test::barrier_by_tree>(the, 1 + the.random.below(20));
}

/// The threads of a barrier that can be dropped: each makes one or two arrivals a phase, until it drops them.
struct droppers {
  std::vector<std::size_t> arrivals, last_phase;
  std::size_t expected = 0, phases = 0;
  std::uint64_t operations = 0;

  droppers(round& the) : arrivals(the.threads()), last_phase(the.threads(), the.steps()) {
    for (std::size_t rank = 0; rank < the.threads(); ++rank) {
      expected += arrivals[rank] = 1 + the.random.below(2);
      if (!the.random.once_in(3)) last_phase[rank] = 1 + the.random.below(the.steps());
      phases = std::max(phases, last_phase[rank]);
      operations += last_phase[rank];
    }
  }
};

template <class Barrier>
void arrive_and_wait_some_way(Barrier& at, std::size_t arrivals, actor& self) {
  if (arrivals == 1 && self.random.once_in(2)) return at.arrive_and_wait();
  if (arrivals == 2 && self.random.once_in(2)) {
    (void)at.arrive();
    arrivals = 1;
  }
  auto token = at.arrive(static_cast<std::ptrdiff_t>(arrivals));
  self.pause();
  const auto wait_for = [&](auto time) { return at.wait_for(token, time); };
  wait_some_way(
      self, [&] { return at.try_wait(token); }, wait_for, [&] { at.wait(std::move(token)); });
}

void run_counted_barrier(round& the) {
  const droppers part(the);
  phase_cells cells(the.threads());
  std::size_t completions = 0;  // plain: the completion function runs alone
  const auto complete = [&completions]() noexcept { ++completions; };
  test::starting_at<barrier<decltype(complete)>> at(
      the.random.first_phase(), static_cast<std::ptrdiff_t>(part.expected), complete, the.policy());
  the.run(part.operations, [&](actor& self) {
    const std::size_t last = part.last_phase[self.rank()];
    for (std::size_t phase = 1; phase <= last; ++phase) {
      self.pause();
      cells.write(self.rank(), phase);
      if (phase == last) {
        for (std::size_t i = 0; i < part.arrivals[self.rank()]; ++i) at.arrive_and_drop();
      } else {
        arrive_and_wait_some_way(at, part.arrivals[self.rank()], self);
        const auto is_member = [&](std::size_t rank) { return part.last_phase[rank] >= phase; };
        self.require(cells.are_written(phase, is_member), "barrier: through too early");
        self.require(completions >= phase, "barrier: through before the completion");
      }
      self.done();
    }
  });
  the.require_equal(completions, part.phases, "completions");
}

/// A latch for each step, counted down in parts by all.
void run_latch(round& the) {
  const std::size_t threads = the.threads(), steps = the.steps();
  std::deque<latch> latches;
  for (std::size_t step = 0; step < steps; ++step) {
    latches.emplace_back(static_cast<std::ptrdiff_t>(2 * threads), the.policy());
  }
  phase_cells cells(threads);
  the.run(threads * steps, [&](actor& self) {
    for (std::size_t step = 0; step < steps; ++step) {
      latch& at = latches[step];
      self.pause();
      const bool in_parts = self.random.once_in(2);
      if (in_parts) at.count_down();
      cells.write(self.rank(), step + 1);
      at.count_down(in_parts ? 1 : 2);
      wait_some_way(
          self, [&] { return at.try_wait(); }, [&](auto time) { return at.wait_for(time); },
          [&] { at.wait(); });
      self.require(cells.are_written(step + 1), "latch: open too early");
      self.done();
    }
  });
}

}  // namespace

std::vector<scenario> barrier_scenarios() {
  return {{"barrier_flags", "nobody is through before all have arrived", run_barrier_flags},
          {"barrier_tree", "the same, counted in, with several ranks a thread if need be",
           run_barrier_tree},
          {"barrier_small_trees", "the same, by a tree", run_small_trees},
          {"barrier", "the same, threads drop out; one completion a phase", run_counted_barrier},
          {"latch", "no wait returns before the count is zero", run_latch}};
}

}  // namespace lockstep::stress
