// SPDX-License-Identifier: MIT
// tests/base/closures_test.cpp -- which functions may be copied to the members, and which are called where they are
#include <lockstep/detail/base/closures.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace {

using lockstep::detail::function_name;
using lockstep::detail::is_callable;
using lockstep::detail::is_closure;
using lockstep::detail::may_be_copied;
using lockstep::detail::printed_type;

int add_one(int i) { return i + 1; }

// Classes that are nearly what a lambda makes: small, trivially copied, with one const operator.

struct functor {
  int offset = 0;
  int operator()(int i) const { return i + offset; }
};
struct empty_functor {
  int operator()(int i) const { return i; }
};
struct overloaded {
  int operator()(int i) const { return i; }
  int operator()(double) const { return 0; }
};
struct with_constructor {
  explicit with_constructor(int by) : offset(by) {}
  int operator()(int i) const { return i + offset; }
  int offset;
};
/// Its constructor is a template. No trait tells for which types its body compiles.
struct from_container {
  template <class Type>
  explicit from_container(std::vector<Type>& of) : data(of.data()) {}
  int operator()(int i) const { return static_cast<int>(data[i]); }
  int* data;
};
struct counts_in_itself {
  template <class Type>
  explicit counts_in_itself(std::vector<Type>&) {}
  int operator()(int) const { return ++calls; }
  mutable int calls = 0;
};
struct two_faced {
  template <class Type>
  explicit two_faced(std::vector<Type>&) {}
  int operator()(int) { return 1; }
  int operator()(int) const { return 2; }
};
/// As a closure: only its friends make it, and nobody assigns to it.
class made_by_friends {
 public:
  made_by_friends& operator=(const made_by_friends&) = delete;
  static made_by_friends one() { return {}; }
  int operator()(int i) const { return i; }

 private:
  made_by_friends() = default;
};
struct with_nine_values {
  int a, b, c, d, e, f, g, h, i;
  int operator()(int by) const { return by + i; }
};
template <class Function>
struct wrapper {
  Function f;
  int operator()(int i) const { return f(i); }
};
template <class Function>
struct derived : Function {
  explicit derived(Function of) : Function(of) {}
};
/// To a search that does not match brackets, its name looks like a closure's.
struct lambda {};
template <class>
struct of_signature {
  int operator()(int i) const { return i; }
};
struct with_operators {
  bool operator<(int) const { return false; }
  with_operators* operator->() { return this; }
};
template <bool (with_operators::*)(int) const, with_operators* (with_operators::*)()>
struct of_operators {
  int operator()(int i) const { return i; }
};
template <char>
struct of_character {
  int operator()(int i) const { return i; }
};

const auto of_namespace = [](int i) { return i; };

template <class Type>
struct of_template {
  Type value;
  auto closure() const {
    return [v = value](Type i) { return v + i; };
  }
  auto local_class() const {
    struct local {
      Type value;
      int operator()(int i) const { return i; }
    };
    return local{value};
  }
  auto operator<(int by) const {
    return [by](int i) { return i + by; };
  }
};

struct callable {
  const char* kind;
  bool is_copied, expected;
};
template <class Function>
callable row(const char* kind, const Function&, bool expected) {
  return {kind, may_be_copied<Function>::value, expected};
}

TEST(closures, of_thirty_kinds_of_callables_lambdas_are_copied_and_no_class_is) {
  int number = 3;
  std::vector<int> data(4);
  const auto capturing = [number](int i) { return i + number; };
  const auto in_closure = [](auto) {
    struct local {
      int operator()(int i) const { return i; }
    };
    return local();
  };
  struct {
    int operator()(int i) const { return i; }
  } unnamed;
  struct local {
    int& by;
    int operator()(int i) const { return i + by; }
  };
  const auto shared = std::make_shared<int>(1);
  const of_template<decltype(capturing)*> of_closure{&capturing};
  const callable all[] = {
      row(
          "without captures", [] {}, true),
      row("captures by value", capturing, true),
      row(
          "captures by reference", [&number](int i) { return i + number; }, true),
      row(
          "captures both", [&number, data = data.data()](int i) { return number + data[i]; }, true),
      row(
          "generic", [](auto i) { return i; }, true),
      row(
          "generic, with captures", [number](auto i) { return number + i; }, true),
      row(
          "with a long signature",
          [](std::function<void(std::vector<std::function<int(int)>>, wrapper<functor>)>&,
             of_signature<lambda(int)>) {},
          true),
      row("of a namespace", of_namespace, true),
      row("of a template", of_template<int>{1}.closure(), true),
      row("of an operator", of_template<int>{1} < 2, true),
      row("of a template over a closure", of_closure < 2, true),
      row(
          "in a lambda", [=] { return [number](int i) { return i + number; }; }(), true),
      row(
          "mutable", [number](int i) mutable { return number += i; },
          true),  // never called as const
      row(
          "a capture that is shared", [shared] { return *shared; }, false),
      row(
          "a capture that moves only", [unique = std::make_unique<int>(1)] { return *unique; },
          false),
      row("aggregate", functor{1}, false),
      row("empty class", empty_functor(), false),
      row("overloaded", overloaded(), false),
      row("class with a constructor", with_constructor(1), false),
      row("class with a template for a constructor", from_container(data), false),
      row("class that counts in itself", counts_in_itself(data), false),
      row("class with two operators", two_faced(data), false),
      row("class that only its friends make", made_by_friends::one(), false),
      row("class of nine values", with_nine_values(), false),
      row("class without a name", unnamed, false),
      row("local class", local{number}, false),
      row("local class of a lambda", in_closure(1), false),
      row("local class of a template over a closure", of_closure.local_class(), false),
      row("template over a closure", wrapper<decltype(capturing)>{capturing}, false),
      row("derived from a closure", derived<std::decay_t<decltype(capturing)>>(capturing), false),
      row("template over a signature", of_signature<lambda(int)>(), false),
      row("template over a signature with a closure", of_signature<decltype(of_namespace)(int)>(),
          false),
      row("template over operators",
          of_operators < &with_operators::operator<, &with_operators::operator-> >(), false),
      row("template over a bracket", of_character<'<'>(), false),
      row("function", add_one, false),
      row("pointer to a function", &add_one, false),
      row("std::function", std::function<int(int)>(add_one), false),
      row("std::bind", std::bind(add_one, 1), false),
      row("std::ref", std::ref(capturing), false),
      row("std::mem_fn", std::mem_fn(&functor::offset), false),
  };
  for (const callable& each : all) EXPECT_EQ(each.is_copied, each.expected) << each.kind;
  EXPECT_TRUE((may_be_copied<decltype(capturing)>::value)) << "also if it is const";
}

/// Whether a type with this printed name is known as a closure.
bool is_known(const std::string& name) {
  const std::string all = "void f() [T = " + name + "]";
  return printed_type(function_name{all.c_str(), all.size()}, std::string("void f() [T = ").size())
      .is_of_closure();
}

TEST(closures, are_known_by_their_names_of_two_compilers) {
  for (const char* const name :
       {"<lambda(int)>", "main()::<lambda(const std::function<void(int)>&)>",
        "f(A<B>)::<lambda(...)>", "A::operator<(int) const::<lambda(long int)>",
        "f() [with T = int]::<lambda(my_operator_type)>", "(lambda at a.cpp:1:2)",
        "(anonymous namespace)::n::(lambda at /b (c)/d.cpp:1:20)"}) {
    EXPECT_TRUE(is_known(name)) << name;
  }
  const std::string long_name(1000, 'x');
  for (const std::string& name :
       {std::string(),
        std::string("A"),
        std::string("lambda"),
        std::string("std::function<lambda(int)>"),
        std::string("std::function<lambda (int)>"),
        std::string("A<f()::<lambda(int)> >"),
        std::string("A<f()::<lambda(int)>>"),
        std::string("f()::<lambda(int)>::local"),
        std::string("f()::<unnamed struct>"),
        std::string("(unnamed struct at a.cpp:1:2)"),
        std::string("(anonymous namespace)::A"),
        std::string("A<(lambda at a.cpp:1:2)>"),
        std::string("A<(lambda at a.cpp:1:2)>::(unnamed struct at a.cpp:1:2)"),
        std::string(">"),
        std::string(")"),
        std::string("()"),
        std::string("<>"),
        std::string("a<lambda(b)>"),
        std::string("f()::<lambda(B<&C::operator< >)>::A<&D::operator->>"),
        std::string("f()::<lambda(B<'<'>)>::A<'>'>"),
        long_name + ">",
        "<lambda(" + long_name + ")>",
        long_name + "::(lambda at a.cpp:1:2)"}) {
    EXPECT_FALSE(is_known(name)) << name;
  }
}

TEST(closures, is_callable_looks_at_const_reference_and_arguments) {
  const auto plain = [](int) {};
  auto changing = [n = 0]() mutable { return ++n; };
  EXPECT_TRUE((is_callable<decltype(plain)&, int>::value));
  EXPECT_FALSE((is_callable<decltype(plain)&>::value));
  EXPECT_FALSE((is_callable<decltype(plain)&, const char*>::value));
  EXPECT_TRUE((is_callable<decltype(changing)&>::value));
  EXPECT_FALSE((is_callable<const decltype(changing)&>::value));
  EXPECT_TRUE((is_callable<int (*)(int), short>::value));
}

}  // namespace
