// SPDX-License-Identifier: MIT
// [opencv]
#include <lockstep/adapters/opencv.hpp>

// [/opencv]
#include <atomic>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <opencv2/core.hpp>
#include <opencv2/core/utility.hpp>
#include <opencv2/imgproc.hpp>

#include <lockstep/member.hpp>

namespace {

cv::Mat some_image(int seed) {
  cv::Mat made(480, 640, CV_8UC3);
  cv::RNG(static_cast<std::uint64_t>(seed) + 1).fill(made, cv::RNG::UNIFORM, 0, 256);
  return made;
}

cv::Mat filtered(int seed) {
  cv::Mat smooth, grey, edges;
  cv::GaussianBlur(some_image(seed), smooth, {9, 9}, 2.0);
  cv::cvtColor(smooth, grey, cv::COLOR_BGR2GRAY);
  cv::resize(grey, edges, {}, 1.5, 1.5, cv::INTER_CUBIC);
  return edges;
}

bool are_equal(const cv::Mat& a, const cv::Mat& b) {
  return a.size() == b.size() && a.type() == b.type() && cv::norm(a, b, cv::NORM_INF) == 0;
}

struct adapters_opencv : testing::Test {
  /// OpenCV keeps one backend and gives none back: the last team stays until the next one is set.
  lockstep::team& use(std::size_t members) {
    auto next = std::make_unique<lockstep::team>(members);
    cv::parallel::setParallelForBackend(std::make_shared<lockstep::adapters::opencv_backend>(*next),
                                        false);
    cv::setNumThreads(static_cast<int>(members));
    team() = std::move(next);
    return *team();
  }
  static std::unique_ptr<lockstep::team>& team() {
    static std::unique_ptr<lockstep::team> last;
    return last;
  }
  static cv::Mat serial(int seed) {
    const int before = cv::getNumThreads();
    cv::setNumThreads(0);
    const cv::Mat made = filtered(seed);
    cv::setNumThreads(before);
    return made;
  }
};

TEST_F(adapters_opencv, filters_equal_serial_ones_for_any_number_of_members) {
  const cv::Mat wanted = serial(5);
  for (const std::size_t members : {1u, 2u, 8u}) {
    use(members);
    EXPECT_EQ(cv::getNumThreads(), static_cast<int>(members));
    EXPECT_TRUE(are_equal(filtered(5), wanted)) << members;
  }
}

TEST_F(adapters_opencv, is_set_as_on_the_page) {
  lockstep::team& team = use(2);
  const cv::Mat in = some_image(1);
  cv::Mat out, wanted;
  // [opencv]
  cv::parallel::setParallelForBackend(std::make_shared<lockstep::adapters::opencv_backend>(team));
  cv::GaussianBlur(in, out, {9, 9}, 2.0);  // as without
  // [/opencv]
  cv::setNumThreads(0);
  cv::GaussianBlur(in, wanted, {9, 9}, 2.0);
  EXPECT_TRUE(are_equal(out, wanted));
}

TEST_F(adapters_opencv, runs_each_stripe_once_and_numbers_its_threads) {
  use(8);
  for (const int limit : {8, 3, 2, 1}) {
    cv::setNumThreads(limit);
    EXPECT_EQ(cv::getNumThreads(), limit);
    for (int round = 0; round < 20; ++round) {
      std::vector<std::atomic<int>> runs(1000);
      std::vector<std::set<std::thread::id>> who(static_cast<std::size_t>(limit));
      cv::Mutex lock;
      // The first thread gives a second one time to come, but does not wait for it.
      std::atomic<int> stripes(0), looks(0);
      const auto let_another_come = [&] {
        stripes.fetch_add(1);
        while (stripes.load() < 2 && looks.fetch_add(1) < 20000) std::this_thread::yield();
      };
      cv::parallel_for_({0, 1000}, [&](const cv::Range& part) {
        if (limit > 1) let_another_come();
        const int number = cv::getThreadNum();
        ASSERT_GE(number, 0);
        ASSERT_LT(number, limit);
        for (int i = part.start; i < part.end; ++i) {
          runs[static_cast<std::size_t>(i)].fetch_add(1, std::memory_order_relaxed);
        }
        const cv::AutoLock held(lock);
        who[static_cast<std::size_t>(number)].insert(std::this_thread::get_id());
      });
      for (const auto& each : runs) ASSERT_EQ(each.load(), 1);
      for (const auto& each : who) ASSERT_LE(each.size(), 1u) << "two threads with one number";
    }
    EXPECT_EQ(cv::getThreadNum(), 0);
  }
}

TEST_F(adapters_opencv, no_more_threads_than_members) {
  lockstep::team& team = use(2);
  lockstep::adapters::opencv_backend backend(team);
  EXPECT_EQ(backend.getNumThreads(), 2);
  EXPECT_EQ(backend.setNumThreads(5), 2);
  EXPECT_EQ(backend.getNumThreads(), 2);
  EXPECT_EQ(backend.setNumThreads(1), 2);
  EXPECT_EQ(backend.setNumThreads(-1), 1);
  EXPECT_EQ(backend.getNumThreads(), 2);
}

TEST_F(adapters_opencv, a_loop_in_a_stripe_runs_on_its_thread) {
  use(2);
  std::vector<int> runs(4 * 100, 0);
  cv::parallel_for_({0, 4}, [&](const cv::Range& outer) {
    for (int i = outer.start; i < outer.end; ++i) {
      cv::parallel_for_({0, 100}, [&](const cv::Range& inner) {
        for (int j = inner.start; j < inner.end; ++j) ++runs[static_cast<std::size_t>(i * 100 + j)];
      });
    }
  });
  EXPECT_EQ(runs, std::vector<int>(runs.size(), 1));
}

TEST_F(adapters_opencv, members_of_a_region_filter_at_once) {
  lockstep::team& team = use(4);
  std::vector<cv::Mat> found(4);
  team.run([&](lockstep::member& me) { found[me.rank()] = filtered(static_cast<int>(me.rank())); });
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_TRUE(are_equal(found[static_cast<std::size_t>(rank)], serial(rank))) << rank;
  }
}

TEST_F(adapters_opencv, two_threads_filter_at_once) {
  use(2);
  const cv::Mat wanted[] = {serial(0), serial(1)};
  const auto filter = [&](int seed) {
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(are_equal(filtered(seed), wanted[seed]));
  };
  std::thread other(filter, 1);
  filter(0);
  other.join();
}

TEST_F(adapters_opencv, an_exception_of_a_stripe_reaches_the_caller) {
  use(2);
  const auto throws_at = [](int bad) {
    cv::parallel_for_({0, 100}, [=](const cv::Range& part) {
      if (part.start <= bad && bad < part.end) throw std::runtime_error("bad stripe");
    });
  };
  EXPECT_ANY_THROW(throws_at(60));
  EXPECT_NO_THROW(throws_at(200));
}

}  // namespace
