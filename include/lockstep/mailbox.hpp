// SPDX-License-Identifier: MIT
// lockstep/mailbox.hpp -- calls queued to a thread, which runs them when it chooses (layer: toolbox)
//
// Any thread posts a call. One thread, the owner, runs the calls: when it chooses (run_pending), or while it waits.
// Calls of one poster run in the order of their posts. post() never blocks, allocates nothing, and is lock-free: a
// poster that is stopped in the middle holds up the calls behind its own, but no other poster. Not for many threads
// that share the work; for a bare notification use event.
//
//   MAILBOX-3  After terminate() no post succeeds. The owner's next waits still run the calls posted before,
//              and say "terminated" only when none is left. The destructor destroys the calls that never ran.
//   MAILBOX-4  A call is out of its slot before it runs. It may post, call run_pending(), and throw; an
//              exception leaves by the owner's function, and the calls behind it stay queued. It must not
//              destroy the mailbox.
// How calls are queued: src/toolbox/mailbox.cpp.
// Lifetime: destroy only after every post() and terminate() has returned.
//
// Order  what happens before post() happens before the call runs; what happens before terminate(), before the
//        return of a wait that says terminated.
// Errors a bad capacity: std::invalid_argument. A full or terminated mailbox: post() returns false. Closures
//        above 48 bytes are refused by the compiler. An exception of a call leaves the owner's function.
// Cost   post: one RMW on the line of tail_, one line of the slot; no system call unless the owner
//        sleeps. run: one line a call, no read-modify-write. 64 bytes a slot.
// Example
//   lockstep::mailbox calls(16);
//   lockstep::joinable_thread owner([&] {
//     while (calls.wait_and_run()) {
//     }
//   });
//   calls.post([] { std::puts("on the owner"); });
//   calls.terminate();
// Source [VYUKOV] bounded MPMC queue, with a single consumer.
#ifndef LOCKSTEP_MAILBOX_HPP
#define LOCKSTEP_MAILBOX_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/wait/waiters.hpp>
#include <lockstep/wait_policy.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// A queue of calls that many threads post and one thread runs.
class mailbox {
 public:
  /// The largest closure that fits a slot. Capture pointers or references to more.
  static constexpr std::size_t closure_size = 48;

  /// Room for `capacity` calls, rounded up to a power of two, at least 2. Fails if it is 0 or above
  /// 65536.
  explicit mailbox(std::size_t capacity, wait_policy policy = wait_policy());
  ~mailbox();
  mailbox(const mailbox&) = delete;
  mailbox& operator=(const mailbox&) = delete;

  std::size_t capacity() const noexcept;
  wait_policy policy() const noexcept;

  /// Queues f() for the owner; false, and f is as it was, if the mailbox is full or terminated. Any
  /// thread may call it, also from inside a posted call.
  template <class Function>
  bool post(Function&& f) {
    using closure = typename std::decay<Function>::type;
    static_assert(
        sizeof(closure) <= closure_size,
        "lockstep::mailbox::post: the closure is larger than 48 bytes; capture a pointer");
    static_assert(alignof(closure) <= alignof(std::max_align_t),
                  "lockstep::mailbox::post: the closure needs more alignment than a slot has");
    static_assert(std::is_nothrow_move_constructible<closure>::value,
                  "lockstep::mailbox::post: the closure must be movable without exceptions");
    return post_as<closure>(std::forward<Function>(f),
                            std::is_nothrow_constructible<closure, Function&&>());
  }

  // What follows is for the owner, one thread.

  /// Runs the calls that are there now, in order, and returns how many; never blocks. What these calls post is left for
  /// the next time.
  std::size_t run_pending();

  /// Blocks until a call is there, then runs what is there; false once terminated and empty.
  bool wait_and_run(call_site where = {}) {
    return wait_and_run_until(deadline::never(), where) == wait_status::ready;
  }

  /// The same, but waits for at most `time`.
  template <class Rep, class Period>
  wait_status wait_and_run_for(std::chrono::duration<Rep, Period> time, call_site where = {}) {
    return wait_and_run_until(deadline::after(time), where);
  }
  wait_status wait_and_run_until(deadline until, call_site where = {});

  /// Runs calls as they come, one by one, until done(). Asks done() before each call; only calls may change
  /// its answer. Returns false if terminated and empty before done().
  template <class Predicate>
  bool serve_until(Predicate done, call_site where = {}) {
    while (!done()) {
      if (wait_for_call(deadline::never(), where) != wait_status::ready) return false;
      run_next();
    }
    return true;
  }

  /// From now on no post succeeds, and the owner does not block. Any thread may call it. See MAILBOX-3.
  void terminate();
  bool terminated() const noexcept;

 protected:
  /// Positions wrap around at 2^31.
  mailbox(detail::first_phase position, std::size_t capacity, wait_policy policy);

 private:
  struct queue;
  enum class fate { run, destroyed };

  /// Room for a closure; it belongs to the poster until publish(). Null: the mailbox is full or terminated.
  struct place {
    void* closure;
    std::uint32_t position;
  };
  using taker = void (*)(mailbox& owner, const place& from, fate then);

  place claim() noexcept;
  void publish(const place& mine, taker take);
  /// Frees a place, whose closure was moved out and destroyed.
  void give_back(const place& from) noexcept;
  wait_status wait_for_call(deadline until, call_site where);
  /// Requires: a call is posted. See MAILBOX-4.
  void run_next();

  template <class Closure, class Function>
  bool post_as(Function&& f, std::true_type /*cannot throw*/) {
    const place mine = claim();
    if (mine.closure == nullptr) return false;
    ::new (mine.closure) Closure(std::forward<Function>(f));
    publish(mine, &take_as<Closure>);
    return true;
  }
  /// Copies first: a copy that throws while its poster holds a position would leave the position empty.
  template <class Closure, class Function>
  bool post_as(const Function& f, std::false_type) {
    return post_as<Closure>(Closure(f), std::true_type());
  }

  template <class Closure>
  static void take_as(mailbox& owner, const place& from, fate then) {
    Closure* const stored = static_cast<Closure*>(from.closure);
    Closure call(std::move(*stored));
    stored->~Closure();
    owner.give_back(from);
    if (then == fate::run) call();
  }

  queue* const queue_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_MAILBOX_HPP
