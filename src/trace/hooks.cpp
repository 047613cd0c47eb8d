// SPDX-License-Identifier: MIT
// src/trace/hooks.cpp -- the hooks of observe/hooks.hpp, but for the ledger's (layer: trace)
//
// Memory order (# marks the line)
//   #  access        order    pairs  why it suffices
//   1  stage         relaxed  -      a hint for others
//   2  steps         relaxed  -      as 1
#include <cstring>

#include "../observe/hooks.hpp"

#include "delay_hooks.hpp"
#include "ledger_hooks.hpp"
#include "object_names.hpp"
#include "recorder.hpp"
#include "thread_log.hpp"
#include "trace_export.hpp"
#include "watch_hooks.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The thread passes a hook at which it may be delayed.
inline void note_step(thread_log& log, std::uint32_t on = 0) noexcept {
  if ((on & observer::delays) != 0) delay_hooks::point(log);
  log.steps.store(log.steps.load(memory_order_relaxed) + 1, memory_order_relaxed);  // 2
}

LOCKSTEP_INLINE void observed_wait::begin(const wait_subject& what) noexcept {
  thread_log* const log = log_of_this_thread();
  if (log == nullptr) return;
  const std::uint32_t on = observers();
  note_step(*log, on);
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
  if ((on & observer::watches) != 0) watch_hooks::wait_begins(*log, what_);
  if (is_shown_) log->wait_begins({what_, since_});
  log_ = log;
}

/// The stage that is over.
LOCKSTEP_INLINE void observed_wait::record_stage(std::uint64_t now) noexcept {
  if (stage_ == wait_stage::spin) return;
  recorder::put(*log_, record_kind::stage, static_cast<std::uint8_t>(stage_), stage_since_, now,
                stage_ == wait_stage::sleep ? "sleep" : "yield", 0);
}

LOCKSTEP_INLINE void observed_wait::change(wait_stage next) noexcept {
  if (next == stage_) return;
  const std::uint64_t now = tick_clock::now();
  if (is_observed_by(observer::records)) record_stage(now);
  stage_ = next;
  stage_since_ = now;
  if (next > furthest_) furthest_ = next;
  if (is_shown_) log_->stage.store(static_cast<std::uint32_t>(next), memory_order_relaxed);  // 1
}

/// Who has let the thread go, if that has left word of it. Behind the records of the wait.
LOCKSTEP_INLINE void put_releaser(thread_log& log, const wait_subject& what, std::uint64_t since,
                                  std::uint64_t now) noexcept {
  std::uint32_t from = 0;
  std::uint64_t sent = 0;
  if (recorder::ring_of(log) == nullptr) return;
  const last_notifies& known = recorder::session()->notifies;
  if (!known.find(what.sleeps_on, since, now, from, sent) &&
      !known.find(what.object, since, now, from, sent)) {
    return;
  }
  if (from != log.track()) recorder::put(log, record_kind::let_go, 0, sent, now, nullptr, from);
}

LOCKSTEP_INLINE void observed_wait::end() noexcept {
  const std::uint64_t now = tick_clock::now();
  thread_log& log = *log_;
  if (is_shown_) log.wait_ends();
  const std::uint32_t on = observers();
  note_step(log, on);
  if ((on & observer::watches) != 0) watch_hooks::wait_ends(log, what_);
  if ((on & observer::accounts) != 0) ledger_hooks::wait_ended(log, what_, furthest_, since_, now);
  if ((on & observer::records) == 0) return;
  record_stage(now);
  const char* const text = text_of(what_);
  recorder::put(
      log, {trace_record::of(record_kind::wait, trace_record::detail_of(furthest_, what_.kind),
                             since_, now, log.texts.kept(text != nullptr ? text : "a word"),
                             reinterpret_cast<std::uintptr_t>(
                                 what_.team != nullptr ? what_.team : what_.object)),
            trace_record::rest_of(log.texts.kept(what_.where.file), what_.rank, what_.awaited,
                                  reinterpret_cast<std::uintptr_t>(what_.sleeps_on), what_.phase,
                                  what_.where.line)});
  object_name name;
  if (object_names::find(what_.object, name)) {
    recorder::put(log, record_kind::label, 0, now, now, name.text, 0);
  }
  put_releaser(log, what_, since_, now);
}

/// The member has come to a construct.
LOCKSTEP_INLINE void show_visit(const member_view& self, std::uint32_t on) noexcept {
  thread_log* const log = log_of_this_thread();
  if (log == nullptr) return;
  const construct_note& note = self.in_construct;
  const observed_member who = self.observed();
  log->here = {log->texts.kept(note.kind),
               log->texts.kept(note.where),
               note.extent,
               who.team,
               who.region,
               who.rank,
               who.size,
               0 /*phase*/,
               note.came,
               0,
               0};
  if ((on & observer::watches) != 0) watch_hooks::visit_changes(*log, log->here);
  note_step(*log);
}

LOCKSTEP_INLINE void member_comes(member_view& self, const char* kind, source_place where,
                                  std::size_t extent) noexcept {
  const std::uint32_t on = observers();
  const bool is_shown = watch_others_than_ledger(on);
  self.in_construct = {kind, where, extent, LOCKSTEP_UNLIKELY(is_shown) ? tick_clock::now() : 0};
  if (LOCKSTEP_UNLIKELY(is_shown)) show_visit(self, on);
}

LOCKSTEP_INLINE thread_log* show_arrival(member_view& self, std::uint32_t on) noexcept {
  construct_note& note = self.in_construct;
  const std::uint64_t came = note.came;
  note.came = 0;  // it may meet the others once more
  thread_log* const log = log_of_this_thread();
  if (log == nullptr) return nullptr;
  note_step(*log, on);
  const std::uint64_t now = tick_clock::now();
  const bool is_known = note.kind != nullptr;
  const observed_member who = self.observed();
  log->here = {log->texts.kept(is_known ? note.kind : "a barrier of the team"),
               is_known ? log->texts.kept(note.where) : source_place{nullptr, 0},
               note.extent,
               who.team,
               who.region,
               who.rank,
               who.size,
               self.next_phase(),
               is_known && came != 0 ? came : now,
               now,
               0};
  if ((on & observer::watches) != 0) watch_hooks::visit_changes(*log, log->here);
  return log;
}

LOCKSTEP_INLINE void show_release(thread_log& log) noexcept {
  construct_visit& here = log.here;
  here.released = tick_clock::now();
  const std::uint32_t on = observers();
  note_step(log, on);
  if ((on & observer::watches) != 0) watch_hooks::visit_changes(log, here);
  if ((on & observer::records) == 0) return;
  const std::uint64_t line = here.where.line & 0xFFFFFFu, most = (std::uint64_t{1} << 40) - 1;
  const std::uint64_t before = here.arrived - here.came;
  recorder::put(log, {trace_record::of(record_kind::construct, 0, here.came, here.released,
                                       log.texts.kept(here.kind),
                                       reinterpret_cast<std::uintptr_t>(here.team)),
                      trace_record::rest_of(log.texts.kept(here.where.file), here.rank, here.size,
                                            line | (before < most ? before : most) << 24,
                                            here.region, here.phase)});
}

LOCKSTEP_INLINE void record_region(const region_view& of) noexcept {
  thread_log* const log = log_of_this_thread();
  if (log == nullptr) return;
  note_step(*log);
  if (!is_observed_by(observer::records)) return;
  const std::uint64_t now = tick_clock::now();
  const observed_region& what = of.what;
  recorder::put(
      *log, {trace_record::of(record_kind::region, 0, of.since, now, log->texts.kept(what.kind),
                              reinterpret_cast<std::uintptr_t>(of.team.team)),
             trace_record::rest_of(log->texts.kept(log->region_name), 0, what.size, what.iterations,
                                   what.region, what.parts)});
  if (what.where.file == nullptr) return;
  recorder::put(*log, record_kind::site, 0, now, now, what.where.file, what.where.line);
}

LOCKSTEP_INLINE open_part* show_part(const observed_member& who, std::uint32_t part,
                                     bool is_of_loop) noexcept {
  const std::uint32_t on = observers();
  thread_log* const log = log_of_this_thread();
  if (log == nullptr) return nullptr;
  note_step(*log, on);
  if (log->open_parts == thread_log::most_parts) return nullptr;
  open_part& made = log->parts[log->open_parts++];
  made = {who, part, is_of_loop, tick_clock::now()};
  if ((on & observer::watches) != 0) {
    watch_hooks::part_begins(*log, {who.team, who.region, who.rank, who.size, made.since, 0});
  }
  return &made;
}

LOCKSTEP_INLINE open_part* loop_part_begins(const observed_member& who,
                                            std::uint32_t part) noexcept {
  return watch_others_than_ledger(observers()) ? show_part(who, part, true) : nullptr;
}

LOCKSTEP_INLINE void loop_part_ends(open_part& what) noexcept {
  const std::uint64_t now = tick_clock::now();
  thread_log* const log = log_of_this_thread();
  if (log == nullptr) return;
  log->open_parts = static_cast<std::uint32_t>(&what - log->parts);
  const std::uint32_t on = observers();
  note_step(*log, on);
  if ((on & observer::watches) != 0) watch_hooks::part_ends(*log, now);
  if ((on & observer::records) == 0) return;
  const observed_member& who = what.who;
  recorder::put(*log,
                {trace_record::of(record_kind::part, what.is_of_loop ? 1 : 0, what.since, now,
                                  log->texts.kept(what.is_of_loop ? "part of a loop" : "part"),
                                  reinterpret_cast<std::uintptr_t>(who.team)),
                 trace_record::rest_of(nullptr, who.rank, who.size, 0, who.region, what.part)});
}

LOCKSTEP_INLINE void note_mark(mark_kind kind, const char* name, const char* why,
                               std::uint64_t number) noexcept {
  const std::uint32_t on = observers();
  thread_log* const log = log_of_this_thread();
  if (log == nullptr) return;
  if ((on & observer::accounts) != 0) ledger_hooks::marked(*log, kind);
  if ((on & observer::records) == 0) return;
  const std::uint64_t now = tick_clock::now();
  const trace_record mark = trace_record::of(record_kind::mark, static_cast<std::uint8_t>(kind),
                                             now, now, log->texts.kept(name), number);
  if (why == nullptr) return recorder::put(*log, {mark});
  recorder::put(*log, {mark, trace_record::rest_of(log->texts.kept(why), 0, 0, 0, 0, 0)});
}

LOCKSTEP_INLINE void note_counter(const char* name, double value) noexcept {
  if (!is_observed_by(observer::records)) return;
  thread_log* const log = log_of_this_thread();
  if (log == nullptr) return;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const std::uint64_t now = tick_clock::now();
  recorder::put(*log, record_kind::counter, 0, now, now, name, bits);
}

/// A thread is about to let those go that wait for `word`.
LOCKSTEP_INLINE void note_notify(const void* word) noexcept {
  if (!is_observed_by(observer::records)) return;
  thread_log* const log = log_of_this_thread();
  if (log == nullptr || recorder::ring_of(*log) == nullptr) return;  // or it has no track
  recorder::session()->notifies.note(word, log->track(), tick_clock::now());
}

LOCKSTEP_INLINE void note_lock(const void* object, bool is_taken) noexcept {
  if (!is_taken) note_notify(object);
  if (!is_observed_by(observer::watches)) return;
  thread_log* const log = log_of_this_thread();
  if (log == nullptr) return;
  if (is_taken) {
    watch_hooks::lock_taken(*log, object);
  } else {
    watch_hooks::lock_left(*log, object);
  }
}

LOCKSTEP_INLINE void pass_sync_point() noexcept {
  if (!is_observed_by(observer::delays)) return;
  if (thread_log* const log = log_of_this_thread()) delay_hooks::point(*log);
}

LOCKSTEP_INLINE void pass_notify_point(const void* word) noexcept {
  pass_sync_point();
  note_notify(word);
}

LOCKSTEP_INLINE void note_wake(const void* word) noexcept {
  if (!is_observed_by(observer::records)) return;
  thread_log* const log = log_of_this_thread();
  if (log == nullptr) return;
  const std::uint64_t now = tick_clock::now();
  recorder::put(*log, record_kind::wake, 0, now, now, nullptr,
                reinterpret_cast<std::uintptr_t>(word));
}

LOCKSTEP_INLINE void node_begins(const char* name) noexcept {
  if (!is_observed_by(observer::watches)) return;
  if (thread_log* const log = log_of_this_thread()) {
    watch_hooks::node_begins(*log, name, tick_clock::now());
  }
}

LOCKSTEP_INLINE void note_node_wait(const char* name, source_place plan,
                                    std::uint64_t ticks) noexcept {
  if (!is_observed_by(observer::accounts)) return;
  if (thread_log* const log = log_of_this_thread()) {
    ledger_hooks::waited_for_node(*log, name, plan, ticks);
  }
}

LOCKSTEP_INLINE void note_node(const char* name, std::uint64_t iteration, bool is_taken_over,
                               std::uint64_t begin) noexcept {
  const std::uint32_t on = observers();
  if ((on & (observer::records | observer::watches)) == 0) return;
  thread_log* const log = log_of_this_thread();
  if (log == nullptr) return;
  if ((on & observer::watches) != 0) watch_hooks::node_ends(*log, tick_clock::now());
  if ((on & observer::records) == 0) return;
  recorder::put(*log, record_kind::node, is_taken_over ? 1 : 0, begin, tick_clock::now(), name,
                iteration);
}

LOCKSTEP_INLINE std::uint64_t scope_begins(const char* name, const char*& outer) noexcept {
  thread_log* const log = log_of_this_thread();
  if (log == nullptr) return 0;
  outer = log->region_name;
  log->region_name = name;
  if (is_observed_by(observer::accounts)) ledger_hooks::region_changes(*log);
  return tick_clock::now();
}

LOCKSTEP_INLINE void scope_ends(const char* name, const char* outer, std::uint64_t since) noexcept {
  thread_log* const log = log_of_this_thread();
  if (log == nullptr) return;
  log->region_name = outer;
  if (is_observed_by(observer::accounts)) ledger_hooks::region_changes(*log);
  if (!is_observed_by(observer::records)) return;
  recorder::put(*log, record_kind::user, 0, since, tick_clock::now(), name, 0);
}

LOCKSTEP_INLINE void start_trace_of_program(const char* path, const char* whose,
                                            std::size_t records) {
  trace_export::start_for_program(path, whose, records);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
