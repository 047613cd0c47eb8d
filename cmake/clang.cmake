# SPDX-License-Identifier: MIT
# Toolchain file: Clang 19 if there is one, else the system's default clang++.
find_program(LOCKSTEP_CLANGXX NAMES clang++-19 clang++ REQUIRED)
set(CMAKE_CXX_COMPILER ${LOCKSTEP_CLANGXX})
# Its own linker, where it is installed, links a program with a sanitizer in a quarter of the time. Only there: it is
# given to all compilers, GCC and gfortran may not find it, and it refuses maps that name what a library does not have.
file(REAL_PATH ${LOCKSTEP_CLANGXX} clang_program)
get_filename_component(clang_directory ${clang_program} DIRECTORY)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize" AND EXISTS ${clang_directory}/ld.lld)
  foreach(kind EXE SHARED MODULE)
    set(CMAKE_${kind}_LINKER_FLAGS_INIT -fuse-ld=lld)
  endforeach()
endif()
