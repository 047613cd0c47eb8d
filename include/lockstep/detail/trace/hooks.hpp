// SPDX-License-Identifier: MIT
// lockstep/detail/trace/hooks.hpp -- what waits, constructs and regions tell whoever watches (layer: trace)
//
// The layers above call these where observers() is not 0; else they go on. The functions hand on to the recorder
// (recorder.hpp), the ledger and the watchdog, and delay the thread, as the word says.
#ifndef LOCKSTEP_DETAIL_TRACE_HOOKS_HPP
#define LOCKSTEP_DETAIL_TRACE_HOOKS_HPP

#include <cstddef>
#include <cstdint>

#include "../../call_site.hpp"
#include "../platform/clock.hpp"
#include "delay_hooks.hpp"
#include "ledger_hooks.hpp"
#include "object_names.hpp"
#include "observers.hpp"
#include "recorder.hpp"
#include "thread_log.hpp"
#include "watch_hooks.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A wait of the calling thread, as long as this lives: from its long part on.
class observed_wait {
 public:
  /// Subject: has subject(), a wait_subject. Asked only where somebody watches.
  template <class Subject>
  explicit observed_wait(const Subject& of) noexcept {
    if (LOCKSTEP_UNLIKELY(observers() != 0)) begin(of.subject());
  }
  ~observed_wait() {
    if (LOCKSTEP_UNLIKELY(log_ != nullptr)) end();
  }
  observed_wait(const observed_wait&) = delete;
  observed_wait& operator=(const observed_wait&) = delete;

  /// From now on it spins, yields or sleeps.
  void enter(wait_stage next) noexcept {
    if (LOCKSTEP_UNLIKELY(log_ != nullptr)) change(next);
  }

 private:
  LOCKSTEP_OBSERVER void begin(const wait_subject& what) noexcept;
  LOCKSTEP_OBSERVER void change(wait_stage next) noexcept;
  LOCKSTEP_OBSERVER void end() noexcept;

  thread_log* log_ = nullptr;
  wait_subject what_;
  std::uint64_t since_, stage_since_;
  wait_stage stage_, furthest_;
  bool is_shown_;
};

/// The member has called a construct.
LOCKSTEP_OBSERVER void member_comes(const observed_member& who, const char* kind, call_site where,
                                    std::size_t extent, std::uint64_t came) noexcept;
/// It begins to wait for all others, in that phase; and goes on. `came`: to the construct; 0: it has met them in it.
LOCKSTEP_OBSERVER thread_log* member_arrives(const observed_member& who, std::uint32_t phase,
                                             const char* kind, call_site where, std::size_t extent,
                                             std::uint64_t came) noexcept;
LOCKSTEP_OBSERVER void member_leaves(thread_log& log) noexcept;

/// A region or a loop, from its caller's view.
struct observed_region {
  const char* kind;  ///< "run", "loop", "plan"
  const void* team;
  std::uint32_t region, size, parts;
  std::uint64_t iterations;
  source_place where;  ///< no file: not known
};
LOCKSTEP_OBSERVER void region_ended(const observed_region& what, std::uint64_t begin) noexcept;

/// A member begins its part of a region, or a part of a share of a loop; and ends what part_begins() has returned. Not a
/// guard object: with one, a loop of 64 iterations on the caller alone took 67 to 71 ns in place of 60.
LOCKSTEP_OBSERVER open_part* part_begins(const observed_member& who, std::uint32_t part,
                                         const char* kind) noexcept;
LOCKSTEP_OBSERVER void part_ends(open_part& what) noexcept;

/// What was decided, or found out: a mark on the thread's track. Texts are literals; `why` may be null.
LOCKSTEP_OBSERVER void note_mark(mark_kind kind, const char* name, const char* why,
                                 std::uint64_t number) noexcept;
LOCKSTEP_OBSERVER void note_name(const char* name) noexcept;
LOCKSTEP_OBSERVER void note_counter(const char* name, double value) noexcept;
/// Sleepers on a word are woken.
LOCKSTEP_OBSERVER void note_wake(const void* word) noexcept;
/// A lock was taken, or is about to be given up.
LOCKSTEP_OBSERVER void note_lock(const void* object, bool is_taken) noexcept;
/// Where threads may be delayed: before what others may wait for.
LOCKSTEP_OBSERVER void pass_sync_point() noexcept;
inline void sync_point() noexcept {
  if (diagnoses_misuse && LOCKSTEP_UNLIKELY(observers() != 0)) pass_sync_point();
}
/// A thread is about to let those go that wait for `word`, the one that waiters name as their object or sleep on.
LOCKSTEP_OBSERVER void note_notify(const void* word) noexcept;
/// Before such a change of an object that has no other hook. In builds that do not diagnose misuse it is nothing: a
/// look at the observers takes 1 to 3 % of a notify.
LOCKSTEP_OBSERVER void pass_notify_point(const void* word) noexcept;
inline void notify_point(const void* word) noexcept {
  if (diagnoses_misuse && LOCKSTEP_UNLIKELY(observers() != 0)) pass_notify_point(word);
}
/// A node of a plan is about to run. The name is copied.
LOCKSTEP_OBSERVER void node_begins(const char* name) noexcept;
/// The member had to wait for a node of the plan that was made there.
LOCKSTEP_OBSERVER void note_node_wait(const char* name, call_site plan,
                                      std::uint64_t ticks) noexcept;
/// A node of a plan was run.
LOCKSTEP_OBSERVER void note_node(const char* name, std::uint64_t iteration, bool is_taken_over,
                                 std::uint64_t begin) noexcept;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#if LOCKSTEP_HAS_OBSERVERS
#include "hooks.ipp"
#endif

#endif  // LOCKSTEP_DETAIL_TRACE_HOOKS_HPP
