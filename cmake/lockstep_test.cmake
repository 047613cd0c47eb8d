# SPDX-License-Identifier: MIT
include_guard(GLOBAL)
lockstep_need(libgtest-dev GTest)
lockstep_need(python3 Python3 3.9 COMPONENTS Interpreter)

# lockstep_test(<name> SOURCES <file>... [LABELS <label>...] [TIMEOUT <seconds>]
#               [DEFINES <macro[=value]>...] [LIBRARIES <target>...] [PROGRAM <name>] [ALONE]
#               [BOTH_BACKENDS] [DELAYED] [NIGHT])
#
# One ctest entry, a process of its own. The part of the name before the first dot becomes a label: sync.event
# carries 'sync'. The timeout (default 600 s) catches a hang, and no crowd.
# The tests of a layer are one program, tests_<layer>; 'cmake --build ... --target sync.event' builds it, and the entry
# runs those of its tests that SOURCES have (tests/support/main.cpp). PROGRAM names another one: tests with DEFINES need
# it, and one program has one set of them. ALONE makes a program <name>, which may have a main() of its own.
# lockstep_tests(<layer> [<option>...] TESTS <name>...): tests/<layer>/<name>_test.cpp is the test <layer>.<name>, each with
# the options of lockstep_test.
# BOTH_BACKENDS adds <name>.portable, the same test on the mutex-and-condition-variable futex.
# DELAYED adds <name>.delayed, the same test on atomics that delay (tests/support/delay_atomic.hpp).
# NIGHT leaves the test, and the program that only it needs, to ./do nightly: not where LOCKSTEP_TEST_BRIEF is ON.
# The label 'slow-san' keeps a test out of the sanitizer presets, where LOCKSTEP_TEST_SLOW is OFF; 'pure', for functions
# of values, out of ThreadSanitizer's, which has nothing to say of them.
#
# The diagnosis of misuse takes locks, which hide missing order and close windows: it is off in DELAYED
# variants and where LOCKSTEP_TEST_DIAGNOSIS is OFF (tsan), else as users of debug builds have it.

# Which variants are built, and of which tests: all by default. The dev preset has the portable ones of the
# contract suites, which go through every class, and of the layers below; no preset has the delayed ones.
set(LOCKSTEP_TEST_VARIANTS portable delayed CACHE STRING
  "Which tests to build again: 'portable' on the portable futex, 'delayed' on delaying atomics")
set(LOCKSTEP_TEST_VARIANTS_OF "" CACHE STRING "Build variants only of tests whose names match")
set(LOCKSTEP_TEST_ONLY "" CACHE STRING "Build only the tests whose names match")
# One place for each property: by day each test is in one preset, lockstep_part_of.
set(LOCKSTEP_TEST_PART "" CACHE STRING "Build only the tests of this part of ./do test")
option(LOCKSTEP_TEST_BRIEF "Leave to ./do nightly what is long: LOCKSTEP_TEST_BRIEF in the environment of tests (tests/support/effort.hpp)" OFF)
option(LOCKSTEP_TEST_SLOW "Build the tests that sanitizers slow down too much, or break" ON)
option(LOCKSTEP_TEST_DIAGNOSIS "Run the tests with misuse diagnosed" ON)
# Headers are read, and shared code is compiled, once for each unit: fewer, larger ones build faster as a whole, and
# slower after a change of one source.
set(LOCKSTEP_TEST_UNIT_KB 160 CACHE STRING
  "Join the sources of a test program to units of about this many kilobytes; 0: each is one")

# lockstep_part_of(<variable> <name> [<label>...]): the preset of ./do test that has the test. tsan has the contract suites,
# which go through every class, and what the team is made of; asan-ubsan what owns memory or reads foreign bytes.
function(lockstep_part_of variable name)
  set(part plain)
  if(name MATCHES "^(model[.]observers|adapters[.]eigen)")
    set(part night)
  elseif(name MATCHES "^(model|edges[.]refused)")
    set(part gcc)
  elseif("slow-san" IN_LIST ARGN OR name MATCHES
      "^(edges[.](aligned_values|mixed_standards|ranges|real_time|stopped)|reduce[.]reduction_tree|team[.](environment|first_touch|placement|stop_when)|trace[.](trace$|watchdog|stuck_report|wait_texts|debug_aids|arrows|names|ledger))")
    set(part plain)
  elseif(NOT "pure" IN_LIST ARGN AND name MATCHES
      "^(contract[.](notify|lock|barrier|opening|bad)|graph[.]plan|sync[.]condition_variable|toolbox[.]mailbox|trace[.]trace_concurrent|region[.]turns|loop[.]late|team[.](team(_loops)?$|member|sub_team|anticipating_team))")
    set(part tsan)
  elseif(name MATCHES "^(observe|trace|toolbox|reduce|graph|team[.]([^l]|leaf|loop_)|edges|fault[.]seam|fuzz)")
    set(part asan-ubsan)
  endif()
  set(${variable} ${part} PARENT_SCOPE)
endfunction()

# lockstep_has_test(<variable> <name> [<label>...]): does this build have the test? For those that are not made by
# lockstep_test, and for programs that no other test needs.
function(lockstep_has_test variable name)
  set(has TRUE)
  if(NOT name MATCHES "${LOCKSTEP_TEST_ONLY}" OR (NOT LOCKSTEP_TEST_SLOW AND "slow-san" IN_LIST ARGN))
    set(has FALSE)
  elseif(LOCKSTEP_TEST_PART)
    lockstep_part_of(part ${name} ${ARGN})
    string(COMPARE EQUAL ${part} ${LOCKSTEP_TEST_PART} has)
  endif()
  set(${variable} ${has} PARENT_SCOPE)
endfunction()

# Half of the time to compile is that of the optimiser. It has something to find where threads meet on shared words;
# tests of what is computed, and of rules, do without.
set(LOCKSTEP_TEST_UNOPTIMISED "" CACHE STRING "Build without optimisation the test programs whose names match")

# For a directory of programs that are built here to be tested, not to be measured: what the sources of a program or
# library have in common, such as JSON and options, is read and instantiated once.
macro(lockstep_tested_directory)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 0)
endmacro()

# The half of the library that diagnoses nothing is called by the interfaces for other languages, and by few tests.
if(LOCKSTEP_TEST_UNOPTIMISED)
  set_source_files_properties(src/lockstep.cpp DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTIES COMPILE_OPTIONS -O0)
endif()

# lockstep_tested_library(<variable> <macro[=value]>...): the library for programs with these DEFINES. A seam, or another
# futex, needs its own: all sources compiled with the DEFINES, once for the programs that have the same.
function(lockstep_tested_library variable)
  set(library lockstep::lockstep)
  if("${ARGN}" MATCHES "SEAM|PORTABLE")
    set(defines ${ARGN})
    list(SORT defines)
    string(MD5 library "${defines}")
    string(SUBSTRING ${library} 0 8 library)
    set(library lockstep_seam_${library})
    if(NOT TARGET ${library})
      add_library(${library} STATIC EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/src/lockstep.cpp)
      target_compile_features(${library} PRIVATE cxx_std_20)
      target_compile_definitions(${library} PUBLIC ${ARGN})
      target_include_directories(${library} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src
        PUBLIC ${PROJECT_SOURCE_DIR}/include)
      target_link_libraries(${library} PUBLIC lockstep_needs)
      # Their programs run for less time than the optimiser takes.
      if(LOCKSTEP_TEST_UNOPTIMISED AND "${ARGN}" MATCHES "PORTABLE|SEAM_OBSERVERS|delay_atomic")
        target_compile_options(${library} PRIVATE -O0)
      endif()
    endif()
  endif()
  set(${variable} ${library} PARENT_SCOPE)
endfunction()

# lockstep_make_precompiled(<name> [<option>...]): reading GoogleTest is a third of what a test costs to compile, so it is
# read once for all that are compiled with the options. Nothing of lockstep is in it, so that seams and back ends remain
# each test's own.
function(lockstep_make_precompiled name)
  file(WRITE ${PROJECT_BINARY_DIR}/${name}.cpp "")
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/${name}.cpp)
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_compile_options(${name} PRIVATE ${ARGN})
  target_link_libraries(${name} PRIVATE GTest::gtest lockstep_needs)
  lockstep_warnings(${name})
  target_precompile_headers(${name} PRIVATE
    <gtest/gtest.h> <atomic> <chrono> <condition_variable> <functional> <mutex> <thread>)
endfunction()
# Made here, where no directory has options of its own.
lockstep_make_precompiled(test_precompiled)
lockstep_make_precompiled(test_precompiled_unoptimised -O0)

function(lockstep_precompiled name)
  set(precompiled test_precompiled)
  if(LOCKSTEP_TEST_UNOPTIMISED AND name MATCHES "${LOCKSTEP_TEST_UNOPTIMISED}")
    set(precompiled test_precompiled_unoptimised)
    target_compile_options(${name} PRIVATE -O0)
  endif()
  target_precompile_headers(${name} REUSE_FROM ${precompiled})
endfunction()

# main() of the programs that hold several tests.
add_library(lockstep_test_main OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/support/main.cpp)
target_compile_features(lockstep_test_main PRIVATE cxx_std_20)
target_link_libraries(lockstep_test_main PRIVATE GTest::gtest lockstep_needs)
lockstep_warnings(lockstep_test_main)
lockstep_precompiled(lockstep_test_main)

# What all programs of tests have in common.
function(lockstep_test_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_PRECOMPILED" "" "SOURCES;DEFINES;LIBRARIES")
  add_executable(${name} ${arg_SOURCES})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_compile_definitions(${name} PRIVATE ${arg_DEFINES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src)
  if("${arg_DEFINES}" MATCHES "SEAM|PORTABLE" AND NOT "${arg_DEFINES}" MATCHES "LOCKSTEP_DIAGNOSE_MISUSE")
    list(APPEND arg_DEFINES LOCKSTEP_DIAGNOSE_MISUSE=1)
  endif()
  if(NOT "${arg_LIBRARIES}" MATCHES "lockstep::header_only|lockstep_needs")  # else it brings the library, or what it needs of it
    lockstep_tested_library(library ${arg_DEFINES})
    target_link_libraries(${name} PRIVATE ${library})
  endif()
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
  lockstep_warnings(${name})
  if(NOT arg_NO_PRECOMPILED)
    lockstep_precompiled(${name})
  endif()
endfunction()

# Adds the sources to the program, which is made at the end of the directory that names it first.
function(lockstep_add_to_program program)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEFINES;LIBRARIES")
  if(TARGET ${program})
    message(FATAL_ERROR "the program ${program} is made already: its tests belong to one directory")
  endif()
  get_property(known GLOBAL PROPERTY lockstep_${program}_SOURCES SET)
  if(NOT known)
    set_property(GLOBAL PROPERTY lockstep_${program}_DEFINES ${arg_DEFINES})
    cmake_language(EVAL CODE "cmake_language(DEFER CALL lockstep_make_program ${program})")
  endif()
  get_property(defines GLOBAL PROPERTY lockstep_${program}_DEFINES)
  if(NOT "${defines}" STREQUAL "${arg_DEFINES}")
    message(FATAL_ERROR "the program ${program} has DEFINES ${defines}, not ${arg_DEFINES}: name another one")
  endif()
  foreach(source ${arg_SOURCES})
    get_filename_component(source ${source} ABSOLUTE)
    set_property(GLOBAL APPEND PROPERTY lockstep_${program}_SOURCES ${source})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY lockstep_${program}_LIBRARIES ${arg_LIBRARIES})
endfunction()

# Joins sources to units of about LOCKSTEP_TEST_UNIT_KB.
function(lockstep_units program sources units)
  set(made "")
  set(open "")
  set(size 0)
  math(EXPR most "${LOCKSTEP_TEST_UNIT_KB} * 1024")
  foreach(source ${sources} "")
    set(more 0)
    if(source)
      file(SIZE ${source} more)
    endif()
    math(EXPR with_it "${size} + ${more}")
    if(open AND (NOT source OR with_it GREATER most))
      list(LENGTH open count)
      list(LENGTH made number)
      if(count EQUAL 1)
        list(APPEND made ${open})
      else()
        set(unit ${PROJECT_BINARY_DIR}/units/${program}_${number}.cpp)
        add_custom_command(OUTPUT ${unit}
          COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/support/batch.py ${unit} ${open}
          DEPENDS ${PROJECT_SOURCE_DIR}/tests/support/batch.py ${open} COMMENT "Joining ${program}_${number}")
        list(APPEND made ${unit})
      endif()
      set(open "")
      set(size 0)
    endif()
    list(APPEND open ${source})
    math(EXPR size "${size} + ${more}")
  endforeach()
  set(${units} ${made} PARENT_SCOPE)
endfunction()

# Makes a program that holds several tests, when all of them are known.
function(lockstep_make_program program)
  foreach(kind SOURCES DEFINES LIBRARIES)
    get_property(${kind} GLOBAL PROPERTY lockstep_${program}_${kind})
    list(REMOVE_DUPLICATES ${kind})
  endforeach()
  lockstep_units(${program} "${SOURCES}" units)
  lockstep_test_program(${program} SOURCES ${units} $<TARGET_OBJECTS:lockstep_test_main>
    DEFINES ${DEFINES} LIBRARIES ${LIBRARIES} GTest::gtest)
endfunction()

function(lockstep_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "BOTH_BACKENDS;DELAYED;NIGHT;NO_PRECOMPILED;ALONE" "TIMEOUT;PROGRAM"
    "SOURCES;LABELS;DEFINES;LIBRARIES")
  if(NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "lockstep_test(${name}): no SOURCES, or unknown '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(("pure" IN_LIST arg_LABELS AND CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread") OR (arg_NIGHT AND LOCKSTEP_TEST_BRIEF))
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  string(REGEX MATCH "^[^.]+" layer ${name})
  if(NOT arg_PROGRAM)
    set(arg_PROGRAM tests_${layer})
  endif()
  set(again SOURCES ${arg_SOURCES} TIMEOUT ${arg_TIMEOUT} LIBRARIES ${arg_LIBRARIES})
  if(arg_ALONE)
    list(APPEND again ALONE)
  endif()

  if(name MATCHES "${LOCKSTEP_TEST_VARIANTS_OF}")
    if(arg_BOTH_BACKENDS AND "portable" IN_LIST LOCKSTEP_TEST_VARIANTS)
      set(program tests_portable)
      if(arg_DEFINES)
        set(program ${arg_PROGRAM}_portable)
      endif()
      lockstep_test(${name}.portable ${again} PROGRAM ${program}
        LABELS portable ${arg_LABELS}
        DEFINES LOCKSTEP_FORCE_PORTABLE_FUTEX=1 ${arg_DEFINES})
    endif()
    if(arg_DELAYED AND "delayed" IN_LIST LOCKSTEP_TEST_VARIANTS)
      lockstep_test(${name}.delayed ${again} PROGRAM ${arg_PROGRAM}_delayed
        LABELS delayed ${arg_LABELS}
        DEFINES LOCKSTEP_ATOMIC_SEAM="support/delay_atomic.hpp" LOCKSTEP_DIAGNOSE_MISUSE=0
          ${arg_DEFINES})
    endif()
  endif()
  lockstep_has_test(has ${name} ${arg_LABELS})
  if(NOT has)
    return()
  endif()

  set(defines ${arg_DEFINES})
  if(NOT LOCKSTEP_TEST_DIAGNOSIS AND NOT "${arg_DEFINES}" MATCHES "LOCKSTEP_DIAGNOSE_MISUSE")
    list(APPEND defines LOCKSTEP_DIAGNOSE_MISUSE=0)
  endif()
  if(arg_ALONE)
    set(no_precompiled "")
    if(arg_NO_PRECOMPILED)
      set(no_precompiled NO_PRECOMPILED)
    endif()
    lockstep_test_program(${name} ${no_precompiled} SOURCES ${arg_SOURCES} DEFINES ${defines}
      LIBRARIES ${arg_LIBRARIES} GTest::gtest_main)
    add_test(NAME ${name} COMMAND ${name})
  else()
    lockstep_add_to_program(${arg_PROGRAM} SOURCES ${arg_SOURCES} DEFINES ${defines} LIBRARIES ${arg_LIBRARIES})
    set(from "")
    foreach(source ${arg_SOURCES})
      get_filename_component(source ${source} ABSOLUTE)
      list(APPEND from --from=${source})
    endforeach()
    add_custom_target(${name} DEPENDS ${arg_PROGRAM})
    add_test(NAME ${name} COMMAND $<TARGET_FILE:${arg_PROGRAM}> ${from})
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${layer};${arg_LABELS}")
  if(LOCKSTEP_TEST_BRIEF)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT LOCKSTEP_TEST_BRIEF=1)
  endif()
endfunction()

function(lockstep_tests layer)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "TESTS")
  foreach(name ${arg_TESTS})
    lockstep_test(${layer}.${name} SOURCES ${layer}/${name}_test.cpp ${arg_UNPARSED_ARGUMENTS})
  endforeach()
endfunction()
