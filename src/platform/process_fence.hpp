// SPDX-License-Identifier: MIT
// src/platform/process_fence.hpp -- a full fence on two threads, paid for by one (layer: platform)
//
// "Publish, then look for sleepers" meets "announce sleep, then look again". Both sides need a full
// fence between their store and their load:
//
//     notifier                          sleeper
//     phase = p + 1                     mark = 1
//     fence_light()                     fence_heavy()
//     if (mark) wake                    if (phase still p) sleep
//
//   FENCE-1  If one thread calls fence_light() and another fence_heavy(), then the loads after the two calls cannot both
//       miss the stores before them.
//
// Some systems have a process-wide barrier (native_system.hpp). There fence_light() is a compiler fence, and
// fence_heavy() makes every running thread of the process execute a full fence. On other systems both are a seq_cst fence.
// Before prepare(), fence_light() reads `unknown` and executes the seq_cst fence: that is right as well, only slower.
//
// fence_heavy() returns false if the system granted the barrier and refuses it now (a filter was installed in between). Then
// FENCE-1 does not hold for this call, and the caller must not sleep without a time limit.
//
// Memory order (# marks the line; model: tests/model)
//   #  access             order    pairs  why it suffices
//   1  mode.load          relaxed  -      any value is safe in fence_light(): see `unknown` above
//   2  signal_fence       seq_cst  4      FENCE-1 by the system's barrier; keeps the compiler from reordering
//   3  thread_fence       seq_cst  3, 4   FENCE-1 by the C++ model
//   4  barrier            seq_cst  2, 3   a full fence here, and by the system on all other threads
//   5  mode.store         relaxed  -      the system decides the mode: every writer writes the same
//
// Cost   light: one load of a read-mostly line. heavy: 0.35 us alone, 7 to 10 us when another thread of
//        the process runs (2 virtual CPUs, 6.18).
// Source [DICE01], [SYS-MEMBARRIER]
#ifndef LOCKSTEP_SRC_PLATFORM_PROCESS_FENCE_HPP
#define LOCKSTEP_SRC_PLATFORM_PROCESS_FENCE_HPP

#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>

#include "native_system.hpp"
#include "once.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What prepare() has found: one for each module, in a template because a header may define it then.
template <class Kind>
struct fence_mode {
  static atomic<std::uint32_t> value;
};
template <class Kind>
atomic<std::uint32_t> fence_mode<Kind>::value{0};

class process_fence {
 public:
  enum kind : std::uint32_t { unknown = 0, asymmetric = 1, symmetric = 2 };
  using mode = fence_mode<kind>;

  /// Asks the system once for its barrier. Objects whose notifiers use fence_light() call this when they are made, so that no
  /// notifier takes the slower way.
  static kind prepare() noexcept {
    const std::uint32_t known = mode::value.load(memory_order_relaxed);  // 1
    if (known != kind::unknown) return static_cast<kind>(known);
    const kind found = ask_system();
    mode::value.store(found, memory_order_relaxed);  // 5
    return found;
  }

  /// The name of the barrier that the system gave, for reports.
  static const char* name() noexcept {
    return prepare() == kind::asymmetric ? native_system::barrier::name()
                                         : "seq_cst fence, both pay";
  }

 private:
  static kind ask_system() noexcept {
    // One answer for all modules that use this library: the system might grant it to one and refuse it to another.
    static found_once<kind> decided;
    return decided.get(
        [] { return native_system::barrier::is_granted() ? kind::asymmetric : kind::symmetric; });
  }
};

namespace native {

/// The two sides of the fence.
inline void fence_light() noexcept {
  if (process_fence::mode::value.load(memory_order_relaxed) == process_fence::asymmetric) {  // 1
    return signal_fence(memory_order_seq_cst);                                               // 2
  }
  return thread_fence(memory_order_seq_cst);  // 3
}
inline bool fence_heavy() noexcept {
  thread_fence(memory_order_seq_cst);  // 3, 4
  return process_fence::prepare() == process_fence::kind::symmetric ||
         native_system::barrier::pass();
}

}  // namespace native

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_PROCESS_FENCE_HPP
