// SPDX-License-Identifier: MIT
// src/trace/trace.cpp -- the bodies of trace.hpp (layer: trace)
#include <lockstep/trace.hpp>

#include "../observe/hooks.hpp"
#include "recorder.hpp"
#include "trace_export.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

namespace detail {
LOCKSTEP_INLINE void note_user_mark(const char* name, std::uint64_t value) noexcept {
  note_mark(mark_kind::user, name, nullptr, value);
}
}  // namespace detail

LOCKSTEP_INLINE bool start_trace(trace_options options) {
  return detail::recorder::start_with_room(options.records_per_thread,
                                           options.full == when_full::stop);
}
LOCKSTEP_INLINE bool stop_trace() {
  const std::string path = detail::trace_export::take_path();
  return detail::recorder::stop() && (path.empty() || write_trace(path.c_str()));
}
LOCKSTEP_INLINE bool stop_trace(const char* file) { return stop_trace() && write_trace(file); }
LOCKSTEP_INLINE bool write_trace(const char* file) { return detail::trace_export::write(file); }
LOCKSTEP_INLINE std::string trace_summary() { return detail::trace_export::summary(); }
LOCKSTEP_INLINE void name_this_thread(const char* name) noexcept {
  if (name == nullptr) name = "";
  detail::thread_logs::name_mine(name);
  detail::thread_log* const log = detail::log_of_this_thread();
  if (log == nullptr || !is_tracing()) return;
  const std::uint64_t now = detail::tick_clock::now();
  detail::recorder::put(*log, detail::record_kind::begin, 1, now, now, name, 0);
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
