# SPDX-License-Identifier: MIT
# Runs portfile.cmake without vcpkg: does what its functions do, as far as the port depends on it. They are written from
# vcpkg's documentation, so this shows that the port's options and paths fit the library, not that vcpkg takes it.
#
#   cmake -DPORT=lockstep -DPORTFILE=... -DCURRENT_PACKAGES_DIR=... -DCURRENT_BUILDTREES_DIR=... -P stub.cmake
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
endfunction()

function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "vcpkg_cmake_configure: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  foreach(type Release Debug)
    set(prefix ${CURRENT_PACKAGES_DIR})
    if(type STREQUAL "Debug")
      string(APPEND prefix /debug)
    endif()
    run(${CMAKE_COMMAND} -G Ninja -S ${arg_SOURCE_PATH} -B ${CURRENT_BUILDTREES_DIR}/${type} ${arg_OPTIONS}
      -DCMAKE_BUILD_TYPE=${type} -DCMAKE_INSTALL_PREFIX=${prefix} -DBUILD_SHARED_LIBS=OFF)
  endforeach()
endfunction()

function(vcpkg_cmake_install)
  foreach(type Release Debug)
    run(${CMAKE_COMMAND} --build ${CURRENT_BUILDTREES_DIR}/${type} --target install)
  endforeach()
endfunction()

# The debug library's file of targets joins the others, with the prefix that it has seen from there.
function(vcpkg_cmake_config_fixup)
  set(place share/${PORT})
  file(GLOB targets ${CURRENT_PACKAGES_DIR}/debug/${place}/*Targets-debug.cmake)
  if(NOT targets OR NOT EXISTS ${CURRENT_PACKAGES_DIR}/${place}/${PORT}Config.cmake)
    message(FATAL_ERROR "The CMake package is not in ${place}")
  endif()
  foreach(file ${targets})
    get_filename_component(name ${file} NAME)
    file(READ ${file} text)
    string(REPLACE "\${_IMPORT_PREFIX}" "\${_IMPORT_PREFIX}/debug" text "${text}")
    file(WRITE ${CURRENT_PACKAGES_DIR}/${place}/${name} "${text}")
  endforeach()
endfunction()

function(vcpkg_fixup_pkgconfig)
  file(GLOB_RECURSE found ${CURRENT_PACKAGES_DIR}/*/${PORT}.pc)
  if(NOT found)
    message(FATAL_ERROR "${PORT}.pc is not installed")
  endif()
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  file(COPY_FILE ${arg_FILE_LIST} ${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright)
endfunction()

include(${PORTFILE})
