// SPDX-License-Identifier: MIT
// What the C interface adds to a call: the same things in C++ and through lockstep.h, in turn; the median of 11 rounds, in
// nanoseconds a call. Two members.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>

#include <lockstep/lockstep.hpp>

#include <lockstep.h>

namespace {

constexpr int rounds = 11, calls = 20000;

template <class Call>
double nanoseconds_of(const Call& call) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) call();
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return took.count() / calls;
}

/// Both in turn, so that what the machine does meets both.
template <class InCpp, class InC>
void compare(const char* what, const InCpp& in_cpp, const InC& in_c) {
  std::array<double, rounds> cpp, c;
  for (int i = 0; i < 2000; ++i) in_cpp(), in_c();
  for (int round = 0; round < rounds; ++round) {
    cpp[round] = nanoseconds_of(in_cpp);
    c[round] = nanoseconds_of(in_c);
  }
  std::sort(cpp.begin(), cpp.end());
  std::sort(c.begin(), c.end());
  std::printf("%-28s C++ %7.1f (%.1f to %.1f)   C %7.1f (%.1f to %.1f)\n", what, cpp[rounds / 2],
              cpp.front(), cpp.back(), c[rounds / 2], c.front(), c.back());
}

int nothing(lockstep_member*, void*) { return 0; }
int short_block(std::int64_t first, std::int64_t last, void* context) {
  double* const x = static_cast<double*>(context);
  for (; first < last; ++first) x[first] += 1;
  return 0;
}
int barriers(lockstep_member* me, void*) {
  for (int i = 0; i < calls; ++i) {
    if (const int code = lockstep_member_sync_threads(me)) return code;
  }
  return 0;
}
int sums(lockstep_member* me, void*) {
  double sum = 0;
  for (int i = 0; i < calls; ++i) {
    if (const int code = lockstep_member_sync_double(me, LOCKSTEP_SUM, 1, &sum)) return code;
  }
  return 0;
}

}  // namespace

int main() {
  lockstep::team team(2);
  lockstep_team_options options = LOCKSTEP_TEAM_OPTIONS_INIT;
  options.members = 2;
  lockstep_team* team_in_c = nullptr;
  if (lockstep_team_create(&options, &team_in_c) != LOCKSTEP_OK) {
    std::fprintf(stderr, "%s\n", lockstep_last_error());
    return 1;
  }
  compare(
      "fork and join", [&] { team.run([](lockstep::member&) {}); },
      [&] { lockstep_team_run(team_in_c, nothing, nullptr); });
  static double x[1000];
  for (int length : {10, 1000}) {
    char name[32];
    std::snprintf(name, sizeof name, "loop of %d", length);
    double* const to = x;
    compare(
        name,
        [&] {
          team.for_range(std::int64_t{0}, std::int64_t{length},
                         [=](std::int64_t first, std::int64_t last) {
                           for (; first < last; ++first) to[first] += 1;
                         });
        },
        [&] { lockstep_team_for_range(team_in_c, 0, length, short_block, x); });
  }
  // Inside one region each; the figure is for one call of `calls`.
  const auto per_call = [](const char* what, double in_cpp, double in_c) {
    std::printf("%-28s C++ %7.1f   C %7.1f\n", what, in_cpp, in_c);
  };
  std::array<double, rounds> cpp_barrier, c_barrier, cpp_sum, c_sum;
  const auto once = [](const auto& run) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    return took.count() / calls;
  };
  for (int round = 0; round < rounds; ++round) {
    cpp_barrier[round] = once([&] {
      team.run([](lockstep::member& me) {
        for (int i = 0; i < calls; ++i) me.sync_threads();
      });
    });
    c_barrier[round] = once([&] { lockstep_team_run(team_in_c, barriers, nullptr); });
    cpp_sum[round] = once([&] {
      team.run([](lockstep::member& me) {
        double sum = 0;
        for (int i = 0; i < calls; ++i) sum += me.sync_sum(1.0);
        if (sum < 0) std::puts("");
      });
    });
    c_sum[round] = once([&] { lockstep_team_run(team_in_c, sums, nullptr); });
  }
  for (auto* each : {&cpp_barrier, &c_barrier, &cpp_sum, &c_sum})
    std::sort(each->begin(), each->end());
  per_call("sync_threads", cpp_barrier[rounds / 2], c_barrier[rounds / 2]);
  per_call("sync_sum", cpp_sum[rounds / 2], c_sum[rounds / 2]);
  return lockstep_team_destroy(team_in_c);
}
