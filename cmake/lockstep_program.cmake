# SPDX-License-Identifier: MIT
lockstep_need(libcli11-dev CLI11)
lockstep_need(libfmt-dev fmt)
lockstep_need(nlohmann-json3-dev nlohmann_json)

# Examples and benchmarks are programs that read options and write tables and JSON. Built beside the tests, they are
# built to be tested, not to be measured: without the optimiser where it has nothing to find, and with what they read
# precompiled.
set(lockstep_program_options "")
if(LOCKSTEP_BUILD_TESTS)
  include(lockstep_test)
  if(LOCKSTEP_TEST_UNOPTIMISED AND "examples.program" MATCHES "${LOCKSTEP_TEST_UNOPTIMISED}")
    set(lockstep_program_options -O0)
  endif()
endif()
include_guard(GLOBAL)  # what is above belongs to the directory that asks

# Two: with options a unit compiles for 2 s what CLI11 has in it, though it uses nothing of it.
if(LOCKSTEP_BUILD_TESTS)
  file(WRITE ${PROJECT_BINARY_DIR}/program_precompiled.cpp "")
  foreach(precompiled program_precompiled program_precompiled_options)
    add_library(${precompiled} STATIC EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/program_precompiled.cpp)
    target_compile_features(${precompiled} PRIVATE cxx_std_20)
    target_compile_options(${precompiled} PRIVATE ${lockstep_program_options})
    target_link_libraries(${precompiled} PRIVATE CLI11::CLI11 fmt::fmt nlohmann_json::nlohmann_json)
    lockstep_warnings(${precompiled})
  endforeach()
  target_precompile_headers(program_precompiled_options PRIVATE <CLI/CLI.hpp>)
  foreach(precompiled program_precompiled program_precompiled_options)
    target_precompile_headers(${precompiled} PRIVATE
      <fmt/format.h> <nlohmann/json.hpp> <algorithm> <atomic> <chrono> <filesystem> <functional>
      <map> <optional> <string> <thread> <vector>)
  endforeach()
endif()

# lockstep_program_uses_precompiled(<target> [OPTIONS]): a C++20 target with fmt and nlohmann_json, not optimised here;
# with OPTIONS one whose units read CLI11.
function(lockstep_program_uses_precompiled name)
  target_compile_options(${name} PRIVATE ${lockstep_program_options})
  set(precompiled program_precompiled)
  if("OPTIONS" IN_LIST ARGN)
    set(precompiled program_precompiled_options)
  endif()
  if(TARGET ${precompiled})
    target_precompile_headers(${name} REUSE_FROM ${precompiled})
  endif()
endfunction()
