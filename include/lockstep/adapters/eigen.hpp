// SPDX-License-Identifier: MIT
// lockstep/adapters/eigen.hpp -- threads for Eigen's tensors (layer: adapters)
//
//   lockstep::adapters::eigen_pool pool(2);
//   Eigen::ThreadPoolDevice device(&pool, pool.NumThreads());
//   c.device(device) = a.contract(b, pairs);  // and so on, as with Eigen::ThreadPool
//
// Eigen hands out closures and waits for them itself. So the pool is no team, because regions of a team wait for their
// members. It has threads of its own. They wait for closures by lockstep's policy, and sleep when there are none.
//
//   EIGEN-1  Closures from outside run in the order in which they came; those that the pool's threads schedule run
//            before them, the last one first.
//   EIGEN-2  A closure must not wait for another one of the same pool, for instance by an operation on a device of the
//            pool. If all threads do, all wait for ever, as in Eigen::ThreadPool. A closure may schedule what comes
//            next. Members of a team, and other threads, may use the pool at once.
//   EIGEN-3  Cancel() drops the closures that wait, and those that come later. Closures that run go on. A thread that
//            waits for a dropped closure waits for ever, as with Eigen::ThreadPool.
//   EIGEN-4  The destructor waits until all closures have run, unless they were cancelled. No thread outside the pool
//            may schedule any more.
//   EIGEN-5  A closure that throws ends the program, as in Eigen::ThreadPool.
//
// Order  what happens before Schedule() happens before the closure.
// Errors fewer threads than 1 count as 1. A thread that cannot start: std::system_error, when the others have ended.
// Cost   Schedule(): a lock, a push to a queue, and a wake-up where a thread of the pool sleeps.
#ifndef LOCKSTEP_ADAPTERS_EIGEN_HPP
#define LOCKSTEP_ADAPTERS_EIGEN_HPP

#include <deque>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#ifdef __has_include
#if !__has_include(<unsupported/Eigen/CXX11/ThreadPool>)
#error \
    "lockstep: <lockstep/adapters/eigen.hpp> needs Eigen's <unsupported/Eigen/CXX11/ThreadPool>, which is not found: add Eigen's directory (-I/usr/include/eigen3), or link CMake's target Eigen3::Eigen"
#endif
#endif
#include <unsupported/Eigen/CXX11/ThreadPool>

#include <lockstep/condition_variable.hpp>
#include <lockstep/mutex.hpp>
#include <lockstep/thread.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace adapters {

/// Eigen's thread pool.
class eigen_pool final : public Eigen::ThreadPoolInterface {
 public:
  explicit eigen_pool(int count, wait_policy policy = wait_policy())
      : count_(count < 1 ? 1 : count), changed_(policy), threads_(*this) {
    for (int i = 0; i < count_; ++i) threads_.all.emplace_back([this, i] { work(i); });
  }
  ~eigen_pool() override = default;
  eigen_pool(const eigen_pool&) = delete;
  eigen_pool& operator=(const eigen_pool&) = delete;

  void Schedule(std::function<void()> closure) override {
    {
      const std::lock_guard<mutex> held(lock_);
      if (is_cancelled_) return;
      if (current().pool == this) {
        closures_.push_front(std::move(closure));
      } else {
        closures_.push_back(std::move(closure));
      }
    }
    changed_.notify_one();
  }
  void ScheduleWithHint(std::function<void()> closure, int, int) override {
    Schedule(std::move(closure));
  }
  void Cancel() override { end(true); }
  int NumThreads() const override { return count_; }
  int CurrentThreadId() const override { return current().pool == this ? current().id : -1; }

 private:
  struct worker {
    const eigen_pool* pool;
    int id;
  };
  /// Ends the threads, also if one of them cannot be started.
  struct threads {
    explicit threads(eigen_pool& pool) : of(pool) {}
    ~threads() { of.end(false); }
    eigen_pool& of;
    std::vector<joinable_thread> all;
  };

  static worker& current() noexcept {
    static thread_local worker here = {nullptr, -1};
    return here;
  }

  void end(bool drops) {
    std::deque<std::function<void()>> dropped;  // destroyed without the lock, too
    {
      const std::lock_guard<mutex> held(lock_);
      is_ended_ = true;
      is_cancelled_ = is_cancelled_ || drops;
      if (drops) closures_.swap(dropped);
    }
    changed_.notify_all();
  }

  void work(int id) noexcept {
    current() = worker{this, id};
    std::unique_lock<mutex> held(lock_);
    while (true) {
      changed_.wait(held, [this] { return is_ended_ || !closures_.empty(); });
      if (closures_.empty()) return;
      std::function<void()> closure = std::move(closures_.front());
      closures_.pop_front();
      held.unlock();
      closure();
      closure = nullptr;  // without the lock: what it holds may schedule when it is destroyed
      held.lock();
    }
  }

  const int count_;
  mutex lock_;
  condition_variable changed_;
  std::deque<std::function<void()>> closures_;
  bool is_ended_ = false, is_cancelled_ = false;
  threads threads_;  // the last member: its threads use the others
};

}  // namespace adapters
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_ADAPTERS_EIGEN_HPP
