// SPDX-License-Identifier: MIT
// bench/team/peers/fork_union_pool.hpp -- ForkUnion: its pool with each of its two ways to wait
//
// Its threads wait for work without ever sleeping: in the way that it prefers for the processor that is compiled for
// (`pause`; with -mwaitpkg TPAUSE on the line of the word), which is the fastest, or with `yield` (its default), so that
// others get the CPU. They cannot meet inside.
#pragma once

#include <cstddef>
#include <forkunion.hpp>
#include <memory>
#include <stdexcept>

#include "team/executors.hpp"

namespace team_bench {

using fork_union_yield = ashvardanian::forkunion::standard_yield_t;
using fork_union_pause = ashvardanian::forkunion::preferred_yield_t;

template <class Waiting>
class fork_union_pool : public loops_by_fork<fork_union_pool<Waiting>> {
 public:
  explicit fork_union_pool(std::size_t threads)
      : loops_by_fork<fork_union_pool>(threads), partial_(threads) {
    if (!pool_.try_spawn(threads)) throw std::runtime_error("ForkUnion started no threads");
  }

  std::size_t size() const { return pool_.threads_count(); }

  template <class Function>
  void fork(const Function& f) {
    pool_.for_threads([&f](std::size_t rank) noexcept { f(rank); });
  }
  template <class Function>
  void claimed_loop(std::size_t first, std::size_t last, const Function& f) {
    pool_.for_n_dynamic(last - first,
                        [&f, first](std::size_t i) noexcept { f(first + i, first + i + 1); });
  }
  template <class Function>
  double claimed_sum(std::size_t first, std::size_t last, const Function& f) {
    partial_.clear();
    pool_.for_n_dynamic(last - first, [this, &f, first](prong at) noexcept {
      partial_[at.thread] += f(first + at.task, first + at.task + 1);
    });
    return partial_.total();
  }

 private:
  using pool = ashvardanian::forkunion::flat_pool<std::allocator<std::thread>, Waiting>;
  using prong = typename pool::prong_t;

  pool pool_;
  slots partial_;
};

}  // namespace team_bench
