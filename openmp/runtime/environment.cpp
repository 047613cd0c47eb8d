// SPDX-License-Identifier: MIT
// Reads the variables that the OpenMP specification and the manual of GCC's runtime describe. It reports wrong values
// on stderr and ignores them, as that runtime does.
#include "control_variables.hpp"

#include <pthread.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <crt_externs.h>
#endif

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <string>

#include "platform/cpus.hpp"
#include "platform/process_fence.hpp"
#include "platform/system.hpp"

#include "affinity.hpp"
#include "allocators.hpp"
#include "display.hpp"
#include "message.hpp"
#include "neighbours.hpp"
#include "ompt.hpp"
#include "text_reader.hpp"

namespace lockstep::openmp {
namespace {

constexpr int longest_polling = 10000;  ///< in milliseconds; hybrid() cuts what is too long

const char* value_of(const char* name) noexcept { return std::getenv(name); }

void say_invalid(const char* name) noexcept {
  say("invalid value for environment variable %s: '%s'; it is ignored", name,
      detail::one_line(value_of(name)).c_str());
}

/// Passes the value to `read`, which returns false if the value is wrong. Does nothing if the variable is not set.
/// Returns whether a value was taken.
template <class Read>
bool read_variable(const char* name, Read read) noexcept {
  const char* const text = value_of(name);
  if (text == nullptr) return false;
  text_reader from(text);
  if (read(from) && from.is_at_end()) return true;
  say_invalid(name);
  return false;
}

/// Switches of LLVM's runtime, and all switches of its programs, may also be numbers.
bool take_switch(text_reader& from, bool& result,
                 bool may_be_number = process_settings().is_of_llvm) noexcept {
  const bool is_true = from.take_word("true") || (may_be_number && from.take_word("1"));
  if (!is_true && !from.take_word("false") && !(may_be_number && from.take_word("0"))) return false;
  result = is_true;
  return true;
}
bool read_switch(const char* name, bool& result) noexcept {
  bool value = false;
  const bool is_given = read_variable(name, [&](text_reader& from) {
    return take_switch(from, value, process_settings().is_of_llvm || *name == 'K');
  });
  if (is_given) result = value;
  return is_given;
}

bool read_int(const char* name, int least, int& result) noexcept {
  unsigned long long value = 0;
  const bool is_given = read_variable(name, [&](text_reader& from) {
    return from.take_number(INT_MAX, value) && value >= static_cast<unsigned long long>(least);
  });
  if (is_given) result = static_cast<int>(value);
  return is_given;
}

void read_threads(process_variables& of) noexcept {
  of.usable_cpus = static_cast<int>(detail::usable_cpus());
  if (detail::usable_cpus() < detail::count_affine_cpus()) of.cpus_of_quota = of.usable_cpus;
  of.initial.threads = of.usable_cpus;
  std::vector<int> levels;
  const bool is_given = read_variable("OMP_NUM_THREADS", [&](text_reader& from) {
    do {
      unsigned long long value = 0;
      if (!from.take_number(INT_MAX, value) || value == 0) return false;
      levels.push_back(static_cast<int>(value));
    } while (from.take(','));
    return true;
  });
  if (!is_given) return;
  of.initial.threads = levels[0];
  of.threads_of_level = levels;
}

void bind_threads(process_variables& of, const std::vector<proc_bind>& levels) noexcept {
  of.bind_of_level = levels;
  of.initial.bind = levels[0];
  affinity::turn_on();
}

/// OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY: threads are bound if one of them asks for it, unless the first forbids
/// it.
void read_affinity(process_variables& of) noexcept {
  if (const char* const text = value_of("KMP_AFFINITY")) {
    affinity::kmp_request asked;
    if (!affinity::read_kmp_affinity(text, asked)) {
      say_invalid("KMP_AFFINITY");
    } else {
      if (asked.is_verbose) of.displays_affinity = true;
      if (asked.bind != proc_bind::no) {
        bind_threads(of, {asked.bind});
        if (!asked.is_reset && !of.is_of_llvm) affinity::bind_this_thread(0);
        return;
      }
    }
  }
  std::vector<proc_bind> levels;
  bool is_refused = false;
  bool is_asked = read_variable("OMP_PROC_BIND", [&](text_reader& from) {
    bool yes = false;
    if (take_switch(from, yes)) {
      is_refused = !yes;
      levels.push_back(yes ? proc_bind::yes : proc_bind::no);
      return true;
    }
    do {
      proc_bind next = proc_bind::no;
      if (!from.take_named(bind_words, next)) return false;
      levels.push_back(next);
    } while (from.take(','));
    return true;
  });
  if (!is_asked) levels.clear();
  bool has_places = false;
  if (const char* const text = value_of("OMP_PLACES")) {
    has_places = affinity::read_places(text);
    if (!has_places) say_invalid("OMP_PLACES");
  }
  const char* const cpus = value_of("GOMP_CPU_AFFINITY");
  if (cpus != nullptr && !has_places) {
    has_places = affinity::read_cpu_affinity(cpus);
    if (!has_places) say_invalid("GOMP_CPU_AFFINITY");
  }
  if (!is_asked && has_places) levels.push_back(proc_bind::yes);
  is_asked = is_asked || has_places;
  if (!is_asked || is_refused) return;
  if (!has_places) affinity::use_each_cpu();
  bind_threads(of, levels);
  if (!of.is_of_llvm) affinity::bind_this_thread(0);
}

/// How deep regions may nest. A list of more than one level asks for nesting.
void read_levels(process_variables& of) noexcept {
  bool nests = false;
  const bool is_nested_given = read_switch("OMP_NESTED", nests);
  int levels = 1;
  if (read_int("OMP_MAX_ACTIVE_LEVELS", 0, levels)) {
    of.has_max_active_levels = true;
  } else if (is_nested_given) {
    of.has_max_active_levels = true;
    levels = nests ? supported_active_levels : 1;
  } else if (of.threads_of_level.size() > 1 || of.bind_of_level.size() > 1) {
    levels = supported_active_levels;
  }
  of.initial.max_active_levels =
      levels < supported_active_levels ? levels : supported_active_levels;
}

void read_schedule(process_variables& of) noexcept {
  if (of.is_of_llvm) of.initial.run_schedule = {schedule_kind::fixed, false, false, 0};
  schedule result;
  const bool is_given = read_variable("OMP_SCHEDULE", [&](text_reader& from) {
    bool is_nonmonotonic = false;
    if (from.take_word("monotonic")) {
      result.is_monotonic = true;
      if (!from.take(':')) return false;
    } else if (from.take_word("nonmonotonic")) {
      is_nonmonotonic = true;
      if (!from.take(':')) return false;
    }
    if (!from.take_named(schedule_words, result.kind)) return false;
    const bool is_static = result.kind == schedule_kind::fixed;
    if (is_static && !is_nonmonotonic && !of.is_of_llvm) result.is_monotonic = true;
    result.chunk = is_static ? 0 : 1;
    if (!from.take(',')) return true;
    unsigned long long chunk = 0;
    if (!from.take_number(INT_MAX, chunk)) return false;
    if (chunk > 0) result.chunk = static_cast<long>(chunk);
    return true;
  });
  if (!is_given) return;
  of.initial.run_schedule = result;
  of.initial.run_schedule.is_given = true;
}

/// Reads "4096", which is multiplied by 2^shift if it has no unit; units are B, K, M, G.
bool take_size(text_reader& from, unsigned shift, std::size_t& result) noexcept {
  unsigned long long value = 0;
  if (!from.take_number(ULLONG_MAX, value)) return false;
  static constexpr std::pair<const char*, unsigned> units[] = {
      {"b", 0}, {"k", 10}, {"m", 20}, {"g", 30}};
  from.take_named(units, shift);
  result = static_cast<std::size_t>(value << shift);
  return result >> shift == value;
}

void read_stack_size(process_variables& of) noexcept {
  const struct {
    const char* name;
    unsigned shift;  ///< of a number without a unit
  } names[] = {{"KMP_STACKSIZE", 0}, {"OMP_STACKSIZE", 10}, {"GOMP_STACKSIZE", 10}};
  for (const auto& [name, shift] : names) {
    std::size_t size = 0;
    const auto take = [&](text_reader& from) { return take_size(from, shift, size); };
    if (!read_variable(name, take)) continue;
    constexpr std::size_t least = 16384;  // PTHREAD_STACK_MIN
    if (size >= least) {
      of.stack_size = size;
      return;
    }
    say("%s: a stack has at least 16k; it is ignored", name);
  }
}

void set_blocktime(process_variables& of, int milliseconds) noexcept {
  of.blocktime = milliseconds;
  of.has_waiting = true;
  of.waiting = milliseconds == 0
                   ? wait_policy::block()
                   : wait_policy::hybrid(std::chrono::milliseconds(
                         milliseconds < longest_polling ? milliseconds : longest_polling));
}

template <class Number>
bool take_infinite(text_reader& from, Number& result) noexcept {
  if (!from.take_word("infinite") && !from.take_word("infinity")) return false;
  result = std::numeric_limits<Number>::max();
  return true;
}

/// OMP_WAIT_POLICY says whether waiting threads poll or sleep, GOMP_SPINCOUNT how often they look before they sleep.
void read_waiting(process_variables& of) noexcept {
  const bool is_policy = read_variable("OMP_WAIT_POLICY", [&](text_reader& from) {
    of.is_active = from.take_word("active");
    return of.is_active || from.take_word("passive");
  });
  of.has_looks = read_variable("GOMP_SPINCOUNT", [&](text_reader& from) {
    if (take_infinite(from, of.looks)) return true;
    if (!from.take_number(ULLONG_MAX / 1000000000, of.looks)) return false;
    if (from.take_word("k")) of.looks *= 1000;
    if (from.take_word("m")) of.looks *= 1000000;
    if (from.take_word("g")) of.looks *= 1000000000;
    return true;
  });
  int blocktime = 0;
  const bool is_time = read_variable("KMP_BLOCKTIME", [&](text_reader& from) {
    if (take_infinite(from, blocktime)) return true;
    unsigned long long number = 0;
    if (!from.take_number(INT_MAX, number)) return false;
    const bool is_in_microseconds = from.take_word("us");
    if (!is_in_microseconds) from.take_word("ms");
    blocktime = static_cast<int>(is_in_microseconds ? (number + 999) / 1000 : number);
    return true;
  });
  of.is_active = of.is_active && is_policy;
  if (is_policy) of.blocktime = of.is_active ? INT_MAX : 0;
  of.has_waiting = is_policy || of.has_looks;
  if (is_time && !of.has_waiting) return set_blocktime(of, blocktime);
  if (!of.has_waiting) return;
  if (of.has_looks ? of.looks == 0 : !of.is_active) {
    of.waiting = wait_policy::block();
    return;
  }
  // One look and the pause after it take some 10 ns. hybrid() cuts what is too long.
  constexpr unsigned long long most = longest_polling * 1000000ull / 10;
  const unsigned long long nanoseconds = 10 * (of.has_looks && of.looks < most ? of.looks : most);
  of.waiting = wait_policy::hybrid(std::chrono::nanoseconds(nanoseconds));
}

/// Reads all settings that a program may change before later regions.
void read_changeable(process_variables& of) noexcept {
  read_levels(of);
  read_schedule(of);
  read_stack_size(of);
  read_waiting(of);
  read_switch("OMP_DYNAMIC", of.initial.is_dynamic);
  for (const char* const name :
       {"KMP_ALL_THREADS", "KMP_DEVICE_THREAD_LIMIT", "OMP_THREAD_LIMIT"}) {
    int limit = 0;
    if (read_int(name, 1, limit) && limit < of.initial.thread_limit)
      of.initial.thread_limit = limit;
  }
  read_switch("OMP_CANCELLATION", of.can_cancel);
  read_int("OMP_MAX_TASK_PRIORITY", 0, of.max_task_priority);
  read_int("OMP_DEFAULT_DEVICE", 0, of.initial.default_device);
  read_int("OMP_NUM_TEAMS", 1, of.num_teams);
  read_int("OMP_TEAMS_THREAD_LIMIT", 1, of.teams_thread_limit);
  read_switch("OMP_DISPLAY_AFFINITY", of.displays_affinity);
  read_switch("KMP_ENABLE_TASK_THROTTLING", of.throttles_tasks);
  read_switch("KMP_DETERMINISTIC_REDUCTION", of.reduces_in_order);
  read_variable("KMP_TEAMS_PROC_BIND",
                [&](text_reader& from) { return from.take_named(bind_words, of.bind_of_teams); });
  of.offload = target_offload::usual;
  read_variable("OMP_TARGET_OFFLOAD",
                [&](text_reader& from) { return from.take_named(offload_words, of.offload); });
  read_variable("OMP_ALLOCATOR", [&](text_reader& from) {
    for (std::uintptr_t each = 1; each <= allocators::last_predefined; ++each) {
      if (!from.take_word(allocators::name_of(each))) continue;
      of.initial.allocator = each;
      return true;
    }
    return false;
  });
  if (const char* const format = value_of("OMP_AFFINITY_FORMAT"))
    display::set_affinity_format(format);
}

char** all_variables() noexcept {
#if defined(__APPLE__)
  return *_NSGetEnviron();
#else
  return environ;
#endif
}

/// Variables that only tune LLVM's runtime. A message names them once.
void name_unheard() noexcept {
  static const char* const heard[] = {"KMP_AFFINITY",
                                      "KMP_ALL_THREADS",
                                      "KMP_BLOCKTIME",
                                      "KMP_DETERMINISTIC_REDUCTION",
                                      "KMP_DEVICE_THREAD_LIMIT",
                                      "KMP_DUPLICATE_LIB_OK",
                                      "KMP_ENABLE_TASK_THROTTLING",
                                      "KMP_HW_SUBSET",
                                      "KMP_INIT_AT_FORK",
                                      "KMP_SETTINGS",
                                      "KMP_STACKSIZE",
                                      "KMP_TEAMS_PROC_BIND",
                                      "KMP_WARNINGS"};
  std::string unheard;
  for (char** each = all_variables(); each != nullptr && *each != nullptr; ++each) {
    if (std::strncmp(*each, "KMP_", 4) != 0) continue;
    const std::string name(*each, std::strcspn(*each, "="));
    bool is_heard = false;
    for (const char* const one : heard) is_heard = is_heard || name == one;
    if (!is_heard) unheard += (unheard.empty() ? "" : ", ") + name;
  }
  if (!unheard.empty()) say("%s: not heard here (KMP_WARNINGS=0 silences this)", unheard.c_str());
}

/// A hash of all variables that have an effect here, and their values.
std::size_t hash_of_variables() noexcept {
  std::string all;
  for (char** each = all_variables(); each != nullptr && *each != nullptr; ++each) {
    for (const char* const prefix : {"OMP_", "KMP_", "GOMP_"}) {
      if (std::strncmp(*each, prefix, std::strlen(prefix)) == 0) all.append(*each) += '\n';
    }
  }
  return std::hash<std::string>()(all);
}

void tell_of_settings() noexcept {
  bool is_verbose = false, is_shown = false;
  read_variable("OMP_DISPLAY_ENV", [&](text_reader& from) {
    is_verbose = from.take_word("verbose");
    return is_verbose || take_switch(from, is_shown);
  });
  const char* const settings = value_of("KMP_SETTINGS");
  if (settings != nullptr && !detail::is_switched_off(settings)) is_verbose = true;
  if (is_verbose || is_shown) display::show_environment(is_verbose);
  name_unheard();
  const char* const ours = value_of("LOCKSTEP_DISPLAY_ENV");
  if (ours == nullptr || *detail::skip_blanks(ours) == 0 || detail::is_switched_off(ours)) return;
  say("lockstep serves this program's OpenMP; a region has %d threads unless the program says "
      "otherwise",
      process_settings().initial.threads);
}

void read_all(process_variables& of) noexcept {
  of.seen = hash_of_variables();
  if (const char* const text = value_of("KMP_WARNINGS")) quiet(detail::is_switched_off(text));
  if (const char* const text = value_of("KMP_HW_SUBSET")) {
    if (!affinity::read_hardware_subset(text)) say_invalid("KMP_HW_SUBSET");
  }
  read_threads(of);
  read_affinity(of);
  read_changeable(of);
  of.has_tool = ompt::may_have_tool();
  of.has_special_tasks = of.can_cancel || of.has_tool;
  of.has_special_regions = of.has_levels() || of.displays_affinity || of.has_tool ||
                           (of.is_of_llvm && affinity::is_on());
}

}  // namespace

// The first priority that a library may use: programs and other libraries call us from their constructors.
__attribute__((init_priority(101))) settings_storage settings_of_process;

settings_storage::settings_storage() noexcept : value() {
  const int error = errno;
  // Done now, because the process most likely still has one thread: with more the system takes 10 to 35 ms for it.
  detail::process_fence::prepare();
  value.is_of_llvm = is_asked_for_by_llvm();
  read_all(value);
  if (!value.is_of_llvm) tell_of_settings();
  errno = error;
}

void read_what_main_has_set() noexcept {
  static pthread_once_t is_done = PTHREAD_ONCE_INIT;
  pthread_once(&is_done, [] {
    process_variables& all = process_settings();
    if (!all.is_of_llvm) return;
    if (all.seen != hash_of_variables()) {
      all = process_variables();
      all.is_of_llvm = true;
      read_all(all);
    }
    tell_of_settings();
  });
}

void set_blocktime(int milliseconds) noexcept { set_blocktime(process_settings(), milliseconds); }

void read_environment_again() noexcept {
  read_threads(process_settings());
  read_changeable(process_settings());
}

}  // namespace lockstep::openmp
