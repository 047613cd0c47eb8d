# SPDX-License-Identifier: MIT
# `import lockstep;`: the target lockstep::module, a C++20 module whose interface is modules/lockstep.cppm. What a compiler
# makes of an interface is of use to that compiler alone, with those options. So an installed lockstep brings the source,
# and each project compiles it: once, some seconds.
#
# Used here, and by the installed package for find_package(lockstep COMPONENTS module).

# lockstep_module_obstacle(<variable>): why this project cannot have the target, and the remedy; or "".
function(lockstep_module_obstacle result)
  set(obstacle "")
  if(CMAKE_VERSION VERSION_LESS 3.28)
    set(obstacle "needs CMake 3.28 or newer, and this is ${CMAKE_VERSION}")
  elseif(NOT CMAKE_GENERATOR MATCHES "Ninja|Visual Studio")
    set(obstacle "needs the generator Ninja (cmake -G Ninja), and this is ${CMAKE_GENERATOR}")
  elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 19)
    set(obstacle "needs Clang 19 or newer, and this is ${CMAKE_CXX_COMPILER_VERSION}")
  elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15)
    set(obstacle "needs Clang 19 or GCC 15, or newer, and this is GCC ${CMAKE_CXX_COMPILER_VERSION}")
  elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND NOT CMAKE_CXX_COMPILER_CLANG_SCAN_DEPS)
    set(obstacle "needs the program clang-scan-deps of this compiler (Debian: clang-tools-19), which is not found")
  endif()
  set(${result} "${obstacle}" PARENT_SCOPE)
endfunction()

# lockstep_add_module(<interface> <target of the library>): the target lockstep::module, built where something links to it.
function(lockstep_add_module interface library)
  get_filename_component(directory ${interface} DIRECTORY)
  add_library(lockstep_module STATIC EXCLUDE_FROM_ALL)
  add_library(lockstep::module ALIAS lockstep_module)
  target_sources(lockstep_module PUBLIC FILE_SET CXX_MODULES BASE_DIRS ${directory} FILES ${interface})
  target_compile_features(lockstep_module PUBLIC cxx_std_20)
  target_link_libraries(lockstep_module PUBLIC ${library})
  set_target_properties(lockstep_module PROPERTIES CXX_SCAN_FOR_MODULES ON)
endfunction()
