// SPDX-License-Identifier: MIT
// src/sync/ranked_barrier.cpp -- ranks that arrive and wait, over ranked_phases.hpp (layer: sync)
//
//   RANKED-5  While any thread is between arrive and wait of phase p, every published phase is p - 1 or p.
//   RANKED-6  Each rank has a line of its own for data that only this rank reads and writes: the last phase in which
//             it has arrived, and the last for which it has waited.
//
// Memory order (# marks the line; ranked_phases.hpp and published_words.hpp have the rest)
//   #  access            order    pairs  why it suffices
//   1  terminated.store  release  2      the released waiter sees what came before terminate()
//   2  terminated.load   acquire  1      the other half
#include <lockstep/ranked_barrier.hpp>

#include <lockstep/detail/base/rank_groups.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/error.hpp>
#include <lockstep/detail/wait/misuse.hpp>
#include "../platform/system.hpp"
#include "../wait/cpu_separation.hpp"
#include "../wait/ranked_phases.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

struct ranked_barrier::state {
  using phase_word = detail::published_word<std::uint32_t>;

  struct own_state {
    std::uint32_t arrived = 0, waited = 0;  ///< the last phases
    bool was_last = false;                  ///< it arrived last: the phase is over
    detail::wait_history history = {};
  };

  /// The predicate of a wait for another rank, or for the end of the phase.
  struct all_have_come {
    const ranked_barrier* of;
    detail::phase_reached phase;

    bool operator()(std::uint32_t word) const noexcept { return phase(word); }
    void describe(detail::wait_subject& to) const noexcept {
      const state& all = *of->state_;
      phase.describe(to);
      to.kind = detail::wait_kind::ranked_barrier;
      to.object = of;
      to.awaited = detail::wait_subject::nobody;  // all that are missing
      to.expected = static_cast<std::uint32_t>(all.participants);
      to.come = all.phases.arrived_ranks(all.participants, phase);
    }
  };

  state(detail::first_phase first, std::size_t count, wait_policy policy, std::size_t most_flags)
      : rank_array(detail::checked_count("lockstep::ranked_barrier", "participants", count)),
        ranks(rank_array.data()),
        participants(count),
        phases(count, policy.when_crowded(count > detail::usable_cpus()),
               count <= most_flags ? count : 0, most_flags, detail::rank_groups()),
        separation(count <= most_flags ? count : 0,
                   separates_cpus(phases.policy()) && detail::cpu_separation::may_move_anybody()) {
    phases.reset(first.value);
    for (std::size_t rank = 0; rank < count; ++rank) {
      ranks[rank].value.arrived = ranks[rank].value.waited = first.value;
    }
  }
  /// As in teams. Policies that do not adapt say how to wait, and a crowd has no CPU to move to.
  static bool separates_cpus(wait_policy policy) noexcept {
    return policy.is_adaptive() && !policy.is_crowded();
  }

  own_state& checked(std::size_t rank) {
    if (LOCKSTEP_UNLIKELY(rank >= participants)) {
      detail::fail_rank("lockstep::ranked_barrier", "participant", rank, participants);
    }
    return ranks[rank].value;
  }
  bool is_terminated() const noexcept {
    return terminated.load(detail::memory_order_acquire) != 0;  // 2
  }

  void arrive(const ranked_barrier& of, std::size_t rank, own_state& self) {
    if (detail::misuse::diagnosed && self.arrived != self.waited && !is_terminated()) {
      detail::end_program(
          "lockstep::ranked_barrier at %p: rank %zu arrives again before its last arrival was "
          "waited for; each rank is for one thread",
          static_cast<const void*>(&of), rank);
    }
    self.was_last =
        phases.arrive(rank, participants, ++self.arrived, [](detail::nothing_beside&) {});
  }

  wait_status wait(const ranked_barrier& of, std::size_t rank, own_state& self, deadline until,
                   call_site where) {
    const auto wait_for = [&](const phase_word& word, std::size_t other) {
      const detail::phase_reached reached{self.arrived};
      return reached(word.value()) || is_terminated() ||
             wait_slowly(of, word, rank, other, until, where);
    };
    if (!self.was_last && !phases.wait_for_others(rank, participants, wait_for)) {
      return wait_status::timed_out;
    }
    if (is_terminated()) return wait_status::terminated;
    self.waited = self.arrived;
    return wait_status::ready;
  }
  LOCKSTEP_NOINLINE bool wait_slowly(const ranked_barrier& of, const phase_word& word,
                                     std::size_t rank, std::size_t other, deadline until,
                                     call_site where) {
    own_state& self = ranks[rank].value;
    detail::awaited_word<std::uint32_t, all_have_come, detail::stops_when_set> what(
        word, {&of, {self.arrived}}, {terminated}, {&separation, rank, other, nullptr}, where);
    return detail::wait_watched(what, &of, phases.policy(), self.history, until.nanoseconds());
  }

  detail::line_gap before;
  detail::aligned_array<detail::padded<own_state>> rank_array;
  detail::padded<own_state>* const ranks;
  const std::size_t participants;
  detail::ranked_phases<> phases;
  detail::cpu_separation separation;
  detail::wait_word terminated{0};
  detail::line_gap after;
};

LOCKSTEP_INLINE ranked_barrier::ranked_barrier(detail::first_phase first, std::size_t participants,
                                               wait_policy policy, std::size_t most_flags)
    : state_(new state(first, participants, policy, most_flags)) {}
LOCKSTEP_INLINE ranked_barrier::ranked_barrier(std::size_t participants, wait_policy policy)
    : ranked_barrier(detail::first_phase{0}, participants, policy, detail::most_flags_for(policy)) {
}
LOCKSTEP_INLINE ranked_barrier::~ranked_barrier() {
  detail::misuse::destroying(this, "lockstep::ranked_barrier");
  delete state_;
}

LOCKSTEP_INLINE std::size_t ranked_barrier::participants() const noexcept {
  return state_->participants;
}
LOCKSTEP_INLINE wait_policy ranked_barrier::policy() const noexcept {
  return state_->phases.policy();
}

LOCKSTEP_INLINE bool ranked_barrier::arrive_and_wait(std::size_t rank, call_site where) {
  state& all = *state_;
  state::own_state& self = all.checked(rank);
  all.arrive(*this, rank, self);
  return all.wait(*this, rank, self, deadline::never(), where) == wait_status::ready;
}

LOCKSTEP_INLINE void ranked_barrier::arrive(std::size_t rank) {
  state_->arrive(*this, rank, state_->checked(rank));
}

LOCKSTEP_INLINE bool ranked_barrier::try_wait(std::size_t rank) {
  state& all = *state_;
  state::own_state& self = all.checked(rank);
  if (all.is_terminated() || self.arrived == self.waited) return false;
  if (!self.was_last && !all.phases.have_others_arrived(rank, all.participants, {self.arrived})) {
    return false;
  }
  self.waited = self.arrived;
  return true;
}

LOCKSTEP_INLINE wait_status ranked_barrier::wait_until(std::size_t rank, deadline until,
                                                       call_site where) {
  return state_->wait(*this, rank, state_->checked(rank), until, where);
}

LOCKSTEP_INLINE void ranked_barrier::terminate() {
  state_->terminated.store(1, detail::memory_order_release);  // 1
  state_->phases.wake_all();
}
LOCKSTEP_INLINE bool ranked_barrier::terminated() const noexcept { return state_->is_terminated(); }

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
