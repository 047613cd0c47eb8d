# SPDX-License-Identifier: MIT
# lockstep::header_only: the library as one header to copy, lockstep.hpp. It is made in the build directory, where a target
# that links this is built.
set(lockstep_single ${PROJECT_BINARY_DIR}/single)
set(lockstep_single_header ${lockstep_single}/lockstep.hpp)
file(GLOB_RECURSE parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/*.h* ${PROJECT_SOURCE_DIR}/src/*.?pp)
set(make ${PROJECT_SOURCE_DIR}/cmake/make_single_header.cmake)
add_custom_command(OUTPUT ${lockstep_single_header}
  COMMAND ${CMAKE_COMMAND} -D UNIT=src/lockstep.cpp -D OUTPUT=${lockstep_single_header}
    -D SETTINGS=LOCKSTEP_HEADER_ONLY -P ${make}
  DEPENDS ${make} ${parts} COMMENT "Making the single header" VERBATIM)
set(all "")
if(LOCKSTEP_INSTALL)
  set(all ALL)
endif()
add_custom_target(lockstep_single_header ${all} DEPENDS ${lockstep_single_header})
# Programs for both targets include <lockstep/lockstep.hpp>.
file(WRITE ${lockstep_single}/lockstep/lockstep.hpp "#include \"../lockstep.hpp\"\n")

add_library(lockstep_header_only INTERFACE)
add_library(lockstep::header_only ALIAS lockstep_header_only)
set_target_properties(lockstep_header_only PROPERTIES EXPORT_NAME header_only)
target_link_libraries(lockstep_header_only INTERFACE lockstep_needs)
target_include_directories(lockstep_header_only INTERFACE $<BUILD_INTERFACE:${lockstep_single}>)
add_dependencies(lockstep_header_only lockstep_single_header)
