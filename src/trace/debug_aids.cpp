// SPDX-License-Identifier: MIT
// src/trace/debug_aids.cpp -- the bodies of debug_aids.hpp (layer: trace)
//
// Memory order (# marks the line)
//   #  access      order    pairs  why it suffices
//   1  seed.store  relaxed  -      before any thread is delayed
//   2  seed.load   relaxed  -      a number that stands for itself
#include "debug_aids.hpp"

#include <cstdio>
#include <cstring>
#include <string>

#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/detail/platform/system.hpp>
#include "../observe/hooks.hpp"
#include "../observe/observers.hpp"
#include "../platform/fork.hpp"
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

LOCKSTEP_INLINE std::uint64_t delay_at(std::uint64_t seed, std::uint64_t thread,
                                       std::uint64_t point) noexcept {
  // As splitmix64, over all three numbers.
  std::uint64_t bits = seed * 0x9E3779B97F4A7C15u + thread * 0xD1B54A32D192ED03u + point + 1;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u + 0x94D049BB133111EBu * (point + 1);
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
  bits ^= bits >> 31;
  const std::uint64_t kind = bits & 63u, fraction = (bits >> 32) & 0xFFFFu;
  if (kind < 32) return 0;
  if (kind < 56) return 100 + fraction * 4900 / 65536;
  if (kind < 63) return 20000 + fraction * 180000 / 65536;
  return 200000 + fraction * 1800000 / 65536;
}

LOCKSTEP_INLINE void delay_thread(thread_log& log) noexcept {
  const std::uint64_t number = log.delays++;
  const std::uint64_t seed = process().delay_seed.load(memory_order_relaxed);  // 2
  const std::uint64_t time = delay_at(seed, log.track(), number);
  if (time == 0) return;
  const std::uint64_t begin = steady_nanoseconds();
  while (steady_nanoseconds() - begin < time) {
    if (time >= 20000) yield_native_thread();
  }
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
      std::fputs("lockstep: LOCKSTEP_WATCHDOG: the system gives no thread\n", stderr);
    }
  }
}

// When the module is loaded, if calls_at_load, so that a program without a team is watched, too. Else when the first
// team is made.
LOCKSTEP_AT_LOAD start_debug_aids_at_load() { start_debug_aids(); }

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
