// SPDX-License-Identifier: MIT
// src/trace/trace_export.cpp -- the bodies of trace_export.hpp (layer: trace)
#include "trace_export.hpp"

#include <errno.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "../platform/fork.hpp"
#include "../platform/system_texts.hpp"
#include "../platform/user_files.hpp"
#include "json_writer.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class trace_writer {
 public:
  trace_writer(const trace_view& of, std::FILE* to) noexcept : of_(of), out_(to) {}

  bool write() {
    out_.put("{\"traceEvents\":[\n");
    meta(0, "process_name").text(program_name()).put("}}");
    for (std::size_t i = 0; i < of_.tracks.size(); ++i) {
      const trace_view::track& at = of_.tracks[i];
      out_.put(",\n");
      meta(i, "thread_name").text(at.name.text).put("}}");
      out_.put(",\n");
      meta(i, "thread_sort_index", "sort_index").number(i).put("}}");
      if (at.lost != 0) write_loss(i, at);
      write_track(at);
    }
    for (const trace_view::arrow& each : of_.arrows) write_arrow(each);
    out_.put("\n],\"displayTimeUnit\":\"ns\",\"otherData\":{\"lockstep\":\"" LOCKSTEP_VERSION
             "\",\"members\":")
        .number(of_.members);
    out_.put(",\"dropped\":").number(of_.lost).put(",\"when_full\":");
    out_.put(of_.stops ? "\"stop\"" : "\"overwrite\"").put(",\"duration_us\":");
    out_.time(of_.time(of_.end)).put("}}\n");
    return out_.flush();
  }

 private:
  static constexpr std::size_t most_open = 64;

  json_writer& meta(std::size_t track, const char* name, const char* argument = "name") {
    out_.put("{\"name\":\"").put(name).put("\",\"ph\":\"M\"");
    place(track);
    return out_.put(",\"args\":{\"").put(argument).put("\":");
  }
  void write_loss(std::size_t track, const trace_view::track& at) {
    out_.put(",\n");
    meta(track, "thread_lost", "records").number(at.lost).put(",\"whole_from\":");
    out_.time(of_.time(at.whole_from)).put(",\"whole_until\":").time(of_.time(at.whole_until));
    out_.put("}}");
  }
  void place(std::size_t track) {
    out_.put(",\"pid\":").number(process_).put(",\"tid\":").number(track);
  }
  void write_track(const trace_view::track& at) {
    std::uint64_t open[most_open];  // ends of the slices around
    std::size_t depth = 0;
    for (std::size_t i = at.first; i < at.last; ++i) {
      const trace_view::event& each = of_.events[i];
      const record_kind kind = of_.record_of(each).kind();
      if (kind == record_kind::begin || kind == record_kind::none) continue;
      const std::uint64_t begin = of_.time(each.begin);
      std::uint64_t end = of_.time(each.end);
      while (depth > 0 && open[depth - 1] <= begin) --depth;
      if (depth > 0 && end > open[depth - 1]) end = open[depth - 1];  // EXPORT-2
      out_.put(",\n");
      write_event(each, begin, end);
      const bool is_slice = kind != record_kind::mark && kind != record_kind::counter;
      if (is_slice && end > begin && depth < most_open) open[depth++] = end;
    }
  }
  /// Up to the arguments, which follow.
  json_writer& head(const trace_view::event& of, const char* before, const char* name,
                    const char* category, const char* phase, std::uint64_t begin,
                    const char* label = nullptr) {
    out_.put("{\"name\":\"").put(before).characters(name);
    if (label != nullptr) out_.put(" '").characters(label).put("'");
    out_.put("\"");
    if (category != nullptr) out_.put(",\"cat\":\"").put(category).put("\"");
    out_.put(",\"ph\":\"").put(phase).put("\",\"ts\":").time(begin);
    place(of.track);
    return out_;
  }
  json_writer& slice(const trace_view::event& of, const char* before, const char* name,
                     const char* category, std::uint64_t begin, std::uint64_t end,
                     const char* label = nullptr) {
    return head(of, before, name, category, "X", begin, label).put(",\"dur\":").time(end - begin);
  }
  void site(const char* file, std::uint64_t line) {
    if (file == nullptr) return;
    out_.put(",\"where\":\"").characters(file);
    if (line != 0) out_.put(":").number(line);
    out_.put("\"");
  }
  void write_event(const trace_view::event& each, std::uint64_t begin, std::uint64_t end) {
    const trace_record& at = of_.record_of(each);
    const trace_record* const rest = of_.rest_of(each);
    const char* const name = at.text() != nullptr ? at.text() : "?";
    switch (at.kind()) {
      case record_kind::region: return write_region(each, at, rest, begin, end);
      case record_kind::part:
        slice(each, "", name, "part", begin, end).put(",\"args\":{\"team\":").address(at.number());
        if (rest != nullptr) {
          out_.put(",\"region\":").number(rest->high()).put(",\"rank\":").number(rest->rank());
          out_.put(",\"of\":").number(rest->size()).put(",\"part\":").number(rest->low());
        }
        break;
      case record_kind::construct:
        slice(each, "", name, "construct", begin, end)
            .put(",\"args\":{\"team\":")
            .address(at.number());
        if (rest != nullptr) {
          const std::uint64_t arrived = of_.time(each.begin + (rest->rest_number() >> 24));
          out_.put(",\"region\":").number(rest->high()).put(",\"phase\":").number(rest->low());
          out_.put(",\"rank\":").number(rest->rank()).put(",\"of\":").number(rest->size());
          out_.put(",\"waited\":").time(end > arrived ? end - arrived : 0);
          site(rest->rest_text(), rest->rest_number() & 0xFFFFFF);
        }
        break;
      case record_kind::wait: {
        static const char* const stages[] = {"spin", "yield", "sleep"};
        const char* const label = of_.label_of(each);
        slice(each, "waits for ", name, "wait", begin, end, label);
        out_.put(",\"args\":{\"for\":").text(name);
        if (label != nullptr) out_.put(",\"label\":").text(label);
        out_.put(",\"object\":").address(at.number()).put(",\"stage\":\"");
        out_.put(stages[static_cast<unsigned>(at.wait_stage_of()) % 3]).put("\"");
        if (rest != nullptr) {
          out_.put(",\"phase\":").number(rest->high());
          if (rest->size() != 0xFFFFFF) out_.put(",\"awaited\":").number(rest->size());
          site(rest->rest_text(), rest->low());
        }
        break;
      }
      case record_kind::stage: slice(each, "", name, "stage", begin, end).put(",\"args\":{"); break;
      case record_kind::node:
        slice(each, "", name, "node", begin, end)
            .put(",\"args\":{\"iteration\":")
            .number(at.number());
        break;
      case record_kind::wake:
        slice(each, "", "wakes", "wake", begin, end)
            .put(",\"args\":{\"word\":")
            .address(at.number());
        break;
      case record_kind::mark: return write_mark(each, at, rest, begin);
      case record_kind::counter: {
        double value = 0;
        const std::uint64_t bits = at.number();
        std::memcpy(&value, &bits, sizeof value);
        head(each, "", name, nullptr, "C", begin).put(",\"args\":{\"value\":").real(value);
        break;
      }
      default: slice(each, "", name, "user", begin, end).put(",\"args\":{");
    }
    out_.put("}}");
  }
  void write_region(const trace_view::event& each, const trace_record& at, const trace_record* rest,
                    std::uint64_t begin, std::uint64_t end) {
    const char* const kind = at.text() != nullptr ? at.text() : "region";
    const char* const user = rest != nullptr ? rest->rest_text() : nullptr;
    slice(each, "", user != nullptr ? user : kind, "region", begin, end);
    out_.put(",\"args\":{\"kind\":").text(kind).put(",\"team\":").address(at.number());
    if (rest != nullptr) {
      out_.put(",\"region\":").number(rest->high()).put(",\"members\":").number(rest->size());
      if (rest->low() != 0) out_.put(",\"parts\":").number(rest->low());
      if (rest->rest_number() != 0) out_.put(",\"iterations\":").number(rest->rest_number());
    }
    if (const trace_record* const where = of_.site_of(each)) site(where->text(), where->number());
    out_.put("}}");
  }
  void write_mark(const trace_view::event& each, const trace_record& at, const trace_record* rest,
                  std::uint64_t begin) {
    static const char* const categories[] = {
        "decision",         "woken",     "anticipated", "missed wake-up",
        "share taken over", "separated", "crowded",     "user"};
    head(each, "", at.text() != nullptr ? at.text() : "?", categories[at.detail() % 8], "i", begin);
    out_.put(",\"s\":\"t\",\"args\":{\"value\":").number(at.number());
    if (rest != nullptr && rest->rest_text() != nullptr) {
      out_.put(",\"why\":").text(rest->rest_text());
    }
    out_.put("}}");
  }
  void write_arrow(const trace_view::arrow& each) {
    ++arrows_;
    std::uint64_t sent = of_.time(each.sent), came = of_.time(each.came);
    if (each.leaves_end && sent > 0) --sent;
    if (each.comes_to_end && came > sent) --came;
    out_.put(",\n{\"name\":\"").put(each.name).put("\",\"cat\":\"arrow\",\"ph\":\"s\",\"id\":");
    out_.number(arrows_).put(",\"ts\":").time(sent);
    place(each.from);
    out_.put("},\n{\"name\":\"")
        .put(each.name)
        .put("\",\"cat\":\"arrow\",\"ph\":\"f\",\"bp\":\"e\",\"id\":");
    out_.number(arrows_).put(",\"ts\":").time(came);
    place(each.to);
    out_.put("}");
  }
  const trace_view& of_;
  const std::uint64_t process_ = process_number();
  std::uint64_t arrows_ = 0;
  json_writer out_;
};

LOCKSTEP_INLINE bool trace_export::write(const char* path) {
  const calm_writes calm;
  const int saved = errno;
  errno = 0;
  replaced_file to(path);
  bool is_written = false;
  if (to.stream() != nullptr) {
    const trace_view what;
    is_written = trace_writer(what, to.stream()).write() && to.finish();
  }
  if (!is_written) {
    std::fprintf(stderr, "lockstep: the trace cannot be written to '%s': %s\n", path,
                 errno != 0 ? std::strerror(errno) : "?");
  }
  errno = saved;
  return is_written;
}

/// What a name took, over all threads. Of regions: a name and a place.
struct named_time {
  const char *name, *file;
  std::uint64_t line;
  record_kind kind;
  std::uint64_t count, sum, most;  ///< nanoseconds
};

/// What the table calls it; null: it is not there.
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

/// The name of a file without its directories.
LOCKSTEP_INLINE const char* last_part(const char* path) noexcept {
  const char* part = path;
  for (const char* at = path; *at != 0; ++at) {
    if (*at == '/' || *at == '\\') part = at + 1;
  }
  return part;
}

LOCKSTEP_INLINE std::string trace_export::summary() {
  const trace_view all;
  std::string text;
  const double whole = static_cast<double>(all.time(all.end)) / 1000;
  append(text, "trace of %.1f us, %zu threads, %zu events, %llu lost\n", whole, all.tracks.size(),
         all.events.size(), static_cast<unsigned long long>(all.lost));
  append(text, "  %-20s %7s %12s %12s %6s\n", "thread", "parts", "in parts/us", "waiting/us",
         "busy");
  std::vector<named_time> names;
  for (const trace_view::track& at : all.tracks) {
    std::uint64_t parts = 0, inside = 0, waiting = 0, waiting_inside = 0, part_end = 0,
                  wait_end = 0;
    for (std::size_t i = at.first; i < at.last; ++i) {
      const trace_view::event& each = all.events[i];
      const trace_record& record = all.record_of(each);
      const std::uint64_t took = all.nanoseconds(each.end - each.begin);
      if (record.kind() == record_kind::part && each.begin >= part_end) {
        ++parts;
        inside += took;
        part_end = each.end;
      }
      if (record.kind() == record_kind::wait && each.begin >= wait_end) {
        waiting += took;
        if (each.begin < part_end) waiting_inside += took;
        wait_end = each.end;
      }
      if (shown_kind(record.kind()) == nullptr || record.text() == nullptr) continue;
      const trace_record* const rest = all.rest_of(each);
      const bool is_users =
          record.kind() == record_kind::region && rest != nullptr && rest->rest_text() != nullptr;
      const char* const name = is_users ? rest->rest_text() : record.text();
      const trace_record* const site =
          record.kind() == record_kind::region ? all.site_of(each) : nullptr;
      const char* const file = site != nullptr ? site->text() : nullptr;
      const std::uint64_t line = site != nullptr ? site->number() : 0;
      std::size_t n = 0;  // texts are kept once: equal ones have one address
      while (n < names.size() && (names[n].name != name || names[n].kind != record.kind() ||
                                  names[n].file != file || names[n].line != line)) {
        ++n;
      }
      if (n == names.size()) names.push_back({name, file, line, record.kind(), 0, 0, 0});
      ++names[n].count;
      names[n].sum += took;
      if (took > names[n].most) names[n].most = took;
    }
    const double busy =
        static_cast<double>(inside - (waiting_inside < inside ? waiting_inside : inside)) / 1000;
    append(text, "  %-20s %7llu %12.1f %12.1f %5.1f%%\n", one_line(at.name.text).c_str(),
           static_cast<unsigned long long>(parts), static_cast<double>(inside) / 1000,
           static_cast<double>(waiting) / 1000, whole > 0 ? 100 * busy / whole : 0);
  }
  std::sort(names.begin(), names.end(),
            [](const named_time& a, const named_time& b) { return a.sum > b.sum; });
  append(text, "  %-32s %-10s %9s %12s %10s %10s\n", "name", "is a", "count", "sum/us", "mean/us",
         "most/us");
  for (const named_time& each : names) {
    std::string name = one_line(each.name);
    if (each.file != nullptr) append(name, " at %s", last_part(each.file));
    if (each.file != nullptr && each.line != 0) {
      append(name, ":%llu", static_cast<unsigned long long>(each.line));
    }
    append(text, "  %-32s %-10s %9llu %12.1f %10.3f %10.3f\n", name.c_str(), shown_kind(each.kind),
           static_cast<unsigned long long>(each.count), static_cast<double>(each.sum) / 1000,
           static_cast<double>(each.sum) / 1000 / static_cast<double>(each.count),
           static_cast<double>(each.most) / 1000);
  }
  return text;
}

LOCKSTEP_INLINE bool trace_export::start_for_program(const char* path, const char* whose,
                                                     std::size_t records) {
  std::string real;
  for (const char* at = path; *at != 0; ++at) {
    if (at[0] == '%' && at[1] == 'p') {
      append(real, "%llu", static_cast<unsigned long long>(process_number()));
      ++at;
    } else {
      real.push_back(*at);
    }
  }
  real = absolute_path(real.c_str());
  const int saved = errno;
  const bool is_short = real.size() < sizeof(trace_session::path);
  if (!is_short || !replaced_file::is_possible(real.c_str())) {
    std::fprintf(stderr, "lockstep: %s='%s' is ignored: %s\n", whose, path,
                 is_short ? std::strerror(errno) : "it is too long");
    errno = saved;
    return false;
  }
  errno = saved;
  if (!recorder::start_with_room(records, false)) {
    if (recorder::is_running()) return false;  // the program has started one
    std::fprintf(stderr, "lockstep: %s='%s' is ignored: there is no memory for %zu records\n",
                 whose, path, records);
    return false;
  }
  {
    const holding<fork_section> held(process().trace_forks);
    trace_session& of = *recorder::session();
    std::memcpy(of.path, real.c_str(), real.size() + 1);
    of.is_to_be_written = true;
  }
  return std::atexit([] { end_of_program(); }) == 0;
}

LOCKSTEP_INLINE void trace_export::end_of_program() {
#if LOCKSTEP_HAS_EXCEPTIONS
  try {
#endif
    const std::string path = take_path();
    if (path.empty()) return;
    recorder::stop();
    write(path.c_str());
#if LOCKSTEP_HAS_EXCEPTIONS
  } catch (const std::bad_alloc&) {
    std::fputs("lockstep: LOCKSTEP_TRACE: there is no memory to write the trace\n", stderr);
  }
#endif
}

LOCKSTEP_INLINE std::string trace_export::take_path() {
  trace_session* const of = recorder::session();
  if (of == nullptr) return std::string();
  const holding<fork_section> held(process().trace_forks);
  if (!of->is_to_be_written) return std::string();
  of->is_to_be_written = false;
  return of->path;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
