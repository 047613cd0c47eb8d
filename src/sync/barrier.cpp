// SPDX-License-Identifier: MIT
// src/sync/barrier.cpp -- what barriers share, whatever their completion function (layer: sync)
//
// Invariants, for phase p
//   BARRIER-1  Between phases remaining_ is expected_. In a phase it is the number of arrivals that are missing.
//   BARRIER-2  The completion function runs once a phase, on the last thread to arrive, before any is released.
//   BARRIER-3  A wait for p returns once the phase is another one, however far the other threads have gone on.
//   BARRIER-4  After its change of phase_ the last arrival only uses the address. Other arrivals touch nothing after
//              their change of remaining_. So when the waits for a phase have returned, the barrier may be destroyed.
//   BARRIER-5  A waiter sleeps only on a word with its own phase and the sleeping bit. The change to the next phase finds
//              the bit in the old value, clears it, and wakes.
//
//   phase_: bits  name      meaning                     set by                    cleared by
//           0     sleeping  waiters may be asleep       a waiter                  the last arrival of a phase
//           1..   phase     its number, modulo 2^31     the last arrival, +1      -
// Legal to be set too long: sleeping (costs a wake that finds no sleeper). Illegal to be missing: BARRIER-5.
//
// Memory order (# marks the line)
//   #  access          order    pairs  why it suffices
//   1  remaining.load  relaxed  -      for observers
//   2  wait for word   acquire  -      7 of barrier.hpp, in wait_engine.hpp
#include <lockstep/barrier.hpp>

#include <lockstep/detail/platform/error.hpp>

#include "../wait/wait_engine.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE std::uint32_t checked_arrivals(std::ptrdiff_t expected) {
  constexpr std::ptrdiff_t most = (barrier<>::max)();
  if (expected < 0 || expected > most) {
    fail_argument("lockstep::barrier: %td arrivals expected, must be 0 to %td", expected, most);
  }
  return static_cast<std::uint32_t>(expected);
}

LOCKSTEP_INLINE wait_policy policy_of_barrier(std::ptrdiff_t expected, wait_policy given) {
  return given.when_crowded(static_cast<std::size_t>(expected) > usable_cpus());
}

[[noreturn]] LOCKSTEP_INLINE void report_arrivals(const void* barrier, std::ptrdiff_t n,
                                                  std::uint32_t left) {
  end_program(
      "lockstep::barrier at %p: %td arrivals by %s while the phase expects %lu; "
      "give the constructor the number of all that arrive",
      barrier, n, label_of_this_thread().text, static_cast<unsigned long>(left));
}

/// The predicate of a wait: the phase is no longer that of the arrival (BARRIER-3).
struct end_of_phase {
  std::uint32_t phase;
  const void* barrier;
  const wait_word* remaining;

  bool operator()(std::uint32_t word) const noexcept { return (word & ~sleeping_bit) != phase; }
  void describe(wait_subject& to) const noexcept {
    to.kind = wait_kind::barrier;
    to.object = barrier;
    to.left = remaining->load(memory_order_relaxed);  // 1
    to.phase = phase / 2 + 1;
  }
};

LOCKSTEP_INLINE bool wait_for_end_of_phase(wait_word& word, std::uint32_t phase,
                                           const void* barrier, const wait_word& remaining,
                                           wait_policy policy, deadline until, call_site where) {
  return wait_until_word(word, end_of_phase{phase, barrier, &remaining}, barrier, policy,  // 2
                         until.nanoseconds(), where);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
