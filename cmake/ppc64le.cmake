# SPDX-License-Identifier: MIT
# Toolchain file: 64-bit POWER, little endian, run by QEMU.
set(LOCKSTEP_MACHINE ppc64le)
set(LOCKSTEP_TRIPLE powerpc64le-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
