// SPDX-License-Identifier: MIT
// Reads the variables that the OpenMP specification and the manual of GCC's runtime describe. Values that make no sense
// are said on stderr and ignored, as that runtime does.
#include <strings.h>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include <lockstep/detail/platform/process_fence.hpp>
#include <lockstep/detail/platform/system.hpp>
#include "platform/cpus.hpp"
#include "platform/system_texts.hpp"

#include "affinity.hpp"
#include "allocators.hpp"
#include "control_variables.hpp"
#include "display.hpp"
#include "message.hpp"

namespace lockstep::openmp {
namespace {

const char* value_of(const char* name) noexcept { return std::getenv(name); }

/// A text that is read from the left.
class reader {
 public:
  explicit reader(const char* text) noexcept : at_(text) { skip(); }

  bool is_at_end() const noexcept { return *at_ == 0; }
  bool take(char wanted) noexcept {
    if (*at_ != wanted) return false;
    ++at_;
    skip();
    return true;
  }
  /// A word in letters and '_', in capital or small ones.
  bool take_word(const char* word) noexcept {
    const std::size_t length = std::strlen(word);
    if (strncasecmp(at_, word, length) != 0) return false;
    const unsigned char next = static_cast<unsigned char>(at_[length]);
    if (std::isalnum(next) != 0 || next == '_') return false;
    at_ += length;
    skip();
    return true;
  }
  bool take_number(unsigned long long most, unsigned long long& result) noexcept {
    if (!detail::read_number(at_, most, result)) return false;
    skip();
    return true;
  }

 private:
  void skip() noexcept { at_ = detail::skip_blanks(at_); }

  const char* at_;
};

void say_invalid(const char* name) noexcept {
  say("invalid value for environment variable %s: '%s'; it is ignored", name,
      detail::one_line(value_of(name)).c_str());
}

/// Hands the value to `read`, which returns false if it is none. Does nothing where the variable is not set. Returns
/// whether a value was taken.
template <class Read>
bool read_variable(const char* name, Read read) noexcept {
  const char* const text = value_of(name);
  if (text == nullptr) return false;
  reader from(text);
  if (read(from) && from.is_at_end()) return true;
  say_invalid(name);
  return false;
}

bool take_switch(reader& from, bool& result) noexcept {
  const bool is_true = from.take_word("true");
  if (!is_true && !from.take_word("false")) return false;
  result = is_true;
  return true;
}
bool read_switch(const char* name, bool& result) noexcept {
  bool value = false;
  const bool is_given = read_variable(name, [&](reader& from) { return take_switch(from, value); });
  if (is_given) result = value;
  return is_given;
}

bool read_int(const char* name, int least, int& result) noexcept {
  unsigned long long value = 0;
  const bool is_given = read_variable(name, [&](reader& from) {
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
  const bool is_given = read_variable("OMP_NUM_THREADS", [&](reader& from) {
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

bool take_bind(reader& from, proc_bind& result) noexcept {
  const struct {
    const char* name;
    proc_bind value;
  } names[] = {{"master", proc_bind::primary},
               {"primary", proc_bind::primary},
               {"close", proc_bind::close},
               {"spread", proc_bind::spread}};
  for (const auto& each : names) {
    if (!from.take_word(each.name)) continue;
    result = each.value;
    return true;
  }
  return false;
}

/// OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY: threads are bound where one of them asks for it, and the first says
/// nothing against it.
void read_affinity(process_variables& of) noexcept {
  std::vector<proc_bind> levels;
  bool is_refused = false;
  bool is_asked = read_variable("OMP_PROC_BIND", [&](reader& from) {
    bool yes = false;
    if (take_switch(from, yes)) {
      is_refused = !yes;
      levels.push_back(yes ? proc_bind::yes : proc_bind::no);
      return true;
    }
    do {
      proc_bind next = proc_bind::no;
      if (!take_bind(from, next)) return false;
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
  of.bind_of_level = levels;
  of.initial.bind = levels[0];
  if (!has_places) affinity::use_each_cpu();
  affinity::turn_on();
  affinity::bind_this_thread(0);
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
  schedule result;
  const bool is_given = read_variable("OMP_SCHEDULE", [&](reader& from) {
    const struct {
      const char* name;
      schedule_kind kind;
    } kinds[] = {{"static", schedule_kind::fixed},
                 {"dynamic", schedule_kind::dynamic},
                 {"guided", schedule_kind::guided},
                 {"auto", schedule_kind::automatic}};
    bool is_nonmonotonic = false;
    if (from.take_word("monotonic")) {
      result.is_monotonic = true;
      if (!from.take(':')) return false;
    } else if (from.take_word("nonmonotonic")) {
      is_nonmonotonic = true;
      if (!from.take(':')) return false;
    }
    bool is_known = false;
    for (const auto& each : kinds) {
      if (is_known || !from.take_word(each.name)) continue;
      is_known = true;
      result.kind = each.kind;
    }
    if (!is_known) return false;
    const bool is_static = result.kind == schedule_kind::fixed;
    if (is_static && !is_nonmonotonic) result.is_monotonic = true;
    result.chunk = is_static ? 0 : 1;
    if (!from.take(',')) return true;
    unsigned long long chunk = 0;
    if (!from.take_number(INT_MAX, chunk)) return false;
    if (chunk > 0) result.chunk = static_cast<long>(chunk);
    return true;
  });
  if (is_given) of.initial.run_schedule = result;
}

/// "4096", in KiB without a unit; B, K, M, G.
bool take_size(reader& from, std::size_t& result) noexcept {
  unsigned long long value = 0;
  if (!from.take_number(ULLONG_MAX, value)) return false;
  const struct {
    const char* unit;
    unsigned shift;
  } units[] = {{"b", 0}, {"k", 10}, {"m", 20}, {"g", 30}};
  unsigned shift = 10;
  for (const auto& each : units) {
    if (!from.take_word(each.unit)) continue;
    shift = each.shift;
    break;
  }
  result = static_cast<std::size_t>(value << shift);
  return result >> shift == value;
}

void read_stack_size(process_variables& of) noexcept {
  for (const char* const name : {"OMP_STACKSIZE", "GOMP_STACKSIZE"}) {
    std::size_t size = 0;
    if (!read_variable(name, [&](reader& from) { return take_size(from, size); })) continue;
    constexpr std::size_t least = 16384;  // PTHREAD_STACK_MIN
    if (size >= least) {
      of.stack_size = size;
      return;
    }
    say("%s: a stack has at least 16k; it is ignored", name);
  }
}

/// OMP_WAIT_POLICY says whether waiting threads poll or sleep, GOMP_SPINCOUNT how often they look before they sleep.
void read_waiting(process_variables& of) noexcept {
  bool is_active = false;
  const bool is_policy = read_variable("OMP_WAIT_POLICY", [&](reader& from) {
    is_active = from.take_word("active");
    return is_active || from.take_word("passive");
  });
  unsigned long long looks = 0;
  const bool is_count = read_variable("GOMP_SPINCOUNT", [&](reader& from) {
    if (from.take_word("infinite") || from.take_word("infinity")) {
      looks = ULLONG_MAX;
      return true;
    }
    if (!from.take_number(ULLONG_MAX / 1000000000, looks)) return false;
    if (from.take_word("k")) looks *= 1000;
    if (from.take_word("m")) looks *= 1000000;
    if (from.take_word("g")) looks *= 1000000000;
    return true;
  });
  of.has_waiting = is_policy || is_count;
  if (!of.has_waiting) return;
  display::note_waiting(is_policy ? (is_active ? "ACTIVE" : "PASSIVE") : nullptr, is_count, looks);
  if (is_count ? looks == 0 : !is_active) {
    of.waiting = wait_policy::block();
    return;
  }
  // One look and the pause after it take some 10 ns. hybrid() cuts what is too long.
  constexpr unsigned long long most = 1000000000;
  const unsigned long long nanoseconds = !is_count || looks > most ? 10 * most : 10 * looks;
  of.waiting = wait_policy::hybrid(std::chrono::nanoseconds(nanoseconds));
}

void read_rest(process_variables& of) noexcept {
  read_switch("OMP_DYNAMIC", of.initial.is_dynamic);
  read_int("OMP_THREAD_LIMIT", 1, of.initial.thread_limit);
  read_switch("OMP_CANCELLATION", of.can_cancel);
  of.has_special_tasks = of.can_cancel;
  read_int("OMP_MAX_TASK_PRIORITY", 0, of.max_task_priority);
  read_int("OMP_DEFAULT_DEVICE", 0, of.initial.default_device);
  read_int("OMP_NUM_TEAMS", 1, of.num_teams);
  read_int("OMP_TEAMS_THREAD_LIMIT", 1, of.teams_thread_limit);
  read_switch("OMP_DISPLAY_AFFINITY", of.displays_affinity);
  read_variable("OMP_TARGET_OFFLOAD", [&](reader& from) {
    const bool is_mandatory = from.take_word("mandatory"), is_disabled = from.take_word("disabled");
    if (!is_mandatory && !is_disabled && !from.take_word("default")) return false;
    of.offload = is_mandatory  ? target_offload::mandatory
                 : is_disabled ? target_offload::disabled
                               : target_offload::usual;
    return true;
  });
  read_variable("OMP_ALLOCATOR", [&](reader& from) {
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

void show_settings() noexcept {
  bool is_verbose = false, is_shown = false;
  read_variable("OMP_DISPLAY_ENV", [&](reader& from) {
    is_verbose = from.take_word("verbose");
    return is_verbose || take_switch(from, is_shown);
  });
  if (is_verbose || is_shown) display::show_environment(is_verbose);
  const char* const ours = value_of("LOCKSTEP_DISPLAY_ENV");
  if (ours == nullptr || *detail::skip_blanks(ours) == 0 || detail::is_switched_off(ours)) return;
  say("lockstep serves this program's OpenMP; a region has %d threads unless the program says "
      "otherwise",
      process_settings().initial.threads);
}

}  // namespace

settings_storage::settings_storage() noexcept : value() {
  const int error = errno;
  // Now, while the process most likely has one thread: with more the system takes 10 to 35 ms for it.
  detail::process_fence::prepare();
  read_threads(value);
  read_affinity(value);
  read_levels(value);
  read_schedule(value);
  read_stack_size(value);
  read_waiting(value);
  read_rest(value);
  show_settings();
  errno = error;
}

}  // namespace lockstep::openmp
