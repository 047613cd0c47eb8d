// SPDX-License-Identifier: MIT
#include "tool/summary_text.hpp"

#include <fmt/format.h>

#include "bench/support/text_table.hpp"
#include "tool/text.hpp"

namespace tool {
namespace {

using bench::text_table;
constexpr auto left = text_table::align::left;
constexpr auto right = text_table::align::right;

double share(nanoseconds part, nanoseconds whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string thread_table(const trace& of, const figures& in_numbers) {
  text_table table({{"thread", left},
                    {"computing", right},
                    {"share", right},
                    {"waiting", right},
                    {"share", right},
                    {"parts", right},
                    {"waits", right},
                    {"longest wait", right}});
  for (std::size_t i = 0; i < of.threads.size(); ++i) {
    const thread_figures& each = in_numbers.threads[i];
    const nanoseconds computing = total(each.when.computing), waiting = total(each.when.waiting);
    table.add({of.threads[i].name, time_text(computing), share_text(share(computing, of.end)),
               time_text(waiting), share_text(share(waiting, of.end)), std::to_string(each.parts),
               std::to_string(each.waits), time_text(each.longest_wait)});
  }
  return table.to_string();
}

std::string region_table(const figures& in_numbers) {
  text_table table({{"region", left},
                    {"count", right},
                    {"members", right},
                    {"median", right},
                    {"worst", right},
                    {"skew", right},
                    {"worst skew", right},
                    {"parallel", right},
                    {"lost", right},
                    {"share", right}});
  for (const region_figures& each : in_numbers.regions) {
    table.add({each.name, std::to_string(each.count), std::to_string(each.members),
               time_text(each.median), time_text(each.worst), time_text(each.median_skew),
               time_text(each.worst_skew), share_text(each.parallel_share), time_text(each.lost),
               share_text(each.lost_share)});
  }
  return table.to_string();
}

std::string time_table(const char* title, const std::vector<named_figures>& rows) {
  text_table table(
      {{title, left}, {"count", right}, {"total", right}, {"median", right}, {"worst", right}});
  for (const named_figures& each : rows) {
    table.add({each.name, std::to_string(each.count), time_text(each.total), time_text(each.median),
               time_text(each.worst)});
  }
  return table.to_string();
}

std::string mark_table(const figures& in_numbers) {
  text_table table({{"mark", left}, {"count", right}});
  for (const named_figures& each : in_numbers.marks)
    table.add({each.name, std::to_string(each.count)});
  return table.to_string();
}

}  // namespace

std::string summary_text(const trace& of, const figures& in_numbers) {
  std::string text = fmt::format("{} slices of {} threads, {}\n", of.slices(), of.threads.size(),
                                 time_text(of.end));
  if (of.dropped > 0) {
    text += fmt::format("{} records were lost, the {} ones: the rings were full.\n", of.dropped,
                        of.when_full == "stop" ? "newest" : "oldest");
  }
  text += "\n" + thread_table(of, in_numbers);
  if (!in_numbers.regions.empty()) {
    text += "\n" + region_table(in_numbers) +
            "skew: from the first member's start to the last one's. parallel: share of the time in "
            "which at least two\n"
            "members computed. lost: how long members did not compute, but came late or waited; "
            "its share of the time\n"
            "of all members.\n";
  }
  const auto add = [&text](const char* title, const std::vector<named_figures>& rows) {
    if (!rows.empty()) text += "\n" + time_table(title, rows);
  };
  add("waited in", in_numbers.constructs);
  add("node or named region", in_numbers.nodes);
  add("longer waits", in_numbers.waits);
  if (!in_numbers.marks.empty()) text += "\n" + mark_table(in_numbers);
  return text;
}

}  // namespace tool
