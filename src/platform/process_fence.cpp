// SPDX-License-Identifier: MIT
// src/platform/process_fence.cpp -- the process-wide barrier of each system (layer: platform)
//
//   Linux    membarrier, private expedited
//   Windows  FlushProcessWriteBuffers; not on Wine, whose function of that name does nothing in many versions
// Elsewhere the fence is symmetric. A newer FreeBSD has membarrier, but modules that were built on an older one would
// not take part.
//
// Memory order (# marks the line)
//   #  access             order    pairs  why it suffices
//   1  decided            relaxed  -      a fact of the system; the first answer stays
//   3  thread_fence       seq_cst  3      FENCE-1 by the C++ model: with 3 of process_fence.hpp
//   4  barrier            seq_cst  3      own full fence, and the system's on all other threads
#include <lockstep/detail/platform/process_fence.hpp>

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>

#include "posix.hpp"
#elif defined(_WIN32)
#include "windows.hpp"
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if defined(__linux__) && defined(SYS_membarrier)
struct system_barrier {
  // From linux/membarrier.h, which older distributions lack.
  enum : int { private_expedited = 1 << 3, register_private_expedited = 1 << 4 };

  static bool call(int command) noexcept {
    const kept_errno kept;
    return syscall(SYS_membarrier, command, 0, 0) == 0;
  }
  static bool is_granted() noexcept { return call(register_private_expedited); }
  static bool pass() noexcept { return call(private_expedited); }
  static const char* name() noexcept { return "membarrier, the sleeper pays"; }
};
#elif defined(_WIN32)
struct system_barrier {
  static bool is_granted() noexcept {
    return find_windows_call("ntdll.dll", "wine_get_version") == 0;
  }
  static bool pass() noexcept {
    FlushProcessWriteBuffers();
    return true;
  }
  static const char* name() noexcept { return "FlushProcessWriteBuffers, the sleeper pays"; }
};
#else
struct system_barrier {
  static bool is_granted() noexcept { return false; }
  static bool pass() noexcept { return false; }
  static const char* name() noexcept { return "none"; }
};
#endif

LOCKSTEP_INLINE process_fence::kind process_fence::ask_system() noexcept {
  // One answer for all modules that use this library: one of them might be refused what another was granted.
  static unseamed_atomic<kind> decided{kind::unknown};
  kind known = decided.load(memory_order_relaxed);  // 1
  if (known != kind::unknown) return known;
  const kind found = system_barrier::is_granted() ? kind::asymmetric : kind::symmetric;
  const bool is_first = decided.compare_exchange_strong(known, found, memory_order_relaxed,  // 1
                                                        memory_order_relaxed);               // 1
  return is_first ? found : known;
}

LOCKSTEP_INLINE bool process_fence::heavy() noexcept {
  thread_fence(memory_order_seq_cst);  // 3, 4
  return prepare() == kind::symmetric || system_barrier::pass();
}

LOCKSTEP_INLINE const char* process_fence::name() noexcept {
  return prepare() == kind::asymmetric ? system_barrier::name() : "seq_cst fence, both pay";
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
