// SPDX-License-Identifier: MIT
// tests/platform/atomic_test.cpp -- without a seam the names *are* the standard ones
#include <lockstep/detail/platform/atomic.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace {

namespace detail = lockstep::detail;

static_assert(std::is_same_v<detail::atomic<int>, std::atomic<int>>);
static_assert(std::is_same_v<detail::atomic<void*>, std::atomic<void*>>);
static_assert(std::is_same_v<detail::wait_word, std::atomic<std::uint32_t>>);
static_assert(sizeof(detail::wait_word) == 4 && alignof(detail::wait_word) == 4);
static_assert(detail::wait_word::is_always_lock_free);
static_assert(detail::memory_order_relaxed == std::memory_order_relaxed);
static_assert(detail::memory_order_acquire == std::memory_order_acquire);
static_assert(detail::memory_order_release == std::memory_order_release);
static_assert(detail::memory_order_acq_rel == std::memory_order_acq_rel);
static_assert(detail::memory_order_seq_cst == std::memory_order_seq_cst);

// What a futex compares is the value itself, with nothing around it.
TEST(atomic, a_wait_word_is_its_value_in_memory) {
  const detail::wait_word word{0x12345678u};
  EXPECT_EQ(*reinterpret_cast<const volatile std::uint32_t*>(&word), 0x12345678u);
}

}  // namespace
