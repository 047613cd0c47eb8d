// SPDX-License-Identifier: MIT
// lockstep/per_member.hpp -- a value for each member of a team, which outlives regions (layer: team)
//
// OpenMP's threadprivate, TBB's enumerable_thread_specific; but by rank, not by thread: a member finds what the member
// of that rank left in the region before, and iterating and combining have one order. For values that live as long as
// one region, a local variable of the region's function is simpler, and faster.
//
//   OWN-1  local(me) is the value of the rank that the thread has in the team's region, also if `me` is its member of a
//          sub-team.
//   OWN-2  In a region that runs inline inside another one (TEAM-2 of team.hpp) local() fails with std::logic_error: use
//          the member of the outer region.
//   OWN-3  In a region each member uses its own value. Outside of regions the thread that runs them may use all, by rank
//          or by iterating.
//
// Cost   local(): an index. Memory: a line or two for each value.
// Order  none of its own: OWN-3.
// Errors a bad number of members: std::invalid_argument. A member whose rank has no value: std::out_of_range; one of
//        OWN-2: std::logic_error. What constructors of Type throw.
// Example
//   lockstep::team two(2);
//   lockstep::per_member<std::vector<int>> found(two);  // one for each member, on lines of its own
//   two.run([&](lockstep::member& me) { found.local(me).push_back(7); });
//   for (std::vector<int>& each : found) each.push_back(8);  // in the order of ranks
//   const std::size_t all = found.combine(
//       std::size_t{0}, [](std::size_t sum, const std::vector<int>& each) { return sum + each.size(); });
#ifndef LOCKSTEP_PER_MEMBER_HPP
#define LOCKSTEP_PER_MEMBER_HPP

#include <cstddef>
#include <iterator>
#include <new>
#include <type_traits>
#include <utility>

#include <lockstep/detail/base/closures.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/error.hpp>
#include <lockstep/member.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// A value for each member of a team, which a member finds again in the next region.
template <class Type>
class per_member {
  static_assert(std::is_object<Type>::value && !std::is_const<Type>::value,
                "lockstep::per_member<Type>: Type must be an object type, and not const");

  /// A value alone on its lines.
  struct line {
    line() noexcept {}  // not initialised
    alignas(Type) alignas(detail::cache_line_size) unsigned char bytes[sizeof(Type)];
  };

  template <class Made>
  using if_maker =
      typename std::enable_if<detail::is_callable<Made&, std::size_t>::value &&
                              !std::is_convertible<const Made&, const Type&>::value>::type;

  /// In rank order. Element: Type, or const Type.
  template <class Element>
  class rank_iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Type;
    using difference_type = std::ptrdiff_t;
    using pointer = Element*;
    using reference = Element&;

    rank_iterator() noexcept = default;
    Element& operator*() const noexcept { return *reinterpret_cast<Element*>(at_->bytes); }
    Element* operator->() const noexcept { return &**this; }
    rank_iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    rank_iterator operator++(int) noexcept {
      const rank_iterator before = *this;
      ++at_;
      return before;
    }
    friend bool operator==(rank_iterator a, rank_iterator b) noexcept { return a.at_ == b.at_; }
    friend bool operator!=(rank_iterator a, rank_iterator b) noexcept { return a.at_ != b.at_; }

   private:
    friend class per_member;
    using line_of =
        typename std::conditional<std::is_const<Element>::value, const line, line>::type;

    explicit rank_iterator(line_of* at) noexcept : at_(at) {}

    line_of* at_ = nullptr;
  };

 public:
  using iterator = rank_iterator<Type>;
  using const_iterator = rank_iterator<const Type>;

  /// One Type() for each of `members`, made here, in the order of ranks. Fails if that is 0 or above 65536.
  explicit per_member(std::size_t members) : all_(members) {
    all_.make([](void* at, std::size_t) { ::new (at) Type(); });
  }
  /// A copy of a value for each.
  per_member(std::size_t members, const Type& value) : all_(members) {
    all_.make([&](void* at, std::size_t) { ::new (at) Type(value); });
  }
  /// For each rank, what make(rank) returns.
  template <class Maker, class = if_maker<Maker>>
  per_member(std::size_t members, Maker make) : all_(members) {
    all_.make([&](void* at, std::size_t rank) { ::new (at) Type(make(rank)); });
  }
  /// The same for the members of a team, or of whatever has a size(); the team is not kept.
  template <class Team, class... More,
            class = typename std::enable_if<
                !std::is_same<Team, per_member>::value,
                decltype(static_cast<void>(std::declval<const Team&>().size()))>::type>
  explicit per_member(const Team& team, More&&... value_or_maker)
      : per_member(static_cast<std::size_t>(team.size()), std::forward<More>(value_or_maker)...) {}
  per_member(const per_member&) = delete;
  per_member& operator=(const per_member&) = delete;

  std::size_t size() const noexcept { return all_.lines.size(); }

  /// The calling member's value: OWN-1. Fails if its rank is not below size(), and with std::logic_error in a region
  /// that runs alone: OWN-2.
  Type& local(const member& me) {
    const std::size_t rank = detail::member_access::state_of(me).rank_in_team();
    if (rank >= size()) fail_local(rank);
    return (*this)[rank];
  }
  /// The value of a rank. Requires rank < size(), and OWN-3.
  Type& operator[](std::size_t rank) noexcept {
    check_rank(rank);
    return *reinterpret_cast<Type*>(all_.lines[rank].bytes);
  }
  const Type& operator[](std::size_t rank) const noexcept {
    check_rank(rank);
    return *reinterpret_cast<const Type*>(all_.lines[rank].bytes);
  }

  iterator begin() noexcept { return iterator(&all_.lines[0]); }
  iterator end() noexcept { return iterator(&all_.lines[0] + size()); }
  const_iterator begin() const noexcept { return const_iterator(&all_.lines[0]); }
  const_iterator end() const noexcept { return const_iterator(&all_.lines[0] + size()); }

  /// op(... op(op(init, value 0), value 1) ..., value n - 1). The values stay as they are, and may be move-only.
  template <class Result, class Operation>
  Result combine(Result init, Operation op) const {
    static_assert(
        detail::is_callable<Operation&, Result, const Type&>::value,
        "lockstep::per_member::combine: op cannot be called as op(result, value), with a value "
        "by const reference");
    for (const Type& each : *this) init = op(std::move(init), each);
    return init;
  }
  /// The same from a copy of value 0 on.
  template <class Operation>
  Type combine(Operation op) const {
    static_assert(std::is_copy_constructible<Type>::value,
                  "lockstep::per_member::combine: the values cannot be copied; give an init");
    static_assert(detail::is_callable<Operation&, Type, const Type&>::value,
                  "lockstep::per_member::combine: op cannot be called as op(Type, const Type&)");
    Type result((*this)[0]);
    for (std::size_t rank = 1; rank < size(); ++rank) {
      result = op(std::move(result), (*this)[rank]);
    }
    return result;
  }

 private:
  /// Destroys what was made, also where the next one throws.
  struct values {
    explicit values(std::size_t members)
        : lines(detail::checked_count("lockstep::per_member", "members", members)) {}
    ~values() {
      while (made > 0) reinterpret_cast<Type*>(lines[--made].bytes)->~Type();
    }
    values(const values&) = delete;
    values& operator=(const values&) = delete;

    template <class Make>
    void make(Make make_at) {
      for (; made < lines.size(); ++made) {
        make_at(static_cast<void*>(lines[made].bytes), made);
      }
    }

    detail::aligned_array<line> lines;
    std::size_t made = 0;
  };

  void check_rank(std::size_t rank) const noexcept {
    if (!detail::diagnoses_misuse || rank < size()) return;
    detail::end_program("lockstep::per_member: rank %zu is asked for, must be below %zu", rank,
                        size());
  }
  [[noreturn]] LOCKSTEP_NOINLINE void fail_local(std::size_t rank) const {
    if (rank == detail::member_state::no_rank) {
      detail::fail_use(
          "lockstep::per_member::local: this region runs alone, inside another region, and its "
          "member has no value; use the member of the outer region");
    }
    detail::fail_rank("lockstep::per_member::local", "member", rank, size());
  }

  values all_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_PER_MEMBER_HPP
