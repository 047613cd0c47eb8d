// SPDX-License-Identifier: MIT
// lockstep/call_site.hpp -- where a function that may wait was called (layer: base)
//
// A function in which a thread may wait for others has a last parameter `call_site where = {}`. Leave it out: the default
// is the file and the line of the call. The watchdog, the ledger and the timeline say it with each wait and each
// construct, for instance "for lockstep::latch at 0x7f10 (solver.cpp:41)". A function of yours that takes the parameter and
// passes it on, as in the example, is named by its callers' lines. Locks have no such parameter: the place would be a line
// of std::lock_guard.
//
// Order   none.
// Errors  none.
// Cost    two words passed by value, of which a function that is inlined keeps none. They are read only where somebody
//         watches.
// Example
//   void wait_for_all(lockstep::latch& done, lockstep::call_site where = {}) { done.wait(where); }
#ifndef LOCKSTEP_CALL_SITE_HPP
#define LOCKSTEP_CALL_SITE_HPP

#include <cstddef>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
struct call_site;
namespace detail {

/// A place in a program, kept for messages. All zero: not known.
struct source_place {
  const char* file;
  std::size_t line;  // as wide as a pointer: GCC keeps a struct without padding as two constants

  constexpr operator call_site() const noexcept;
};
/// Keeps texts from becoming call sites.
struct no_text {};

}  // namespace detail

/// The place of a call. As the default argument `{}` of a function it is the place where that function is called.
struct call_site : detail::source_place {
  constexpr call_site(detail::no_text = {}, const char* in_file = LOCKSTEP_CALLER_FILE,
                      std::size_t at_line = LOCKSTEP_CALLER_LINE) noexcept
      : source_place{in_file, at_line} {}
  /// Another place, which messages name instead. Line 0: they say the name alone, for instance of a function.
  constexpr call_site(const char* in_file, std::size_t at_line) noexcept
      : source_place{in_file, at_line} {}

  /// No place: messages name none.
  static constexpr call_site none() noexcept { return {nullptr, 0}; }
};

namespace detail {

constexpr source_place::operator call_site() const noexcept { return {file, line}; }

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_CALL_SITE_HPP
