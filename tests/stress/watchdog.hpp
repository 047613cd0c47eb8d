// SPDX-License-Identifier: MIT
// tests/stress/watchdog.hpp -- says where a run is, also when it does not get further
//
// A round that is not over in time ends the program with exit status 1 and a message; so does a
// sanitizer's report or a crash, which otherwise would not tell the seed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace lockstep::stress {

class watchdog {
 public:
  /// `at_end` is called before the program is ended.
  explicit watchdog(std::chrono::seconds patience, std::function<void()> at_end);
  ~watchdog();
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

  /// A round begins: what it is, and how to ask how far it got.
  void begin(const std::string& what, std::function<std::string()> reached);
  /// It is over.
  void end();

 private:
  void watch();
  [[noreturn]] void bark();

  const std::chrono::seconds patience_;
  const std::function<void()> at_end_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;
  std::function<std::string()> reached_;
  std::uint64_t rounds_ = 0;
  bool stopped_ = false;
  std::thread thread_;
};

/// Whether the program was built with a sanitizer that is slow.
bool is_sanitized() noexcept;

}  // namespace lockstep::stress
