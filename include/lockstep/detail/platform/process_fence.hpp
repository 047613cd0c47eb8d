// SPDX-License-Identifier: MIT
// lockstep/detail/platform/process_fence.hpp -- a full fence on two threads, paid for by one (layer: platform)
//
// "Publish, then look for sleepers" meets "announce sleep, then look again". Both sides need a full
// fence between their store and their load:
//
//     notifier                          sleeper
//     phase = p + 1                     mark = 1
//     light()                           heavy()
//     if (mark) wake                    if (phase still p) sleep
//
//   FENCE-1  If one thread calls light() and another heavy(), then the loads after the two calls cannot both
//       miss the stores before them.
//
// Where the system has a process-wide barrier, light() is a compiler fence and heavy() makes every running
// thread of the process execute a full fence. Where it has none, both are a seq_cst fence.
//   Linux    membarrier, private expedited
//   Windows  FlushProcessWriteBuffers; not on Wine, whose function of that name does nothing in many versions
// Elsewhere the fence is symmetric. A newer FreeBSD has membarrier, but modules that were built on an older one would
// not take part. A thread that still reads `unknown` fences for itself, so that light() is right before prepare() as
// well, only slower.
//
// heavy() returns false if the barrier was granted and later refused (a filter installed in between):
// then FENCE-1 does not hold for this call, and the caller must not sleep without a time limit.
//
// Memory order (# marks the line; model: tests/model)
//   #  access             order    pairs  why it suffices
//   1  mode.load          relaxed  -      any value is safe in light(): see `unknown` above
//   2  signal_fence       seq_cst  4      FENCE-1 by the system's barrier; keeps the compiler from reordering
//   3  thread_fence       seq_cst  3, 4   FENCE-1 by the C++ model
//   4  barrier            seq_cst  2, 3   own full fence, and the system's on all other threads
//   5  mode.store         relaxed  -      the mode is decided by the system, every writer writes the same
//
// Cost   light: one load of a read-mostly line. heavy: 0.35 us alone, 7 to 10 us when another thread of
//        the process runs (2 virtual CPUs, 6.18).
// Source [DICE01], [SYS-MEMBARRIER]
#ifndef LOCKSTEP_DETAIL_PLATFORM_PROCESS_FENCE_HPP
#define LOCKSTEP_DETAIL_PLATFORM_PROCESS_FENCE_HPP

#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>

#if defined(__linux__)
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(_WIN32)
#include <lockstep/detail/platform/windows.hpp>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class process_fence {
 public:
  enum class kind : std::uint32_t { unknown = 0, asymmetric = 1, symmetric = 2 };

  /// Asks the system once for its barrier. Objects whose notifiers use light() call it when they are
  /// made, so that no notifier pays for an `unknown`.
  static kind prepare() noexcept {
    kind found = static_cast<kind>(mode().load(memory_order_relaxed));  // 1
    if (found == kind::unknown) {
      found = register_with_system() ? kind::asymmetric : kind::symmetric;
      mode().store(static_cast<std::uint32_t>(found), memory_order_relaxed);  // 5
    }
    return found;
  }

  /// What the system gave: for reports.
  static const char* name() noexcept {
    return prepare() == kind::asymmetric ? system_name() : "seq_cst fence, both pay";
  }

  static void light() noexcept {
    if (static_cast<kind>(mode().load(memory_order_relaxed)) == kind::asymmetric) {  // 1
      signal_fence(memory_order_seq_cst);                                            // 2
    } else {
      thread_fence(memory_order_seq_cst);  // 3
    }
  }

  static bool heavy() noexcept {
    thread_fence(memory_order_seq_cst);  // 3, 4
    return prepare() == kind::symmetric || system_barrier();
  }

 private:
  // A function-local static of constant initialisation: no guard, no order of initialisation.
  static atomic<std::uint32_t>& mode() noexcept {
    static atomic<std::uint32_t> instance{0};
    return instance;
  }

#if defined(__linux__) && defined(SYS_membarrier)
  // From linux/membarrier.h, which older distributions lack.
  enum : int { private_expedited = 1 << 3, register_private_expedited = 1 << 4 };

  static bool call(int command) noexcept {
    const int saved = errno;
    const bool done = syscall(SYS_membarrier, command, 0, 0) == 0;
    errno = saved;
    return done;
  }
  static bool register_with_system() noexcept { return call(register_private_expedited); }
  static bool system_barrier() noexcept { return call(private_expedited); }
  static const char* system_name() noexcept { return "membarrier, the sleeper pays"; }
#elif defined(_WIN32)
  static bool register_with_system() noexcept {
    return find_windows_call("ntdll.dll", "wine_get_version") == 0;
  }
  static bool system_barrier() noexcept {
    FlushProcessWriteBuffers();
    return true;
  }
  static const char* system_name() noexcept { return "FlushProcessWriteBuffers, the sleeper pays"; }
#else
  static bool register_with_system() noexcept { return false; }
  static bool system_barrier() noexcept { return false; }
  static const char* system_name() noexcept { return "none"; }
#endif
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_PROCESS_FENCE_HPP
