// SPDX-License-Identifier: MIT
// src/trace/debug_aids.cpp -- LOCKSTEP_WATCHDOG and LOCKSTEP_DELAY (layer: trace)
//
// Memory order (# marks the line)
//   #  access      order    pairs  why it suffices
//   1  seed.store  relaxed  -      before any thread is delayed
#include "debug_aids.hpp"

#include <cstdio>
#include <cstring>
#include <string>

#include "../observe/hooks.hpp"

#include "../observe/observers.hpp"
#include "../platform/fork_tables.hpp"
#include "../platform/system_texts.hpp"
#include "../team/environment.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE bool parse_watchdog(const char* word, watchdog_options& result) noexcept {
  unsigned long long whole = 0, part = 0, scale = 1;
  constexpr unsigned long long most = 31536000;  // a year
  if (!read_number(word, most, whole)) return false;
  if (*word == '.') {
    for (++word; *word >= '0' && *word <= '9'; ++word) {
      if (scale == 1000000000u) continue;
      part = part * 10 + static_cast<unsigned long long>(*word - '0');
      scale *= 10;
    }
    if (scale == 1) return false;
  }
  watchdog_options said;
  const unsigned long long time = whole * 1000000000u + part * (1000000000u / scale);
  if (time == 0) return false;
  said.after(std::chrono::nanoseconds(static_cast<std::chrono::nanoseconds::rep>(time)));
  while (*word == ',') {
    ++word;
    if (std::strncmp(word, "abort", 5) == 0) {
      said.aborts(true);
      word += 5;
    } else if (std::strncmp(word, "signal", 6) == 0) {
      said.on_signal(true);
      word += 6;
    } else {
      return false;
    }
  }
  if (*word != 0) return false;
  result = said;
  return true;
}

LOCKSTEP_INLINE bool parse_delay(const char* word, std::uint64_t& seed) noexcept {
  unsigned long long number = 0;
  if (!read_number(word, ~0ull, number) || *word != 0) return false;
  seed = number;
  return true;
}

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
      std::fputs("lockstep: LOCKSTEP_WATCHDOG: the system gives no thread or no pipe\n", stderr);
    }
  }
}

// When the module is loaded, where there is such a time: so a program without a team is watched, too. Else with the
// first team.
LOCKSTEP_AT_LOAD start_debug_aids_at_load() { start_debug_aids(); }

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
