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
                    {"serial", right},
                    {"share", right},
                    {"parts", right},
                    {"waits", right},
                    {"longest wait", right}});
  for (std::size_t i = 0; i < of.threads.size(); ++i) {
    const thread_figures& each = in_numbers.threads[i];
    const nanoseconds all = of.window().length();
    table.add({plain_text(of.threads[i].name), time_text(each.computed),
               share_text(share(each.computed, all)), time_text(each.waited),
               share_text(share(each.waited, all)), time_text(each.serial),
               share_text(share(each.serial, all)), std::to_string(each.parts),
               std::to_string(each.waits), time_text(each.longest_wait)});
  }
  return table.to_string();
}

std::string region_table(const trace& of, const figures& in_numbers) {
  text_table table({{"region", left},
                    {"count", right},
                    {"members", right},
                    {"total", right},
                    {"of all", right},
                    {"median", right},
                    {"worst", right},
                    {"skew", right},
                    {"worst skew", right},
                    {"parallel", right},
                    {"lost", right},
                    {"share", right}});
  for (const region_figures& each : in_numbers.regions) {
    std::vector<std::string> row = {plain_text(each.name),
                                    std::to_string(each.count),
                                    std::to_string(each.members),
                                    time_text(each.total),
                                    share_text(share(each.total, of.window().length())),
                                    time_text(each.median),
                                    time_text(each.worst)};
    if (each.is_serial) {
      row.insert(row.end(), 5, "-");
    } else {
      for (std::string& cell :
           std::vector<std::string>{time_text(each.median_skew), time_text(each.worst_skew),
                                    share_text(each.parallel_share), time_text(each.lost),
                                    share_text(each.lost_share)}) {
        row.push_back(std::move(cell));
      }
    }
    table.add(row);
  }
  return table.to_string();
}

std::string time_table(const char* title, const std::vector<named_figures>& rows) {
  text_table table(
      {{title, left}, {"count", right}, {"total", right}, {"median", right}, {"worst", right}});
  for (const named_figures& each : rows) {
    table.add({plain_text(each.name), std::to_string(each.count), time_text(each.total),
               time_text(each.median), time_text(each.worst)});
  }
  return table.to_string();
}

std::string mark_table(const figures& in_numbers) {
  text_table table({{"mark", left}, {"count", right}});
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
