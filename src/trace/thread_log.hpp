// SPDX-License-Identifier: MIT
// src/trace/thread_log.hpp -- what observers know of a thread, readable by all others (layer: trace)
//
// A thread gets a log at the first hook that it passes while an observer is on. Only the thread itself writes to it,
// except the name of a thread that has ended. Others read while it runs: the watchdog what it waits for and to which
// construct it came last, the exporter its records.
//
//   LOG-1  A log is never freed. A thread's log is used again by a later thread after it has ended; `number` tells them
//          apart.
//   LOG-2  A reader gets a whole value: if the writer was in the way it tries again, and gives up after some tries.
//   LOG-3  In a child of fork() all threads but the caller have ended.
//   LOG-4  A thread that runs the destructors of its thread_local objects may have no log any more: what it does then is
//          not seen.
//
// Memory order (# marks the line)
//   #  access              order    pairs  why it suffices
//   1  sequence.store      relaxed  -      odd: the stores of the words, which follow, are release
//   2  word.store          release  3      who sees the word sees the odd number before it, by 3
//   3  word.load           acquire  2      the other half
//   4  sequence.store      release  5      who sees the even number sees the words
//   5  sequence.load       acquire  4      the other half
//   6  sequence.load       relaxed  -      3 orders it after the words
//   7  stage, depth        relaxed  -      hints that stand for themselves
//   8  first.load          acquire  9      a log is whole before it is in the list
//   9  first.compare_exch  release  8      as 8
//   10 owner.compare_exch  acquire  11     the next thread sees all that the one before has written
//   11 owner.store         release  10,12  as 10
//   12 owner.load          acquire  11     who sees the next thread finds no wait of the one before
//   13 depth.store         release  14     who counts a wait reads that one, or a later one
//   14 depth.load          acquire  13     as 13
#ifndef LOCKSTEP_SRC_TRACE_THREAD_LOG_HPP
#define LOCKSTEP_SRC_TRACE_THREAD_LOG_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/observe/observers.hpp>
#include <lockstep/detail/observe/wait_kinds.hpp>
#include <lockstep/detail/platform/this_thread.hpp>
#include "../platform/process.hpp"
#include "kept_texts.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A visit of a member to a construct of its region: from when it came to when it was let go. Its texts live for ever.
struct construct_visit {
  const char* kind;  ///< the name of member's function; null: none yet
  source_place where;
  std::size_t extent;  ///< iterations, or the size of a value
  const void*
      team;  ///< the address of what the members share: the same for all members of the region
  std::uint32_t region;  ///< its number
  std::uint32_t rank, size;
  std::uint32_t phase;     ///< of the barrier in which all meet; 0: it does not meet
  std::uint64_t came;      ///< tick at which the member called
  std::uint64_t arrived;   ///< tick at which it began to wait for the others; 0: not yet
  std::uint64_t released;  ///< tick at which it went on; 0: it is in it
};

/// A part that the thread runs.
struct open_part {
  observed_member who;
  std::uint32_t part;
  bool is_of_loop;
  std::uint64_t since;  ///< tick
};

/// A value that one thread writes, and others read while it does.
template <class Type>
class shown {
 public:
  void show(const Type& value) noexcept {
    std::uint64_t image[words] = {};
    std::memcpy(image, &value, sizeof value);
    const std::uint32_t odd = sequence_.load(memory_order_relaxed) | 1u;                      // 6
    sequence_.store(odd, memory_order_relaxed);                                               // 1
    for (std::size_t i = 0; i < words; ++i) words_[i].store(image[i], memory_order_release);  // 2
    sequence_.store(odd + 1, memory_order_release);                                           // 4
  }
  /// False if nothing was shown yet, or the writer was in the way each time.
  bool read(Type& out, unsigned tries = 1000) const noexcept {
    for (unsigned i = 0; i < tries; ++i) {
      const std::uint32_t before = sequence_.load(memory_order_acquire);  // 5
      if (before == 0) return false;
      if ((before & 1u) != 0) continue;
      std::uint64_t image[words];
      for (std::size_t k = 0; k < words; ++k) image[k] = words_[k].load(memory_order_acquire);  // 3
      if (sequence_.load(memory_order_relaxed) != before) continue;                             // 6
      std::memcpy(static_cast<void*>(&out), image, sizeof out);
      return true;
    }
    return false;
  }

 private:
  static constexpr std::size_t words = (sizeof(Type) + 7) / 8;

  observer_atomic<std::uint32_t> sequence_{0};
  observer_atomic<std::uint64_t> words_[words] = {};
};

/// A wait, as others see it.
struct shown_wait {
  wait_subject what;
  std::uint64_t since;  ///< tick
};
struct thread_name {
  char text[48];
};

class record_ring;

class thread_log {
 public:
  static constexpr std::uint32_t most_waits = 4;

  /// The track of the thread: 0 for the first log of the process.
  std::uint32_t track() const noexcept { return track_; }
  /// Of its thread: number_of_this_thread(); 0 once it has ended.
  std::uint64_t thread() const noexcept { return owner_.load(memory_order_acquire); }  // 12
  bool is_alive() const noexcept { return thread() != 0; }
  /// What debuggers call the thread.
  std::uint64_t shown_number() const noexcept {
    return shown_number_.load(memory_order_relaxed);  // 7
  }
  thread_log* next() const noexcept { return next_; }

  shown<thread_name> name;
  /// How many waits the thread is in, one inside the other, and what they are; more than most_waits are not shown.
  observer_atomic<std::uint32_t> depth{0};
  shown<shown_wait> waits[most_waits];
  observer_atomic<std::uint32_t> stage{0};  ///< wait_stage of the innermost
  /// How many hooks the thread has passed: whether it moves.
  observer_atomic<std::uint64_t> steps{0};

  /// How many delays the thread has drawn (delay_hooks.hpp).
  observer_atomic<std::uint64_t> delays{0};
  /// For the ledger, and for the watchdog: made by the thread, never freed.
  observer_atomic<void*> ledger{nullptr}, watchdog{nullptr};
  /// For the recorder (recorder.hpp).
  observer_atomic<record_ring*> ring{nullptr};

  // The thread's own.
  text_keeper texts;  ///< of what it shows to others
  static constexpr std::uint32_t most_parts = 8;
  open_part parts[most_parts];               ///< that it is in, the outermost first
  std::uint32_t open_parts = 0;              ///< of these
  construct_visit here = construct_visit();  ///< the construct that it is in, or was in last
  const char* region_name = nullptr;         ///< the innermost of the user's regions, or null

  /// By its thread: a wait begins, inside of those that it is in.
  void wait_begins(const shown_wait& what) noexcept {
    const std::uint32_t in = depth.load(memory_order_relaxed);  // 7
    if (in < most_waits) waits[in].show(what);
    stage.store(0, memory_order_relaxed);       // 7
    depth.store(in + 1, memory_order_release);  // 13
  }
  void wait_ends() noexcept {
    depth.store(depth.load(memory_order_relaxed) - 1, memory_order_relaxed);  // 7
  }
  /// How the watchdog reads a wait, the outermost first; false if there is none at that depth.
  bool wait_at(std::uint32_t index, shown_wait& out) const noexcept {
    const std::uint32_t in = depth.load(memory_order_acquire);  // 14
    return index < in && index < most_waits && waits[index].read(out);
  }

 private:
  friend struct thread_logs;

  thread_log() = default;

  observer_atomic<std::uint64_t> owner_{0};
  observer_atomic<std::uint64_t> shown_number_{0};
  std::uint32_t track_ = 0;
  thread_log* next_ = nullptr;
};

struct thread_logs {
  /// All that there are, in no order: for (const thread_log* at = thread_logs::first(); at != nullptr; at = at->next())
  static thread_log* first() noexcept {
    return static_cast<thread_log*>(process().thread_logs.load(memory_order_acquire));  // 8
  }
  /// Of the calling thread; made if there is none. Null: LOG-4, or no memory.
  static thread_log* mine() noexcept {
    thread_log* const known = static_cast<thread_log*>(this_thread_slot().log);
    return known != nullptr ? known : make();
  }
  /// A name for the calling thread, here and where the system shows it.
  static void name_mine(const char* name) noexcept;

  /// A log for a thread of that number: that of a thread that has ended, or a new one. Null: no memory.
  static thread_log* take(std::uint64_t thread) noexcept;
  /// Its thread ends.
  static void give_back(thread_log& of) noexcept;
  /// LOG-3.
  static void in_child() noexcept;

 private:
  static thread_log* make() noexcept;
  static thread_log* add(std::uint64_t thread) noexcept;
};

/// The log of the calling thread, or null: LOG-4.
inline thread_log* log_of_this_thread() noexcept { return thread_logs::mine(); }

/// What people read for a kind of wait; null for of_construct.
const char* text_of(wait_kind kind) noexcept;
/// The same of a wait, or the construct that the thread is in; null: neither is known.
const char* text_of(const wait_subject& what) noexcept;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_THREAD_LOG_HPP
