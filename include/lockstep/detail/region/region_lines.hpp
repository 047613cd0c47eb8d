// SPDX-License-Identifier: MIT
// lockstep/detail/region/region_lines.hpp -- by which lines members hear of a region, and what these say (layer: region)
//
// Members hear of a region by lines: one member publishes a line, up to width - 1 others watch it. The members of a
// team form a tree of that width over their ranks: rank r is the leader of ranks r + 1 to r + width - 1
// if width divides r, of r + width, r + 2 width, ... too if width^2 divides r, and so on; rank 0 leads
// at every level. A team of up to `width` members has a single line. Pure functions and plain data.
//
// A line says which region begins, and what is to be done: a job, which calls f(member&), or f(loop_share&) in a loop.
// A small closure is copied into the job, if nobody can tell the copy from the original (closures.hpp): a thread that
// fetches the line has all it needs. Any other function is called through a pointer, at the cost of one more line, and
// must live until the last call has returned. No allocation either way.
//
// Source [MCS91] sec. 3.3, a wake-up tree of fixed shape, with wide nodes: readers of one line fetch it
// from each other faster than level follows level.
#ifndef LOCKSTEP_DETAIL_REGION_REGION_LINES_HPP
#define LOCKSTEP_DETAIL_REGION_REGION_LINES_HPP

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include "../base/closures.hpp"
#include "../platform/config.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
class member;

namespace detail {

class loop_share;

class region_tree {
 public:
  /// As wide as the flags of a barrier: above 8 readers, fetches of one line queue up.
  static constexpr std::size_t usual_width = 8;

  /// Requires members > 0, width > 1.
  explicit constexpr region_tree(std::size_t members, std::size_t width = usual_width) noexcept
      : members_(members), width_(width) {}

  constexpr std::size_t members() const noexcept { return members_; }
  constexpr std::size_t width() const noexcept { return width_; }

  /// A line: the leader and the step between its watchers.
  struct line {
    std::size_t index;   ///< among all lines of the team
    std::size_t leader;  ///< rank
    std::size_t step;    ///< watchers are leader + step, leader + 2 step, ...; width - 1 at most

    constexpr std::size_t first_watcher() const noexcept { return leader + step; }
  };

  /// How many lines there are.
  std::size_t lines() const noexcept {
    std::size_t sum = 0;
    for (std::size_t step = 1; step < members_; step *= width_) sum += lines_of_level(step);
    return sum;
  }

  /// The line that rank watches. Requires 0 < rank < members.
  line watched_by(std::size_t rank) const noexcept {
    std::size_t step = 1, before = 0;
    while (rank % (step * width_) == 0) {
      before += lines_of_level(step);
      step *= width_;
    }
    const std::size_t group = rank / (step * width_);
    return {before + group, group * step * width_, step};
  }

  /// Calls f(line) for the lines that rank leads and a region of `size` members needs, those with the
  /// most behind them first.
  template <class Function>
  void for_each_led(std::size_t rank, std::size_t size, Function f) const {
    for_each_level([&](std::size_t step, std::size_t before) {
      const std::size_t group = rank / (step * width_);
      if (rank % (step * width_) == 0 && rank + step < size) f(line{before + group, rank, step});
    });
  }

  /// The same for all leaders: for a member that publishes every line itself.
  template <class Function>
  void for_each_needed(std::size_t size, Function f) const {
    for_each_level([&](std::size_t step, std::size_t before) {
      for (std::size_t group = 0; group * step * width_ + step < size; ++group) {
        f(line{before + group, group * step * width_, step});
      }
    });
  }

 private:
  std::size_t lines_of_level(std::size_t step) const noexcept {
    return (members_ - 1) / (step * width_) + 1;
  }

  /// Calls f(step, lines before this level) for each level from the top down.
  template <class Function>
  void for_each_level(Function f) const {
    std::size_t step = 1, before = 0;
    while (step * width_ < members_) {
      before += lines_of_level(step);
      step *= width_;
    }
    while (true) {
      f(step, before);
      if (step == 1) return;
      step /= width_;
      before -= lines_of_level(step);
    }
  }

  std::size_t members_;
  std::size_t width_;
};

/// What the members of a region have to know before they start.
struct region_head {
  std::uint32_t region;  ///< its number, never 0
  std::uint32_t size;    ///< members that take part: ranks below it
  std::uint32_t phase;   ///< of the barrier when it begins
};

/// Which members a region needs.
enum class region_kind : std::uint32_t {
  run = 0,  ///< every member
  loop = 1  ///< those who are there: each share is run by its member unless that is late
};

/// The word that announces a region: a value. It says all that a member must know before it has claimed a part of a
/// loop (share_board.hpp); the rest of the line it may read only after that.
//
//   bits    of the word         set by the member that announces the region
//   63..32  its phase           the lowest bit is the kind of region: 1 for a loop
//   31..16  its size less 1     ranks from that on have no share of a loop
//   15      1: a `run` that observers see
//   14..0   parts of a share    0 for a `run`
class announcement {
 public:
  static constexpr std::uint32_t most_parts = 0x7FFF;

  constexpr explicit announcement(std::uint64_t word = 0) noexcept : word_(word) {}
  /// Requires 0 < size <= 65536; parts is 0 for a `run`, 1 to most_parts for a loop.
  constexpr announcement(std::uint32_t phase, std::uint32_t size, std::uint32_t parts,
                         bool is_seen = false) noexcept
      : word_(std::uint64_t{phase} << 32 | std::uint64_t{size - 1} << 16 |
              (is_seen ? seen_bit : 0u) | parts) {}

  constexpr std::uint64_t word() const noexcept { return word_; }
  constexpr std::uint32_t phase() const noexcept { return static_cast<std::uint32_t>(word_ >> 32); }
  constexpr region_kind kind() const noexcept { return static_cast<region_kind>(phase() & 1u); }
  constexpr bool is_loop() const noexcept { return kind() == region_kind::loop; }
  constexpr std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(word_ >> 16 & 0xFFFF) + 1;
  }
  constexpr std::uint32_t parts() const noexcept {
    return static_cast<std::uint32_t>(word_) & most_parts;
  }
  constexpr bool is_seen() const noexcept { return (word_ & seen_bit) != 0; }

 private:
  static constexpr std::uint32_t seen_bit = most_parts + 1;

  std::uint64_t word_;
};

/// What a region is told to run for a function that takes no member.
template <class Held>
struct part_without_member final {
  explicit part_without_member(Held of) noexcept : f(of) {}
  void operator()(member&) const { f(); }

  Held f;  ///< a closure that may be copied, or a reference to a function
};
template <class Held>
struct may_be_copied<part_without_member<Held>, true> : std::true_type {};

class job {
 public:
  /// With a phase and a pointer before it, a job fills one cache line of 64 bytes.
  static constexpr std::size_t closure_size = 40;

  /// Argument: member or loop_share.
  template <class Argument, class Function>
  void assign(Function& f) noexcept {
    static_assert(is_callable<Function&, Argument&>::value,
                  "lockstep: the function of a region cannot be called as f(me) with a "
                  "lockstep::member&");
    put<Argument>(f, std::integral_constant<bool, travels<Argument, Function>::value>());
  }
  /// For what is compiled once: call(closure, argument), with a copy of the closure. Requires: nobody can tell a copy
  /// of it from itself.
  template <class Argument, class Closure>
  void carry(const Closure& closure) noexcept {
    static_assert(sizeof(Closure) <= closure_size && alignof(Closure) <= alignof(void*), "it fits");
    ::new (static_cast<void*>(closure_)) Closure(closure);
    set<Argument>([](job& self, Argument& with) {
      (*reinterpret_cast<const Closure*>(self.closure_))(with);
    });
  }
  /// A number for the function's type.
  const void* place() const noexcept { return reinterpret_cast<const void*>(call_); }
  /// Calls the function. Requires: it was assigned for this Argument.
  template <class Argument>
  void operator()(Argument& with) {
    reinterpret_cast<caller<Argument>>(call_)(*this, with);
  }

  /// Whether a Function is copied into the job.
  template <class Function, class Argument = member>
  static constexpr bool travels_as() noexcept {
    return travels<Argument, Function>::value;
  }

 private:
  template <class Argument>
  using caller = void (*)(job&, Argument&);

  template <class Argument, class Function, bool IsClass = std::is_class<Function>::value>
  struct travels : std::false_type {};
  template <class Argument, class Function>
  struct travels<Argument, Function, true> {
    static constexpr bool value =
        may_be_copied<Function>::value && is_callable<const Function&, Argument&>::value &&
        sizeof(Function) <= closure_size && alignof(Function) <= alignof(void*);
  };

  template <class Argument, class Function>
  void put(Function& f, std::true_type /*travels*/) noexcept {
    using closure = typename std::remove_const<Function>::type;
    ::new (static_cast<void*>(closure_)) closure(f);
    set<Argument>([](job& self, Argument& with) {
      (*reinterpret_cast<const closure*>(self.closure_))(with);
    });
  }
  template <class Argument, class Function>
  void put(Function& f, std::false_type /*stays*/) noexcept {
    using pointer = Function*;
    ::new (static_cast<void*>(closure_)) pointer(&f);
    set<Argument>(
        [](job& self, Argument& with) { (**reinterpret_cast<pointer*>(self.closure_))(with); });
  }
  template <class Argument>
  void set(caller<Argument> how) noexcept {
    call_ = reinterpret_cast<void (*)()>(how);
  }

  void (*call_)() = nullptr;
  alignas(void*) unsigned char closure_[closure_size];
};

template <class Function>
void check_region_function() noexcept {
  static_assert(is_callable<Function&, member&>::value || is_callable<Function&>::value,
                "lockstep: the function of a region can be called neither as f(me), with a "
                "lockstep::member&, nor as f()");
}

/// The function of a region as f(member&), whether it takes a member or nothing.
template <class Function, bool TakesMember = is_callable<Function&, member&>::value>
class region_function {
 public:
  static constexpr bool is_copied() noexcept { return job::travels_as<Function>(); }

  explicit region_function(Function& f) noexcept : f_(f) {}
  Function& function() noexcept { return f_; }

 private:
  Function& f_;
};
template <class Function>
class region_function<Function, false> {
  template <class Closure, bool MayBeCopied = may_be_copied<Closure>::value>
  struct held {
    static constexpr bool is_copy = is_callable<const Closure&>::value &&
                                    sizeof(Closure) <= job::closure_size &&
                                    alignof(Closure) <= alignof(void*);
  };
  template <class Closure>
  struct held<Closure, false> {
    static constexpr bool is_copy = false;
  };
  using kept =
      typename std::conditional<held<Function>::is_copy,
                                const typename std::remove_const<Function>::type, Function&>::type;

 public:
  static constexpr bool is_copied() noexcept { return held<Function>::is_copy; }

  explicit region_function(Function& f) noexcept : part_(f) {}
  part_without_member<kept>& function() noexcept { return part_; }

 private:
  part_without_member<kept> part_;
};

/// What lies beside the word on its line.
struct announced_region {
  std::uint32_t region = 0;
  std::uint32_t barrier_phase = 0;
  job what;

  region_head head(announcement as) const noexcept { return {region, as.size(), barrier_phase}; }
};
static_assert(sizeof(announced_region) <= 64 - sizeof(std::uint64_t),
              "the word, the region and its job share a cache line");

/// What a worker is to do: the region of its line, and which part of a share if that is a loop. Valid until the
/// worker has reported, or finished the part.
struct assignment {
  announced_region* line = nullptr;
  announcement announced{};
  std::uint32_t part = 0;

  bool is_loop() const noexcept { return announced.is_loop(); }
  region_head head() const noexcept { return line->head(announced); }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_REGION_REGION_LINES_HPP
