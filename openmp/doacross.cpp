// SPDX-License-Identifier: MIT
#include "doacross.hpp"

#include <cstdarg>
#include <cstdlib>
#include <new>

#include "loops.hpp"
#include "message.hpp"
#include "shared_region.hpp"
#include "task_reductions.hpp"

namespace lockstep::openmp {

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
  // A line for each word, unless that takes too many.
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
  word.wait(done, detail::stops_with_region{self.stop(), self.region()}, self.history);
}

void doacross_board::free_words() noexcept {
  std::free(words_);
  std::free(static_cast<void*>(marks_));
  words_ = nullptr;
  marks_ = nullptr;
  capacity_ = marks_capacity_ = 0;
}

}  // namespace lockstep::openmp

using namespace lockstep::openmp;

namespace {

constexpr unsigned most_loops = 64;

/// Null in a region of one, where all earlier iterations are done.
doacross_board* board_of(part& self) noexcept {
  if (self.is_alone() || !self.loop.has_slot()) return nullptr;
  return &self.shared->record_of(self.loop.construct()).doacross;
}

template <class Number>
bool start(unsigned dimensions, const Number* counts, const loop_spec& loop, Number* istart,
           Number* iend, std::uintptr_t* reductions, void** memory) noexcept {
  part& self = here();
  loop_spec outer = loop;
  outer.needs_slot = true;
  outer.is_dealt = false;  // a chunk may wait for all before it: they must have been given out
  if (reductions != nullptr || memory != nullptr) {
    begin_loop_with(self, outer, reductions, memory);
  } else {
    begin_loop(self, outer);
  }
  if (!self.is_alone() && self.loop.has_slot()) {
    const std::uint32_t number = self.loop.construct();
    construct_record& record = self.shared->record_of(number);
    record.lock.lock();
    if (record.is_first_in_doacross(number)) {
      ull all[most_loops];
      for (unsigned i = 0; i < dimensions && i < most_loops; ++i)
        all[i] = static_cast<ull>(counts[i]);
      record.doacross.begin(outer, self.size, all, dimensions, self.at->shared().barrier.policy());
    }
    record.lock.unlock();
  }
  if (istart == nullptr) return true;
  return self.loop.next(reinterpret_cast<ull*>(istart), reinterpret_cast<ull*>(iend));
}

/// The outermost loop counts from 0 in steps of 1.
loop_spec range_of(ull count) noexcept { return loop_spec::of(true, 0, count, 1); }
loop_spec range_of(long count) noexcept { return loop_spec::of(0L, count, 1L); }

template <class Number>
bool start_as(schedule_kind how, unsigned dimensions, const Number* counts, Number chunk,
              Number* istart, Number* iend) noexcept {
  loop_spec range = range_of(counts[0]).with(how, true, 1);
  range.chunk = static_cast<ull>(chunk);
  return start(dimensions, counts, range, istart, iend, nullptr, nullptr);
}
template <class Number>
bool start_at_runtime(unsigned dimensions, const Number* counts, Number* istart,
                      Number* iend) noexcept {
  return start(dimensions, counts, as_runtime(range_of(counts[0]), here(), false), istart, iend,
               nullptr, nullptr);
}

template <class Number>
void wait_for(Number first, std::va_list others) noexcept {
  part& self = here();
  doacross_board* const board = board_of(self);
  if (board == nullptr) return;
  Number at[most_loops];
  at[0] = first;
  for (unsigned i = 1; i < board->dimensions(); ++i) at[i] = va_arg(others, Number);
  board->wait(*self.at, at);
}

}  // namespace

#define DOACROSS(PREFIX, NUMBER)                                                                   \
  OPENMP_API bool GOMP_loop_##PREFIX##doacross_static_start(                                       \
      unsigned dimensions, NUMBER* counts, NUMBER chunk, NUMBER* istart, NUMBER* iend) {           \
    return start_as(schedule_kind::fixed, dimensions, counts, chunk, istart, iend);                \
  }                                                                                                \
  OPENMP_API bool GOMP_loop_##PREFIX##doacross_dynamic_start(                                      \
      unsigned dimensions, NUMBER* counts, NUMBER chunk, NUMBER* istart, NUMBER* iend) {           \
    return start_as(schedule_kind::dynamic, dimensions, counts, chunk, istart, iend);              \
  }                                                                                                \
  OPENMP_API bool GOMP_loop_##PREFIX##doacross_guided_start(                                       \
      unsigned dimensions, NUMBER* counts, NUMBER chunk, NUMBER* istart, NUMBER* iend) {           \
    return start_as(schedule_kind::guided, dimensions, counts, chunk, istart, iend);               \
  }                                                                                                \
  OPENMP_API bool GOMP_loop_##PREFIX##doacross_runtime_start(unsigned dimensions, NUMBER* counts,  \
                                                             NUMBER* istart, NUMBER* iend) {       \
    return start_at_runtime(dimensions, counts, istart, iend);                                     \
  }                                                                                                \
  OPENMP_API bool GOMP_loop_##PREFIX##doacross_start(                                              \
      unsigned dimensions, NUMBER* counts, long number, NUMBER chunk, NUMBER* istart,              \
      NUMBER* iend, std::uintptr_t* reductions, void** memory) {                                   \
    const loop_spec range = range_of(counts[0]);                                                   \
    return start(dimensions, counts, as_numbered(range, here(), number, static_cast<long>(chunk)), \
                 istart, iend, reductions, memory);                                                \
  }

DOACROSS(, long)
DOACROSS(ull_, ull)

#undef DOACROSS

OPENMP_API void GOMP_doacross_post(long* at) {
  if (doacross_board* const board = board_of(here())) board->post(at);
}
OPENMP_API void GOMP_doacross_ull_post(ull* at) {
  if (doacross_board* const board = board_of(here())) board->post(at);
}
OPENMP_API void GOMP_doacross_wait(long first, ...) {
  std::va_list others;
  va_start(others, first);
  wait_for(first, others);
  va_end(others);
}
OPENMP_API void GOMP_doacross_ull_wait(ull first, ...) {
  std::va_list others;
  va_start(others, first);
  wait_for(first, others);
  va_end(others);
}
