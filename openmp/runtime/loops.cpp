// SPDX-License-Identifier: MIT
// Worksharing loops, in all forms that compilers call them, and loops with ordered(n).
#include "loops.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

#include "doacross.hpp"
#include "message.hpp"
#include "ompt.hpp"
#include "shared_region.hpp"
#include "synchronization.hpp"
#include "task_groups.hpp"

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

// --- loops with ordered(n) ---

void doacross_board::begin(const loop_spec& outer, unsigned size, const ull* counts,
                           unsigned dimensions, wait_policy policy) noexcept {
  if (dimensions > most_dimensions)
    fail("ordered(%u): more than %u loops", dimensions, most_dimensions);
  dimensions_ = dimensions;
  for (unsigned i = 0; i < dimensions; ++i) counts_[i] = counts[i];
  policy_ = policy;
  how_many_ = size;
  chunk_ = 0;
  block_ = outer.count / size;
  long_blocks_ = outer.count % size;
  if (outer.how == schedule_kind::guided) {
    chunk_ = 1;
    how_many_ = outer.count;
  } else if (outer.how == schedule_kind::dynamic || outer.chunk != 0) {
    chunk_ = outer.least();
    how_many_ = detail::chunks_of(0, outer.count, chunk_);
  }
  if (how_many_ == 0) how_many_ = 1;
  // A line for each word, if that takes not too many.
  stride_ = how_many_ <= 4096 ? 8 : 1;
  const std::size_t wanted = how_many_ * stride_;
  if (wanted > capacity_ || how_many_ > marks_capacity_) {
    free_words();
    capacity_ = (wanted + 7) / 8 * 8;
    marks_capacity_ = how_many_;
    words_ = static_cast<line*>(std::aligned_alloc(64, capacity_ * sizeof(line)));
    marks_ = static_cast<detail::sleeper_mark*>(
        std::malloc(marks_capacity_ * sizeof(detail::sleeper_mark)));
    if (words_ == nullptr || marks_ == nullptr)
      fail("Out of memory for a doacross loop of %zu chunks", how_many_);
  }
  for (std::size_t i = 0; i < how_many_; ++i) {
    ::new (static_cast<void*>(&words_[i * stride_])) line();
    ::new (static_cast<void*>(&marks_[i])) detail::sleeper_mark();
  }
}

std::size_t doacross_board::index_of(ull outermost) const noexcept {
  if (chunk_ != 0) return chunk_ == 1 ? outermost : outermost / chunk_;
  const ull in_long_blocks = long_blocks_ * (block_ + 1);
  if (outermost < in_long_blocks) return outermost / (block_ + 1);
  return long_blocks_ + (outermost - in_long_blocks) / block_;
}

void doacross_board::wait_for(detail::member_state& self, ull outermost, ull number) noexcept {
  const is_posted done{number};
  const detail::published_word<ull> word = word_of(outermost);
  if (done(word.value())) return;
  static_cast<void>(
      detail::wait_in_region(self, word, done, self.shared().barrier.whom_before(self)));
}

void doacross_board::free_words() noexcept {
  std::free(words_);
  std::free(static_cast<void*>(marks_));
  words_ = nullptr;
  marks_ = nullptr;
  capacity_ = marks_capacity_ = 0;
}

void begin_doacross(part& self, const loop_spec& loop, const ull* counts, unsigned dimensions,
                    std::uintptr_t* reductions, void** memory) noexcept {
  loop_spec outer = loop;
  outer.needs_slot = true;
  // A chunk may wait for all chunks before it, so those must have been given out.
  outer.is_dealt = false;
  begin_loop_with(self, outer, reductions, memory);
  if (self.is_alone() || !self.loop.has_slot()) return;
  const std::uint32_t number = self.loop.construct();
  construct_record& record = self.shared->record_of(number);
  record.lock.lock();
  if (record.is_first_in_doacross(number))
    record.doacross.begin(outer, self.size, counts, dimensions, self.at->shared().barrier.policy());
  record.lock.unlock();
}

doacross_board* doacross_of(part& self) noexcept {
  if (self.is_alone() || !self.loop.has_slot()) return nullptr;
  return &self.shared->record_of(self.loop.construct()).doacross;
}

}  // namespace lockstep::openmp
