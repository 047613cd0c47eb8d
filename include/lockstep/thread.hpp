// SPDX-License-Identifier: MIT
// lockstep/thread.hpp -- a thread whose join waits by policy, and may time out (layer: toolbox)
//
// The interface is that of std::thread, but the destructor joins. An exception that leaves the thread's function calls
// std::terminate, as for std::thread. There is no detach(): a thread that cannot be joined outlives what it uses, at
// the end of the program also the statics.
// For threads that work together again and again use team. Like std::thread, an object of this class is for
// one thread at a time: two threads must not join the same one at once.
//
//   THREAD-1  The done bit is set as the last thing before the thread's thread-local objects are destroyed.
//             join() waits for the bit by policy, then joins natively, which waits for those few destructors.
//   THREAD-2  A thread that cannot be started leaves nothing behind: std::system_error, as for std::thread.
//   THREAD-3  An empty object cannot be joined, nor can a thread join itself: std::system_error (invalid_argument,
//             resource_deadlock_would_occur), and nothing has changed.
//
//   word: bits  name      meaning                      set by                         cleared by
//         0     sleeping  the joiner may be asleep     the joiner                     -
//         1     done      the function has returned    the thread, at its end         -
// Legal to be set too long: sleeping (nobody looks at it once the thread is done).
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access          order    pairs     why it suffices
//   1  word.fetch_or   relaxed  -         ends the wait; the native join after it orders what the thread did
//
// Order  everything the thread did happens before the return of join(), or of a join_for() that says ready.
// Errors a thread that cannot be started, a join without a thread, a join by the thread itself: std::system_error
//        (THREAD-2, THREAD-3).
// Cost   that of std::thread: to start and join one takes 42 us (docs/performance.md, fork/join of 2). One heap block
//        beside the thread's own. To join a thread that has ended: one load, native join.
// Example
//   lockstep::joinable_thread worker([] { std::puts("hello"); });
//   if (worker.join_for(std::chrono::seconds(1)) == lockstep::wait_status::timed_out) std::puts("still at it");
#ifndef LOCKSTEP_THREAD_HPP
#define LOCKSTEP_THREAD_HPP

#include <chrono>
#include <cstdint>
#include <functional>
#include <new>
#include <thread>
#include <type_traits>
#include <utility>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/observe/observers.hpp>
#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/wait/waiters.hpp>
#include <lockstep/wait_policy.hpp>

#if defined(LOCKSTEP_SYSTEM_SEAM)
#include <lockstep/detail/platform/this_thread.hpp>
#endif

#if !LOCKSTEP_HAS_STANDARD_THREADS
#error \
    "lockstep/thread.hpp needs std::thread, which this C++ library has not: with MinGW, take POSIX threads"
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

constexpr std::uint32_t thread_is_done = 2;

/// Sets the done bit also where the system ends the thread by unwinding it (pthread_exit).
struct end_of_thread {
  wait_word& word;
  ~end_of_thread() {
    detail::wake_sleepers(&word, word.fetch_or(thread_is_done, memory_order_relaxed));  // 1
  }
};

/// What the new thread calls, with its own copies of function and arguments.
struct thread_body {
  wait_word* word;

  template <class Function, class... Arguments>
  void operator()(Function&& f, Arguments&&... arguments) const {
    if (LOCKSTEP_UNLIKELY(observers() != 0)) note_thread(word);
    const end_of_thread at_end{*word};
    call(std::forward<Function>(f), std::forward<Arguments>(arguments)...);
  }

  // As std::invoke, which C++17 has.
  template <class Function, class... Arguments>
  static void call(Function&& f, Arguments&&... arguments) {
    std::forward<Function>(f)(std::forward<Arguments>(arguments)...);
  }
  template <class Class, class Member, class... Arguments>
  static void call(Member Class::* f, Arguments&&... arguments) {
    std::mem_fn(f)(std::forward<Arguments>(arguments)...);
  }
};

#if !defined(LOCKSTEP_SYSTEM_SEAM)
using system_thread = std::thread;  // a part of the system's seam
#endif

/// What a joinable_thread owns: joined before it is freed, so that the thread may use it to its end.
struct thread_block {
  wait_word word{0};
  const wait_policy policy;
  system_thread thread;  // the last to be made

  template <class... Callable>
  explicit thread_block(wait_policy by, Callable&&... callable)
      : policy(by), thread(thread_body{&word}, std::forward<Callable>(callable)...) {}
};

}  // namespace detail

/// Runs a function on a thread of its own; its destructor joins.
class joinable_thread {
 public:
  using id = std::thread::id;

  /// No thread.
  joinable_thread() noexcept = default;

  /// Starts a thread that calls f(arguments...) on copies of its own, as std::thread does.
  template <class Function, class... Arguments,
            class = typename std::enable_if<
                !std::is_same<typename std::decay<Function>::type, joinable_thread>::value &&
                !std::is_same<typename std::decay<Function>::type, wait_policy>::value>::type>
  explicit joinable_thread(Function&& f, Arguments&&... arguments)
      : joinable_thread(wait_policy(), std::forward<Function>(f),
                        std::forward<Arguments>(arguments)...) {}

  /// The same, to be joined by `policy`.
  template <class Function, class... Arguments>
  joinable_thread(wait_policy policy, Function&& f, Arguments&&... arguments)
      : block_(new detail::thread_block(policy, std::forward<Function>(f),
                                        std::forward<Arguments>(arguments)...)) {}

  joinable_thread(joinable_thread&& other) noexcept : block_(other.block_) {
    other.block_ = nullptr;
  }
  /// Joins the thread that it had, if any.
  joinable_thread& operator=(joinable_thread&& other) noexcept {
    if (this == &other) return *this;
    end();
    std::swap(block_, other.block_);
    return *this;
  }
  ~joinable_thread() { end(); }

  void swap(joinable_thread& other) noexcept { std::swap(block_, other.block_); }

  /// True until the thread has been joined.
  bool joinable() const noexcept { return block_ != nullptr; }
  /// That of no thread if not joinable().
  id get_id() const noexcept { return joinable() ? block_->thread.get_id() : id(); }

  /// Blocks until the thread has ended. See THREAD-3.
  void join(call_site where = {}) { join_until(deadline::never(), where); }

  /// As join(), for at most `time` (but see THREAD-1): ready if joined, timed_out if it still runs.
  template <class Rep, class Period>
  wait_status join_for(std::chrono::duration<Rep, Period> time, call_site where = {}) {
    return join_until(deadline::after(time), where);
  }
  wait_status join_until(deadline until, call_site where = {});

 private:
  struct is_done;

  void end();

  detail::thread_block* block_ = nullptr;  // owned
};

inline void swap(joinable_thread& a, joinable_thread& b) noexcept { a.swap(b); }

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_THREAD_HPP
