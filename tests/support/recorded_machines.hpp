// SPDX-License-Identifier: MIT
// tests/support/recorded_machines.hpp -- what /sys says of real machines, as short texts that become trees of files
//
// None of these machines was at hand. The texts are written after layouts that others have published; `after` names the
// machine and the source. Where a source does not tell a number (the capacity of a core), `after` says so.
//
//   machine NAME, after SOURCE
//   usable LIST            the affinity mask; all CPUs of packages if it is not given
//   package NUMBER LIST    topology/physical_package_id
//   core LIST              topology/core_cpus_list of each of them
//   cache LEVEL TYPE LIST  the next cache/indexN of each of them: level, type, shared_cpu_list
//   node NUMBER LIST       node/nodeN/cpulist, and its number in node/online
//   memory NUMBER          a node without CPUs
//   capacity NUMBER LIST   cpu_capacity
//   clock NUMBER LIST      cpufreq/cpuinfo_max_freq, in kHz
//   hybrid KIND LIST       /sys/devices/cpu_KIND/cpus
// Files cost time: of large machines the caches below the last one are left out, and CPUs that are not usable.
// A LIST is the kernel's; with `+STEP xCOUNT` behind it the line stands for COUNT lines, each shifted by STEP.
#pragma once

#include <lockstep/detail/platform/cpu_place.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace lockstep::test {

inline constexpr const char* recorded_machines_text = R"(
machine magny_cours_sparse
after 4 AMD "Magny-Cours" engineering samples: hwloc's test 48amd64-4d2n6c-sparse; node numbers with gaps, no SMT
package 0 0-11
package 1 12-23
package 2 24-35
package 3 36-47
core 0 +1 x48
cache 3 Unified 0-5 +6 x8
node 0 0-5
node 1 6-11
node 2 12-17
node 33 18-23
node 34 24-29
node 45 30-35
node 72 36-41
node 73 42-47

machine xeon_offline
after 4 Intel Xeon of 2 cores, SMT on, CPUs 2, 5, 13 and 14 offline: hwloc's test 16em64t-4s2c2t-offlines
package 0 0,4,8,12
package 1 1,9
package 2 6,10
package 3 3,7,11,15
core 0,8
core 4,12
core 1,9
core 3,11
core 7,15
core 6
core 10
cache 1 Data 0,8
cache 1 Data 4,12
cache 1 Data 1,9
cache 1 Data 3,11
cache 1 Data 7,15
cache 1 Data 6
cache 1 Data 10
cache 3 Unified 0,4,8,12
cache 3 Unified 1,9
cache 3 Unified 6,10
cache 3 Unified 3,7,11,15
node 0 0-1,3-4,6-12,15

machine xeon_interleaved
after 2 Intel Xeon Gold 6248 of 20 cores, SMT on, as lscpu shows them on servers that number the sockets in turns
package 0 0 +2 x40
package 1 1 +2 x40
core 0,40 +1 x40
cache 3 Unified 0-78:2 +1 x2
node 0 0-78:2
node 1 1-79:2

machine epyc_7543
after 2 AMD EPYC 7543 of 32 cores in 8 chiplets, SMT on, one node a socket: AMD's data sheet, lscpu
package 0 0-31,64-95
package 1 32-63,96-127
core 0,64 +1 x64
cache 3 Unified 0-3,64-67 +4 x16
node 0 0-31,64-95
node 1 32-63,96-127

machine epyc_container
after the machine above, in a container with --cpuset-cpus=6-13,40-41,70-77
usable 6-13,40-41,70-77
package 0 0-31,64-95
package 1 32-63,96-127
core 0,64 +1 x64
cache 3 Unified 0-3,64-67 +4 x16
node 0 0-31,64-95
node 1 32-63,96-127

machine ryzen_7950x3d
after an AMD Ryzen 9 7950X3D: 2 chiplets of 8 cores, the first with a larger cache and a lower clock: lscpu
package 0 0-31
core 0,16 +1 x16
cache 1 Data 0,16 +1 x16
cache 1 Instruction 0,16 +1 x16
cache 2 Unified 0,16 +1 x16
cache 3 Unified 0-7,16-23
cache 3 Unified 8-15,24-31
node 0 0-31
clock 5250000 0-7,16-23
clock 5750000 8-15,24-31

machine alder_lake
after an Intel Core i9-12900K: 8 P-cores with SMT, 8 E-cores in clusters of 4: Intel's data sheet, lscpu
package 0 0-23
core 0-1 +2 x8
core 16 +1 x8
cache 1 Data 0-1 +2 x8
cache 1 Data 16 +1 x8
cache 1 Instruction 0-1 +2 x8
cache 1 Instruction 16 +1 x8
cache 2 Unified 0-1 +2 x8
cache 2 Unified 16-19 +4 x2
cache 3 Unified 0-23
node 0 0-23
hybrid core 0-15
hybrid atom 16-23
clock 5100000 0-15
clock 3900000 16-23

machine dgx_spark
after an NVIDIA DGX Spark (GB10): two caches with 5 big and 5 little cores each, package 36: hwloc's test nvidia-dgx-gb10; the capacities are ours
package 36 0-19
core 0 +1 x20
cache 1 Data 0 +1 x20
cache 1 Instruction 0 +1 x20
cache 2 Unified 0 +1 x20
cache 3 Unified 0-9 +10 x2
node 0 0-19
capacity 718 0-4,10-14
capacity 1024 5-9,15-19

machine rk3399
after a Rockchip RK3399 (4 Cortex-A53, 2 Cortex-A72): big.LITTLE with a cache for each kind: Linux' rk3399.dtsi
package 0 0-5
core 0 +1 x6
cache 1 Data 0 +1 x6
cache 1 Instruction 0 +1 x6
cache 2 Unified 0-3
cache 2 Unified 4-5
capacity 381 0-3
capacity 1024 4-5

machine power8_smt8
after an IBM S822LC: 2 POWER8 of 10 cores, SMT8, nodes 0 and 8, a cache for each core: numactl, ppc64_cpu
package 0 0-79
package 8 80-159
core 0-7 +8 x20
cache 3 Unified 0-7 +8 x20
node 0 0-79
node 8 80-159

machine power9_gpus
after an IBM AC922: 2 POWER9, SMT4, caches for pairs of cores, GPU memory as nodes without CPUs; a batch job may use 32 of 176 CPUs: hwloc's test nvidiagpunumanodes
usable 0-15,88-103
package 0 0-87
package 8 88-175
core 0-3 +4 x44
cache 3 Unified 0-7 +8 x22
node 0 0-87
node 8 88-175
memory 252
memory 253
memory 254
memory 255

machine a64fx
after a Fujitsu PRIMEHPC FX700: 4 groups of 12 cores, each a node, whose L2 is the last cache: A64FX Microarchitecture Manual
package 0 0-47
core 0 +1 x48
cache 2 Unified 0-11 +12 x4
node 0 0-11
node 1 12-23
node 2 24-35
node 3 36-47

machine altra
after an Ampere Altra Q80-30, whose system cache /sys does not show: each core has its own L2: lscpu
package 0 0-79
core 0 +1 x80
cache 2 Unified 0 +1 x80
node 0 0-79

machine arm_guest
after a guest of QEMU's "virt" machine, 4 CPUs: no cache directories, no nodes
package 0 0-3
core 0 +1 x4
)";

class recorded_machine {
 public:
  using numbers = std::vector<unsigned>;

  struct cache {
    unsigned level;
    std::string type;
    numbers cpus;
  };

  std::string name, after;
  numbers usable;
  std::map<unsigned, numbers> packages, nodes;
  std::vector<numbers> cores;
  std::vector<cache> caches;
  numbers memory_nodes;
  std::map<unsigned, unsigned> capacity, clock;  // by CPU
  std::map<std::string, numbers> hybrid;

  /// All of them, in the order of the text.
  static const std::vector<recorded_machine>& all() {
    static const std::vector<recorded_machine> parsed = parse(recorded_machines_text);
    return parsed;
  }
  static const recorded_machine& named(const std::string& name) {
    for (const recorded_machine& each : all()) {
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
    for (const numbers& cpus : cores) {
      for (const unsigned cpu : cpus) cpu_file(root, cpu, "topology/core_cpus_list", text_of(cpus));
    }
    for (const cache& each : caches) {
      for (const unsigned cpu : each.cpus) {
        const std::string at = "cache/index" + std::to_string(next_index[cpu]++) + "/";
        cpu_file(root, cpu, at + "level", std::to_string(each.level));
        cpu_file(root, cpu, at + "type", each.type);
        cpu_file(root, cpu, at + "shared_cpu_list", text_of(each.cpus));
      }
    }
    numbers online = memory_nodes;
    for (const auto& [number, cpus] : nodes) {
      online.push_back(number);
      file(root / "sys/devices/system/node" / ("node" + std::to_string(number)) / "cpulist",
           text_of(cpus));
    }
    for (const unsigned number : memory_nodes) {
      file(root / "sys/devices/system/node" / ("node" + std::to_string(number)) / "cpulist", "");
    }
    std::sort(online.begin(), online.end());
    if (!online.empty()) file(root / "sys/devices/system/node/online", text_of(online));
    for (const auto& [cpu, value] : capacity)
      cpu_file(root, cpu, "cpu_capacity", std::to_string(value));
    for (const auto& [cpu, value] : clock) {
      cpu_file(root, cpu, "cpufreq/cpuinfo_max_freq", std::to_string(value));
    }
    for (const auto& [kind, cpus] : hybrid) {
      file(root / "sys/devices" / ("cpu_" + kind) / "cpus", text_of(cpus));
    }
  }

  /// What its files say, without the files.
  detail::cpu_topology places() const {
    detail::cpu_topology result;
    for (const unsigned cpu : usable) {
      cpu_place place = {cpu, lowest_beside(cores, cpu, cpu), 0, 0, core_kind::unknown,
                         0,   detail::unknown_cache};
      for (const auto& [number, cpus] : packages) {
        if (has(cpus, cpu)) place.package = number;
      }
      for (const auto& [number, cpus] : nodes) {
        if (has(cpus, cpu)) place.node = number;
      }
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
  bool share_package(unsigned a, unsigned b) const { return any_has(values(packages), a, b); }
  bool share_node(unsigned a, unsigned b) const {
    return nodes.empty() || any_has(values(nodes), a, b);
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
  static std::vector<numbers> values(const std::map<unsigned, numbers>& of) {
    std::vector<numbers> result;
    for (const auto& [number, cpus] : of) result.push_back(cpus);
    return result;
  }
  static std::string text_of(const numbers& cpus) {
    std::string text;
    detail::append_cpu_list(text, cpus);
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
    }
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
    if (!usable.empty()) return;
    for (const auto& [number, cpus] : packages)
      usable.insert(usable.end(), cpus.begin(), cpus.end());
    std::sort(usable.begin(), usable.end());
  }
  static std::vector<recorded_machine> parse(const std::string& text) {
    std::vector<recorded_machine> result;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (line.empty()) continue;
      if (line.rfind("machine ", 0) == 0) {
        result.emplace_back();
        result.back().name = line.substr(8);
      } else if (line.rfind("after ", 0) == 0) {
        result.back().after = line.substr(6);
      } else {
        result.back().read_line(line);
      }
    }
    for (recorded_machine& each : result) each.finish();
    return result;
  }
};

inline void PrintTo(const recorded_machine& of, std::ostream* out) { *out << of.name; }

}  // namespace lockstep::test
