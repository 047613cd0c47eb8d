// SPDX-License-Identifier: MIT
// src/toolbox/thread.cpp -- how a thread is joined (layer: toolbox)
#include <lockstep/thread.hpp>

#include <system_error>

#include <lockstep/detail/platform/error.hpp>

#include "../wait/wait_engine.hpp"

#if LOCKSTEP_HAS_STANDARD_THREADS

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct no_thread : std::system_error {
  explicit no_thread(const char* message)
      : std::system_error(std::make_error_code(std::errc::invalid_argument), message) {}
};
struct own_thread : std::system_error {
  explicit own_thread(const char* message)
      : std::system_error(std::make_error_code(std::errc::resource_deadlock_would_occur), message) {
  }
};

}  // namespace detail

struct joinable_thread::is_done {
  const joinable_thread* owner;

  bool operator()(std::uint32_t word) const noexcept {
    return (word & detail::thread_is_done) != 0;
  }
  void describe(detail::wait_subject& to) const noexcept {
    to.kind = detail::wait_kind::joinable_thread;
    to.object = owner;
  }
};

LOCKSTEP_INLINE wait_status joinable_thread::join_until(deadline until, call_site where) {
  if (!joinable()) {
    detail::fail<detail::no_thread>(
        "lockstep::joinable_thread: join without a thread; ask joinable() first");
  }
  if (get_id() == std::this_thread::get_id()) {
    detail::fail<detail::own_thread>(
        "lockstep::joinable_thread: a thread joins itself, and would wait for ever; another one "
        "joins it");
  }
  if (!detail::wait_until_word(block_->word, is_done{this}, block_, block_->policy,
                               until.nanoseconds(), where, detail::waitable::single_yield_time)) {
    return wait_status::timed_out;
  }
  block_->thread.join();
  delete block_;
  block_ = nullptr;
  return wait_status::ready;
}

LOCKSTEP_INLINE void joinable_thread::end() {
  if (joinable()) join(call_site::none());
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif
