// SPDX-License-Identifier: MIT
// src/trace/debug_aids.cpp -- starts what LOCKSTEP_WATCHDOG and LOCKSTEP_DELAY ask for (layer: trace)
//
// Memory order (# marks the line)
//   #  access      order    pairs  why it suffices
//   1  seed.store  relaxed  -      before any thread is delayed
#include "debug_aids.hpp"

#include <cstdio>
#include <string>

#include "../observe/hooks.hpp"
#include "../observe/observers.hpp"
#include "../platform/fork.hpp"
#include "../team/environment.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE bool is_watchdog_value(const char* word) noexcept {
  watchdog_options how;
  return parse_watchdog(word, how);
}
LOCKSTEP_INLINE bool is_delay_value(const char* word) noexcept {
  std::uint64_t seed = 0;
  return parse_delay(word, seed);
}

LOCKSTEP_INLINE void complain_of(const char* name, const std::string& word,
                                 const char* expected) noexcept {
  std::fprintf(stderr, "lockstep: %s=%s is ignored: must be %s\n", name,
               quoted_text(word.c_str()).c_str(), expected);
}

LOCKSTEP_INLINE void start_debug_aids() noexcept {
  const char* const patience = obeyed_variable("LOCKSTEP_WATCHDOG");
  const char* const seed_text = obeyed_variable("LOCKSTEP_DELAY");
  if ((patience == nullptr && seed_text == nullptr) || !is_first_to_print(message::debug_aids)) {
    return;
  }
  std::uint64_t seed = 0;
  std::string word = plain_word(seed_text);
  if (!word.empty()) {
    if (parse_delay(word.c_str(), seed)) {
      process().delay_seed.store(seed, memory_order_relaxed);  // 1
      begin_to_observe(observer::delays);
    } else {
      complain_of("LOCKSTEP_DELAY", word, debug_aid_values::delay());
    }
  }
  watchdog_options how;
  word = plain_word(patience);
  if (!word.empty()) {
    if (!parse_watchdog(word.c_str(), how)) {
      complain_of("LOCKSTEP_WATCHDOG", word, debug_aid_values::watchdog());
    } else if (!start_watchdog(how)) {
      std::fputs("lockstep: LOCKSTEP_WATCHDOG: the system gives no thread\n", stderr);
    }
  }
}

// When the module is loaded, if calls_at_load: then a program without a team is watched, too. Else when the first team
// is made.
LOCKSTEP_AT_LOAD start_debug_aids_at_load() { start_debug_aids(); }

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
