// SPDX-License-Identifier: MIT
// lockstep/thread.hpp -- a thread whose join waits by policy, and may time out (layer: team)
//
// std::thread's shape, and std::jthread's destructor: it joins. Everything the thread did happens before
// the return of join(), or of a join_for() that says ready. An exception that leaves the thread's
// function calls std::terminate, as for std::thread. There is no detach(): a thread that nobody can wait
// for outlives what it uses, and at the end of the program the statics too.
// For threads that work together again and again use team. Like std::thread, an object of this class is
// for one thread at a time: two may not join the same one at once.
//
//   J1  The done bit is set as the last thing before the thread's thread-local objects are destroyed;
//       join() waits for the bit by policy, then joins natively, which waits for those few destructors.
//   J2  A thread that cannot be started leaves nothing behind: std::system_error, as for std::thread.
//   J3  Joining an empty object, or a thread by itself, is refused with std::system_error
//       (invalid_argument, resource_deadlock_would_occur) and changes nothing.
//
//   word      bit 1 done   bit 0 sleeping
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access          order    pairs     why it suffices
//   1  word.fetch_or   relaxed  -         ends the wait; the native join after it orders what the thread did
//
// Cost   one heap block beside the thread's own; join of a thread that has ended: one load, native join.
#ifndef LOCKSTEP_THREAD_HPP
#define LOCKSTEP_THREAD_HPP

#include <functional>
#include <memory>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

#include "detail/platform/error.hpp"
#include "detail/platform/system.hpp"
#include "detail/platform/system_thread.hpp"
#include "detail/wait/word_waiter.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

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
      : shared_(
            new shared(policy, std::forward<Function>(f), std::forward<Arguments>(arguments)...)) {}

  joinable_thread(joinable_thread&&) noexcept = default;
  /// Joins the thread that it had, if any.
  joinable_thread& operator=(joinable_thread&& other) noexcept {
    if (this == &other) return *this;
    if (joinable()) join();
    shared_ = std::move(other.shared_);
    return *this;
  }
  ~joinable_thread() {
    if (joinable()) join();
  }

  void swap(joinable_thread& other) noexcept { shared_.swap(other.shared_); }

  /// True until the thread has been joined.
  bool joinable() const noexcept { return shared_ != nullptr; }
  /// That of no thread if not joinable().
  id get_id() const noexcept { return joinable() ? shared_->thread.get_id() : id(); }

  /// Blocks until the thread has ended. See J3.
  void join() { join_until(deadline::never()); }

  /// As join(), for at most `time` (but see J1): ready if joined, timed_out if it still runs.
  template <class Rep, class Period>
  wait_status join_for(std::chrono::duration<Rep, Period> time) {
    return join_until(deadline::after(time));
  }
  template <class Clock, class Duration>
  wait_status join_until(std::chrono::time_point<Clock, Duration> point) {
    return join_until(deadline::at(point));
  }
  wait_status join_until(deadline until) {
    check_joinable();
    detail::word_waiter<is_done> end(shared_->word, is_done());
    if (!detail::wait_engine::wait(end, shared_->policy, detail::this_thread_history(), until,
                                   detail::wait_engine::single_yield_time))
      return wait_status::timed_out;
    shared_->thread.join();
    shared_.reset();
    return wait_status::ready;
  }

 private:
  static constexpr std::uint32_t done_ = 2;

  struct is_done {
    bool operator()(std::uint32_t word) const noexcept { return (word & done_) != 0; }
  };

  /// Sets the bit also where the system ends the thread by unwinding it (pthread_exit).
  struct end_of_thread {
    detail::wait_word& word;
    ~end_of_thread() {
      const std::uint32_t old = word.fetch_or(done_, detail::memory_order_relaxed);  // 1
      if ((old & 1u) != 0) detail::futex_wake_all(&word);
    }
  };

  /// What the new thread calls, with its own copies of function and arguments.
  struct body {
    detail::wait_word* word;

    template <class Function, class... Arguments>
    void operator()(Function&& f, Arguments&&... arguments) const {
      const end_of_thread at_end{*word};
      call(std::is_member_pointer<typename std::decay<Function>::type>(), std::forward<Function>(f),
           std::forward<Arguments>(arguments)...);
    }

   private:
    // std::invoke is C++17's.
    template <class Function, class... Arguments>
    static void call(std::true_type /*member pointer*/, Function&& f, Arguments&&... arguments) {
      std::mem_fn(f)(std::forward<Arguments>(arguments)...);
    }
    template <class Function, class... Arguments>
    static void call(std::false_type, Function&& f, Arguments&&... arguments) {
      std::forward<Function>(f)(std::forward<Arguments>(arguments)...);
    }
  };

  /// Joined before it is freed, so that the thread may use it to its end.
  struct shared {
    detail::wait_word word;
    wait_policy policy;
    detail::system_thread thread;  // the last to be made

    template <class... Callable>
    explicit shared(wait_policy by, Callable&&... callable)
        : word(0), policy(by), thread(body{&word}, std::forward<Callable>(callable)...) {}
  };

  struct no_thread : std::system_error {
    explicit no_thread(const char* message)
        : std::system_error(std::make_error_code(std::errc::invalid_argument), message) {}
  };
  struct own_thread : std::system_error {
    explicit own_thread(const char* message)
        : std::system_error(std::make_error_code(std::errc::resource_deadlock_would_occur),
                            message) {}
  };

  void check_joinable() const {
    if (!joinable()) {
      detail::fail<no_thread>("lockstep::joinable_thread: join without a thread");
    }
    if (get_id() == std::this_thread::get_id()) {
      detail::fail<own_thread>("lockstep::joinable_thread: a thread cannot join itself");
    }
  }

  std::unique_ptr<shared> shared_;
};

inline void swap(joinable_thread& a, joinable_thread& b) noexcept { a.swap(b); }

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_THREAD_HPP
