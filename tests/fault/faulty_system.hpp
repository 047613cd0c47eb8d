// SPDX-License-Identifier: MIT
// tests/fault/faulty_system.hpp -- the native system, made as bad as its contract allows
//
// For LOCKSTEP_SYSTEM_SEAM. Futex: waits return for no reason (what EINTR, EAGAIN and spurious returns
// are at this level), or before their deadline; wakes come late, and wake threads they need not. Process-
// wide fence: refused every other time. Yields: as if a stranger used them for its time slice. Clock:
// coarse, standing still, jumping. Threads: refused as by a system at its limit. All within FUTEX-1 to FUTEX-5 of src/platform/system.hpp, FENCE-1 of
// process_fence.hpp and the clock's one promise, that it never goes back.
#pragma once

#include <atomic>
#include <cstdint>
#include <system_error>
#include <thread>
#include <utility>

#include "support/native_threads.hpp"
#include "support/seeded_draws.hpp"

namespace lockstep::test {

using namespace detail;

/// What goes wrong, and how often it did.
struct faulty_system {
  enum class clock_kind { native, coarse, standing, jumping };

  inline static std::atomic<bool> futex_fails{false}, fence_fails{false}, yields_fail{false};
  inline static std::atomic<unsigned> cpus{0};  // 0: those there are
  inline static std::atomic<clock_kind> clock{clock_kind::native};
  inline static std::atomic<long> for_no_reason{0}, early{0}, late_wakes{0}, needless_wakes{0},
      refused_fences{0}, jumps{0};

  static constexpr std::uint64_t hour = 3600000000000u;

  /// Back to the native system; the jumps of the clock stay.
  static void reset() {
    futex_fails = fence_fails = yields_fail = false;
    cpus = 0;
    clock = clock_kind::native;
    for_no_reason = early = late_wakes = needless_wakes = refused_fences = jumps = 0;
  }
  static long faults() {
    return for_no_reason + early + late_wakes + needless_wakes + refused_fences;
  }

  static std::uint64_t now() noexcept {
    maybe_jump();
    const std::uint64_t real = detail::native::monotonic_nanoseconds() + ahead_;
    constexpr std::uint64_t millisecond = 1000000, stretch = 40 * millisecond;
    switch (clock) {
      case clock_kind::coarse: return real - real % millisecond;
      case clock_kind::standing: return real % stretch < stretch / 2 ? real - real % stretch : real;
      default: return real;
    }
  }

  static void wait(const detail::wait_word& word, std::uint32_t expected, std::uint64_t deadline) {
    if (futex_fails && seeded_draws::once_in(3)) {
      ++for_no_reason;
      return;
    }
    std::uint64_t limit = detail::no_deadline;
    if (futex_fails && seeded_draws::once_in(3)) limit = seeded_draws::next() % 100000;
    // The jump of a clock wakes what sleeps until a time of that clock: here a little later.
    if (clock == clock_kind::jumping && deadline != detail::no_deadline && limit > 500000)
      limit = 500000;
    detail::native_futex::wait(word, expected, until(deadline, limit));
  }

  static void before_wake(const detail::wait_word* word) {
    if (!futex_fails) return;
    if (seeded_draws::once_in(4)) {
      ++late_wakes;
      for (std::uint64_t left = seeded_draws::next() % 32; left > 0; --left)
        std::this_thread::yield();
    }
    if (seeded_draws::once_in(4)) {
      ++needless_wakes;
      detail::native_futex::wake_all(word);
    }
  }

  static void after_yield() noexcept {
    constexpr std::uint64_t time_slice = 3000000;
    if (yields_fail) ahead_ += time_slice;
  }

  static bool refuses_fence() {
    const bool refused = fence_fails && seeded_draws::once_in(2);
    refused_fences += refused;
    return refused;
  }

 private:
  static void maybe_jump() noexcept {
    // With 10^5 jumps the clock is still far from the end of its range.
    if (clock != clock_kind::jumping || jumps >= 100000 || !seeded_draws::once_in(16)) return;
    ++jumps;
    ahead_ += seeded_draws::next() % (3 * hour);
  }

  /// The real time of the deadline, or of `limit` nanoseconds from now if that comes first.
  static std::uint64_t until(std::uint64_t deadline, std::uint64_t limit) {
    if (deadline == detail::no_deadline && limit == detail::no_deadline) return deadline;
    const std::uint64_t faulty = now();
    std::uint64_t left = deadline == detail::no_deadline ? deadline
                         : deadline > faulty             ? deadline - faulty
                                                         : 0;
    if (limit < left) {
      ++early;
      left = limit;
    }
    return detail::native::monotonic_nanoseconds() + left;
  }

  inline static std::atomic<std::uint64_t> ahead_{0};
};

}  // namespace lockstep::test

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct futex {
  static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) {
    test::faulty_system::wait(word, expected, deadline);
  }
  static void wake_one(const wait_word* word) {
    test::faulty_system::before_wake(word);
    native_futex::wake_one(word);
  }
  static void wake_all(const wait_word* word) {
    test::faulty_system::before_wake(word);
    native_futex::wake_all(word);
  }
};
inline void yield_thread() noexcept {
  std::this_thread::yield();
  test::faulty_system::after_yield();
}
using native::polling_pause;
inline int current_cpu() noexcept { return native_system::current_cpu(); }
inline bool move_off_cpu(unsigned cpu) noexcept { return native_system::move_off(cpu); }
inline machine_load load_of_machine() noexcept { return native_system::load_of_machine(); }
inline std::uint64_t monotonic_nanoseconds() noexcept { return test::faulty_system::now(); }
using native::fence_light;
inline bool fence_heavy() noexcept {
  return !test::faulty_system::refuses_fence() && native::fence_heavy();
}

inline unsigned usable_cpus() {
  static const unsigned count = count_usable_cpus();
  const unsigned pretended = test::faulty_system::cpus;
  return pretended != 0 ? pretended : count;
}

class system_thread {
 public:
  inline static std::atomic<int> starts_left{1000000};
  inline static std::atomic<int> running{0};  // not joined

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

#include "support/plain_thread.hpp"
