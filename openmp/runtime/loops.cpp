// SPDX-License-Identifier: MIT
// Worksharing loops, in all forms that compilers call them.
#include "loops.hpp"

#include <cstddef>

#include "barrier.hpp"
#include "ompt.hpp"
#include "shared_region.hpp"
#include "task_reductions.hpp"

namespace lockstep::openmp {

loop_spec as_runtime(const loop_spec& loop, const part& self, bool may_be_nonmonotonic,
                     bool has_turns) noexcept {
  const schedule& how = self.variables().run_schedule;
  if (how.kind == schedule_kind::automatic)
    return loop.with(schedule_kind::fixed, true, 0, has_turns);
  return loop.with(how.kind, how.is_monotonic || !may_be_nonmonotonic, how.chunk, has_turns);
}

loop_spec as_numbered(const loop_spec& loop, const part& self, long number, long chunk,
                      bool has_turns) noexcept {
  const unsigned bits = static_cast<unsigned>(number);
  const bool is_monotonic = (bits & monotonic_bit) != 0;
  const schedule_kind how = static_cast<schedule_kind>(bits & ~monotonic_bit);
  if (how == schedule_kind::runtime) return as_runtime(loop, self, !is_monotonic, has_turns);
  if (how == schedule_kind::automatic) return loop.with(schedule_kind::fixed, true, 0, has_turns);
  return loop.with(how, is_monotonic, chunk, has_turns);
}

loop_spec sections_of(unsigned count) noexcept {
  loop_spec made =
      loop_spec::of(0L, static_cast<long>(count), 1L).with(schedule_kind::dynamic, true, 1);
  made.is_of_sections = true;
  return made;
}

void tell_loop(part& self, const loop_spec& loop) noexcept {
  ompt::work_kind kind = ompt::work_kind::loop_static;
  if (loop.how == schedule_kind::dynamic) kind = ompt::work_kind::loop_dynamic;
  if (loop.how == schedule_kind::guided && !self.is_alone()) kind = ompt::work_kind::loop_guided;
  if (loop.is_of_sections) kind = ompt::work_kind::sections;
  if (loop.is_scope) kind = ompt::work_kind::scope;
  ompt::begin_work(self, kind, loop.count);
}

bool next_chunk_told(part& self, ull* first, ull* last) noexcept {
  if (!self.loop.next(first, last)) return false;
  const ull increment = self.loop.spec().increment, start = *first, end = *last;
  // In a loop that counts down both are negative numbers.
  const bool goes_down = static_cast<std::int64_t>(increment) < 0 && end < start;
  const ull iterations =
      goes_down ? (start - end - 1) / (0 - increment) + 1 : (end - start - 1) / increment + 1;
  ompt::tell_chunk(self, ompt::dispatch_kind::loop_chunk, start, iterations);
  return true;
}

void begin_loop(part& self, const loop_spec& loop) noexcept {
  self.loop.begin(loop, self.at, self.rank, self.size);
  if (has_tool()) tell_loop(self, loop);
}

void begin_loop_with(part& self, const loop_spec& loop, std::uintptr_t* reductions,
                     void** memory) noexcept {
  if (reductions == nullptr && memory == nullptr) return begin_loop(self, loop);
  loop_spec with_slot = loop;
  with_slot.needs_slot = true;
  begin_loop(self, with_slot);
  // A thread that is alone has the records of its constructs one after the other. In a cancelled region it may have no
  // slot, and then the content of the record does not matter.
  const std::uint32_t number = self.is_alone() ? self.singles++ : self.loop.construct();
  construct_record& record = shared_of(self).record_of(number);
  record.lock.lock();
  const bool is_first = record.is_first(number);
  if (reductions != nullptr) begin_construct_reductions(self, reductions, record.reductions);
  if (memory != nullptr) {
    if (is_first) record.clear_memory(reinterpret_cast<std::uintptr_t>(*memory));
    *memory = record.memory;
  }
  record.lock.unlock();
  self.loop.holds_memory = memory != nullptr;
}

namespace {

/// The address by which a tool knows the ordered regions of a part's loops.
const void* turns_of(const part& self) noexcept {
  return self.is_alone() ? static_cast<const void*>(&self) : &self.at->shared();
}

}  // namespace

void begin_ordered(part& self) noexcept {
  if (has_tool()) ompt::begin_to_lock(ompt::mutex_kind::ordered, turns_of(self));
  self.loop.take_turn();
  if (has_tool()) ompt::has_locked(ompt::mutex_kind::ordered, turns_of(self));
}

void end_ordered(part& self) noexcept {
  if (has_tool()) ompt::has_unlocked(ompt::mutex_kind::ordered, turns_of(self));
}

void end_loop(part& self) noexcept {
  const bool holds = self.loop.holds_memory;
  self.loop.holds_memory = false;
  self.loop.end(holds);
  if (has_tool()) ompt::end_work(self);
}

}  // namespace lockstep::openmp
