// SPDX-License-Identifier: MIT
// lockstep/mailbox.hpp -- calls queued to a thread, which runs them when it chooses (layer: sync)
//
// Any thread posts a call. One thread, the owner, runs the calls: at a point of its choice (run_pending), or
// while it waits. Calls of one poster run in the order of their posts. post() never blocks, allocates nothing, and is lock-free: a poster that is stopped in
// the middle holds up the calls behind its own, but no other poster.
// Not for many threads that share the work; for a bare notification use event.
//
// Invariants, positions counted modulo 2^31, capacity C (a power of two, at least 2)
//   MAILBOX-1  head_ <= tail <= head_ + C. A position is given once, to the poster that moves tail_.
//   MAILBOX-2  A slot's sequence is p (free for the poster of position p), then p + 1 (holds the call of
//              position p), then p + C. A poster writes the slot only while it is p, the owner only while it
//              is p + 1.
//   MAILBOX-3  After terminate() no post succeeds. The owner's next waits still run the calls posted before,
//              and say "terminated" only when none is left. The destructor destroys the calls that never ran.
//   MAILBOX-4  A call is out of its slot before it runs. It may post, call run_pending(), and throw; an
//              exception leaves by the owner's function, and the calls behind it stay queued. It must not
//              destroy the mailbox.
// Lifetime: by structure; destroy only after every post() and terminate() has returned.
//
//   tail_:     bits  name        meaning                            set by                  cleared by
//              0     terminated  no post succeeds any more          terminate               -
//              1..   tail        the next position to give, mod 2^31  a poster, by CAS, +1  -
//   sequence:  0     -           always 0
//              1..   sequence    MAILBOX-2                          poster, then owner      -
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access              order    pairs  why it suffices
//   1  tail.load           relaxed  -      a guess, which 3 tests; or a bound for one run
//   2  sequence.load       acquire  6      the owner has taken the old call out
//   3  tail.compare_exch   relaxed  -      gives positions; the data is ordered by 2 and 4
//   4  sequence.store      release  5      the owner sees the call, and what came before the post
//   5  sequence.load       acquire  4      the other half
//   6  sequence.store      release  2      the next poster writes after the owner has read
//   7  tail.fetch_or       release  8      the owner sees what came before terminate()
//   8  tail.load           acquire  7      the other half
//   9  sequence.store      relaxed  -      before the mailbox is given to other threads
//
// The store 4 (or the change 7) and the look at the mark that follows are the notifier's side of
// published_words.hpp; ready() after the announcement is the sleeper's side.
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
#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/error.hpp>
#include <lockstep/detail/wait/misuse.hpp>
#include <lockstep/detail/wait/published_words.hpp>
#include <lockstep/detail/wait/wait_engine.hpp>
#include <lockstep/detail/wait/word_waiter.hpp>
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
  explicit mailbox(std::size_t capacity, wait_policy policy = wait_policy())
      : mailbox(detail::first_phase{0}, capacity, policy) {}
  ~mailbox() {
    detail::misuse::destroying(this, "lockstep::mailbox");
    while (is_posted(head_)) take_next(fate::destroyed);
  }
  mailbox(const mailbox&) = delete;
  mailbox& operator=(const mailbox&) = delete;

  std::size_t capacity() const noexcept { return slots_.size(); }
  wait_policy policy() const noexcept { return policy_; }

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

  /// Runs the calls that are there now, in order, and returns how many; never blocks. A call that posts
  /// again does not prolong it: that call is left for the next time.
  std::size_t run_pending() {
    const std::uint32_t end = tail_.load(detail::memory_order_relaxed) & ~terminated_;  // 1
    std::size_t count = 0;
    // A call may have called run_pending() itself: head_ may be beyond `end`.
    while (static_cast<std::int32_t>(end - head_) > 0 && is_posted(head_)) {
      take_next(fate::run);
      ++count;
    }
    return count;
  }

  /// Blocks until a call is there, then runs what is there; false once terminated and empty.
  bool wait_and_run(call_site where = {}) {
    return wait_and_run_until(deadline::never(), where) == wait_status::ready;
  }

  /// The same, but waits for at most `time`.
  template <class Rep, class Period>
  wait_status wait_and_run_for(std::chrono::duration<Rep, Period> time, call_site where = {}) {
    return wait_and_run_until(deadline::after(time), where);
  }
  wait_status wait_and_run_until(deadline until, call_site where = {}) {
    const wait_status status = wait_for_call(until, where);
    if (status == wait_status::ready) run_pending();
    return status;
  }

  /// Runs calls as they come, one by one, until done(). Asks done() before each call; only calls may change
  /// its answer. Returns false if terminated and empty before done().
  template <class Predicate>
  bool serve_until(Predicate done, call_site where = {}) {
    while (!done()) {
      if (wait_for_call(deadline::never(), where) != wait_status::ready) return false;
      take_next(fate::run);
    }
    return true;
  }

  /// From now on no post succeeds, and the owner does not block. Any thread may call it. See MAILBOX-3.
  void terminate() {
    tail_.fetch_or(terminated_, detail::memory_order_release);  // 7
    mark_.notify(detail::fence_payer_of(policy_));
  }
  bool terminated() const noexcept {
    return (tail_.load(detail::memory_order_acquire) & terminated_) != 0;  // 8
  }

 protected:
  /// Positions wrap around at 2^31.
  mailbox(detail::first_phase position, std::size_t capacity, wait_policy policy)
      : slots_(round_up(detail::checked_count("lockstep::mailbox", "slots", capacity))),
        policy_(policy),
        head_(position.value * one_) {
    detail::process_fence::prepare();
    tail_.store(head_, detail::memory_order_relaxed);  // 9
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const std::uint32_t at = head_ + static_cast<std::uint32_t>(i) * one_;
      slot_of(at).sequence.store(at, detail::memory_order_relaxed);  // 9
    }
  }

 private:
  static constexpr std::uint32_t terminated_ = 1, one_ = 2;

  enum class fate { run, destroyed };

  struct slot {
    detail::wait_word sequence{0};
    void (*take)(mailbox&, std::uint32_t, fate) = nullptr;
    alignas(std::max_align_t) unsigned char closure[closure_size];

    slot() noexcept {}
  };

  /// What the wait engine looks at.
  struct call_or_end {
    mailbox& owner;
    detail::source_place where;

    bool ready() const noexcept { return owner.is_posted(owner.head_) || owner.is_over(); }
    void sleep(deadline until) {
      owner.mark_.sleep(*this, until, detail::fence_payer_of(owner.policy_));
    }
    void describe(detail::wait_subject& to) const noexcept {
      to.object = &owner;
      to.sleeps_on = &owner.mark_;
      to.kind = detail::wait_kind::mailbox;
      to.where = where;
    }
  };

  static std::size_t round_up(std::size_t capacity) noexcept {
    // With one slot, "free for the next" and "posted" would be the same sequence.
    std::size_t power = 2;
    while (power < capacity) power *= 2;
    return power;
  }

  slot& slot_of(std::uint32_t position) noexcept {
    return slots_[position / one_ & (slots_.size() - 1)];
  }
  bool is_posted(std::uint32_t position) noexcept {
    return slot_of(position).sequence.load(detail::memory_order_acquire) ==  // 5
           position + one_;
  }
  /// Terminated, and every position given is behind the owner.
  bool is_over() const noexcept {
    return tail_.load(detail::memory_order_acquire) == (head_ | terminated_);  // 8
  }

  template <class Closure, class Function>
  bool post_as(Function&& f, std::true_type /*cannot throw*/) {
    std::uint32_t position = 0;
    if (!claim(position)) return false;
    slot& mine = slot_of(position);
    ::new (static_cast<void*>(mine.closure)) Closure(std::forward<Function>(f));
    mine.take = &take_as<Closure>;
    detail::notify_point(&mark_);
    mine.sequence.store(position + one_, detail::memory_order_release);  // 4
    mark_.notify(detail::fence_payer_of(policy_));
    return true;
  }
  /// Copies first: a copy that throws while its poster holds a position would leave the position empty.
  template <class Closure, class Function>
  bool post_as(const Function& f, std::false_type) {
    return post_as<Closure>(Closure(f), std::true_type());
  }

  bool claim(std::uint32_t& position) noexcept {
    std::uint32_t tail = tail_.load(detail::memory_order_relaxed);  // 1
    while ((tail & terminated_) == 0) {
      const std::uint32_t sequence =
          slot_of(tail).sequence.load(detail::memory_order_acquire);  // 2
      if (sequence == tail) {
        if (tail_.compare_exchange_strong(tail, tail + one_, detail::memory_order_relaxed,  // 3
                                          detail::memory_order_relaxed)) {                  // 3
          position = tail;
          return true;
        }
      } else if (static_cast<std::int32_t>(sequence - tail) < 0) {
        return false;
      } else {
        tail = tail_.load(detail::memory_order_relaxed);  // 1
      }
    }
    return false;
  }

  wait_status wait_for_call(deadline until, call_site where) {
    call_or_end what{*this, where};
    if (!detail::wait_watched(what, this, policy_, history_, until,
                              detail::wait_engine::single_yield_time)) {
      return wait_status::timed_out;
    }
    return is_posted(head_) ? wait_status::ready : wait_status::terminated;
  }

  /// Requires: the call at head_ is posted. See MAILBOX-4.
  void take_next(fate then) {
    const std::uint32_t position = head_;
    head_ += one_;
    slot_of(position).take(*this, position, then);
  }

  template <class Closure>
  static void take_as(mailbox& owner, std::uint32_t position, fate then) {
    slot& from = owner.slot_of(position);
    Closure* const stored = reinterpret_cast<Closure*>(from.closure);
    Closure call(std::move(*stored));
    stored->~Closure();
    const std::uint32_t next = position + static_cast<std::uint32_t>(owner.slots_.size()) * one_;
    from.sequence.store(next, detail::memory_order_release);  // 6
    if (then == fate::run) call();
  }

  detail::line_gap before_;
  detail::wait_word tail_{0};
  detail::line_gap between_;
  detail::aligned_array<slot> slots_;
  detail::sleeper_mark mark_;
  wait_policy policy_;
  detail::line_gap owners_;
  std::uint32_t head_;
  detail::wait_history history_ = {};
  detail::line_gap after_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_MAILBOX_HPP
