// SPDX-License-Identifier: MIT
#include "tool/summary_text.hpp"

#include <fmt/format.h>

#include <initializer_list>

#include "bench/support/text_table.hpp"
#include "tool/text.hpp"

namespace tool {
namespace {

using bench::text_table;

/// What is named comes first; numbers follow.
text_table table_of(std::initializer_list<const char*> titles) {
  std::vector<text_table::column> columns;
  for (const char* const each : titles)
    columns.push_back({each, columns.empty() ? text_table::align::left : text_table::align::right});
  return text_table(columns);
}

std::string share_of(nanoseconds part, nanoseconds whole) {
  return share_text(whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole));
}

std::string thread_table(const trace& of, const figures& in_numbers) {
  text_table table = table_of({"thread", "computing", "share", "waiting", "share", "serial",
                               "share", "parts", "waits", "longest wait"});
  for (std::size_t i = 0; i < of.threads.size(); ++i) {
    const thread_figures& each = in_numbers.threads[i];
    const nanoseconds all = of.window().length();
    table.add({plain_text(of.threads[i].name), time_text(each.computed),
               share_of(each.computed, all), time_text(each.waited), share_of(each.waited, all),
               time_text(each.serial), share_of(each.serial, all), std::to_string(each.parts),
               std::to_string(each.waits), time_text(each.longest_wait)});
  }
  return table.to_string();
}

std::string region_table(const trace& of, const figures& in_numbers) {
  text_table table = table_of({"region", "count", "members", "total", "of all", "median", "worst",
                               "skew", "worst skew", "parallel", "lost", "share"});
  for (const region_figures& each : in_numbers.regions) {
    const auto unless_serial = [&each](std::string text) { return each.is_serial ? "-" : text; };
    table.add(
        {plain_text(each.name), std::to_string(each.count), std::to_string(each.members),
         time_text(each.total), share_of(each.total, of.window().length()), time_text(each.median),
         time_text(each.worst), unless_serial(time_text(each.median_skew)),
         unless_serial(time_text(each.worst_skew)), unless_serial(share_text(each.parallel_share)),
         unless_serial(time_text(each.lost)), unless_serial(share_text(each.lost_share))});
  }
  return table.to_string();
}

std::string time_table(const char* title, const std::vector<named_figures>& rows) {
  text_table table = table_of({title, "count", "total", "median", "worst"});
  for (const named_figures& each : rows) {
    table.add({plain_text(each.name), std::to_string(each.count), time_text(each.total),
               time_text(each.median), time_text(each.worst)});
  }
  return table.to_string();
}

std::string mark_table(const figures& in_numbers) {
  text_table table = table_of({"mark", "count"});
  for (const named_figures& each : in_numbers.marks)
    table.add({plain_text(each.name), std::to_string(each.count)});
  return table.to_string();
}

}  // namespace

std::string summary_text(const trace& of, const figures& in_numbers) {
  std::string text = fmt::format("{} of {}, {}\n", counted(of.slices(), "slice"),
                                 counted(of.threads.size(), "thread"), time_text(of.end));
  if (of.dropped > 0) {
    text +=
        fmt::format("{} lost, the oldest: the rings were full.\n", counted(of.dropped, "record"));
    text += fmt::format(
        "Figures are of the time from {} to {}, of which there are all records.\n"
        "LOCKSTEP_TRACE=FILE,records=1M keeps more of each thread.\n",
        time_text(of.window().begin), time_text(of.window().end));
  }
  text += "\n" + thread_table(of, in_numbers);
  if (!in_numbers.regions.empty()) {
    text += "\n" + region_table(of, in_numbers) +
            "skew: from the first member's start to the last one's. parallel: share of the time in "
            "which at least two\n"
            "members computed. lost: how long members did not compute, but came late or waited; "
            "its share of the time\n"
            "of all members. of all: share of the whole time.\n";
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
