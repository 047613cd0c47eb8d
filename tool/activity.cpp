// SPDX-License-Identifier: MIT
#include "tool/activity.hpp"

#include <algorithm>

namespace tool {
namespace {

enum class state : std::uint8_t { unknown, computing, waiting, serial, between };

class recorder {
 public:
  explicit recorder(activity& into) : into_(into) {}

  /// The thread is in the state `now` until `until`, from the end of the last span on.
  void spend(state now, nanoseconds until) {
    if (now != state::unknown && until > at_) {
      if (into_.there.length() == 0) into_.there.begin = at_;
      into_.there.end = until;
      if (now == state::computing) extend(into_.computing, until);
      if (now == state::waiting) extend(into_.waiting, until);
      if (now == state::serial) extend(into_.serial, until);
    }
    at_ = std::max(at_, until);
  }

 private:
  void extend(std::vector<span>& spans, nanoseconds until) const {
    if (spans.empty() || spans.back().end != at_) spans.push_back({at_, at_});
    spans.back().end = until;
  }

  activity& into_;
  nanoseconds at_ = 0;
};

struct stretch {
  nanoseconds begin, end;
  state inside;
  bool inherits;  // `inside` is that of what is around it
};

/// For each slice, whether it is a region with a part in it.
std::vector<bool> regions_with_parts(const trace& of, const thread& on) {
  std::vector<bool> has(on.slices.size());
  std::vector<std::size_t> around;
  for (std::size_t i = 0; i < on.slices.size(); ++i) {
    around.resize(on.slices[i].depth);
    if (of.look_of(on.slices[i]).of == kind::part) {
      // If a slice is marked, the slices around it are marked already.
      for (std::size_t n = around.size(); n > 0 && !has[around[n - 1]]; --n)
        has[around[n - 1]] = true;
    }
    around.push_back(i);
  }
  return has;
}

stretch stretch_of(const slice& one, kind what, bool has_parts) {
  switch (what) {
    case kind::part:
    case kind::node:
    case kind::user: return {one.begin, one.end(), state::computing, false};
    case kind::wait: return {one.begin, one.end(), state::waiting, false};
    case kind::region:
      return {one.begin, one.end(), has_parts ? state::between : state::computing, false};
    case kind::construct:
    case kind::other: break;
  }
  return {one.begin, one.end(), state::between, true};
}

/// Sorted by begin. A stretch comes before those that it contains.
std::vector<stretch> stretches_of(const trace& of, const thread& on) {
  const std::vector<bool> has_parts = regions_with_parts(of, on);
  std::vector<stretch> found;
  found.reserve(on.slices.size());
  bool is_sorted = true;
  for (std::size_t i = 0; i < on.slices.size(); ++i) {
    const slice& one = on.slices[i];
    found.push_back(stretch_of(one, of.look_of(one).of, has_parts[i]));
    if (one.waited == 0) continue;
    found.push_back({one.end() - one.waited, one.end(), state::waiting, false});
    is_sorted = false;
  }
  if (!is_sorted) {
    std::stable_sort(found.begin(), found.end(), [](const stretch& a, const stretch& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
  }
  return found;
}

}  // namespace

/// What the thread does outside of all of lockstep's slices, and from when to when.
stretch outermost(const trace& of, const thread& on) {
  nanoseconds last = 0;
  bool calls_regions = false;
  for (const slice& one : on.slices) {
    last = std::max(last, one.end());
    calls_regions = calls_regions || of.look_of(one).of == kind::region;
  }
  const nanoseconds first = on.slices.empty() ? 0 : on.slices.front().begin;
  if (!calls_regions) return {first, last, state::between, false};
  // The thread was there before, and goes on.
  return {std::min(on.whole_from, first), std::max(last, of.end), state::serial, false};
}

activity activity_of(const trace& of, const thread& on) {
  struct open {
    nanoseconds end;
    state inside;
  };
  activity found;
  recorder record(found);
  std::vector<open> around;
  const auto close_until = [&](nanoseconds when) {
    for (; !around.empty() && around.back().end <= when; around.pop_back()) {
      record.spend(around.back().inside, around.back().end);
    }
    record.spend(around.empty() ? state::unknown : around.back().inside, when);
  };
  const stretch base = outermost(of, on);
  record.spend(state::unknown, base.begin);
  around.push_back({base.end, base.inside});
  for (const stretch& one : stretches_of(of, on)) {
    close_until(one.begin);
    const open outer = around.empty() ? open{one.end, state::between} : around.back();
    const bool is_outermost = one.inherits && outer.inside == state::serial;
    around.push_back({std::min(one.end, outer.end), is_outermost   ? state::between
                                                    : one.inherits ? outer.inside
                                                                   : one.inside});
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
