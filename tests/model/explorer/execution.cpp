// SPDX-License-Identifier: MIT
#include "execution.hpp"

#include <algorithm>

namespace lockstep::model {

std::string execution::who(std::size_t number) const {
  return number == 0 ? "main" : "thread " + std::to_string(number);
}

std::string execution::word(const void* at) {
  const location* const found = words.find(at);
  return found == nullptr ? "word" : "word " + std::to_string(found->number);
}

std::string execution::describe() {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const fiber_thread& each = threads[i];
    text += "\n  " + who(i);
    switch (each.is) {
      case status::asleep: text += " sleeps on " + word(each.sleeps_on); break;
      case status::joining:
        text += " joins " + who(each.joins) +
                (each.joins_before > each.joins + 1 ? " and the others" : "");
        break;
      case status::finished: text += " has ended"; break;
      default: text += each.polls ? " polls" : " runs";
    }
  }
  return text;
}

std::string execution::stuck() {
  return "nobody can go on, a wake-up is lost or a thread waits for what never comes:" + describe();
}

void execution::note(const std::string& text, site where) {
  if (!how.records) return;
  std::string line = who(running);
  line.resize(10, ' ');
  std::string place = to_text(where);
  place.resize(std::max<std::size_t>(place.size(), 36), ' ');
  result.interleaving.push_back(line + place + " " + text);
}

}  // namespace lockstep::model
