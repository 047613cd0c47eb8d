# SPDX-License-Identifier: MIT
# All of the library as one header, for who wants to copy a file: the target lockstep_single_header makes
# single_include/lockstep.hpp in the build directory. It needs Python; the library does not.
find_package(Python3 3.9 COMPONENTS Interpreter QUIET)
option(LOCKSTEP_BUILD_SINGLE_HEADER "Make the single header with the rest, and install it" ${Python3_FOUND})
if(NOT Python3_FOUND)
  if(LOCKSTEP_BUILD_SINGLE_HEADER)
    message(FATAL_ERROR "LOCKSTEP_BUILD_SINGLE_HEADER needs Python 3.9 or later, which is not found")
  endif()
  message(STATUS "lockstep: Python 3 is not found, so the single header is neither made nor installed")
  return()
endif()

set(lockstep_single_header ${PROJECT_BINARY_DIR}/single_include/lockstep.hpp)
file(GLOB_RECURSE headers CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/include/*.h ${PROJECT_SOURCE_DIR}/include/*.hpp ${PROJECT_SOURCE_DIR}/include/*.ipp)
add_custom_command(OUTPUT ${lockstep_single_header}
  COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/scripts/make/amalgamate.py ${lockstep_single_header}
  DEPENDS ${PROJECT_SOURCE_DIR}/scripts/make/amalgamate.py ${PROJECT_SOURCE_DIR}/scripts/source_text.py ${headers}
  COMMENT "Making the single header" VERBATIM)
set(all "")
if(LOCKSTEP_BUILD_SINGLE_HEADER)
  set(all ALL)
endif()
add_custom_target(lockstep_single_header ${all} DEPENDS ${lockstep_single_header})
