// SPDX-License-Identifier: MIT
// src/toolbox/eventual.cpp -- what eventuals of all types share: their waits, their errors (layer: toolbox)
//
// Memory order (# marks the line)
//   #  access         order    pairs  why it suffices
//   1  wait for word  acquire  -      4 of eventual.hpp, in wait_engine.hpp
#include <lockstep/eventual.hpp>

#include <stdexcept>

#include <lockstep/detail/platform/error.hpp>

#include "../wait/wait_engine.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct eventual_is_settled {
  bool operator()(std::uint32_t word) const noexcept { return word >= eventual_word::ready; }
  void describe(wait_subject& to) const noexcept { to.kind = wait_kind::eventual; }
};

LOCKSTEP_INLINE bool eventual_word::wait_slowly(wait_word& word, wait_policy policy, deadline until,
                                                call_site where) {
  return wait_until_word(word, eventual_is_settled{}, &word, policy,  // 1
                         until.nanoseconds(), where);
}

[[noreturn]] LOCKSTEP_INLINE void eventual_word::fail_second_value() {
  fail_use("lockstep::eventual: set a second time; call reset() between two values");
}
[[noreturn]] LOCKSTEP_INLINE void eventual_word::fail_without_exception() {
  fail_argument(
      "lockstep::eventual: set_exception without an exception; give it one, as "
      "std::current_exception()");
}
[[noreturn]] LOCKSTEP_INLINE void eventual_word::fail_get(std::uint32_t word,
                                                          const std::exception_ptr& error) {
  if ((word & taken) != 0) {
    fail_use(
        "lockstep::eventual: get or take after its value was taken; one thread takes, any number "
        "get");
  }
#if LOCKSTEP_HAS_EXCEPTIONS
  std::rethrow_exception(error);
#else
  static_cast<void>(error);
  fail<std::runtime_error>(
      "lockstep::eventual: get or take while it holds an exception, which cannot be thrown here");
#endif
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
