// SPDX-License-Identifier: MIT
// src/trace/ledger_hooks.hpp -- what the ledger of waits is told (layer: trace)
//
// A thread that works for a team whose ledger is on has its accounts in its log (thread_log::ledger) meanwhile.
// What it is told of constructs and regions is in ledger_hooks.cpp.
//
// Memory order (# marks the line)
//   #  access        order    pairs  why it suffices
//   1  ledger.load   relaxed  -      the thread's own
//   2  ledger.store  relaxed  -      as 1
#ifndef LOCKSTEP_SRC_TRACE_LEDGER_HOOKS_HPP
#define LOCKSTEP_SRC_TRACE_LEDGER_HOOKS_HPP

#include <cstdint>
#include <cstring>

#include "../observe/hooks.hpp"
#include "ledger_board.hpp"
#include "records.hpp"
#include "thread_log.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Called where observer::accounts is on, on the thread itself.
struct ledger_hooks {
  /// The accounts of the calling thread from now on; returns those that it had. Null: none.
  static member_ledger* work_for(member_ledger* own) noexcept {
    thread_log* const log = log_of_this_thread();
    return log != nullptr ? work_for(own, *log) : nullptr;
  }
  /// The same of a thread that has that log.
  static member_ledger* work_for(member_ledger* own, thread_log& log) noexcept {
    member_ledger* const before = of(log);
    if (before != own) log.ledger.store(own, memory_order_relaxed);  // 2
    return before;
  }

  /// The thread has entered a region of the user, or left one.
  static void region_changes(thread_log& log) noexcept {
    member_ledger* const own = of(log);
    if (own == nullptr) return;
    own->label = log.region_name != nullptr ? keep_text(log.region_name) : own->paces.label;
  }
  /// A region or a loop is called from inside of one: its caller runs it alone.
  static void ran_inline(bool is_loop) noexcept {
    thread_log* const log = log_of_this_thread();
    member_ledger* const own = log != nullptr ? of(*log) : nullptr;
    if (own != nullptr)
      own->count(is_loop ? ledger_count::inline_loops : ledger_count::inline_runs);
  }
  static void waited_for_node(thread_log& log, const char* name, source_place plan,
                              std::uint64_t ticks) noexcept {
    if (member_ledger* const own = of(log)) own->note_node(keep_text(name), plan, ticks);
  }

  /// A wait that outlasted its first polls is over. That of a worker that has nothing to do does not count.
  static void wait_ended(thread_log& log, const wait_subject& what, wait_stage furthest,
                         std::uint64_t begin, std::uint64_t end) noexcept {
    member_ledger* const own = of(log);
    if (own == nullptr) return;
    own->long_wait += end - begin;
    if (what.kind == wait_kind::next_region) return;
    own->count(furthest == wait_stage::spin    ? ledger_count::waits_spun
               : furthest == wait_stage::yield ? ledger_count::waits_yielded
                                               : ledger_count::waits_slept);
  }
  /// Something was decided, or found out.
  static void marked(thread_log& log, mark_kind what) noexcept {
    member_ledger* const own = of(log);
    if (own == nullptr) return;
    if (what == mark_kind::share_taken_over) own->count(ledger_count::shares_taken);
    if (what == mark_kind::anticipated) own->count(ledger_count::anticipated);
    if (what == mark_kind::missed_wake_up) own->count(ledger_count::missed);
    if (what == mark_kind::separated) own->count(ledger_count::separated);
  }

 private:
  static member_ledger* of(const thread_log& log) noexcept {
    return static_cast<member_ledger*>(log.ledger.load(memory_order_relaxed));  // 1
  }
};

void print_ledger(const ledger& of, const ledger_output& to);

// What other observers are told beside the ledger: hooks.cpp.

/// The member begins to wait for all others. Null: no memory.
thread_log* show_arrival(member_view& self, std::uint32_t on) noexcept;
/// It goes on.
void show_release(thread_log& log) noexcept;
/// A region is over.
void record_region(const region_view& of) noexcept;
open_part* show_part(const observed_member& who, std::uint32_t part, bool is_of_loop) noexcept;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_LEDGER_HOOKS_HPP
