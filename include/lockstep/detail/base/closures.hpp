// SPDX-License-Identifier: MIT
// lockstep/detail/base/closures.hpp -- what can be called, and what may be copied for that (layer: base)
//
// A user's function is called by reference: all members call the same object, through the overload that the user's own
// expression would choose. Only a closure (what a lambda makes) may be copied, and only if its call operator is const
// and it is trivially copyable. A const call can still change captured objects that have mutable members. Each copy of
// the closure has such objects for itself.
#ifndef LOCKSTEP_DETAIL_BASE_CLOSURES_HPP
#define LOCKSTEP_DETAIL_BASE_CLOSURES_HPP

#include <cstddef>
#include <type_traits>
#include <utility>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Whether f(arguments...) compiles. The types are given with const and reference.
template <class Function, class... Arguments>
struct is_callable {
  template <class Closure>
  static auto test(int)
      -> decltype(static_cast<void>(std::declval<Closure>()(std::declval<Arguments>()...)),
                  std::true_type());
  template <class Closure>
  static std::false_type test(...);
  static constexpr bool value = decltype(test<Function>(0))::value;
};

/// The name of a function. It ends with the name of the Type and a bracket.
struct function_name {
  const char* text;
  std::size_t length;
};
template <class Type>
constexpr function_name name_with() noexcept {
  return {LOCKSTEP_FUNCTION_NAME, sizeof(LOCKSTEP_FUNCTION_NAME) - 1};
}

/// The name of a type, as compilers print it.
class printed_type {
 public:
  /// After `before` characters that the names of all types have in common.
  constexpr printed_type(function_name of, std::size_t before) noexcept
      : text_(of.text), first_(before), last_(of.length - 1) {}

  /// Whether the name ends as that of a closure does. The name of a class that a user has written ends otherwise: with
  /// an identifier, brackets after one, <unnamed struct> or (unnamed struct at file.cpp:3:4). Names of closures:
  ///   GCC    scope::<lambda(int)>, where a scope may be of any kind
  ///   Clang  scope::(lambda at file.cpp:3:4), where scopes are namespaces
  constexpr bool is_of_closure() const noexcept {
    return last_ <= first_           ? false
           : text_[last_ - 1] == '>' ? is_lambda(opening(last_ - 1, 0))
                                     : text_[last_ - 1] == ')' && is_lambda_at(first_);
  }

 private:
  // In C++11 a constexpr function has no loops, and compilers let it call itself 512 times.
  static constexpr std::size_t most_steps = 400;

  template <std::size_t Size>
  constexpr bool has(const char (&part)[Size], std::size_t at, std::size_t i = 0) const noexcept {
    return i + 1 == Size || (at + i < last_ && text_[at + i] == part[i] && has(part, at, i + 1));
  }
  static constexpr bool is_of_identifier(char one) noexcept {
    return (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') || (one >= '0' && one <= '9') ||
           one == '_';
  }

  /// Searches backwards for the bracket that the last one closes; last_ if there is none.
  constexpr std::size_t opening(std::size_t at, std::size_t depth) const noexcept {
    return at == first_ - 1 || last_ - at > most_steps || may_mislead(at) ? last_
           : text_[at] != '<' ? opening(at - 1, text_[at] == '>' ? depth + 1 : depth)
           : depth == 1       ? at
                              : opening(at - 1, depth - 1);
  }
  /// Whether a < or > near here may be no bracket, but part of an operator's name or of a literal.
  constexpr bool may_mislead(std::size_t at) const noexcept {
    return text_[at] == '\'' || text_[at] == '"' || has("->", at) ||
           (has("operator", at) && !is_of_identifier(text_[at + 8]));
  }
  constexpr bool is_lambda(std::size_t at) const noexcept {
    return has("<lambda(", at) && (at == first_ || has("::", at - 2));
  }
  /// Searches forwards, because the path of a file may contain anything.
  constexpr bool is_lambda_at(std::size_t at) const noexcept {
    return at - first_ > most_steps ? false
           : is_of_identifier(text_[at]) || text_[at] == ':'
               ? is_lambda_at(at + 1)
               : has("(lambda at ", at) || (has("(anonymous namespace)", at) &&
                                            is_lambda_at(at + sizeof("(anonymous namespace)") - 1));
  }

  const char* text_;
  std::size_t first_, last_;
};

/// Whether a Class is a closure: what a lambda makes. Only its name tells it from a class with the same call operator.
/// Where the compiler prints no name, or one that is too long, the answer is no.
template <class Class>
struct is_closure {
  static constexpr bool value =
      printed_type(name_with<Class>(), name_with<int>().length - sizeof("int")).is_of_closure();
};

/// Whether calling a copy of such an object has the same effects as calling the object itself.
template <class Function, bool IsClass = std::is_class<Function>::value>
struct may_be_copied : std::false_type {};
template <class Function>
struct may_be_copied<const Function, true> : may_be_copied<Function, true> {};
template <class Function>
struct may_be_copied<Function, true> {
  static constexpr bool value = std::is_trivially_copy_constructible<Function>::value &&
                                std::is_trivially_destructible<Function>::value &&
                                is_closure<Function>::value;
};

/// How code that calls a Function with Arguments again and again holds it: a copy, if nobody can tell it from the
/// original, else a reference. A copy has at most 64 bytes: copying them is faster than fetching a line.
template <bool MayBeCopied, class Function, class... Arguments>
struct held_closure {
  using type = Function&;
};
template <class Function, class... Arguments>
struct held_closure<true, Function, Arguments...> {
  using type =
      typename std::conditional<sizeof(Function) <= 64 &&
                                    is_callable<const Function&, Arguments...>::value,
                                const typename std::remove_const<Function>::type, Function&>::type;
};
template <class Function, class... Arguments>
using held_function =
    typename held_closure<may_be_copied<Function>::value, Function, Arguments...>::type;

/// A function that is called where it is, through a pointer: it must outlive the call.
template <class Signature>
class function_ref;
template <class Result, class... Arguments>
class function_ref<Result(Arguments...)> {
 public:
  using caller = Result (*)(const void* data, Arguments... arguments);

  function_ref(caller how, const void* data) noexcept : call_(how), data_(data) {}
  template <class Function>
  function_ref(const Function& f) noexcept : call_(call<Function>), data_(&f) {}

  Result operator()(Arguments... arguments) const { return call_(data_, arguments...); }

 private:
  template <class Function>
  LOCKSTEP_NOINLINE static Result call(const void* data, Arguments... arguments) {
    return (*static_cast<const Function*>(data))(arguments...);
  }

  caller call_;
  const void* data_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_BASE_CLOSURES_HPP
