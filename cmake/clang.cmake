# SPDX-License-Identifier: MIT
# Toolchain file: Clang 19 if there is one, else the system's default clang++.
find_program(LOCKSTEP_CLANGXX NAMES clang++-19 clang++ REQUIRED)
set(CMAKE_CXX_COMPILER ${LOCKSTEP_CLANGXX})
