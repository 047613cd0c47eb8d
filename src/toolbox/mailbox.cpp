// SPDX-License-Identifier: MIT
// src/toolbox/mailbox.cpp -- slots that posters fill and the owner empties (layer: toolbox)
//
// Invariants, positions counted modulo 2^31, capacity C (a power of two, at least 2)
//   MAILBOX-1  head <= tail <= head + C. A position is given once, to the poster that moves tail.
//   MAILBOX-2  A slot's sequence is p (free for the poster of position p), then p + 1 (holds the call of
//              position p), then p + C. A poster writes the slot only while it is p, the owner only while it
//              is p + 1.
//
//   tail:      bits  name        meaning                            set by                  cleared by
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
#include <lockstep/mailbox.hpp>

#include <lockstep/detail/observe/observers.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/error.hpp>
#include "../platform/system.hpp"
#include "../wait/published_words.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

struct mailbox::queue {
  static constexpr std::uint32_t terminated_bit = 1, one = 2;

  struct slot {
    detail::wait_word sequence{0};
    taker take = nullptr;
    alignas(std::max_align_t) unsigned char closure[closure_size];

    slot() noexcept {}
  };

  /// What the wait engine looks at.
  struct call_or_end final : detail::waitable {
    queue& of;
    const mailbox& owner;

    call_or_end(queue& its_queue, const mailbox& its_owner, call_site from) noexcept
        : waitable(from, single_yield_time), of(its_queue), owner(its_owner) {}
    bool ready() noexcept override { return of.is_posted(of.head) || of.is_over(); }
    void sleep(std::uint64_t until) override {
      of.mark.sleep(*this, until, detail::fence_payer_of(of.policy));
    }
    void describe(detail::wait_subject& to) const noexcept override {
      to.object = &owner;
      to.sleeps_on = &of.mark;
      to.kind = detail::wait_kind::mailbox;
    }
  };

  queue(std::uint32_t position, std::size_t capacity, wait_policy its_policy)
      : ring(round_up(detail::checked_count("lockstep::mailbox", "slots", capacity))),
        policy(its_policy),
        head(position * one) {
    detail::process_fence::prepare();
    tail.store(head, detail::memory_order_relaxed);  // 9
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const std::uint32_t at = head + static_cast<std::uint32_t>(i) * one;
      slot_of(at).sequence.store(at, detail::memory_order_relaxed);  // 9
    }
  }
  static std::size_t round_up(std::size_t capacity) noexcept {
    // With one slot, "free for the next" and "posted" would be the same sequence.
    std::size_t power = 2;
    while (power < capacity) power *= 2;
    return power;
  }

  slot& slot_of(std::uint32_t position) noexcept {
    return ring[position / one & (ring.size() - 1)];
  }
  bool is_posted(std::uint32_t position) noexcept {
    return slot_of(position).sequence.load(detail::memory_order_acquire) == position + one;  // 5
  }
  /// Terminated, and the owner is beyond every position that was given.
  bool is_over() const noexcept {
    return tail.load(detail::memory_order_acquire) == (head | terminated_bit);  // 8
  }
  void wake() { mark.notify(detail::fence_payer_of(policy)); }

  /// Requires: the call at `head` is posted.
  void take_next(mailbox& owner, fate then) {
    slot& from = slot_of(head);
    const place where = {from.closure, head};
    head += one;
    from.take(owner, where, then);
  }

  detail::line_gap before;
  detail::wait_word tail{0};
  detail::line_gap between;
  detail::aligned_array<slot> ring;
  detail::sleeper_mark mark;
  const wait_policy policy;
  detail::line_gap owners;
  std::uint32_t head;
  detail::wait_history history = {};
  detail::line_gap after;
};

LOCKSTEP_INLINE mailbox::mailbox(detail::first_phase position, std::size_t capacity,
                                 wait_policy policy)
    : queue_(new queue(position.value, capacity, policy)) {}
LOCKSTEP_INLINE mailbox::mailbox(std::size_t capacity, wait_policy policy)
    : mailbox(detail::first_phase{0}, capacity, policy) {}
LOCKSTEP_INLINE mailbox::~mailbox() {
  detail::misuse::destroying(this, "lockstep::mailbox");
  while (queue_->is_posted(queue_->head)) queue_->take_next(*this, fate::destroyed);
  delete queue_;
}

LOCKSTEP_INLINE std::size_t mailbox::capacity() const noexcept { return queue_->ring.size(); }
LOCKSTEP_INLINE wait_policy mailbox::policy() const noexcept { return queue_->policy; }

LOCKSTEP_INLINE mailbox::place mailbox::claim() noexcept {
  queue& all = *queue_;
  std::uint32_t tail = all.tail.load(detail::memory_order_relaxed);  // 1
  while ((tail & queue::terminated_bit) == 0) {
    queue::slot& next = all.slot_of(tail);
    const std::uint32_t sequence = next.sequence.load(detail::memory_order_acquire);  // 2
    if (sequence == tail) {
      if (all.tail.compare_exchange_strong(tail, tail + queue::one,
                                           detail::memory_order_relaxed,     // 3
                                           detail::memory_order_relaxed)) {  // 3
        return {next.closure, tail};
      }
    } else if (static_cast<std::int32_t>(sequence - tail) < 0) {
      break;
    } else {
      tail = all.tail.load(detail::memory_order_relaxed);  // 1
    }
  }
  return {nullptr, 0};
}

LOCKSTEP_INLINE void mailbox::publish(const place& mine, taker take) {
  queue::slot& at = queue_->slot_of(mine.position);
  at.take = take;
  detail::notify_point(&queue_->mark);
  at.sequence.store(mine.position + queue::one, detail::memory_order_release);  // 4
  queue_->wake();
}

LOCKSTEP_INLINE void mailbox::give_back(const place& from) noexcept {
  const std::uint32_t next =
      from.position + static_cast<std::uint32_t>(queue_->ring.size()) * queue::one;
  queue_->slot_of(from.position).sequence.store(next, detail::memory_order_release);  // 6
}

LOCKSTEP_INLINE std::size_t mailbox::run_pending() {
  queue& all = *queue_;
  const std::uint32_t end =
      all.tail.load(detail::memory_order_relaxed) & ~queue::terminated_bit;  // 1
  std::size_t count = 0;
  // A call may have called run_pending() itself: the head may be beyond `end`.
  while (static_cast<std::int32_t>(end - all.head) > 0 && all.is_posted(all.head)) {
    all.take_next(*this, fate::run);
    ++count;
  }
  return count;
}

LOCKSTEP_INLINE void mailbox::run_next() { queue_->take_next(*this, fate::run); }

LOCKSTEP_INLINE wait_status mailbox::wait_for_call(deadline until, call_site where) {
  queue& all = *queue_;
  queue::call_or_end what(all, *this, where);
  if (!detail::wait_watched(what, this, all.policy, all.history, until.nanoseconds())) {
    return wait_status::timed_out;
  }
  return all.is_posted(all.head) ? wait_status::ready : wait_status::terminated;
}

LOCKSTEP_INLINE wait_status mailbox::wait_and_run_until(deadline until, call_site where) {
  const wait_status status = wait_for_call(until, where);
  if (status == wait_status::ready) run_pending();
  return status;
}

LOCKSTEP_INLINE void mailbox::terminate() {
  queue_->tail.fetch_or(queue::terminated_bit, detail::memory_order_release);  // 7
  queue_->wake();
}
LOCKSTEP_INLINE bool mailbox::terminated() const noexcept {
  return (queue_->tail.load(detail::memory_order_acquire) & queue::terminated_bit) != 0;  // 8
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
