// SPDX-License-Identifier: MIT
// tests/support/known_machines.hpp -- what /sys says of real machines, as short texts that become trees of files
//
// There are two kinds. The recorded ones (machines_recorded.hpp) are facts out of recordings of /sys, made on those
// machines; what the package that has the recording says of the machine stands beside them. The written ones
// (machines_written.hpp) are written after published layouts.
//
//   machine NAME
//   recorded MACHINE       and in the next line `source`: the archive, and where `said` is taken from
//   after SOURCE           written, not recorded
//   usable LIST            the affinity mask; all CPUs of packages if it is not given
//   package NUMBER LIST    topology/physical_package_id; -1 where there is no such line
//   core LIST              topology/core_cpus_list of each of them
//   cache LEVEL TYPE LIST  the next cache/indexN of each of them: level, type, shared_cpu_list
//   node NUMBER LIST       node/nodeN/cpulist, and its number in node/online
//   memory NUMBER          a node without CPUs
//   file KEY NAME          the file for core, cache or node, where it has another name; without `list`, a mask
//   capacity NUMBER LIST   cpu_capacity
//   clock NUMBER LIST      cpufreq/cpuinfo_max_freq, in kHz
//   hybrid KIND LIST       /sys/devices/cpu_KIND/cpus
//   said GROUPS SIZES      what others say of it: 2x4,1x8 are two groups of 4 CPUs and one of 8
//   read GROUPS SIZES WHY  what we say instead, and why they say something else
// A LIST is the kernel's; with `+STEP xCOUNT` behind it the line stands for COUNT lines, each shifted by STEP, with the
// next number for packages and nodes.
#pragma once

#include "platform/topology.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/machines_recorded.hpp"
#include "support/machines_written.hpp"

namespace lockstep::test {

class known_machine {
 public:
  using numbers = std::vector<unsigned>;

  struct cache {
    unsigned level;
    std::string type;
    numbers cpus;
  };

  /// How many groups there are of each size, by what the group is: packages, cores, caches, nodes.
  using group_sizes = std::map<std::string, std::map<std::size_t, std::size_t>>;

  std::string name, source;
  bool is_recorded = false;
  group_sizes said, read_instead;
  numbers usable;
  std::map<unsigned, numbers> packages, nodes;
  std::vector<numbers> cores;
  std::vector<cache> caches;
  numbers memory_nodes;
  std::map<unsigned, unsigned> capacity, clock;  // by CPU
  std::map<std::string, numbers> hybrid;

  /// All of them, in the order of the text.
  static const std::vector<known_machine>& all() {
    static const std::vector<known_machine> parsed =
        parse(std::string(machines_recorded) + machines_written);
    return parsed;
  }
  static const known_machine& named(const std::string& name) {
    for (const known_machine& each : all()) {
      if (each.name == name) return each;
    }
    throw std::invalid_argument("no machine " + name);
  }

  /// As files below `root`.
  void write(const std::filesystem::path& root) const {
    std::map<unsigned, unsigned> next_index;
    for (const auto& [number, cpus] : packages) {
      for (const unsigned cpu : cpus) {
        cpu_file(root, cpu, "topology/physical_package_id", std::to_string(number));
      }
    }
    if (packages.empty()) {
      for (const unsigned cpu : usable) cpu_file(root, cpu, "topology/physical_package_id", "-1");
    }
    for (const numbers& cpus : cores) {
      for (const unsigned cpu : cpus) {
        cpu_file(root, cpu, "topology/" + file_of("core"), text_of(cpus, file_of("core")));
      }
    }
    for (const cache& each : caches) {
      for (const unsigned cpu : each.cpus) {
        const std::string at = "cache/index" + std::to_string(next_index[cpu]++) + "/";
        cpu_file(root, cpu, at + "level", std::to_string(each.level));
        cpu_file(root, cpu, at + "type", each.type);
        cpu_file(root, cpu, at + file_of("cache"), text_of(each.cpus, file_of("cache")));
      }
    }
    numbers online = memory_nodes;
    for (const auto& [number, cpus] : nodes) {
      online.push_back(number);
      file(directory_of_node(root, number) / file_of("node"), text_of(cpus, file_of("node")));
    }
    for (const unsigned number : memory_nodes) {
      file(directory_of_node(root, number) / file_of("node"), text_of({}, file_of("node")));
    }
    std::sort(online.begin(), online.end());
    if (!online.empty()) file(root / "sys/devices/system/node/online", list_of(online));
    for (const auto& [cpu, value] : capacity)
      cpu_file(root, cpu, "cpu_capacity", std::to_string(value));
    for (const auto& [cpu, value] : clock) {
      cpu_file(root, cpu, "cpufreq/cpuinfo_max_freq", std::to_string(value));
    }
    for (const auto& [kind, cpus] : hybrid) {
      file(root / "sys/devices" / ("cpu_" + kind) / "cpus", list_of(cpus));
    }
  }

  /// What its files say, without the files.
  detail::cpu_topology places() const {
    detail::cpu_topology result;
    for (const unsigned cpu : usable) {
      cpu_place place = {cpu, lowest_beside(cores, cpu, cpu), 0, 0, core_kind::unknown,
                         0,   detail::unknown_cache};
      place.package = last_with(packages, cpu);
      place.node = last_with(nodes, cpu);
      unsigned last = 0;
      for (const cache& each : caches) {
        if (!has(each.cpus, cpu) || each.type == "Instruction" || each.level < last) continue;
        last = each.level;
        place.cache = *std::min_element(each.cpus.begin(), each.cpus.end());
      }
      result.push_back(place);
    }
    detail::finish_topology(result);
    for (cpu_place& place : result) place.kind = kind_of(place.cpu);
    return result;
  }

  /// Whether two CPUs are in one of the lists; of caches: of the highest level that is not for instructions.
  bool share_core(unsigned a, unsigned b) const { return any_has(cores, a, b); }
  bool share_package(unsigned a, unsigned b) const {
    return last_with(packages, a) == last_with(packages, b);
  }
  bool share_node(unsigned a, unsigned b) const {
    return last_with(nodes, a) == last_with(nodes, b);
  }
  bool share_cache(unsigned a, unsigned b) const {
    if (caches.empty()) return share_package(a, b) && share_node(a, b);
    unsigned last = 0;
    bool result = false;
    for (const cache& each : caches) {
      if (!has(each.cpus, a) || each.type == "Instruction" || each.level < last) continue;
      result = has(each.cpus, b);
      last = each.level;
    }
    return result;
  }

 private:
  static unsigned lowest_beside(const std::vector<numbers>& lists, unsigned cpu,
                                unsigned otherwise) {
    for (const numbers& list : lists) {
      if (has(list, cpu)) return *std::min_element(list.begin(), list.end());
    }
    return otherwise;
  }
  core_kind kind_of(unsigned cpu) const {
    for (const auto& [name_of_kind, cpus] : hybrid) {
      if (has(cpus, cpu)) {
        return name_of_kind == "core" ? core_kind::performance : core_kind::efficiency;
      }
    }
    const auto& values_of = capacity.empty() ? clock : capacity;
    numbers all;
    for (const unsigned each : usable) {
      if (values_of.count(each) == 1) all.push_back(values_of.at(each));
    }
    const unsigned fast = detail::fast_from(all);
    if (fast == 0) return core_kind::unknown;
    return values_of.at(cpu) >= fast ? core_kind::performance : core_kind::efficiency;
  }
  static bool has(const numbers& list, unsigned cpu) {
    return std::find(list.begin(), list.end(), cpu) != list.end();
  }
  static bool any_has(const std::vector<numbers>& lists, unsigned a, unsigned b) {
    return std::any_of(lists.begin(), lists.end(),
                       [&](const numbers& list) { return has(list, a) && has(list, b); });
  }
  /// The number whose list has `cpu`, the last of several; 0 if there is none.
  static unsigned last_with(const std::map<unsigned, numbers>& lists, unsigned cpu) {
    unsigned result = 0;
    for (const auto& [number, cpus] : lists) {
      if (has(cpus, cpu)) result = number;
    }
    return result;
  }
  std::string file_of(const std::string& key) const {
    const auto named = files_.find(key);
    if (named != files_.end()) return named->second;
    return key == "core" ? "core_cpus_list" : key == "cache" ? "shared_cpu_list" : "cpulist";
  }
  static std::filesystem::path directory_of_node(const std::filesystem::path& root,
                                                 unsigned number) {
    return root / "sys/devices/system/node" / ("node" + std::to_string(number));
  }
  /// As the kernel writes it into a file of that name.
  static std::string text_of(const numbers& cpus, const std::string& file) {
    return file.find("list") == std::string::npos ? mask_of(cpus) : list_of(cpus);
  }
  static std::string list_of(const numbers& cpus) {
    std::string text;
    detail::append_ranges(text, cpus);
    return text;
  }
  static std::string mask_of(const numbers& cpus) {
    constexpr unsigned bits = 32;
    const unsigned last = cpus.empty() ? 0 : *std::max_element(cpus.begin(), cpus.end());
    std::vector<unsigned> groups(last / bits + 1);
    for (const unsigned cpu : cpus) groups[cpu / bits] |= 1u << cpu % bits;
    std::string text;
    for (std::size_t i = groups.size(); i-- > 0;) {
      detail::append(text, i > 0 ? "%08x," : "%08x", groups[i]);
    }
    return text;
  }
  static void file(const std::filesystem::path& path, const std::string& text) {
    std::FILE* to = std::fopen(path.c_str(), "w");
    if (to == nullptr) {  // the first one of its directory
      std::filesystem::create_directories(path.parent_path());
      to = std::fopen(path.c_str(), "w");
    }
    if (to == nullptr) throw std::runtime_error("cannot write " + path.string());
    std::fprintf(to, "%s\n", text.c_str());
    std::fclose(to);
  }
  void cpu_file(const std::filesystem::path& root, unsigned cpu, const std::string& which,
                const std::string& text) const {
    if (!has(usable, cpu)) return;
    file(root / "sys/devices/system/cpu" / ("cpu" + std::to_string(cpu)) / which, text);
  }

  void read_line(const std::string& line) {
    std::istringstream words(line);
    std::string key, text;
    unsigned number = 0, step = 0, count = 1;
    words >> key;
    std::string type;
    if (key == "file") {
      words >> type >> text;
      files_[type] = text;
      return;
    }
    if (key == "said" || key == "read") {
      words >> type >> text;
      (key == "said" ? said : read_instead)[type] = sizes_in(text);
      return;
    }
    if (key == "cache") {
      words >> number >> type;
    } else if (key == "hybrid") {
      words >> type;
    } else if (key != "usable" && key != "core") {
      words >> number;
    }
    if (key == "memory") {
      memory_nodes.push_back(number);
      return;
    }
    char sign = 0;
    words >> text;
    if (words >> sign) words >> step >> sign >> count;
    numbers cpus;
    if (!detail::parse_cpu_list(text.c_str(), cpus)) throw std::invalid_argument(line);
    for (unsigned i = 0; i < count; ++i) {
      add(key, number, type, cpus, line);
      for (unsigned& cpu : cpus) cpu += step;
      number += key == "package" || key == "node";
    }
  }
  static std::map<std::size_t, std::size_t> sizes_in(const std::string& text) {
    std::map<std::size_t, std::size_t> result;
    std::istringstream words(text);
    std::size_t count = 0, size = 0;
    char sign = 0;
    while (words >> count >> sign >> size) {
      result[size] += count;
      words >> sign;
    }
    return result;
  }
  void add(const std::string& key, unsigned number, const std::string& type, const numbers& cpus,
           const std::string& line) {
    const auto append = [&](numbers& to) { to.insert(to.end(), cpus.begin(), cpus.end()); };
    if (key == "usable") {
      usable = cpus;
    } else if (key == "package") {
      append(packages[number]);
    } else if (key == "core") {
      cores.push_back(cpus);
    } else if (key == "cache") {
      caches.push_back({number, type, cpus});
    } else if (key == "node") {
      append(nodes[number]);
    } else if (key == "capacity") {
      for (const unsigned cpu : cpus) capacity[cpu] = number;
    } else if (key == "clock") {
      for (const unsigned cpu : cpus) clock[cpu] = number;
    } else if (key == "hybrid") {
      hybrid[type] = cpus;
    } else {
      throw std::invalid_argument(line);
    }
  }
  void finish() {
    if (usable.empty()) {
      for (const auto& [number, cpus] : packages)
        usable.insert(usable.end(), cpus.begin(), cpus.end());
    }
    std::sort(usable.begin(), usable.end());
  }
  static std::vector<known_machine> parse(const std::string& text) {
    std::vector<known_machine> result;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (line.empty()) continue;
      if (line.rfind("machine ", 0) == 0) {
        result.emplace_back();
        result.back().name = line.substr(8);
      } else if (line.rfind("recorded ", 0) == 0) {
        result.back().is_recorded = true;
      } else if (line.rfind("after ", 0) == 0 || line.rfind("source ", 0) == 0) {
        result.back().source = line.substr(line.find(' ') + 1);
      } else {
        result.back().read_line(line);
      }
    }
    for (known_machine& each : result) each.finish();
    return result;
  }

  std::map<std::string, std::string> files_;
};

inline void PrintTo(const known_machine& of, std::ostream* out) { *out << of.name; }

}  // namespace lockstep::test
