// SPDX-License-Identifier: MIT
// lockstep/team/job.hpp -- a callable small enough to travel with the phase that announces it (layer: team)
//
// A job calls f(member&). A closure that is small, and that nobody can tell from its copy (callable.hpp), is
// copied into the job: whoever fetches the job's cache line has all it needs. Any other function is called
// through a pointer, at the cost of one more line, and must live until the last call has returned. No
// allocation either way.
#ifndef LOCKSTEP_TEAM_JOB_HPP
#define LOCKSTEP_TEAM_JOB_HPP

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "callable.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class member;

/// Base of our own function objects that are copied where they are small.
struct made_to_travel {};

class job {
 public:
  /// With a phase and a pointer before it, a job fills one cache line of 64 bytes.
  static constexpr std::size_t closure_size = 40;

  template <class Function>
  void assign(Function& f) noexcept {
    static_assert(is_callable<Function&, member&>::value,
                  "lockstep: the function of a region cannot be called as f(me) with a "
                  "lockstep::member&");
    assign(f, std::integral_constant<bool, travels<Function>::value>());
  }
  void operator()(member& self) { call_(*this, self); }

  /// Whether a Function is copied into the job.
  template <class Function>
  static constexpr bool travels_as() noexcept {
    return travels<Function>::value;
  }

 private:
  template <class Function, bool IsClass = std::is_class<Function>::value>
  struct travels : std::false_type {};
  template <class Function>
  struct travels<Function, true> {
    static constexpr bool is_ours = std::is_base_of<made_to_travel, Function>::value &&
                                    std::is_trivially_copy_constructible<Function>::value &&
                                    std::is_trivially_destructible<Function>::value;
    static constexpr bool value = (is_ours || may_be_copied<Function>::value) &&
                                  is_callable<const Function&, member&>::value &&
                                  sizeof(Function) <= closure_size &&
                                  alignof(Function) <= alignof(void*);
  };

  template <class Function>
  void assign(Function& f, std::true_type /*travels*/) noexcept {
    using closure = typename std::remove_const<Function>::type;
    ::new (static_cast<void*>(closure_)) closure(f);
    call_ = [](job& self, member& who) { (*reinterpret_cast<const closure*>(self.closure_))(who); };
  }
  template <class Function>
  void assign(Function& f, std::false_type /*stays*/) noexcept {
    using pointer = Function*;
    ::new (static_cast<void*>(closure_)) pointer(&f);
    call_ = [](job& self, member& who) { (**reinterpret_cast<pointer*>(self.closure_))(who); };
  }

  void (*call_)(job&, member&) = nullptr;
  alignas(void*) unsigned char closure_[closure_size];
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_TEAM_JOB_HPP
