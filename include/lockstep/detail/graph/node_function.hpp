// SPDX-License-Identifier: MIT
// lockstep/detail/graph/node_function.hpp -- a node's function of any type, as a pointer and a call (layer: graph)
//
// Owns a copy of the user's function on the heap, at the alignment of its type, and calls it through one pointer. All
// functions get the same arguments: the iteration, and the member that runs it if the node is team-wide.
#ifndef LOCKSTEP_DETAIL_GRAPH_NODE_FUNCTION_HPP
#define LOCKSTEP_DETAIL_GRAPH_NODE_FUNCTION_HPP

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/region/job.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// How a node's function takes its arguments: the first of these that compiles.
template <class Function>
struct node_form {
  template <class... Arguments>
  using takes = std::integral_constant<bool, is_callable<Function&, Arguments...>::value>;

  static constexpr bool plain = takes<>::value;
  static constexpr bool counted = takes<std::size_t>::value;
  static constexpr bool wide = takes<member&>::value;
  static constexpr bool wide_counted = takes<member&, std::size_t>::value;
  using alone = std::integral_constant<int, plain ? 0 : counted ? 1 : -1>;
  using in_team = std::integral_constant<int, wide ? 2 : wide_counted ? 3 : -1>;
};

/// Also true for functions that return nothing: then all nodes that depend on the node may run.
template <class Result>
struct node_result {
  static_assert(std::is_same<Result, bool>::value,
                "lockstep::graph::node: the function has to return bool or nothing");
  template <class Call>
  static bool of(const Call& call) {
    return call();
  }
};
template <>
struct node_result<void> {
  template <class Call>
  static bool of(const Call& call) {
    call();
    return true;
  }
};

class node_function {
 public:
  node_function() noexcept = default;
  node_function(node_function&& other) noexcept
      : call_(other.call_), destroy_(other.destroy_), held_(other.held_), memory_(other.memory_) {
    other.memory_ = nullptr;
  }
  node_function& operator=(node_function&& other) noexcept {
    std::swap(call_, other.call_);
    std::swap(destroy_, other.destroy_);
    std::swap(held_, other.held_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~node_function() {
    if (memory_ != nullptr && destroy_ != nullptr) destroy_(held_);
    ::operator delete(memory_);
  }

  /// Form: node_form::alone or node_form::in_team.
  template <class Form, class Function>
  static node_function of(Function&& f) {
    using kept = typename std::decay<Function>::type;
    using result = decltype(invoke(std::declval<kept&>(), 0, nullptr, Form()));
    node_function made;
    made.allocate(sizeof(kept), alignof(kept));
    ::new (made.held_)
        kept(std::forward<Function>(f));  // if that throws there is nothing to destroy
    made.destroy_ = [](void* held) { static_cast<kept*>(held)->~kept(); };
    made.call_ = [](void* held, std::size_t iteration, member* me) -> bool {
      kept& function = *static_cast<kept*>(held);
      return node_result<result>::of([&] { return invoke(function, iteration, me, Form()); });
    };
    return made;
  }

  template <class Form, class Kept>
  static constexpr bool returns_bool() noexcept {
    return std::is_same<decltype(invoke(std::declval<Kept&>(), 0, nullptr, Form())), bool>::value;
  }

  /// Requires: it holds a function. `me`: of team-wide nodes.
  bool operator()(std::size_t iteration, member* me) const { return call_(held_, iteration, me); }
  explicit operator bool() const noexcept { return memory_ != nullptr; }

  using caller = bool (*)(void* held, std::size_t iteration, member* me);
  caller call() const noexcept { return call_; }
  void* held() const noexcept { return held_; }

 private:
  void allocate(std::size_t size, std::size_t alignment) {
    memory_ = ::operator new(size + alignment);
    const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(memory_);
    held_ = reinterpret_cast<void*>((at + alignment - 1) & ~(std::uintptr_t{alignment} - 1));
  }

  template <class Function>
  static auto invoke(Function& f, std::size_t, member*, std::integral_constant<int, 0>)
      -> decltype(f()) {
    return f();
  }
  template <class Function>
  static auto invoke(Function& f, std::size_t iteration, member*, std::integral_constant<int, 1>)
      -> decltype(f(iteration)) {
    return f(iteration);
  }
  template <class Function>
  static auto invoke(Function& f, std::size_t, member* me, std::integral_constant<int, 2>)
      -> decltype(f(*me)) {
    return f(*me);
  }
  template <class Function>
  static auto invoke(Function& f, std::size_t iteration, member* me, std::integral_constant<int, 3>)
      -> decltype(f(*me, iteration)) {
    return f(*me, iteration);
  }

  caller call_ = nullptr;
  void (*destroy_)(void* held) = nullptr;
  void* held_ = nullptr;
  void* memory_ = nullptr;  ///< null: it holds no function
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_NODE_FUNCTION_HPP
