// SPDX-License-Identifier: MIT
// openmp/runtime/doacross.hpp -- iterations that wait for named earlier ones: ordered(n), depend(source), depend(sink: ...)
//
// The outermost loop is workshared. The thread that runs an iteration of it runs the iterations inside one after the
// other. So one word tells how far they have come: a word for each chunk of the outermost loop, or for each member if
// chunks are blocks. The word is the number of the iteration that was posted last, in program order, plus 1.
//
//   DOACROSS-1  The words of a chunk only grow. A wait for an iteration ends once the word has the number of that
//               iteration, or of a later one of the same chunk.
//   DOACROSS-2  What happens before the post of an iteration happens before the return of every wait for it.
//
// Memory order: that of published_words.hpp.
#ifndef LOCKSTEP_OPENMP_RUNTIME_DOACROSS_HPP
#define LOCKSTEP_OPENMP_RUNTIME_DOACROSS_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/member.hpp>
#include "wait/published_words.hpp"

#include "loop_cursor.hpp"
#include "ompt.hpp"

namespace lockstep::openmp {

struct part;

class doacross_board {
 public:
  static constexpr unsigned most_dimensions = 64;

  doacross_board() noexcept = default;
  doacross_board(const doacross_board&) = delete;
  doacross_board& operator=(const doacross_board&) = delete;
  ~doacross_board() { free_words(); }

  /// Called by the first member of the construct, before others use the board. The loop is `outer`, `size` members
  /// share it, and `counts` has the iterations of `dimensions` loops, the outermost first.
  void begin(const loop_spec& outer, unsigned size, const ull* counts, unsigned dimensions,
             wait_policy policy) noexcept;

  unsigned dimensions() const noexcept { return dimensions_; }

  /// All of this iteration that others may wait for is done. `at`: its numbers, the outermost first.
  template <class Number>
  void post(const Number* at) noexcept {
    word_of(static_cast<ull>(at[0])).publish(number_of(at) + 1);
  }
  /// Blocks until the iteration was posted, or the region is cancelled.
  template <class Number>
  void wait(detail::member_state& self, const Number* at) noexcept {
    wait_for(self, static_cast<ull>(at[0]), number_of(at) + 1);
  }

 private:
  struct is_posted {
    ull number;
    bool operator()(ull word) const noexcept { return word >= number; }
    void describe(detail::wait_subject& to) const noexcept {
      to.kind = detail::wait_kind::step_of_member;
      to.phase = static_cast<std::uint32_t>(number);
    }
  };
  struct line {
    detail::atomic<ull> word{0};
  };

  /// The iteration's number in program order, within its chunk of the outermost loop. The numbers of a chunk do not
  /// overflow unless the number of iterations that one thread runs does.
  template <class Number>
  ull number_of(const Number* at) const noexcept {
    ull number = static_cast<ull>(at[0]);
    for (unsigned i = 1; i < dimensions_; ++i)
      number = number * counts_[i] + static_cast<ull>(at[i]);
    return number;
  }
  std::size_t index_of(ull outermost) const noexcept;
  detail::published_word<ull> word_of(ull outermost) noexcept {
    const std::size_t index = index_of(outermost);
    return {words_[index * stride_].word, marks_[index], policy_, detail::fence_payer_of(policy_)};
  }
  void wait_for(detail::member_state& self, ull outermost, ull number) noexcept;
  void free_words() noexcept;

  unsigned dimensions_ = 0;
  ull counts_[most_dimensions];
  ull chunk_ = 1;  ///< iterations of the outermost loop for each word; 0: a block for each member
  ull long_blocks_ = 0,
      block_ = 0;  ///< this many members have a block of block_ + 1, the others of block_
  std::size_t how_many_ = 0, capacity_ = 0, stride_ = 1, marks_capacity_ = 0;
  line* words_ = nullptr;
  detail::sleeper_mark* marks_ = nullptr;
  wait_policy policy_;
};

/// Begins a loop whose iterations wait for each other. The other arguments are those of begin_loop_with().
void begin_doacross(part& self, const loop_spec& loop, const ull* counts, unsigned dimensions,
                    std::uintptr_t* reductions, void** memory) noexcept;
/// The board of the loop that the part is in. Null in a region of one, where all earlier iterations are done.
doacross_board* doacross_of(part& self) noexcept;

/// Tells a tool that an iteration is posted, or waited for.
template <class Number>
void tell_iteration(part& self, const Number* at, unsigned dimensions,
                    ompt::dependence_type type) noexcept {
  ompt::dependence all[doacross_board::most_dimensions];
  for (unsigned i = 0; i < dimensions; ++i) {
    all[i].variable.value = static_cast<std::uint64_t>(at[i]);
    all[i].type = type;
  }
  ompt::tell_dependences(*self.tool, all, dimensions);
}

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_DOACROSS_HPP
