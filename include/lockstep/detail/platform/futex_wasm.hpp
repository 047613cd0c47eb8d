// SPDX-License-Identifier: MIT
// lockstep/detail/platform/futex_wasm.hpp -- sleeping in WebAssembly's memory.atomic.wait32 (layer: platform)
//
// The contract is in futex.hpp. Run under Node with Emscripten.
//
// The page's own thread must not sleep: a browser lets it not, and other threads hand it work that they wait for. So with
// Emscripten a wait of the main thread serves that work, looks at the word again and again for a millisecond at most, and
// returns: FUTEX-1 allows that, and the caller waits on. Meanwhile the page stands still and a CPU is busy. Programs that
// wait for long run their main() on a thread of its own: link with -sPROXY_TO_PTHREAD.
//
// All calls take how long to sleep, not until when: a waiter that is preempted before it sleeps oversleeps so much.
#ifndef LOCKSTEP_DETAIL_PLATFORM_FUTEX_WASM_HPP
#define LOCKSTEP_DETAIL_PLATFORM_FUTEX_WASM_HPP

#if defined(__wasm__)

#include <cstdint>

#include "atomic.hpp"
#include "clock.hpp"
#include "config.hpp"

#if defined(__EMSCRIPTEN__)
#include <emscripten/threading.h>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct wasm_futex {
  static const char* name() noexcept { return "memory.atomic.wait32"; }
  static void prepare_for_fork() noexcept {}

  static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) noexcept {
    std::int64_t time = -1;  // for ever
    if (deadline != no_deadline) {
      const std::uint64_t now = steady_nanoseconds();
      if (deadline <= now) return;
      time = static_cast<std::int64_t>(deadline - now < longest ? deadline - now : longest);
    }
#if defined(__EMSCRIPTEN__)
    if (emscripten_is_main_runtime_thread()) {
      constexpr std::int64_t slice = 1000000;
      const std::int64_t some = time < 0 || time > slice ? slice : time;
      emscripten_futex_wait(const_cast<wait_word*>(&word), expected,
                            static_cast<double>(some) / 1e6);
      return;
    }
#endif
    __builtin_wasm_memory_atomic_wait32(address_of(&word), static_cast<int>(expected), time);
  }

  static void wake_one(const wait_word* word) noexcept {
    __builtin_wasm_memory_atomic_notify(address_of(word), 1);
  }
  static void wake_all(const wait_word* word) noexcept {
    __builtin_wasm_memory_atomic_notify(address_of(word), 0xFFFFFFFFu);
  }

 private:
  static constexpr std::uint64_t longest = ~std::uint64_t{0} >> 1;

  static int* address_of(const wait_word* word) noexcept {
    void* const address = const_cast<wait_word*>(word);
    return static_cast<int*>(address);
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

#endif  // LOCKSTEP_DETAIL_PLATFORM_FUTEX_WASM_HPP
