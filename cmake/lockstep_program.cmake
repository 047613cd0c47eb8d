# SPDX-License-Identifier: MIT
lockstep_need(libcli11-dev CLI11)
lockstep_need(libfmt-dev fmt)
lockstep_need(nlohmann-json3-dev nlohmann_json)

# Examples and benchmarks are programs that read options and write tables and JSON. Built beside the tests, they are
# built to be tested, not to be measured: without the optimiser where it has nothing to find, and with what they read
# precompiled. The preset release builds so what is not measured: options and JSON are most of what a program costs.
option(LOCKSTEP_OPTIMISE_MEASURED_ONLY "Of examples and benchmarks, optimise only what is measured" OFF)
set(lockstep_program_options "")
if(LOCKSTEP_BUILD_TESTS)
  include(lockstep_test)
  if(LOCKSTEP_TEST_UNOPTIMISED AND "examples.program" MATCHES "${LOCKSTEP_TEST_UNOPTIMISED}")
    set(lockstep_program_options -O0)
  endif()
endif()
set(lockstep_unmeasured_options ${lockstep_program_options})
if(LOCKSTEP_OPTIMISE_MEASURED_ONLY)
  set(lockstep_unmeasured_options -O0)
endif()
include_guard(GLOBAL)  # what is above belongs to the directory that asks

if(LOCKSTEP_BUILD_TESTS OR LOCKSTEP_OPTIMISE_MEASURED_ONLY)
  file(WRITE ${PROJECT_BINARY_DIR}/program_precompiled.cpp "")
  add_library(program_precompiled STATIC EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/program_precompiled.cpp)
  target_compile_features(program_precompiled PRIVATE cxx_std_20)
  target_compile_options(program_precompiled PRIVATE ${lockstep_unmeasured_options})
  target_link_libraries(program_precompiled PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
  lockstep_warnings(program_precompiled)
  # Not CLI11: a unit compiles for 2 s what that has in it, though it uses nothing of it.
  target_precompile_headers(program_precompiled PRIVATE
    <fmt/format.h> <nlohmann/json.hpp> <algorithm> <atomic> <chrono> <filesystem> <functional>
    <map> <optional> <string> <thread> <vector>)
endif()

# lockstep_program_uses_precompiled(<target> [UNMEASURED]): a C++20 target with fmt and nlohmann_json, not optimised here.
function(lockstep_program_uses_precompiled name)
  set(options "${lockstep_program_options}")
  if("UNMEASURED" IN_LIST ARGN)
    set(options "${lockstep_unmeasured_options}")
  endif()
  target_compile_options(${name} PRIVATE ${options})
  if(TARGET program_precompiled AND options STREQUAL "${lockstep_unmeasured_options}")
    target_precompile_headers(${name} REUSE_FROM program_precompiled)
  endif()
endfunction()
