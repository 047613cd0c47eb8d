// SPDX-License-Identifier: MIT
// lockstep/detail/platform/process_state.hpp -- what there is once in a process (layer: platform)
//
// A waiter may sleep in one module (executable or shared object) and be woken by another. So the tables
// that they meet in are one for the process, whatever the visibility of symbols and the flags of dlopen():
// process_modules.hpp finds them. All of it is words and locks that begin as zeros: no guard variables, no
// order of initialisation, no destruction; usable before main() and after it, and in a child of fork().
//
//   O1  The layout is part of what modules agree on: who changes it raises LOCKSTEP_PROCESS_LAYOUT.
//   O2  It holds no address of code nor of a module's static data, which end with their module, but in what
//       its owner takes out again (fork_list.hpp).
//   O3  Units whose seams or futexes differ do not share it: they could not wake each other.
#ifndef LOCKSTEP_DETAIL_PLATFORM_PROCESS_STATE_HPP
#define LOCKSTEP_DETAIL_PLATFORM_PROCESS_STATE_HPP

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "at_fork.hpp"
#include "atomic.hpp"
#include "cache_line.hpp"
#include "config.hpp"
#include "intrusive_list.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A region that a thread is in: detail/team/nesting.hpp.
struct nested_region {
  const void* owner;      ///< the team
  std::uint32_t age;      ///< of the team: later ones have larger numbers
  const void* boards;     ///< the group of its members
  const wait_word* runs;  ///< the number of the team's region that runs, or 0; null: of no region
  const nested_region* outer;  ///< where it was called from
};

/// What a thread has in all modules alike: thread_slot.hpp.
struct thread_slot {
  const nested_region* innermost;
  std::uint64_t number;
  std::uintptr_t place;
  thread_slot* next;
};

/// For detail/wait/parking_lot.hpp.
class parked_thread;
struct alignas(cache_line_size) parking_bucket {
  wait_word lock;
  intrusive_list<parked_thread> waiting, on_their_way;

  constexpr parking_bucket() noexcept : lock(0), waiting(), on_their_way() {}
};

/// For detail/wait/misuse.hpp: its own kind of list.
struct misuse_bucket {
  std::mutex lock;
  void* entries;

  constexpr misuse_bucket() noexcept : entries(nullptr) {}
};

/// The first of a list that only grows.
struct growing_list {
  unseamed_atomic<void*> first;

  constexpr growing_list() noexcept : first(nullptr) {}
};

/// Messages that are printed once.
enum class message : std::uint32_t { environment = 1, unusable_cpus = 2, first_team = 4 };

struct process_state {
  static constexpr unsigned parking_bits = 8;
  static constexpr std::size_t misuse_size = 64, slots_size = 64;

  fork_section parking_forks;
  parking_bucket parking[std::size_t{1} << parking_bits];

  fork_section fork_listeners;  // and its lock guards the list
  void* first_fork_listener;

  fork_section misuse_forks;
  misuse_bucket misuse[misuse_size];

  fork_section futex_forks;
  unseamed_atomic<void*> portable_futex;  // its table, once made
  void* futex_held;                       // of the thread that forks

  growing_list thread_slots[slots_size];
  unseamed_atomic<std::uint64_t> threads;     // the last number that was given
  unseamed_atomic<std::uint32_t> thread_key;  // the key plus one; zero: not made yet

  growing_list critical_names;
  unseamed_atomic<std::uint32_t> usable_cpus, affine_cpus;  // zero: not counted yet
  unseamed_atomic<std::uint32_t> messages;
  unseamed_atomic<std::uint32_t> unchecked_units;
  wait_word team_ages;

  constexpr process_state() noexcept
      : first_fork_listener(nullptr),
        portable_futex(nullptr),
        futex_held(nullptr),
        threads(0),
        thread_key(0),
        usable_cpus(0),
        affine_cpus(0),
        messages(0),
        unchecked_units(0),
        team_ages(0) {}
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#include "process_modules.hpp"

#endif  // LOCKSTEP_DETAIL_PLATFORM_PROCESS_STATE_HPP
