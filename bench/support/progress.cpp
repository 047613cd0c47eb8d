// SPDX-License-Identifier: MIT
#include "support/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace bench {
namespace {

constexpr const char* clear_line = "\r\x1b[K";

}  // namespace

progress::progress(std::size_t steps) : steps_(steps), is_terminal_(isatty(STDERR_FILENO) != 0) {}

progress::~progress() {
  if (is_terminal_) std::fputs(clear_line, stderr);
}

void progress::step(std::string_view name) {
  if (is_terminal_) {
    draw_bar(name);
  } else {
    print_line(name);
  }
  ++done_;
}

void progress::draw_bar(std::string_view name) const {
  constexpr std::size_t width = 30;
  const std::size_t filled = width * done_ / steps_;
  fmt::print(stderr, "{}[{:#<{}}{:.<{}}] {:3} % {}", clear_line, "", filled, "", width - filled,
             100 * done_ / steps_, name);
  std::fflush(stderr);
}

void progress::print_line(std::string_view name) {
  const std::size_t tenths = 10 * done_ / steps_;
  if (done_ > 0 && tenths == tenths_printed_) return;
  tenths_printed_ = tenths;
  fmt::print(stderr, "{:3} %  step {} of {}: {}\n", 10 * tenths, done_ + 1, steps_, name);
}

}  // namespace bench
