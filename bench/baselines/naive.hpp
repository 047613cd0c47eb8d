// SPDX-License-Identifier: MIT
// bench/baselines/naive.hpp -- fork and join without a pool: new threads every time
#pragma once

#include <cstddef>
#include <string_view>
#include <thread>
#include <vector>

namespace bench::naive {

inline constexpr std::string_view name = "naive";

/// Calls body(rank) on `workers` threads that are created and joined here.
template <class Body>
void fork_join(std::size_t workers, const Body& body) {
  std::vector<std::jthread> threads;
  threads.reserve(workers);
  for (std::size_t rank = 0; rank < workers; ++rank) {
    threads.emplace_back([&body, rank] { body(rank); });
  }
}

}  // namespace bench::naive
