// SPDX-License-Identifier: MIT
// lockstep/first_touch.hpp -- arrays whose parts lie in the memory of the members that use them (layer: team)
//
// Systems give a program memory page by page, when it is first written, from the NUMA node of the thread that writes it.
// An array that one thread initialises lies at one node, and all others fetch it from there. Here each member
// initialises the block that it has in a loop with static_schedule() over all elements, static_block(0, n, rank, size).
//
//   first_touch_array  owns its elements
//   first_touch        makes elements in memory that you have: of an allocator of your own, or with huge pages
// This pays with several nodes and arrays of megabytes, in teams that are bound (binding::spread()): members that move
// take no memory along.
//
//   TOUCH-1  Each element is made once: by the member whose block it is in, or by the caller if the region was stopped
//            before that member's part.
//   TOUCH-2  If a constructor throws, all elements that were made are destroyed, and then the exception of the lowest
//            rank is thrown.
//   TOUCH-3  Elements are destroyed by one thread, the last one first.
//
// A page on the border of two blocks belongs to the member that writes to it first. Memory that the allocator had given
// out before keeps its place; with the usual allocators large arrays are fresh.
//
// Order  what is written to the elements here happens before the return, as in team::run().
// Errors more elements than memory: std::bad_alloc. What constructors throw: TOUCH-2.
// Cost   a region, and a pass over the elements; 128 bytes a member meanwhile.
// Example
//   lockstep::team two(2);
//   lockstep::first_touch_array<double> x(two, 1000), y(two, 1000, 1.0);  // 0 and 1
//   two.for_each(0, x.size(), [&](std::size_t i) { x[i] += 2 * y[i]; });
#ifndef LOCKSTEP_FIRST_TOUCH_HPP
#define LOCKSTEP_FIRST_TOUCH_HPP

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/member.hpp>
#include <lockstep/schedule.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

namespace detail {

/// The elements of one first_touch(), until all are made.
template <class Type>
class touched_elements {
 public:
  touched_elements(Type* first, std::size_t count, std::size_t members)
      : first_(first), count_(count), made_(members) {}
  ~touched_elements() {
    if (is_complete_) return;
    for (std::size_t rank = made_.size(); rank-- > 0;) {
      for (std::size_t& made = made_[rank].value; made > 0;) {
        first_[block(rank).first + --made].~Type();
      }
    }
  }
  touched_elements(const touched_elements&) = delete;
  touched_elements& operator=(const touched_elements&) = delete;

  /// Calls make(address) for each element of the block of `rank` that is not made yet.
  template <class Make>
  void touch(std::size_t rank, const Make& make) {
    const index_range mine = block(rank);
    so_far next(made_[rank].value);
    for (std::size_t i = mine.first + next.made; i < mine.last; ++i, ++next.made) {
      make(static_cast<void*>(first_ + i));
    }
  }
  template <class Make>
  void finish(const Make& make) {
    for (std::size_t rank = 0; rank < made_.size(); ++rank) touch(rank, make);
    is_complete_ = true;
  }

 private:
  /// Counts in a register. Its destructor stores the count, also where a constructor throws.
  struct so_far {
    explicit so_far(std::size_t& to) noexcept : made(to), to_(to) {}
    ~so_far() { to_ = made; }
    so_far(const so_far&) = delete;
    so_far& operator=(const so_far&) = delete;

    std::size_t made;

   private:
    std::size_t& to_;
  };

  index_range block(std::size_t rank) const noexcept {
    return static_block(0, count_, rank, made_.size());
  }

  Type* const first_;
  const std::size_t count_;
  aligned_array<padded<std::size_t>> made_;  // of each block
  bool is_complete_ = false;
};

template <class Team, class Type, class Make>
void touch_first(Team& on, Type* raw, std::size_t count, const Make& make) {
  static_assert(
      std::is_object<Type>::value && !std::is_const<Type>::value && !std::is_array<Type>::value,
      "lockstep::first_touch: elements are of an object type that is no array and not "
      "const");
  touched_elements<Type> elements(raw, count, on.size());
  // In a region inside another one of this team (TEAM-2) there is one member: the rest is finish()'s.
  if (count > 0) {
    on.run([&](member& me) {
      if (me.size() == on.size()) elements.touch(me.rank(), make);
    });
  }
  elements.finish(make);
}

}  // namespace detail

/// Makes `count` Type() at `raw`, each member its block: TOUCH-1. `raw` has room for them, aligned for Type, and no
/// objects that need a destructor. `on`: a team or an external_team. In a region of the team the caller makes all.
template <class Team, class Type>
void first_touch(Team& on, Type* raw, std::size_t count) {
  detail::touch_first(on, raw, count, [](void* at) { ::new (at) Type(); });
}
/// Copies of a value, which all members read at once.
template <class Team, class Type>
void first_touch(Team& on, Type* raw, std::size_t count, const Type& value) {
  detail::touch_first(on, raw, count, [&value](void* at) { ::new (at) Type(value); });
}

/// A fixed number of elements, each first written by the member that has it in loops with static_schedule().
template <class Type>
class first_touch_array {
  static_assert(std::is_object<Type>::value && !std::is_const<Type>::value,
                "lockstep::first_touch_array<Type>: Type must be an object type, and not const");

 public:
  using value_type = Type;
  using iterator = Type*;
  using const_iterator = const Type*;

  /// Without elements.
  first_touch_array() noexcept = default;
  /// `count` times Type(). The team is not kept.
  template <class Team>
  first_touch_array(Team& on, std::size_t count) : memory_(count) {
    first_touch(on, memory_.data, count);
    memory_.made = count;
  }
  /// Copies of a value, which all members read at once.
  template <class Team>
  first_touch_array(Team& on, std::size_t count, const Type& value) : memory_(count) {
    first_touch(on, memory_.data, count, value);
    memory_.made = count;
  }
  first_touch_array(first_touch_array&& other) noexcept { swap(other); }
  first_touch_array& operator=(first_touch_array&& other) noexcept {
    first_touch_array old;
    old.swap(*this);
    swap(other);
    return *this;
  }

  std::size_t size() const noexcept { return memory_.made; }
  bool empty() const noexcept { return memory_.made == 0; }
  /// Aligned to a cache line, or as Type wants it if that is more. Null without elements.
  Type* data() noexcept { return memory_.data; }
  const Type* data() const noexcept { return memory_.data; }
  /// Requires i < size().
  Type& operator[](std::size_t i) noexcept { return memory_.data[i]; }
  const Type& operator[](std::size_t i) const noexcept { return memory_.data[i]; }

  Type* begin() noexcept { return memory_.data; }
  Type* end() noexcept { return memory_.data + memory_.made; }
  const Type* begin() const noexcept { return memory_.data; }
  const Type* end() const noexcept { return memory_.data + memory_.made; }

  void swap(first_touch_array& other) noexcept { memory_.swap(other.memory_); }
  friend void swap(first_touch_array& a, first_touch_array& b) noexcept { a.swap(b); }

 private:
  struct memory {
    memory() noexcept = default;
    explicit memory(std::size_t count) {
      if (count == 0) return;
      constexpr std::size_t line =
          alignof(Type) > detail::cache_line_size ? alignof(Type) : detail::cache_line_size;
      constexpr std::size_t most = static_cast<std::size_t>(-1) / 2;
      // A size that would overflow becomes one that `new` refuses.
      raw =
          ::operator new(count > (most - line) / sizeof(Type) ? most : count * sizeof(Type) + line);
      const std::uintptr_t mask = line - 1;
      data = reinterpret_cast<Type*>((reinterpret_cast<std::uintptr_t>(raw) + mask) & ~mask);
    }
    ~memory() {
      while (made > 0) data[--made].~Type();
      ::operator delete(raw);
    }
    memory(const memory&) = delete;
    memory& operator=(const memory&) = delete;
    void swap(memory& other) noexcept {
      std::swap(raw, other.raw);
      std::swap(data, other.data);
      std::swap(made, other.made);
    }

    void* raw = nullptr;
    Type* data = nullptr;
    std::size_t made = 0;
  };

  memory memory_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_FIRST_TOUCH_HPP
