// SPDX-License-Identifier: MIT
// examples/numbered.hpp -- what the numbered programs share: whole lines out, checked numbers in
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace numbered {

/// Writes the line in one piece: lines of different threads are never mixed, and lines that are
/// written one after the other come out in that order.
inline void print_line(std::string text) {
  text += '\n';
  std::fputs(text.c_str(), stdout);
}

/// The arguments of a program. All are whole numbers; the last ones may be left out.
class arguments {
 public:
  arguments(int count, char** values) : count_(count), values_(values), next_(1) {}

  /// The next argument, or `if_absent`. Ends the program with status 2 if it is not such a number.
  unsigned long number(const char* name, unsigned long lowest, unsigned long highest,
                       unsigned long if_absent) {
    if (next_ >= count_) return if_absent;
    unsigned long value = 0;
    if (!parse(values_[next_++], highest, value) || value < lowest) {
      std::fprintf(stderr, "error: %s must be a whole number from %lu to %lu\n", name, lowest,
                   highest);
      std::exit(2);
    }
    return value;
  }

  /// Ends the program with status 2 if there are arguments left.
  void end() const {
    if (next_ >= count_) return;
    std::fprintf(stderr, "error: too many arguments: %d, at most %d\n", count_ - 1, next_ - 1);
    std::exit(2);
  }

 private:
  /// Digits only: strtoul() would take signs and spaces too.
  static bool parse(const char* text, unsigned long highest, unsigned long& value) {
    if (*text == '\0') return false;
    for (; *text >= '0' && *text <= '9'; ++text) {
      const unsigned long digit = static_cast<unsigned long>(*text - '0');
      if (digit > highest || value > (highest - digit) / 10) return false;
      value = value * 10 + digit;
    }
    return *text == '\0';
  }

  int count_;
  char** values_;
  int next_;
};

}  // namespace numbered
