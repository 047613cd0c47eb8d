// SPDX-License-Identifier: MIT
#include "tool/trace_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace tool {
namespace {

void begin_at_zero(trace& of) {
  nanoseconds begin = std::numeric_limits<nanoseconds>::max();
  const auto earliest = [&begin](nanoseconds when) { begin = std::min(begin, when); };
  for (const thread& each : of.threads) {
    for (const slice& one : each.slices) earliest(one.begin);
    for (const mark& one : each.marks) earliest(one.when);
  }
  for (const arrow& one : of.arrows) earliest(std::min(one.left, one.came));
  for (const counter& each : of.counters) {
    for (const counter::value& one : each.values) earliest(one.when);
  }
  of.end = std::max<nanoseconds>(of.end - begin, 0);
  const auto shift = [&of, begin](nanoseconds& when) {
    when -= begin;
    of.end = std::max(of.end, when);
  };
  for (thread& each : of.threads) {
    if (each.lost != 0) each.whole_from = std::max<nanoseconds>(each.whole_from - begin, 0);
    for (slice& one : each.slices) {
      shift(one.begin);
      of.end = std::max(of.end, one.end());
    }
    for (mark& one : each.marks) shift(one.when);
  }
  for (arrow& one : of.arrows) shift(one.left), shift(one.came);
  for (counter& each : of.counters) {
    for (counter::value& one : each.values) shift(one.when);
  }
}

/// Gives each slice its depth. Returns how many slices end after a slice that they begin in.
std::uint64_t nest(std::vector<slice>& slices) {
  std::uint64_t crossing = 0;
  std::vector<nanoseconds> ends;
  for (slice& one : slices) {
    while (!ends.empty() && ends.back() <= one.begin) ends.pop_back();
    one.depth = static_cast<std::uint32_t>(ends.size());
    if (!ends.empty() && one.end() > ends.back()) ++crossing;
    ends.push_back(one.end());
  }
  return crossing;
}

void order_records(trace& of) {
  const std::vector<look>& looks = of.looks;
  const auto outer_first = [&looks](const slice& a, const slice& b) {
    return std::make_tuple(a.begin, -a.length, looks[a.look].of) <
           std::make_tuple(b.begin, -b.length, looks[b.look].of);
  };
  for (thread& each : of.threads) {
    std::stable_sort(each.slices.begin(), each.slices.end(), outer_first);
    std::stable_sort(each.marks.begin(), each.marks.end(),
                     [](const mark& a, const mark& b) { return a.when < b.when; });
    of.crossing += nest(each.slices);
    if (each.name.empty()) each.name = fmt::format("thread {}", each.number);
  }
  for (counter& each : of.counters) {
    std::stable_sort(
        each.values.begin(), each.values.end(),
        [](const counter::value& a, const counter::value& b) { return a.when < b.when; });
  }
}

/// Leaves out threads that have only a name. The members of a team come by rank, then the others in the order of the
/// file.
void order_threads(trace& of) {
  std::vector<std::uint32_t> shown, place(of.threads.size());
  for (std::uint32_t i = 0; i < of.threads.size(); ++i) {
    if (!of.threads[i].slices.empty() || !of.threads[i].marks.empty()) shown.push_back(i);
  }
  const auto place_of = [&of](std::uint32_t i) {
    const thread& one = of.threads[i];
    return std::make_tuple(one.process, one.team == 0, one.team, one.rank, one.order, one.number);
  };
  std::stable_sort(shown.begin(), shown.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return place_of(a) < place_of(b); });
  std::vector<thread> ordered;
  std::vector<bool> is_shown(of.threads.size());
  for (const std::uint32_t i : shown) {
    place[i] = static_cast<std::uint32_t>(ordered.size());
    is_shown[i] = true;
    ordered.push_back(std::move(of.threads[i]));
  }
  of.threads = std::move(ordered);
  std::erase_if(of.arrows,
                [&](const arrow& one) { return !is_shown[one.from] || !is_shown[one.to]; });
  for (arrow& one : of.arrows) one.from = place[one.from], one.to = place[one.to];
}

span common_window(const trace& of) {
  span found = {0, of.end};
  for (const thread& each : of.threads) {
    found.begin = std::max(found.begin, each.whole_from);
  }
  return found;
}

}  // namespace

void put_in_order(trace& of) {
  begin_at_zero(of);
  order_records(of);
  order_threads(of);
  of.common = common_window(of);
}

}  // namespace tool
