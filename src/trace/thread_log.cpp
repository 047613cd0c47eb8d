// SPDX-License-Identifier: MIT
// src/trace/thread_log.cpp -- the bodies of thread_log.hpp (layer: trace)
#include "thread_log.hpp"

#include <cstdio>
#include <new>

#include "../platform/fork.hpp"
#include "../platform/this_thread.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Ends the log when its thread ends. Afterwards has_ended is true.
struct log_of_thread {
  thread_log* log = nullptr;
  bool has_ended = false;

  ~log_of_thread() {
    has_ended = true;
    if (log == nullptr) return;
    this_thread_slot().log = nullptr;
    thread_logs::give_back(*log);
  }
  static log_of_thread& mine() noexcept {
    static thread_local log_of_thread own;
    return own;
  }
};

LOCKSTEP_INLINE thread_log* thread_logs::make() noexcept {
  log_of_thread& own = log_of_thread::mine();
  if (own.has_ended) return nullptr;
  watch_forks<locked_around_fork<&process_state::log_forks, thread_logs>>();
  thread_slot& slot = this_thread_slot();
  thread_log* const log = take(slot.number);
  if (log == nullptr) return nullptr;
  own.log = log;
  const thread_label label = label_of_this_thread();
  thread_name name = {};
  // The label has the name in quotes.
  const char* const quote = std::strchr(label.text, '\'');
  std::snprintf(name.text, sizeof name.text, "%s", quote != nullptr ? quote + 1 : label.text);
  if (char* const end = std::strrchr(name.text, '\'')) *end = 0;
  log->name.show(name);
  log->shown_number_.store(shown_thread_number(), memory_order_relaxed);  // 1
  slot.log = log;
  return log;
}

LOCKSTEP_INLINE thread_log* thread_logs::take(std::uint64_t thread) noexcept {
  for (thread_log* at = first(); at != nullptr; at = at->next_) {
    std::uint64_t nobody = 0;
    if (!at->owner_.compare_exchange_strong(nobody, thread_log::changes_owner,
                                            memory_order_acquire,     // 4
                                            memory_order_relaxed)) {  // 1
      continue;
    }
    at->reset();
    at->number = thread;
    at->owner_.store(thread, memory_order_release);  // 5
    return at;
  }
  thread_log* const made = new (std::nothrow) thread_log();
  if (made == nullptr) return nullptr;
  made->number = thread;
  made->owner_.store(thread, memory_order_relaxed);  // 1
  observer_atomic<void*>& first = process().thread_logs;
  void* next = first.load(memory_order_acquire);  // 2
  do {
    made->next_ = static_cast<thread_log*>(next);
    made->track_ = next != nullptr ? made->next_->track_ + 1 : 0;
  } while (!first.compare_exchange_weak(next, made, memory_order_release,  // 3
                                        memory_order_acquire));  // 2
  return made;
}

LOCKSTEP_INLINE void thread_logs::give_back(thread_log& of) noexcept {
  of.depth.store(0, memory_order_relaxed);   // 1
  of.owner_.store(0, memory_order_release);  // 5
}

LOCKSTEP_INLINE void thread_logs::in_child() noexcept {
  const std::uint64_t me = this_thread_slot().number;
  for (thread_log* at = first(); at != nullptr; at = at->next_) {
    if (at->thread() != me) at->owner_.store(0, memory_order_relaxed);  // 1
  }
}

LOCKSTEP_INLINE void thread_log::reset() noexcept {
  depth.store(0, memory_order_relaxed);        // 1
  visit_count.store(0, memory_order_relaxed);  // 1
  here = construct_visit();
  open_parts = 0;
  region_name = nullptr;
  accounts = nullptr;
  shows_ended_part_ = false;
  node_here_ = node_visit();
  held_ = held_locks();
  met_ = last_meetings();
  part.hide();
  node.hide();
  locks.hide();
  meetings.hide();
}

LOCKSTEP_INLINE void thread_log::wait_begins(const shown_wait& what, bool is_watched) noexcept {
  if (is_watched) {
    if (what.what.kind != wait_kind::end_of_part) show_outer_part();
    if (what.what.expected != 0 && what.what.rank != wait_subject::nobody) meets(what.what);
  }
  const std::uint32_t in = depth.load(memory_order_relaxed);  // 1
  if (in < most_waits) waits[in].show(what);
  stage.store(0, memory_order_relaxed);       // 1
  depth.store(in + 1, memory_order_release);  // 7
}

LOCKSTEP_INLINE void thread_log::wait_ends(bool is_watched) noexcept {
  depth.store(depth.load(memory_order_relaxed) - 1, memory_order_relaxed);  // 1
  if (is_watched) show_outer_part();
}

LOCKSTEP_INLINE void thread_log::meets(const wait_subject& what) noexcept {
  std::uint32_t at = 0;
  while (at < met_.count && met_.all[at].object != what.object) ++at;
  if (at == met_.count && met_.count < last_meetings::most) ++met_.count;
  if (at == last_meetings::most) --at;
  for (; at > 0; --at) met_.all[at] = met_.all[at - 1];
  met_.all[0] = {what.object, what.rank, what.phase};
  meetings.show(met_);
}

LOCKSTEP_INLINE void thread_log::show_visit() noexcept {
  show_outer_part();
  std::uint32_t count = visit_count.load(memory_order_relaxed);  // 1
  const bool is_known = count != 0 && shown_team_ == here.team && shown_came_ == here.came;
  shown_team_ = here.team;
  shown_came_ = here.came;
  if (!is_known) ++count;
  visits[(count - 1) % most_visits].show(here);
  visit_count.store(count, memory_order_release);  // 7
}

LOCKSTEP_INLINE open_part* thread_log::part_begins(const open_part& what,
                                                   bool is_watched) noexcept {
  if (open_parts == most_parts) return nullptr;
  open_part& made = parts[open_parts++];
  made = what;
  shows_ended_part_ = false;
  if (is_watched) part.show(made);
  return &made;
}

LOCKSTEP_INLINE void thread_log::part_ends(open_part& what, std::uint64_t now,
                                           bool is_watched) noexcept {
  open_parts = static_cast<std::uint32_t>(&what - parts);
  what.ended = now;
  shows_ended_part_ = is_watched;
  if (is_watched) part.show(what);
}

/// A part that has ended is shown until its region has ended. Then the part that called the region is shown again.
LOCKSTEP_INLINE void thread_log::show_outer_part() noexcept {
  if (!shows_ended_part_ || open_parts == 0) return;
  shows_ended_part_ = false;
  part.show(parts[open_parts - 1]);
}

LOCKSTEP_INLINE void thread_log::node_begins(const char* of, std::uint64_t now) noexcept {
  node_here_ = node_visit();
  std::strncpy(node_here_.name, of, sizeof node_here_.name - 1);
  node_here_.began = now;
  node.show(node_here_);
}
LOCKSTEP_INLINE void thread_log::node_ends(std::uint64_t now) noexcept {
  if (node_here_.began == 0) return;
  node_here_.ended = now;
  node.show(node_here_);
}

LOCKSTEP_INLINE void thread_log::thread_begins(const void* end) noexcept {
  held_.end = end;
  locks.show(held_);
}
LOCKSTEP_INLINE void thread_log::lock_taken(const void* object) noexcept {
  if (held_.count == held_locks::most) return;
  held_.objects[held_.count++] = object;
  locks.show(held_);
}
LOCKSTEP_INLINE void thread_log::lock_left(const void* object) noexcept {
  // Begins with the last one: locks are mostly given up in reverse order.
  for (std::uint32_t i = held_.count; i-- > 0;) {
    if (held_.objects[i] != object) continue;
    held_.objects[i] = held_.objects[--held_.count];
    return locks.show(held_);
  }
}

LOCKSTEP_INLINE const char* text_of(wait_kind kind) noexcept {
  static constexpr const char* texts[] = {
      nullptr,
      "lockstep::event",
      "lockstep::auto_reset_event",
      "lockstep::manual_reset_event",
      "lockstep::latch",
      "lockstep::eventual",
      "lockstep::barrier",
      "lockstep::ranked_barrier",
      "lockstep::fan_out",
      "lockstep::fan_in",
      "lockstep::fan_in_out",
      "lockstep::mailbox",
      "lockstep::joinable_thread",
      "lockstep::mutex",
      "lockstep::shared_mutex",
      "lockstep::counting_semaphore",
      "lockstep::condition_variable",
      "a lock of the library",
      "its turn with a team",
      "the next region",
      "the end of a member's part",
      "room for one construct more",
      "its turn in an ordered loop",
      "a step of another member",
      "a step of a plan",
  };
  static_assert(sizeof texts / sizeof texts[0] == static_cast<std::size_t>(wait_kind::how_many),
                "one of each kind, in their order");
  return texts[static_cast<std::size_t>(kind)];
}

LOCKSTEP_INLINE const char* text_of(const wait_subject& what) noexcept {
  const char* const text = text_of(what.kind);
  return text != nullptr ? text : what.construct;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
