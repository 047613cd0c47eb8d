// SPDX-License-Identifier: MIT
// src/trace/thread_log.cpp -- the bodies of thread_log.hpp (layer: trace)
#include "thread_log.hpp"

#include <cstdio>
#include <new>

#include "../platform/fork_tables.hpp"
#include "../platform/this_thread.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Ends the log with its thread, and says so afterwards.
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
  watch_forks<locked_around_fork<&process_state::trace_forks, thread_logs>>();
  thread_slot& slot = this_thread_slot();
  thread_log* const log = take(slot.number);
  if (log == nullptr) return nullptr;
  own.log = log;
  const thread_label label = label_of_this_thread();
  thread_name name = {};
  // The name in the label is in quotes.
  const char* const quote = std::strchr(label.text, '\'');
  std::snprintf(name.text, sizeof name.text, "%s", quote != nullptr ? quote + 1 : label.text);
  if (char* const end = std::strrchr(name.text, '\'')) *end = 0;
  log->name.show(name);
  log->shown_number_.store(shown_thread_number(), memory_order_relaxed);  // 7
  log->depth.store(0, memory_order_relaxed);                              // 7
  log->here = construct_visit();
  log->region_name = nullptr;
  log->open_parts = 0;
  slot.log = log;
  return log;
}

LOCKSTEP_INLINE thread_log* thread_logs::take(std::uint64_t thread) noexcept {
  for (thread_log* at = first(); at != nullptr; at = at->next_) {
    std::uint64_t nobody = 0;
    if (at->owner_.compare_exchange_strong(nobody, thread, memory_order_acquire,  // 10
                                           memory_order_relaxed)) {               // 7
      return at;
    }
  }
  return add(thread);
}

LOCKSTEP_INLINE thread_log* thread_logs::add(std::uint64_t thread) noexcept {
  thread_log* const made = new (std::nothrow) thread_log();
  if (made == nullptr) return nullptr;
  made->owner_.store(thread, memory_order_relaxed);  // 7
  observer_atomic<void*>& first = process().thread_logs;
  void* next = first.load(memory_order_acquire);  // 8
  do {
    made->next_ = static_cast<thread_log*>(next);
    made->track_ = next != nullptr ? made->next_->track_ + 1 : 0;
  } while (!first.compare_exchange_weak(next, made, memory_order_release,  // 9
                                        memory_order_acquire));  // 8
  return made;
}

LOCKSTEP_INLINE void thread_logs::give_back(thread_log& of) noexcept {
  of.depth.store(0, memory_order_relaxed);   // 7
  of.owner_.store(0, memory_order_release);  // 11
}

LOCKSTEP_INLINE void thread_logs::in_child() noexcept {
  const std::uint64_t me = this_thread_slot().number;
  for (thread_log* at = first(); at != nullptr; at = at->next_) {
    if (at->thread() != me) at->owner_.store(0, memory_order_relaxed);  // 11
  }
}

LOCKSTEP_INLINE void thread_logs::name_mine(const char* text) noexcept {
  detail::name_this_thread(text);
  thread_log* const log = mine();
  if (log == nullptr) return;
  thread_name name = {};
  std::snprintf(name.text, sizeof name.text, "%s", text);
  log->name.show(name);
}

LOCKSTEP_INLINE const char* text_of(wait_kind kind) noexcept {
  switch (kind) {
    case wait_kind::event: return "lockstep::event";
    case wait_kind::auto_reset_event: return "lockstep::auto_reset_event";
    case wait_kind::manual_reset_event: return "lockstep::manual_reset_event";
    case wait_kind::latch: return "lockstep::latch";
    case wait_kind::eventual: return "lockstep::eventual";
    case wait_kind::barrier: return "lockstep::barrier";
    case wait_kind::ranked_barrier: return "lockstep::ranked_barrier";
    case wait_kind::fan_out: return "lockstep::fan_out";
    case wait_kind::fan_in: return "lockstep::fan_in";
    case wait_kind::fan_in_out: return "lockstep::fan_in_out";
    case wait_kind::mailbox: return "lockstep::mailbox";
    case wait_kind::joinable_thread: return "lockstep::joinable_thread";
    case wait_kind::mutex: return "lockstep::mutex";
    case wait_kind::shared_mutex: return "lockstep::shared_mutex";
    case wait_kind::counting_semaphore: return "lockstep::counting_semaphore";
    case wait_kind::condition_variable: return "lockstep::condition_variable";
    case wait_kind::internal_lock: return "a lock of the library";
    case wait_kind::turn_with_team: return "its turn with a team";
    case wait_kind::next_region: return "the next region";
    case wait_kind::end_of_part: return "the end of a member's part";
    case wait_kind::room_for_construct: return "room for one construct more";
    case wait_kind::turn_in_ordered_loop: return "its turn in an ordered loop";
    case wait_kind::step_of_member: return "a step of another member";
    case wait_kind::step_of_plan: return "a step of a plan";
    case wait_kind::of_construct:
    case wait_kind::how_many: break;
  }
  return nullptr;
}

LOCKSTEP_INLINE const char* text_of(const wait_subject& what) noexcept {
  const char* const text = text_of(what.kind);
  return text != nullptr ? text : what.construct;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
