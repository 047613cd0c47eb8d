// SPDX-License-Identifier: MIT
// src/toolbox/future_set.cpp -- how many have contributed, and the first error (layer: toolbox)
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access              order    pairs  why it suffices
//   1  tickets.fetch_add   relaxed  -      only gives out different numbers
//   2  failures.fetch_add  relaxed  -      only chooses one; what it writes is published by 3
//   3  arrived.fetch_add   acq_rel  3      the last to arrive sees what all have written; the eventual
//                                          passes that on to the waiters
//   4  store               relaxed  -      reset() requires that no other thread uses the set
#include <lockstep/future_set.hpp>

#include <lockstep/detail/platform/error.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE future_counts::future_counts(std::size_t contributions, wait_policy policy)
    : done_(policy),
      contributions_(contributions),
      tickets_(0),
      arrived_(0),
      failures_(0),
      error_() {}
LOCKSTEP_INLINE future_counts::~future_counts() {
  misuse::destroying(&done_, "lockstep::future_set");
}

LOCKSTEP_INLINE std::size_t future_counts::take_ticket() {
  const std::size_t index = tickets_.fetch_add(1, memory_order_relaxed);  // 1
  if (index < contributions_) return index;
  fail_use(
      "lockstep::future_set: contributed after all %zu contributions were made; call reset() "
      "first, or make it for more",
      contributions_);
}

LOCKSTEP_INLINE void future_counts::note(std::exception_ptr error) noexcept {
  if (error == nullptr) return;
  const std::size_t before = failures_.fetch_add(1, memory_order_relaxed);  // 2
  if (before == 0) error_ = std::move(error);
}

LOCKSTEP_INLINE bool future_counts::is_last() noexcept {
  sync_point();
  // Read first: an arrival that is not the last must not touch the set any more (FUTURES-3).
  const std::size_t last = contributions_ - 1;
  return arrived_.fetch_add(1, memory_order_acq_rel) == last;  // 3
}

LOCKSTEP_INLINE void future_counts::end() {
  if (error_ == nullptr) {
    done_.set_value();
  } else {
    done_.set_exception(std::move(error_));
  }
}

LOCKSTEP_INLINE void future_counts::reset_counts() noexcept {
  done_.reset();
  error_ = std::exception_ptr();
  tickets_.store(0, memory_order_relaxed);   // 4
  arrived_.store(0, memory_order_relaxed);   // 4
  failures_.store(0, memory_order_relaxed);  // 4
}

LOCKSTEP_INLINE std::exception_ptr future_counts::checked(std::exception_ptr error) {
  if (error == nullptr) {
    fail_argument(
        "lockstep::future_set: contribute_exception without an exception; give it one, as "
        "std::current_exception()");
  }
  return error;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
