// SPDX-License-Identifier: MIT
// src/platform/futex_wasm.cpp -- sleeping in WebAssembly's memory.atomic.wait32 (layer: platform)
//
// Run under Node with Emscripten.
//
// With Emscripten the instruction is reached through emscripten_futex_wait. The page's own thread must not sleep: a browser
// lets it not, and other threads hand it work that they wait for. So a wait of the main thread serves that work, looks at
// the word again and again for a millisecond at most, and returns: FUTEX-1 allows that, and the caller waits on. Meanwhile
// the page stands still and a CPU is busy. Programs that wait for long run their main() on a thread of its own: link with
// -sPROXY_TO_PTHREAD.
//
// Rejected: the instruction inline, on Emscripten. V8's baseline compiler (Node 20) lost variables of the loop around it:
// two threads that hand a number to and fro hung in the first round, and did not with node --no-liftoff.
//
// All calls take how long to sleep, not until when: a waiter that is preempted before it sleeps oversleeps so much.
//
// Memory order (# marks the line)
//   #  access        order    pairs  why it suffices
//   1  signal_fence  seq_cst  -      Clang takes the instructions for such that touch no memory of the program, and might
//                                    move accesses across; as instructions, all atomic ones are in one order
#include <lockstep/detail/platform/system.hpp>

#if defined(__wasm__) && !LOCKSTEP_FORCE_PORTABLE_FUTEX

#include <climits>
#include <cmath>
#include <cstdint>

#if defined(__EMSCRIPTEN__)
#include <emscripten/threading.h>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct wasm_futex {
  static constexpr std::uint64_t longest = ~std::uint64_t{0} >> 1;

#if defined(__EMSCRIPTEN__)
  static void sleep(const wait_word& word, std::uint32_t expected, std::int64_t time) noexcept {
    constexpr std::int64_t slice = 1000000;
    if (emscripten_is_main_runtime_thread() && (time < 0 || time > slice)) time = slice;
    const double milliseconds = time < 0 ? HUGE_VAL : static_cast<double>(time) / 1e6;
    emscripten_futex_wait(const_cast<wait_word*>(&word), expected, milliseconds);
  }
  static void notify(void* word, int count) noexcept { emscripten_futex_wake(word, count); }
#else
  static void sleep(const wait_word& word, std::uint32_t expected, std::int64_t time) noexcept {
    void* const address = const_cast<wait_word*>(&word);
    __builtin_wasm_memory_atomic_wait32(static_cast<int*>(address), static_cast<int>(expected),
                                        time);
  }
  static void notify(void* word, int count) noexcept {
    __builtin_wasm_memory_atomic_notify(static_cast<int*>(word), static_cast<unsigned>(count));
  }
#endif
};

LOCKSTEP_INLINE const char* native_futex::name() noexcept { return "memory.atomic.wait32"; }

LOCKSTEP_INLINE void native_futex::wait(const wait_word& word, std::uint32_t expected,
                                        std::uint64_t deadline) {
  std::int64_t time = -1;  // for ever
  if (deadline != no_deadline) {
    const std::uint64_t now = steady_nanoseconds();
    if (deadline <= now) return;
    time = static_cast<std::int64_t>(deadline - now < wasm_futex::longest ? deadline - now
                                                                          : wasm_futex::longest);
  }
  signal_fence(memory_order_seq_cst);  // 1
  wasm_futex::sleep(word, expected, time);
  signal_fence(memory_order_seq_cst);  // 1
}

LOCKSTEP_INLINE void native_futex::wake(const wait_word* word, bool all) {
  signal_fence(memory_order_seq_cst);  // 1
  wasm_futex::notify(const_cast<wait_word*>(word), all ? INT_MAX : 1);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif
