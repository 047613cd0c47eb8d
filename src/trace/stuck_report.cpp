// SPDX-License-Identifier: MIT
// src/trace/stuck_report.cpp -- the bodies of stuck_report.hpp (layer: trace)
#include "stuck_report.hpp"

#include <cstring>
#include <vector>

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

LOCKSTEP_INLINE bool find_missing(const stuck_snapshot& all, std::size_t thread,
                                  std::vector<std::uint32_t>& missing) {
  const stuck_questions ask{all};
  const construct_visit* const in = ask.meeting_of(ask.at(thread));
  if (in == nullptr) return false;
  for (std::uint32_t rank = 0; rank < in->size; ++rank) {
    if (rank == in->rank) continue;
    if (!ask.has_come(ask.member(in->team, in->region, rank), *in)) missing.push_back(rank);
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
  std::vector<std::uint32_t> missing;
  const void* team = nullptr;
  std::uint32_t region = 0;
  if (find_missing(all, thread, missing)) {
    const construct_visit& in = *ask.meeting_of(one);
    for (const std::uint32_t rank : missing) add(ask.member(in.team, in.region, rank));
  } else if (wait->what.awaited != wait_subject::nobody &&
             ask.region_of(one, *wait, team, region)) {
    add(ask.member(team, region, wait->what.awaited));
  } else {
    for (std::size_t i = 0; i < all.threads.size(); ++i) {
      if (ask.holds(i, wait->what.object)) add(i);
    }
  }
  return found;
}

LOCKSTEP_INLINE std::vector<std::size_t> find_ring(const stuck_snapshot& all) {
  // Depth first, without recursion: a thread on the way that is met again closes a ring.
  enum mark : unsigned char { fresh, on_way, done };
  struct step {
    std::size_t thread, next;
    std::vector<std::size_t> awaited;
  };
  std::vector<unsigned char> marks(all.threads.size(), fresh);
  std::vector<step> way;
  std::vector<std::size_t> ring;
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

LOCKSTEP_INLINE bool find_mismatch(const stuck_snapshot& all, const construct_visit& in,
                                   construct_mismatch& found) {
  // The first member whose visits of this region differ from those of another, in the earliest phase.
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

LOCKSTEP_INLINE bool differ(const construct_visit& a, const construct_visit& b) noexcept {
  const auto are_unlike = [](const char* x, const char* y) {
    return x != nullptr && y != nullptr && std::strcmp(x, y) != 0;
  };
  if (are_unlike(a.kind, b.kind)) return true;
  return are_unlike(a.where.file, b.where.file) || a.where.line != b.where.line;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
