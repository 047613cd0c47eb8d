// SPDX-License-Identifier: MIT
// src/trace/trace_file.cpp -- trace.hpp: starts and stops traces, writes Trace Event JSON and a summary (layer: trace)
//
// The file opens in Perfetto and chrome://tracing. Events by category:
//     region, part       a region or loop on its caller (args.where); what each member, or another for it, ran of it
//     construct          from a member's call until it went on; args.waited: how long it waited for the others
//     wait, stage        a wait, from the end of its first poll on; how long of it the thread yielded, and slept
//     node, user         nodes of plans; scopes of trace_scope
//     decision, woken, anticipated, missed wake-up, share taken over, separated, crowded, user   instants; args.why
//     wake, arrow        a thread wakes sleepers; arrows from the thread that releases to the thread released:
//                        barrier (from the last to arrive), region (from its caller to the first part of each member),
//                        wake (of a sleeper), end of part, node, step, and notify, for any other wait
//
// A thread that lost records has "thread_lost" in its metadata: how many, and from when on none is missing.
//
//   EXPORT-1  The JSON is valid whatever names the program gives: text that is no UTF-8 is replaced.
//   EXPORT-2  Slices of a track nest, and are in the order of their begins.
//   EXPORT-3  If a file cannot be written, a message names it, with the system's reason.
//
// Cost   0.3 us a record.
#include <errno.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <lockstep/trace.hpp>
#include "../observe/hooks.hpp"
#include "../platform/fork.hpp"
#include "../platform/native_system.hpp"
#include "../platform/signals.hpp"
#include "../platform/system_texts.hpp"
#include "../platform/user_files.hpp"
#include "json_writer.hpp"
#include "trace_view.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class trace_writer {
 public:
  trace_writer(const trace_view& of, std::FILE* to) noexcept : of_(of), to_(to) {}

  bool write() {
    out_.put("{").field("traceEvents").put("[\n");
    meta(0, "process_name").field("name", native_system::program_name()).put("}}");
    for (std::size_t i = 0; i < of_.tracks.size(); ++i) {
      const trace_view::track& at = of_.tracks[i];
      out_.put(",\n");
      meta(i, "thread_name").field("name", at.name.text).put("}},\n");
      meta(i, "thread_sort_index").field("sort_index", i).put("}}");
      if (at.lost != 0) {
        out_.put(",\n");
        meta(i, "thread_lost").field("records", at.lost);
        out_.time_field("whole_from", of_.time(at.whole_from)).put("}}");
      }
      write_track(at);
    }
    for (const trace_view::arrow& each : of_.arrows) write_arrow(each);
    out_.put("\n]").field("displayTimeUnit", "ns").field("otherData").put("{");
    out_.field("lockstep", LOCKSTEP_VERSION).field("members", of_.members);
    out_.field("dropped", of_.lost);
    out_.time_field("duration_us", of_.time(of_.end)).put("}}\n");
    return out_.flush(to_, 0) && is_good_;
  }

 private:
  static constexpr std::size_t most_open = 64;

  /// Ends an event of many.
  void separate() {
    out_.put(",\n");
    is_good_ = out_.flush(to_, std::size_t{1} << 16) && is_good_;
  }
  json_writer& place(std::size_t track) { return out_.field("pid", process_).field("tid", track); }
  /// The arguments follow, as in all events.
  json_writer& meta(std::size_t track, const char* name) {
    out_.put("{").field("name", name).field("ph", "M");
    return place(track).field("args").put("{");
  }
  void write_track(const trace_view::track& at) {
    std::uint64_t open[most_open];  // ends of the slices around
    std::size_t depth = 0;
    for (std::size_t i = at.first; i < at.last; ++i) {
      const trace_view::event& each = of_.events[i];
      const record_kind kind = of_.record_of(each).kind;
      if (kind == record_kind::begin || kind == record_kind::none) continue;
      const std::uint64_t begin = of_.time(each.begin);
      std::uint64_t end = of_.time(each.end);
      while (depth > 0 && open[depth - 1] <= begin) --depth;
      if (depth > 0 && end > open[depth - 1]) end = open[depth - 1];  // EXPORT-2
      separate();
      write_event(each, begin, end);
      out_.put("}}");
      const bool is_slice = kind != record_kind::mark && kind != record_kind::counter;
      if (is_slice && end > begin && depth < most_open) open[depth++] = end;
    }
  }
  void head(const trace_view::event& of, const char* before, const char* name, const char* label,
            const char* category, const char* phase, std::uint64_t begin) {
    out_.put("{").field("name").put("\"").put(before).characters(name);
    if (label != nullptr) out_.put(" '").characters(label).put("'");
    out_.put("\"");
    if (category != nullptr) out_.field("cat", category);
    out_.field("ph", phase).time_field("ts", begin);
    place(of.track);
  }
  json_writer& instant(const trace_view::event& of, const char* name, const char* category,
                       const char* phase, std::uint64_t begin) {
    head(of, "", name, nullptr, category, phase, begin);
    if (category != nullptr) out_.field("s", "t");  // on its thread only
    return out_.field("args").put("{");
  }
  json_writer& slice(const trace_view::event& of, const char* name, const char* category,
                     std::uint64_t begin, std::uint64_t end, const char* before = "",
                     const char* label = nullptr) {
    head(of, before, name, label, category, "X", begin);
    return out_.time_field("dur", end - begin).field("args").put("{");
  }
  void site(const trace_record& of) {
    if (of.file == nullptr) return;
    out_.field("where").put("\"").characters(of.file);
    if (of.line != 0) out_.put(":").number(of.line);
    out_.put("\"");
  }
  void write_event(const trace_view::event& each, std::uint64_t begin, std::uint64_t end) {
    static const char* const stages[] = {"spin", "yield", "sleep"};
    static const char* const marks[] = {
        "decision",         "woken",     "anticipated", "missed wake-up",
        "share taken over", "separated", "crowded",     "user"};
    const trace_record& at = of_.record_of(each);
    const char* const name = at.text != nullptr ? at.text : "?";
    switch (at.kind) {
      case record_kind::region:
        slice(each, at.label != nullptr ? at.label : name, "region", begin, end);
        out_.field("kind", name).address_field("team", at.number);
        out_.field("region", at.region).field("members", at.size);
        if (at.phase != 0) out_.field("parts", at.phase);
        if (at.more != 0) out_.field("iterations", at.more);
        return site(at);
      case record_kind::part:
        slice(each, name, "part", begin, end).address_field("team", at.number);
        out_.field("region", at.region).field("rank", at.rank);
        out_.field("of", at.size).field("part", at.phase);
        return;
      case record_kind::construct: {
        slice(each, name, "construct", begin, end).address_field("team", at.number);
        const std::uint64_t arrived = of_.time(each.begin + at.more);
        out_.field("region", at.region).field("phase", at.phase);
        out_.field("rank", at.rank).field("of", at.size);
        out_.time_field("waited", end > arrived ? end - arrived : 0);
        return site(at);
      }
      case record_kind::wait:
        slice(each, name, "wait", begin, end, "waits for ", at.label).field("for", name);
        if (at.label != nullptr) out_.field("label", at.label);
        out_.address_field("object", at.number);
        out_.field("stage", stages[at.stage % 3]).field("phase", at.phase);
        if (at.size != wait_subject::nobody) out_.field("awaited", at.size);
        return site(at);
      case record_kind::stage: slice(each, name, "stage", begin, end); return;
      case record_kind::node:
        slice(each, name, "node", begin, end).field("iteration", at.number);
        return;
      case record_kind::wake:
        slice(each, "wakes", "wake", begin, end).address_field("word", at.number);
        return;
      case record_kind::mark:
        instant(each, name, marks[at.detail % 8], "i", begin).field("value", at.number);
        if (at.label != nullptr) out_.field("why", at.label);
        return;
      case record_kind::counter: {
        double value = 0;
        std::memcpy(&value, &at.number, sizeof value);
        instant(each, name, nullptr, "C", begin).field("value").real(value);
        return;
      }
      default: slice(each, name, "user", begin, end);
    }
  }
  void write_arrow(const trace_view::arrow& each) {
    ++arrows_;
    std::uint64_t sent = of_.time(each.sent), came = of_.time(each.came);
    if (each.leaves_end && sent > 0) --sent;
    if (each.comes_to_end && came > sent) --came;
    for (const bool is_begin : {true, false}) {
      separate();
      out_.put("{").field("name", each.name).field("cat", "arrow");
      out_.field("ph", is_begin ? "s" : "f");
      if (!is_begin) out_.field("bp", "e");
      out_.field("id", arrows_).time_field("ts", is_begin ? sent : came);
      place(is_begin ? each.from : each.to).put("}");
    }
  }

  const trace_view& of_;
  const std::uint64_t process_ = native_system::process_number();
  std::FILE* const to_;
  bool is_good_ = true;
  std::uint64_t arrows_ = 0;
  json_writer out_;
};

/// The time that a name took, over all threads. Regions are told apart by name and place.
struct named_time {
  const char *name, *file;
  std::uint64_t line;
  record_kind kind;
  std::uint64_t count, sum, most;  ///< nanoseconds
};

/// The word for a kind in the table; null if the kind is not in it.
LOCKSTEP_INLINE const char* shown_kind(record_kind kind) noexcept {
  switch (kind) {
    case record_kind::region: return "region";
    case record_kind::construct: return "construct";
    case record_kind::node: return "node";
    case record_kind::wait: return "wait for";
    case record_kind::mark: return "mark";
    case record_kind::user: return "part";
    default: return nullptr;
  }
}

/// Adds an event to the times of its name. Each text is kept once, so equal texts have one address.
LOCKSTEP_INLINE void add_named_time(std::vector<named_time>& to, const trace_view& all,
                                    const trace_view::event& one, std::uint64_t took) {
  const trace_record& record = all.record_of(one);
  if (shown_kind(record.kind) == nullptr || record.text == nullptr) return;
  named_time made = {record.text, nullptr, 0, record.kind, 0, 0, 0};
  if (record.kind == record_kind::region) {
    if (record.label != nullptr) made.name = record.label;
    made.file = record.file;
    made.line = record.line;
  }
  const auto same = std::find_if(to.begin(), to.end(), [&made](const named_time& each) {
    return each.name == made.name && each.kind == made.kind && each.file == made.file &&
           each.line == made.line;
  });
  named_time& sums = same != to.end() ? *same : (to.push_back(made), to.back());
  ++sums.count;
  sums.sum += took;
  sums.most = (std::max)(sums.most, took);
}

/// Adds the line of a track to the table of threads, and its events to the times of their names.
LOCKSTEP_INLINE void add_track_line(std::string& text, std::vector<named_time>& names,
                                    const trace_view& all, const trace_view::track& at) {
  std::uint64_t parts = 0, inside = 0, waiting = 0, waiting_inside = 0, part_end = 0, wait_end = 0;
  for (std::size_t i = at.first; i < at.last; ++i) {
    const trace_view::event& each = all.events[i];
    const record_kind kind = all.record_of(each).kind;
    const std::uint64_t took = all.nanoseconds(each.end - each.begin);
    if (kind == record_kind::part && each.begin >= part_end) {
      ++parts;
      inside += took;
      part_end = each.end;
    }
    if (kind == record_kind::wait && each.begin >= wait_end) {
      waiting += took;
      if (each.begin < part_end) waiting_inside += took;
      wait_end = each.end;
    }
    add_named_time(names, all, each, took);
  }
  const std::uint64_t whole = all.time(all.end), busy = inside - (std::min)(inside, waiting_inside);
  append(text, "  %-20s %7llu %12.1f %12.1f %5.1f%%\n", one_line(at.name.text).c_str(),
         static_cast<unsigned long long>(parts), static_cast<double>(inside) / 1000,
         static_cast<double>(waiting) / 1000,
         whole > 0 ? 100 * static_cast<double>(busy) / static_cast<double>(whole) : 0);
}

/// The path for the trace that LOCKSTEP_TRACE has started; from now on it has none. Empty if there is none.
LOCKSTEP_INLINE std::string take_trace_path() {
  trace_session* const of = recorder::session();
  if (of == nullptr) return std::string();
  const holding<fork_section> held(process().trace_forks);
  if (!of->is_to_be_written) return std::string();
  of->is_to_be_written = false;
  return of->path;
}

/// Stops the trace that LOCKSTEP_TRACE has started, and writes it.
LOCKSTEP_INLINE void end_trace_of_program() {
  const bool is_written = has_memory_for([] {
    const std::string path = take_trace_path();
    if (path.empty()) return;
    recorder::stop();
    write_trace(path.c_str());
  });
  if (is_written) return;
  std::fputs("lockstep: LOCKSTEP_TRACE: there is no memory to write the trace\n", stderr);
}

LOCKSTEP_INLINE void start_trace_of_program(const char* path, const char* whose,
                                            std::size_t records) {
  std::string real;
  for (const char* at = path; *at != 0; ++at) {
    if (at[0] == '%' && at[1] == 'p') {
      append(real, "%llu", static_cast<unsigned long long>(native_system::process_number()));
      ++at;
    } else {
      real.push_back(*at);
    }
  }
  real = absolute_path(real.c_str());
  const int saved = errno;
  const bool is_short = real.size() < sizeof(trace_session::path);
  const bool is_possible = is_short && replaced_file::is_possible(real.c_str());
  if (!is_possible) {
    std::fprintf(stderr, "lockstep: %s='%s' is ignored: %s\n", whose, path,
                 is_short ? std::strerror(errno) : "it is too long");
  }
  errno = saved;
  if (!is_possible) return;
  if (!recorder::start_with_room(records)) {
    if (recorder::is_running()) return;  // the program has started one
    std::fprintf(stderr, "lockstep: %s='%s' is ignored: there is no memory for %zu records\n",
                 whose, path, records);
    return;
  }
  {
    const holding<fork_section> held(process().trace_forks);
    trace_session& of = *recorder::session();
    std::memcpy(of.path, real.c_str(), real.size() + 1);
    of.is_to_be_written = true;
  }
  std::atexit(&end_trace_of_program);
}

}  // namespace detail

LOCKSTEP_INLINE bool start_trace(trace_options options) {
  return detail::recorder::start_with_room(options.records_per_thread);
}
LOCKSTEP_INLINE bool stop_trace() {
  const std::string path = detail::take_trace_path();
  return detail::recorder::stop() && (path.empty() || write_trace(path.c_str()));
}
LOCKSTEP_INLINE bool stop_trace(const char* file) { return stop_trace() && write_trace(file); }

LOCKSTEP_INLINE bool write_trace(const char* file) {
  const detail::calm_writes calm;
  const int saved = errno;
  errno = 0;
  detail::replaced_file to(file);
  bool is_written = false;
  if (to.stream() != nullptr) {
    const detail::trace_view what;
    is_written = detail::trace_writer(what, to.stream()).write() && to.finish();
  }
  if (!is_written) {
    std::fprintf(stderr, "lockstep: the trace cannot be written to '%s': %s\n", file,
                 errno != 0 ? std::strerror(errno) : "?");
  }
  errno = saved;
  return is_written;
}

LOCKSTEP_INLINE std::string trace_summary() {
  using namespace detail;
  const trace_view all;
  std::string text;
  append(text, "trace of %.1f us, %s, %s, %llu lost\n",
         static_cast<double>(all.time(all.end)) / 1000,
         counted(all.tracks.size(), "thread").c_str(), counted(all.events.size(), "event").c_str(),
         static_cast<unsigned long long>(all.lost));
  append(text, "  %-20s %7s %12s %12s %6s\n", "thread", "parts", "in parts/us", "waiting/us",
         "busy");
  std::vector<named_time> names;
  for (const trace_view::track& at : all.tracks) add_track_line(text, names, all, at);
  std::sort(names.begin(), names.end(),
            [](const named_time& a, const named_time& b) { return a.sum > b.sum; });
  append(text, "  %-32s %-10s %9s %12s %10s %10s\n", "name", "is a", "count", "sum/us", "mean/us",
         "most/us");
  for (const named_time& each : names) {
    std::string name = one_line(each.name);
    if (each.file != nullptr) name += " at " + site_text(each.file, each.line);
    append(text, "  %-32s %-10s %9llu %12.1f %10.3f %10.3f\n", name.c_str(), shown_kind(each.kind),
           static_cast<unsigned long long>(each.count), static_cast<double>(each.sum) / 1000,
           static_cast<double>(each.sum) / 1000 / static_cast<double>(each.count),
           static_cast<double>(each.most) / 1000);
  }
  return text;
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
