// SPDX-License-Identifier: MIT
// lockstep/detail/region/job.hpp -- a function that other threads call, in 48 bytes (layer: region)
//
// The function of a region is called as f(member&), that of a loop as f(loop_share&). A small closure is copied into
// the job, if nobody can tell the copy from the original (closures.hpp): a thread that fetches the line of the job has
// all it needs. Any other function is called through a pointer, at the cost of one more line, and must live until the
// last call has returned. No allocation either way.
#ifndef LOCKSTEP_DETAIL_REGION_JOB_HPP
#define LOCKSTEP_DETAIL_REGION_JOB_HPP

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>

#include <lockstep/detail/base/closures.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
class member;

namespace detail {

class loop_share;

/// Calls a function of a region as f(argument), or as f() if it takes none.
template <class Function, class Argument>
struct region_call {
  using takes_one = std::integral_constant<bool, is_callable<Function&, Argument&>::value>;
  static constexpr bool fits = takes_one::value || is_callable<Function&>::value;

  static void call(Function& f, Argument& with) { call(f, with, takes_one()); }

 private:
  static void call(Function& f, Argument& with, std::true_type) { f(with); }
  static void call(Function& f, Argument&, std::false_type) { f(); }
};

class job {
 public:
  /// With a phase and a pointer before it, a job fills one cache line of 64 bytes.
  static constexpr std::size_t closure_size = 40;
  template <class Argument>
  using caller = void (*)(const job&, Argument&);

  /// A job for a function that is called with an Argument: member or loop_share. It copies the function, or keeps its
  /// address.
  template <class Argument, class Function>
  static job of(Function& f) noexcept {
    static_assert(region_call<Function, Argument>::fits,
                  "lockstep: the function of a region can be called neither as f(me), with a "
                  "lockstep::member& (by reference, it is not copied), nor as f()");
    job made;
    made.hold<Argument>(f, std::integral_constant<bool, travels_as<Function, Argument>()>());
    return made;
  }
  /// For code that is compiled once: call(closure, argument), with a copy of the closure. Requires: a copy of the
  /// closure cannot be told from the original.
  template <class Argument, class Closure>
  void carry(const Closure& closure) noexcept {
    static_assert(sizeof(Closure) <= closure_size && alignof(Closure) <= alignof(void*), "it fits");
    ::new (static_cast<void*>(closure_)) Closure(closure);
    const caller<Argument> call = [](const job& self, Argument& with) {
      region_call<const Closure, Argument>::call(*reinterpret_cast<const Closure*>(self.closure_),
                                                 with);
    };
    call_ = reinterpret_cast<void (*)()>(call);
  }
  /// The same: call(job, argument), with a copy of `size` bytes at carried(), in whole words.
  template <class Argument>
  void carry(caller<Argument> call, const void* bytes, std::size_t size) noexcept {
    constexpr std::size_t word = sizeof(std::size_t);
    const unsigned char* const from = static_cast<const unsigned char*>(bytes);
    // Without the second limit GCC warns of a copy beyond the end.
    for (std::size_t i = 0; i < size && i < closure_size; i += word)
      std::memcpy(closure_ + i, from + i, word);
    call_ = reinterpret_cast<void (*)()>(call);
  }
  const void* carried() const noexcept { return closure_; }
  /// Calls the function. Requires: it was assigned for this Argument.
  template <class Argument>
  void operator()(Argument& with) const {
    reinterpret_cast<caller<Argument>>(call_)(*this, with);
  }

  /// Whether a Function is copied into the job.
  template <class Function, class Argument = member>
  static constexpr bool travels_as() noexcept {
    using object = typename std::conditional<std::is_class<Function>::value, Function, char>::type;
    return may_be_copied<Function>::value && region_call<const Function, Argument>::fits &&
           sizeof(object) <= closure_size && alignof(object) <= alignof(void*);
  }

 private:
  /// Carries the function itself, or its address.
  template <class Argument, class Function>
  void hold(Function& f, std::true_type /*travels*/) noexcept {
    carry<Argument>(f);
  }
  template <class Argument, class Function>
  void hold(Function& f, std::false_type) noexcept {
    Function* const at = &f;
    carry<Argument>([at](Argument& with) { region_call<Function, Argument>::call(*at, with); });
  }

  void (*call_)() = nullptr;
  alignas(void*) unsigned char closure_[closure_size];
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_REGION_JOB_HPP
