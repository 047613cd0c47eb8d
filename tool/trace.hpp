// SPDX-License-Identifier: MIT
// tool/trace.hpp -- what a trace file says, as plain data: threads, slices of time on them, marks, arrows, counters
//
// Times are nanoseconds since the first record of the trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tool {

using nanoseconds = std::int64_t;

/// A stretch of time, from begin to end.
struct span {
  nanoseconds begin = 0;
  nanoseconds end = 0;

  [[nodiscard]] nanoseconds length() const { return end - begin; }
};

enum class kind : std::uint8_t { region, part, node, user, construct, wait, other };

/// What many slices or marks have in common. `arguments` is a JSON array of pairs [name, value]. A number as a value is
/// a unit, 1 or 0.001: the value is the next of the record's own `numbers`, times this unit.
struct look {
  std::string name;
  std::string category;
  std::string arguments;
  std::string where;  // "solver.cpp:31", or empty
  std::uint32_t numbers = 0;
  kind of = kind::other;

  /// The name in tables.
  [[nodiscard]] std::string label() const { return where.empty() ? name : name + " at " + where; }
};

struct slice {
  nanoseconds begin = 0;
  nanoseconds length = 0;
  std::uint32_t look = 0;
  std::uint32_t first_number = 0;
  std::uint32_t depth = 0;  // how many slices of the same thread it lies in
  std::uint32_t team =
      0;  // of regions and parts: a number for the team, and that of the region; 0: not known
  std::uint32_t region = 0;
  nanoseconds waited = 0;  // of constructs: how long the member waited at the end

  [[nodiscard]] nanoseconds end() const { return begin + length; }
};

struct mark {
  nanoseconds when = 0;
  std::uint32_t look = 0;
  std::uint32_t first_number = 0;
};

struct thread {
  std::string name;
  std::int64_t process = 0;
  std::int64_t number = 0;
  std::int64_t order = 0;
  std::uint32_t team = 0;  // of its first region or part, as in slices, and its rank there
  std::uint32_t rank = 0;
  std::uint64_t lost = 0;  // lost records; those that ended from `whole_from` on are all there
  nanoseconds whole_from = 0;
  std::vector<slice> slices;  // by begin; what contains comes before what it contains
  std::vector<mark> marks;    // by time
};

/// From the thread that released to the thread that waited; `from` and `to` are indices of threads.
struct arrow {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  nanoseconds left = 0;
  nanoseconds came = 0;
};

struct counter {
  struct value {
    nanoseconds when = 0;
    double amount = 0;
  };
  std::string name;
  std::vector<value> values;  // by time
};

struct trace {
  std::vector<thread> threads;  // in the order in which they are shown
  std::vector<look> looks;
  std::vector<std::uint64_t> numbers;
  std::vector<arrow> arrows;  // by `came`
  std::vector<counter> counters;
  nanoseconds end = 0;
  span common;  // in which no thread has lost records, if there is such a time

  std::string version;         // of lockstep
  std::uint64_t dropped = 0;   // records that were lost
  std::uint64_t ignored = 0;   // events of kinds that lockstep does not write
  std::uint64_t crossing = 0;  // slices that end after the slice that they begin in

  [[nodiscard]] const look& look_of(const slice& of) const { return looks[of.look]; }
  [[nodiscard]] const look& look_of(const mark& of) const { return looks[of.look]; }
  /// The window that the figures cover.
  [[nodiscard]] span window() const { return common.length() > 0 ? common : span{0, end}; }
  [[nodiscard]] std::size_t slices() const {
    std::size_t sum = 0;
    for (const thread& each : threads) sum += each.slices.size();
    return sum;
  }
};

}  // namespace tool
