// SPDX-License-Identifier: MIT
// src/trace/hooks.cpp -- the hooks of observe/hooks.hpp for threads: waits, marks, locks, nodes (layer: trace)
//
// Memory order (# marks the line)
//   #  access        order    pairs  why it suffices
//   1  stage         relaxed  -      a hint for other threads
//   2  unchecked     relaxed  -      only ever set, before the unit runs; see misuse.hpp
#include <cstdio>
#include <cstring>

#include <lockstep/named_object.hpp>
#include <lockstep/trace.hpp>
#include "../observe/hooks.hpp"
#include "../platform/process.hpp"

#include "debug_aids.hpp"
#include "ledger_board.hpp"
#include "recorder.hpp"
#include "thread_log.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE const observers_word& find_observers(bool is_unchecked) noexcept {
  process_state& all = process();
  if (is_unchecked) all.unchecked_units.store(1, memory_order_relaxed);  // 2
  return all.observers;
}

/// The log of the calling thread if one of these observers is on; else null.
inline thread_log* log_for(std::uint32_t observers_of_it) noexcept {
  return (observers() & observers_of_it) != 0 ? log_of_this_thread() : nullptr;
}

LOCKSTEP_INLINE observed_wait::observed_wait(const wait_subject& what) noexcept {
  const std::uint32_t on = observers();
  thread_log* const log = on != 0 ? log_of_this_thread() : nullptr;
  if (log == nullptr) return;
  delay_if_on(*log, on);
  what_ = what;
  const construct_visit& in = log->here;
  if (what_.kind == wait_kind::of_construct && in.kind != nullptr && in.released == 0) {
    what_.construct = in.kind;
    what_.where = in.where;
    what_.rank = in.rank;
    what_.size = in.size;
  }
  is_shown_ = watch_others_than_ledger(on);
  if (is_shown_) what_.where = log->texts.kept(what_.where);
  since_ = stage_since_ = tick_clock::now();
  stage_ = furthest_ = wait_stage::spin;
  if (is_shown_) log->wait_begins({what_, since_}, (on & observer::watches) != 0);
  log_ = log;
}

/// Records the stage that ends.
LOCKSTEP_INLINE void observed_wait::record_stage(std::uint64_t now) noexcept {
  if (stage_ == wait_stage::spin) return;
  recorder::put(*log_, record_kind::stage, stage_since_, now,
                stage_ == wait_stage::sleep ? "sleep" : "yield", 0);
}

LOCKSTEP_INLINE void observed_wait::enter(wait_stage next) noexcept {
  if (log_ == nullptr || next == stage_) return;
  const std::uint64_t now = tick_clock::now();
  if (is_observed_by(observer::records)) record_stage(now);
  stage_ = next;
  stage_since_ = now;
  if (next > furthest_) furthest_ = next;
  if (is_shown_) log_->stage.store(static_cast<std::uint32_t>(next), memory_order_relaxed);  // 1
}

/// Counts a wait for the ledger, unless a worker waits for the next region.
LOCKSTEP_INLINE void count_wait(member_ledger& own, wait_kind kind, wait_stage furthest,
                                std::uint64_t ticks) noexcept {
  own.long_wait += ticks;
  if (kind == wait_kind::next_region) return;
  own.count(furthest == wait_stage::spin    ? ledger_count::waits_spun
            : furthest == wait_stage::yield ? ledger_count::waits_yielded
                                            : ledger_count::waits_slept);
}

/// Adds to the record of a wait the thread that has let this one go, if it has left a note.
LOCKSTEP_INLINE void add_releaser(thread_log& log, const wait_subject& what,
                                  trace_record& to) noexcept {
  to.released_by = trace_record::nobody;
  last_notify by;
  if (recorder::ring_of(log) == nullptr) return;
  const last_notifies& known = recorder::session()->notifies;
  if (!known.find(what.sleeps_on, to.begin, to.end, by) &&
      !known.find(what.object, to.begin, to.end, by)) {
    return;
  }
  if (by.track == log.track()) return;
  to.released_by = by.track;
  to.more = by.at;
  to.is_woken = by.wakes;
}

LOCKSTEP_INLINE observed_wait::~observed_wait() {
  if (log_ == nullptr) return;
  const std::uint64_t now = tick_clock::now();
  thread_log& log = *log_;
  const std::uint32_t on = observers();
  if (is_shown_) log.wait_ends((on & observer::watches) != 0);
  delay_if_on(log, on);
  if ((on & observer::accounts) != 0 && log.accounts != nullptr) {
    count_wait(*log.accounts, what_.kind, furthest_, now - since_);
  }
  if ((on & observer::records) == 0) return;
  record_stage(now);
  const char* const text = text_of(what_);
  const void* const of = what_.team != nullptr ? what_.team : what_.object;
  trace_record made =
      recorder::record_of(log, record_kind::wait, since_, now, text != nullptr ? text : "a word",
                          reinterpret_cast<std::uintptr_t>(of));
  made.detail = static_cast<std::uint8_t>(what_.kind);
  made.stage = static_cast<std::uint8_t>(furthest_);
  made.file = log.texts.kept(what_.where.file);
  made.line = static_cast<std::uint32_t>(what_.where.line);
  made.phase = what_.phase;
  made.size = what_.awaited;
  object_name name;
  if (object_names::find(what_.object, name)) made.label = log.texts.kept(name.text);
  add_releaser(log, what_, made);
  recorder::put(log, made);
}

LOCKSTEP_INLINE void count_mark(member_ledger& own, mark_kind kind) noexcept {
  switch (kind) {
    case mark_kind::share_taken_over: return own.count(ledger_count::shares_taken);
    case mark_kind::anticipated: return own.count(ledger_count::anticipated);
    case mark_kind::missed_wake_up: return own.count(ledger_count::missed);
    case mark_kind::separated: return own.count(ledger_count::separated);
    default: return;
  }
}

LOCKSTEP_INLINE void note_mark(mark_kind kind, const char* name, const char* why,
                               std::uint64_t number) noexcept {
  const std::uint32_t on = observers();
  thread_log* const log = log_of_this_thread();
  if (log == nullptr) return;
  if ((on & observer::accounts) != 0 && log->accounts != nullptr) count_mark(*log->accounts, kind);
  if ((on & observer::records) == 0) return;
  const std::uint64_t now = tick_clock::now();
  trace_record made = recorder::record_of(*log, record_kind::mark, now, now, name, number);
  made.detail = static_cast<std::uint8_t>(kind);
  made.label = log->texts.kept(why);
  recorder::put(*log, made);
}
LOCKSTEP_INLINE void note_user_mark(const char* name, std::uint64_t value) noexcept {
  note_mark(mark_kind::user, name, nullptr, value);
}

LOCKSTEP_INLINE void note_counter(const char* name, double value) noexcept {
  thread_log* const log = log_for(observer::records);
  if (log == nullptr) return;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const std::uint64_t now = tick_clock::now();
  recorder::put(*log, record_kind::counter, now, now, name, bits);
}

/// The thread with that log is about to let go the threads that wait for `word`, or to wake those that sleep on it.
LOCKSTEP_ALWAYS_INLINE void note_release(thread_log& log, const void* word, std::uint64_t now,
                                         bool wakes) noexcept {
  if (recorder::ring_of(log) == nullptr) return;  // it has no track
  recorder::session()->notifies.note(word, {log.track(), now, wakes});
}

LOCKSTEP_INLINE void note_wake(const void* word) noexcept {
  thread_log* const log = log_for(observer::records);
  if (log == nullptr) return;
  const std::uint64_t now = tick_clock::now();
  note_release(*log, word, now, true);
  recorder::put(*log, record_kind::wake, now, now, nullptr, reinterpret_cast<std::uintptr_t>(word));
}

LOCKSTEP_INLINE void note_lock(const void* object, bool is_taken) noexcept {
  // Giving up a lock may let a waiter go, which the recorder notes. Taking one is for the watchdog only.
  const std::uint32_t who = observer::watches | (is_taken ? 0u : std::uint32_t{observer::records});
  const std::uint32_t on = observers() & who;
  thread_log* const log = on != 0 ? log_of_this_thread() : nullptr;
  if (log == nullptr) return;
  if ((on & observer::records) != 0) note_release(*log, object, tick_clock::now(), false);
  if ((on & observer::watches) == 0) return;
  if (is_taken) {
    log->lock_taken(object);
  } else {
    log->lock_left(object);
  }
}

LOCKSTEP_INLINE void note_thread(const void* word) noexcept {
  if (thread_log* const log = log_for(observer::watches)) log->thread_begins(word);
}

LOCKSTEP_INLINE void pass_sync_point() noexcept {
  if (thread_log* const log = log_for(observer::delays)) delay_if_on(*log, observer::delays);
}

LOCKSTEP_INLINE void pass_notify_point(const void* word) noexcept {
  pass_sync_point();
  thread_log* const log = log_for(observer::records);
  if (log != nullptr) note_release(*log, word, tick_clock::now(), false);
}

LOCKSTEP_INLINE void node_begins(const char* name) noexcept {
  if (thread_log* const log = log_for(observer::watches)) {
    log->node_begins(name, tick_clock::now());
  }
}

LOCKSTEP_INLINE void note_node_wait(const char* name, source_place plan,
                                    std::uint64_t ticks) noexcept {
  const thread_log* const log = log_for(observer::accounts);
  if (log != nullptr && log->accounts != nullptr) {
    log->accounts->note_node(keep_text(name), plan, ticks);
  }
}

LOCKSTEP_INLINE void note_node(const char* name, std::uint64_t iteration,
                               std::uint64_t begin) noexcept {
  const std::uint32_t on = observers();
  thread_log* const log = log_for(observer::records | observer::watches);
  if (log == nullptr) return;
  if ((on & observer::watches) != 0) log->node_ends(tick_clock::now());
  if ((on & observer::records) == 0) return;
  recorder::put(*log, record_kind::node, begin, tick_clock::now(), name, iteration);
}

/// From now on the thread is in the user's region of that name; null: in none.
LOCKSTEP_INLINE void name_region_of(thread_log& log, const char* name) noexcept {
  log.region_name = name;
  member_ledger* const own = is_observed_by(observer::accounts) ? log.accounts : nullptr;
  if (own != nullptr) own->label = name != nullptr ? keep_text(name) : own->paces.label;
}

LOCKSTEP_INLINE std::uint64_t scope_begins(const char* name, const char*& outer) noexcept {
  thread_log* const log = log_of_this_thread();
  if (log == nullptr) return 0;
  outer = log->region_name;
  name_region_of(*log, name);
  return tick_clock::now();
}

LOCKSTEP_INLINE void scope_ends(const char* name, const char* outer, std::uint64_t since) noexcept {
  thread_log* const log = log_of_this_thread();
  if (log == nullptr) return;
  name_region_of(*log, outer);
  if (!is_observed_by(observer::records)) return;
  recorder::put(*log, record_kind::user, since, tick_clock::now(), name, 0);
}

}  // namespace detail

LOCKSTEP_INLINE bool name_object(const void* object, const char* name) noexcept {
  return detail::object_names::set(object, name);
}

LOCKSTEP_INLINE void name_this_thread(const char* name) noexcept {
  if (name == nullptr) name = "";
  detail::name_this_thread(name);
  detail::thread_log* const log = detail::log_of_this_thread();
  if (log == nullptr) return;
  detail::thread_name shown_name = {};
  std::snprintf(shown_name.text, sizeof shown_name.text, "%s", name);
  log->name.show(shown_name);
  if (!is_tracing()) return;
  const std::uint64_t now = detail::tick_clock::now();
  detail::trace_record made =
      detail::recorder::record_of(*log, detail::record_kind::begin, now, now, name, 0);
  made.detail = 1;
  detail::recorder::put(*log, made);
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
