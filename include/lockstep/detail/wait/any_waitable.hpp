// SPDX-License-Identifier: MIT
// lockstep/detail/wait/any_waitable.hpp -- a Waitable of any type, called through pointers (layer: wait)
//
// wait_engine.hpp, which uses this, says what a Waitable has and may have.
#ifndef LOCKSTEP_DETAIL_WAIT_ANY_WAITABLE_HPP
#define LOCKSTEP_DETAIL_WAIT_ANY_WAITABLE_HPP

#include <cstdint>
#include <utility>

#include <lockstep/detail/observe/wait_kinds.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/platform/system.hpp>
#include <lockstep/wait_policy.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The optional functions of a Waitable.
struct optional_parts {
  template <class Waitable>
  static auto sleep(Waitable& what, deadline until, int) -> decltype(what.sleep(until)) {
    what.sleep(until);
  }
  template <class Waitable>
  static void sleep(Waitable&, deadline, long) {
  }  // of one that only wait_awake() takes: not called

  template <class Waitable>
  static auto pauses(Waitable& what, int) -> decltype(what.pauses()) {
    return what.pauses();
  }
  template <class Waitable>
  static constexpr unsigned pauses(Waitable&, long) {
    return 1;
  }

  template <class Waitable>
  static constexpr auto has_pauses(int) -> decltype(std::declval<Waitable&>().pauses(), bool()) {
    return true;
  }
  template <class Waitable>
  static constexpr bool has_pauses(long) {
    return false;
  }

  template <class Waitable>
  static auto line(const Waitable& what, int) noexcept -> decltype(what.line()) {
    return what.line();
  }
  template <class Waitable>
  static constexpr const void* line(const Waitable&, long) noexcept {
    return nullptr;
  }

  template <class Waitable>
  static auto ask_where(Waitable& what, int) -> decltype(what.is_separated(std::uint64_t())) {
    return what.is_separated(monotonic_nanoseconds());
  }
  template <class Waitable>
  static constexpr bool ask_where(Waitable&, long) {
    return false;
  }

  /// Also for what a Waitable is made of: predicates, stops.
  template <class What>
  static auto describe(const What& what, wait_subject& to, int) noexcept
      -> decltype(what.describe(to)) {
    what.describe(to);
  }
  template <class What>
  static void describe(const What&, wait_subject&, long) noexcept {}
};

/// A Waitable whose type is forgotten, so that the long part of a wait is there once for all of them. Valid as long as
/// the Waitable.
class any_waitable {
 public:
  template <class Waitable>
  static any_waitable of(Waitable& what) noexcept {
    return any_waitable(&what, functions_of<Waitable>::table);
  }

  bool ready() const { return how_->ready(what_); }
  void sleep(deadline until) const { how_->sleep(what_, until); }
  bool has_pauses() const noexcept { return how_->has_pauses; }
  unsigned pauses() const { return how_->pauses(what_); }
  const void* line() const { return how_->line(what_); }
  bool ask_where() const { return how_->ask_where(what_); }
  /// For observed_wait.
  wait_subject subject() const noexcept {
    wait_subject result = {};
    result.object = result.sleeps_on = what_;
    result.awaited = wait_subject::nobody;
    how_->describe(what_, result);
    return result;
  }

 private:
  struct functions {
    bool (*ready)(void*);
    void (*sleep)(void*, deadline);
    unsigned (*pauses)(void*);
    const void* (*line)(const void*);
    bool (*ask_where)(void*);
    void (*describe)(const void*, wait_subject&);
    bool has_pauses;
  };

  template <class Waitable>
  struct functions_of {
    static Waitable& at(void* what) noexcept { return *static_cast<Waitable*>(what); }
    static bool ready(void* what) { return at(what).ready(); }
    static void sleep(void* what, deadline until) { optional_parts::sleep(at(what), until, 0); }
    static unsigned pauses(void* what) { return optional_parts::pauses(at(what), 0); }
    static const void* line(const void* what) {
      return optional_parts::line(*static_cast<const Waitable*>(what), 0);
    }
    static bool ask_where(void* what) { return optional_parts::ask_where(at(what), 0); }
    static void describe(const void* what, wait_subject& to) {
      optional_parts::describe(*static_cast<const Waitable*>(what), to, 0);
    }

    static const functions table;
  };

  any_waitable(void* what, const functions& how) noexcept : what_(what), how_(&how) {}

  void* what_;
  const functions* how_;
};

template <class Waitable>
const any_waitable::functions any_waitable::functions_of<Waitable>::table = {
    &functions_of::ready,
    &functions_of::sleep,
    &functions_of::pauses,
    &functions_of::line,
    &functions_of::ask_where,
    &functions_of::describe,
    optional_parts::has_pauses<Waitable>(0)};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_ANY_WAITABLE_HPP
