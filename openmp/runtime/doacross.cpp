// SPDX-License-Identifier: MIT
#include "doacross.hpp"

#include <cstdlib>
#include <new>

#include "loops.hpp"
#include "message.hpp"
#include "shared_region.hpp"

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
  word.wait(done, detail::stops_with_region{self.stop(), self.region()}, self.history);
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
