// SPDX-License-Identifier: MIT
// tests/fuzz/cgroup_fuzz.cpp -- the input is /proc/self/cgroup, mountinfo and cpu.max, parted by '~'
#include "platform/system_texts.hpp"

#include <algorithm>
#include <cstring>
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
  const double quota = cgroup::parse_cpu_max(text.c_str());
  require_quota(quota);
  require_quota(cgroup::ratio(text.c_str(), "100000"));
  require_quota(cgroup::ratio("100000", text.c_str()));
  for (const double other : {cgroup::unlimited, 0.5, 2.0}) {
    const double both = cgroup::tighter(quota, other);
    require(both == cgroup::tighter(other, quota), "the order of two quotas does not matter");
    require(both == quota || both == other, "one of the two quotas counts");
    require(other == cgroup::unlimited || (both >= 0 && both <= other), "the tighter one");
  }
}

void check_parts(std::string text) {
  const char* const end = text.data() + std::strlen(text.data());
  std::size_t steps = 0;
  for (char* at = text.data(); at != end;) {
    const char* const before = at;
    const std::string word = cgroup::next_part(at, " \t\n");
    require(word.find_first_of(" \t\n") == std::string::npos, "a word holds no blank");
    require(at > before && at <= end, "every word is passed once");
    require(++steps <= text.size() + 1, "the words of a text come to an end");
  }
}

void check_decoding(std::string text) {
  text.resize(std::strlen(text.c_str()));
  std::string copy = text;
  const std::string decoded = cgroup::decode_octal(copy.data());
  require(decoded.size() <= text.size(), "decoding adds nothing");
  require((text.size() - decoded.size()) % 3 == 0, "each code becomes one character");
  require(text.find('\\') != std::string::npos || decoded == text, "only codes are changed");
}

void check_mount(const std::string& line, const std::string groups[2]) {
  cgroup::mount where;
  std::string cut = line;
  if (!cgroup::parse_mount(cut.data(), where)) return;
  require(line.find(" - ") != std::string::npos, "a mount has a separator");
  require(line.find("cgroup") != std::string::npos, "a mount has a type");
  std::string group = groups[where.version_2 ? 1 : 0];
  const std::string below = cgroup::relative_group(group.data(), where.shown_group);
  const bool is_end = group.size() >= below.size() &&
                      group.compare(group.size() - below.size(), below.size(), below) == 0;
  require(is_end, "a group is seen below a mount by its last part");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parts = lockstep::test::parts_of(lockstep::test::text_of(data, size), '~', 3);
  const std::string groups_text(parts[0]), mounts(parts[1]), cpu_max(parts[2]);
  const std::string groups[2] = {cgroup::find_group(groups_text.c_str(), false),
                                 cgroup::find_group(groups_text.c_str(), true)};
  for (const std::string& group : groups) {
    require(group.find('\n') == std::string::npos, "a group is within a line");
  }
  std::string lines = mounts;
  for (char* at = lines.data(); *at != 0;) check_mount(cgroup::next_part(at, "\n"), groups);
  check_parts(mounts);
  check_decoding(mounts);
  check_quota(cpu_max);
  return 0;
}
