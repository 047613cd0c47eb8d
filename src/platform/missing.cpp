// SPDX-License-Identifier: MIT
// src/platform/missing.cpp -- the bodies of missing.hpp (layer: platform)
#include "missing.hpp"

#include <string>

#include "cpus.hpp"
#include "made_once.hpp"
#include "this_thread.hpp"
#if defined(_WIN32)
#include "timed_sleep_windows.hpp"
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE std::string list_missing() {
#if defined(__linux__)
  constexpr bool tells_of_quotas = true, fine_timers = true;
#elif defined(_WIN32)
  constexpr bool tells_of_quotas = false;
  const bool fine_timers = has_fine_timers();
#elif defined(__OpenBSD__) || defined(__NetBSD__)
  // Sleeps end on a tick of the system, 10 ms apart.
  constexpr bool tells_of_quotas = false, fine_timers = false;
#else
  constexpr bool tells_of_quotas = false, fine_timers = true;
#endif
  const struct {
    bool is_there;
    const char* what;
  } things[] = {
      {native_futex::name() != std::string("mutex and condition variable"), "sleeping on a word"},
      {process_fence::prepare() == process_fence::kind::asymmetric, "process-wide fence"},
      {can_bind_threads, "binding of threads"},
      {can_name_threads, "names of threads"},
      {tells_of_quotas, "quotas of CPU time"},
      {fine_timers, "timers finer than a millisecond"},
  };
  std::string text;
  for (const auto& thing : things) {
    if (thing.is_there) continue;
    if (!text.empty()) text += ", ";
    text += thing.what;
  }
  return text.empty() ? "nothing" : text;
}

LOCKSTEP_INLINE const char* text_of_missing() {
  static made_once<std::string> known;
  return known.get([] { return list_missing(); }).c_str();
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
