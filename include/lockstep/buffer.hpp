// SPDX-License-Identifier: MIT
// lockstep/buffer.hpp -- a value for each of several iterations of a graph that overlap (layer: graph)
//
// What iteration i writes with buffer[i] stays until iteration i + depth. Nodes take the iteration as an argument.
// graph::channel keeps nodes from writing too early. Each value has cache lines of its own.
//
// Order  none of its own: that of the graph's edges.
// Errors debug builds end the program where an iteration looks for a value that a later one has overwritten, or that an
//        earlier one has not left there yet; with a channel, also where it looks for that of a later one. The message
//        names both iterations.
// Cost   a remainder, which is a mask where the depth is a power of two.
//
// Memory order
//   #  access             order    pairs  why it suffices
//   1  iteration.load     relaxed  -      debug builds only: the graph orders the values themselves
//   2  iteration.store    relaxed  -      as 1
//
// Example
//   lockstep::buffer<double, 3> on_the_way;
//   std::vector<double> halves;
//   lockstep::graph g;
//   auto make = g.node("make", [&](std::size_t i) { on_the_way[i] = static_cast<double>(i); });
//   auto halve = g.node("halve", [&](std::size_t i) { halves.push_back(on_the_way[i] / 2); });
//   g.channel(make, halve, on_the_way);  // `make` is up to 3 iterations ahead of `halve`
#ifndef LOCKSTEP_BUFFER_HPP
#define LOCKSTEP_BUFFER_HPP

#include <cstddef>
#include <string>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/cache_line.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class graph;
namespace detail {

/// Ends the program: a node looks for the value of iteration `wanted`, and the slot has that of `found`.
[[noreturn]] void report_overwritten(const void* buffer, std::size_t depth, std::size_t wanted,
                                     std::size_t found, const std::string& joins) noexcept;
/// Ends the program: a node of iteration `current` looks for the value of iteration `wanted`, and the slot has that of
/// `found`.
[[noreturn]] void report_missing(const void* buffer, std::size_t wanted, std::size_t current,
                                 std::size_t found) noexcept;

/// The iteration whose node the calling thread runs, where misuse is diagnosed. In a program whose lockstep is another
/// module it is never set.
constexpr std::size_t no_iteration = ~std::size_t{0};
inline std::size_t& iteration_of_this_thread() noexcept {
  static thread_local std::size_t iteration = no_iteration;
  return iteration;
}

}  // namespace detail

/// Type is default-constructible. Not copied: a channel knows it by its address.
template <class Type, std::size_t Depth>
class buffer {
 public:
  static_assert(Depth > 0, "lockstep::buffer: a buffer holds at least one value");

  buffer() = default;
  /// All slots hold a copy of this.
  explicit buffer(const Type& value) {
    for (detail::padded<slot>& each : slots_) each.value.value = value;
  }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;

  static constexpr std::size_t depth() noexcept { return Depth; }

  Type& operator[](std::size_t iteration) noexcept {
    slot& at = slots_[iteration % Depth].value;
    if (detail::diagnoses_misuse) check_slot(at, iteration);
    return at.value;
  }
  const Type& operator[](std::size_t iteration) const noexcept {
    const slot& at = slots_[iteration % Depth].value;
    if (detail::diagnoses_misuse) check_slot(at, iteration);
    return at.value;
  }

 private:
  friend class graph;

  struct slot {
    Type value{};
    /// The last iteration whose value was looked for here, in debug builds; -1: none.
    mutable detail::atomic<std::size_t> iteration{~std::size_t{0}};
  };

  /// The first iterations of a run find what the run before has left.
  void check_slot(const slot& at, std::size_t iteration) const noexcept {
    constexpr std::size_t least_negative = ~std::size_t{0} / 2;
    const std::size_t found = at.iteration.load(detail::memory_order_relaxed);  // 1
    if (found == iteration) return;
    const std::size_t current = detail::iteration_of_this_thread();
    const bool looks_back = current != detail::no_iteration && iteration < current;
    const bool is_of_this_run = iteration >= Depth || (looks_back && found <= current);
    if (is_of_this_run && found - iteration < least_negative && iteration < least_negative) {
      detail::report_overwritten(this, Depth, iteration, found, joins_);
    }
    // The nodes of a channel use the place of their own iteration; without one, a node may write that of a later one.
    const bool looks_ahead = iteration > current && iteration < least_negative && !joins_.empty();
    if (looks_back || looks_ahead) detail::report_missing(this, iteration, current, found);
    at.iteration.store(iteration, detail::memory_order_relaxed);  // 2
  }

  detail::padded<slot> slots_[Depth];
  std::string joins_;  ///< the nodes of its channel, for messages
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_BUFFER_HPP
