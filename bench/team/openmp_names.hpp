// SPDX-License-Identifier: MIT
// bench/team/openmp_names.hpp -- the OpenMP runtime that this unit is compiled for, and by what
#pragma once

#include <map>
#include <string>

namespace team_bench {

#if defined(__clang__)
inline constexpr const char* openmp_runtime = "libomp";
inline constexpr const char* openmp_compiler = "Clang " __clang_version__;
#else
inline constexpr const char* openmp_runtime = "libgomp";
inline constexpr const char* openmp_compiler = "GCC " __VERSION__;
#endif

inline std::map<std::string, std::string> openmp_version() {
  return {{openmp_runtime, std::string(openmp_compiler) + ", OpenMP " + std::to_string(_OPENMP)}};
}

}  // namespace team_bench
