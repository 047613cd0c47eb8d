// SPDX-License-Identifier: MIT
#include "tool/activity.hpp"

#include <algorithm>

namespace tool {
namespace {

enum class state : std::uint8_t { neither, computing, waiting };

class recorder {
 public:
  explicit recorder(activity& into) : into_(into) {}

  /// `now` holds until `until`, from where the last one ended.
  void spend(state now, nanoseconds until) {
    if (now != state::neither && until > at_) {
      std::vector<span>& spans = now == state::computing ? into_.computing : into_.waiting;
      if (!spans.empty() && spans.back().end == at_) {
        spans.back().end = until;
      } else {
        spans.push_back({at_, until});
      }
    }
    at_ = std::max(at_, until);
  }

 private:
  activity& into_;
  nanoseconds at_ = 0;
};

/// For each slice, whether it is a region with a part in it.
std::vector<bool> regions_with_parts(const trace& of, const thread& on) {
  std::vector<bool> has(on.slices.size());
  std::vector<std::size_t> around;
  for (std::size_t i = 0; i < on.slices.size(); ++i) {
    around.resize(on.slices[i].depth);
    if (of.look_of(on.slices[i]).of == kind::part) {
      for (const std::size_t outer : around) has[outer] = true;
    }
    around.push_back(i);
  }
  return has;
}

}  // namespace

activity activity_of(const trace& of, const thread& on) {
  struct open {
    nanoseconds end;
    state inside;
  };
  const std::vector<bool> has_parts = regions_with_parts(of, on);
  activity found;
  recorder record(found);
  std::vector<open> around;
  const auto close_until = [&](nanoseconds when) {
    for (; !around.empty() && around.back().end <= when; around.pop_back()) {
      record.spend(around.back().inside, around.back().end);
    }
    record.spend(around.empty() ? state::neither : around.back().inside, when);
  };
  for (std::size_t i = 0; i < on.slices.size(); ++i) {
    const slice& one = on.slices[i];
    close_until(one.begin);
    state inside = around.empty() ? state::neither : around.back().inside;
    switch (of.look_of(one).of) {
      case kind::part:
      case kind::node:
      case kind::user: inside = state::computing; break;
      case kind::wait: inside = state::waiting; break;
      case kind::region: inside = has_parts[i] ? inside : state::computing; break;
      case kind::construct:
      case kind::other: break;
    }
    around.push_back({around.empty() ? one.end() : std::min(one.end(), around.back().end), inside});
  }
  close_until(of.end);
  return found;
}

nanoseconds total(const std::vector<span>& spans) {
  nanoseconds sum = 0;
  for (const span& one : spans) sum += one.length();
  return sum;
}

void append_within(const std::vector<span>& spans, span window, std::vector<span>& found) {
  auto one = std::partition_point(spans.begin(), spans.end(),
                                  [&](const span& each) { return each.end <= window.begin; });
  for (; one != spans.end() && one->begin < window.end; ++one) {
    found.push_back({std::max(one->begin, window.begin), std::min(one->end, window.end)});
  }
}

nanoseconds total_within(const std::vector<span>& spans, span window) {
  std::vector<span> found;
  append_within(spans, window, found);
  return total(found);
}

}  // namespace tool
