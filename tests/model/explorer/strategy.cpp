// SPDX-License-Identifier: MIT
#include "strategy.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace lockstep::model {

std::string to_text(const std::vector<std::uint8_t>& trail) {
  std::ostringstream text;
  for (std::size_t i = 0; i < trail.size();) {
    std::size_t end = i;
    while (end < trail.size() && trail[end] == 0) ++end;
    text << (i == 0 ? "" : " ");
    if (end > i) {
      text << "0x" << end - i;
      i = end;
    } else {
      text << unsigned{trail[i++]};
    }
  }
  return text.str();
}

std::vector<std::uint8_t> to_trail(const std::string& text) {
  std::vector<std::uint8_t> trail;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const bool zeros = word.compare(0, 2, "0x") == 0;
    const unsigned long number = std::stoul(zeros ? word.substr(2) : word);
    trail.insert(trail.end(), zeros ? number : 1, static_cast<std::uint8_t>(zeros ? 0 : number));
  }
  return trail;
}

bool exhaustive_search::begin() {
  position_ = 0;
  if (!std::exchange(started_, true)) return true;
  while (!trail_.empty() && trail_.back() + 1 == options_.back()) {
    trail_.pop_back();
    options_.pop_back();
  }
  if (trail_.empty()) return false;
  ++trail_.back();
  return true;
}

unsigned exhaustive_search::answer(question, const std::vector<thread_number>& threads) {
  if (position_ == trail_.size()) {
    note(0);
    options_.push_back(static_cast<std::uint8_t>(threads.size()));
  } else if (options_[position_] != threads.size()) {
    throw std::logic_error("the scenario does not do the same on the same schedule");
  }
  return trail_[position_++];
}

bool random_search::begin() {
  if (left_ == 0) return false;
  --left_;
  trail_.clear();
  current_ = seed_++;
  random_.seed(current_);
  by_priorities_ = once_in(2);
  preempt_once_in_ = 1u << (1 + random_() % 5);
  stale_once_in_ = 1u << (1 + random_() % 4);
  spurious_once_in_ = 1u << (1 + random_() % 5);
  step_ = 0;
  lowest_ = most_threads;
  priorities_.resize(most_threads);
  for (std::uint32_t i = 0; i < most_threads; ++i) priorities_[i] = most_threads + 1 + i;
  std::shuffle(priorities_.begin(), priorities_.end(), random_);
  const std::uint32_t length = 32u << (random_() % 4);
  changes_.resize(1 + random_() % 5);
  for (std::uint32_t& each : changes_) each = static_cast<std::uint32_t>(random_() % length);
  return true;
}

/// A thread waits for a value to change, or for a sleep to end, long before others with less priority
/// have run: they are not among the candidates.
unsigned random_search::by_priority(const std::vector<thread_number>& threads) {
  ++step_;
  if (lowest_ > 0 && std::find(changes_.begin(), changes_.end(), step_) != changes_.end()) {
    priorities_[threads[0] % most_threads] = --lowest_;
  }
  const auto less = [this](thread_number a, thread_number b) {
    return priorities_[a % most_threads] < priorities_[b % most_threads];
  };
  return static_cast<unsigned>(std::max_element(threads.begin(), threads.end(), less) -
                               threads.begin());
}

unsigned random_search::answer(question what, const std::vector<thread_number>& threads) {
  const unsigned options = static_cast<unsigned>(threads.size());
  const auto rarely = [&](unsigned n) {
    return once_in(n) ? 1 + static_cast<unsigned>(random_() % (options - 1)) : 0u;
  };
  switch (what) {
    case question::preempt:
      return note(by_priorities_ ? by_priority(threads) : rarely(preempt_once_in_));
    case question::dispatch:
      return note(by_priorities_ ? by_priority(threads)
                                 : static_cast<unsigned>(random_() % options));
    case question::stale: return note(rarely(stale_once_in_));
    case question::spurious: return note(rarely(spurious_once_in_));
    case question::sleeper: return note(static_cast<unsigned>(random_() % options));
    case question::patience: return note(rarely(8));
    case question::clock: return note(rarely(4));
  }
  return note(0);
}

unsigned replay::answer(question, const std::vector<thread_number>& threads) {
  const std::size_t at = trail_.size();
  const unsigned given = at < given_.size() ? given_[at] : 0;
  return note(given < threads.size() ? given : 0);
}

}  // namespace lockstep::model
