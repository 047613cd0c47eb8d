// SPDX-License-Identifier: MIT
// tests/fuzz/cgroup_fuzz.cpp -- the input is /proc/self/cgroup, mountinfo and cpu.max, parted by '~'
#include "platform/cgroup.hpp"

#include <algorithm>
#include <string>

#include "fuzz/harness.hpp"

namespace {

namespace cgroup = lockstep::detail::cgroup;
using lockstep::test::require;

/// A number of CPUs or no limit, never NaN: what count_usable_cpus() compares.
void require_quota(double quota) {
  require(quota == cgroup::unlimited || quota >= 0, "a quota is a number of CPUs, or no limit");
}

void check_quota(const std::string& text) {
  const double quota = cgroup::parse_quota(text);
  require_quota(quota);
  require_quota(cgroup::parse_quota(text + " 100000"));
  require_quota(cgroup::parse_quota("100000 " + text));
  for (const double other : {cgroup::unlimited, 0.5, 2.0}) {
    const double both = cgroup::tighter(quota, other);
    require(both == cgroup::tighter(other, quota), "the order of two quotas does not matter");
    require(both == quota || both == other, "one of the two quotas counts");
    require(other == cgroup::unlimited || (both >= 0 && both <= other), "the tighter one");
  }
}

void check_lines(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t before = at;
    const std::string line = cgroup::next_line(text, at);
    require(line.find('\n') == std::string::npos, "a line holds no end of a line");
    require(at == before + line.size() + 1, "every line is passed once");
  }
}

void check_decoding(const std::string& text) {
  const std::string decoded = cgroup::decode_octal(text);
  require(decoded.size() <= text.size(), "decoding adds nothing");
  require((text.size() - decoded.size()) % 3 == 0, "each code becomes one character");
  require(text.find('\\') != std::string::npos || decoded == text, "only codes are changed");
}

void check_mount(const std::string& line, const std::string groups[2]) {
  cgroup::mount where;
  if (!cgroup::parse_mount(line, where)) return;
  require(line.find(" - ") != std::string::npos, "a mount has a separator");
  require(line.find("cgroup") != std::string::npos, "a mount has a type");
  const std::string& group = groups[where.version_2 ? 1 : 0];
  const std::string below = cgroup::relative_group(group, where.shown_group);
  const bool is_end = group.size() >= below.size() &&
                      group.compare(group.size() - below.size(), below.size(), below) == 0;
  require(is_end, "a group is seen below a mount by its last part");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parts = lockstep::test::parts_of(lockstep::test::text_of(data, size), '~', 3);
  const std::string groups_text(parts[0]), mounts(parts[1]), cpu_max(parts[2]);
  const std::string groups[2] = {cgroup::find_group(groups_text, false),
                                 cgroup::find_group(groups_text, true)};
  for (const std::string& group : groups) {
    require(group.find('\n') == std::string::npos, "a group is within a line");
  }
  for (std::size_t at = 0; at < mounts.size();) check_mount(cgroup::next_line(mounts, at), groups);
  check_lines(mounts);
  check_decoding(mounts);
  check_quota(cpu_max);
  return 0;
}
