// SPDX-License-Identifier: MIT
// lockstep/schedule.hpp -- who does which part of a range: pure functions (layer: team)
//
// static_block    one contiguous block per member
// static_chunk    chunks dealt out in turn, by rank
// chunk_of_ticket chunks taken by ticket, from one counter or a hand for each member ("dynamic"): loops.hpp
// guided_cursor   chunks taken by ticket, that shrink with what is left ("guided")
//
//   S1  The blocks, chunks or tickets of a loop cover [first, last) without gap or overlap, in rank order,
//       in order of turn * size + rank, or in ticket order.
//   S2  What a ticket stands for depends on range, chunk and size alone: every member that computes it
//       gets the same.
//   S3  No sum exceeds `last`: right up to the largest std::size_t. A backward range is an empty one.
//   S4  A turn or ticket past the end is an empty range.
#ifndef LOCKSTEP_SCHEDULE_HPP
#define LOCKSTEP_SCHEDULE_HPP

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "detail/team/index_span.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

[[noreturn]] LOCKSTEP_NOINLINE inline std::size_t fail_index_range() {
  detail::fail<std::invalid_argument>(
      "lockstep::index_range: begins below 0, must begin at 0 or more");
}

/// The half-open range [first, last). From bounds of any integer types, compared as numbers: {0, -3} is empty.
/// Fails if it holds an index below 0.
struct index_range {
  std::size_t first;
  std::size_t last;

  constexpr index_range() noexcept : first(0), last(0) {}
  constexpr index_range(std::size_t from, std::size_t to) noexcept : first(from), last(to) {}
  template <class First, class Last, class = detail::if_bounds<First, Last>>
  constexpr index_range(First from, Last to)
      : first(!detail::is_below_zero(from)                          ? static_cast<std::size_t>(from)
              : detail::is_below_zero(to) && are_reversed(from, to) ? 0
                                                                    : fail_index_range()),
        last(detail::is_below_zero(to) ? 0 : static_cast<std::size_t>(to)) {
    static_assert(detail::is_index<First>::value && detail::is_index<Last>::value,
                  "lockstep: the bounds of a range are integers (int, std::size_t, ...), not bool, "
                  "characters or floating point");
  }

 private:
  template <class First, class Last>
  static constexpr bool are_reversed(First from, Last to) noexcept {
    return static_cast<detail::index_between<First, Last>>(to) <=
           static_cast<detail::index_between<First, Last>>(from);
  }
};

/// The number of indices; 0 for a backward range.
constexpr std::size_t length_of(index_range range) noexcept {
  return range.last <= range.first ? 0 : range.last - range.first;
}

/// The offsets of a loop's indices.
template <class Index>
constexpr index_range all_of(const detail::index_span<Index>& span) noexcept {
  return index_range{0, span.length};
}

/// How the iterations of a loop are handed out.
enum class schedule_kind : std::uint8_t {
  static_blocks,  ///< one contiguous block per member: no shared word, best reuse of caches
  static_chunks,  ///< chunks in turn: no shared word, evens out work that grows along the range
  dynamic,        ///< a chunk to whoever asks: one read-modify-write each, for uneven work
  guided          ///< as dynamic, large chunks first: fewer of them
};

/// A value: kind and chunk. Made by the four functions below; OpenMP's schedule clause.
class schedule {
 public:
  constexpr schedule() noexcept : chunk_(0), kind_(schedule_kind::static_blocks) {}
  /// Refuses a chunk of 0, except for static_blocks, where it has no meaning.
  constexpr schedule(schedule_kind kind, std::size_t chunk)
      : chunk_(kind == schedule_kind::static_blocks ? 0 : checked_chunk(chunk)), kind_(kind) {}

  constexpr schedule_kind kind() const noexcept { return kind_; }
  /// Iterations per chunk, the fewest for guided; for static_blocks the grain, 0 if none was given.
  constexpr std::size_t chunk() const noexcept { return chunk_; }

  friend constexpr bool operator==(schedule a, schedule b) noexcept {
    return a.kind_ == b.kind_ && a.chunk_ == b.chunk_;
  }
  friend constexpr bool operator!=(schedule a, schedule b) noexcept { return !(a == b); }

 private:
  friend constexpr schedule grain(std::size_t iterations);
  struct with_grain {};
  constexpr schedule(with_grain, std::size_t iterations)
      : chunk_(checked_chunk(iterations)), kind_(schedule_kind::static_blocks) {}

  static constexpr std::size_t checked_chunk(std::size_t chunk) {
    return chunk != 0 ? chunk : refuse_chunk();
  }
  [[noreturn]] LOCKSTEP_NOINLINE static std::size_t refuse_chunk() {
    detail::fail<std::invalid_argument>(
        "lockstep::schedule: a chunk of 0 iterations given, must be 1 or more");
  }

  std::size_t chunk_;
  schedule_kind kind_;
};

/// One contiguous block per member; the default of every loop.
constexpr schedule static_schedule() noexcept { return schedule(); }
/// Blocks of `iterations` or more, on fewer members if there is not enough: for a parallel_for and its like, which learn
/// by themselves how many members pay where this is not said. Inside a region: static_schedule(). Refuses 0.
constexpr schedule grain(std::size_t iterations) {
  return schedule(schedule::with_grain(), iterations);
}
/// Chunks of `chunk` iterations, dealt out in turn. Refuses 0.
constexpr schedule static_schedule(std::size_t chunk) {
  return schedule(schedule_kind::static_chunks, chunk);
}
/// Chunks of `chunk` iterations to whoever asks. Refuses 0.
constexpr schedule dynamic_schedule(std::size_t chunk = 1) {
  return schedule(schedule_kind::dynamic, chunk);
}
/// Chunks that shrink with what is left, `least` iterations or more, but for the last. Refuses 0.
constexpr schedule guided_schedule(std::size_t least = 1) {
  return schedule(schedule_kind::guided, least);
}

/// The contiguous block of member `rank` of `size`: blocks cover [first, last) in rank order without
/// gap or overlap, and their lengths differ by one at most, the longer ones first. Empty if last <= first.
/// Requires rank < size.
constexpr index_range static_block(std::size_t first, std::size_t last, std::size_t rank,
                                   std::size_t size) noexcept {
  // One expression, as C++11 wants it: quotient * rank + min(rank, remainder) after the start.
  return last <= first
             ? index_range{first, first}
             : index_range{
                   first + (last - first) / size * rank +
                       (rank < (last - first) % size ? rank : (last - first) % size),
                   first + (last - first) / size * (rank + 1) +
                       (rank + 1 < (last - first) % size ? rank + 1 : (last - first) % size)};
}

/// The number of chunks of `chunk` iterations in [first, last), the last one perhaps shorter: the number
/// of tickets of a dynamic loop. Requires chunk > 0.
constexpr std::size_t chunks_of(std::size_t first, std::size_t last, std::size_t chunk) noexcept {
  return last <= first ? 0 : (last - first - 1) / chunk + 1;
}

/// Chunk number `number` (0, 1, ...) of [first, last). Requires number < chunks_of(first, last, chunk): so it
/// does without the division that finds this out, which costs more than a short iteration.
constexpr index_range known_chunk(std::size_t first, std::size_t last, std::size_t chunk,
                                  std::size_t number) noexcept {
  return index_range{first + number * chunk, last - (first + number * chunk) <= chunk
                                                 ? last
                                                 : first + number * chunk + chunk};
}

/// What ticket number `ticket` (0, 1, ...) of a dynamic loop stands for; empty past the end.
/// Requires chunk > 0. A counter of tickets passes chunks_of() by one for each member that looks in vain;
/// if it has fewer bits than std::size_t, the caller sees to it that it does not wrap.
constexpr index_range chunk_of_ticket(std::size_t first, std::size_t last, std::size_t chunk,
                                      std::size_t ticket) noexcept {
  return ticket >= chunks_of(first, last, chunk) ? index_range{last, last}
                                                 : known_chunk(first, last, chunk, ticket);
}

/// Chunk number `turn` (0, 1, ...) of member `rank` of `size`: chunk turn * size + rank of the range;
/// empty past the member's last. Requires chunk > 0, rank < size.
constexpr index_range static_chunk(std::size_t first, std::size_t last, std::size_t chunk,
                                   std::size_t rank, std::size_t size, std::size_t turn) noexcept {
  // Compared before it is multiplied: turn * size may not fit.
  return rank >= chunks_of(first, last, chunk) ||
                 turn > (chunks_of(first, last, chunk) - 1 - rank) / size
             ? index_range{last, last}
             : chunk_of_ticket(first, last, chunk, turn * size + rank);
}

/// The tickets of a guided loop, for one member. The chunk at a point of the range where `left` iterations
/// are left has max(least, ceil(left / (2 * size))) of them, but not more than `left`. The cursor replays
/// the sequence up to the ticket asked for, so that one counter of tickets is all that is shared. All
/// replays of one member together take one division per ticket of the loop, of which there are about
/// 2 * size * (1 + ln(n / (2 * size * least))).
class guided_cursor {
 public:
  /// Requires least > 0, 0 < size <= 65536.
  constexpr guided_cursor(std::size_t first, std::size_t last, std::size_t least,
                          std::size_t size) noexcept
      : next_(first), last_(last < first ? first : last), least_(least), parts_(2 * size) {}

  /// What ticket number `ticket` (0, 1, ...) stands for; empty past the end.
  /// Requires: not less than in the calls before.
  index_range advance_to(std::size_t ticket) noexcept {
    while (ticket_ < ticket && next_ < last_) {
      next_ += length();
      ++ticket_;
    }
    return index_range{next_, next_ + length()};
  }

  /// The number of tickets of the whole loop, by replay of what is left of it.
  std::size_t tickets() const noexcept {
    guided_cursor rest(*this);
    while (rest.next_ < last_) rest.advance_to(rest.ticket_ + 1);
    return rest.ticket_;
  }

 private:
  std::size_t length() const noexcept {
    const std::size_t left = last_ - next_;
    if (left <= least_) return left;
    const std::size_t share = (left - 1) / parts_ + 1;
    return share < least_ ? least_ : share;
  }

  std::size_t next_;
  std::size_t last_;
  std::size_t least_;
  std::size_t parts_;
  std::size_t ticket_ = 0;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SCHEDULE_HPP
