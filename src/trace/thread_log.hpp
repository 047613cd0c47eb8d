// SPDX-License-Identifier: MIT
// src/trace/thread_log.hpp -- what observers know of a thread, readable by all others (layer: trace)
//
// A thread gets a log at the first hook that it passes while an observer is on. Only the thread itself writes to it,
// except the watchdog's `told_wait`. The log has what the thread does now, once for all observers: its construct, and
// its parts of regions. Other threads read what is shown while the thread runs: the watchdog reads its waits,
// constructs, part, node and locks, the exporter its records.
//
//   LOG-1  A log is never freed. When its thread has ended, a later thread uses it again. `thread` tells the two apart,
//          and nothing is left of what the earlier thread did once the later one is seen.
//   LOG-3  In a child of fork() all threads but the caller have ended.
//   LOG-4  A thread that runs the destructors of its thread_local objects may have no log any more. What it does then
//          is not seen.
//
// Memory order (# marks the line)
//   #  access              order    pairs  why it suffices
//   1  stage, depth,       relaxed  -      hints that stand for themselves, or the thread's own
//      visit_count, owner
//   2  first.load          acquire  3      a log is whole before it is in the list
//   3  first.compare_exch  release  2      as 2
//   4  owner.compare_exch  acquire  5      the next thread sees all that the one before has written
//   5  owner.store         release  4,6    as 4; what the thread before did is removed before the next one is seen
//   6  owner.load          acquire  5      as 5
//   7  depth, visit_count  release  8      a reader that counts a wait or a visit reads that one, or a later one
//      .store
//   8  depth, visit_count  acquire  7      as 7
//      .load
#ifndef LOCKSTEP_SRC_TRACE_THREAD_LOG_HPP
#define LOCKSTEP_SRC_TRACE_THREAD_LOG_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/observe/observers.hpp>
#include <lockstep/detail/observe/wait_kinds.hpp>
#include <lockstep/detail/platform/this_thread.hpp>
#include "../platform/fork.hpp"
#include "../platform/native_system.hpp"
#include "../platform/process.hpp"
#include "names.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class member_ledger;
class record_ring;

/// A visit of a member to a construct of its region, from its call until it was let go. Its texts live for ever.
struct construct_visit {
  const char* kind;  ///< the name of the function of `member`; null: none yet
  source_place where;
  const void*
      team;  ///< the address of what the members share: the same for all members of the region
  std::uint32_t region;  ///< the number of the region
  std::uint32_t rank, size;
  std::uint32_t phase;     ///< of the barrier in which all meet; 0: it does not meet
  std::uint64_t came;      ///< tick at which the member called
  std::uint64_t arrived;   ///< tick at which it began to wait for the others; 0: not yet
  std::uint64_t released;  ///< tick at which it went on; 0: it is still there
};

/// A part that the thread runs, of a region or of a loop.
struct open_part {
  const void* team;  ///< as construct_visit's; null: none yet
  std::uint32_t region, rank, size;
  std::uint64_t began, ended;  ///< ticks; ended is 0 while it runs
  std::uint32_t part;
  bool is_of_loop;
};

/// The node of a graph that a thread runs, or has run last.
struct node_visit {
  char name[40];               ///< a copy, cut: the node may be gone before it is read
  std::uint64_t began, ended;  ///< began is 0: none yet
};

/// The last objects outside of regions at which the thread waited for others, with its rank and the phase. The latest
/// comes first.
struct last_meetings {
  static constexpr std::uint32_t most = 4;
  struct meeting {
    const void* object;
    std::uint32_t rank, phase;
  };

  std::uint32_t count;
  meeting all[most];
};

/// What others wait for until the thread goes on: the locks that it holds, and its end. Locks above `most` are not known.
struct held_locks {
  static constexpr std::uint32_t most = 8;

  std::uint32_t count;
  const void* objects[most];
  const void* end;  ///< the word that says that the thread has ended; null: not known
};

/// A wait, as others see it.
struct shown_wait {
  wait_subject what;
  std::uint64_t since;  ///< tick
};
struct thread_name {
  char text[48];
};

class thread_log {
 public:
  /// All logs: for (const thread_log* at = first(); at != nullptr; at = at->next())
  static thread_log* first() noexcept {
    return static_cast<thread_log*>(process().thread_logs.load(memory_order_acquire));  // 2
  }
  /// Makes a log for the calling thread, which has none. Null: LOG-4, or no memory.
  LOCKSTEP_NOINLINE static thread_log* make() noexcept {
    static thread_local log_of_thread own;
    if (own.has_ended) return nullptr;
    watch_forks<locked_around_fork<&process_state::log_forks, thread_log>>();
    thread_slot& slot = this_thread_slot();
    thread_log* const log = take(slot.number);
    if (log == nullptr) return nullptr;
    thread_name name = {};
    std::snprintf(name.text, sizeof name.text, "%s", label_of_this_thread().name);
    log->name.show(name);
    log->shown_number_.store(native_system::thread_number(), memory_order_relaxed);  // 1
    slot.log = log;
    return log;
  }
  /// A log for the thread of that number: one whose thread has ended, or a new one. Null: no memory.
  static thread_log* take(std::uint64_t thread) noexcept {
    for (thread_log* at = first(); at != nullptr; at = at->next_) {
      std::uint64_t nobody = 0;
      if (!at->owner_.compare_exchange_strong(nobody, changes_owner,
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
  /// Its thread ends.
  static void give_back(thread_log& of) noexcept {
    of.depth.store(0, memory_order_relaxed);   // 1
    of.owner_.store(0, memory_order_release);  // 5
  }
  /// LOG-3.
  static void in_child() noexcept {
    const std::uint64_t me = this_thread_slot().number;
    for (thread_log* at = first(); at != nullptr; at = at->next_) {
      if (at->thread() != me) at->owner_.store(0, memory_order_relaxed);  // 1
    }
  }

  static constexpr std::uint32_t most_waits = 4, most_visits = 8, most_parts = 8;

  /// The track of the thread: 0 for the first log of the process.
  std::uint32_t track() const noexcept { return track_; }
  /// The number_of_this_thread() of its thread; 0 once that has ended.
  std::uint64_t thread() const noexcept {
    const std::uint64_t owner = owner_.load(memory_order_acquire);  // 6
    return owner != changes_owner ? owner : 0;
  }
  bool is_alive() const noexcept { return thread() != 0; }
  /// What debuggers call the thread.
  std::uint64_t shown_number() const noexcept {
    return shown_number_.load(memory_order_relaxed);  // 1
  }
  thread_log* next() const noexcept { return next_; }

  shown<thread_name> name;
  /// How many waits the thread is in, one inside the other, and what they are. Those above most_waits are not shown.
  observer_atomic<std::uint32_t> depth{0};
  shown<shown_wait> waits[most_waits];
  observer_atomic<std::uint32_t> stage{0};  ///< wait_stage of the innermost
  /// How many visits were shown, modulo 2^32. Visit n is at n modulo most_visits; the last ones are there.
  observer_atomic<std::uint32_t> visit_count{0};
  shown<construct_visit> visits[most_visits];
  shown<open_part> part;  ///< the innermost part that runs, or the last one
  shown<node_visit> node;
  shown<held_locks> locks;
  shown<last_meetings> meetings;
  /// For the recorder (recorder.hpp).
  observer_atomic<record_ring*> ring{nullptr};

  std::uint64_t told_wait = 0;  ///< the watchdog's own: the begin of the wait that it has reported

  // The thread's own.
  std::uint64_t number = 0;                  ///< its thread()
  std::uint64_t delays = 0;                  ///< how many delays threads with this log have drawn
  text_keeper texts;                         ///< for what it shows to others
  open_part parts[most_parts];               ///< the parts that it is in, the outermost first
  std::uint32_t open_parts = 0;              ///< how many these are
  construct_visit here = construct_visit();  ///< the construct that it is in, or was in last
  const char* region_name = nullptr;         ///< the innermost of the user's regions, or null
  member_ledger* accounts = nullptr;         ///< in the team that it works for, if the ledger is on

  // Only for its thread. What only the watchdog reads is shown only if the watchdog is on.
  /// A wait begins, inside of the waits that the thread is in.
  void wait_begins(const shown_wait& what, bool is_watched) noexcept {
    if (is_watched) {
      if (what.what.kind != wait_kind::end_of_part) show_outer_part();
      if (what.what.expected != 0 && what.what.rank != wait_subject::nobody) meets(what.what);
    }
    const std::uint32_t in = depth.load(memory_order_relaxed);  // 1
    if (in < most_waits) waits[in].show(what);
    stage.store(0, memory_order_relaxed);       // 1
    depth.store(in + 1, memory_order_release);  // 7
  }
  void wait_ends(bool is_watched) noexcept {
    depth.store(depth.load(memory_order_relaxed) - 1, memory_order_relaxed);  // 1
    if (is_watched) show_outer_part();
  }
  /// A member has come to the construct `here`, arrives in a phase, or goes on. Each shows the same visit, known by its
  /// `came`, with more in it.
  void show_visit() noexcept {
    show_outer_part();
    std::uint32_t count = visit_count.load(memory_order_relaxed);  // 1
    const bool is_known = count != 0 && shown_team_ == here.team && shown_came_ == here.came;
    shown_team_ = here.team;
    shown_came_ = here.came;
    if (!is_known) ++count;
    visits[(count - 1) % most_visits].show(here);
    visit_count.store(count, memory_order_release);  // 7
  }
  /// Null: there is no room for one more.
  open_part* part_begins(const open_part& what, bool is_watched) noexcept {
    if (open_parts == most_parts) return nullptr;
    open_part& made = parts[open_parts++];
    made = what;
    shows_ended_part_ = false;
    if (is_watched) part.show(made);
    return &made;
  }
  void part_ends(open_part& what, std::uint64_t now, bool is_watched) noexcept {
    open_parts = static_cast<std::uint32_t>(&what - parts);
    what.ended = now;
    shows_ended_part_ = is_watched;
    if (is_watched) part.show(what);
  }
  void node_begins(const char* of, std::uint64_t now) noexcept {
    node_here_ = node_visit();
    std::strncpy(node_here_.name, of, sizeof node_here_.name - 1);
    node_here_.began = now;
    node.show(node_here_);
  }
  void node_ends(std::uint64_t now) noexcept {
    if (node_here_.began == 0) return;
    node_here_.ended = now;
    node.show(node_here_);
  }
  void thread_begins(const void* end) noexcept {
    held_.end = end;
    locks.show(held_);
  }
  void lock_taken(const void* object) noexcept {
    if (held_.count == held_locks::most) return;
    held_.objects[held_.count++] = object;
    locks.show(held_);
  }
  void lock_left(const void* object) noexcept {
    // Begins with the last one: locks are mostly given up in reverse order.
    for (std::uint32_t i = held_.count; i-- > 0;) {
      if (held_.objects[i] != object) continue;
      held_.objects[i] = held_.objects[--held_.count];
      return locks.show(held_);
    }
  }
  /// Removes what the thread that had the log before has left.
  void reset() noexcept {
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

  /// Reads a wait for the watchdog. Index 0 is the outermost one. False if there is none at that depth.
  bool wait_at(std::uint32_t index, shown_wait& out) const noexcept {
    const std::uint32_t in = depth.load(memory_order_acquire);  // 8
    return index < in && index < most_waits && waits[index].read(out);
  }
  /// Reads the last visits for the watchdog, the oldest first. How many there are.
  std::uint32_t read_visits(construct_visit (&out)[most_visits]) const noexcept {
    const std::uint32_t last = visit_count.load(memory_order_acquire);  // 8
    std::uint32_t found = 0;
    for (std::uint32_t i = last < most_visits ? 0 : last - most_visits; i != last; ++i) {
      if (visits[i % most_visits].read(out[found])) ++found;
    }
    return found;
  }

 private:
  /// The owner while the log passes from one thread to the next.
  static constexpr std::uint64_t changes_owner = ~std::uint64_t{0};

  /// Ends the thread's log when the thread ends. Afterwards has_ended is true. Thread-local storage is scarce where a
  /// library is loaded late: the log itself is in the slot.
  struct log_of_thread {
    bool has_ended = false;

    ~log_of_thread() {
      has_ended = true;
      void*& log = this_thread_slot().log;
      if (log == nullptr) return;
      thread_log& its = *static_cast<thread_log*>(log);
      log = nullptr;
      give_back(its);
    }
  };

  thread_log() = default;
  /// A part that has ended is shown until its region has ended. Then the part that called the region is shown again.
  void show_outer_part() noexcept {
    if (!shows_ended_part_ || open_parts == 0) return;
    shows_ended_part_ = false;
    part.show(parts[open_parts - 1]);
  }
  void meets(const wait_subject& what) noexcept {
    std::uint32_t at = 0;
    while (at < met_.count && met_.all[at].object != what.object) ++at;
    if (at == met_.count && met_.count < last_meetings::most) ++met_.count;
    if (at == last_meetings::most) --at;
    for (; at > 0; --at) met_.all[at] = met_.all[at - 1];
    met_.all[0] = {what.object, what.rank, what.phase};
    meetings.show(met_);
  }

  bool shows_ended_part_ = false;
  const void* shown_team_ = nullptr;  ///< of the visit that was shown last
  std::uint64_t shown_came_ = 0;
  held_locks held_ = {};
  last_meetings met_ = {};
  node_visit node_here_ = {};
  observer_atomic<std::uint64_t> owner_{0};
  observer_atomic<std::uint64_t> shown_number_{0};
  std::uint32_t track_ = 0;
  thread_log* next_ = nullptr;
};

/// The log of the calling thread; made if there is none. Null: LOG-4, or no memory.
inline thread_log* log_of_this_thread() noexcept {
  thread_log* const known = static_cast<thread_log*>(this_thread_slot().log);
  return known != nullptr ? known : thread_log::make();
}

/// The text for a kind of wait; null for of_construct.
inline const char* text_of(wait_kind kind) noexcept {
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
/// The text for a wait: that of its kind, or the construct that the thread is in. Null: neither is known.
inline const char* text_of(const wait_subject& what) noexcept {
  const char* const text = text_of(what.kind);
  return text != nullptr ? text : what.construct;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_THREAD_LOG_HPP
