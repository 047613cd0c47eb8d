// SPDX-License-Identifier: MIT
// tests/platform/cgroup_test.cpp -- the text functions, and whole trees below a directory of the test
#include "platform/cgroup.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/system_tree.hpp"

namespace {

namespace cgroup = lockstep::detail::cgroup;
using cgroup::unlimited;

using cgroup::has_cpu;

/// A line that is read as a mount.
struct read_mount {
  explicit read_mount(const std::string& line) : is_hierarchy(cgroup::parse_mount(line, where)) {}

  cgroup::mount where;
  bool is_hierarchy;
};

TEST(cgroup_text, a_quota_is_divided_by_its_period) {
  EXPECT_EQ(cgroup::parse_quota("150000 100000"), 1.5);
  EXPECT_EQ(cgroup::parse_quota("50000\n 100000\n"), 0.5);
  EXPECT_EQ(cgroup::parse_quota("6400000 100000"), 64.0);
}

TEST(cgroup_text, a_quota_or_period_that_is_not_a_positive_number_is_no_limit) {
  for (const std::string bad : {"", "-1", "0", "max", "x7", "nan", " "}) {
    EXPECT_EQ(cgroup::parse_quota(bad + " 100000"), unlimited) << bad;
    EXPECT_EQ(cgroup::parse_quota("100000 " + bad), unlimited) << bad;
  }
}

TEST(cgroup_text, cpu_max_of_version_2_is_quota_and_period_or_max) {
  EXPECT_EQ(cgroup::parse_quota("150000 100000\n"), 1.5);
  EXPECT_EQ(cgroup::parse_quota("max 100000\n"), unlimited);
  EXPECT_EQ(cgroup::parse_quota("max\n"), unlimited);
  EXPECT_EQ(cgroup::parse_quota(""), unlimited);
  EXPECT_EQ(cgroup::parse_quota("\n\n"), unlimited);
  EXPECT_EQ(cgroup::parse_quota("150000"), unlimited);
  EXPECT_EQ(cgroup::parse_quota("150000 0"), unlimited);
  EXPECT_EQ(cgroup::parse_quota("\x7f"
                                "ELF"),
            unlimited);
}

TEST(cgroup_text, the_tighter_of_two_quotas_is_the_smaller_one_that_exists) {
  EXPECT_EQ(cgroup::tighter(1.5, 2.0), 1.5);
  EXPECT_EQ(cgroup::tighter(2.0, 1.5), 1.5);
  EXPECT_EQ(cgroup::tighter(unlimited, 2.0), 2.0);
  EXPECT_EQ(cgroup::tighter(2.0, unlimited), 2.0);
  EXPECT_EQ(cgroup::tighter(unlimited, unlimited), unlimited);
}

TEST(cgroup_text, a_word_is_found_whole_only) {
  EXPECT_TRUE(has_cpu("cpu"));
  EXPECT_TRUE(has_cpu("cpu,cpuacct"));
  EXPECT_TRUE(has_cpu("rw,cpuacct,cpu"));
  EXPECT_TRUE(has_cpu("rw,cpu,cpuacct"));
  EXPECT_FALSE(has_cpu("cpuacct"));
  EXPECT_FALSE(has_cpu("cpuset"));
  EXPECT_FALSE(has_cpu(""));
}

TEST(cgroup_text, the_group_of_each_version_is_found_among_those_of_other_controllers) {
  const std::string text =
      "12:cpuset:/set\n3:cpuacct,cpu:/batch/a:b\n1:name=systemd:/init\n0::/user.slice/x.scope\n";
  EXPECT_EQ(cgroup::find_group(text, false), "/batch/a:b");
  EXPECT_EQ(cgroup::find_group(text, true), "/user.slice/x.scope");
  EXPECT_EQ(cgroup::find_group("0::/\n", true), "/");
  EXPECT_EQ(cgroup::find_group("0::/\n", false), "");
  EXPECT_EQ(cgroup::find_group("1:cpuset:/\n", false), "");
}

TEST(cgroup_text, a_list_of_groups_that_makes_no_sense_holds_no_group) {
  for (const char* bad : {"", "\n\n", "nonsense", "1:cpu", ":", "cpu\n:\n"}) {
    EXPECT_EQ(cgroup::find_group(bad, true), "") << bad;
    EXPECT_EQ(cgroup::find_group(bad, false), "") << bad;
  }
}

TEST(cgroup_text, a_mount_of_either_version_is_recognised) {
  const read_mount second(
      "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 master:1 - cgroup2 cgroup2 rw");
  ASSERT_TRUE(second.is_hierarchy);
  EXPECT_TRUE(second.where.version_2);
  EXPECT_EQ(second.where.point, "/sys/fs/cgroup");
  EXPECT_EQ(second.where.shown_group, "/");
  const read_mount first(
      "40 24 0:33 /docker/abc /groups/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct");
  ASSERT_TRUE(first.is_hierarchy);
  EXPECT_FALSE(first.where.version_2);
  EXPECT_EQ(first.where.point, "/groups/cpu,cpuacct");
  EXPECT_EQ(first.where.shown_group, "/docker/abc");
}

TEST(cgroup_text, blanks_and_backslashes_in_mount_points_are_decoded) {
  const read_mount mount(R"(35 24 0:30 /my\040group /mnt/a\134b\040 rw - cgroup2 cgroup2 rw)");
  ASSERT_TRUE(mount.is_hierarchy);
  EXPECT_EQ(mount.where.shown_group, "/my group");
  EXPECT_EQ(mount.where.point, R"(/mnt/a\b )");
  EXPECT_EQ(cgroup::decode_octal(R"(\04)"), R"(\04)") << "too short for a code";
  EXPECT_EQ(cgroup::decode_octal(R"(a\089)"), R"(a\089)") << "no octal digits";
  EXPECT_EQ(cgroup::decode_octal("\\"), "\\");
}

TEST(cgroup_text, mounts_without_cpu_quotas_are_left_out) {
  for (const char* line : {"", "nonsense", " - ", "1 2 3:4 / / rw - ext4 /dev/vda1 rw",
                           "41 24 0:34 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset",
                           "41 24 0:34 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct",
                           "42 24 0:35 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755"}) {
    EXPECT_FALSE(read_mount(line).is_hierarchy) << line;
  }
}

TEST(cgroup_text, a_group_is_seen_relative_to_what_the_mount_shows) {
  EXPECT_EQ(cgroup::relative_group("/a/b", "/"), "/a/b");
  EXPECT_EQ(cgroup::relative_group("/", "/"), "");
  EXPECT_EQ(cgroup::relative_group("/docker/abc", "/docker/abc"), "");
  EXPECT_EQ(cgroup::relative_group("/docker/abc/x", "/docker/abc"), "/x");
  EXPECT_EQ(cgroup::relative_group("/elsewhere", "/docker/abc"), "");
  EXPECT_EQ(cgroup::relative_group("/docker/abcdef", "/docker/abc"), "") << "no part of it";
}

class cgroup_tree : public lockstep::test::system_tree {
 protected:
  cgroup_tree() : system_tree("cgroup") {}

  void version_1_quota(const std::string& directory, const std::string& quota) {
    file(directory + "/cpu.cfs_quota_us", quota + "\n");
    file(directory + "/cpu.cfs_period_us", "100000\n");
  }
  void groups(const std::string& text) { file("/proc/self/cgroup", text); }
  void mounts(const std::string& text) { file("/proc/self/mountinfo", text); }
  double quota() const { return cgroup::quota(root()); }
};

const char* const version_2_mount =
    "24 1 0:22 / /proc rw - proc proc rw\n35 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
const char* const version_1_mount =
    "33 24 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n";

TEST_F(cgroup_tree, a_system_without_groups_has_no_limit) {
  EXPECT_EQ(quota(), unlimited) << "nothing there";
  groups("");
  mounts("");
  EXPECT_EQ(quota(), unlimited) << "empty files";
}

TEST_F(cgroup_tree, the_quota_of_the_own_group_counts_in_version_2) {
  groups("0::/a\n");
  mounts(version_2_mount);
  file("/sys/fs/cgroup/a/cpu.max", "250000 100000\n");
  EXPECT_EQ(quota(), 2.5);
}

TEST_F(cgroup_tree, the_quota_of_the_own_group_counts_in_version_1) {
  groups("4:memory:/m\n3:cpu,cpuacct:/a\n");
  mounts(version_1_mount);
  version_1_quota("/sys/fs/cgroup/cpu,cpuacct/a", "250000");
  version_1_quota("/sys/fs/cgroup/cpu,cpuacct/m", "100000");
  EXPECT_EQ(quota(), 2.5);
}

TEST_F(cgroup_tree, no_quota_is_no_limit_in_both_versions) {
  groups("3:cpu,cpuacct:/a\n0::/a\n");
  mounts(std::string(version_2_mount) + version_1_mount);
  file("/sys/fs/cgroup/a/cpu.max", "max 100000\n");
  version_1_quota("/sys/fs/cgroup/cpu,cpuacct/a", "-1");
  EXPECT_EQ(quota(), unlimited);
}

TEST_F(cgroup_tree, the_tightest_of_all_parents_counts) {
  groups("0::/a/b/c\n");
  mounts(version_2_mount);
  file("/sys/fs/cgroup/a/cpu.max", "400000 100000\n");
  file("/sys/fs/cgroup/a/b/cpu.max", "150000 100000\n");
  file("/sys/fs/cgroup/a/b/c/cpu.max", "800000 100000\n");
  file("/sys/fs/cgroup/a/b/d/cpu.max", "10000 100000\n");
  EXPECT_EQ(quota(), 1.5);
}

TEST_F(cgroup_tree, the_top_of_the_mount_counts_too) {
  groups("3:cpu,cpuacct:/a/b\n");
  mounts(version_1_mount);
  version_1_quota("/sys/fs/cgroup/cpu,cpuacct", "50000");
  version_1_quota("/sys/fs/cgroup/cpu,cpuacct/a", "-1");
  version_1_quota("/sys/fs/cgroup/cpu,cpuacct/a/b", "150000");
  EXPECT_EQ(quota(), 0.5);
}

TEST_F(cgroup_tree, the_tighter_of_both_versions_counts) {
  groups("3:cpu,cpuacct:/one\n0::/two\n");
  mounts(std::string(version_2_mount) + version_1_mount);
  file("/sys/fs/cgroup/two/cpu.max", "300000 100000\n");
  version_1_quota("/sys/fs/cgroup/cpu,cpuacct/one", "200000");
  EXPECT_EQ(quota(), 2.0);
}

TEST_F(cgroup_tree, a_mount_point_elsewhere_is_found) {
  groups("0::/a\n");
  mounts("35 24 0:30 / /mnt/groups rw - cgroup2 none rw\n");
  file("/mnt/groups/a/cpu.max", "100000 100000\n");
  file("/sys/fs/cgroup/a/cpu.max", "900000 100000\n");
  EXPECT_EQ(quota(), 1.0);
}

TEST_F(cgroup_tree, a_container_sees_its_own_group_at_the_top_of_the_mount) {
  groups("3:cpu,cpuacct:/docker/abc\n");
  mounts("33 24 0:29 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n");
  version_1_quota("/sys/fs/cgroup/cpu", "150000");
  EXPECT_EQ(quota(), 1.5);
}

TEST_F(cgroup_tree, a_group_below_that_of_the_container_is_found_inside_of_it) {
  groups("0::/docker/abc/inner\n");
  mounts("35 24 0:30 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n");
  file("/sys/fs/cgroup/cpu.max", "max 100000\n");
  file("/sys/fs/cgroup/inner/cpu.max", "50000 100000\n");
  EXPECT_EQ(quota(), 0.5);
}

TEST_F(cgroup_tree, a_group_whose_name_only_begins_as_the_one_shown_counts_as_the_top) {
  groups("0::/docker/abcdef\n");
  mounts("35 24 0:30 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n");
  file("/sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota(), 1.5);
}

TEST_F(cgroup_tree, garbage_in_any_file_is_no_limit) {
  static const char bytes[] = "\x01\xff: - :\n%s%n 18446744073709551616 - - cgroup2\0x";
  const std::string garbage(bytes, sizeof bytes - 1);
  groups(garbage);
  mounts(garbage);
  EXPECT_EQ(quota(), unlimited);
  groups("0::/a\n");
  mounts(version_2_mount);
  file("/sys/fs/cgroup/a/cpu.max", garbage);
  EXPECT_EQ(quota(), unlimited);
}

TEST_F(cgroup_tree, groups_that_are_gone_are_no_limit_but_their_parents_count) {
  groups("0::/a/gone\n");
  mounts(version_2_mount);
  file("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota(), 1.5);
}

}  // namespace
