// SPDX-License-Identifier: MIT
// src/trace/trace_export.hpp -- writes a trace as Trace Event JSON, and as a text (layer: trace)
//
// The file opens in Perfetto and chrome://tracing. Events by category:
//     region, part       a region or loop on its caller (args.where); what each member, or another for it, ran of it
//     construct          from a member's call to when it went on; args.waited: for the others
//     wait, stage        from the first poll on; how long of it the thread yielded and slept
//     node, user         of plans; of trace_scope
//     decision, woken, anticipated, missed wake-up, share taken over, separated, crowded, user   instants; args.why
//     wake, arrow        who woke a sleeper; arrows from the thread that released to the one released:
//                        barrier (from the last to arrive), region (from its caller to the first part of each member),
//                        wake (of a sleeper), end of part, node, step, and notify: of any other wait
//
// A thread of which records were lost has "thread_lost" among its metadata: how many, and from when to when there are all.
//
//   EXPORT-1  The JSON is valid whatever names the program gives: text that is no UTF-8 is replaced.
//   EXPORT-2  Slices of a track nest; their begins do not go back.
//   EXPORT-3  A file that cannot be written is told by its name, once, with the system's reason.
//
// Cost   0.3 us a record.
#ifndef LOCKSTEP_SRC_TRACE_TRACE_EXPORT_HPP
#define LOCKSTEP_SRC_TRACE_TRACE_EXPORT_HPP

#include <string>

#include "trace_view.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct trace_export {
  /// Writes all records to a file; false, and a message, if it cannot be written.
  static bool write(const char* path);
  /// A table of threads, and one of names.
  static std::string summary();

  /// Starts a trace that is written when the program ends, to where that name leads now. `path`: %p in it is the number of
  /// the process.
  static bool start_for_program(const char* path, const char* whose, std::size_t records);
  /// Stops that, and writes it; nothing if there is none.
  static void end_of_program();
  /// Where that was to be written; from now on it is not. Empty if there is none.
  static std::string take_path();
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_TRACE_EXPORT_HPP
