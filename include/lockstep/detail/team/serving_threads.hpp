// SPDX-License-Identifier: MIT
// lockstep/detail/team/serving_threads.hpp -- threads of the user that serve a team (layer: team)
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access            order    pairs  why it suffices
//   1  claimed.exchange  relaxed  -      one thread a rank; the announcement orders the rest
//   2  claimed.load      relaxed  -      at the end, after which nobody may come
#ifndef LOCKSTEP_DETAIL_TEAM_SERVING_THREADS_HPP
#define LOCKSTEP_DETAIL_TEAM_SERVING_THREADS_HPP

#include <cstddef>

#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/error.hpp>
#include <lockstep/detail/team/placement.hpp>
#include <lockstep/detail/team/team_core.hpp>
#include <lockstep/semaphore.hpp>
#include <lockstep/team_options.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class serving_threads {
 public:
  static constexpr const char* kind_of_team() noexcept { return "lockstep::external_team"; }
  /// For started_region.
  static constexpr bool starts_regions() noexcept { return false; }
  static constexpr const char* name_of_run() noexcept { return "lockstep::external_team::run"; }

  serving_threads(team_core& core, const resolved_team& made, const team_options&)
      : core_(core), claimed_(made.members) {}
  /// Releases, and waits until every thread has left.
  ~serving_threads();
  serving_threads(const serving_threads&) = delete;
  serving_threads& operator=(const serving_threads&) = delete;

  /// Before a region that needs them.
  void make_ready() const {
    if (LOCKSTEP_UNLIKELY(is_child_)) refuse_child();
    if (core_.is_closed()) refuse();
  }
  void serve(std::size_t rank);
  void release() { core_.close(); }

  /// In a child process, which has none of the threads.
  void forget() noexcept { is_child_ = true; }
  bool are_gone() const noexcept { return is_child_ || core_.is_closed(); }

 private:
  [[noreturn]] static void refuse();
  [[noreturn]] static void refuse_child();

  team_core& core_;
  aligned_array<wait_word> claimed_;
  semaphore left_{0};
  bool is_child_ = false;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_SERVING_THREADS_HPP
