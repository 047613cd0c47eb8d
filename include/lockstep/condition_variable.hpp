// SPDX-License-Identifier: MIT
// lockstep/condition_variable.hpp -- waiting under a lock until another thread says so (layer: sync)
//
// std::condition_variable_any by its operations, but without spurious wake-ups: wait() returns only for a notification
// that came after it, at its deadline, or for a stop request. (The predicate may be false again, because another thread
// was faster: use the forms that take one.) Works with any BasicLockable. Notified threads take the lock one by one: with
// lockstep::mutex they move to the mutex's queue; with others each wakes the next when it has got the lock.
// To wait for one thing that happens once, latch, eventual and the events need no lock and are faster.
//
// Memory order (# marks the line)
//   #  access          order    pairs  why it suffices
//   1  word.load       acquire  -      with 2 of condition_variable.cpp. A waiter has counted itself before it gave up the
//                                      lock under which the notifier changed the predicate; at zero, the threads that
//                                      left have done so (CONDITION-5)
//   2  word.load       relaxed  -      for the diagnosis: nobody else uses it then
//
// Order  that of the lock: what the notifier did before its unlock happens before the return of a wait that locks after
//        it. A notification without the lock orders nothing.
// Errors what lock(), unlock() and the predicate throw leaves wait() (CONDITION-6). A std::unique_lock that does not own:
//        std::system_error. Two mutexes at a time: undefined; debug builds end the program.
// Cost   notify with no thread waiting: one load. wait: a queue operation and the lock's own; no system call
//        unless it sleeps. A broadcast between 2 threads takes 182 ns (decision 0018); one to 64 threads that queue for
//        one mutex on 2 CPUs 39 us (decision 0011). With a stop token, in addition: to register a callback. 8 bytes.
// Example
//   lockstep::mutex lock;
//   lockstep::condition_variable changed;
//   bool is_ready = false;
//   lockstep::joinable_thread other([&] {
//     const std::lock_guard<lockstep::mutex> held(lock);
//     is_ready = true;
//     changed.notify_one();
//   });
//   std::unique_lock<lockstep::mutex> held(lock);
//   changed.wait(held, [&] { return is_ready; });
// Source src/sync/condition_variable.cpp.
#ifndef LOCKSTEP_CONDITION_VARIABLE_HPP
#define LOCKSTEP_CONDITION_VARIABLE_HPP

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#if __cplusplus >= 202002L
#include <version>
#endif
#if defined(__cpp_lib_jthread)
#include <stop_token>
#endif

#include <lockstep/call_site.hpp>
#include <lockstep/detail/observe/observers.hpp>
#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/wait/misuse.hpp>
#include <lockstep/mutex.hpp>
#include <lockstep/wait_policy.hpp>

#if !LOCKSTEP_HAS_STANDARD_THREADS
#error \
    "lockstep/condition_variable.hpp needs std::cv_status, which this C++ library has not: with MinGW, take POSIX threads"
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// How a function is called once a stop is requested. Only tokens that users may pass have `known`.
template <class Token>
struct stop_tokens {};

#if defined(__cpp_lib_jthread)
template <>
struct stop_tokens<std::stop_token> {
  using known = void;
  template <class Function>
  using callback = std::stop_callback<Function>;
};
#endif

/// For waits without a token.
struct no_stop_token {};
template <>
struct stop_tokens<no_stop_token> {
  template <class Function>
  struct callback {
    callback(no_stop_token, const Function&) noexcept {}
  };
};

}  // namespace detail

/// Lets threads that hold a lock wait, without it, until another thread notifies them.
class condition_variable {
 public:
  explicit constexpr condition_variable(wait_policy policy = wait_policy()) noexcept
      : word_(0), policy_(policy) {}
  ~condition_variable() {
    if (!detail::misuse::diagnosed || word_.load(detail::memory_order_relaxed) == 0) return;  // 2
    detail::misuse::destroying(this, "lockstep::condition_variable",
                               detail::misuse::role::condition_waiter);
  }
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;

  /// Releases the thread that has waited longest. The caller need not hold the lock.
  void notify_one() { notify(1); }
  /// Releases every thread that waits now.
  void notify_all() { notify(~std::uint32_t{0}); }

  /// Gives `lock` up, waits for a notification, takes `lock` again. Requires: the thread holds `lock`.
  /// A std::unique_lock that does not own throws std::system_error, operation_not_permitted.
  template <class Lock>
  void wait(Lock& lock, call_site where = {}) {
    block(lock, deadline::never(), detail::no_stop_token(), where);
  }
  template <class Lock, class Predicate>
  void wait(Lock& lock, Predicate predicate, call_site where = {}) {
    while (!predicate()) wait(lock, where);
  }
  /// As wait(), for at most `time`, and then until it has `lock` again.
  template <class Lock, class Rep, class Period>
  std::cv_status wait_for(Lock& lock, std::chrono::duration<Rep, Period> time,
                          call_site where = {}) {
    return wait_until(lock, deadline::after(time), where);
  }
  template <class Lock, class Rep, class Period, class Predicate>
  bool wait_for(Lock& lock, std::chrono::duration<Rep, Period> time, Predicate predicate,
                call_site where = {}) {
    return wait_until(lock, deadline::after(time), predicate, where);
  }
  template <class Lock>
  std::cv_status wait_until(Lock& lock, deadline until, call_site where = {}) {
    return block(lock, until, detail::no_stop_token(), where) ? std::cv_status::no_timeout
                                                              : std::cv_status::timeout;
  }
  /// Returns what the predicate says in the end.
  template <class Lock, class Predicate>
  bool wait_until(Lock& lock, deadline until, Predicate predicate, call_site where = {}) {
    while (!predicate()) {
      if (!block(lock, until, detail::no_stop_token(), where)) return predicate();
    }
    return true;
  }

  /// The same with a std::stop_token (C++20): also returns, with what the predicate says, once a stop is requested.
  template <class Lock, class StopToken, class Predicate,
            class = typename detail::stop_tokens<StopToken>::known>
  bool wait(Lock& lock, StopToken token, Predicate predicate, call_site where = {}) {
    return wait_until(lock, token, deadline::never(), predicate, where);
  }
  template <class Lock, class StopToken, class Rep, class Period, class Predicate,
            class = typename detail::stop_tokens<StopToken>::known>
  bool wait_for(Lock& lock, StopToken token, std::chrono::duration<Rep, Period> time,
                Predicate predicate, call_site where = {}) {
    return wait_until(lock, token, deadline::after(time), predicate, where);
  }
  template <class Lock, class StopToken, class Predicate,
            class = typename detail::stop_tokens<StopToken>::known>
  bool wait_until(Lock& lock, StopToken token, deadline until, Predicate predicate,
                  call_site where = {}) {
    while (!token.stop_requested()) {
      if (predicate()) return true;
      if (!block(lock, until, token, where)) break;
    }
    return predicate();
  }

  wait_policy policy() const noexcept { return policy_; }

 private:
  struct waiter;
  struct taken_out;
  struct passes_on;

  /// What a wait does with the user's lock and token.
  struct calls {
    void* lock;
    const void* token;
    mutex* target;  ///< null: another kind of lock
    void (*take)(void* lock);
    void (*leave)(void* lock);
    /// Tells the lock object that this thread has its mutex again.
    void (*adopt)(void* lock);
    /// Calls go_on(self). A stop request that comes meanwhile calls stop(self).
    bool (*until_stopped)(const calls& by, waiter& self, bool (*go_on)(const calls&, waiter&));
  };
  template <class Lock, class Token>
  struct calls_of {
    static Lock& at(void* lock) noexcept { return *static_cast<Lock*>(lock); }
    static void take(void* lock) { at(lock).lock(); }
    static void leave(void* lock) { at(lock).unlock(); }
    static void adopt(void* lock) { condition_variable::adopt(at(lock)); }
    static bool until_stopped(const calls& by, waiter& self, bool (*go_on)(const calls&, waiter&)) {
      using callback = typename detail::stop_tokens<Token>::template callback<stopper>;
      const callback on_stop(*static_cast<const Token*>(by.token), stopper{&self});
      return go_on(by, self);
    }
  };

  static mutex* target_of(mutex& lock) noexcept { return &lock; }
  static mutex* target_of(std::unique_lock<mutex>& lock) noexcept { return lock.mutex(); }
  template <class Lock>
  static mutex* target_of(Lock&) noexcept {
    return nullptr;
  }

  static void adopt(std::unique_lock<mutex>& lock) {
    mutex* const owned = lock.release();
    lock = std::unique_lock<mutex>(*owned, std::adopt_lock);
  }
  template <class Lock>
  static void adopt(Lock&) noexcept {}

  template <class Mutex>
  static bool is_owner(const std::unique_lock<Mutex>& lock) noexcept {
    return lock.owns_lock();
  }
  template <class Lock>
  static bool is_owner(const Lock&) noexcept {
    return true;  // it cannot be asked
  }

  /// Releases a waiter because of a stop request, on the thread that makes the request.
  struct stopper {
    waiter* stopped;
    void operator()() const noexcept { stop(*stopped); }
  };
  static void stop(waiter& stopped) noexcept;

  /// One wait; false if it came to its deadline or was stopped.
  template <class Lock, class StopToken>
  bool block(Lock& lock, deadline until, const StopToken& token, call_site where) {
    if (!is_owner(lock)) lock.unlock();  // throws
    using of = calls_of<Lock, StopToken>;
    const calls by = {&lock,      &token,     target_of(lock),   &of::take,
                      &of::leave, &of::adopt, &of::until_stopped};
    return wait_slowly(by, until, where);
  }
  bool wait_slowly(const calls& by, deadline until, call_site where);
  static bool unlock_and_wait(const calls& by, waiter& self);

  void notify(std::uint32_t most) {
    detail::notify_point(this);
    // Those that begin to wait while we work are not ours to notify (CONDITION-4).
    const std::uint32_t there = word_.load(detail::memory_order_acquire);  // 1
    if (there != 0) notify_slowly(there < most ? there : most);
  }
  void notify_slowly(std::uint32_t wanted);
  void unlock(const calls& by, waiter& self);
  void withdraw(waiter& self);
  bool leave(waiter& self);

  detail::wait_word word_;
  wait_policy policy_;
};

static_assert(sizeof(condition_variable) == 8, "a word of state and a policy");

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_CONDITION_VARIABLE_HPP
