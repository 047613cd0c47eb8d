// SPDX-License-Identifier: MIT
// src/platform/intrusive_list.hpp -- a list through nodes that belong to others (layer: platform)
//
// The objects that are listed derive from the nodes: the list allocates nothing and owns nothing. Two null pointers are
// an empty list, so lists in static storage need no initialisation. The list does not lock: its user has a lock for it.
//
//   LIST-1  A node is in one list at most. It must not move in memory while it is in a list.
//   LIST-2  A node that is in no list has two null links, as the only node of a list has.
//
// Cost   each operation touches at most three nodes and the list.
#ifndef LOCKSTEP_SRC_PLATFORM_INTRUSIVE_LIST_HPP
#define LOCKSTEP_SRC_PLATFORM_INTRUSIVE_LIST_HPP

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

template <class Node>
class intrusive_list;

/// The base of `Node`, for intrusive_list<Node>.
template <class Node>
class list_node {
 public:
  constexpr list_node() noexcept = default;
  list_node(const list_node&) = delete;
  list_node& operator=(const list_node&) = delete;

  /// The neighbours in the list, or null.
  Node* next() const noexcept { return next_; }
  Node* previous() const noexcept { return previous_; }

 private:
  friend class intrusive_list<Node>;
  Node* next_ = nullptr;
  Node* previous_ = nullptr;
};

/// `Node` may be incomplete where the list is declared.
template <class Node>
class intrusive_list {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  Node* first() const noexcept { return first_; }
  Node* last() const noexcept { return last_; }

  /// Both require: `node` is in no list.
  void push_front(Node& node) noexcept {
    links(node).next_ = first_;
    (first_ != nullptr ? links(*first_).previous_ : last_) = &node;
    first_ = &node;
  }
  void push_back(Node& node) noexcept {
    links(node).previous_ = last_;
    (last_ != nullptr ? links(*last_).next_ : first_) = &node;
    last_ = &node;
  }

  /// Requires: `node` is in this list.
  void remove(Node& node) noexcept {
    list_node<Node>& self = links(node);
    (self.previous_ != nullptr ? links(*self.previous_).next_ : first_) = self.next_;
    (self.next_ != nullptr ? links(*self.next_).previous_ : last_) = self.previous_;
    self.next_ = self.previous_ = nullptr;
  }
  /// Removes a node whose list is gone, while its neighbours are still linked to it.
  static void remove_from_the_rest(Node& node) noexcept {
    list_node<Node>& self = links(node);
    if (self.previous_ != nullptr) links(*self.previous_).next_ = self.next_;
    if (self.next_ != nullptr) links(*self.next_).previous_ = self.previous_;
    self.next_ = self.previous_ = nullptr;
  }
  /// Takes the first node out; null if there is none.
  Node* pop_front() noexcept {
    Node* const node = first_;
    if (node != nullptr) remove(*node);
    return node;
  }

 private:
  static list_node<Node>& links(Node& node) noexcept { return node; }

  Node* first_ = nullptr;
  Node* last_ = nullptr;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_INTRUSIVE_LIST_HPP
