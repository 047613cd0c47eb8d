// SPDX-License-Identifier: MIT
#include "stress/crew.hpp"

#include <exception>

#include <lockstep/detail/platform/atomic.hpp>

namespace lockstep::stress {

using namespace detail;

crew::crew(std::size_t size) : actors_(size), errors_(size) {
  threads_.reserve(size);
  for (std::size_t rank = 0; rank < size; ++rank) {
    threads_.emplace_back([this, rank] { work(rank); });
  }
}

crew::~crew() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
  }
  started_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void crew::run(std::size_t count, std::uint64_t seed, const actor_body& body) {
  std::unique_lock<std::mutex> lock(mutex_);
  for (std::size_t rank = 0; rank < size(); ++rank) actors_[rank].value.begin(rank, seed);
  body_ = &body;
  seed_ = seed;
  count_ = busy_ = count;
  ++run_;
  started_.notify_all();
  ended_.wait(lock, [this] { return busy_ == 0; });
  body_ = nullptr;
}

void crew::work(std::size_t rank) {
  std::unique_lock<std::mutex> lock(mutex_);
  for (std::uint64_t seen = 0;;) {
    started_.wait(lock, [&] { return stopped_ || run_ != seen; });
    if (stopped_) return;
    seen = run_;
    if (rank >= count_) continue;
    const actor_body& body = *body_;
    const std::uint64_t seed = seed_;
    lock.unlock();
    call(body, actors_[rank].value, seed);
    lock.lock();
    if (--busy_ == 0) ended_.notify_all();
  }
}

void crew::call(const actor_body& body, actor& self, std::uint64_t seed) {
#if defined(LOCKSTEP_ATOMIC_SEAM)
  test::seeded_draws::seed_this_thread(mix(seed, ~self.rank()));
#else
  (void)seed;
#endif
  try {
    body(self);
  } catch (const std::exception& error) {
    errors_[self.rank()] = std::string("an exception left the thread: ") + error.what();
    self.require(false, errors_[self.rank()].c_str());
  }
}

}  // namespace lockstep::stress
