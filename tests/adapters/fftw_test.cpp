// SPDX-License-Identifier: MIT
// [fftw]
#include <lockstep/adapters/fftw.hpp>

// [/fftw]
#include <array>
#include <complex>
#include <cstddef>
#include <random>
#include <thread>
#include <vector>

#include <fftw3.h>
#include <gtest/gtest.h>

#include <lockstep/external_team.hpp>
#include <lockstep/member.hpp>

namespace {

using values = std::vector<std::complex<double>>;

constexpr int rows = 64, columns = 96;

values some_values(unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> any(-1, 1);
  values made(std::size_t{rows} * columns);
  for (auto& each : made) each = {any(random), any(random)};
  return made;
}

fftw_complex* raw(values& of) { return reinterpret_cast<fftw_complex*>(of.data()); }

/// A plan that is made once and run on any data.
struct plan {
  explicit plan(int threads) {
    values in = some_values(1), out = in;
    fftw_plan_with_nthreads(threads);
    of = fftw_plan_dft_2d(rows, columns, raw(in), raw(out), FFTW_FORWARD,
                          FFTW_ESTIMATE | FFTW_UNALIGNED);
  }
  ~plan() { fftw_destroy_plan(of); }
  plan(const plan&) = delete;
  plan& operator=(const plan&) = delete;

  values run(unsigned seed) const {
    values in = some_values(seed), out(in.size());
    fftw_execute_dft(of, raw(in), raw(out));
    return out;
  }
  fftw_plan of;
};

/// The callback of the library, counted.
struct counted_team {
  lockstep::team& of;
  int loops = 0;
};
void counted_loop(void* (*work)(char*), char* jobs, std::size_t size, int count, void* data) {
  auto& to = *static_cast<counted_team*>(data);
  ++to.loops;
  lockstep::adapters::fftw_loop<lockstep::team>(work, jobs, size, count, &to.of);
}

struct adapters_fftw : testing::Test {
  void SetUp() override { fftw_init_threads(); }
  void TearDown() override { fftw_threads_set_callback(nullptr, nullptr); }

  void use(lockstep::team& team) {
    fftw_threads_set_callback(lockstep::adapters::fftw_loop<lockstep::team>, &team);
  }
  static values serial(unsigned seed) { return plan(1).run(seed); }
  static void expect_near(const values& found, const values& wanted) {
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_LT(std::abs(found[i] - wanted[i]), 1e-10) << i;
    }
  }
};

TEST_F(adapters_fftw, transforms_equal_serial_ones_for_any_number_of_members) {
  const values wanted = serial(7);
  for (const std::size_t members : {1u, 2u, 8u}) {
    lockstep::team team(members);
    counted_team counted{team};
    fftw_threads_set_callback(counted_loop, &counted);
    const plan parallel(static_cast<int>(members));
    expect_near(parallel.run(7), wanted);
    if (members > 1) {
      EXPECT_GT(counted.loops, 0) << "FFTW did not call the team";
    }
  }
}

TEST_F(adapters_fftw, plans_as_the_page_does) {
  lockstep::team team(2);
  values x = some_values(7), y = x;
  fftw_complex *in = raw(x), *out = raw(y);
  // [fftw]
  fftw_init_threads();
  fftw_threads_set_callback(lockstep::adapters::fftw_loop<lockstep::team>, &team);
  fftw_plan_with_nthreads(static_cast<int>(team.size()));
  fftw_plan fft = fftw_plan_dft_2d(rows, columns, in, out, FFTW_FORWARD, FFTW_ESTIMATE);
  fftw_execute(fft);  // as without
  // [/fftw]
  fftw_destroy_plan(fft);
  expect_near(y, serial(7));
}

TEST_F(adapters_fftw, runs_each_job_once_where_there_are_more_than_members) {
  lockstep::team team(2);
  struct job {
    int runs;
    char rest[20];
  };
  std::array<job, 37> jobs{};
  const auto work = [](char* at) -> void* {
    ++reinterpret_cast<job*>(at)->runs;
    return nullptr;
  };
  lockstep::adapters::fftw_loop<lockstep::team>(work, reinterpret_cast<char*>(jobs.data()),
                                                sizeof(job), static_cast<int>(jobs.size()), &team);
  for (const job& each : jobs) EXPECT_EQ(each.runs, 1);
}

TEST_F(adapters_fftw, members_of_a_region_transform_at_once) {
  lockstep::team team(4);
  use(team);
  const plan parallel(4);
  std::vector<values> found(4);
  team.run([&](lockstep::member& me) {
    found[me.rank()] = parallel.run(static_cast<unsigned>(me.rank()));
  });
  for (unsigned rank = 0; rank < 4; ++rank) expect_near(found[rank], serial(rank));
}

TEST_F(adapters_fftw, two_threads_transform_at_once) {
  lockstep::team team(2);
  use(team);
  const plan parallel(2);
  const values wanted[] = {serial(0), serial(1)};
  const auto transform = [&](unsigned seed) {
    for (int i = 0; i < 50; ++i) expect_near(parallel.run(seed), wanted[seed]);
  };
  std::thread other(transform, 1);
  transform(0);
  other.join();
}

TEST_F(adapters_fftw, a_team_of_the_users_threads_transforms) {
  lockstep::external_team team(2);
  std::thread mine([&] { team.serve(1); });
  fftw_threads_set_callback(lockstep::adapters::fftw_loop<lockstep::external_team>, &team);
  expect_near(plan(2).run(3), serial(3));
  team.release();
  mine.join();
}

}  // namespace
