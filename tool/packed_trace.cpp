// SPDX-License-Identifier: MIT
#include "tool/packed_trace.hpp"

#include <algorithm>

namespace tool {
using json = nlohmann::ordered_json;

/// For the lists of `description`.
void to_json(json& to, const named_figures& of) {
  to = {{"name", of.name},
        {"count", of.count},
        {"total", of.total},
        {"median", of.median},
        {"worst", of.worst}};
}

namespace {

/// Appends times as differences, which are small.
class section {
 public:
  void add(std::uint64_t number) { append_number(bytes_, number); }
  void add_length(nanoseconds length) { add(static_cast<std::uint64_t>(length)); }
  void add_time(nanoseconds when) {
    add_length(when - last_);
    last_ = when;
  }
  void add_span(span one) {
    add_time(one.begin);
    add_time(one.end);
  }
  void begin_again() { last_ = 0; }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
  nanoseconds last_ = 0;
};

class packer {
 public:
  packer(const trace& of, const figures& in_numbers) : trace_(of), figures_(in_numbers) {}

  packed_trace pack() {
    packed_trace result;
    result.description = describe();
    pack_slices(result.description["rows"]);
    pack_marks();
    result.sections = {{"slices", slices_.take()}, {"activity", pack_activity()},
                       {"marks", marks_.take()},   {"arrows", pack_arrows()},
                       {"runs", pack_runs()},      {"numbers", numbers_.take()}};
    return result;
  }

 private:
  json describe() const;
  json describe_threads() const;
  json describe_regions() const;
  void pack_slices(json& rows);
  void pack_marks();
  std::string pack_activity() const;
  std::string pack_arrows() const;
  std::string pack_runs() const;

  void add_numbers(std::uint32_t look, std::uint32_t first) {
    for (std::uint32_t i = 0; i < trace_.looks[look].numbers; ++i)
      numbers_.add(trace_.numbers[first + i]);
  }

  const trace& trace_;
  const figures& figures_;
  section slices_, marks_, numbers_;
};

json packer::describe() const {
  json looks = json::array();
  for (const look& each : trace_.looks) {
    looks.push_back({each.name, each.category, json::parse(each.arguments)});
  }
  json counters = json::array();
  for (const counter& each : trace_.counters) {
    json when = json::array(), amount = json::array();
    for (const counter::value& one : each.values)
      when.push_back(one.when), amount.push_back(one.amount);
    counters.push_back({{"name", each.name}, {"when", when}, {"amount", amount}});
  }
  return {{"version", trace_.version},
          {"end", trace_.end},
          {"window", {trace_.window().begin, trace_.window().end}},
          {"dropped", trace_.dropped},
          {"threads", describe_threads()},
          {"looks", looks},
          {"rows", json::array()},
          {"arrows", trace_.arrows.size()},
          {"runs", figures_.runs.size()},
          {"counters", counters},
          {"regions", describe_regions()},
          {"constructs", figures_.constructs},
          {"nodes", figures_.nodes},
          {"waits", figures_.waits},
          {"decisions", figures_.marks}};
}

json packer::describe_threads() const {
  json threads = json::array();
  for (std::size_t i = 0; i < trace_.threads.size(); ++i) {
    const thread& each = trace_.threads[i];
    const thread_figures& numbers = figures_.threads[i];
    threads.push_back({{"name", each.name},
                       {"computing", numbers.when.computing.size()},
                       {"serial", numbers.when.serial.size()},
                       {"there", {numbers.when.there.begin, numbers.when.there.end}},
                       {"lost", each.lost},
                       {"wholeFrom", std::min(each.whole_from, trace_.end)},
                       {"marks", each.marks.size()},
                       {"computed", numbers.computed},
                       {"waited", numbers.waited},
                       {"outside", numbers.serial},
                       {"longestWait", numbers.longest_wait}});
  }
  return threads;
}

json packer::describe_regions() const {
  json regions = json::array();
  for (const region_figures& each : figures_.regions) {
    regions.push_back(
        {{"name", each.name},
         {"count", each.count},
         {"members", each.members},
         {"total", each.total},
         {"median", each.median},
         {"worst", each.worst},
         {"medianSkew", each.median_skew},
         {"worstSkew", each.worst_skew},
         {"parallelShare", each.parallel_share},
         {"lost", each.lost},
         {"lostShare", each.lost_share},
         {"isSerial", each.is_serial},
         {"ofAll", static_cast<double>(each.total) /
                       static_cast<double>(std::max<nanoseconds>(trace_.window().length(), 1))},
         {"worstBegin", each.worst_time.begin}});
  }
  return regions;
}

void packer::pack_slices(json& rows) {
  for (std::size_t i = 0; i < trace_.threads.size(); ++i) {
    std::vector<std::vector<const slice*>> by_depth;
    for (const slice& one : trace_.threads[i].slices) {
      by_depth.resize(std::max<std::size_t>(by_depth.size(), one.depth + 1));
      by_depth[one.depth].push_back(&one);
    }
    for (std::size_t depth = 0; depth < by_depth.size(); ++depth) {
      rows.push_back({i, depth, by_depth[depth].size()});
      slices_.begin_again();
      for (const slice* const one : by_depth[depth]) {
        slices_.add_span({one->begin, one->end()});
        slices_.add(one->look);
        add_numbers(one->look, one->first_number);
      }
    }
  }
}

void packer::pack_marks() {
  for (const thread& each : trace_.threads) {
    marks_.begin_again();
    for (const mark& one : each.marks) {
      marks_.add_time(one.when);
      marks_.add(one.look);
      add_numbers(one.look, one.first_number);
    }
  }
}

std::string packer::pack_activity() const {
  section packed;
  for (const thread_figures& each : figures_.threads) {
    for (const std::vector<span>* const spans : {&each.when.computing, &each.when.serial}) {
      packed.begin_again();
      for (const span one : *spans) packed.add_span(one);
    }
  }
  return packed.take();
}

std::string packer::pack_arrows() const {
  section packed;
  for (const arrow& one : trace_.arrows) {
    const nanoseconds flight = one.came - one.left;
    packed.add_time(one.came);
    packed.add_length(flight < 0 ? -2 * flight - 1 : 2 * flight);
    packed.add(one.from);
    packed.add(one.to);
  }
  return packed.take();
}

std::string packer::pack_runs() const {
  section packed;
  for (const region_run& one : figures_.runs) {
    packed.add_time(one.time.begin);
    packed.add_length(one.time.length());
    packed.add(one.look);
    packed.add_length(one.first_start - one.time.begin);
    packed.add_length(one.skew());
    packed.add(one.members);
    packed.add_length(one.parallel);
    packed.add_length(one.lost);
  }
  return packed.take();
}

}  // namespace

void append_number(std::string& bytes, std::uint64_t number) {
  for (; number >= 128; number >>= 7) bytes.push_back(static_cast<char>(number % 128 + 128));
  bytes.push_back(static_cast<char>(number));
}

std::string to_base64(const std::string& bytes) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = i; k < i + 3; ++k) {
      three = three << 8 | (k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0u);
    }
    for (int shift = 18; shift >= 0; shift -= 6) text.push_back(digits[three >> shift & 63]);
  }
  const std::size_t missing = (3 - bytes.size() % 3) % 3;
  text.replace(text.size() - missing, missing, missing, '=');
  return text;
}

packed_trace pack(const trace& of, const figures& in_numbers) {
  return packer(of, in_numbers).pack();
}

}  // namespace tool
