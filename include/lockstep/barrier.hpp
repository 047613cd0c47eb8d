// SPDX-License-Identifier: MIT
// lockstep/barrier.hpp -- threads wait for each other; the interface of std::barrier (layer: sync)
//
// A phase is over when as many arrivals as expected have been made, by whichever threads. No wait for the
// phase returns before.
// Where the threads are fixed and each knows its rank, ranked_barrier is faster; for one phase only, latch.
//
// The completion function runs once a phase, on the last thread to arrive, before any is released. When the waits for a
// phase have returned, the barrier may be destroyed. Invariants: src/sync/barrier.cpp.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access               order    pairs  why it suffices
//   1  phase.load           relaxed  -      no phase ends before the caller's own arrival in it
//   2  dropped.fetch_add    relaxed  -      published by 3 of the same thread
//   3  remaining.fetch_sub  acq_rel  3      the last to arrive has seen all arrivals, and publishes them
//   4  dropped.load, store  relaxed  -      ordered by 3, and by 6 for the next phase
//   5  remaining.store      relaxed  -      published by 6; the next arrivals come after 7
//   6  phase.exchange       release  7      the waiters see all arrivals and the completion
//   7  phase.load           acquire  6      the other half, and in wait_engine.hpp
//   8  remaining.load       relaxed  -      for a message
//
// Order  what happens before any arrival in a phase happens before the completion function, and that
//        before every return from a wait for the phase.
// Errors a bad count: std::invalid_argument. More arrivals than the phase expects: undefined; debug
//        builds end the program. A completion function that throws: std::terminate.
// Cost   per phase: one read-modify-write per arrival on one line, one after the other; then an exchange,
//        and a refetch of another line per waiter. With 8 threads on 2 CPUs a phase takes 27 us, with 64 255,
//        by block(). No system call unless a waiter sleeps. No heap.
// Example
//   lockstep::barrier<> phase(2);
//   lockstep::joinable_thread other([&] { phase.arrive_and_wait(); });
//   phase.arrive_and_wait();
// Source [MCS91] sec. 3.1, with a phase for the sense.
#ifndef LOCKSTEP_BARRIER_HPP
#define LOCKSTEP_BARRIER_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/wait/misuse.hpp>
#include <lockstep/detail/wait/waiters.hpp>
#include <lockstep/wait_policy.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

namespace detail {

/// The completion function that does nothing.
struct no_completion {
  void operator()() const noexcept {}
};

// For all completion functions, in barrier.cpp.
std::uint32_t checked_arrivals(std::ptrdiff_t expected);
wait_policy policy_of_barrier(std::ptrdiff_t expected, wait_policy given);
[[noreturn]] void report_arrivals(const void* barrier, std::ptrdiff_t n, std::uint32_t left);
/// Waits until `word` has another phase; false if `until` came first. `remaining` is for observers.
bool wait_for_end_of_phase(wait_word& word, std::uint32_t phase, const void* barrier,
                           const wait_word& remaining, wait_policy policy, deadline until,
                           call_site where);

}  // namespace detail

/// Ends a phase when all expected arrivals are made, and lets go the threads that wait for it.
/// CompletionFunction is called without arguments at the end of each phase. It must not use the barrier.
template <class CompletionFunction = detail::no_completion>
class barrier {
 public:
  /// The phase that an arrival was made in; wait() takes it.
  class arrival_token {
   public:
    arrival_token(arrival_token&&) = default;
    arrival_token& operator=(arrival_token&&) = default;

   private:
    friend class barrier;
    explicit arrival_token(std::uint32_t phase) noexcept : phase_(phase) {}
    std::uint32_t phase_;
  };

  /// The most arrivals a phase can expect.
  static constexpr std::ptrdiff_t(max)() noexcept { return 0x7FFFFFFF; }

  /// Each phase expects `expected` arrivals. Fails if that is negative or above max().
  explicit barrier(std::ptrdiff_t expected, CompletionFunction completion = CompletionFunction(),
                   wait_policy policy = wait_policy())
      : barrier(detail::first_phase{0}, expected, std::move(completion), policy) {}
  barrier(std::ptrdiff_t expected, wait_policy policy)
      : barrier(expected, CompletionFunction(), policy) {}
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;
  ~barrier() { detail::misuse::destroying(this, "lockstep::barrier"); }

  wait_policy policy() const noexcept { return policy_; }

  /// Makes `n` arrivals; runs the completion function if they are the last. Never blocks. Keep the
  /// token for the wait.
  /// Requires: 1 <= n <= the arrivals still expected in this phase (diagnosed in debug builds).
  arrival_token arrive(std::ptrdiff_t n = 1) {
    detail::sync_point();
    const std::uint32_t phase =
        phase_.load(detail::memory_order_relaxed) & ~detail::sleeping_bit;  // 1
    take_off(n);
    return arrival_token(phase);
  }

  /// Blocks until the phase of the token is over.
  void wait(arrival_token&& arrival, call_site where = {}) const {
    wait_until(arrival, deadline::never(), where);
  }

  /// As arrive(), then wait().
  void arrive_and_wait(call_site where = {}) { wait(arrive(), where); }

  /// Arrives. From the next phase on one arrival less is expected. When all have dropped, the barrier is of
  /// no more use, except for waits for the last phase.
  void arrive_and_drop() {
    dropped_.fetch_add(1, detail::memory_order_relaxed);  // 2
    take_off(1);
  }

  /// True if the phase of the token is over; never blocks.
  bool try_wait(const arrival_token& arrival) const noexcept {
    const std::uint32_t word = phase_.load(detail::memory_order_acquire);  // 7
    return (word & ~detail::sleeping_bit) != arrival.phase_;
  }

  /// As wait(), for at most `time`: ready or timed_out. After a time-out the arrival still counts; wait
  /// again.
  template <class Rep, class Period>
  wait_status wait_for(const arrival_token& arrival, std::chrono::duration<Rep, Period> time,
                       call_site where = {}) const {
    return wait_until(arrival, deadline::after(time), where);
  }
  wait_status wait_until(const arrival_token& arrival, deadline until, call_site where = {}) const {
    const bool is_over =
        try_wait(arrival) || detail::wait_for_end_of_phase(phase_, arrival.phase_, this,  // 7
                                                           remaining_, policy_, until, where);
    return is_over ? wait_status::ready : wait_status::timed_out;
  }

 protected:
  /// Phases wrap around at 2^31.
  barrier(detail::first_phase first, std::ptrdiff_t expected, CompletionFunction completion,
          wait_policy policy)
      : remaining_(detail::checked_arrivals(expected)),
        dropped_(0),
        expected_(static_cast<std::uint32_t>(expected)),
        completion_(std::move(completion)),
        phase_(first.value * one_),
        policy_(detail::policy_of_barrier(expected, policy)) {}

 private:
  static constexpr std::uint32_t one_ = 2;
  void take_off(std::ptrdiff_t n) {
    if (detail::misuse::diagnosed && (n < 1 || n > (max)())) {
      detail::report_arrivals(this, n, remaining_.load(detail::memory_order_relaxed));  // 8
    }
    const std::uint32_t count = static_cast<std::uint32_t>(n);
    const std::uint32_t before = remaining_.fetch_sub(count, detail::memory_order_acq_rel);  // 3
    if (detail::misuse::diagnosed && count > before) detail::report_arrivals(this, n, before);
    if (before == count) complete();
  }

  /// Runs on the last thread to arrive. The others use nothing but phase_ meanwhile. An exception would
  /// leave the phase neither ended nor running: noexcept makes it std::terminate.
  void complete() noexcept {
    completion_();
    detail::notify_point(&phase_);
    expected_ -= dropped_.load(detail::memory_order_relaxed);   // 4
    dropped_.store(0, detail::memory_order_relaxed);            // 4
    remaining_.store(expected_, detail::memory_order_relaxed);  // 5
    // Only this thread changes the number of the phase. The exchange clears the bit if it is set.
    const std::uint32_t next =
        (phase_.load(detail::memory_order_relaxed) | detail::sleeping_bit) + 1;     // 1
    const std::uint32_t old = phase_.exchange(next, detail::memory_order_release);  // 6
    detail::wake_sleepers(&phase_, old);
  }

  detail::line_gap before_;
  detail::wait_word remaining_;
  detail::wait_word dropped_;
  std::uint32_t expected_;
  CompletionFunction completion_;
  detail::line_gap between_;
  mutable detail::wait_word phase_;
  wait_policy policy_;
  detail::line_gap after_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_BARRIER_HPP
