# SPDX-License-Identifier: MIT
# Toolchain file: 64-bit ARM, run by QEMU.
set(LOCKSTEP_MACHINE aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
