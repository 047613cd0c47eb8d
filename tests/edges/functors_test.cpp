// SPDX-License-Identifier: MIT
// tests/edges/functors_test.cpp -- what users pass as functions: the same object and overload on every member
#include <lockstep/lockstep.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using lockstep::member;
using lockstep::team;
using lockstep::detail::job;
using lockstep::detail::may_be_copied;

/// Small and not copyable; counts its calls in itself.
struct counting {
  mutable std::atomic<int> calls{0};
  void operator()(member&) const { ++calls; }
  void operator()(std::size_t) const { ++calls; }
  void operator()(std::size_t, std::size_t) const { ++calls; }
};

/// Trivially copyable, but it counts in itself, by rank: what a copy counts is lost.
struct counting_by_rank {
  mutable std::array<unsigned char, 4> calls{};
  void operator()(member& me) const { ++calls[me.rank()]; }
};
struct marking {
  mutable std::array<unsigned char, 16> marks{};
  void operator()(std::size_t i) const { ++marks[i]; }
};
struct marking_by_reference {
  std::vector<int>& unused;
  mutable std::array<unsigned char, 8> marks;
  void operator()(std::size_t i) const { ++marks[i]; }
};

/// Says which overload was called.
struct two_faced {
  std::atomic<int>* constant;
  std::atomic<int>* changing;
  void operator()(member&) const { ++*constant; }
  void operator()(member&) { ++*changing; }
  void operator()(std::size_t) const { ++*constant; }
  void operator()(std::size_t) { ++*changing; }
};

template <class F>
constexpr bool travels(const F&) {
  return job::travels_as<F>();
}

class functors_of : public testing::TestWithParam<std::size_t> {
 protected:
  team workers{GetParam()};
  int members() const { return static_cast<int>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(members, functors_of, testing::Values(1, 2, 4));

TEST_P(functors_of, a_functor_that_cannot_be_copied_is_called_where_it_is) {
  counting f;
  EXPECT_TRUE(workers.run(f));
  EXPECT_EQ(f.calls.load(), members());
  EXPECT_TRUE(workers.for_each(std::size_t{0}, std::size_t{16}, f));
  EXPECT_EQ(f.calls.load(), members() + 16);
  EXPECT_TRUE(workers.for_each(std::size_t{0}, std::size_t{16}, f, lockstep::dynamic_schedule()));
  EXPECT_TRUE(workers.for_each(lockstep::index_range_2{{0, 4}, {0, 4}}, f));
  EXPECT_EQ(f.calls.load(), members() + 48);
  const counting constant;
  EXPECT_TRUE(workers.run(constant));
  EXPECT_EQ(constant.calls.load(), members());
  EXPECT_TRUE(workers.run(counting()));
}

TEST_P(functors_of, what_a_functor_counts_in_itself_is_not_lost) {
  const counting_by_rank f;
  EXPECT_TRUE(workers.run(f));
  for (std::size_t rank = 0; rank < 4; ++rank) EXPECT_EQ(f.calls[rank], rank < workers.size());
  marking m;
  EXPECT_TRUE(workers.for_each(std::size_t{0}, std::size_t{16}, m));
  for (const unsigned char each : m.marks) EXPECT_EQ(each, 1);
  std::vector<int> unused;
  const marking_by_reference r{unused, {}};
  EXPECT_TRUE(workers.for_each(std::size_t{0}, std::size_t{8}, r));
  for (const unsigned char each : r.marks) EXPECT_EQ(each, 1);
}

TEST_P(functors_of, all_members_call_the_overload_of_the_users_expression) {
  std::atomic<int> constant{0}, changing{0};
  two_faced f{&constant, &changing};
  EXPECT_TRUE(workers.run(f));
  EXPECT_TRUE(workers.for_each(std::size_t{0}, std::size_t{100}, f));
  EXPECT_TRUE(workers.run([&](member& me) { me.for_each(std::size_t{0}, std::size_t{100}, f); }));
  EXPECT_EQ(constant.load(), 0);
  EXPECT_EQ(changing.exchange(0), members() + 200);
  const two_faced& g = f;
  EXPECT_TRUE(workers.run(g));
  EXPECT_TRUE(workers.for_each(std::size_t{0}, std::size_t{100}, g));
  EXPECT_TRUE(workers.for_each(std::size_t{0}, std::size_t{100}, std::as_const(f),
                               lockstep::dynamic_schedule(7)));
  EXPECT_EQ(changing.load(), 0);
  EXPECT_EQ(constant.exchange(0), members() + 200);
  EXPECT_TRUE(workers.run(two_faced{&constant, &changing}));
  EXPECT_EQ(constant.load(), 0);
  EXPECT_EQ(changing.load(), members());
}

std::atomic<int> calls_of_plain{0};
void plain(member&) { ++calls_of_plain; }
void plain_index(std::size_t) { ++calls_of_plain; }

struct object {
  std::atomic<int> calls{0};
  void with_index(std::size_t) { ++calls; }
};

TEST_P(functors_of, functions_pointers_wrappers_and_temporaries_are_called_on_every_member) {
  calls_of_plain = 0;
  EXPECT_TRUE(workers.run(plain));
  EXPECT_TRUE(workers.run(&plain));
  void (&reference)(member&) = plain;
  EXPECT_TRUE(workers.run(reference));
  void (*const pointer)(std::size_t) = plain_index;
  EXPECT_TRUE(workers.for_each(0, 10, pointer));
  EXPECT_TRUE(workers.for_each(0, 10, plain_index));
  EXPECT_TRUE(workers.run(std::function<void(member&)>(plain)));
  const std::function<void(std::size_t)> held(plain_index);
  EXPECT_TRUE(workers.for_each(0, 10, held));
  counting f;
  EXPECT_TRUE(workers.run(std::ref(f)));
  EXPECT_TRUE(workers.run(std::cref(f)));
  EXPECT_EQ(f.calls.load(), 2 * members());
  EXPECT_EQ(calls_of_plain.load(), 4 * members() + 30);
  object o;
  using std::placeholders::_1;
  EXPECT_TRUE(workers.for_each(0, 10, std::bind(&object::with_index, &o, _1)));
  EXPECT_EQ(o.calls.load(), 10);
}

TEST_P(functors_of, a_functor_that_owns_something_lives_until_the_last_call_has_returned) {
  auto alive = std::make_shared<std::atomic<int>>(0);
  EXPECT_TRUE(workers.run([alive](member&) { ++*alive; }));
  EXPECT_TRUE(
      workers.run([owner = std::make_unique<int>(1), &alive](member&) { *alive += *owner; }));
  EXPECT_EQ(alive->load(), 2 * members());
  EXPECT_EQ(alive.use_count(), 1);
}

TEST_P(functors_of, a_mutable_closure_is_one_object_for_all) {
  std::array<int, 4> found{};
  auto f = [calls = std::array<int, 4>{}, &found](member& me) mutable {
    found[me.rank()] = ++calls[me.rank()];
  };
  EXPECT_TRUE(workers.run(f));
  EXPECT_TRUE(workers.run(f));
  for (std::size_t rank = 0; rank < 4; ++rank)
    EXPECT_EQ(found[rank], rank < workers.size() ? 2 : 0);
}

TEST(functors, closures_that_nobody_can_tell_from_a_copy_travel_and_nothing_else_does) {
  int a = 1;
  std::size_t n = 2;
  std::vector<int> v;
  auto by_reference = [&](member&) { a += static_cast<int>(v.size() + n); };
  auto by_value = [a, n](member&) { static_cast<void>(a + static_cast<int>(n)); };
  auto generic = [&](auto& me) { a += static_cast<int>(me.rank()); };
  auto without = [](member&) {};
  auto changing = [a](member&) mutable { ++a; };
  auto owning = [v](member&) { static_cast<void>(v.size()); };
  EXPECT_TRUE(travels(by_reference) && travels(by_value) && travels(generic) && travels(without));
  EXPECT_FALSE(travels(changing) || travels(owning));
  EXPECT_FALSE(job::travels_as<counting>() || job::travels_as<counting_by_rank>());
  EXPECT_FALSE(job::travels_as<two_faced>() || job::travels_as<void (*)(member&)>());
  EXPECT_FALSE(job::travels_as<std::reference_wrapper<counting>>());
  EXPECT_FALSE(may_be_copied<marking>::value || may_be_copied<marking_by_reference>::value);
  auto in_loop = [&](int i) { a += i; };
  using lockstep::detail::held_function;
  EXPECT_FALSE((std::is_reference<held_function<decltype(in_loop), int&>>::value));
  EXPECT_TRUE((lockstep::detail::sized_leaf<
               lockstep::detail::leaf_of_each<int, decltype(in_loop)>>::travels()));
  EXPECT_TRUE((std::is_reference<held_function<marking, std::size_t&>>::value));
}

}  // namespace
