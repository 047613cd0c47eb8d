// SPDX-License-Identifier: MIT
#include "tool/figures.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>

namespace tool {
namespace {

std::vector<slice> parts_of(const trace& of, const thread& on) {
  std::vector<slice> parts;
  for (const slice& one : on.slices) {
    if (of.look_of(one).of == kind::part) parts.push_back(one);
  }
  return parts;
}

/// Records that say no region belong to whatever region goes on.
bool is_part_of(const slice& part, const slice& region) {
  if (part.team == 0 || region.team == 0) return true;
  return part.team == region.team && part.region == region.region;
}

/// What of it lies in the window of the trace; of no length, or less: nothing.
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

class run_finder {
 public:
  run_finder(const trace& of, const std::vector<thread_figures>& threads)
      : trace_(of), threads_(threads) {
    for (const thread& each : of.threads) parts_.push_back(parts_of(of, each));
  }

  region_run find(std::size_t caller, const slice& region) {
    region_run run;
    run.look = region.look;
    run.time = {region.begin, region.end()};
    run.counted = counted_part(trace_, run.time);
    if (run.counted.length() < 0) run.counted.end = run.counted.begin;
    run.first_start = run.last_start = region.begin;
    members_.clear();
    bool is_first = true;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const slice* const part = first_part(parts_[i], region);
      if (part == nullptr) continue;
      members_.push_back(i);
      run.first_start = is_first ? part->begin : std::min(run.first_start, part->begin);
      run.last_start = is_first ? part->begin : std::max(run.last_start, part->begin);
      is_first = false;
    }
    if (members_.empty()) members_.push_back(caller);  // it ran inline
    add_times(run);
    return run;
  }

 private:
  /// With which the thread came to the region, or null.
  static const slice* first_part(const std::vector<slice>& parts, const slice& region) {
    auto part = std::partition_point(parts.begin(), parts.end(),
                                     [&](const slice& each) { return each.begin < region.begin; });
    for (; part != parts.end() && part->begin < region.end(); ++part) {
      if (is_part_of(*part, region)) return &*part;
    }
    return nullptr;
  }

  void add_times(region_run& run) {
    run.members = static_cast<std::uint32_t>(members_.size());
    spans_.clear();
    for (const std::size_t member : members_)
      append_within(threads_[member].when.computing, run.counted, spans_);
    run.parallel = time_of_two(spans_);
    run.lost = run.counted.length() * run.members - total(spans_);
  }

  const trace& trace_;
  const std::vector<thread_figures>& threads_;
  std::vector<std::vector<slice>> parts_;  // of each thread
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

/// When no region runs. Requires: runs are in order of their begin.
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

/// Of all slices of some kinds; `time` says how much of one counts.
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

nanoseconds time_of_two(const std::vector<span>& spans) {
  std::vector<std::pair<nanoseconds, int>> changes;
  for (const span& one : spans) {
    changes.emplace_back(one.begin, 1);
    changes.emplace_back(one.end, -1);
  }
  std::sort(changes.begin(), changes.end());
  nanoseconds sum = 0, since = 0;
  int at_once = 0;
  for (const auto& [when, change] : changes) {
    if (at_once >= 2) sum += when - since;
    at_once += change;
    since = when;
  }
  return sum;
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
