// SPDX-License-Identifier: MIT
// src/platform/system.cpp -- the bodies of system.hpp, and what process.hpp asks the system (layer: platform)
//
// They call the system that native_system.hpp has chosen.
//
// Memory order (# marks the line)
//   #  access         order    pairs  why it suffices
//   1  count.load     relaxed  -      a number that stands for itself
//   2  count changes  relaxed  -      as 1
#include "system.hpp"

#include <cstring>

#include "native_system.hpp"
#include "once.hpp"
#include "process.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Some systems find out at run time that they have no futex of their own.
inline bool is_futex_portable() noexcept {
#if defined(_WIN32)
  return false;
#else
  return std::strcmp(native_futex::name(), portable_futex::name()) == 0;
#endif
}
LOCKSTEP_INLINE void prepare_futex_for_fork() {
#if !defined(_WIN32)
  if (is_futex_portable()) portable_futex::prepare_for_fork();
#endif
}

LOCKSTEP_INLINE bool name_this_thread(const char* name) noexcept {
  return native_system::set_name(name);
}

#if !defined(LOCKSTEP_SYSTEM_SEAM)

/// The count that is kept there: this one if it is the first.
LOCKSTEP_INLINE std::uint32_t keep_first(unseamed_atomic<std::uint32_t>& kept,
                                         std::uint32_t count) noexcept {
  std::uint32_t known = 0;
  const bool is_first = kept.compare_exchange_strong(known, count, memory_order_relaxed,  // 2
                                                     memory_order_relaxed);               // 1
  return is_first ? count : known;
}

LOCKSTEP_INLINE unsigned usable_cpus() {
  const std::uint32_t known = process().usable_cpus.load(memory_order_relaxed);  // 1
  if (known != 0) return known;
  const std::uint32_t count = keep_first(process().usable_cpus, count_usable_cpus());
  process().cpus_for_waits.store(count, memory_order_relaxed);  // 2
  return count;
}

LOCKSTEP_INLINE unsigned cpus_for_waits() noexcept {
  const std::uint32_t known = process().cpus_for_waits.load(memory_order_relaxed);  // 1
  return known != 0 ? known : keep_first(process().cpus_for_waits, count_affine_cpus());
}

#endif

LOCKSTEP_INLINE std::string list_missing() {
  const struct {
    bool is_there;
    const char* what;
  } things[] = {
      {!is_futex_portable(), "sleeping on a word"},
      {process_fence::prepare() == process_fence::kind::asymmetric, "process-wide fence"},
      {native_system::binds_threads, "binding of threads"},
      {native_system::names_threads, "names of threads"},
      {native_system::tells_of_quotas, "quotas of CPU time"},
      {native_system::has_fine_timers, "timers finer than a millisecond"},
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
