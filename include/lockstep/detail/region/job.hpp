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
  template <class Argument>
  using caller = void (*)(const job&, Argument&);

  /// Argument: member or loop_share.
  template <class Argument, class Function>
  void assign(Function& f) noexcept {
    static_assert(is_callable<Function&, Argument&>::value,
                  "lockstep: the function of a region cannot be called as f(me) with a "
                  "lockstep::member&");
    put<Argument>(f, std::integral_constant<bool, travels<Argument, Function>::value>());
  }
  /// For what is compiled once: call(closure, argument), with a copy of the closure. Requires: nobody can tell a copy
  /// of it from itself.
  template <class Argument, class Closure>
  void carry(const Closure& closure) noexcept {
    static_assert(sizeof(Closure) <= closure_size && alignof(Closure) <= alignof(void*), "it fits");
    ::new (static_cast<void*>(closure_)) Closure(closure);
    set<Argument>([](const job& self, Argument& with) {
      (*reinterpret_cast<const Closure*>(self.closure_))(with);
    });
  }
  /// The same: call(job, argument), with a copy of so many bytes at carried(), whole words.
  template <class Argument>
  void carry(caller<Argument> call, const void* bytes, std::size_t size) noexcept {
    constexpr std::size_t word = sizeof(std::size_t);
    const unsigned char* const from = static_cast<const unsigned char*>(bytes);
    for (std::size_t i = 0; i < size; i += word) std::memcpy(closure_ + i, from + i, word);
    set<Argument>(call);
  }
  const void* carried() const noexcept { return closure_; }
  /// A number for the function's type.
  const void* place() const noexcept { return reinterpret_cast<const void*>(call_); }
  /// Calls the function. Requires: it was assigned for this Argument.
  template <class Argument>
  void operator()(Argument& with) const {
    reinterpret_cast<caller<Argument>>(call_)(*this, with);
  }

  /// Whether a Function is copied into the job.
  template <class Function, class Argument = member>
  static constexpr bool travels_as() noexcept {
    return travels<Argument, Function>::value;
  }

 private:
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
    set<Argument>([](const job& self, Argument& with) {
      (*reinterpret_cast<const closure*>(self.closure_))(with);
    });
  }
  template <class Argument, class Function>
  void put(Function& f, std::false_type /*stays*/) noexcept {
    using pointer = Function*;
    ::new (static_cast<void*>(closure_)) pointer(&f);
    set<Argument>([](const job& self, Argument& with) {
      (**reinterpret_cast<const pointer*>(self.closure_))(with);
    });
  }
  template <class Argument>
  void set(caller<Argument> how) noexcept {
    call_ = reinterpret_cast<void (*)()>(how);
  }

  void (*call_)() = nullptr;
  alignas(void*) unsigned char closure_[closure_size];
};

template <class Function>
void check_region_function() noexcept {
  static_assert(is_callable<Function&, member&>::value || is_callable<Function&>::value,
                "lockstep: the function of a region can be called neither as f(me), with a "
                "lockstep::member&, nor as f()");
}

/// The function of a region as f(member&), whether it takes a member or nothing.
template <class Function, bool TakesMember = is_callable<Function&, member&>::value>
class region_function {
 public:
  static constexpr bool is_copied() noexcept { return job::travels_as<Function>(); }

  explicit region_function(Function& f) noexcept : f_(f) {}
  Function& function() noexcept { return f_; }

 private:
  Function& f_;
};
template <class Function>
class region_function<Function, false> {
  template <class Closure, bool MayBeCopied = may_be_copied<Closure>::value>
  struct held {
    static constexpr bool is_copy = is_callable<const Closure&>::value &&
                                    sizeof(Closure) <= job::closure_size &&
                                    alignof(Closure) <= alignof(void*);
  };
  template <class Closure>
  struct held<Closure, false> {
    static constexpr bool is_copy = false;
  };
  using kept =
      typename std::conditional<held<Function>::is_copy,
                                const typename std::remove_const<Function>::type, Function&>::type;

 public:
  static constexpr bool is_copied() noexcept { return held<Function>::is_copy; }

  explicit region_function(Function& f) noexcept : part_(f) {}
  part_without_member<kept>& function() noexcept { return part_; }

 private:
  part_without_member<kept> part_;
};

/// The function of a region as what its members call. `f` lives until the region is over.
template <class Function>
job job_of(Function& f) noexcept {
  check_region_function<Function>();
  region_function<Function> part(f);
  job made;
  made.assign<member>(part.function());
  return made;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_REGION_JOB_HPP
