// SPDX-License-Identifier: MIT
// src/trace/watch_hooks.cpp -- the bodies of watch_hooks.hpp (layer: trace)
#include "watch_hooks.hpp"

#include <new>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE watch_log* watch_hooks::mine(thread_log& log) noexcept {
  void* known = log.watchdog.load(memory_order_relaxed);  // 1
  watch_log* made = static_cast<watch_log*>(known);
  if (made != nullptr && made->is_of(log.thread())) return made;
  if (made == nullptr) made = new (std::nothrow) watch_log;
  if (made == nullptr) return nullptr;
  // New, or of a thread that has ended.
  made->part_count = 0;
  made->shows_ended_part = false;
  made->held = held_locks();
  made->node_here = node_visit();
  made->met = last_meetings();
  made->visit_count.store(0, memory_order_relaxed);  // 1
  made->part.show(region_part());
  made->node.show(made->node_here);
  made->locks.show(made->held);
  made->meetings.show(made->met);
  made->thread.store(log.thread(), memory_order_release);  // 4
  log.watchdog.store(made, memory_order_release);          // 2
  return made;
}

LOCKSTEP_INLINE void watch_hooks::meets(thread_log& log, const wait_subject& what) noexcept {
  watch_log* const own = mine(log);
  if (own == nullptr) return;
  last_meetings& met = own->met;
  std::uint32_t at = 0;
  while (at < met.count && met.all[at].object != what.object) ++at;
  if (at == met.count && met.count < last_meetings::most) ++met.count;
  if (at == last_meetings::most) --at;
  for (; at > 0; --at) met.all[at] = met.all[at - 1];
  met.all[0] = {what.object, what.rank, what.phase};
  own->meetings.show(met);
}

LOCKSTEP_INLINE void watch_hooks::visit_begins(thread_log& log,
                                               const construct_visit& visit) noexcept {
  watch_log* const own = mine(log);
  if (own == nullptr) return;
  const std::uint32_t number = own->visits_so_far();
  own->visits[number % watch_log::most_visits].show(visit);
  own->visit_count.store(number + 1, memory_order_release);  // 4
}

LOCKSTEP_INLINE void watch_hooks::visit_changes(thread_log& log,
                                                const construct_visit& visit) noexcept {
  watch_log* const own = mine(log);
  if (own == nullptr) return;
  show_outer_part(log);
  const std::uint32_t number = own->visits_so_far();
  construct_visit last;
  shown<construct_visit>& at = own->visits[(number - 1) % watch_log::most_visits];
  if (number == 0 || !at.read(last) || last.team != visit.team || last.came != visit.came) {
    return visit_begins(log, visit);
  }
  at.show(visit);
}

LOCKSTEP_INLINE void watch_hooks::part_begins(thread_log& log, const region_part& part) noexcept {
  watch_log* const own = mine(log);
  if (own == nullptr) return;
  if (own->part_count < watch_log::most_parts) own->parts[own->part_count] = part;
  ++own->part_count;
  own->shows_ended_part = false;
  own->part.show(part);
}

LOCKSTEP_INLINE void watch_hooks::part_ends(thread_log& log, std::uint64_t now) noexcept {
  watch_log* const own = mine(log);
  if (own == nullptr || own->part_count == 0) return;
  const std::uint32_t left = --own->part_count;
  if (left >= watch_log::most_parts) return;
  region_part shown_part = own->parts[left];
  shown_part.ended = now;
  own->part.show(shown_part);
  own->shows_ended_part = true;
}

LOCKSTEP_INLINE void watch_hooks::show_outer_part(thread_log& log) noexcept {
  watch_log* const own = mine(log);
  if (own == nullptr || !own->shows_ended_part || own->part_count == 0) return;
  own->shows_ended_part = false;
  if (own->part_count <= watch_log::most_parts) own->part.show(own->parts[own->part_count - 1]);
}

LOCKSTEP_INLINE void watch_hooks::node_begins(thread_log& log, const char* name,
                                              std::uint64_t now) noexcept {
  watch_log* const own = mine(log);
  if (own == nullptr) return;
  own->node_here = node_visit();
  std::strncpy(own->node_here.name, name, sizeof own->node_here.name - 1);
  own->node_here.began = now;
  own->node.show(own->node_here);
}
LOCKSTEP_INLINE void watch_hooks::node_ends(thread_log& log, std::uint64_t now) noexcept {
  watch_log* const own = mine(log);
  if (own == nullptr || own->node_here.began == 0) return;
  own->node_here.ended = now;
  own->node.show(own->node_here);
}

LOCKSTEP_INLINE void watch_hooks::lock_taken(thread_log& log, const void* object) noexcept {
  watch_log* const own = mine(log);
  if (own == nullptr || own->held.count == held_locks::most) return;
  own->held.objects[own->held.count++] = object;
  own->locks.show(own->held);
}
LOCKSTEP_INLINE void watch_hooks::lock_left(thread_log& log, const void* object) noexcept {
  watch_log* const own = mine(log);
  if (own == nullptr) return;
  held_locks& held = own->held;
  // The last first: locks are given up in reverse mostly.
  for (std::uint32_t i = held.count; i-- > 0;) {
    if (held.objects[i] != object) continue;
    held.objects[i] = held.objects[--held.count];
    return own->locks.show(held);
  }
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
