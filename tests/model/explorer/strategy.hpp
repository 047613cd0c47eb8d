// SPDX-License-Identifier: MIT
// tests/model/explorer/strategy.hpp -- decides what a schedule does next
//
// Everything in an execution that could go one way or another is a question with a number of answers;
// answer 0 is always the plain one: the thread goes on, the newest value is read, nothing spurious
// happens. The answers of an execution, in order, are its trail: with the same trail it happens again.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "knowledge.hpp"

namespace lockstep::model {

enum class question {
  preempt,   ///< which thread is next, when the running thread (answer 0) could go on
  dispatch,  ///< which thread is next, when it cannot
  stale,     ///< which value a load returns, 0 for the newest
  spurious,  ///< 1: a futex wait or a weak compare-exchange fails for no reason
  sleeper,   ///< which sleeper a wake of one wakes
  patience,  ///< 1: a polling thread goes on polling, as if time ran for it alone
  clock,     ///< 1: time passes slowly
};

class strategy {
 public:
  virtual ~strategy() = default;

  /// False when there is no further schedule.
  virtual bool begin() = 0;
  /// `threads` are the candidates of preempt and dispatch; for the others only their number counts.
  virtual unsigned answer(question what, const std::vector<thread_number>& threads) = 0;
  /// Whether the next answer is the first to its question, so that it matters whether the state is a known one.
  virtual bool is_at_new_question() const { return false; }

  const std::vector<std::uint8_t>& trail() const noexcept { return trail_; }

 protected:
  unsigned note(unsigned answer) {
    trail_.push_back(static_cast<std::uint8_t>(answer));
    return answer;
  }
  std::vector<std::uint8_t> trail_;
};

/// A trail as text and back: "0x12 1 0x3 2" is twelve plain answers, a 1, three plain ones, a 2.
std::string to_text(const std::vector<std::uint8_t>& trail);
std::vector<std::uint8_t> to_trail(const std::string& text);

/// All schedules, by depth-first search. The explorer keeps them finite by its budgets [CHESS07].
class exhaustive_search : public strategy {
 public:
  bool begin() override;
  unsigned answer(question what, const std::vector<thread_number>& threads) override;
  bool is_at_new_question() const override { return position_ == trail_.size(); }

 private:
  bool started_ = false;
  std::vector<std::uint8_t> options_;  // beside trail_: how many answers there were
  std::size_t position_ = 0;
};

/// Seeded schedules: by turns a random walk, with preemptions of a frequency of its own in each
/// schedule, and PCT [PCT10]: random priorities with a few random points where the running thread gets the lowest.
class random_search : public strategy {
 public:
  random_search(std::uint64_t seed, std::uint64_t schedules) : seed_(seed), left_(schedules) {}

  /// What random_search(seed, 1) needs to make this schedule again.
  std::uint64_t seed_of_schedule() const noexcept { return current_; }

  bool begin() override;
  unsigned answer(question what, const std::vector<thread_number>& threads) override;

 private:
  unsigned by_priority(const std::vector<thread_number>& threads);
  bool once_in(unsigned n) { return random_() % n == 0; }

  std::uint64_t seed_;
  std::uint64_t left_;
  std::uint64_t current_ = 0;
  std::mt19937_64 random_;
  bool by_priorities_ = false;
  unsigned preempt_once_in_ = 2, stale_once_in_ = 2, spurious_once_in_ = 2;
  std::vector<std::uint32_t> changes_;  // the steps at which priorities change
  std::uint32_t step_ = 0;
  std::uint32_t lowest_ = 0;
  std::vector<std::uint32_t> priorities_;
};

/// One schedule, given.
class replay : public strategy {
 public:
  explicit replay(std::vector<std::uint8_t> trail) : given_(std::move(trail)) {}
  bool begin() override { return !std::exchange(done_, true); }
  unsigned answer(question what, const std::vector<thread_number>& threads) override;

 private:
  std::vector<std::uint8_t> given_;
  bool done_ = false;
};

}  // namespace lockstep::model
