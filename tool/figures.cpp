// SPDX-License-Identifier: MIT
#include "tool/figures.hpp"

#include <algorithm>
#include <compare>
#include <initializer_list>
#include <map>
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

/// Who came to a region when: a part of it began.
struct part_start {
  std::uint32_t team, region;
  nanoseconds when;
  std::size_t thread;

  auto operator<=>(const part_start&) const = default;
  [[nodiscard]] bool is_of(const slice& one) const {
    return team == one.team && region == one.region && when < one.end();
  }
};

/// Its work grows with how deep regions are nested. The recorder shows few levels.
class run_finder {
 public:
  run_finder(const trace& of, const std::vector<thread_figures>& threads)
      : trace_(of), threads_(threads), last_run_(of.threads.size()) {
    for (std::size_t i = 0; i < of.threads.size(); ++i) {
      for (const slice& one : of.threads[i].slices) {
        if (of.look_of(one).of == kind::part)
          starts_.push_back({one.team, one.region, one.begin, i});
      }
    }
    std::sort(starts_.begin(), starts_.end());
  }

  region_run find(std::size_t caller, const slice& region) {
    ++runs_;
    region_run run;
    run.look = region.look;
    run.time = {region.begin, region.end()};
    run.counted = counted_part(trace_, run.time);
    if (run.counted.length() < 0) run.counted.end = run.counted.begin;
    run.first_start = run.last_start = region.begin;
    run.members = 0;
    spans_.clear();
    auto at = std::lower_bound(starts_.begin(), starts_.end(),
                               part_start{region.team, region.region, region.begin, 0});
    for (; at != starts_.end() && at->is_of(region); ++at) {
      if (std::exchange(last_run_[at->thread], runs_) == runs_) continue;
      if (run.members == 0) run.first_start = at->when;
      run.last_start = at->when;
      add_member(run, at->thread);
    }
    if (run.members == 0) add_member(run, caller);  // it ran inline
    run.lost = run.counted.length() * run.members - total(spans_);
    run.parallel = run.members < 2 ? 0 : time_of_two(spans_);
    return run;
  }

 private:
  void add_member(region_run& to, std::size_t thread) {
    ++to.members;
    append_within(threads_[thread].when.computing, to.counted, spans_);
  }

  const trace& trace_;
  const std::vector<thread_figures>& threads_;
  std::vector<part_start> starts_;     // by region, then by time
  std::vector<std::size_t> last_run_;  // of each thread: the last run that it is a member of
  std::size_t runs_ = 0;
  std::vector<span> spans_;  // in which the members of a run computed
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

nanoseconds time_of_two(const std::vector<span>& spans) {
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
