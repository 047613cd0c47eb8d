# SPDX-License-Identifier: MIT
# lockstep::header_only: the library as one header to copy, lockstep.hpp, and thread_synchronizer.h. They are made in the
# build directory, before a target is built that links this. <lockstep/NAME.hpp> is that header, too.
set(lockstep_single ${PROJECT_BINARY_DIR}/single)
file(GLOB_RECURSE parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/*.h* ${PROJECT_SOURCE_DIR}/src/*.?pp)
set(make ${PROJECT_SOURCE_DIR}/cmake/make_single_header.cmake)
add_custom_command(OUTPUT ${lockstep_single}/lockstep.hpp ${lockstep_single}/thread_synchronizer.h
  COMMAND ${CMAKE_COMMAND} -D DIRECTORY=${lockstep_single} -P ${make}
  DEPENDS ${make} ${parts} COMMENT "Making the headers to copy" VERBATIM)
set(all "")
if(LOCKSTEP_INSTALL)
  set(all ALL)
endif()
add_custom_target(lockstep_single_header ${all} DEPENDS ${lockstep_single}/lockstep.hpp)

add_library(lockstep_header_only INTERFACE)
add_library(lockstep::header_only ALIAS lockstep_header_only)
set_target_properties(lockstep_header_only PROPERTIES EXPORT_NAME header_only)
target_link_libraries(lockstep_header_only INTERFACE lockstep_needs)
target_include_directories(lockstep_header_only INTERFACE $<BUILD_INTERFACE:${lockstep_single}>)
add_dependencies(lockstep_header_only lockstep_single_header)
