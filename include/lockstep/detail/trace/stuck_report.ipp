// SPDX-License-Identifier: MIT
// lockstep/detail/trace/stuck_report.ipp -- the bodies of stuck_report.hpp (layer: trace)
#ifndef LOCKSTEP_DETAIL_TRACE_STUCK_REPORT_IPP
#define LOCKSTEP_DETAIL_TRACE_STUCK_REPORT_IPP

#include <cstring>
#include <utility>

#include "../platform/system_texts.hpp"
#include "stuck_report.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_COLD bool is_idle(const wait_subject& what) noexcept {
  return what.kind != nullptr && std::strcmp(what.kind, idle_wait_kind()) == 0;
}

LOCKSTEP_COLD const shown_wait* wait_of(const seen_thread& one) noexcept {
  if (one.wait_count == 0) return nullptr;
  const shown_wait& innermost = one.waits[one.wait_count - 1];
  return is_idle(innermost.what) ? nullptr : &innermost;
}

/// What the functions of this file ask.
struct stuck_questions {
  static constexpr std::size_t none = ~std::size_t{0};

  const stuck_snapshot& all;

  const seen_thread& at(std::size_t thread) const noexcept { return all.threads[thread]; }

  static const construct_visit* last_visit(const seen_thread& one) noexcept {
    return one.visit_count != 0 ? &one.visits[one.visit_count - 1] : nullptr;
  }
  /// The construct in which the thread waits. One that does not meet others is never said to end.
  static const construct_visit* visit_under_way(const seen_thread& one) noexcept {
    const construct_visit* const last = last_visit(one);
    const shown_wait* const wait = wait_of(one);
    const bool is_in = last != nullptr && last->released == 0 && wait != nullptr &&
                       wait->since >= last->came && one.part.ended <= last->came;
    return is_in ? last : nullptr;
  }
  /// The construct in which it waits for all others.
  static const construct_visit* meeting_of(const seen_thread& one) noexcept {
    const construct_visit* const in = visit_under_way(one);
    return in != nullptr && in->phase != 0 && in->arrived != 0 ? in : nullptr;
  }
  static bool is_in_part(const seen_thread& one) noexcept {
    return one.part.team != nullptr && one.part.ended == 0;
  }

  /// The thread that is this member, or was it last in this region.
  std::size_t member(const void* team, std::uint32_t region, std::uint32_t rank) const noexcept {
    std::size_t found = none;
    for (std::size_t i = 0; i < all.threads.size(); ++i) {
      const seen_thread& one = at(i);
      const region_part& part = one.part;
      if (part.team == team && part.region == region && part.rank == rank) return i;
      // Of a sub-team: known by its constructs only.
      for (std::uint32_t k = 0; k < one.visit_count; ++k) {
        const construct_visit& visit = one.visits[k];
        if (visit.team == team && visit.region == region && visit.rank == rank) found = i;
      }
    }
    return found;
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

  bool holds(std::size_t thread, const void* object) const noexcept {
    const held_locks& held = at(thread).held;
    std::uint32_t k = 0;
    while (k < held.count && held.objects[k] != object) ++k;
    return object != nullptr && k < held.count;
  }

  /// The team and the region in which a wait for a member is; false if there is none.
  static bool region_of(const seen_thread& one, const void*& team, std::uint32_t& region) noexcept {
    const construct_visit* const in = visit_under_way(one);
    if (in != nullptr) {
      team = in->team;
      region = in->region;
    } else if (one.part.team != nullptr) {
      team = one.part.team;
      region = one.part.region;
    } else {
      return false;
    }
    return true;
  }
};

LOCKSTEP_COLD bool find_missing(const stuck_snapshot& all, std::size_t thread,
                                growing_array<std::uint32_t>& missing) {
  const stuck_questions ask{all};
  const construct_visit* const in = ask.meeting_of(ask.at(thread));
  if (in == nullptr) return false;
  for (std::uint32_t rank = 0; rank < in->size; ++rank) {
    if (rank == in->rank) continue;
    if (!ask.has_come(ask.member(in->team, in->region, rank), *in)) missing.push_back(rank);
  }
  return true;
}

LOCKSTEP_COLD growing_array<std::size_t> awaited_by(const stuck_snapshot& all, std::size_t thread) {
  const stuck_questions ask{all};
  growing_array<std::size_t> found;
  const auto add = [&](std::size_t other) {
    if (other != stuck_questions::none) found.push_back(other);
  };
  const seen_thread& one = ask.at(thread);
  const shown_wait* const wait = wait_of(one);
  if (wait == nullptr || wait->since >= all.now) return found;
  growing_array<std::uint32_t> missing;
  const void* team = nullptr;
  std::uint32_t region = 0;
  if (find_missing(all, thread, missing)) {
    const construct_visit& in = *ask.meeting_of(one);
    for (const std::uint32_t rank : missing) add(ask.member(in.team, in.region, rank));
  } else if (wait->what.awaited != wait_subject::nobody && ask.region_of(one, team, region)) {
    add(ask.member(team, region, wait->what.awaited));
  } else {
    for (std::size_t i = 0; i < all.threads.size(); ++i) {
      if (ask.holds(i, wait->what.object)) add(i);
    }
  }
  return found;
}

LOCKSTEP_COLD growing_array<std::size_t> find_ring(const stuck_snapshot& all) {
  // Depth first, without recursion: a thread on the way that is met again closes a ring.
  enum mark : unsigned char { fresh, on_way, done };
  struct step {
    std::size_t thread, next;
    growing_array<std::size_t> awaited;
  };
  growing_array<unsigned char> marks(all.threads.size(), fresh);
  growing_array<step> way;
  growing_array<std::size_t> ring;
  const auto enter = [&](std::size_t thread) {
    marks[thread] = on_way;
    way.push_back(step{thread, 0, awaited_by(all, thread)});
  };
  for (std::size_t start = 0; start < marks.size(); ++start) {
    if (marks[start] == fresh) enter(start);
    while (!way.empty()) {
      step& here = way.back();
      if (here.next == here.awaited.size()) {
        marks[here.thread] = done;
        way.pop_back();
        continue;
      }
      const std::size_t to = here.awaited[here.next++];
      if (marks[to] == fresh) {
        enter(to);
      } else if (marks[to] == on_way) {
        std::size_t from = 0;
        while (way[from].thread != to) ++from;
        for (; from < way.size(); ++from) ring.push_back(way[from].thread);
        return ring;
      }
    }
  }
  return ring;
}

LOCKSTEP_COLD bool find_mismatch(const stuck_snapshot& all, const construct_visit& in,
                                 construct_mismatch& found) {
  // The first member whose visits of this region differ from those of another, in the earliest phase.
  bool is_found = false;
  const auto compare = [&](const construct_visit& a, const construct_visit& b) {
    if (a.phase != b.phase || a.rank >= b.rank || !differ(a, b)) return;
    if (is_found && static_cast<std::int32_t>(a.phase - found.one.phase) >= 0) return;
    is_found = true;
    found = {a, b};
  };
  growing_array<construct_visit> visits;
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

LOCKSTEP_COLD bool differ(const construct_visit& a, const construct_visit& b) noexcept {
  const auto are_unlike = [](const char* x, const char* y) {
    return x != nullptr && y != nullptr && std::strcmp(x, y) != 0;
  };
  if (are_unlike(a.kind, b.kind)) return true;
  return are_unlike(a.where.file, b.where.file) || a.where.line != b.where.line;
}

/// The sentences.
class stuck_text {
 public:
  stuck_text(const stuck_snapshot& all, const char* why) : ask_{all}, all_(all), text_(why) {
    text_.append("\n");
    for (std::size_t i = 0; i < all.threads.size(); ++i) add_line(i);
    for (std::size_t i = 0; i < all.threads.size(); ++i) add_missing(i);
    add_ring();
  }

  std::string text() { return std::move(text_); }

 private:
  static constexpr std::size_t most_ranks = 16;

  double seconds(std::uint64_t since) const noexcept { return all_.seconds_since(since); }

  void add_construct(const char* kind, call_site where) {
    append(text_, "%s", kind != nullptr ? kind : "a construct");
    if (where.file != nullptr) append(text_, " (%s:%u)", where.file, where.line);
  }
  void add_visit(const construct_visit& visit) {
    add_construct(visit.kind, visit.where);
    if (visit.phase != 0) append(text_, ", phase %u", visit.phase);
  }
  void add_label(std::size_t thread) { text_.append(ask_.at(thread).label); }
  void add_ranks(const growing_array<std::uint32_t>& ranks) {
    append(text_, "rank%s", ranks.size() == 1 ? "" : "s");
    for (std::size_t i = 0; i < ranks.size() && i < most_ranks; ++i) {
      append(text_, "%s %u", i > 0 ? "," : "", ranks[i]);
    }
    if (ranks.size() > most_ranks) append(text_, " and %zu more", ranks.size() - most_ranks);
    if (ranks.empty()) text_.append("s none");
  }

  void add_line(std::size_t thread) {
    const seen_thread& one = ask_.at(thread);
    text_.append("  ");
    add_label(thread);
    if (one.part.team != nullptr && one.part.size > 1) {
      append(text_, ", rank %u of %u in region %u of team %p", one.part.rank, one.part.size,
             one.part.region, one.part.team);
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
    }
  }

  void add_wait(std::size_t thread, const shown_wait& wait) {
    const seen_thread& one = ask_.at(thread);
    append(text_, "waits %.3g s for ", seconds(wait.since));
    add_subject(one, wait.what);
    text_.append(one.stage == wait_stage::sleep   ? ", asleep"
                 : one.stage == wait_stage::yield ? ", yielding"
                                                  : ", spinning");
    growing_array<std::uint32_t> missing;
    if (find_missing(all_, thread, missing)) {
      const construct_visit& in = *ask_.meeting_of(one);
      growing_array<std::uint32_t> come;
      std::size_t next = 0;
      for (std::uint32_t rank = 0; rank < in.size; ++rank) {
        if (next < missing.size() && missing[next] == rank) {
          ++next;
        } else {
          come.push_back(rank);
        }
      }
      text_.append("; come: ");
      add_ranks(come);
      text_.append("; missing: ");
      add_ranks(missing);
      return;
    }
    for (const std::size_t other : awaited_by(all_, thread)) {
      text_.append(wait.what.awaited != wait_subject::nobody ? "; that is up to " : "; held by ");
      add_label(other);
    }
  }

  void add_subject(const seen_thread& one, const wait_subject& what) {
    const construct_visit* const in = ask_.visit_under_way(one);
    if (in != nullptr && in->kind != nullptr) {
      add_visit(*in);
      // What the construct waits for, where it is not the barrier.
      if (ask_.meeting_of(one) == nullptr && what.kind != nullptr) append(text_, ": %s", what.kind);
    } else {
      add_construct(what.kind != nullptr ? what.kind : "something", what.where);
      if (what.object != nullptr) append(text_, " at %p", what.object);
      if (what.phase != 0) append(text_, ", phase %u", what.phase);
    }
    if (what.label != nullptr) append(text_, " '%s'", what.label);
    if (what.awaited != wait_subject::nobody && ask_.meeting_of(one) == nullptr) {
      append(text_, " of rank %u", what.awaited);
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

  /// Of each phase that is waited for, once: by the first that waits for it.
  void add_missing(std::size_t thread) {
    const seen_thread& one = ask_.at(thread);
    growing_array<std::uint32_t> missing;
    if (find_missing(all_, thread, missing)) {
      const construct_visit& in = *ask_.meeting_of(one);
      for (std::size_t i = 0; i < thread; ++i) {
        const construct_visit* const other = ask_.meeting_of(ask_.at(i));
        if (other != nullptr && other->team == in.team && other->phase == in.phase) return;
      }
      for (std::size_t i = 0; i < missing.size() && i < most_ranks; ++i) {
        add_missing_member(in.team, in.region, missing[i], in);
      }
      add_mismatch(in);
      return;
    }
    const shown_wait* const wait = wait_of(one);
    const void* team = nullptr;
    std::uint32_t region = 0;
    if (wait == nullptr || wait->what.awaited == wait_subject::nobody ||
        !ask_.region_of(one, team, region) ||
        ask_.member(team, region, wait->what.awaited) != stuck_questions::none) {
      return;
    }
    append(text_, "  missing: rank %u, which no thread has been in region %u of team %p\n",
           wait->what.awaited, region, team);
  }
  void add_missing_member(const void* team, std::uint32_t region, std::uint32_t rank,
                          const construct_visit& in) {
    append(text_, "  missing in ");
    add_visit(in);
    append(text_, ": rank %u", rank);
    const std::size_t thread = ask_.member(team, region, rank);
    if (thread == stuck_questions::none) {
      text_.append(", which no thread has been in this region\n");
      return;
    }
    text_.append(", ");
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
    const growing_array<std::size_t> ring = find_ring(all_);
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

LOCKSTEP_COLD std::string stuck_report(const stuck_snapshot& all, const char* why) {
  return stuck_text(all, why).text();
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TRACE_STUCK_REPORT_IPP
