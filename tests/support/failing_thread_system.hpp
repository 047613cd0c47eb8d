// SPDX-License-Identifier: MIT
// tests/support/failing_thread_system.hpp -- the native system, whose threads fail to start on command
//
// For LOCKSTEP_SYSTEM_SEAM: everything is what detail/platform/system.hpp has, but the k-th thread is refused as
// a system at its limit would refuse it.
#pragma once

#include <system_error>
#include <thread>
#include <utility>

#include "support/native_threads.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

inline void futex_wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) {
  native_futex::wait(word, expected, deadline);
}
inline void futex_wake_one(const wait_word* word) { native_futex::wake_one(word); }
inline void futex_wake_all(const wait_word* word) { native_futex::wake_all(word); }
inline void yield_thread() noexcept { std::this_thread::yield(); }
inline int current_cpu() noexcept { return native_current_cpu(); }
inline bool move_off_cpu(unsigned cpu) noexcept { return move_off_native_cpu(cpu); }
inline bool is_machine_full() noexcept { return is_native_machine_full(); }
inline std::uint64_t monotonic_nanoseconds() noexcept { return steady_nanoseconds(); }
inline void fence_light() noexcept { process_fence::light(); }
inline bool fence_heavy() noexcept { return process_fence::heavy(); }
inline void polling_pause() noexcept { cpu_relax(); }
inline std::uint64_t shortest_line_wait() noexcept { return processor_wait::shortest(); }
inline void arm_line(const void* word) noexcept { processor_wait::arm(word); }
inline void wait_on_line(std::uint64_t nanoseconds) noexcept { processor_wait::wait(nanoseconds); }
inline unsigned usable_cpus() {
  static const unsigned count = count_usable_cpus();
  return count;
}

class system_thread {
 public:
  inline static int starts_left = 0;
  inline static int running = 0;  // of the starting thread only

  template <class Function, class... Arguments>
  explicit system_thread(Function f, Arguments&&... arguments)
      : thread_(checked(std::move(f), std::forward<Arguments>(arguments)...)) {
    ++running;
  }
  system_thread(system_thread&&) = default;
  void join() {
    thread_.join();
    --running;
  }

  std::thread::id get_id() const noexcept { return thread_.get_id(); }

 private:
  template <class Function, class... Arguments>
  static std::thread checked(Function f, Arguments&&... arguments) {
    if (starts_left-- <= 0) {
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    }
    return std::thread(std::move(f), std::forward<Arguments>(arguments)...);
  }

  std::thread thread_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
