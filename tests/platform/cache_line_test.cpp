// SPDX-License-Identifier: MIT
// tests/platform/cache_line_test.cpp -- alignment, ownership of lines, and balance of constructions
//
// Replaces the global operator new, to see how much is asked for and that all of it is given back.
#include <lockstep/detail/platform/cache_line.hpp>

#include <gtest/gtest.h>

#include <any>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <typeinfo>

namespace {

struct allocation {
  std::uintptr_t begin = 0;
  std::size_t size = 0;
};
allocation latest;
long blocks_in_use = 0;

}  // namespace

// Weak, because ThreadSanitizer has its own; not inlined, or GCC 12 sees std::free() meet an operator
// new and warns.
[[gnu::weak, gnu::noinline]] void* operator new(std::size_t size) {
  void* const block = std::malloc(size > 0 ? size : 1);
  if (block == nullptr) throw std::bad_alloc();
  latest = {reinterpret_cast<std::uintptr_t>(block), size};
  ++blocks_in_use;
  return block;
}
[[gnu::weak, gnu::noinline]] void operator delete(void* block) noexcept {
  if (block != nullptr) --blocks_in_use;
  std::free(block);
}
[[gnu::weak]] void operator delete(void* block, std::size_t) noexcept { operator delete(block); }

namespace {

using lockstep::detail::aligned_array;
using lockstep::detail::cache_line_size;
using lockstep::detail::padded;

static_assert((cache_line_size & (cache_line_size - 1)) == 0 && cache_line_size >= 64);
static_assert(sizeof(padded<char>) == cache_line_size);
static_assert(alignof(padded<char>) == cache_line_size);
static_assert(sizeof(padded<std::array<char, cache_line_size>>) == cache_line_size);
static_assert(sizeof(padded<std::array<char, cache_line_size + 1>>) == 2 * cache_line_size);
static_assert(!std::is_copy_constructible_v<aligned_array<int>>);
static_assert(!std::is_copy_assignable_v<aligned_array<int>>);

template <std::size_t Size>
struct bytes {
  unsigned char data[Size];
};
/// False if the allocations of this program are none of our business.
bool sees_allocations() {
  const long before = blocks_in_use;
  void* const block = ::operator new(1);
  const bool seen = blocks_in_use != before;
  ::operator delete(block);
  return seen;
}

struct alignas(4 * cache_line_size) page_like {
  char data[3];
};

template <class T>
class aligned_array_of : public testing::Test {};
using element_types =
    testing::Types<char, bytes<3>, bytes<24>, std::uint64_t, bytes<cache_line_size>,
                   bytes<cache_line_size + 1>, padded<char>, padded<bytes<200>>, page_like>;
TYPED_TEST_SUITE(aligned_array_of, element_types);

constexpr std::size_t sizes[] = {0, 1, 2, 3, 7, 64, 127, 128, 129};

template <class T>
std::uintptr_t address_of(const T* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

TYPED_TEST(aligned_array_of, elements_are_adjacent_each_at_its_alignment) {
  for (const std::size_t size : sizes) {
    aligned_array<TypeParam> array(size);
    ASSERT_EQ(array.size(), size);
    for (std::size_t i = 0; i < size; ++i) {
      ASSERT_EQ(address_of(&array[i]) % alignof(TypeParam), 0u) << i << " of " << size;
      ASSERT_EQ(address_of(&array[i]), address_of(&array[0]) + i * sizeof(TypeParam));
    }
  }
}

TYPED_TEST(aligned_array_of, elements_begin_a_line_and_nothing_foreign_ends_it) {
  if (!sees_allocations()) GTEST_SKIP() << "a sanitizer has replaced operator new";
  for (const std::size_t size : sizes) {
    const aligned_array<TypeParam> array(size);
    if (size == 0) continue;
    const allocation block = latest;
    const std::uintptr_t begin = address_of(&array[0]);
    const std::uintptr_t end = begin + size * sizeof(TypeParam);
    const std::uintptr_t end_of_line = (end + cache_line_size - 1) & ~(cache_line_size - 1);
    EXPECT_EQ(begin % cache_line_size, 0u) << size;
    EXPECT_GE(begin, block.begin) << size;
    EXPECT_LE(end_of_line, block.begin + block.size) << size;
  }
}

TYPED_TEST(aligned_array_of, elements_are_zero_and_may_all_be_written) {
  for (const std::size_t size : sizes) {
    aligned_array<TypeParam> array(size);
    for (std::size_t i = 0; i < size; ++i) {
      unsigned char* const data = reinterpret_cast<unsigned char*>(&array[i]);
      EXPECT_EQ(data[0], 0u);
      for (std::size_t k = 0; k < sizeof(TypeParam); ++k) data[k] = 0xA5;
    }
  }
}

TYPED_TEST(aligned_array_of, memory_is_given_back) {
  if (!sees_allocations()) GTEST_SKIP() << "a sanitizer has replaced operator new";
  for (const std::size_t size : sizes) {
    const long before = blocks_in_use;
    {
      const aligned_array<TypeParam> array(size);
    }
    EXPECT_EQ(blocks_in_use, before) << size;
  }
}

/// Counts those alive; the construction number `throw_at` fails.
struct counted {
  inline static int alive = 0, made = 0, throw_at = -1;
  inline static const counted* last_destroyed = nullptr;
  static void reset(int number_that_fails) {
    alive = made = 0;
    throw_at = number_that_fails;
  }

  counted() {
    if (made == throw_at) throw std::runtime_error("no more");
    ++made;
    ++alive;
  }
  ~counted() {
    --alive;
    last_destroyed = this;
  }
};

TEST(aligned_array, constructs_and_destroys_each_element_once_the_last_one_first) {
  counted::reset(-1);
  {
    const aligned_array<counted> array(9);
    EXPECT_EQ(counted::made, 9);
    EXPECT_EQ(counted::alive, 9);
    counted::last_destroyed = nullptr;
    const counted* const first = &array[0];
    latest.begin = address_of(first);
  }
  EXPECT_EQ(counted::alive, 0);
  EXPECT_EQ(address_of(counted::last_destroyed), latest.begin);
}

TEST(aligned_array, of_no_elements_constructs_none) {
  counted::reset(0);
  {
    const aligned_array<counted> array(0);
  }
  EXPECT_EQ(counted::made, 0);
}

TEST(aligned_array, whose_element_throws_leaks_neither_elements_nor_memory) {
  for (const int failing : {0, 1, 5, 8}) {
    counted::reset(failing);
    const long before = blocks_in_use;  // which a sanitizer may not change at all
    bool thrown = false;
    try {
      const aligned_array<counted> array(9);
    } catch (const std::runtime_error&) {
      thrown = true;
    }
    EXPECT_TRUE(thrown);
    EXPECT_EQ(counted::made, failing);
    EXPECT_EQ(counted::alive, 0) << "elements that were made are destroyed";
    EXPECT_EQ(blocks_in_use, before) << "the memory is given back";
  }
}

TEST(aligned_array, of_more_elements_than_there_are_addresses_throws) {
  if (!sees_allocations()) GTEST_SKIP() << "a sanitizer ends the process instead";
  volatile std::size_t too_many = static_cast<std::size_t>(-1) / 8 + 2;  // times 8 is 8
  EXPECT_THROW(aligned_array<std::uint64_t>{too_many}, std::bad_alloc);
}

TEST(padded, is_copied_by_its_copy_constructor) {
  padded<std::any> first(1);
  padded<std::any> second(first);
  EXPECT_EQ(second.value.type(), typeid(int)) << "not a padded in a padded";
}

TEST(padded, forwards_its_arguments) {
  padded<std::array<int, 2>> from_value(std::array<int, 2>{3, 4});
  EXPECT_EQ(from_value.value[1], 4);
  padded<std::unique_ptr<int>> moved(std::make_unique<int>(7));
  EXPECT_EQ(*moved.value, 7);
  const padded<int> zero;
  EXPECT_EQ(zero.value, 0);
}

TEST(padded, neighbours_in_an_array_share_no_line) {
  padded<char> array[3];
  EXPECT_EQ(address_of(&array[1].value) - address_of(&array[0].value), cache_line_size);
  EXPECT_EQ(address_of(&array[0]) % cache_line_size, 0u);
}

}  // namespace
