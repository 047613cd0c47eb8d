# SPDX-License-Identifier: MIT
# Toolchain file: Clang 19 if there is one, else the system's default clang++.
find_program(LOCKSTEP_CLANGXX NAMES clang++-19 clang++ REQUIRED)
set(CMAKE_CXX_COMPILER ${LOCKSTEP_CLANGXX})
# Its own linker, where it is installed, links a program with a sanitizer in a quarter of the time.
file(REAL_PATH ${LOCKSTEP_CLANGXX} clang_program)
get_filename_component(clang_directory ${clang_program} DIRECTORY)
if(EXISTS ${clang_directory}/ld.lld)
  foreach(kind EXE SHARED MODULE)
    set(CMAKE_${kind}_LINKER_FLAGS_INIT -fuse-ld=lld)
  endforeach()
endif()
