// SPDX-License-Identifier: MIT
// lockstep/detail/team/job.hpp -- a callable small enough to travel with the phase that announces it (layer: team)
//
// A job calls f(member&), or f(loop_share&) in a loop. A small closure is copied into the job, if nobody can tell the
// copy from the original: a thread that fetches the job's cache line has all it needs. Any other function is called
// through a pointer, at the cost of one more line, and must live until the last call has returned. No
// allocation either way.
//
// A user's function is called by reference: on every member the same object, through the overload that the
// user's own expression would choose. Only a closure (what a lambda makes) may be copied, and only if it has one call
// operator, which is const, and is trivially copied. What a lambda captured by value and changes all the same (an
// object with mutable members) is its own in each copy.
#ifndef LOCKSTEP_DETAIL_TEAM_JOB_HPP
#define LOCKSTEP_DETAIL_TEAM_JOB_HPP

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "../platform/config.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
class member;

namespace detail {

class loop_share;

/// Whether f(arguments...) compiles; Function and Arguments with their const and reference.
template <class Function, class... Arguments>
struct is_callable {
  template <class F>
  static auto test(int)
      -> decltype(static_cast<void>(std::declval<F>()(std::declval<Arguments>()...)),
                  std::true_type());
  template <class F>
  static std::false_type test(...);
  static constexpr bool value = decltype(test<Function>(0))::value;
};

/// Whether a Class can be made from one to eight values of any types: it has constructors, or is an
/// aggregate. A closure can not.
template <class Class>
struct is_made_from_values {
  template <class T>
  using if_other =
      typename std::enable_if<!std::is_same<typename std::remove_cv<T>::type, Class>::value>::type;
  struct variable {
    template <class T, class = if_other<T>>
    operator T&() const;
  };
  struct temporary {
    template <class T, class = if_other<T>>
    operator T&&() const;
  };
  template <class Value, std::size_t>
  using one = Value;

  LOCKSTEP_BEGIN_MISSING_INITIALIZERS
  template <class C, std::size_t... Numbers>
  static auto test(int)
      -> decltype(static_cast<void>(C{one<variable, Numbers>()...}), std::true_type());
  template <class C, std::size_t... Numbers>
  static auto test(long)
      -> decltype(static_cast<void>(C{one<temporary, Numbers>()...}), std::true_type());
  LOCKSTEP_END_MISSING_INITIALIZERS
  template <class C, std::size_t... Numbers>
  static std::false_type test(...);
  static constexpr bool value =
      decltype(test<Class, 0>(0))::value || decltype(test<Class, 0, 1>(0))::value ||
      decltype(test<Class, 0, 1, 2>(0))::value || decltype(test<Class, 0, 1, 2, 3>(0))::value ||
      decltype(test<Class, 0, 1, 2, 3, 4>(0))::value ||
      decltype(test<Class, 0, 1, 2, 3, 4, 5>(0))::value ||
      decltype(test<Class, 0, 1, 2, 3, 4, 5, 6>(0))::value ||
      decltype(test<Class, 0, 1, 2, 3, 4, 5, 6, 7>(0))::value;
};

/// Whether a Class is a closure, as far as it shows: without captures an empty class with one call operator
/// that is no template; else one that nobody can make. (So is one with private constructors only. To ask
/// whether it can be assigned to would tell more, but with GCC 12 that makes is_trivially_copyable false.)
template <class Class, bool IsEmpty = std::is_empty<Class>::value>
struct is_closure {
  static constexpr bool value =
      !std::is_default_constructible<Class>::value && !is_made_from_values<Class>::value;
};
template <class Class>
struct is_closure<Class, true> {
  template <class C>
  static auto test(int) -> decltype(static_cast<void>(&C::operator()), std::true_type());
  template <class C>
  static std::false_type test(...);
  static constexpr bool value = decltype(test<Class>(0))::value;
};

/// Whether nobody can tell a copy of such an object from itself by calling it.
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

/// What a region is told to run for a function that takes no member.
template <class Held>
struct part_without_member final {
  explicit part_without_member(Held of) noexcept : f(of) {}
  void operator()(member&) const { f(); }

  Held f;  ///< a closure that may be copied, or a reference to a function
};
template <class Held>
struct may_be_copied<part_without_member<Held>, true> : std::true_type {};

class job {
 public:
  /// With a phase and a pointer before it, a job fills one cache line of 64 bytes.
  static constexpr std::size_t closure_size = 40;

  /// Argument: member or loop_share.
  template <class Argument, class Function>
  void assign(Function& f) noexcept {
    static_assert(is_callable<Function&, Argument&>::value,
                  "lockstep: the function of a region cannot be called as f(me) with a "
                  "lockstep::member&");
    put<Argument>(f, std::integral_constant<bool, travels<Argument, Function>::value>());
  }
  /// For what is compiled once: call(closure, argument), with a copy of the closure. Requires: nobody can tell a copy of
  /// it from itself.
  template <class Argument, class Closure>
  void carry(const Closure& closure) noexcept {
    static_assert(sizeof(Closure) <= closure_size && alignof(Closure) <= alignof(void*), "it fits");
    ::new (static_cast<void*>(closure_)) Closure(closure);
    set<Argument>([](job& self, Argument& with) {
      (*reinterpret_cast<const Closure*>(self.closure_))(with);
    });
  }
  /// A number for the function's type.
  const void* place() const noexcept { return reinterpret_cast<const void*>(call_); }
  /// Calls the function. Requires: it was assigned for this Argument.
  template <class Argument>
  void operator()(Argument& with) {
    reinterpret_cast<caller<Argument>>(call_)(*this, with);
  }

  /// Whether a Function is copied into the job.
  template <class Function, class Argument = member>
  static constexpr bool travels_as() noexcept {
    return travels<Argument, Function>::value;
  }

 private:
  template <class Argument>
  using caller = void (*)(job&, Argument&);

  template <class Argument, class Function, bool IsClass = std::is_class<Function>::value>
  struct travels : std::false_type {};
  template <class Argument, class Function>
  struct travels<Argument, Function, true> {
    static constexpr bool value =
        may_be_copied<Function>::value && is_callable<const Function&, Argument&>::value &&
        sizeof(Function) <= closure_size && alignof(Function) <= alignof(void*);
  };

  template <class Argument, class Function>
  void put(Function& f, std::true_type /*travels*/) noexcept {
    using closure = typename std::remove_const<Function>::type;
    ::new (static_cast<void*>(closure_)) closure(f);
    set<Argument>([](job& self, Argument& with) {
      (*reinterpret_cast<const closure*>(self.closure_))(with);
    });
  }
  template <class Argument, class Function>
  void put(Function& f, std::false_type /*stays*/) noexcept {
    using pointer = Function*;
    ::new (static_cast<void*>(closure_)) pointer(&f);
    set<Argument>(
        [](job& self, Argument& with) { (**reinterpret_cast<pointer*>(self.closure_))(with); });
  }
  template <class Argument>
  void set(caller<Argument> how) noexcept {
    call_ = reinterpret_cast<void (*)()>(how);
  }

  void (*call_)() = nullptr;
  alignas(void*) unsigned char closure_[closure_size];
};

template <class Function>
void check_part() noexcept {
  static_assert(is_callable<Function&, member&>::value || is_callable<Function&>::value,
                "lockstep: the function of a region can be called neither as f(me), with a "
                "lockstep::member&, nor as f()");
}

/// The function of a region as f(member&), whether it takes a member or nothing.
template <class Function, bool TakesMember = is_callable<Function&, member&>::value>
class part_of {
 public:
  static constexpr bool is_copied() noexcept { return job::travels_as<Function>(); }

  explicit part_of(Function& f) noexcept : f_(f) {}
  Function& function() noexcept { return f_; }

 private:
  Function& f_;
};
template <class Function>
class part_of<Function, false> {
  template <class F, bool MayBeCopied = may_be_copied<F>::value>
  struct held {
    static constexpr bool is_copy = is_callable<const F&>::value &&
                                    sizeof(F) <= job::closure_size && alignof(F) <= alignof(void*);
  };
  template <class F>
  struct held<F, false> {
    static constexpr bool is_copy = false;
  };
  using kept =
      typename std::conditional<held<Function>::is_copy,
                                const typename std::remove_const<Function>::type, Function&>::type;

 public:
  static constexpr bool is_copied() noexcept { return held<Function>::is_copy; }

  explicit part_of(Function& f) noexcept : part_(f) {}
  part_without_member<kept>& function() noexcept { return part_; }

 private:
  part_without_member<kept> part_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_JOB_HPP
