// SPDX-License-Identifier: MIT
// tests/stress/crew.hpp -- the threads of the scenarios, kept from round to round
//
// Starts and ends rounds by the standard library only, never by the library under test.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <lockstep/detail/platform/cache_line.hpp>
#include "stress/actor.hpp"

namespace lockstep::stress {

using namespace detail;

using actor_body = std::function<void(actor&)>;

class crew {
 public:
  explicit crew(std::size_t size);
  ~crew();
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;

  std::size_t size() const noexcept { return actors_.size(); }

  /// Calls body(actor&) on the first `count` threads; returns when all calls have returned. An exception
  /// that leaves a call counts as something found broken.
  void run(std::size_t count, std::uint64_t seed, const actor_body& body);

  /// Of the last run, or of the one that is under way.
  const actor& at(std::size_t rank) const noexcept { return actors_[rank].value; }

 private:
  void work(std::size_t rank);
  void call(const actor_body& body, actor& self, std::uint64_t seed);

  detail::aligned_array<detail::padded<actor>> actors_;
  std::vector<std::string> errors_;
  std::mutex mutex_;
  std::condition_variable started_, ended_;
  const actor_body* body_ = nullptr;
  std::uint64_t seed_ = 0, run_ = 0;
  std::size_t count_ = 0, busy_ = 0;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace lockstep::stress
