// SPDX-License-Identifier: MIT
// The tool itself: what it may ask, and how it is found.
//
// When the first thread comes to OpenMP, a tool is searched for: in the program and what is loaded with it, then in the
// libraries of OMP_TOOL_LIBRARIES. The first tool whose ompt_start_tool() returns something, and that initialises, is
// used.
#include <dlfcn.h>
#include <pthread.h>
#include <strings.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "platform/system.hpp"

#include "affinity.hpp"
#include "message.hpp"
#include "ompt.hpp"
#include "pool.hpp"

using namespace lockstep::openmp;

namespace lockstep::openmp::ompt {
namespace {

// Memory order (# marks the line)
//   #  access        order    pairs  why it suffices
//   1  started.load  relaxed  -      whether tools may ask: what they ask for is the thread's own
//   2  started.store relaxed  -      as 1; once more when the tool is done with
detail::atomic<start_result*> started{nullptr};

}  // namespace

bool is_tool_started() noexcept {
  return started.load(detail::memory_order_relaxed) != nullptr;  // 1
}

namespace {

// --- what it may ask: the functions that ompt_initialize finds by their names ---

/// The task that the calling thread runs; null if the thread has called nothing of ours.
task_info* current_task() noexcept {
  part* const current = this_record.current;
  return is_tool_started() && current != nullptr && this_record.tool != nullptr ? current->tool
                                                                                : nullptr;
}

// --- callbacks ---

/// Whether we call a callback for all its events. Compilers make code of their own for some constructs: GCC for static
/// loops, masked, flush, most atomic operations and reductions. There are no devices.
set_result support_of(unsigned event) noexcept {
  if (event == 0 || event >= most_events) return set_result::error;
  const auto is_one_of = [event](auto... numbers) { return ((event == numbers) || ...); };
  // target..., device_..., and their forms with _emi
  if (is_one_of(8u, 9u, 10u, 12u, 13u, 14u, 15u, 22u, 33u, 34u, 35u, 36u)) return set_result::never;
  // mutex_released, mutex_acquire, mutex_acquired, flush, dispatch
  if (is_one_of(17u, 26u, 27u, 29u, 32u)) return set_result::sometimes;
  // work, masked, reduction
  if (is_one_of(20u, 21u, 31u)) return set_result::sometimes_paired;
  return set_result::always;
}

set_result set_callback(unsigned event, function callback) noexcept {
  const set_result result = support_of(event);
  if (result == set_result::error) return result;
  callbacks[event].store(callback, detail::memory_order_relaxed);  // 2 of ompt_types.hpp
  return callback != nullptr ? result : set_result::always;
}

int get_callback(unsigned event, function* callback) noexcept {
  if (event == 0 || event >= most_events) return 0;
  const function known =
      callbacks[event].load(detail::memory_order_relaxed);  // 1 of ompt_types.hpp
  if (known != nullptr) *callback = known;
  return known != nullptr ? 1 : 0;
}

// --- the thread, its regions and tasks ---

data* get_thread_data() noexcept {
  return is_tool_started() && this_record.tool != nullptr ? &this_record.tool->own : nullptr;
}

state get_state(wait_id* what) noexcept {
  const thread_info* const thread = this_record.tool;
  if (!is_tool_started() || thread == nullptr) return state::work_serial;
  const int number = static_cast<int>(thread->now);
  const bool waits_for_lock = number >= static_cast<int>(state::wait_mutex) &&
                              number <= static_cast<int>(state::wait_ordered);
  if (what != nullptr && waits_for_lock) *what = thread->waits_for;
  return thread->now;
}

int get_parallel_info(int level, data** of, int* size) noexcept {
  task_info* task = current_task();
  for (; task != nullptr && level > 0; --level) task = task->region->encountering;
  if (task == nullptr || level < 0) return 0;
  if (of != nullptr) *of = &task->region->own;
  if (size != nullptr) *size = static_cast<int>(task->region->size);
  return 2;
}

int get_task_info(int level, int* flags, data** of, frame** at, data** region, int* rank) noexcept {
  task_info* task = current_task();
  for (; task != nullptr && level > 0; --level) task = task->around;
  if (task == nullptr || level < 0) return 0;
  const bool is_serial = (task->flags & task_implicit) != 0 && task->region->size == 1;
  if (flags != nullptr) *flags = task->flags | (is_serial ? task_undeferred : 0);
  if (of != nullptr) *of = &task->own;
  if (at != nullptr) *at = &task->at;
  if (region != nullptr) *region = &task->region->own;
  if (rank != nullptr) *rank = static_cast<int>(task->rank);
  return 2;
}

int get_task_memory(void** address, std::size_t* size, int block) noexcept {
  const task_info* const task = current_task();
  if (task == nullptr || block != 0 || task->memory == nullptr) return 0;
  *address = task->memory;
  *size = task->memory_size;
  return 0;  // there is no other block
}

std::uint64_t get_unique_id() noexcept {
  // A relaxed counter: it hands out numbers, nothing else.
  static detail::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, detail::memory_order_relaxed) + 1;  // hands out numbers
}

// --- the machine ---

int get_num_procs() noexcept { return affinity::available_cpus(); }
int get_num_places() noexcept { return affinity::is_on() ? affinity::count() : 0; }
int get_place_proc_ids(int place, int size, int* ids) noexcept {
  if (place < 0 || place >= get_num_places()) return 0;
  const std::vector<unsigned>& cpus = affinity::cpus_of(place);
  const int count = static_cast<int>(cpus.size());
  if (count <= size) {
    for (const unsigned cpu : cpus) *ids++ = static_cast<int>(cpu);
  }
  return count;
}
int get_place_num() noexcept {
  const part* const current = this_record.current;
  return current != nullptr ? current->places.place : -1;
}
int get_partition_place_nums(int size, int* places) noexcept {
  const part* const current = this_record.current;
  if (current == nullptr) return 0;
  const thread_places& own = current->places;
  if (own.count <= size) {
    for (int i = 0; i < own.count; ++i) *places++ = own.first + i;
  }
  return own.count;
}
int get_proc_id() noexcept { return current_task() != nullptr ? detail::current_cpu() : -1; }
int get_num_devices() noexcept { return 1; }  // the host
int get_target_info(std::uint64_t*, std::uint64_t*, std::uint64_t*) noexcept { return 0; }

// --- what there is ---

struct enumerated {
  int number;
  const char* name;
};

/// The entry after `current`. The one after the number below all is the first.
template <std::size_t count>
int next_of(const enumerated (&all)[count], int current, int* next, const char** name) noexcept {
  for (std::size_t i = 0; i + 1 < count; ++i) {
    if (all[i].number != current) continue;
    *next = all[i + 1].number;
    *name = all[i + 1].name;
    return 1;
  }
  return 0;
}

int enumerate_states(int current, int* next, const char** name) noexcept {
#define STATE(one) {static_cast<int>(state::one), "ompt_state_" #one}
  static constexpr enumerated all[] = {STATE(undefined),
                                       STATE(work_serial),
                                       STATE(work_parallel),
                                       STATE(work_reduction),
                                       STATE(wait_barrier_implicit_parallel),
                                       STATE(wait_barrier_implicit_workshare),
                                       STATE(wait_barrier_explicit),
                                       STATE(wait_barrier_implementation),
                                       STATE(wait_taskwait),
                                       STATE(wait_taskgroup),
                                       STATE(wait_lock),
                                       STATE(wait_critical),
                                       STATE(wait_atomic),
                                       STATE(wait_ordered),
                                       STATE(idle),
                                       STATE(overhead)};
#undef STATE
  return next_of(all, current, next, name);
}

int enumerate_mutex_impls(int current, int* next, const char** name) noexcept {
  static constexpr enumerated all[] = {
      {0, "ompt_mutex_impl_none"}, {1, "lockstep_word_lock"}, {2, "lockstep_mutex"}};
  return next_of(all, current, next, name);
}

/// ompt_get_...() and the like, by their names.
function find_inquiry(const char* name) {
#define INQUIRY(one) {"ompt_" #one, reinterpret_cast<function>(one)}
  static const struct {
    const char* name;
    function call;
  } all[] = {INQUIRY(enumerate_states),
             INQUIRY(enumerate_mutex_impls),
             INQUIRY(set_callback),
             INQUIRY(get_callback),
             INQUIRY(get_state),
             INQUIRY(get_parallel_info),
             INQUIRY(get_task_info),
             INQUIRY(get_task_memory),
             INQUIRY(get_thread_data),
             INQUIRY(get_unique_id),
             INQUIRY(get_num_procs),
             INQUIRY(get_num_places),
             INQUIRY(get_place_proc_ids),
             INQUIRY(get_place_num),
             INQUIRY(get_proc_id),
             INQUIRY(get_partition_place_nums),
             INQUIRY(get_target_info),
             INQUIRY(get_num_devices),
             {"ompt_finalize_tool", finish_tool}};
#undef INQUIRY
  for (const auto& each : all) {
    if (std::strcmp(each.name, name) == 0) return each.call;
  }
  return nullptr;
}

// --- how it is found ---

constexpr unsigned version = 202111;  ///< OpenMP 5.2
constexpr char runtime_name[] = "lockstep";
constexpr char start_name[] = "ompt_start_tool";

bool is_word(const char* text, const char* word) noexcept {
  return text != nullptr && strcasecmp(text, word) == 0;
}

/// OMP_TOOL_VERBOSE_INIT asks for a log of the search. It uses the words of LLVM's runtime, which tests of tools read.
class search_log {
 public:
  search_log() noexcept {
    const char* const where = std::getenv("OMP_TOOL_VERBOSE_INIT");
    if (where == nullptr || *where == 0 || is_word(where, "disabled")) return;
    file_ = is_word(where, "stdout")   ? stdout
            : is_word(where, "stderr") ? stderr
                                       : std::fopen(where, "w");
    if (file_ == nullptr) say("OMP_TOOL_VERBOSE_INIT: %s cannot be written", where);
  }
  ~search_log() {
    if (file_ == nullptr) return;
    if (file_ == stdout || file_ == stderr) {
      std::fflush(file_);
    } else {
      std::fclose(file_);
    }
  }
  search_log(const search_log&) = delete;
  search_log& operator=(const search_log&) = delete;

  __attribute__((format(printf, 2, 3))) void print(const char* format, ...) noexcept {
    if (file_ == nullptr) return;
    std::va_list arguments;
    va_start(arguments, format);
    std::vfprintf(file_, format, arguments);
    va_end(arguments);
  }

 private:
  std::FILE* file_ = nullptr;
};

start_result* try_library(const std::string& path, search_log& log, bool is_in_list) noexcept {
  log.print("Opening %s... ", path.c_str());
  void* const library = dlopen(path.c_str(), RTLD_LAZY);
  if (library == nullptr) {
    log.print("Failed: %s\n", dlerror());
    return nullptr;
  }
  log.print("Success.\nSearching for %s in %s... ", start_name, path.c_str());
  dlerror();
  const auto start = reinterpret_cast<start_function>(dlsym(library, start_name));
  if (start == nullptr) {
    const char* const error = dlerror();
    log.print("Failed: %s\n", error != nullptr ? error : "it is null");
  } else if (start_result* const result = start(version, runtime_name)) {
    log.print("Success.\n");
    return result;
  } else {
    log.print("Found but not using the OMPT interface.\n");
    if (is_in_list) log.print("Continuing search...\n");
  }
  dlclose(library);
  return nullptr;
}

start_result* try_libraries(search_log& log) noexcept {
  const char* at = std::getenv("OMP_TOOL_LIBRARIES");
  if (at == nullptr) {
    log.print("No OMP_TOOL_LIBRARIES defined.\n");
    return nullptr;
  }
  log.print("Searching tool libraries...\nOMP_TOOL_LIBRARIES = %s\n", at);
  while (true) {
    const std::size_t length = std::strcspn(at, ":");
    if (length != 0) {
      if (start_result* const result = try_library(std::string(at, length), log, true))
        return result;
    }
    if (at[length] == 0) return nullptr;
    at += length + 1;
  }
}

/// Archer tells ThreadSanitizer what OpenMP orders, for programs that were compiled with ThreadSanitizer.
bool is_for_archer() noexcept { return dlsym(RTLD_DEFAULT, "__tsan_acquire") != nullptr; }
start_result* try_archer(search_log& log) noexcept {
  log.print("...searching tool libraries failed. Using archer tool.\n");
  return try_library("libarcher.so", log, false);
}

start_result* find_tool(search_log& log) noexcept {
  log.print("----- START LOGGING OF TOOL REGISTRATION -----\n");
  log.print("Search for OMP tool in current address space... ");
  const auto start = reinterpret_cast<start_function>(dlsym(RTLD_DEFAULT, start_name));
  start_result* found = start != nullptr ? start(version, runtime_name) : nullptr;
  log.print(found != nullptr ? "Success.\n" : "Failed.\n");
  if (found == nullptr) found = try_libraries(log);
  if (found == nullptr) found = try_archer(log);
  log.print(found != nullptr ? "Tool was started and is using the OMPT interface.\n"
                             : "No OMP tool loaded.\n");
  log.print("----- END LOGGING OF TOOL REGISTRATION -----\n");
  return found;
}

bool is_tool_allowed() noexcept { return !is_word(std::getenv("OMP_TOOL"), "disabled"); }

void* base_of(const void* address) noexcept {
  Dl_info about{};
  return dladdr(address, &about) != 0 ? about.dli_fbase : nullptr;
}

/// LLVM's runtime has a function of this name, as we do, which leads to those of modules behind it.
bool is_of_runtime(void* start) noexcept {
  for (void* const where : {RTLD_DEFAULT, RTLD_NEXT}) {
    if (base_of(start) == base_of(dlsym(where, "__kmpc_fork_call"))) return true;
  }
  return base_of(start) == base_of(&process_settings());
}

void look() noexcept {
  search_log log;
  if (!is_tool_allowed()) return log.print("OMP tool disabled.\n");
  start_result* const found = find_tool(log);
  if (found == nullptr || found->initialize(find_inquiry, 0, &found->of_tool) == 0) return;
  started.store(found, detail::memory_order_relaxed);  // 2
  std::atexit(finish_tool);
}

pthread_once_t once = PTHREAD_ONCE_INIT;

}  // namespace

bool may_have_tool() noexcept {
  const char* const setting = std::getenv("OMP_TOOL");
  if (setting != nullptr && *setting != 0 && is_tool_allowed() && !is_word(setting, "enabled"))
    say("invalid value for environment variable OMP_TOOL: '%s'; it is ignored", setting);
  if (std::getenv("OMP_TOOL_VERBOSE_INIT") != nullptr) return true;
  if (!is_tool_allowed()) return false;
  if (std::getenv("OMP_TOOL_LIBRARIES") != nullptr || is_for_archer()) return true;
  for (void* const where : {RTLD_DEFAULT, RTLD_NEXT}) {
    void* const start = dlsym(where, start_name);
    if (start != nullptr && !is_of_runtime(start)) return true;
  }
  return false;
}

void start_tool() noexcept { pthread_once(&once, look); }

void finish_tool() {
  start_result* const last = started.load(detail::memory_order_relaxed);  // 1
  if (last == nullptr) return;
  // The threads of the calling thread end first, if it is in no region.
  part* const current = this_record.current;
  if (current != nullptr && current->outer == nullptr) {
    pool::end_all(this_record);
    end_initial_thread(*current);
  }
  if (last->finalize != nullptr) last->finalize(&last->of_tool);
  started.store(nullptr, detail::memory_order_relaxed);  // 2
  for (detail::atomic<function>& callback : callbacks)
    callback.store(nullptr, detail::memory_order_relaxed);  // 2 of ompt_types.hpp
}

}  // namespace lockstep::openmp::ompt

/// If a program or another library has this function, the loader finds theirs. One in a module that is loaded after
/// ours is found here. So programs that were linked with us get their own.
OPENMP_API ompt::start_result* ompt_start_tool(unsigned version, const char* runtime) {
  const auto next = reinterpret_cast<ompt::start_function>(dlsym(RTLD_NEXT, "ompt_start_tool"));
  return next != nullptr ? next(version, runtime) : nullptr;
}

OPENMP_API int omp_control_tool(int command, int modifier, void* argument) {
  note_call();
  return ompt::control_tool(static_cast<std::uint64_t>(command),
                            static_cast<std::uint64_t>(modifier), argument);
}
