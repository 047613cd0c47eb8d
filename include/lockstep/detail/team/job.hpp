// SPDX-License-Identifier: MIT
// lockstep/detail/team/job.hpp -- a callable small enough to travel with the phase that announces it (layer: team)
//
// A job calls f(member&), or f(loop_share&) in a loop. A closure that is small, and that nobody can tell from its copy (callable.hpp), is
// copied into the job: whoever fetches the job's cache line has all it needs. Any other function is called
// through a pointer, at the cost of one more line, and must live until the last call has returned. No
// allocation either way.
#ifndef LOCKSTEP_DETAIL_TEAM_JOB_HPP
#define LOCKSTEP_DETAIL_TEAM_JOB_HPP

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "callable.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
class member;

namespace detail {

class loop_share;

/// Base of our own function objects that are copied where they are small.
struct made_to_travel {};

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
  void call(Argument& with) {
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
    static constexpr bool is_ours = std::is_base_of<made_to_travel, Function>::value &&
                                    std::is_trivially_copy_constructible<Function>::value &&
                                    std::is_trivially_destructible<Function>::value;
    static constexpr bool value = (is_ours || may_be_copied<Function>::value) &&
                                  is_callable<const Function&, Argument&>::value &&
                                  sizeof(Function) <= closure_size &&
                                  alignof(Function) <= alignof(void*);
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

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_JOB_HPP
