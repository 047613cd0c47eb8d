// SPDX-License-Identifier: MIT
// lockstep/topology.hpp -- which CPUs this process has, and what they share (layer: platform)
//
// A team finds out by itself what it needs for binding::close(), spread() and cores() (team_options.hpp). This is for
// programs that decide themselves: which CPUs a list of binding::cpus() names, or how large a block for a cache is.
//
//   Linux    read from /sys. In a virtual machine that shows no caches, all CPUs of a package and node share one
//   Windows  from GetLogicalProcessorInformationEx; a CPU's number is 64 * group + number in the group
//   others   one core for each CPU, all of which share one cache
//
// Order  none: these are values.
// Errors none but for lack of memory. What the system does not tell is as said above.
// Cost   of_this_thread(): on Linux 20 us for each of the files that it reads, about four for each CPU and nine for each
//        cache; 0.2 ms on 2 CPUs. The rest: a walk over a vector.
// Example
//   const lockstep::topology here = lockstep::topology::of_this_thread();
//   std::printf("%zu CPUs on %zu cores\n", here.cpus().size(), here.cores());
//   std::vector<unsigned> first_cache;  // for a team whose members share a cache
//   for (const lockstep::cpu_place& place : here.cpus()) {
//     if (place.cache == 0 && place.sibling == 0) first_cache.push_back(place.cpu);
//   }
//   const lockstep::team_options near = lockstep::team_options().bind(lockstep::binding::cpus(first_cache));
#ifndef LOCKSTEP_TOPOLOGY_HPP
#define LOCKSTEP_TOPOLOGY_HPP

#include <cstddef>
#include <lockstep/detail/platform/config.hpp>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// Whether a core is one of the big or of the little ones of its machine, in the order of preference.
enum class core_kind : unsigned char { performance, unknown, efficiency };

/// Where a CPU is. A CPU is what the system puts a thread on: a core has one or several. All numbers but `cpu` begin at 0,
/// have no gaps, and are in the order of the system's numbers. Only usable CPUs count.
struct cpu_place {
  unsigned cpu;      ///< the system's number; on Windows 64 * group + number in the group
  unsigned core;     ///< equal: hyper-threads of one core
  unsigned package;  ///< equal: in one socket
  unsigned sibling;  ///< the place among the usable CPUs of one core
  core_kind kind;
  unsigned node;   ///< equal: at one NUMA node, so at the same memory
  unsigned cache;  ///< equal: they share the last level of cache
};

namespace detail {

/// One entry for each CPU, in the order in which they were asked for.
using cpu_topology = std::vector<cpu_place>;

/// The CPUs that the calling thread may run on. If the system does not tell which these are: all; if it tells only
/// their number: so many. Asks the system each time.
cpu_topology read_topology();

/// The topology of the CPUs that the first thread to ask might run on; empty if they have no numbers. It is kept,
/// because that thread may be bound to one of them later.
const cpu_topology& usable_topology();

/// The numbers of the CPUs in the affinity mask of the calling thread, ascending; empty if unknown.
std::vector<unsigned> affinity();

/// Appends the list as text, neighbours that ascend by one joined: {0, 1, 2, 5} is "0-2,5".
void append_ranges(std::string& text, const std::vector<unsigned>& numbers,
                   const char* between = ",");

}  // namespace detail

/// The CPUs of a process and what they share: a value. cpu_place has the numbers of one CPU.
class topology {
 public:
  /// What the system tells about the CPUs that the calling thread may run on. Asks the system each time.
  static topology of_this_thread() { return topology(detail::read_topology()); }

  /// Of the CPUs of a list; its numbers are taken as they are.
  explicit topology(std::vector<cpu_place> cpus) : cpus_(std::move(cpus)) {}

  /// In ascending order of their numbers where of_this_thread() made it.
  const std::vector<cpu_place>& cpus() const noexcept { return cpus_; }

  /// How many different ones there are.
  std::size_t cores() const noexcept { return count(&cpu_place::core); }
  std::size_t caches() const noexcept { return count(&cpu_place::cache); }
  std::size_t nodes() const noexcept { return count(&cpu_place::node); }
  std::size_t packages() const noexcept { return count(&cpu_place::package); }

  /// Whether the system tells big cores from little ones.
  bool has_kinds() const noexcept {
    for (const cpu_place& place : cpus_) {
      if (place.kind != core_kind::unknown) return true;
    }
    return false;
  }

 private:
  /// They are numbered from 0, without gaps.
  std::size_t count(unsigned cpu_place::* number) const noexcept {
    std::size_t result = 0;
    for (const cpu_place& place : cpus_) {
      if (place.*number >= result) result = place.*number + std::size_t{1};
    }
    return result;
  }

  std::vector<cpu_place> cpus_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_TOPOLOGY_HPP
