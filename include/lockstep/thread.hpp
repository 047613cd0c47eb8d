// SPDX-License-Identifier: MIT
// lockstep/thread.hpp -- a thread whose join waits by policy, and may time out (layer: toolbox)
//
// The interface is that of std::jthread: the destructor requests a stop and joins. An exception that leaves the
// thread's function calls std::terminate, as for std::thread. There is no detach(): a thread that cannot be joined
// outlives what it uses, at the end of the program also the statics.
// Where the standard has std::jthread, the thread's function may take a std::stop_token first, and the object
// has request_stop(), get_stop_token() and get_stop_source(). Elsewhere the destructor only joins.
// For threads that work together again and again use team. Like std::thread, an object of this class is for
// one thread at a time: two threads must not join the same one at once.
//
//   THREAD-1  The done bit is set as the last thing before the thread's thread-local objects are destroyed.
//             join() waits for the bit by policy, then joins natively, which waits for those few destructors.
//   THREAD-2  A thread that cannot be started leaves nothing behind: std::system_error, as for std::thread.
//   THREAD-3  To join an empty object, or a thread by itself, is refused with std::system_error
//             (invalid_argument, resource_deadlock_would_occur) and changes nothing.
//   THREAD-4  Units compiled for different standards may pass an object to each other: what depends on the
//             standard is called through the heap block, and the unit that made the block has filled it in.
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
// Cost   that of std::thread: to start and join one takes 34 us (docs/performance.md, fork/join of 2). One heap block
//        beside the thread's own, with std::stop_token two. To join a thread that has ended: one load, native join.
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
#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/wait/sleeping_bit.hpp>
#include <lockstep/wait_policy.hpp>

#if defined(LOCKSTEP_SYSTEM_SEAM)
#include <lockstep/detail/platform/system.hpp>
#endif
#if defined(__cpp_lib_jthread)
#include <stop_token>
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
  // A std::stop_source, and what is done with it; null in a block of a unit that has none (THREAD-4).
  void (*request_stop)(thread_block&) = nullptr;
  void (*end_source)(thread_block&) = nullptr;
  alignas(void*) unsigned char source[2 * sizeof(void*)];
  system_thread thread;  // the last to be made

  template <class Body, class... Callable>
  thread_block(Body /*of the thread*/, wait_policy by, Callable&&... callable)
      : policy(by), thread(Body{&word}, std::forward<Callable>(callable)...) {}
  ~thread_block() {
    if (end_source != nullptr) end_source(*this);
  }
};

#if defined(__cpp_lib_jthread)

/// As thread_body, for a function that may take a std::stop_token first.
struct stoppable_body {
  wait_word* word;

  template <class Function, class... Arguments>
  void operator()(Function&& f, std::stop_token token, Arguments&&... arguments) const {
    const thread_body body{word};
    if constexpr (std::is_invocable_v<Function, std::stop_token, Arguments...>) {
      body(std::forward<Function>(f), std::move(token), std::forward<Arguments>(arguments)...);
    } else {
      body(std::forward<Function>(f), std::forward<Arguments>(arguments)...);
    }
  }
};

/// How a unit of this standard starts threads.
struct stoppable_start {
  template <class Function, class... Arguments>
  static thread_block* block(wait_policy by, Function&& f, Arguments&&... arguments) {
    static_assert(sizeof(std::stop_source) <= sizeof(thread_block::source), "it has room");
    std::stop_source source;
    thread_block* const made =
        new thread_block(stoppable_body(), by, std::forward<Function>(f), source.get_token(),
                         std::forward<Arguments>(arguments)...);
    ::new (static_cast<void*>(made->source)) std::stop_source(std::move(source));
    made->request_stop = [](thread_block& of) { source_of(of).request_stop(); };
    made->end_source = [](thread_block& of) { source_of(of).~stop_source(); };
    return made;
  }
  static std::stop_source& source_of(thread_block& of) noexcept {
    return *static_cast<std::stop_source*>(static_cast<void*>(of.source));
  }
};
using thread_start = stoppable_start;

#else

struct plain_start {
  template <class... Callable>
  static thread_block* block(wait_policy by, Callable&&... callable) {
    return new thread_block(thread_body(), by, std::forward<Callable>(callable)...);
  }
};
using thread_start = plain_start;

#endif

}  // namespace detail

/// Runs a function on a thread of its own; its destructor joins.
class joinable_thread {
 public:
  using id = std::thread::id;

  /// No thread.
  joinable_thread() noexcept = default;

  /// Starts a thread that calls f(arguments...) on copies of its own, as std::thread does; or
  /// f(token, arguments...) if it can be called so, as std::jthread does.
  // The last parameter makes the constructors of different standards different functions (THREAD-4).
  template <class Function, class... Arguments,
            class Start = typename std::enable_if<
                !std::is_same<typename std::decay<Function>::type, joinable_thread>::value &&
                    !std::is_same<typename std::decay<Function>::type, wait_policy>::value,
                detail::thread_start>::type>
  explicit joinable_thread(Function&& f, Arguments&&... arguments)
      : joinable_thread(wait_policy(), std::forward<Function>(f),
                        std::forward<Arguments>(arguments)...) {}

  /// The same, to be joined by `policy`.
  template <class Function, class... Arguments, class Start = detail::thread_start>
  joinable_thread(wait_policy policy, Function&& f, Arguments&&... arguments)
      : block_(Start::block(policy, std::forward<Function>(f),
                            std::forward<Arguments>(arguments)...)) {}

  joinable_thread(joinable_thread&& other) noexcept : block_(other.block_) {
    other.block_ = nullptr;
  }
  /// Stops and joins the thread that it had, if any.
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

#if defined(__cpp_lib_jthread)
  /// Asks the thread's function to return. False if it was asked before, or if there is none to ask: no
  /// thread, or one that a unit of an older standard has started.
  bool request_stop() noexcept { return get_stop_source().request_stop(); }
  std::stop_token get_stop_token() const noexcept { return get_stop_source().get_token(); }
  std::stop_source get_stop_source() const noexcept {
    const bool has_source = joinable() && block_->request_stop != nullptr;
    return has_source ? detail::stoppable_start::source_of(*block_)
                      : std::stop_source(std::nostopstate);
  }
#endif

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
