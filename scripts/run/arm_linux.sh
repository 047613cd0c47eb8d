#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs tests under a Linux of their own, on two processors of an AArch64 machine that QEMU emulates whole: there the
# system says what the processor has, WFET among it, which user emulation does not. Half a minute, after what
# ./do everywhere linux-aarch64-newest takes, which compiles them.
#
#   scripts/run/arm_linux.sh [DIRECTORY]    where to build; build/arm_linux
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/run/install.sh
need for_aarch64 archive
if ! need later_machine later_linux_arm64; then
  echo "arm_linux: skipped: it needs QEMU and Linux of a later Debian" >&2
  exit 0
fi

program=$PWD/build/everywhere/linux-aarch64-newest/tests.program root=$PWD
./do everywhere linux-aarch64-newest  # compiles what has changed
[ -x "$program" ] || { echo "arm_linux: ./do everywhere linux-aarch64-newest makes no program" >&2; exit 1; }
directory=$(realpath -m "${1:-build/arm_linux}")
mkdir -p "$directory/files"
cd "$directory"
aarch64-linux-gnu-g++ -std=c++17 -O1 -Wall -Wextra -Werror -static "$root/tests/platform/arm_linux/init.cpp" -o files/init
cp "$program" files/tests.program
for each in platform/processor_wait contract/notify_wait_contract contract/barrier_contract team/team; do
  echo "--from=$root/tests/${each}_test.cpp --gtest_filter=-*_death.*:*_misuse.*:*_may_destroy_*:*_on_one_cpu.*"
done >files/tests
(cd files && printf '%s\n' init tests tests.program | cpio --quiet -o -H newc) >files.cpio
debian_program later_machine /usr/bin/qemu-system-aarch64 -L "$DEBIAN_PLACE/later_machine/usr/share/qemu" \
  -M virt -cpu max,pauth=off -smp 2 -m 1024 -nic none -display none -serial stdio -no-reboot \
  -kernel "$DEBIAN_PLACE"/later_linux_arm64/boot/vmlinuz-* -initrd files.cpio \
  -append "console=ttyAMA0 quiet panic=-1 rdinit=/init" </dev/null >said 2>&1 &
machine=$!
for ((i = 0; i < 600; ++i)); do
  kill -0 "$machine" 2>/dev/null || break
  sleep 1
done
kill "$machine" 2>/dev/null || true
wait "$machine" 2>/dev/null || true
tr -d '\r' <said | sed 's/\x1b\[[0-9;]*m//g' >text
grep -aE '^\[  (PASSED|FAILED)  \]|^all passed|^some failed' text || true
if ! grep -aqE '\[       OK \].*LINE_1_two_threads_follow_each_other/wfet' text || ! grep -aq '^all passed' text; then
  echo "arm_linux: not all passed, or WFET was not run; see $directory/text" >&2
  exit 1
fi
