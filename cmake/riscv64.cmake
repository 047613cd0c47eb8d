# SPDX-License-Identifier: MIT
# Toolchain file: 64-bit RISC-V, run by QEMU.
set(LOCKSTEP_MACHINE riscv64)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
