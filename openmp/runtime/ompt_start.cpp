// SPDX-License-Identifier: MIT
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

#include "message.hpp"
#include "ompt.hpp"
#include "pool.hpp"

using namespace lockstep::openmp;

namespace lockstep::openmp::ompt {
namespace {

constexpr unsigned version = 202111;  ///< OpenMP 5.2
constexpr char runtime_name[] = "lockstep";
constexpr char start_name[] = "ompt_start_tool";

// Memory order (# marks the line)
//   #  access        order    pairs  why it suffices
//   1  started.load  relaxed  -      whether tools may ask: what they ask for is the thread's own
//   2  started.store relaxed  -      as 1; once more when the tool is done with
detail::atomic<start_result*> started{nullptr};

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

bool is_tool_started() noexcept {
  return started.load(detail::memory_order_relaxed) != nullptr;  // 1
}

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
