# SPDX-License-Identifier: MIT
# lockstep inside MPI. For users there is the target lockstep::mpi: the headers include/lockstep/mpi*, and src/lockstep_mpi.cpp
# compiled with the MPI that CMake finds. Tests, examples and benchmarks are built once for each MPI library of this machine,
# for they have different headers: lockstep_mpi_programs.
include_guard(GLOBAL)
include(lockstep_mpi_library)

# lockstep_add_mpi(): the target lockstep::mpi.
macro(lockstep_add_mpi)
  find_package(MPI REQUIRED COMPONENTS CXX)
  lockstep_add_mpi_library(lockstep_mpi ${PROJECT_SOURCE_DIR}/src MPI::MPI_CXX)
  add_library(lockstep::mpi ALIAS lockstep_mpi)
endmacro()

# The MPI libraries of this machine: LOCKSTEP_MPIS, such as 'openmpi;mpich', and for each a target lockstep_with_<it>.
# LOCKSTEP_MPI_HEADERS: for each --mpi=DIRECTORY:DIRECTORY, where its headers are, for the scripts of tests.
# Distributions name the compilers of several MPIs mpicxx.NAME; one that is alone is called 'mpi'.
function(lockstep_find_mpis)
  set(found "")
  set(header_directories "")
  foreach(name openmpi mpich mpi)
    if(name STREQUAL "mpi" AND found)
      break()
    endif()
    string(REGEX REPLACE "^mpi$" "" suffix "${name}")
    string(REGEX REPLACE "^(.+)$" ".\\1" suffix "${suffix}")
    find_program(LOCKSTEP_MPICXX_${name} mpicxx${suffix})
    find_program(LOCKSTEP_MPIRUN_${name} mpirun${suffix})
    mark_as_advanced(LOCKSTEP_MPICXX_${name} LOCKSTEP_MPIRUN_${name})
    if(NOT LOCKSTEP_MPICXX_${name} OR NOT LOCKSTEP_MPIRUN_${name})
      continue()
    endif()
    execute_process(COMMAND ${LOCKSTEP_MPICXX_${name}} -show OUTPUT_VARIABLE shown RESULT_VARIABLE status
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(NOT status EQUAL 0)
      continue()
    endif()
    separate_arguments(words UNIX_COMMAND "${shown}")
    add_library(lockstep_needs_${name} INTERFACE)
    foreach(word ${words})
      if(word MATCHES "^-I(.+)$")
        target_include_directories(lockstep_needs_${name} SYSTEM INTERFACE ${CMAKE_MATCH_1})
      elseif(word MATCHES "^-L(.+)$")
        target_link_directories(lockstep_needs_${name} INTERFACE ${CMAKE_MATCH_1})
      elseif(NOT word MATCHES "cxx" AND word MATCHES "^-l(.*)$")  # not the C++ classes of old
        target_link_libraries(lockstep_needs_${name} INTERFACE ${CMAKE_MATCH_1})
      endif()
    endforeach()
    lockstep_add_mpi_library(lockstep_with_${name} ${PROJECT_SOURCE_DIR}/src lockstep_needs_${name})
    if(LOCKSTEP_TEST_BRIEF)  # the half that the tests call
      set_target_properties(lockstep_with_${name} PROPERTIES SOURCES ${PROJECT_SOURCE_DIR}/src/lockstep_mpi_checked.cpp)
    endif()
    lockstep_warnings(lockstep_with_${name})
    list(APPEND found ${name})
    get_target_property(directories lockstep_needs_${name} INTERFACE_INCLUDE_DIRECTORIES)
    list(JOIN directories ":" directories)
    list(APPEND header_directories --mpi=${directories})
  endforeach()
  set(LOCKSTEP_MPIS ${found} PARENT_SCOPE)
  set(LOCKSTEP_MPI_HEADERS ${header_directories} PARENT_SCOPE)
endfunction()

# lockstep_mpis_to_test(<variable>): by day the first MPI, at night all of them.
function(lockstep_mpis_to_test variable)
  set(mpis ${LOCKSTEP_MPIS})
  if(mpis AND LOCKSTEP_TEST_BRIEF)
    list(GET LOCKSTEP_MPIS 0 mpis)
  endif()
  set(${variable} ${mpis} PARENT_SCOPE)
endfunction()

# lockstep_mpi_programs(<name> SOURCES <file>... [MPIS <MPI>...] [LIBRARIES <target>...]): <name>.<MPI> for each MPI, or for
# these, linked as users link.
function(lockstep_mpi_programs name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES;MPIS")
  if(NOT arg_MPIS)
    set(arg_MPIS ${LOCKSTEP_MPIS})
  endif()
  foreach(mpi ${arg_MPIS})
    add_executable(${name}.${mpi} ${arg_SOURCES})
    target_compile_features(${name}.${mpi} PRIVATE cxx_std_20)
    target_link_libraries(${name}.${mpi} PRIVATE lockstep_with_${mpi} ${arg_LIBRARIES})
    # Products and sums are rounded one by one on every rank, and in the serial program.
    target_compile_options(${name}.${mpi} PRIVATE $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-ffp-contract=off>)
    lockstep_warnings(${name}.${mpi})
  endforeach()
endfunction()

# lockstep_mpi_test(<name> SOURCES <file>... [RANKS <number>...] [DAY <number>...] [LIBRARIES <target>...]
#                   [TIMEOUT <seconds>]): a program of GoogleTest, run as mpi.<name>.<MPI>.<ranks> with 1, 2 and 4 ranks by
# default; by day with those of DAY, if it is given, and with the first MPI only.
function(lockstep_mpi_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;RANKS;DAY;LIBRARIES")
  if(NOT arg_RANKS)
    set(arg_RANKS 1 2 4)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  lockstep_mpis_to_test(mpis)
  lockstep_mpi_programs(mpi.${name} SOURCES ${arg_SOURCES} ${PROJECT_SOURCE_DIR}/tests/mpi/main.cpp MPIS ${mpis}
    LIBRARIES ${arg_LIBRARIES} GTest::gtest)
  set(numbers ${arg_RANKS})
  if(LOCKSTEP_TEST_BRIEF AND arg_DAY)
    set(numbers ${arg_DAY})
  endif()
  foreach(mpi ${mpis})
    # One unit: GoogleTest's and MPI's headers are read once.
    set_target_properties(mpi.${name}.${mpi} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    target_include_directories(mpi.${name}.${mpi} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src)
    lockstep_precompiled(mpi.${name}.${mpi})
    foreach(ranks ${numbers})
      add_test(NAME mpi.${name}.${mpi}.${ranks}
        COMMAND ${PROJECT_SOURCE_DIR}/scripts/run/ranks.sh ${mpi} ${ranks} $<TARGET_FILE:mpi.${name}.${mpi}>)
      set_tests_properties(mpi.${name}.${mpi}.${ranks} PROPERTIES LABELS "mpi" TIMEOUT ${arg_TIMEOUT})
    endforeach()
  endforeach()
endfunction()
