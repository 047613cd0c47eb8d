// SPDX-License-Identifier: MIT
// bindings/c/src/team.cpp -- teams, their regions, and their ledgers
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "support.hpp"

using namespace lockstep_c;

namespace {

/// The size of version 1.0, up to and including hook_context. Later fields follow it, and do not change it.
constexpr std::size_t first_size =
    offsetof(lockstep_team_options, hook_context) + sizeof(lockstep_team_options::hook_context);
static_assert(sizeof(void*) != 8 || first_size == 96, "what version 1.0 had");
static_assert(sizeof(void*) != 4 || first_size == 68 || first_size == 72, "what version 1.0 had");
/// A larger number is no size.
constexpr std::size_t largest_size = 4096;
/// One for each member of the largest team.
constexpr std::size_t most_cpus = 65536;

bool is_size(std::size_t size) noexcept { return size >= first_size && size <= largest_size; }

int fail_size(const char* function, std::size_t size) noexcept {
  char text[192];
  std::snprintf(text, sizeof text,
                "options of %zu bytes, must be %zu to %zu: give sizeof(lockstep_team_options), or "
                "begin with LOCKSTEP_TEAM_OPTIONS_INIT",
                size, first_size, largest_size);
  return fail(LOCKSTEP_ERROR_ARGUMENT, function, text);
}

/// For a program that knows later options: whether it sets one of them.
bool says_more(const lockstep_team_options& options) noexcept {
  const unsigned char* const bytes = reinterpret_cast<const unsigned char*>(&options);
  for (std::size_t i = sizeof(lockstep_team_options); i < options.size; ++i) {
    if (bytes[i] != 0) return true;
  }
  return false;
}

int fail_choice(const char* function, const char* field, std::int32_t value, std::int32_t most) {
  char text[160];
  std::snprintf(text, sizeof text, "options.%s is %d, must be 0 to %d", field,
                static_cast<int>(value), static_cast<int>(most));
  return fail(LOCKSTEP_ERROR_ARGUMENT, function, text);
}

/// The library leaves out CPUs of the list that the process may not use. Here a program that names such a CPU is
/// refused.
int check_cpus(const char* function, const unsigned* cpus, std::size_t count) {
  const lockstep::detail::cpu_topology& usable = lockstep::detail::usable_topology();
  for (std::size_t i = 0; i < count && !usable.empty(); ++i) {
    std::size_t at = 0;
    while (at < usable.size() && usable[at].cpu != cpus[i]) ++at;
    if (at < usable.size()) continue;
    std::vector<unsigned> numbers;
    for (const lockstep::cpu_place& place : usable) numbers.push_back(place.cpu);
    std::string list;
    lockstep::detail::append_ranges(list, numbers);
    char text[256];
    std::snprintf(text, sizeof text,
                  "options.cpus has CPU %u, which this process may not use; it may use %s", cpus[i],
                  list.c_str());
    return fail(LOCKSTEP_ERROR_ARGUMENT, function, text);
  }
  return LOCKSTEP_OK;
}

/// LOCKSTEP_OK, or what is wrong with the options, as far as the library itself would not report it.
int check(const char* function, const lockstep_team_options& options) {
  if (!is_size(options.size)) return fail_size(function, options.size);
  if (says_more(options)) {
    return fail(LOCKSTEP_ERROR_ARGUMENT, function,
                "the options say what this version of liblockstep_c does not know; update it");
  }
  if (!is_policy(function, options.policy)) return LOCKSTEP_ERROR_ARGUMENT;
  const struct {
    const char* name;
    std::int32_t value;
  } choices[] = {{"anticipate", options.anticipate},
                 {"learn", options.learn},
                 {"cpu_separation", options.cpu_separation},
                 {"ledger", options.ledger}};
  for (const auto& each : choices) {
    if (each.value < LOCKSTEP_UNSET || each.value > LOCKSTEP_NO) {
      return fail_choice(function, each.name, each.value, LOCKSTEP_NO);
    }
  }
  if (options.bind < LOCKSTEP_BIND_UNSET || options.bind > LOCKSTEP_BIND_CORES) {
    return fail_choice(function, "bind", options.bind, LOCKSTEP_BIND_CORES);
  }
  if (options.bind == LOCKSTEP_BIND_CPUS && (options.cpus == nullptr || options.cpu_count == 0)) {
    return fail(LOCKSTEP_ERROR_ARGUMENT, function,
                "options.bind is LOCKSTEP_BIND_CPUS, and options.cpus has none");
  }
  if (options.bind == LOCKSTEP_BIND_CPUS && options.cpu_count > most_cpus) {
    char text[96];
    std::snprintf(text, sizeof text, "options.cpu_count is %zu, must be 1 to %zu",
                  options.cpu_count, most_cpus);
    return fail(LOCKSTEP_ERROR_ARGUMENT, function, text);
  }
  if (options.reserved != 0) {
    return fail(LOCKSTEP_ERROR_ARGUMENT, function,
                "options.reserved must be 0; begin with LOCKSTEP_TEAM_OPTIONS_INIT");
  }
  if (options.bind == LOCKSTEP_BIND_CPUS) {
    return result_of(function,
                     [&] { return check_cpus(function, options.cpus, options.cpu_count); });
  }
  return LOCKSTEP_OK;
}

lockstep::binding binding_of(const lockstep_team_options& options) {
  switch (options.bind) {
    case LOCKSTEP_BIND_NONE: return lockstep::binding::none();
    case LOCKSTEP_BIND_CLOSE: return lockstep::binding::close();
    case LOCKSTEP_BIND_SPREAD: return lockstep::binding::spread();
    case LOCKSTEP_BIND_CORES: return lockstep::binding::cores();
    case LOCKSTEP_BIND_CPUS:
      return lockstep::binding::cpus(
          std::vector<unsigned>(options.cpus, options.cpus + options.cpu_count));
    default: return lockstep::binding();
  }
}

lockstep::team_options options_of(const lockstep_team_options& from) {
  lockstep::team_options to;
  to.members(from.members).bind(binding_of(from));
  if (from.policy != LOCKSTEP_POLICY_UNSET) to.policy(policy_of(from.policy));
  if (from.name != nullptr) to.name(from.name);
  if (from.anticipate != LOCKSTEP_UNSET) to.anticipate(from.anticipate == LOCKSTEP_YES);
  if (from.learn != LOCKSTEP_UNSET) to.learn(from.learn == LOCKSTEP_YES);
  if (from.cpu_separation != LOCKSTEP_UNSET) to.cpu_separation(from.cpu_separation == LOCKSTEP_YES);
  if (from.ledger != LOCKSTEP_UNSET) to.ledger(from.ledger == LOCKSTEP_YES);
  const lockstep_hook on_start = from.on_start, on_exit = from.on_exit;
  void* const context = from.hook_context;
  if (on_start != nullptr) to.on_start([=](std::size_t rank) { on_start(rank, context); });
  if (on_exit != nullptr) to.on_exit([=](std::size_t rank) { on_exit(rank, context); });
  return to;
}

/// begin(part) runs a region, in which each member calls part(me).
template <class Begin>
int run(const char* name, const Begin& begin, lockstep_region_fn function, void* context) {
  return result_of(name, [&] {
    const bool is_complete = begin([=](lockstep::member& me) {
      const int code = called(function, handle_of(me), context);
      if (code == LOCKSTEP_OK) return;
      if (code != LOCKSTEP_STOPPED) throw callback_failure(code);
      if (!me.stop_requested()) me.request_stop();
    });
    return is_complete ? LOCKSTEP_OK : LOCKSTEP_STOPPED;
  });
}

}  // namespace

int lockstep_team_options_init(lockstep_team_options* options, size_t size) {
  LOCKSTEP_C_REFUSE_NULL(options);
  if (!is_size(size)) return fail_size(__func__, size);
  std::memset(static_cast<void*>(options), 0, size);
  options->size = size;
  return LOCKSTEP_OK;
}

int lockstep_team_create(const lockstep_team_options* options, lockstep_team** team) {
  LOCKSTEP_C_REFUSE_NULL(team);
  *team = nullptr;
  lockstep::team_options how;
  if (options != nullptr) {
    if (const int code = check(__func__, *options)) return code;
  }
  return result_of(__func__, [&] {
    if (options != nullptr) how = options_of(*options);
    *team = new lockstep_team(how);
  });
}

int lockstep_team_destroy(lockstep_team* team) {
  if (team == nullptr) return LOCKSTEP_OK;
  if (team->own == nullptr) {
    return fail(LOCKSTEP_ERROR_USE, __func__, "the default team is never destroyed");
  }
  if (team->plans.load(std::memory_order_acquire) != 0) {
    return fail(LOCKSTEP_ERROR_USE, __func__, "a plan on this team lives; destroy that first");
  }
  // pause() refuses inside of regions. Otherwise it ends the threads, and the destructor finds them ended.
  return result_of(__func__, [&] {
    team->at.pause();
    delete team;
  });
}

int lockstep_default_team(lockstep_team** team) {
  LOCKSTEP_C_REFUSE_NULL(team);
  *team = nullptr;
  return result_of(__func__, [&] {
    // Never destroyed, like the team.
    static lockstep_team* const handle = new lockstep_team(lockstep::default_team());
    *team = handle;
  });
}

size_t lockstep_team_size(const lockstep_team* team) {
  return team != nullptr ? team->at.size() : 0;
}

int lockstep_team_run(lockstep_team* team, lockstep_region_fn function, void* context) {
  LOCKSTEP_C_REFUSE_NULL(team, function);
  return run(
      __func__, [=](const auto& part) { return team->at.run(part, nowhere()); }, function, context);
}

int lockstep_team_run_on(lockstep_team* team, size_t members, lockstep_region_fn function,
                         void* context) {
  LOCKSTEP_C_REFUSE_NULL(team, function);
  return run(
      __func__, [=](const auto& part) { return team->at.run(members, part, nowhere()); }, function,
      context);
}

int lockstep_team_request_stop(lockstep_team* team) {
  return LOCKSTEP_C_ON(team, team->at.request_stop());
}

int lockstep_team_pause(lockstep_team* team) { return LOCKSTEP_C_ON(team, team->at.pause()); }

int lockstep_team_resume(lockstep_team* team) { return LOCKSTEP_C_ON(team, team->at.resume()); }

int lockstep_team_keep_ledger(lockstep_team* team, int yes) {
  return LOCKSTEP_C_ON(team, team->at.keep_ledger(yes != 0));
}

int lockstep_team_reset_ledger(lockstep_team* team) {
  return LOCKSTEP_C_ON(team, team->at.reset_ledger());
}

int lockstep_team_ledger_table(const lockstep_team* team, char* buffer, size_t capacity,
                               size_t* length) {
  return LOCKSTEP_C_TEXT_ON(team, team->at.ledger().table());
}

int lockstep_team_ledger_json(const lockstep_team* team, char* buffer, size_t capacity,
                              size_t* length) {
  return LOCKSTEP_C_TEXT_ON(team, team->at.ledger().json());
}
