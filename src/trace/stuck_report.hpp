// SPDX-License-Identifier: MIT
// src/trace/stuck_report.hpp -- which threads wait for which, which are missing, which form a ring (layer: trace)
//
// Functions of a snapshot of all threads, which the watchdog takes. They make a text for people.
//
//   STUCK-1  A member has come to a phase if it has arrived in its last construct of that region, in that phase or a
//            later one. All other members of the region are missing: a member that was let go from a phase has seen all
//            arrive in it.
//   STUCK-2  A wait leads from a thread to each thread without which it cannot end: the member that it names, each
//            missing member, the holder of a lock, the thread that is joined. So threads in a ring of such steps wait
//            for ever, unless one of the waits has a time limit or is stopped from outside. Waits that began after the
//            snapshot began do not count: all others were under way when the first thread was looked at.
//   STUCK-3  What is not known adds no step. So every ring that is found is real, but some may not be found.
#ifndef LOCKSTEP_SRC_TRACE_STUCK_REPORT_HPP
#define LOCKSTEP_SRC_TRACE_STUCK_REPORT_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/topology.hpp>

#include "../platform/system_texts.hpp"
#include "names.hpp"
#include "thread_log.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Whether it is the wait of an idle worker, which is not reported.
inline bool is_idle(const wait_subject& what) noexcept {
  return what.kind == wait_kind::next_region;
}

/// What was seen of a thread.
struct seen_thread {
  char label[80];        ///< "thread 4711 'lockstep 3'"
  std::uint64_t number;  ///< thread_log::thread(): 0 if it has ended
  char state;            ///< as the system tells it: R, S, D, T, ...; 0: not known
  std::uint32_t wait_count, visit_count;
  shown_wait waits[thread_log::most_waits];         ///< the outermost first
  wait_stage stage;                                 ///< of the innermost
  construct_visit visits[thread_log::most_visits];  ///< the latest last
  open_part part;  ///< the innermost part, or the last one; team is null if there was none
  node_visit node;
  held_locks held;
  last_meetings met;

  seen_thread() noexcept { std::memset(static_cast<void*>(this), 0, sizeof *this); }

  /// The wait that counts: the innermost one. Null if the thread does not wait, or is idle.
  const shown_wait* wait() const noexcept {
    if (wait_count == 0) return nullptr;
    const shown_wait& innermost = waits[wait_count - 1];
    return is_idle(innermost.what) ? nullptr : &innermost;
  }
  const construct_visit* last_visit() const noexcept {
    return visit_count != 0 ? &visits[visit_count - 1] : nullptr;
  }
  /// The construct in which it waits. Nothing shows the end of a construct that has no meeting.
  const construct_visit* visit_under_way() const noexcept {
    const construct_visit* const last = last_visit();
    const bool is_in = last != nullptr && last->released == 0 && wait() != nullptr &&
                       wait()->since >= last->came && part.ended <= last->came;
    return is_in ? last : nullptr;
  }
  /// The construct in which it waits for all others.
  const construct_visit* meeting() const noexcept {
    const construct_visit* const in = visit_under_way();
    return in != nullptr && in->phase != 0 && in->arrived != 0 ? in : nullptr;
  }
  bool is_in_node() const noexcept {
    return node.began > part.began && node.ended == 0 && part.ended == 0;
  }
  /// STUCK-1.
  bool has_come(const construct_visit& to) const noexcept {
    for (std::uint32_t k = visit_count; k-- > 0;) {
      const construct_visit& visit = visits[k];
      if (visit.team != to.team || visit.region != to.region || visit.phase == 0) continue;
      return visit.arrived != 0 && static_cast<std::int32_t>(visit.phase - to.phase) >= 0;
    }
    return false;
  }
  /// Whether another thread waits for the end of this one, or for a lock that this one holds.
  bool is_awaited_in(const wait_subject& what) const noexcept {
    if (held.end != nullptr && held.end == what.sleeps_on) return true;
    std::uint32_t k = 0;
    while (k < held.count && held.objects[k] != what.object) ++k;
    return what.object != nullptr && k < held.count;
  }
};

/// The ranks that have come to where a thread waits for others, and those that have not. Both empty: it does not.
struct attendance {
  std::vector<std::uint32_t> come, missing;

  void add(std::uint32_t rank, bool is_there) { (is_there ? come : missing).push_back(rank); }
};

/// Two members that were at different places in the same phase of a region: the earliest such phase that is known.
struct construct_mismatch {
  construct_visit one, other;

  static bool are_unlike(const char* x, const char* y) noexcept {
    return x != nullptr && y != nullptr && std::strcmp(x, y) != 0;
  }
  static bool differ(const construct_visit& a, const construct_visit& b) noexcept {
    if (are_unlike(a.kind, b.kind)) return true;
    return are_unlike(a.where.file, b.where.file) || a.where.line != b.where.line;
  }
};

struct stuck_snapshot {
  static constexpr std::size_t none = ~std::size_t{0};

  std::vector<seen_thread> threads;
  std::uint64_t now;  ///< tick at which the first thread was looked at
  double ticks_per_second;

  double seconds_since(std::uint64_t tick) const noexcept {
    return now > tick ? static_cast<double>(now - tick) / ticks_per_second : 0;
  }

  /// The thread that is this member, or that was it last in this region.
  std::size_t member(const void* team, std::uint32_t region, std::uint32_t rank) const noexcept {
    std::size_t found = none;
    for (std::size_t i = 0; i < threads.size(); ++i) {
      const seen_thread& one = threads[i];
      const open_part& part = one.part;
      if (part.team == team && part.region == region && part.rank == rank) return i;
      // A member of a sub-team is known by its constructs only.
      for (std::uint32_t k = 0; k < one.visit_count; ++k) {
        const construct_visit& visit = one.visits[k];
        if (visit.team == team && visit.region == region && visit.rank == rank) found = i;
      }
    }
    return found;
  }
  /// The thread that was this member in the thread's last region.
  std::size_t former_member(const void* team, std::uint32_t rank) const noexcept {
    for (std::size_t i = 0; i < threads.size(); ++i) {
      if (threads[i].part.team == team && threads[i].part.rank == rank) return i;
    }
    return none;
  }
  /// The member that a thread waits for. False if that is not known.
  bool find_awaited(const seen_thread& one, observed_member& found) const noexcept {
    const shown_wait* const wait = one.wait();
    if (wait == nullptr || wait->what.awaited == wait_subject::nobody) return false;
    const bool is_said = wait->what.team != nullptr;
    found.team = is_said ? wait->what.team : one.part.team;
    found.region = is_said ? wait->what.region : one.part.region;
    found.rank = wait->what.awaited;
    return found.team != nullptr;
  }

  /// The members at the phase in which this thread waits.
  attendance at_phase(const seen_thread& one) const {
    attendance found;
    const construct_visit* const in = one.meeting();
    for (std::uint32_t rank = 0; in != nullptr && rank < in->size; ++rank) {
      const std::size_t thread = member(in->team, in->region, rank);
      found.add(rank, rank == in->rank || (thread != none && threads[thread].has_come(*in)));
    }
    return found;
  }

  /// Whether a thread waits for the same object in the same phase.
  static bool is_there(const seen_thread& one, const wait_subject& at) noexcept {
    const shown_wait* const wait = one.wait();
    return wait != nullptr && at.object != nullptr && wait->what.object == at.object &&
           wait->what.phase == at.phase && wait->what.expected == at.expected;
  }
  /// The ranks at the object at which this thread waits for others. Those that wait there in this phase have come, and
  /// so have those that they saw.
  attendance at_object(const seen_thread& one) const {
    attendance found;
    const shown_wait* const wait = one.wait();
    if (wait == nullptr || wait->what.expected == 0) return found;
    std::vector<bool> has_come(wait->what.expected);
    const auto note = [&](std::uint32_t rank) {
      if (rank < has_come.size()) has_come[rank] = true;
    };
    for (const seen_thread& other : threads) {
      if (!is_there(other, wait->what)) continue;
      note(other.wait()->what.rank);
      for (std::uint32_t bit = 0; bit < 64; ++bit) {
        if ((other.wait()->what.come >> bit & 1u) != 0) note(bit);
      }
    }
    for (std::uint32_t rank = 0; rank < wait->what.expected; ++rank)
      found.add(rank, has_come[rank]);
    return found;
  }
  /// The thread that once waited at this object with this rank, and does not wait there now.
  std::size_t former_rank(const wait_subject& at, std::uint32_t rank) const noexcept {
    for (std::size_t i = 0; i < threads.size(); ++i) {
      const last_meetings& met = threads[i].met;
      for (std::uint32_t k = 0; k < met.count && !is_there(threads[i], at); ++k) {
        if (met.all[k].object == at.object && met.all[k].rank == rank) return i;
      }
    }
    return none;
  }

  /// The threads without which this one cannot go on: STUCK-2.
  std::vector<std::size_t> awaited_by(std::size_t thread) const {
    std::vector<std::size_t> found;
    const auto add = [&](std::size_t other) {
      if (other != none) found.push_back(other);
    };
    const seen_thread& one = threads[thread];
    const shown_wait* const wait = one.wait();
    if (wait == nullptr || wait->since >= now) return found;
    observed_member of;
    if (const construct_visit* const in = one.meeting()) {
      for (const std::uint32_t rank : at_phase(one).missing)
        add(member(in->team, in->region, rank));
    } else if (find_awaited(one, of)) {
      const std::size_t other = member(of.team, of.region, of.rank);
      // Where that member waits outside of nodes, another one may run its step.
      const bool is_of_plan = wait->what.kind == wait_kind::step_of_plan;
      const bool waits = other != none && threads[other].wait() != nullptr;
      if (!is_of_plan || !waits || threads[other].is_in_node()) add(other);
    } else {
      for (std::size_t i = 0; i < threads.size(); ++i) {
        if (threads[i].is_awaited_in(wait->what)) add(i);
      }
    }
    return found;
  }

  /// Threads that wait for each other, each for the next one, the last for the first; empty if there are none.
  std::vector<std::size_t> find_ring() const {
    std::vector<step_to> marks(threads.size(), step_to::fresh);
    std::vector<std::size_t> way;
    for (std::size_t start = 0; start < threads.size(); ++start) {
      if (marks[start] == step_to::fresh && finds_ring_from(start, marks, way)) break;
    }
    return way;
  }

  bool find_mismatch(const construct_visit& in, construct_mismatch& found) const {
    bool is_found = false;
    const auto compare = [&](const construct_visit& a, const construct_visit& b) {
      if (a.phase != b.phase || a.rank >= b.rank || !construct_mismatch::differ(a, b)) return;
      if (is_found && static_cast<std::int32_t>(a.phase - found.one.phase) >= 0) return;
      is_found = true;
      found = {a, b};
    };
    std::vector<construct_visit> visits;
    for (const seen_thread& one : threads) {
      for (std::uint32_t k = 0; k < one.visit_count; ++k) {
        const construct_visit& visit = one.visits[k];
        if (visit.team == in.team && visit.region == in.region && visit.phase != 0) {
          visits.push_back(visit);
        }
      }
    }
    for (const construct_visit& a : visits) {
      for (const construct_visit& b : visits) compare(a, b);
    }
    return is_found;
  }

 private:
  enum class step_to : unsigned char { fresh, way, done };

  /// A search depth first. When it meets a thread that is on the way already, the way from that thread on is a ring.
  bool finds_ring_from(std::size_t thread, std::vector<step_to>& marks,
                       std::vector<std::size_t>& way) const {
    marks[thread] = step_to::way;
    way.push_back(thread);
    for (const std::size_t to : awaited_by(thread)) {
      if (marks[to] == step_to::way) {
        way.erase(way.begin(), std::find(way.begin(), way.end(), to));
        return true;
      }
      if (marks[to] == step_to::fresh && finds_ring_from(to, marks, way)) return true;
    }
    marks[thread] = step_to::done;
    way.pop_back();
    return false;
  }
};

/// Whether waits get more time before the watchdog looks at them. If it slept much longer than it meant to, the whole
/// process was stopped, and so were the threads that others wait for. Times are in nanoseconds.
class stop_excuse {
 public:
  /// Asked after each sleep. It is never true twice in a row: a watchdog that always oversleeps must report, too.
  bool is_due(std::uint64_t limit, std::uint64_t meant, std::uint64_t slept) noexcept {
    const bool was_stopped = slept > meant && slept - meant > limit / 2 + 1000000;
    was_due_ = was_stopped && !was_due_;
    return was_due_;
  }
  /// How much more time.
  static std::uint64_t time_of(std::uint64_t limit) noexcept { return limit / 4 + 1; }

 private:
  bool was_due_ = false;
};

/// The snapshot as a text of several lines.
class stuck_text {
 public:
  stuck_text(const stuck_snapshot& all, const char* why) : all_(all), text_(why) {
    text_.append("\n");
    for (std::size_t i = 0; i < all.threads.size(); ++i) add_line(i);
    for (std::size_t i = 0; i < all.threads.size(); ++i) add_phase(i);
    for (std::size_t i = 0; i < all.threads.size(); ++i) add_arrivals(i);
    add_ring();
  }

  std::string text() { return std::move(text_); }

 private:
  static constexpr std::size_t most_members = 16;

  double seconds(std::uint64_t since) const noexcept { return all_.seconds_since(since); }

  /// If the line is 0, the file is the name of a function.
  void add_place(source_place where) {
    if (where.file == nullptr) return;
    append(text_, " (%s", where.file);
    if (where.line != 0) append(text_, ":%zu", where.line);
    append(text_, ")");
  }
  void add_construct(const construct_visit& visit) {
    append(text_, "%s", visit.kind != nullptr ? visit.kind : "a construct");
    add_place(visit.where);
  }
  void add_visit(const construct_visit& visit) {
    add_construct(visit);
    if (visit.phase != 0) append(text_, ", phase %u", visit.phase);
  }
  void add_name(const void* object) {
    object_name name;
    if (object_names::find(object, name)) append(text_, " '%s'", one_line(name.text).c_str());
  }
  void add_label(std::size_t thread) { text_.append(all_.threads[thread].label); }
  /// Requires: the ranks ascend. As "ranks 0-6, 8".
  void add_ranks(const char* before, const std::vector<std::uint32_t>& ranks) {
    text_.append(before);
    append(text_, ranks.size() == 1 ? "rank " : ranks.empty() ? "none" : "ranks ");
    append_ranges(text_, ranks, ", ");
  }

  void add_line(std::size_t thread) {
    const seen_thread& one = all_.threads[thread];
    text_.append("  ");
    add_label(thread);
    if (one.part.team != nullptr && one.part.size > 1) {
      append(text_, ", %srank %u of %u in region %u of team %p", one.part.ended != 0 ? "was " : "",
             one.part.rank, one.part.size, one.part.region, one.part.team);
    }
    add_doing(thread);
  }

  void add_doing(std::size_t thread) {
    const seen_thread& one = all_.threads[thread];
    text_.append(": ");
    if (one.wait() != nullptr) {
      add_wait(thread, *one.wait());
    } else if (one.wait_count != 0) {
      text_.append("idle, waits for the next region");
      add_last(one);
    } else {
      append(text_, "waits for nothing that lockstep knows%s", of_state(one.state));
      add_last(one);
    }
    for (std::uint32_t k = 0; k < one.held.count; ++k) {
      append(text_, "%s %p", k == 0 ? "; holds the lock at" : ",", one.held.objects[k]);
      add_name(one.held.objects[k]);
    }
    text_.append("\n");
  }

  void add_wait(std::size_t thread, const shown_wait& wait) {
    const seen_thread& one = all_.threads[thread];
    append(text_, "waits %.3g s for ", seconds(wait.since));
    add_subject(one, wait.what);
    text_.append(one.stage == wait_stage::sleep   ? ", asleep"
                 : one.stage == wait_stage::yield ? ", yielding"
                                                  : ", spinning");
    if (one.meeting() != nullptr) return;  // add_phase() names the missing members
    for (const std::size_t other : all_.awaited_by(thread)) {
      const bool is_lock =
          wait.what.awaited == wait_subject::nobody && wait.what.kind != wait_kind::joinable_thread;
      text_.append(is_lock ? "; held by " : "; that is up to ");
      add_label(other);
    }
    if (one.visit_under_way() == nullptr) add_last(one);
  }

  void add_subject(const seen_thread& one, const wait_subject& what) {
    const construct_visit* const in = one.visit_under_way();
    const bool meets = one.meeting() != nullptr;
    if (in != nullptr && in->kind != nullptr) {
      add_visit(*in);
      // What the construct waits for, if that is not the barrier.
      if (!meets && text_of(what) != nullptr) {
        text_.append(": ");
        add_object(what);
      }
    } else {
      add_object(what);
      if (what.phase != 0) append(text_, ", phase %u", what.phase);
    }
    if (what.expected != 0 && what.rank != wait_subject::nobody) {
      append(text_, ", as rank %u of %u", what.rank, what.expected);
    }
    if (what.awaited != wait_subject::nobody && !meets) append(text_, " of rank %u", what.awaited);
  }

  /// For example "lockstep::event 'ready' at 0x1000 (solver.cpp:12)".
  void add_object(const wait_subject& what) {
    const char* const kind = text_of(what);
    append(text_, "%s", kind != nullptr ? kind : "something");
    if (what.object != nullptr && what.awaited == wait_subject::nobody) {
      add_name(what.object);
      append(text_, " at %p", what.object);
    }
    add_place(what.where);
  }

  static const char* of_state(char state) noexcept {
    switch (state) {
      case 'R': return " (it runs on a CPU)";
      case 'S': return " (it sleeps in a call of the system)";
      case 'D': return " (it waits for a device)";
      case 'T':
      case 't': return " (it is stopped by a signal or a debugger)";
      default: return "";
    }
  }

  /// Where the thread was last.
  void add_last(const seen_thread& one) {
    if (one.is_in_node()) {
      append(text_, "; in node '%s' for %.3g s", one.node.name, seconds(one.node.began));
    }
    if (const construct_visit* const last = one.last_visit()) {
      text_.append("; it was last in ");
      add_visit(*last);
      if (last->released != 0) {
        append(text_, ", and left it %.3g s ago", seconds(last->released));
      } else {
        append(text_, ", to which it came %.3g s ago", seconds(last->came));
      }
    }
    if (one.part.team == nullptr) return;
    const bool has_ended = one.part.ended != 0;
    append(text_, "; its part of the region %s %.3g s ago", has_ended ? "ended" : "began",
           seconds(has_ended ? one.part.ended : one.part.began));
  }

  /// A missing rank, and the thread that it is or was.
  void add_rank(std::uint32_t rank, const char* who, std::size_t thread) {
    append(text_, "rank %u, %s", rank, who);
    if (thread == stuck_snapshot::none) {
      text_.append("\n");
    } else {
      add_label(thread);
      add_doing(thread);
    }
  }
  void add_member(const void* team, std::uint32_t region, std::uint32_t rank) {
    const std::size_t now = all_.member(team, region, rank),
                      before = all_.former_member(team, rank);
    if (now != stuck_snapshot::none) return add_rank(rank, "", now);
    const bool is_known = before != stuck_snapshot::none;
    add_rank(rank, is_known ? "who has not begun: " : "which no thread is known to be", before);
  }
  /// Ends the line on who has come, and calls add(rank) for the first ranks that are missing.
  template <class Add>
  void add_missing(const attendance& there, Add add) {
    add_ranks("; missing: ", there.missing);
    text_.append("\n");
    std::size_t said = 0;
    for (; said < there.missing.size() && said < most_members; ++said) add(there.missing[said]);
    if (said == there.missing.size()) return;
    append(text_, "    missing: %zu more\n", there.missing.size() - said);
  }

  /// Once for each phase that is awaited: for the first thread that waits for it.
  void add_phase(std::size_t thread) {
    const seen_thread& one = all_.threads[thread];
    const construct_visit* const in = one.meeting();
    observed_member of;
    if (in == nullptr) {
      if (!all_.find_awaited(one, of)) return;
      if (all_.member(of.team, of.region, of.rank) != stuck_snapshot::none) return;
      append(text_, "  missing in region %u of team %p: ", of.region, of.team);
      return add_member(of.team, of.region, of.rank);
    }
    for (std::size_t i = 0; i < thread; ++i) {
      const construct_visit* const other = all_.threads[i].meeting();
      if (other != nullptr && other->team == in->team && other->phase == in->phase) return;
    }
    text_.append("  ");
    add_visit(*in);
    const attendance there = all_.at_phase(one);
    add_ranks(": come: ", there.come);
    add_missing(there, [&](std::uint32_t rank) {
      text_.append("    missing: ");
      add_member(in->team, in->region, rank);
    });
    construct_mismatch found = {};
    if (!all_.find_mismatch(*in, found)) return;
    append(text_, "  different places in phase %u: rank %u was at ", found.one.phase,
           found.one.rank);
    add_construct(found.one);
    append(text_, ", rank %u at ", found.other.rank);
    add_construct(found.other);
    text_.append("; does one of them meet the others once too often, or too seldom?\n");
  }

  /// Once for each object at which others are to arrive, and each phase: for the first thread that waits there.
  void add_arrivals(std::size_t thread) {
    const shown_wait* const wait = all_.threads[thread].wait();
    if (wait == nullptr || (wait->what.expected == 0 && wait->what.left == 0)) return;
    const shown_wait* last = wait;  // the last to begin
    std::size_t count = 0;
    for (std::size_t i = 0; i < all_.threads.size(); ++i) {
      if (!all_.is_there(all_.threads[i], wait->what)) continue;
      if (i < thread) return;
      const shown_wait* const other = all_.threads[i].wait();
      if (other->since > last->since) last = other;
      ++count;
    }
    wait_subject what = wait->what;
    what.where = source_place{nullptr, 0};  // each waiter has its own
    text_.append("  ");
    add_object(what);
    if (what.phase != 0) append(text_, ", phase %u", what.phase);
    append(text_, ": %zu %s", count, count == 1 ? "waits" : "wait");
    if (what.expected == 0) {
      append(text_, "; when the last one began to, %u more %s to come\n", last->what.left,
             last->what.left == 1 ? "was" : "were");
      return;
    }
    const attendance there = all_.at_object(all_.threads[thread]);
    const bool is_one = what.rank != wait_subject::nobody;
    append(text_, "; %zu of %u have %s", there.come.size(), what.expected,
           is_one ? "come" : "notified");
    add_ranks(": ", there.come);
    add_missing(there, [&](std::uint32_t rank) {
      const std::size_t former = is_one ? all_.former_rank(what, rank) : stuck_snapshot::none;
      if (former == stuck_snapshot::none) return;
      text_.append("    missing: ");
      add_rank(rank, "who was last ", former);
    });
  }

  void add_ring() {
    const std::vector<std::size_t> ring = all_.find_ring();
    if (!ring.empty()) text_.append("  deadlock: these wait for each other\n");
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const seen_thread& one = all_.threads[ring[i]];
      append(text_, "    %s waits for ", one.label);
      add_subject(one, one.wait()->what);
      text_.append(", and so for ");
      add_label(ring[(i + 1) % ring.size()]);
      text_.append("\n");
    }
  }

  const stuck_snapshot& all_;
  std::string text_;
};

/// `why` is the first line, without its end.
inline std::string stuck_report(const stuck_snapshot& all, const char* why) {
  return stuck_text(all, why).text();
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_STUCK_REPORT_HPP
