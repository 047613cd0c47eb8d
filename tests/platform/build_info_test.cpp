// SPDX-License-Identifier: MIT
// tests/platform/build_info_test.cpp -- build_info() says how the library was built
#include <lockstep/build_info.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include <lockstep/wait_policy.hpp>

#include "platform/native_system.hpp"
#include "platform/system.hpp"

namespace {

TEST(build_info, it_agrees_with_what_it_reports_about) {
  const lockstep::build_information info = lockstep::build_info();
  EXPECT_EQ(info.version, std::to_string(LOCKSTEP_VERSION_MAJOR) + "." +
                              std::to_string(LOCKSTEP_VERSION_MINOR) + "." +
                              std::to_string(LOCKSTEP_VERSION_PATCH));
  EXPECT_STREQ(info.futex, lockstep::detail::native_futex::name());
#if LOCKSTEP_FORCE_PORTABLE_FUTEX && !defined(_WIN32)
  EXPECT_STREQ(info.futex, "mutex and condition variable");
#endif
  using lockstep::detail::process_fence;
  const bool asymmetric = process_fence::prepare() == process_fence::kind::asymmetric;
  EXPECT_EQ(std::strstr(info.process_fence, "the sleeper pays") != nullptr, asymmetric);
  EXPECT_EQ(std::strstr(info.process_fence, "seq_cst") != nullptr, !asymmetric);
  EXPECT_EQ(info.cache_line_size, lockstep::detail::cache_line_size);
  EXPECT_EQ(info.usable_cpus, lockstep::detail::usable_cpus());
  EXPECT_EQ(info.diagnoses_misuse, LOCKSTEP_DIAGNOSE_MISUSE != 0);
  const std::string missing = info.missing;
  EXPECT_EQ(missing.find("process-wide fence") == std::string::npos, asymmetric);
  EXPECT_EQ(missing.find("binding") == std::string::npos,
            lockstep::detail::native_system::binds_threads);
  EXPECT_EQ(missing.find("names") == std::string::npos,
            lockstep::detail::native_system::names_threads);
  EXPECT_NE(missing, "");
#if LOCKSTEP_FORCE_PORTABLE_FUTEX && !defined(_WIN32)
  EXPECT_EQ(missing.find("sleeping on a word"), 0u);
#elif defined(_WIN32)
  EXPECT_EQ(missing.find("timers") == std::string::npos,
            lockstep::detail::native_system::has_fine_timers);
#elif defined(__linux__)
  EXPECT_EQ(missing, asymmetric ? "nothing" : "process-wide fence");
#endif
  EXPECT_EQ(std::strstr(info.default_policy, "adaptive") != nullptr,
            lockstep::wait_policy().is_adaptive());
}

TEST(build_info, the_texts_stay) {
  const lockstep::build_information first = lockstep::build_info(), second = lockstep::build_info();
  EXPECT_EQ(static_cast<const void*>(first.version), static_cast<const void*>(second.version));
  EXPECT_STREQ(first.futex, second.futex);
}

TEST(build_info, to_string_has_one_line_per_item) {
  const lockstep::build_information info = {"1.2.3",    "a futex", "a fence", 64,
                                            "a policy", 5,         true,      "this, that"};
  EXPECT_EQ(lockstep::to_string(info),
            "version: 1.2.3\nfutex: a futex\nprocess fence: a fence\n"
            "cache line size: 64\ndefault policy: a policy\nusable cpus: 5\ndiagnoses misuse: "
            "yes\nmissing here: this, that\n");
}

}  // namespace
