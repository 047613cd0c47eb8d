// SPDX-License-Identifier: MIT
// lockstep/adapters/opencv.hpp -- OpenCV's parallel functions on a team (layer: adapters)
//
//   cv::parallel::setParallelForBackend(std::make_shared<lockstep::adapters::opencv_backend>(team));
//   cv::GaussianBlur(in, out, {9, 9}, 2.0);  // and so on, as without
//
// For OpenCV 4.5.2 and later. Set it before other threads use OpenCV, as OpenCV asks.
//
//   OPENCV-1  The stripes of a cv::parallel_for_ run on the members of the team: the caller and those that are awake or
//         worth waking, cv::getNumThreads() of them at most. cv::setNumThreads(n) sets that number, up to team.size().
//         A negative n sets the number of CPUs that OpenCV counts. With 0 or 1 OpenCV runs all on the caller.
//   OPENCV-2  cv::getThreadNum() in a stripe is below cv::getNumThreads(), and differs between threads that run stripes
//         of the same loop. Outside of stripes it is 0.
//   OPENCV-3  OpenCV runs one loop in parallel at a time. Loops that begin meanwhile, nested or on other threads, run
//         on their callers alone. In a region of the team, the parallel one also runs on its caller alone.
//   OPENCV-4  cv::parallel_for_ throws what a stripe throws, by OpenCV's rules.
//
// Order  what happens before cv::parallel_for_() happens before every stripe, and every stripe before its return.
// Errors a request_stop() of the team leaves stripes out, without a message to OpenCV.
// Cost   a loop of a team for each parallel loop; a look at a thread_local for each range of stripes.
//
// Memory order
//   #  access           order    pairs  why it suffices
//   1  loops.fetch_add  relaxed  -      hands out numbers, nothing else
//   2  ranks.fetch_add  relaxed  -      the same
#ifndef LOCKSTEP_ADAPTERS_OPENCV_HPP
#define LOCKSTEP_ADAPTERS_OPENCV_HPP

#include <cstdint>

#ifdef __has_include
#if !__has_include(<opencv2/core/parallel/parallel_backend.hpp>)
#error \
    "lockstep: <lockstep/adapters/opencv.hpp> needs OpenCV's <opencv2/core/parallel/parallel_backend.hpp>, which is not found: it comes with OpenCV 4.5.2 and later; add its directory (-I/usr/include/opencv4), or CMake's OpenCV_INCLUDE_DIRS"
#endif
#endif
#include <opencv2/core/parallel/parallel_backend.hpp>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/team.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace adapters {

/// Gives OpenCV the threads of a team. The team outlives it.
class opencv_backend final : public cv::parallel::ParallelForAPI {
 public:
  explicit opencv_backend(team& of) noexcept
      : team_(of), all_(static_cast<int>(of.size())), most_(all_) {}

  void parallel_for(int count, FN_parallel_for_body_cb_t stripes, void* data) override {
    const std::uint64_t loop = 1 + loops().fetch_add(1, detail::memory_order_relaxed);  // 1
    detail::atomic<int> ranks(0);
    const auto run = [&, stripes, data](int first, int last) {
      place& here = current();
      if (here.loop != loop) {
        here.rank = ranks.fetch_add(1, detail::memory_order_relaxed);  // 2
        here.loop = loop;
      }
      const inside a_stripe(here);
      stripes(first, last, data);
    };
    const int least = most_ < all_ ? (count + most_ - 1) / most_ : 1;
    team_.for_range(0, count, run, grain(static_cast<std::size_t>(least < 1 ? 1 : least)));
  }

  int getThreadNum() const override { return current().depth > 0 ? current().rank : 0; }
  int getNumThreads() const override { return most_; }
  int setNumThreads(int count) override {
    const int before = most_;
    most_ = count < 0 || count > all_ ? all_ : count == 0 ? 1 : count;
    return before;
  }
  const char* getName() const override { return "lockstep"; }

 private:
  /// The loop whose stripes the thread ran last, and the thread's number in that loop.
  struct place {
    std::uint64_t loop;
    int rank;
    int depth;  ///< 0: it runs none now
  };
  struct inside {
    explicit inside(place& of) noexcept : here(of) { ++here.depth; }
    ~inside() { --here.depth; }
    inside(const inside&) = delete;
    inside& operator=(const inside&) = delete;
    place& here;
  };

  static place& current() noexcept {
    static thread_local place here = {0, 0, 0};
    return here;
  }
  static detail::atomic<std::uint64_t>& loops() noexcept {
    static detail::atomic<std::uint64_t> count(0);
    return count;
  }

  team& team_;
  const int all_;
  int most_;
};

}  // namespace adapters
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_ADAPTERS_OPENCV_HPP
