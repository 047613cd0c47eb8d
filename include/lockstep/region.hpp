// SPDX-License-Identifier: MIT
// lockstep/region.hpp -- regions that are started and joined later, and threads that work for one (layer: team)
//
//   START-1  Only the thread that started a region may call join(), and only while no later region that it started or
//            entered goes on.
//   START-2  The destructor, and an assignment to the handle, join the region: they run the caller's part and wait. They
//            drop what the members throw; only join() reports it. If the destructor runs because of an exception that was
//            thrown since start(), it stops the region in place of the caller's part.
//   START-3  If START-1 forbids join() where the destructor runs (on another thread, inside another region, or before the
//            handle of a region that was started later), the program ends with a message: the region could never end.
//
//   team.run([&](lockstep::member& me) {
//     const lockstep::region_token here = lockstep::this_region();
//     auto half = std::async(std::launch::async, [&, here] {
//       const lockstep::inside_region guest(here);
//       team.for_each(0, n, f);              // inline, as in the member itself (TEAM-2 of team.hpp)
//     });
//     half.get();
//   });
//
// Without inside_region, run() of the same team on such a thread waits for the region's end, while the member waits for
// the thread: for ever. The same goes for the threads of OpenMP, TBB or a pool.
//
//   GUEST-1  While an inside_region lives, the calling thread counts as inside the token's region, and inside all regions
//            from which that was called, besides those that it was in before.
//   GUEST-2  It is no member: it has no rank, and must not use the member object of the thread that started it.
//
// Order  what happens before start() happens before every call of the region's function, and every call before the return
//        of join(). What a guest does is ordered only by the means with which the member waits for it.
// Errors join() without a region, or against START-1: std::logic_error; it throws what a member threw. START-3, and a
//        token whose region is over: the program ends with a message.
// Cost   start and join: those of team::run. A token is two words. Becoming a guest allocates.
// Example
//   lockstep::team two(2);
//   const auto f = [](lockstep::member& me) { std::printf("%zu\n", me.rank()); };
//   lockstep::started_region region = two.start(f);  // the other member runs f
//   std::puts("work of the caller");
//   region.join();  // the caller's part of f, then waits for all
#ifndef LOCKSTEP_REGION_HPP
#define LOCKSTEP_REGION_HPP

#include <cstdint>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

namespace detail {
class team_core;
class team_host;
struct nested_region;
}  // namespace detail

/// A region that the caller has started and will join.
class started_region {
 public:
  /// Refers to no region.
  started_region() noexcept = default;
  started_region(started_region&& other) noexcept
      : core_(other.core_), number_(other.number_), in_flight_(other.in_flight_) {
    other.core_ = nullptr;
  }
  /// START-2, START-3.
  started_region& operator=(started_region&& other) noexcept;
  /// START-2, START-3. To learn of exceptions, call join() before.
  ~started_region();

  /// True while there is a region to be joined.
  explicit operator bool() const noexcept;

  /// Runs the caller's part, and waits for the others. False if the region was stopped; throws as run() does. After either
  /// the handle refers to no region. Fails with std::logic_error, and changes nothing, if it refers to none, and against
  /// START-1.
  bool join();

 private:
  friend class detail::team_host;

  /// Takes over a region, and the caller's turn.
  started_region(detail::team_core& core, int in_flight) noexcept;
  void let_go() noexcept;
  bool join_now(bool gives_up = false);
  const char* refusal() const noexcept;

  detail::team_core* core_ = nullptr;  ///< null: of none
  std::uint32_t number_ = 0;
  int in_flight_ = 0;  ///< how many exceptions unwound the stack at start()
};

/// Names a region as long as it runs. Small: copy it into the thread.
class region_token {
 public:
  /// Names no region: an inside_region of it changes nothing.
  region_token() noexcept = default;

 private:
  friend class inside_region;
  friend region_token this_region() noexcept;

  explicit region_token(const detail::nested_region* where) noexcept;

  const detail::nested_region* where_ = nullptr;
  std::uint32_t number_ = 0;
};

/// The innermost region that the calling thread is in; inside a region that runs inline, the one around it. Outside of
/// regions the token names none.
region_token this_region() noexcept;

/// Makes the calling thread a guest of a region, as long as this lives.
class inside_region {
 public:
  /// Requires: the region goes on while this object lives, because a member waits for this thread. If the region is over,
  /// debug builds end the program with a message.
  explicit inside_region(const region_token& of);
  /// Requires: on the thread that made it, the last one first.
  ~inside_region();
  inside_region(const inside_region&) = delete;
  inside_region& operator=(const inside_region&) = delete;

 private:
  const detail::nested_region* before_;
  detail::nested_region* copies_ = nullptr;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_REGION_HPP
