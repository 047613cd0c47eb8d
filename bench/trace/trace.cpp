// SPDX-License-Identifier: MIT
// bench/trace/trace.cpp -- what a timeline costs: with a trace, and without one in the same program
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <lockstep/lockstep.hpp>
#include <lockstep/trace.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/machine.hpp"
#include "support/program.hpp"
#include "support/statistics.hpp"
#include "support/stopwatch.hpp"
#include "support/text_table.hpp"
#include "support/turns.hpp"

namespace bench::trace {
namespace {

constexpr const char* about =
    "Measures what threads do with and without a trace, and how long a trace takes to write.\n"
    "Samples of all rows take turns.\n";

constexpr const char* legend =
    "off, on    nanoseconds a time without and with a trace: the median, least and most\n"
    "records    that one time makes, where one thread makes them all\n"
    "a record   the difference of the medians for each of them\n"
    "write      to /dev/null, nanoseconds for each of the records\n";

/// What is done `times` times.
struct row {
  std::string name;
  std::size_t times;
  double records;  ///< 0: more than one thread makes them
  std::function<void(std::size_t)> work;
  bool is_written = false;  ///< what is timed is the writing of what work() has recorded
};

struct samples {
  std::vector<double> off, on;
};

std::vector<row> all_rows(lockstep::team& team, bool is_quick) {
  const auto times = [is_quick](std::size_t full) { return is_quick ? full / 100 : full; };
  const auto repeat = [](auto what) {
    return [what](std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) what();
    };
  };
  const auto mark = repeat([] { lockstep::trace_mark("mark"); });
  return {
      {"mark", times(1'000'000), 1, mark},
      {"counter", times(1'000'000), 1, repeat([] { lockstep::trace_counter("counter", 1); })},
      {"region", times(1'000'000), 1, repeat([] { LOCKSTEP_TRACE_SCOPE("region"); })},
      {"run/1", times(300'000), 2, repeat([&team] { team.run(1, [](lockstep::member&) {}); })},
      {"run/2", times(100'000), 0, repeat([&team] { team.run([](lockstep::member&) {}); })},
      {"barrier/2", times(100'000), 0,
       [&team](std::size_t phases) {
         team.run([phases](lockstep::member& me) {
           for (std::size_t i = 0; i < phases; ++i) me.sync_threads();
         });
       }},
      {"write", times(1'000'000), 1, mark, true},
  };
}

void check(bool is_done) {
  if (!is_done) throw std::runtime_error("the trace does not start, stop, or get written");
}

double nanoseconds(const row& of, bool is_on) {
  const std::size_t room = of.is_written ? std::max<std::size_t>(of.times, 16) : std::size_t{65536};
  if (is_on) check(lockstep::start_trace(lockstep::trace_options(room)));
  of.work(std::min<std::size_t>(of.times, 1000));
  stopwatch watch;
  of.work(of.times);
  double seconds = watch.wall_seconds();
  if (is_on) check(lockstep::stop_trace());
  if (of.is_written) {
    watch = stopwatch();
    check(lockstep::write_trace("/dev/null"));
    seconds = watch.wall_seconds();
  }
  return seconds * 1e9 / static_cast<double>(of.times);
}

std::string cell(const std::vector<double>& of) {
  if (of.empty()) return "";
  const summary all = summarize(of);
  return fmt::format("{} ({} to {})", four_digits(all.median), four_digits(all.min),
                     four_digits(all.max));
}

double record_of(const row& of, const samples& its) {
  const double off = its.off.empty() ? 0 : summarize(its.off).median;
  return of.records == 0 ? 0 : (summarize(its.on).median - off) / of.records;
}

std::string to_table(const std::vector<row>& rows, const std::vector<samples>& all) {
  using side = text_table::align;
  text_table table({{"row", side::left},
                    {"off", side::right},
                    {"on", side::right},
                    {"records", side::right},
                    {"a record", side::right}});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool is_alone = rows[i].records != 0;
    table.add({rows[i].name, cell(all[i].off), cell(all[i].on),
               is_alone ? four_digits(rows[i].records) : "",
               is_alone ? four_digits(record_of(rows[i], all[i])) : ""});
  }
  return table.to_string();
}

nlohmann::ordered_json to_json(const std::vector<row>& rows, const std::vector<samples>& all) {
  nlohmann::ordered_json made = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    made.push_back({{"name", rows[i].name},
                    {"off_ns", all[i].off},
                    {"on_ns", all[i].on},
                    {"records", rows[i].records},
                    {"record_ns", record_of(rows[i], all[i])}});
  }
  return made;
}

void run_all(const common_options& chosen) {
  lockstep::team team(lockstep::team_options().members(2));
  std::vector<row> rows = all_rows(team, chosen.is_quick);
  keep_matching(rows, chosen.filter, [](const row& one) { return one.name; });
  if (chosen.is_list) {
    for (const row& one : rows) fmt::print("{}\n", one.name);
    return;
  }
  examples::output_file json(chosen.json);
  std::vector<samples> all(rows.size());
  take_turns(rows.size(), chosen.samples_or_default(), [&](std::size_t i, std::size_t) {
    if (!rows[i].is_written) all[i].off.push_back(nanoseconds(rows[i], false));
    all[i].on.push_back(nanoseconds(rows[i], true));
  });
  const nlohmann::ordered_json machine = describe_machine();
  print_results(chosen, machine, to_table(rows, all), legend);
  publish(json, {{"program", "trace"},
                 {"quick", chosen.is_quick},
                 {"samples", chosen.samples_or_default()},
                 {"machine", machine},
                 {"rows", to_json(rows, all)}});
}

}  // namespace
}  // namespace bench::trace

int main(int argc, char** argv) {
  using namespace bench;
  common_options chosen;
  return run_program(trace::about, chosen, argc, argv, [&] { trace::run_all(chosen); });
}
