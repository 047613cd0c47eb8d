# SPDX-License-Identifier: MIT
# The numbered programs, each with a test of what it prints. They show a C++11 library: they are C++11.
if(LOCKSTEP_BUILD_TESTS)
  lockstep_need(python3 Python3 3.9 COMPONENTS Interpreter)
endif()

foreach(name IN ITEMS
    01_lock_only
    02_lost_wakeup
    03_repaired
    04_binary_oscillator
    05_cycle_scheduler_endless
    06_cycle_scheduler_finite
    07_parallel_scheduler
    08_parallel_scheduler_with_mid_sync
    09_team
    10_constructs
    11_wavefront
    12_sub_teams
    13_graph_oscillator
    14_graph_cycle
    15_graph_parallel
    16_graph_mid_sync
    17_graph_solver
    18_graph_pipeline
    19_graph_errors
    20_graph_search
    21_trace
    22_slow_loops
    23_guide)
  lockstep_example(${name} ${name}.cpp)
  set_target_properties(${name} PROPERTIES
    COMPILE_FEATURES cxx_std_11 CXX_STANDARD 11 CXX_EXTENSIONS OFF)
  # By day the library's headers are read once for all; at night each program shows that it names those that it needs.
  if(LOCKSTEP_TEST_BRIEF AND name STREQUAL "01_lock_only")
    target_precompile_headers(${name} PRIVATE <lockstep/lockstep.hpp>)
  elseif(LOCKSTEP_TEST_BRIEF)
    target_precompile_headers(${name} REUSE_FROM 01_lock_only)
  endif()
  if(LOCKSTEP_BUILD_TESTS)
    add_test(NAME examples.${name}
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/check_output.py
              ${name} $<TARGET_FILE:${name}>)
    set_tests_properties(examples.${name} PROPERTIES TIMEOUT 600 LABELS examples)
  endif()
endforeach()
