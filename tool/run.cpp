// SPDX-License-Identifier: MIT
// tool/run.cpp -- lockstep run PROGRAM ARGUMENT...: an OpenMP program, with lockstep as its runtime
//
// The loader is told to load our libgomp.so.1 first (LD_PRELOAD). LD_LIBRARY_PATH makes it find ours under each name by
// which compilers' programs ask for a runtime. So a process that needs libgomp.so.1 and libomp.so.5 has one runtime.
// Some packages bundle a runtime under another name, as Python's wheels do (libgomp-a34b3233.so.1.0.0). Their calls
// reach our library, because it was loaded first. Links under these names, in a directory that the loader searches,
// keep theirs from being loaded at all, unless the program itself has a path for libraries (DT_RPATH), which comes
// first. The names come from the loader's list of the program's libraries, from the directories in which Python looks
// for modules, and from --bundled.
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tool/commands.hpp"

namespace tool {
namespace {

namespace fs = std::filesystem;

/// A call that makes no sense, or cannot work; exit status 2.
struct cannot_run : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void say(const std::string& text) { fmt::print(stderr, "lockstep run: {}\n", text); }

// --- our library ---

/// The library that was given, or the one beside the command: in the build tree, or where both are installed.
fs::path find_library(const std::string& given) {
  std::vector<fs::path> places;
  if (!given.empty()) {
    places.push_back(given);
  } else {
    const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
    places = {here / "../openmp/libgomp.so.1", here / "../lib/lockstep/libgomp.so.1",
              here / "../lib64/lockstep/libgomp.so.1", here / LOCKSTEP_LIBRARY_FROM_COMMAND};
  }
  for (const fs::path& each : places) {
    std::error_code error;
    if (fs::is_regular_file(each, error)) return fs::canonical(each);
  }
  throw cannot_run(given.empty() ? "there is no libgomp.so.1 of lockstep beside this command; "
                                   "build it with './do openmp', "
                                   "or name it with --library"
                                 : fmt::format("{}: no such file", given));
}

// --- the program ---

fs::path find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (access(name.c_str(), X_OK) != 0)
      throw cannot_run(fmt::format("{}: {}", name, std::strerror(errno)));
    return name;
  }
  const char* const path = std::getenv("PATH");
  std::istringstream directories(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string each; std::getline(directories, each, ':');) {
    const fs::path found = fs::path(each.empty() ? "." : each) / name;
    std::error_code error;
    if (fs::is_regular_file(found, error) && access(found.c_str(), X_OK) == 0) return found;
  }
  throw cannot_run(fmt::format("{}: not found", name));
}

std::string first_bytes(const fs::path& file, std::size_t count) {
  std::string bytes(count, '\0');
  std::ifstream from(file, std::ios::binary);
  from.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(from.gcount(), 0)));
  return bytes;
}

/// The program that runs a script: the first word of its first line, or the second word after 'env'. Nothing for a
/// program.
std::optional<fs::path> interpreter_of(const fs::path& file) {
  const std::string bytes = first_bytes(file, 512);
  if (bytes.rfind("#!", 0) != 0) return std::nullopt;
  std::istringstream line(bytes.substr(2, bytes.find('\n') - 2));
  std::string word;
  line >> word;
  if (fs::path(word).filename() == "env") {
    while (line >> word && (word.rfind('-', 0) == 0 || word.find('=') != std::string::npos))
      continue;
  }
  if (word.empty()) return std::nullopt;
  return find_program(word);
}

/// Refuses programs into which the loader cannot put another library.
void check_program(const fs::path& file) {
  const std::string bytes = first_bytes(file, 4096);
  if (bytes.size() < sizeof(Elf64_Ehdr) || bytes.compare(0, SELFMAG, ELFMAG) != 0) {
    throw cannot_run(fmt::format("{} is no program of this system", file.string()));
  }
  Elf64_Ehdr head;
  Elf64_Ehdr own;
  std::memcpy(&head, bytes.data(), sizeof head);
  std::memcpy(&own, first_bytes("/proc/self/exe", sizeof own).data(), sizeof own);
  if (head.e_ident[EI_CLASS] != own.e_ident[EI_CLASS] || head.e_machine != own.e_machine) {
    throw cannot_run(
        fmt::format("{} is for another kind of processor than this libgomp.so.1", file.string()));
  }
  bool is_dynamic = false;
  for (unsigned i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr part;
    const std::size_t at = head.e_phoff + std::size_t{i} * head.e_phentsize;
    if (at + sizeof part > bytes.size()) break;
    std::memcpy(&part, bytes.data() + at, sizeof part);
    is_dynamic = is_dynamic || part.p_type == PT_INTERP;
  }
  if (!is_dynamic) {
    throw cannot_run(
        fmt::format("{} is linked statically: the OpenMP runtime is a part of it, and nothing can "
                    "be put in its place",
                    file.string()));
  }
  struct stat status{};
  if (stat(file.c_str(), &status) != 0) return;
  const bool changes_user = (status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid();
  const bool changes_group = (status.st_mode & S_ISGID) != 0 && status.st_gid != getegid();
  if (changes_user || changes_group ||
      getxattr(file.c_str(), "security.capability", nullptr, 0) > 0) {
    throw cannot_run(fmt::format(
        "{} runs with more rights than its caller: the loader then lets nobody put a library "
        "in, for good reasons",
        file.string()));
  }
}

// --- what it loads ---

/// What a program writes to standard output, called with one more variable in its environment.
std::string output_of(const std::vector<std::string>& command, const char* variable,
                      const char* value) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw system_failure("no pipe");
  const pid_t child = fork();
  if (child < 0) throw system_failure("no process");
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    const int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, STDIN_FILENO);
    dup2(nowhere, STDERR_FILENO);
    if (variable != nullptr) setenv(variable, value, 1);
    std::vector<char*> words;
    for (const std::string& each : command) words.push_back(const_cast<char*>(each.c_str()));
    words.push_back(nullptr);
    execv(words[0], words.data());
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) != 0;) {
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
    if (got < 0 && errno != EINTR) break;
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return text;
}

/// The names by which programs of GCC, of LLVM (Debian's and its authors' builds), of Intel, and Numba ask for their
/// runtime.
constexpr const char* usual_names[] = {"libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so",
                                       "libgomp.so.1.0.0"};

/// True for a usual name or one like libgomp-a34b3233.so.1.0.0; false for libgomp-plugin-nvptx.so.1 and
/// libomptarget.so.
bool is_runtime(const std::string& name) {
  if (name.find(".so") == std::string::npos || name.rfind("libgomp-plugin", 0) == 0) return false;
  for (const std::string stem : {"libgomp", "libomp", "libiomp5"}) {
    if (name.rfind(stem, 0) == 0 && name.find_first_of("-.", stem.size()) == stem.size())
      return true;
  }
  return false;
}

/// Names by which libraries ask for a runtime, and the files that they lead to.
struct runtimes {
  std::set<std::string> names;
  std::set<fs::path> files;

  void add(const std::string& name, const fs::path& file) {
    std::error_code error;
    names.insert(name);
    const fs::path real = fs::canonical(file, error);
    if (!error) files.insert(real);
  }
};

void add_runtime(const fs::path& file, runtimes& found) {
  const std::string name = file.filename().string();
  if (is_runtime(name)) found.add(name, file);
}

/// What the loader would load for the program, found as ldd does, from lines like "libgomp.so.1 => /lib/libgomp.so.1
/// (0x7f0000000000)".
void add_from_loader(const fs::path& program, runtimes& found) {
  std::istringstream lines(output_of({program.string()}, "LD_TRACE_LOADED_OBJECTS", "1"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    std::string arrow;
    std::string file;
    words >> name >> arrow >> file;
    name = fs::path(name).filename().string();
    if (is_runtime(name)) found.add(name, file);
  }
}

/// Adds the runtimes in a directory of libraries.
void add_from_directory(const fs::path& directory, runtimes& found) {
  std::error_code error;
  for (const fs::directory_entry& each : fs::directory_iterator(directory, error)) {
    add_runtime(each.path(), found);
  }
}

/// Wheels keep their runtimes in NAME.libs, NAME/.libs or NAME/lib beside the packages, or where Python has its
/// libraries.
void add_from_python(const fs::path& python, runtimes& found) {
  std::istringstream paths(output_of(
      {python.string(), "-c", "import sys; print('\\n'.join([sys.prefix + '/lib', *sys.path]))"},
      nullptr, nullptr));
  std::string path;
  if (std::getline(paths, path)) add_from_directory(path, found);
  while (std::getline(paths, path)) {
    std::error_code error;
    if (path.empty()) continue;
    for (const fs::directory_entry& package : fs::directory_iterator(path, error)) {
      std::error_code type_error;
      if (!package.is_directory(type_error)) continue;
      if (package.path().extension() == ".libs") add_from_directory(package.path(), found);
      add_from_directory(package.path() / ".libs", found);
      add_from_directory(package.path() / "lib", found);
    }
  }
}

void add_bundled(const fs::path& path, runtimes& found) {
  std::error_code error;
  if (!fs::exists(path, error))
    throw cannot_run(fmt::format("{}: no such file or directory", path.string()));
  if (!fs::is_directory(path, error)) {
    found.add(path.filename().string(), path);
    return;
  }
  const auto options = fs::directory_options::skip_permission_denied;
  for (const fs::directory_entry& each : fs::recursive_directory_iterator(path, options, error)) {
    add_runtime(each.path(), found);
  }
}

// --- the environment ---

/// A directory of ours. It is not removed, because processes that the program starts look there, too.
fs::path directory_of_links() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  const fs::path base = cache != nullptr && *cache == '/' ? fs::path(cache)
                        : home != nullptr && *home == '/'
                            ? fs::path(home) / ".cache"
                            : fs::temp_directory_path() / fmt::format("user-{}", geteuid());
  const fs::path directory = base / "lockstep" / "openmp";
  fs::create_directories(directory);
  struct stat status{};
  if (lstat(directory.c_str(), &status) != 0 || status.st_uid != geteuid() ||
      (status.st_mode & 022) != 0) {
    throw cannot_run(
        fmt::format("{} can be written by others: it is not used", directory.string()));
  }
  return directory;
}

/// Makes a link by which the loader finds our library under `name`.
void make_link(const fs::path& directory, const std::string& name, const fs::path& library) {
  const fs::path link = directory / name;
  std::error_code error;
  if (fs::read_symlink(link, error) == library) return;
  const fs::path made = directory / fmt::format(".{}.{}", name, getpid());
  fs::remove(made, error);
  fs::create_symlink(library, made);
  fs::rename(made, link);
}

void put_first(const char* variable, const std::string& value, const char* separator) {
  const char* const old = std::getenv(variable);
  const bool has_old = old != nullptr && *old != 0;
  setenv(variable, (has_old ? value + separator + old : value).c_str(), 1);
}

/// Puts the library in the place of all usual names and of those that were found.
void set_environment(const fs::path& library, const runtimes& found) {
  const fs::path beside = library.parent_path();
  // A list of the loader cannot contain a blank or a colon.
  const bool has_separators = library.string().find_first_of(" :;") != std::string::npos;
  std::set<std::string> linked = found.names;  // without those that lie beside the library
  linked.insert(std::begin(usual_names), std::end(usual_names));
  std::string names;
  for (const std::string& each : linked) names += each == "libgomp.so.1" ? "" : ":" + each;
  std::error_code error;
  for (auto each = linked.begin(); each != linked.end();) {
    const bool is_beside = !has_separators && fs::equivalent(beside / *each, library, error);
    each = is_beside ? linked.erase(each) : std::next(each);
  }
  std::string first = library.string();
  if (!linked.empty()) {
    const fs::path directory = directory_of_links();
    if (directory.string().find_first_of(" :;") != std::string::npos) {
      throw cannot_run(fmt::format(
          "{}: the loader takes no such path; set XDG_CACHE_HOME to another", directory.string()));
    }
    for (const std::string& each : linked) make_link(directory, each, library);
    put_first("LD_LIBRARY_PATH", directory.string(), ":");
    if (has_separators) first = (directory / "libgomp.so.1").string();
  }
  if (!has_separators) put_first("LD_LIBRARY_PATH", beside.string(), ":");
  put_first("LD_PRELOAD", first + names, ":");
}

struct run_options {
  std::string library;
  std::vector<std::string> bundled;
  std::vector<std::string> command;
  bool is_quiet = false;
  bool is_verbose = false;
};

[[noreturn]] void run_program(const run_options& options) {
  const fs::path library = find_library(options.library);
  const fs::path program = find_program(options.command[0]);
  fs::path binary = program;
  std::optional<fs::path> python;  // it may be a script itself, which chooses a version of Python
  for (int depth = 0; depth < 4; ++depth) {
    if (!python && binary.filename().string().rfind("python", 0) == 0) python = binary;
    const std::optional<fs::path> next = interpreter_of(binary);
    if (!next) break;
    binary = *next;
  }
  check_program(binary);
  runtimes found;
  add_from_loader(binary, found);
  if (python) add_from_python(*python, found);
  for (const std::string& each : options.bundled) add_bundled(each, found);
  found.files.erase(library);  // a program that we run may run another one
  std::string list;
  if (!options.is_quiet && found.files.size() > 1) {
    for (const fs::path& each : found.files) list += "\n  " + each.string();
    say(fmt::format("{} has {} OpenMP runtimes to load; now it is one, lockstep, in place of:{}",
                    program.string(), found.files.size(), list));
  } else if (!options.is_quiet && found.names.empty() && !python && binary == program) {
    say(
        fmt::format("{} loads no OpenMP runtime when it starts; if it loads one later, that is "
                    "lockstep's",
                    program.string()));
  }
  set_environment(library, found);
  if (options.is_verbose) {
    list.clear();
    for (const std::string& each : found.names) list += " " + each;
    say(fmt::format("{} takes the place of:{}", library.string(),
                    list.empty() ? " libgomp.so.1" : list));
    setenv("LOCKSTEP_DISPLAY_ENV", "1", 1);
  }
  std::vector<char*> words;
  for (const std::string& each : options.command) words.push_back(const_cast<char*>(each.c_str()));
  words.push_back(nullptr);
  execv(program.c_str(), words.data());
  throw system_failure(fmt::format("{}: {}", program.string(), std::strerror(errno)));
}

}  // namespace

void add_run(CLI::App& program) {
  CLI::App* const command = program.add_subcommand("run",
                                                   "run an OpenMP program on lockstep, compiled by "
                                                   "GCC, Clang, ...: lockstep run -- PROGRAM "
                                                   "ARGUMENT...");
  const auto options = std::make_shared<run_options>();
  command
      ->add_option("--library", options->library,
                   "lockstep's libgomp.so.1 (default: beside this command)")
      ->type_name("FILE")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  command
      ->add_option("--bundled", options->bundled,
                   "a runtime that the program has under another name, or a directory with some; "
                   "may be repeated")
      ->type_name("PATH")
      ->allow_extra_args(false);
  command->add_flag("-q,--quiet", options->is_quiet, "no remarks on what the program loads");
  command->add_flag("-v,--verbose", options->is_verbose,
                    "say which libraries lockstep replaces, and that it is in place");
  command->add_option("command", options->command, "the program and its arguments")
      ->type_name("PROGRAM")
      ->required();
  command->positionals_at_end();
  command->prefix_command(false);
  command->callback([options] {
    try {
      run_program(*options);
    } catch (const cannot_run& failure) {
      say(failure.what());
      throw CLI::RuntimeError(bad_input);
    }
  });
}

}  // namespace tool
