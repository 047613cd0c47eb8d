# SPDX-License-Identifier: MIT
find_package(GTest REQUIRED)
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

# lockstep_test(<name> SOURCES <file>... [LABELS <label>...] [TIMEOUT <seconds>]
#               [DEFINES <macro[=value]>...] [BOTH_BACKENDS] [DELAYED])
#
# One GoogleTest program and one ctest entry. The part of the name before the first dot becomes a
# label: sync.event carries 'sync'. The timeout (default 120 s) is what catches a hang.
# BOTH_BACKENDS adds <name>.portable, the same test on the mutex-and-condition-variable futex.
# DELAYED adds <name>.delayed, the same test on atomics that delay (tests/support/delay_atomic.hpp).
# The label 'slow-san' keeps a test out of the sanitizer presets, where LOCKSTEP_TEST_SLOW is OFF; 'pure', for
# functions of values, out of ThreadSanitizer's, which has nothing to say of them.
#
# The diagnosis of misuse takes locks, which hide missing order and close windows: it is off in DELAYED
# variants and where LOCKSTEP_TEST_DIAGNOSIS is OFF (tsan), else as users of debug builds have it.

# Which variants are built, and of which tests: all by default. The dev preset has the portable ones of the
# contract suites, which go through every class, and of the layers below; no preset has the delayed ones.
set(LOCKSTEP_TEST_VARIANTS portable delayed CACHE STRING
  "Which tests to build again: 'portable' on the portable futex, 'delayed' on delaying atomics")
set(LOCKSTEP_TEST_VARIANTS_OF "" CACHE STRING "Build variants only of tests whose names match")
# The clang preset has the programs that use the library as a whole; so has tsan, with the contract suites, which go
# through every class, and what the team is made of; asan-ubsan the layers' own tests. An empty one: all.
set(LOCKSTEP_TEST_ONLY "" CACHE STRING "Build only the tests whose names match")
option(LOCKSTEP_TEST_SLOW "Build the tests that sanitizers slow down too much, or break" ON)
option(LOCKSTEP_TEST_DIAGNOSIS "Run the tests with misuse diagnosed" ON)

# Reading GoogleTest is a third of what a test costs to compile: it is read once. Nothing of lockstep is in
# it, so that seams and back ends remain each test's own.
function(lockstep_precompiled name)
  if(NOT TARGET test_precompiled)
    file(WRITE ${PROJECT_BINARY_DIR}/test_precompiled.cpp "")
    add_library(test_precompiled STATIC ${PROJECT_BINARY_DIR}/test_precompiled.cpp)
    target_compile_features(test_precompiled PRIVATE cxx_std_20)
    target_link_libraries(test_precompiled PRIVATE GTest::gtest lockstep::lockstep)
    lockstep_warnings(test_precompiled)
    target_precompile_headers(test_precompiled PRIVATE
      <gtest/gtest.h> <atomic> <chrono> <condition_variable> <functional> <mutex> <thread>)
  endif()
  target_precompile_headers(${name} REUSE_FROM test_precompiled)
endfunction()

function(lockstep_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "BOTH_BACKENDS;DELAYED;NO_PRECOMPILED" "TIMEOUT" "SOURCES;LABELS;DEFINES")
  if(NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "lockstep_test(${name}): no SOURCES, or unknown '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT name MATCHES "${LOCKSTEP_TEST_ONLY}")
    return()
  endif()
  if(NOT LOCKSTEP_TEST_SLOW AND "slow-san" IN_LIST arg_LABELS)
    return()
  endif()
  if("pure" IN_LIST arg_LABELS AND CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()

  if(NOT LOCKSTEP_TEST_DIAGNOSIS AND NOT "${arg_DEFINES}" MATCHES "LOCKSTEP_DIAGNOSE_MISUSE")
    list(APPEND arg_DEFINES LOCKSTEP_DIAGNOSE_MISUSE=0)
  endif()

  add_executable(${name} ${arg_SOURCES})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_compile_definitions(${name} PRIVATE ${arg_DEFINES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE lockstep::lockstep GTest::gtest_main)
  lockstep_warnings(${name})
  if(NOT arg_NO_PRECOMPILED)
    lockstep_precompiled(${name})
  endif()

  string(REGEX MATCH "^[^.]+" layer ${name})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES
    TIMEOUT ${arg_TIMEOUT} LABELS "${layer};${arg_LABELS}")

  if(NOT name MATCHES "${LOCKSTEP_TEST_VARIANTS_OF}")
    return()
  endif()
  if(arg_BOTH_BACKENDS AND "portable" IN_LIST LOCKSTEP_TEST_VARIANTS)
    lockstep_test(${name}.portable
      SOURCES ${arg_SOURCES}
      LABELS portable ${arg_LABELS}
      TIMEOUT ${arg_TIMEOUT}
      DEFINES LOCKSTEP_FORCE_PORTABLE_FUTEX=1 ${arg_DEFINES})
  endif()
  if(arg_DELAYED AND "delayed" IN_LIST LOCKSTEP_TEST_VARIANTS)
    lockstep_test(${name}.delayed
      SOURCES ${arg_SOURCES}
      LABELS delayed ${arg_LABELS}
      TIMEOUT ${arg_TIMEOUT}
      DEFINES LOCKSTEP_ATOMIC_SEAM="support/delay_atomic.hpp" LOCKSTEP_DIAGNOSE_MISUSE=0
        ${arg_DEFINES})
  endif()
endfunction()
