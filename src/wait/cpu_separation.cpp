// SPDX-License-Identifier: MIT
// src/wait/cpu_separation.cpp -- who was seen on which CPU, and who moves (layer: wait)
//
// A word here is a hint: an old or missing one may cost a needless move or poll, but no wake-up is lost.
//
// Memory order (# marks the line)
//   #  access      order    pairs  why it suffices
//   1  word.store  relaxed  -      a hint that stands for itself
//   2  word.load   relaxed  -      as 1
#include "cpu_separation.hpp"

#include "../observe/hooks.hpp"
#include "../platform/process.hpp"
#include "../platform/system.hpp"
#include "../platform/system_texts.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// word of a member: who may change what
//   bits     name  meaning                                       set by
//   0..16    cpu   the CPU that it ran on, plus 1; 0: not noted  its member
//   17..31   turn  how often it has noted it, modulo 2^15        its member
// The CPU may be old: the system moves threads without notice.
struct cpu_sighting {
  static constexpr std::uint32_t one_turn = 1u << 17;
  static constexpr std::uint32_t cpu_bits = one_turn - 1;

  wait_word word{0};
  std::uint32_t turn = 0, seen = 0;  // only its member uses these
};

LOCKSTEP_INLINE cpu_separation::cpu_separation(std::size_t members, bool moves)
    : sightings_(members, element_type::of<padded<cpu_sighting>>::value),
      paces_(members, element_type::of<padded<member_pace>>::value),
      moves_(moves) {}

LOCKSTEP_INLINE bool cpu_separation::may_move_anybody() noexcept {
  const char* const value = obeyed_variable("LOCKSTEP_CPU_SEPARATION");
  return value == nullptr || !is_switched_off(value);
}

LOCKSTEP_INLINE bool cpu_separation::is_separated(std::size_t rank, std::size_t other,
                                                  std::uint64_t now) noexcept {
  const int cpu = current_cpu();
  if (cpu < 0) return false;
  padded<cpu_sighting>* const all = static_cast<padded<cpu_sighting>*>(sightings_.data());
  cpu_sighting& own = all[rank].value;
  const std::uint32_t here = (static_cast<std::uint32_t>(cpu) + 1) & cpu_sighting::cpu_bits;
  own.turn += cpu_sighting::one_turn;
  own.word.store(own.turn | here, memory_order_relaxed);                          // 1
  const std::uint32_t theirs = all[other].value.word.load(memory_order_relaxed);  // 2
  const std::uint32_t there = theirs & cpu_sighting::cpu_bits;
  const bool is_news = theirs != own.seen;  // else the other one may have left since
  own.seen = theirs;
  if (is_news && there == here) shares_cpu(rank, now);
  if (is_news && there != here) pace_of(rank).separation.has_own_cpu();
  return there != 0 && there != here;
}

LOCKSTEP_INLINE void cpu_separation::shares_cpu(std::size_t rank, std::uint64_t now) noexcept {
  separation_pace& pace = pace_of(rank).separation;
  const separation_pace::advice what = pace.shares_cpu(now);
  const int cpu = current_cpu();
  if (what == separation_pace::advice::stay || !moves_ || rank == 0 || cpu < 0) return;
  if (what == separation_pace::advice::move_if_free && is_machine_full()) return;
  move_off_cpu(static_cast<unsigned>(cpu));
  pace.moved();
  if (observers() != 0) {
    note_mark(mark_kind::separated, "separated",
              "it shared its CPU with the member that it waited for",
              static_cast<std::uint64_t>(cpu));
  }
}

LOCKSTEP_INLINE bool whereabouts::is_separated() const noexcept {
  return knows_whom() && board->is_separated(self, other, monotonic_nanoseconds());
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
