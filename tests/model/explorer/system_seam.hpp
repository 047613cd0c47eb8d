// SPDX-License-Identifier: MIT
// tests/model/explorer/system_seam.hpp -- the system seam of a modelled program
//
// For LOCKSTEP_SYSTEM_SEAM (src/platform/system.hpp). For use within executions only, but for per_thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

#include "model/explorer/explorer.hpp"
#include "platform/cpus.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct futex {
  static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline,
                   int line = __builtin_LINE(), const char* file = __builtin_FILE()) {
    model::explorer::active()->futex_wait(word.place(), expected, deadline, {file, line});
  }
  static void wake_one(const wait_word* word, int line = __builtin_LINE(),
                       const char* file = __builtin_FILE()) {
    model::explorer::active()->futex_wake(word, false, {file, line});
  }
  static void wake_all(const wait_word* word, int line = __builtin_LINE(),
                       const char* file = __builtin_FILE()) {
    model::explorer::active()->futex_wake(word, true, {file, line});
  }
};
inline void yield_thread(int line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  model::explorer::active()->pause("yield", {file, line});
}
inline void polling_pause(int line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  model::explorer::active()->pause("pause", {file, line});
}
// Not offered: it would be a pause.
inline std::uint64_t monotonic_nanoseconds() { return model::explorer::active()->clock(); }
inline void fence_light(int line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  model::explorer::active()->fence_light({file, line});
}
inline bool fence_heavy(int line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  return model::explorer::active()->fence_heavy({file, line});
}
inline unsigned usable_cpus() { return model::explorer::active()->cpus(); }

inline std::uint64_t shorten_timer_slack(std::uint64_t) { return 0; }
inline void set_timer_slack(std::uint64_t) {}
// Not told: where a thread runs changes how long it polls, not what it waits for.
inline int current_cpu() { return -1; }
inline bool move_off_cpu(unsigned) { return false; }
inline machine_load load_of_machine() { return machine_load::unknown; }

inline std::uint64_t number_of_this_thread() { return model::explorer::active()->number(); }

/// A number for each T and name.
__attribute__((noinline, no_sanitize("thread"))) inline std::size_t next_per_thread_slot() {
  static std::size_t slots = 0;
  return slots++;
}
template <class T, class Name>
__attribute__((noinline, no_sanitize("thread"))) T& per_thread() {
  static_assert(sizeof(T) <= 16 && std::is_trivially_copyable<T>::value, "fits a slot");
  static T outside = T();
  if (model::explorer::active() == nullptr) return outside;
  static const std::size_t slot = next_per_thread_slot();
  return *static_cast<T*>(model::explorer::active()->per_thread(slot));
}

class system_thread {
 public:
  template <class Function, class... Arguments>
  explicit system_thread(Function&& f, Arguments&&... arguments)
      : number_(model::explorer::active()->start(
            [copies =
                 std::make_shared<std::tuple<std::decay_t<Function>, std::decay_t<Arguments>...>>(
                     std::forward<Function>(f), std::forward<Arguments>(arguments)...)] {
              std::apply(
                  [](auto&& g, auto&&... rest) {
                    std::invoke(std::forward<decltype(g)>(g),
                                std::forward<decltype(rest)>(rest)...);
                  },
                  std::move(*copies));
            },
            {__FILE__, __LINE__})) {}
  system_thread(system_thread&&) = default;
  void join() { model::explorer::active()->join(number_, {__FILE__, __LINE__}); }
  std::thread::id get_id() const noexcept { return std::thread::id(); }

 private:
  model::thread_number number_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#include "support/plain_thread.hpp"
