// SPDX-License-Identifier: MIT
// src/trace/stuck_report.cpp -- the bodies of stuck_report.hpp (layer: trace)
#include "stuck_report.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "../platform/system_texts.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE const char* name_of(const stuck_snapshot& all, const void* object) noexcept {
  for (const object_name& each : all.names) {
    if (each.object == object) return each.text;
  }
  return nullptr;
}

LOCKSTEP_INLINE bool is_idle(const wait_subject& what) noexcept {
  return what.kind == wait_kind::next_region;
}

LOCKSTEP_INLINE const shown_wait* wait_of(const seen_thread& one) noexcept {
  if (one.wait_count == 0) return nullptr;
  const shown_wait& innermost = one.waits[one.wait_count - 1];
  return is_idle(innermost.what) ? nullptr : &innermost;
}

struct stuck_questions {
  static constexpr std::size_t none = ~std::size_t{0};

  const stuck_snapshot& all;

  const seen_thread& at(std::size_t thread) const noexcept { return all.threads[thread]; }

  static const construct_visit* last_visit(const seen_thread& one) noexcept {
    return one.visit_count != 0 ? &one.visits[one.visit_count - 1] : nullptr;
  }
  /// The construct in which the thread waits. Nothing shows the end of a construct that has no meeting.
  static const construct_visit* visit_under_way(const seen_thread& one) noexcept {
    const construct_visit* const last = last_visit(one);
    const shown_wait* const wait = wait_of(one);
    const bool is_in = last != nullptr && last->released == 0 && wait != nullptr &&
                       wait->since >= last->came && one.part.ended <= last->came;
    return is_in ? last : nullptr;
  }
  /// The construct in which the thread waits for all others.
  static const construct_visit* meeting_of(const seen_thread& one) noexcept {
    const construct_visit* const in = visit_under_way(one);
    return in != nullptr && in->phase != 0 && in->arrived != 0 ? in : nullptr;
  }

  /// The thread that is this member, or that was it last in this region.
  std::size_t member(const void* team, std::uint32_t region, std::uint32_t rank) const noexcept {
    std::size_t found = none;
    for (std::size_t i = 0; i < all.threads.size(); ++i) {
      const seen_thread& one = at(i);
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
    for (std::size_t i = 0; i < all.threads.size(); ++i) {
      if (at(i).part.team == team && at(i).part.rank == rank) return i;
    }
    return none;
  }

  /// STUCK-1.
  bool has_come(std::size_t thread, const construct_visit& to) const noexcept {
    if (thread == none) return false;
    const seen_thread& one = at(thread);
    for (std::uint32_t k = one.visit_count; k-- > 0;) {
      const construct_visit& visit = one.visits[k];
      if (visit.team != to.team || visit.region != to.region || visit.phase == 0) continue;
      return visit.arrived != 0 && static_cast<std::int32_t>(visit.phase - to.phase) >= 0;
    }
    return false;
  }

  /// Whether both are waits for one object in one phase.
  static bool are_together(const wait_subject& a, const wait_subject& b) noexcept {
    return a.object == b.object && a.phase == b.phase && a.expected == b.expected &&
           a.object != nullptr;
  }
  /// The thread that waited at this object with this rank, and does not wait there now.
  std::size_t former_rank(const wait_subject& at_object, std::uint32_t rank) const noexcept {
    for (std::size_t i = 0; i < all.threads.size(); ++i) {
      const shown_wait* const now = wait_of(at(i));
      if (now != nullptr && are_together(now->what, at_object)) continue;
      const last_meetings& met = at(i).met;
      for (std::uint32_t k = 0; k < met.count; ++k) {
        if (met.all[k].object == at_object.object && met.all[k].rank == rank) return i;
      }
    }
    return none;
  }

  /// Whether it waits for the end of the thread, or for a lock that the thread holds.
  bool is_up_to(std::size_t thread, const wait_subject& what) const noexcept {
    const held_locks& held = at(thread).held;
    if (held.end != nullptr && held.end == what.sleeps_on) return true;
    std::uint32_t k = 0;
    while (k < held.count && held.objects[k] != what.object) ++k;
    return what.object != nullptr && k < held.count;
  }

  /// The team and the region in which the thread waits for a member; false if that is not known.
  static bool region_of(const seen_thread& one, const shown_wait& wait, const void*& team,
                        std::uint32_t& region) noexcept {
    const bool is_said = wait.what.team != nullptr;
    team = is_said ? wait.what.team : one.part.team;
    region = is_said ? wait.what.region : one.part.region;
    return team != nullptr;
  }
};

LOCKSTEP_INLINE bool find_missing(const stuck_snapshot& all, std::size_t thread,
                                  std::vector<std::uint32_t>& come,
                                  std::vector<std::uint32_t>& missing) {
  const stuck_questions ask{all};
  const construct_visit* const in = ask.meeting_of(ask.at(thread));
  if (in == nullptr) return false;
  for (std::uint32_t rank = 0; rank < in->size; ++rank) {
    const bool is_there =
        rank == in->rank || ask.has_come(ask.member(in->team, in->region, rank), *in);
    (is_there ? come : missing).push_back(rank);
  }
  return true;
}

LOCKSTEP_INLINE bool find_arrivals(const stuck_snapshot& all, std::size_t thread,
                                   std::vector<std::uint32_t>& come,
                                   std::vector<std::uint32_t>& missing) {
  const shown_wait* const wait = wait_of(all.threads[thread]);
  if (wait == nullptr || wait->what.expected == 0) return false;
  std::vector<unsigned char> is_there(wait->what.expected, 0);
  const auto note = [&](std::uint32_t rank) {
    if (rank < is_there.size()) is_there[rank] = 1;
  };
  for (const seen_thread& one : all.threads) {
    const shown_wait* const other = wait_of(one);
    if (other == nullptr || !stuck_questions::are_together(other->what, wait->what)) continue;
    note(other->what.rank);
    for (std::uint32_t bit = 0; bit < 64; ++bit) {
      if ((other->what.come >> bit & 1u) != 0) note(bit);
    }
  }
  for (std::uint32_t rank = 0; rank < wait->what.expected; ++rank) {
    (is_there[rank] != 0 ? come : missing).push_back(rank);
  }
  return true;
}

LOCKSTEP_INLINE std::vector<std::size_t> awaited_by(const stuck_snapshot& all, std::size_t thread) {
  const stuck_questions ask{all};
  std::vector<std::size_t> found;
  const auto add = [&](std::size_t other) {
    if (other != stuck_questions::none) found.push_back(other);
  };
  const seen_thread& one = ask.at(thread);
  const shown_wait* const wait = wait_of(one);
  if (wait == nullptr || wait->since >= all.now) return found;
  std::vector<std::uint32_t> come, missing;
  const void* team = nullptr;
  std::uint32_t region = 0;
  if (find_missing(all, thread, come, missing)) {
    const construct_visit& in = *ask.meeting_of(one);
    for (const std::uint32_t rank : missing) add(ask.member(in.team, in.region, rank));
  } else if (wait->what.awaited != wait_subject::nobody &&
             ask.region_of(one, *wait, team, region)) {
    add(ask.member(team, region, wait->what.awaited));
  } else {
    for (std::size_t i = 0; i < all.threads.size(); ++i) {
      if (ask.is_up_to(i, wait->what)) add(i);
    }
  }
  return found;
}

/// A search depth first. A thread of the way that is met again closes a ring.
struct ring_search {
  enum mark : unsigned char { fresh, on_way, done };

  const stuck_snapshot& all;
  std::vector<unsigned char> marks;
  std::vector<std::size_t> way;  ///< at the end: the ring

  bool finds_ring_from(std::size_t thread) {
    marks[thread] = on_way;
    way.push_back(thread);
    for (const std::size_t to : awaited_by(all, thread)) {
      if (marks[to] == on_way) {
        way.erase(way.begin(), std::find(way.begin(), way.end(), to));
        return true;
      }
      if (marks[to] == fresh && finds_ring_from(to)) return true;
    }
    marks[thread] = done;
    way.pop_back();
    return false;
  }
};

LOCKSTEP_INLINE std::vector<std::size_t> find_ring(const stuck_snapshot& all) {
  ring_search search = {
      all, std::vector<unsigned char>(all.threads.size(), ring_search::fresh), {}};
  std::size_t start = 0;
  while (start < all.threads.size() &&
         (search.marks[start] != ring_search::fresh || !search.finds_ring_from(start))) {
    ++start;
  }
  return search.way;
}

/// Whether the two visits are at different places.
LOCKSTEP_INLINE bool differ(const construct_visit& a, const construct_visit& b) noexcept {
  const auto are_unlike = [](const char* x, const char* y) {
    return x != nullptr && y != nullptr && std::strcmp(x, y) != 0;
  };
  if (are_unlike(a.kind, b.kind)) return true;
  return are_unlike(a.where.file, b.where.file) || a.where.line != b.where.line;
}

LOCKSTEP_INLINE bool find_mismatch(const stuck_snapshot& all, const construct_visit& in,
                                   construct_mismatch& found) {
  // Finds the earliest phase of this region in which two members were at different places.
  bool is_found = false;
  const auto compare = [&](const construct_visit& a, const construct_visit& b) {
    if (a.phase != b.phase || a.rank >= b.rank || !differ(a, b)) return;
    if (is_found && static_cast<std::int32_t>(a.phase - found.one.phase) >= 0) return;
    is_found = true;
    found = {a, b};
  };
  std::vector<construct_visit> visits;
  for (const seen_thread& one : all.threads) {
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

class stuck_text {
 public:
  stuck_text(const stuck_snapshot& all, const char* why) : ask_{all}, all_(all), text_(why) {
    text_.append("\n");
    for (std::size_t i = 0; i < all.threads.size(); ++i) add_line(i);
    for (std::size_t i = 0; i < all.threads.size(); ++i) add_missing(i);
    for (std::size_t i = 0; i < all.threads.size(); ++i) add_arrivals(i);
    add_ring();
  }

  std::string text() { return std::move(text_); }

 private:
  static constexpr std::size_t most_members = 16;

  double seconds(std::uint64_t since) const noexcept { return all_.seconds_since(since); }

  void add_construct(const char* kind, source_place where) {
    append(text_, "%s", kind != nullptr ? kind : "a construct");
    add_place(where);
  }
  /// If the line is 0, the file is the name of a function.
  void add_place(source_place where) {
    if (where.file == nullptr) return;
    append(text_, " (%s", where.file);
    if (where.line != 0) append(text_, ":%u", where.line);
    append(text_, ")");
  }
  void add_visit(const construct_visit& visit) {
    add_construct(visit.kind, visit.where);
    if (visit.phase != 0) append(text_, ", phase %u", visit.phase);
  }
  void add_name(const void* object) {
    const char* const name = name_of(all_, object);
    if (name != nullptr) append(text_, " '%s'", one_line(name).c_str());
  }
  void add_label(std::size_t thread) { text_.append(ask_.at(thread).label); }
  /// Requires: the ranks ascend. As "ranks 0-6, 8".
  void add_ranks(const std::vector<std::uint32_t>& ranks) {
    append(text_, ranks.size() == 1 ? "rank " : ranks.empty() ? "none" : "ranks ");
    for (std::size_t i = 0, end = 0; i < ranks.size(); i = end) {
      end = i + 1;
      while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
      append(text_, "%s%u", i > 0 ? ", " : "", ranks[i]);
      if (end > i + 1) append(text_, "%s%u", end > i + 2 ? "-" : ", ", ranks[end - 1]);
    }
  }

  void add_line(std::size_t thread) {
    const seen_thread& one = ask_.at(thread);
    text_.append("  ");
    add_label(thread);
    if (one.part.team != nullptr && one.part.size > 1) {
      append(text_, ", %srank %u of %u in region %u of team %p", one.part.ended != 0 ? "was " : "",
             one.part.rank, one.part.size, one.part.region, one.part.team);
    }
    text_.append(": ");
    add_doing(thread);
    text_.append("\n");
  }

  void add_doing(std::size_t thread) {
    const seen_thread& one = ask_.at(thread);
    const shown_wait* const wait = wait_of(one);
    if (wait != nullptr) {
      add_wait(thread, *wait);
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
  }

  void add_wait(std::size_t thread, const shown_wait& wait) {
    const seen_thread& one = ask_.at(thread);
    append(text_, "waits %.3g s for ", seconds(wait.since));
    add_subject(one, wait.what);
    text_.append(one.stage == wait_stage::sleep   ? ", asleep"
                 : one.stage == wait_stage::yield ? ", yielding"
                                                  : ", spinning");
    if (ask_.meeting_of(one) != nullptr) return;  // add_missing() names the missing members
    for (const std::size_t other : awaited_by(all_, thread)) {
      const bool is_lock =
          wait.what.awaited == wait_subject::nobody && wait.what.kind != wait_kind::joinable_thread;
      text_.append(is_lock ? "; held by " : "; that is up to ");
      add_label(other);
    }
    if (ask_.visit_under_way(one) == nullptr) add_last(one);
  }

  void add_subject(const seen_thread& one, const wait_subject& what) {
    const construct_visit* const in = ask_.visit_under_way(one);
    if (in != nullptr && in->kind != nullptr) {
      add_visit(*in);
      // What the construct waits for, if that is not the barrier.
      if (ask_.meeting_of(one) == nullptr && text_of(what) != nullptr) {
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
    if (what.awaited != wait_subject::nobody && ask_.meeting_of(one) == nullptr) {
      append(text_, " of rank %u", what.awaited);
    }
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
  /// Once for each object at which others are to arrive, and each phase: for the first thread that waits there.
  void add_arrivals(std::size_t thread) {
    const shown_wait* const wait = wait_of(ask_.at(thread));
    if (wait == nullptr || (wait->what.expected == 0 && wait->what.left == 0)) return;
    const shown_wait* last = wait;  // the last to begin
    std::size_t count = 0;
    for (std::size_t i = 0; i < all_.threads.size(); ++i) {
      const shown_wait* const other = wait_of(ask_.at(i));
      if (other == nullptr || !ask_.are_together(other->what, wait->what)) continue;
      if (i < thread) return;
      if (other->since > last->since) last = other;
      ++count;
    }
    wait_subject what = wait->what;
    what.where = source_place{nullptr, 0};  // each waiter has its own
    text_.append("  ");
    add_object(what);
    if (what.phase != 0) append(text_, ", phase %u", what.phase);
    append(text_, ": %zu %s", count, count == 1 ? "waits" : "wait");
    std::vector<std::uint32_t> come, missing;
    if (!find_arrivals(all_, thread, come, missing)) {
      append(text_, "; when the last one began to, %u more %s to come\n", last->what.left,
             last->what.left == 1 ? "was" : "were");
      return;
    }
    const bool is_one = what.rank != wait_subject::nobody;
    append(text_, "; %zu of %u have %s: ", come.size(), what.expected,
           is_one ? "come" : "notified");
    add_ranks(come);
    text_.append("; missing: ");
    add_ranks(missing);
    text_.append("\n");
    for (std::size_t i = 0; i < missing.size() && i < most_members; ++i) {
      const std::size_t former =
          is_one ? ask_.former_rank(what, missing[i]) : stuck_questions::none;
      if (former == stuck_questions::none) continue;
      append(text_, "    missing: rank %u, who was last ", missing[i]);
      add_label(former);
      text_.append(": ");
      add_doing(former);
      text_.append("\n");
    }
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
    if (one.node.began > one.part.began && one.node.ended == 0 && one.part.ended == 0) {
      append(text_, "; in node '%s' for %.3g s", one.node.name, seconds(one.node.began));
    }
    const construct_visit* const last = ask_.last_visit(one);
    if (last != nullptr) {
      text_.append("; it was last in ");
      add_visit(*last);
      if (last->released != 0) {
        append(text_, ", and left it %.3g s ago", seconds(last->released));
      } else {
        append(text_, ", to which it came %.3g s ago", seconds(last->came));
      }
    }
    if (one.part.team == nullptr) return;
    if (one.part.ended != 0) {
      append(text_, "; its part of the region ended %.3g s ago", seconds(one.part.ended));
    } else {
      append(text_, "; its part of the region began %.3g s ago", seconds(one.part.began));
    }
  }

  /// Once for each phase that is awaited: for the first thread that waits for it.
  void add_missing(std::size_t thread) {
    const seen_thread& one = ask_.at(thread);
    std::vector<std::uint32_t> come, missing;
    if (find_missing(all_, thread, come, missing)) {
      const construct_visit& in = *ask_.meeting_of(one);
      for (std::size_t i = 0; i < thread; ++i) {
        const construct_visit* const other = ask_.meeting_of(ask_.at(i));
        if (other != nullptr && other->team == in.team && other->phase == in.phase) return;
      }
      add_phase(in, come, missing);
      add_mismatch(in);
      return;
    }
    const shown_wait* const wait = wait_of(one);
    const void* team = nullptr;
    std::uint32_t region = 0;
    if (wait == nullptr || wait->what.awaited == wait_subject::nobody ||
        !ask_.region_of(one, *wait, team, region) ||
        ask_.member(team, region, wait->what.awaited) != stuck_questions::none) {
      return;
    }
    append(text_, "  missing in region %u of team %p: rank %u, ", region, team, wait->what.awaited);
    add_member(team, region, wait->what.awaited);
  }
  void add_phase(const construct_visit& in, const std::vector<std::uint32_t>& come,
                 const std::vector<std::uint32_t>& missing) {
    text_.append("  ");
    add_visit(in);
    text_.append(": come: ");
    add_ranks(come);
    text_.append("; missing: ");
    add_ranks(missing);
    text_.append("\n");
    for (std::size_t i = 0; i < missing.size() && i < most_members; ++i) {
      append(text_, "    missing: rank %u, ", missing[i]);
      add_member(in.team, in.region, missing[i]);
    }
    if (missing.size() > most_members) {
      append(text_, "    missing: %zu more\n", missing.size() - most_members);
    }
  }
  void add_member(const void* team, std::uint32_t region, std::uint32_t rank) {
    std::size_t thread = ask_.member(team, region, rank);
    if (thread == stuck_questions::none) {
      thread = ask_.former_member(team, rank);
      if (thread == stuck_questions::none) {
        text_.append("which no thread is known to be\n");
        return;
      }
      text_.append("who has not begun: ");
    }
    add_label(thread);
    text_.append(": ");
    add_doing(thread);
    text_.append("\n");
  }
  void add_mismatch(const construct_visit& in) {
    construct_mismatch found;
    if (!find_mismatch(all_, in, found)) return;
    append(text_, "  different places in phase %u: rank %u was at ", found.one.phase,
           found.one.rank);
    add_construct(found.one.kind, found.one.where);
    append(text_, ", rank %u at ", found.other.rank);
    add_construct(found.other.kind, found.other.where);
    text_.append("; does one of them meet the others once too often, or too seldom?\n");
  }

  void add_ring() {
    const std::vector<std::size_t> ring = find_ring(all_);
    if (ring.empty()) return;
    text_.append("  deadlock: these wait for each other\n");
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const seen_thread& one = ask_.at(ring[i]);
      text_.append("    ");
      add_label(ring[i]);
      text_.append(" waits for ");
      add_subject(one, wait_of(one)->what);
      text_.append(", and so for ");
      add_label(ring[(i + 1) % ring.size()]);
      text_.append("\n");
    }
  }

  const stuck_questions ask_;
  const stuck_snapshot& all_;
  std::string text_;
};

LOCKSTEP_INLINE std::string stuck_report(const stuck_snapshot& all, const char* why) {
  return stuck_text(all, why).text();
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
