// SPDX-License-Identifier: MIT
// tests/platform/intrusive_list_test.cpp -- the order of the nodes, whatever is added and taken out
#include "platform/intrusive_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <random>
#include <type_traits>

namespace {

using lockstep::detail::intrusive_list;
using lockstep::detail::list_node;

struct node;
constinit intrusive_list<node> static_list;  // of a type that is not complete yet

struct node : list_node<node> {};

static_assert(std::is_trivially_destructible_v<intrusive_list<node>>);
static_assert(sizeof(intrusive_list<node>) == 2 * sizeof(void*));
static_assert(!std::is_copy_constructible_v<node>);

/// What the list holds, read in both directions.
std::deque<node*> nodes_of(const intrusive_list<node>& list) {
  std::deque<node*> forward, backward;
  for (node* each = list.first(); each != nullptr; each = each->next()) forward.push_back(each);
  for (node* each = list.last(); each != nullptr; each = each->previous()) {
    backward.push_front(each);
  }
  EXPECT_EQ(forward, backward);
  return forward;
}

TEST(intrusive_list, a_static_one_is_empty_without_initialisation) {
  EXPECT_TRUE(static_list.empty());
  EXPECT_EQ(static_list.pop_front(), nullptr);
}

TEST(intrusive_list, LIST1_keeps_the_order_whatever_is_added_and_taken_out) {
  std::mt19937 random(7);
  std::deque<node> nodes(40);
  std::deque<node*> free, expected;
  for (node& each : nodes) free.push_back(&each);
  intrusive_list<node> list;
  for (int step = 0; step < 20000; ++step) {
    const std::size_t what = random() % 4;
    if (what < 2 && !free.empty()) {
      node& next = *free.front();
      free.pop_front();
      what == 0 ? list.push_front(next) : list.push_back(next);
      what == 0 ? expected.push_front(&next) : expected.push_back(&next);
    } else if (what == 2 && !expected.empty()) {
      const auto victim = expected.begin() + static_cast<long>(random() % expected.size());
      list.remove(**victim);
      free.push_back(*victim);
      expected.erase(victim);
    } else if (what == 3) {
      node* const first = list.pop_front();
      ASSERT_EQ(first, expected.empty() ? nullptr : expected.front());
      if (first == nullptr) continue;
      free.push_back(first);
      expected.pop_front();
    }
    ASSERT_EQ(nodes_of(list), expected);
    EXPECT_EQ(list.empty(), expected.empty());
  }
}

TEST(intrusive_list, LIST2_a_node_that_was_taken_out_has_no_neighbours) {
  std::deque<node> nodes(3);
  intrusive_list<node> list;
  for (node& each : nodes) list.push_back(each);
  list.remove(nodes[1]);
  EXPECT_EQ(nodes[1].next(), nullptr);
  EXPECT_EQ(nodes[1].previous(), nullptr);
  EXPECT_EQ(nodes[0].next(), &nodes[2]);
  EXPECT_EQ(nodes[2].previous(), &nodes[0]);
}

TEST(intrusive_list, the_rest_of_a_list_can_lose_every_node) {
  std::deque<node> nodes(4);
  intrusive_list<node> list;
  for (node& each : nodes) list.push_back(each);
  intrusive_list<node>::remove_from_the_rest(nodes[3]);
  intrusive_list<node>::remove_from_the_rest(nodes[1]);
  EXPECT_EQ(nodes[0].next(), &nodes[2]);
  EXPECT_EQ(nodes[2].previous(), &nodes[0]);
  EXPECT_EQ(nodes[2].next(), nullptr);
  EXPECT_EQ(nodes[3].previous(), nullptr);
  intrusive_list<node>::remove_from_the_rest(nodes[0]);
  EXPECT_EQ(nodes[0].next(), nullptr);
  EXPECT_EQ(nodes[2].previous(), nullptr);
}

}  // namespace
