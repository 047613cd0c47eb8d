// SPDX-License-Identifier: MIT
// lockstep/detail/graph/node_function.hpp -- a node's function of any type, as a pointer and a call (layer: graph)
//
// Owns a copy of the user's function on the heap, at the alignment of its type, and calls it through one pointer. All
// functions get the same arguments: the iteration, and the member that runs it if the node is team-wide.
#ifndef LOCKSTEP_DETAIL_GRAPH_NODE_FUNCTION_HPP
#define LOCKSTEP_DETAIL_GRAPH_NODE_FUNCTION_HPP

#include <cstddef>
#include <type_traits>
#include <utility>

#include <lockstep/detail/base/closures.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
class member;
namespace detail {

/// How a node's function takes its arguments: the first of two forms that compiles. 0 is an int, rather than a long.
struct alone_on_node {
  template <class Function>
  auto operator()(Function& f, std::size_t, member*, int) const -> decltype(f()) {
    return f();
  }
  template <class Function>
  auto operator()(Function& f, std::size_t iteration, member*, long) const
      -> decltype(f(iteration)) {
    return f(iteration);
  }
};
struct together_on_node {
  template <class Function>
  auto operator()(Function& f, std::size_t, member* me, int) const -> decltype(f(*me)) {
    return f(*me);
  }
  template <class Function>
  auto operator()(Function& f, std::size_t iteration, member* me, long) const
      -> decltype(f(*me, iteration)) {
    return f(*me, iteration);
  }
};
template <class Form, class Function>
using is_for_node =
    is_callable<const Form&, typename std::decay<Function>::type&, std::size_t, member*, int>;

class node_function {
 public:
  /// Form: alone_on_node or together_on_node.
  template <class Form, class Function>
  static node_function of(Function&& f) {
    using kept = typename std::decay<Function>::type;
    using result = decltype(Form()(std::declval<kept&>(), 0, nullptr, 0));
    using returns_bool = std::is_same<result, bool>;
    static_assert(returns_bool::value || std::is_void<result>::value,
                  "lockstep::graph::node: the function has to return bool or nothing");
    holder_of<kept>* const made = new holder_of<kept>(std::forward<Function>(f));
    node_function whole;
    whole.owned_.reset(made);
    whole.held_ = &made->function;
    whole.returns_bool_ = returns_bool::value;
    whole.call_ = [](void* held, std::size_t iteration, member* me) -> bool {
      const auto call = [=] { return Form()(*static_cast<kept*>(held), iteration, me, 0); };
      return said(call, returns_bool());
    };
    return whole;
  }

  /// Requires: it holds a function. `me`: of team-wide nodes. True if the function returns nothing: then all nodes that
  /// depend on the node may run.
  bool operator()(std::size_t iteration, member* me) const { return call_(held_, iteration, me); }
  explicit operator bool() const noexcept { return static_cast<bool>(owned_); }
  bool returns_bool() const noexcept { return returns_bool_; }

  using caller = bool (*)(void* held, std::size_t iteration, member* me);
  caller call() const noexcept { return call_; }
  void* held() const noexcept { return held_; }

 private:
  struct holder {
    virtual ~holder() = default;
  };
  template <class Kept>
  struct holder_of final : holder, aligned_new<alignof(Kept)> {
    template <class Function>
    explicit holder_of(Function&& f) : function(std::forward<Function>(f)) {}
    Kept function;
  };

  template <class Call>
  static bool said(const Call& call, std::true_type) {
    return call();
  }
  template <class Call>
  static bool said(const Call& call, std::false_type) {
    call();
    return true;
  }

  caller call_ = nullptr;
  void* held_ = nullptr;
  owner<holder> owned_;  ///< null: it holds no function
  bool returns_bool_ = false;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_NODE_FUNCTION_HPP
