// SPDX-License-Identifier: MIT
#include "display.hpp"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/detail/platform/config.hpp>
#include "platform/cpus.hpp"
#include "platform/fork.hpp"
#include "platform/native_system.hpp"
#include "platform/process.hpp"

#include "affinity.hpp"
#include "allocators.hpp"
#include "control_variables.hpp"
#include "message.hpp"
#include "part.hpp"
#include "text_reader.hpp"

namespace lockstep::openmp {
namespace display {
namespace {

using detail::append;

/// The default format of each of the two runtimes.
const char* usual_format() noexcept {
  return process_settings().is_of_llvm ? "OMP: pid %P tid %i thread %n bound to OS proc set {%A}"
                                       : "level %L thread %i affinity %A";
}

/// Never destroyed, like the settings.
struct shown_state {
  std::string format = usual_format();
  std::vector<shown_region>
      region_of_thread;  ///< by number of thread: the last region that it encountered
};
shown_state& state() noexcept {
  static shown_state* const kept = new shown_state;
  return *kept;
}

/// Guards what the program may change: the format, and what was shown. fork() holds it, so it is whole in a child.
detail::fork_section state_lock;
using around_fork = detail::held_around_fork<state_lock>;
struct holding_state : detail::holding<detail::fork_section> {
  holding_state()
      : detail::holding<detail::fork_section>((detail::watch_forks<around_fork>(), state_lock)) {}
};

// --- affinity formats ---

/// What a field of a format is, and its value.
struct field {
  char letter;
  const char* name;
};
constexpr field fields[] = {{'t', "team_num"},        {'T', "num_teams"},   {'L', "nesting_level"},
                            {'n', "thread_num"},      {'N', "num_threads"}, {'a', "ancestor_tnum"},
                            {'A', "thread_affinity"}, {'H', "host"},        {'P', "process_id"},
                            {'i', "native_thread_id"}};

/// "0-3,7"; for a place "0:4,7".
std::string cpus_as_text(const std::vector<unsigned>& cpus, bool is_place) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    const std::size_t first = i;
    while (++i < cpus.size() && cpus[i] == cpus[i - 1] + 1) continue;
    append(text, first == 0 ? "%u" : ",%u", cpus[first]);
    if (i - first == 1) continue;
    append(text, is_place ? ":%zu" : "-%zu", is_place ? i - first : std::size_t{cpus[i - 1]});
  }
  return text;
}

std::string host_name() {
  char name[256] = "node";
  gethostname(name, sizeof name - 1);
  return name;
}

std::string number_as_text(long value) {
  std::string text;
  append(text, "%ld", value);
  return text;
}

std::string value_of(char letter, const part& of) {
  switch (letter) {
    case 't': return number_as_text(of.team_num);
    case 'T': return number_as_text(of.num_teams);
    case 'L': return number_as_text(of.level);
    case 'n': return number_as_text(of.rank);
    case 'N': return number_as_text(of.size);
    case 'a':
      return number_as_text(
          of.level == 0 || of.outer == nullptr ? -1 : static_cast<long>(of.outer->rank));
    case 'A': return cpus_as_text(detail::affinity(), false);
    case 'H': return host_name();
    case 'P': return number_as_text(getpid());
    default: break;
  }
  if (letter != 'i') return "undefined";  // the word that OpenMP prescribes
  if (process_settings().is_of_llvm)
    return number_as_text(static_cast<long>(detail::native_system::thread_number()));
  std::string text;
  append(text, "0x%" PRIxPTR, (std::uintptr_t)pthread_self());  // a number, or a pointer
  return text;
}

/// Reads the field's letter, or its name in braces, after the '%' at `at`. 0 if the name is not known.
char take_letter(const char*& at) {
  if (*at == 0) return 0;
  if (*at != '{') return *at++;
  const std::string name(at + 1, std::strcspn(at + 1, "}"));
  at += 1 + name.size();
  if (*at == '}') ++at;
  for (const field& each : fields) {
    if (name == each.name) return each.letter;
  }
  return 0;
}

void append_field(std::string& text, const std::string& value, bool has_zeros, bool is_right,
                  unsigned width) {
  const std::size_t missing = value.size() < width ? width - value.size() : 0;
  if (!is_right) {
    text += value;
    text.append(missing, ' ');
  } else if (has_zeros && value[0] == '-') {
    text += '-';
    text.append(missing, '0');
    text.append(value, 1);
  } else {
    text.append(missing, has_zeros ? '0' : ' ');
    text += value;
  }
}

// --- settings ---

const char* text_of(bool value) { return value ? "TRUE" : "FALSE"; }
const char* text_of(proc_bind how) {
  return how == proc_bind::no || how == proc_bind::yes ? text_of(how == proc_bind::yes)
                                                       : name_in(bind_words, how);
}

std::string text_of(const schedule& of) {
  const bool is_static = of.kind == schedule_kind::fixed;
  std::string text;
  if (is_static != of.is_monotonic) text = of.is_monotonic ? "MONOTONIC:" : "NONMONOTONIC:";
  text += name_in(schedule_words, of.kind);
  if (of.chunk != (is_static ? 0 : 1)) append(text, ",%ld", of.chunk);
  return text;
}

/// "{0:4},{4,6}".
std::string places_as_text() {
  std::string text;
  for (int i = 0; i < affinity::count(); ++i)
    text += (i == 0 ? "{" : ",{") + cpus_as_text(affinity::cpus_of(i), true) + '}';
  return text;
}

void add(std::string& text, const char* name, const std::string& value) {
  text += "  ";
  text += name;
  text += " = '";
  text += value;
  text += "'\n";
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& each : parts) text += (text.empty() ? "" : ",") + each;
  return text;
}

}  // namespace

void show_environment(bool is_verbose) noexcept {
  const process_variables& all = process_settings();
  const task_variables& own = all.initial;
  std::vector<std::string> threads{number_as_text(own.threads)}, binds{text_of(own.bind)};
  for (std::size_t i = 1; i < all.threads_of_level.size(); ++i)
    threads.push_back(number_as_text(all.threads_of_level[i]));
  for (std::size_t i = 1; i < all.bind_of_level.size(); ++i)
    binds.push_back(text_of(all.bind_of_level[i]));
  const bool is_limited = own.thread_limit != 2147483647;
  std::string text = "\nOPENMP DISPLAY ENVIRONMENT BEGIN\n";
  add(text, "_OPENMP", "201511");
  add(text, "OMP_DYNAMIC", text_of(own.is_dynamic));
  add(text, "OMP_NESTED", text_of(own.max_active_levels > 1));
  add(text, "OMP_NUM_THREADS", joined(threads));
  add(text, "OMP_SCHEDULE", text_of(own.run_schedule));
  add(text, "OMP_PROC_BIND", joined(binds));
  add(text, "OMP_PLACES", places_as_text());
  add(text, "OMP_STACKSIZE", number_as_text(static_cast<long>(all.stack_size)));
  add(text, "OMP_WAIT_POLICY", all.is_active ? "ACTIVE" : "PASSIVE");
  add(text, "OMP_THREAD_LIMIT", is_limited ? number_as_text(own.thread_limit) : "4294967295");
  add(text, "OMP_MAX_ACTIVE_LEVELS", number_as_text(own.max_active_levels));
  add(text, "OMP_NUM_TEAMS", number_as_text(all.num_teams));
  add(text, "OMP_TEAMS_THREAD_LIMIT", number_as_text(all.teams_thread_limit));
  add(text, "OMP_CANCELLATION", text_of(all.can_cancel));
  add(text, "OMP_DEFAULT_DEVICE", number_as_text(own.default_device));
  add(text, "OMP_MAX_TASK_PRIORITY", number_as_text(all.max_task_priority));
  add(text, "OMP_DISPLAY_AFFINITY", text_of(all.displays_affinity));
  add(text, "OMP_AFFINITY_FORMAT", affinity_format());
  add(text, "OMP_ALLOCATOR", allocators::name_of(own.allocator));
  add(text, "OMP_TARGET_OFFLOAD", name_in(offload_words, all.offload));
  if (is_verbose) {
    std::string looks = "lockstep's own choice";
    if (all.has_looks) {
      looks.clear();
      append(looks, "%llu", all.looks);
    }
    add(text, "GOMP_CPU_AFFINITY", "");
    add(text, "GOMP_STACKSIZE", number_as_text(static_cast<long>(all.stack_size)));
    add(text, "GOMP_SPINCOUNT", looks);
  }
  text += "  this runtime is lockstep ";
  text += LOCKSTEP_VERSION;
  text += "\nOPENMP DISPLAY ENVIRONMENT END\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void set_affinity_format(const char* format) noexcept {
  const holding_state held;
  state().format = format != nullptr ? format : "";
}

std::string affinity_format() noexcept {
  const holding_state held;
  return state().format;
}

std::string filled_in(const char* format, const part& of) noexcept {
  const std::string kept =
      format == nullptr || *format == 0 ? affinity_format() : std::string(format);
  std::string text;
  for (const char* at = kept.c_str(); *at != 0;) {
    if (*at != '%') {
      text += *at++;
      continue;
    }
    ++at;
    if (*at == '%') {
      text += *at++;
      continue;
    }
    const bool has_zeros = *at == '0';
    if (has_zeros) ++at;
    const bool is_right = *at == '.';
    if (is_right) ++at;
    unsigned long long width = 0;
    detail::read_number(at, 1000, width);
    const char letter = take_letter(at);
    const bool is_number = letter != 'A' && letter != 'H';
    append_field(text, value_of(letter, of), has_zeros && is_number, is_right,
                 static_cast<unsigned>(width));
  }
  return text;
}

void show_affinity(const char* format, const part& of) noexcept {
  const std::string line = filled_in(format, of) + "\n";
  std::fwrite(line.data(), 1, line.size(), process_settings().is_of_llvm ? stdout : stderr);
}

bool is_new_region(const shown_region& of) noexcept {
  const std::uint32_t thread = thread_number();
  const holding_state held;
  std::vector<shown_region>& shown = state().region_of_thread;
  if (shown.size() <= thread) shown.resize(thread + 1);
  return std::exchange(shown[thread], of) != of;
}

}  // namespace display
}  // namespace lockstep::openmp
