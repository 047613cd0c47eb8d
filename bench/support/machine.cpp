// SPDX-License-Identifier: MIT
#include "support/machine.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <fstream>
#include <lockstep/lockstep.hpp>
#include <string_view>

namespace bench {
namespace {

#if defined(__clang__)
constexpr std::string_view compiler = "Clang " __clang_version__;
#elif defined(__GNUC__)
constexpr std::string_view compiler = "GCC " __VERSION__;
#else
constexpr std::string_view compiler = "unknown";
#endif

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string kernel() {
  utsname system{};
  if (uname(&system) != 0) return "unknown";
  return fmt::format("{} {} {}", system.sysname, system.release, system.machine);
}

}  // namespace

nlohmann::ordered_json describe_machine() {
  return {{"cpu", cpu_model()},
          {"usable_cpus", lockstep::usable_cpus()},
          {"kernel", kernel()},
          {"compiler", compiler},
          {"flags", LOCKSTEP_BENCH_FLAGS},
          {"build_type", LOCKSTEP_BENCH_BUILD_TYPE},
          {"lockstep", fmt::format("{}.{}.{}", LOCKSTEP_VERSION_MAJOR, LOCKSTEP_VERSION_MINOR,
                                   LOCKSTEP_VERSION_PATCH)}};
}

std::string on_one_line(const nlohmann::ordered_json& machine) {
  std::string line;
  for (const auto& [key, value] : machine.items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    line += fmt::format("{}{}: {}", line.empty() ? "" : "; ", key, text);
  }
  return line;
}

}  // namespace bench
