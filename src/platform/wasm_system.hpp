// SPDX-License-Identifier: MIT
// src/platform/wasm_system.hpp -- WebAssembly, by Emscripten (layer: platform)
//
// It has run under Node with Emscripten.
//
// emscripten_futex_wait executes the instruction. The page's own thread must not sleep: a browser forbids it, and other
// threads give it work and wait for that. So in a wait the main thread does such work and looks at the word again and
// again, for a millisecond at most, and returns. FUTEX-1 allows that, and the caller goes on waiting. Meanwhile the
// page stands still and a CPU is busy. Programs that wait for long run their main() on a thread of its own: link with
// -sPROXY_TO_PTHREAD.
//
// Rejected: the instruction inline. V8's baseline compiler (Node 20) lost variables of the loop around it: two threads
// that pass a number to and fro hung in the first round. With node --no-liftoff they did not.
//
// All calls take a duration, not a time: a waiter that is preempted before the call wakes that much too late.
//
// Memory order (# marks the line)
//   #  access        order    pairs  why it suffices
//   1  signal_fence  seq_cst  -      Clang assumes that the calls touch no memory of the program, and might move its
//                                    accesses across. All atomic instructions are in one order
#ifndef LOCKSTEP_SRC_PLATFORM_WASM_SYSTEM_HPP
#define LOCKSTEP_SRC_PLATFORM_WASM_SYSTEM_HPP

#if defined(__EMSCRIPTEN__)

#include <emscripten/threading.h>

#include <climits>
#include <cmath>

#include "posix_system.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct wasm_system : posix_system {
  struct futex {
    static const char* name() noexcept { return "memory.atomic.wait32"; }
    static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) {
      double milliseconds = HUGE_VAL;
      if (deadline != no_deadline) {
        const std::uint64_t now = native::monotonic_nanoseconds();
        if (deadline <= now) return;
        milliseconds = static_cast<double>(deadline - now) / 1e6;
      }
      if (emscripten_is_main_runtime_thread() && milliseconds > 1) milliseconds = 1;
      signal_fence(memory_order_seq_cst);  // 1
      emscripten_futex_wait(const_cast<wait_word*>(&word), expected, milliseconds);
      signal_fence(memory_order_seq_cst);  // 1
    }
    static void wake(const wait_word* word, bool all) {
      signal_fence(memory_order_seq_cst);  // 1
      emscripten_futex_wake(const_cast<wait_word*>(word), all ? INT_MAX : 1);
    }
  };
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

#endif  // LOCKSTEP_SRC_PLATFORM_WASM_SYSTEM_HPP
