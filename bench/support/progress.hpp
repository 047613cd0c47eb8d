// SPDX-License-Identifier: MIT
// bench/support/progress.hpp -- how far a long measurement is, on stderr
//
// A bar on a terminal; otherwise plain lines, one for every tenth of the way. Nothing is written while
// a sample is being taken: call step() between samples.
#pragma once

#include <cstddef>
#include <string_view>

namespace bench {

class progress {
 public:
  explicit progress(std::size_t steps);
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  /// Announces the next step.
  void step(std::string_view name);

 private:
  void draw_bar(std::string_view name) const;
  void print_line(std::string_view name);

  std::size_t steps_;
  std::size_t done_ = 0;
  std::size_t tenths_printed_ = 0;
  bool is_terminal_;
};

}  // namespace bench
