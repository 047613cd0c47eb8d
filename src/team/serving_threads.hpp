// SPDX-License-Identifier: MIT
// src/team/serving_threads.hpp -- threads of the user that serve a team (layer: team)
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access            order    pairs  why it suffices
//   1  claimed.exchange  relaxed  -      one thread a rank; the announcement orders the rest
//   2  claimed.load      relaxed  -      at the end, after which nobody may come
#ifndef LOCKSTEP_SRC_TEAM_SERVING_THREADS_HPP
#define LOCKSTEP_SRC_TEAM_SERVING_THREADS_HPP

#include <cstddef>

#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/error.hpp>
#include <lockstep/semaphore.hpp>
#include "team_core.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class serving_threads final : public team_threads {
 public:
  explicit serving_threads(team_core& core) : core_(core), claimed_(core.size()) {}
  /// Releases, and waits until every thread has left.
  ~serving_threads() override;

  /// Before a region that needs them.
  void make_ready() override {
    if (LOCKSTEP_UNLIKELY(is_child_)) refuse_child();
    if (core_.is_closed()) refuse();
  }
  void serve(std::size_t rank);
  void release() { core_.close(); }

  /// In a child process, which has none of the threads.
  void forget() noexcept override { is_child_ = true; }
  bool are_gone() const noexcept override { return is_child_ || core_.is_closed(); }

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

#endif  // LOCKSTEP_SRC_TEAM_SERVING_THREADS_HPP
