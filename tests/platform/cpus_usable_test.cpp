// SPDX-License-Identifier: MIT
// tests/platform/cpus_usable_test.cpp -- affinity and quota of the running system both count
#include "platform/cgroup.hpp"
#include "platform/cpus.hpp"
#include "platform/system.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <lockstep/detail/platform/this_thread.hpp>
#include "fault/child_process.hpp"
#include "support/threads.hpp"

namespace {

namespace cgroup = lockstep::detail::cgroup;
using lockstep::detail::affinity;
using lockstep::detail::count_usable_cpus;

TEST(usable_cpus, are_at_least_one_and_at_most_those_of_the_affinity_mask) {
  EXPECT_GE(count_usable_cpus(), 1u);
  EXPECT_LE(count_usable_cpus(), affinity().size());
  EXPECT_EQ(lockstep::detail::usable_cpus(), lockstep::detail::usable_cpus());
}

TEST(usable_cpus, affinity_is_ascending_and_holds_the_cpu_we_run_on) {
  const std::vector<unsigned> cpus = affinity();
  EXPECT_TRUE(std::is_sorted(cpus.begin(), cpus.end()));
  EXPECT_EQ(std::adjacent_find(cpus.begin(), cpus.end()), cpus.end());
  EXPECT_EQ(std::count(cpus.begin(), cpus.end(), static_cast<unsigned>(sched_getcpu())), 1);
}

TEST(usable_cpus, a_thread_with_one_cpu_counts_one_afresh_and_the_process_keeps_its_count) {
  const unsigned of_process = lockstep::detail::usable_cpus();
  lockstep::test::run_threads(1, [&](unsigned) {
    ASSERT_TRUE(lockstep::detail::pin_this_thread(affinity().back()));
    EXPECT_EQ(count_usable_cpus(), 1u);
    EXPECT_EQ(lockstep::detail::usable_cpus(), of_process);
  });
  EXPECT_EQ(lockstep::detail::usable_cpus(), of_process);
}

/// A real control group with a quota, below our own; not made where the system does not let us.
class quota_group {
 public:
  explicit quota_group(const char* quota) {
    std::ifstream mounts("/proc/self/mountinfo");
    std::string line;
    while (!made_ && std::getline(mounts, line)) {
      cgroup::mount where;
      if (cgroup::parse_mount(line, where)) made_ = make(where, quota);
    }
  }
  ~quota_group() {
    if (made_) rmdir(directory_.c_str());
  }
  bool made() const { return made_; }

  /// The exit status of a child process that runs `f` in the group; 255 if it could not enter it.
  int run(const std::function<int()>& f) const {
    return lockstep::test::in_child(
        [&] { return write(directory_ + "/cgroup.procs", "0") ? f() : 255; });
  }

 private:
  static bool write(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    file << text;
    return static_cast<bool>(file.flush());
  }

  bool make(const cgroup::mount& where, const std::string& quota) {
    const std::string group =
        cgroup::find_group(lockstep::detail::file_text("/proc/self/cgroup"), where.version_2);
    const std::string own = cgroup::relative_group(group, where.shown_group);
    directory_ = where.point + own + "/lockstep_test_" + std::to_string(getpid());
    if (mkdir(directory_.c_str(), 0755) != 0) return false;
    const bool set = where.version_2 ? write(directory_ + "/cpu.max", quota + " 100000")
                                     : write(directory_ + "/cpu.cfs_period_us", "100000") &&
                                           write(directory_ + "/cpu.cfs_quota_us", quota);
    // A group that we may not enter is of no use, nor one where programs have no quota.
    if (set && run([] { return 0; }) == 0) return true;
    rmdir(directory_.c_str());
    return false;
  }

  std::string directory_;
  bool made_ = false;
};

struct quota_case {
  const char* quota;  // microseconds of 100 000
  unsigned cpus;
};
class usable_cpus_in_a_group : public testing::TestWithParam<quota_case> {};
INSTANTIATE_TEST_SUITE_P(quotas, usable_cpus_in_a_group,
                         testing::Values(quota_case{"150000", 2}, quota_case{"100000", 1},
                                         quota_case{"50000", 1}, quota_case{"200000", 2},
                                         quota_case{"101000", 2}, quota_case{"100000000", 1000}),
                         [](const auto& the) { return std::string("quota_") + the.param.quota; });

TEST_P(usable_cpus_in_a_group, are_cut_by_its_quota_rounded_up) {
  const unsigned without = count_usable_cpus();
  const quota_group group(GetParam().quota);
  if (!group.made()) GTEST_SKIP() << "no control group can be made here";
  const int counted =
      group.run([] { return static_cast<int>(std::min(count_usable_cpus(), 254u)); });
  EXPECT_EQ(counted, static_cast<int>(std::min({GetParam().cpus, without, 254u})));
}

}  // namespace
