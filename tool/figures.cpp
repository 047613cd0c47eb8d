// SPDX-License-Identifier: MIT
#include "tool/figures.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace tool {
namespace {

/// The part of a span that lies in the window of the trace. Its length is below 0 if the span lies outside.
span counted_part(const trace& of, const span& one) {
  const span window = of.window();
  return {std::max(one.begin, window.begin), std::min(one.end, window.end)};
}
bool is_counted(const trace& of, const span& one) {
  const span part = counted_part(of, one);
  return part.length() > 0 || (part.length() == 0 && one.length() == 0);
}

thread_figures figures_of_thread(const trace& of, const thread& on) {
  thread_figures result;
  result.when = activity_of(of, on);
  result.computed = total_within(result.when.computing, of.window());
  result.waited = total_within(result.when.waiting, of.window());
  result.serial = total_within(result.when.serial, of.window());
  for (const slice& one : on.slices) {
    if (!is_counted(of, {one.begin, one.end()})) continue;
    const kind what = of.look_of(one).of;
    result.parts += what == kind::part;
    result.waits += what == kind::wait;
    if (what == kind::wait) result.longest_wait = std::max(result.longest_wait, one.length);
  }
  return result;
}

/// The parts of a thread. A record that names no region belongs to the region that is going on.
class part_starts {
 public:
  using key = std::pair<std::uint32_t, std::uint32_t>;  // team, region

  void add(const slice& part) {
    all_.push_back(part.begin);
    (part.team == 0 ? of_any_ : by_region_[{part.team, part.region}]).push_back(part.begin);
  }
  [[nodiscard]] bool has_parts_of_any() const { return !of_any_.empty(); }
  [[nodiscard]] const std::map<key, std::vector<nanoseconds>>& by_region() const {
    return by_region_;
  }

  /// When the thread came to the region; nothing if it did not come.
  [[nodiscard]] std::optional<nanoseconds> first_of(const slice& region) const {
    if (region.team == 0) return first_in(all_, region);
    const std::optional<nanoseconds> of_any = first_in(of_any_, region);
    const auto found = by_region_.find({region.team, region.region});
    if (found == by_region_.end()) return of_any;
    const std::optional<nanoseconds> own = first_in(found->second, region);
    return own && of_any ? std::min(*own, *of_any) : own ? own : of_any;
  }

 private:
  static std::optional<nanoseconds> first_in(const std::vector<nanoseconds>& starts,
                                             const slice& region) {
    const auto first = std::lower_bound(starts.begin(), starts.end(), region.begin);
    if (first == starts.end() || *first >= region.end()) return std::nullopt;
    return *first;
  }

  std::vector<nanoseconds> all_, of_any_;
  std::map<key, std::vector<nanoseconds>> by_region_;
};

/// The spans of a thread, which do not overlap.
class time_in_spans {
 public:
  explicit time_in_spans(const std::vector<span>& of) : spans_(of) {
    before_.reserve(of.size());
    nanoseconds sum = 0;
    for (const span& one : of) before_.push_back(sum), sum += one.length();
  }
  [[nodiscard]] nanoseconds within(span window) const {
    return before(window.end) - before(window.begin);
  }

 private:
  [[nodiscard]] nanoseconds before(nanoseconds when) const {
    const auto next = std::partition_point(spans_.begin(), spans_.end(),
                                           [when](const span& each) { return each.begin < when; });
    if (next == spans_.begin()) return 0;
    const auto last = static_cast<std::size_t>(next - spans_.begin()) - 1;
    return before_[last] + std::min(when, spans_[last].end) - spans_[last].begin;
  }

  const std::vector<span>& spans_;
  std::vector<nanoseconds> before_;
};

/// Looks only at threads that may have come to the region. However deep regions are nested, it looks at each span of
/// time at most twice for the same members.
class run_finder {
 public:
  run_finder(const trace& of, const std::vector<thread_figures>& threads)
      : trace_(of), threads_(threads), parts_(of.threads.size()) {
    for (std::size_t i = 0; i < of.threads.size(); ++i) {
      for (const slice& one : of.threads[i].slices) {
        if (of.look_of(one).of == kind::part) parts_[i].add(one);
      }
      for (const auto& [region, starts] : parts_[i].by_region()) came_to_[region].push_back(i);
      if (parts_[i].has_parts_of_any()) came_to_any_.push_back(i);
      every_.push_back(i);
      computed_.emplace_back(threads[i].when.computing);
    }
  }

  region_run find(std::size_t caller, const slice& region) {
    region_run run;
    run.look = region.look;
    run.time = {region.begin, region.end()};
    run.counted = counted_part(trace_, run.time);
    if (run.counted.length() < 0) run.counted.end = run.counted.begin;
    run.first_start = run.last_start = region.begin;
    members_.clear();
    for (const std::size_t i : candidates(region)) {
      const std::optional<nanoseconds> start = parts_[i].first_of(region);
      if (!start) continue;
      run.first_start = members_.empty() ? *start : std::min(run.first_start, *start);
      run.last_start = members_.empty() ? *start : std::max(run.last_start, *start);
      members_.push_back(i);
    }
    if (members_.empty()) members_.push_back(caller);  // it ran inline
    add_times(run);
    return run;
  }

 private:
  /// In ascending order.
  const std::vector<std::size_t>& candidates(const slice& region) {
    if (region.team == 0) return every_;
    const std::vector<std::size_t>& own = came_to_[{region.team, region.region}];
    if (came_to_any_.empty()) return own;
    either_.clear();
    std::set_union(own.begin(), own.end(), came_to_any_.begin(), came_to_any_.end(),
                   std::back_inserter(either_));
    return either_;
  }

  void add_times(region_run& run) {
    run.members = static_cast<std::uint32_t>(members_.size());
    run.lost = run.counted.length() * run.members;
    for (const std::size_t member : members_) run.lost -= computed_[member].within(run.counted);
    run.parallel = members_.size() < 2 ? 0 : parallel_time(run.counted);
  }

  /// If runs do not overlap, each run looks at its own spans. Once that is more than all spans, all are looked at
  /// together.
  nanoseconds parallel_time(span window) {
    together& known = sets_[members_];
    if (known.whole) return known.whole->within(window);
    spans_.clear();
    for (const std::size_t member : members_)
      append_within(threads_[member].when.computing, window, spans_);
    known.seen += spans_.size();
    std::size_t all = 0;
    for (const std::size_t member : members_) all += threads_[member].when.computing.size();
    if (known.seen <= all) return time_of_two(spans_).within(window);
    spans_.clear();
    for (const std::size_t member : members_) {
      const std::vector<span>& own = threads_[member].when.computing;
      spans_.insert(spans_.end(), own.begin(), own.end());
    }
    known.whole.emplace(spans_);
    return known.whole->within(window);
  }

  struct together {
    std::size_t seen = 0;  // spans
    std::optional<time_of_two> whole;
  };

  const trace& trace_;
  const std::vector<thread_figures>& threads_;
  std::vector<part_starts> parts_;  // of each thread
  std::vector<time_in_spans> computed_;
  std::map<part_starts::key, std::vector<std::size_t>> came_to_;
  std::vector<std::size_t> came_to_any_, every_, either_;
  std::map<std::vector<std::size_t>, together> sets_;
  std::vector<std::size_t> members_;
  std::vector<span> spans_;
};

std::vector<region_run> runs_of(const trace& of, const std::vector<thread_figures>& threads) {
  run_finder finder(of, threads);
  std::vector<region_run> runs;
  for (std::size_t i = 0; i < of.threads.size(); ++i) {
    for (const slice& one : of.threads[i].slices) {
      if (of.look_of(one).of == kind::region) runs.push_back(finder.find(i, one));
    }
  }
  std::stable_sort(runs.begin(), runs.end(), [](const region_run& a, const region_run& b) {
    return a.time.begin < b.time.begin;
  });
  return runs;
}

region_figures figures_of_region(const std::string& name, const std::vector<region_run>& runs,
                                 const std::vector<std::size_t>& which) {
  region_figures result;
  result.name = name;
  result.count = which.size();
  std::vector<nanoseconds> lengths, skews;
  nanoseconds parallel = 0, of_all_members = 0;
  for (const std::size_t i : which) {
    const region_run& run = runs[i];
    const nanoseconds length = run.counted.length();
    if (lengths.empty() || length > result.worst)
      result.worst = length, result.worst_time = run.time;
    lengths.push_back(length);
    skews.push_back(run.skew());
    result.members = std::max(result.members, run.members);
    result.total += length;
    result.worst_skew = std::max(result.worst_skew, run.skew());
    result.lost += run.lost;
    parallel += run.parallel;
    of_all_members += length * run.members;
  }
  result.median = median(std::move(lengths));
  result.median_skew = median(std::move(skews));
  if (result.total > 0) {
    result.parallel_share = static_cast<double>(parallel) / static_cast<double>(result.total);
    result.lost_share = static_cast<double>(result.lost) / static_cast<double>(of_all_members);
  }
  return result;
}

/// The time in which no region runs. Requires: runs are in order of their begin.
void add_serial_time(const trace& of, const std::vector<region_run>& runs,
                     std::vector<region_figures>& regions) {
  region_figures serial;
  serial.name = "serial: no region runs";
  serial.is_serial = true;
  std::vector<nanoseconds> lengths;
  nanoseconds busy_until = of.window().begin;
  const auto add_gap = [&](nanoseconds until) {
    const span gap = {busy_until, std::min(until, of.window().end)};
    if (gap.length() <= 0) return;
    lengths.push_back(gap.length());
    serial.total += gap.length();
    if (gap.length() > serial.worst) serial.worst = gap.length(), serial.worst_time = gap;
  };
  for (const region_run& run : runs) {
    add_gap(run.time.begin);
    busy_until = std::max(busy_until, run.time.end);
  }
  add_gap(of.window().end);
  if (lengths.empty()) return;
  serial.count = lengths.size();
  serial.median = median(std::move(lengths));
  regions.push_back(serial);
}

std::vector<region_figures> figures_of_regions(const trace& of,
                                               const std::vector<region_run>& runs) {
  std::map<std::string, std::vector<std::size_t>> by_name;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (is_counted(of, runs[i].time)) by_name[of.looks[runs[i].look].label()].push_back(i);
  }
  std::vector<region_figures> regions;
  for (const auto& [name, which] : by_name) regions.push_back(figures_of_region(name, runs, which));
  if (!runs.empty()) add_serial_time(of, runs, regions);
  return regions;
}

/// Figures of all slices of some kinds; time(slice) says how much of a slice counts.
template <class Time>
std::vector<named_figures> figures_by_label(const trace& of, std::initializer_list<kind> wanted,
                                            Time time) {
  std::map<std::string, std::vector<nanoseconds>> by_label;
  std::vector<std::vector<nanoseconds>*> of_look(of.looks.size());
  for (const thread& each : of.threads) {
    for (const slice& one : each.slices) {
      const look& what = of.look_of(one);
      if (std::find(wanted.begin(), wanted.end(), what.of) == wanted.end()) continue;
      const span whole = {one.begin, one.end()};
      if (!is_counted(of, whole)) continue;
      if (of_look[one.look] == nullptr) of_look[one.look] = &by_label[what.label()];
      of_look[one.look]->push_back(std::min(time(one), counted_part(of, whole).length()));
    }
  }
  std::vector<named_figures> found;
  for (auto& [name, times] : by_label) {
    named_figures made{name, times.size()};
    for (const nanoseconds each : times)
      made.total += each, made.worst = std::max(made.worst, each);
    made.median = median(std::move(times));
    found.push_back(made);
  }
  return found;
}

std::vector<named_figures> count_marks(const trace& of) {
  std::map<std::string, std::size_t> by_name;
  for (const thread& each : of.threads) {
    for (const mark& one : each.marks) {
      if (is_counted(of, {one.when, one.when})) ++by_name[of.look_of(one).name];
    }
  }
  std::vector<named_figures> marks;
  for (const auto& [name, count] : by_name) marks.push_back({name, count});
  return marks;
}

}  // namespace

nanoseconds median(std::vector<nanoseconds> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

time_of_two::time_of_two(const std::vector<span>& spans) {
  std::vector<std::pair<nanoseconds, int>> changes;
  for (const span& one : spans) {
    changes.emplace_back(one.begin, 1);
    changes.emplace_back(one.end, -1);
  }
  std::sort(changes.begin(), changes.end());
  nanoseconds sum = 0, since = 0;
  int at_once = 0;
  for (const auto& [when, step] : changes) {
    if (at_once >= 2) sum += when - since;
    at_once += step;
    since = when;
    changes_.push_back({when, sum, at_once});
  }
}

nanoseconds time_of_two::before(nanoseconds when) const {
  const auto next = std::partition_point(changes_.begin(), changes_.end(),
                                         [when](const change& each) { return each.when < when; });
  if (next == changes_.begin()) return 0;
  const change& last = *(next - 1);
  return last.before + (last.at_once >= 2 ? when - last.when : 0);
}

figures figures_of(const trace& of) {
  figures result;
  for (const thread& each : of.threads) result.threads.push_back(figures_of_thread(of, each));
  result.runs = runs_of(of, result.threads);
  result.regions = figures_of_regions(of, result.runs);
  const auto waited = [](const slice& one) { return one.waited; };
  const auto length = [](const slice& one) { return one.length; };
  result.constructs = figures_by_label(of, {kind::construct}, waited);
  result.nodes = figures_by_label(of, {kind::node, kind::user}, length);
  result.waits = figures_by_label(of, {kind::wait}, length);
  result.marks = count_marks(of);
  const auto longest_first = [](const auto& a, const auto& b) { return a.total > b.total; };
  std::stable_sort(result.regions.begin(), result.regions.end(), longest_first);
  std::stable_sort(result.constructs.begin(), result.constructs.end(), longest_first);
  std::stable_sort(result.nodes.begin(), result.nodes.end(), longest_first);
  std::stable_sort(result.waits.begin(), result.waits.end(), longest_first);
  std::stable_sort(
      result.marks.begin(), result.marks.end(),
      [](const named_figures& a, const named_figures& b) { return a.count > b.count; });
  return result;
}

}  // namespace tool
