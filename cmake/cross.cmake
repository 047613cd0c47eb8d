# SPDX-License-Identifier: MIT
# The common part of the toolchain files aarch64, riscv64 and ppc64le: Debian's cross compiler, and QEMU
# to run what it makes. Programs are linked statically, so that QEMU needs no root of the other machine.
#
# Requires: LOCKSTEP_MACHINE, as GCC and QEMU call it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${LOCKSTEP_MACHINE})
if(NOT LOCKSTEP_TRIPLE)
  set(LOCKSTEP_TRIPLE ${LOCKSTEP_MACHINE}-linux-gnu)
endif()
set(CMAKE_C_COMPILER ${LOCKSTEP_TRIPLE}-gcc)
set(CMAKE_CXX_COMPILER ${LOCKSTEP_TRIPLE}-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${LOCKSTEP_MACHINE})
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
# Programs are those of this machine; libraries and packages never are.
set(CMAKE_FIND_ROOT_PATH /usr/${LOCKSTEP_TRIPLE})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
