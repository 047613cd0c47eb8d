#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs tests/platform/bochs, MONITORX and MWAITX on two processors of a PC that Bochs emulates: for x86 machines that do
# not offer them. Half a minute.
#
#   scripts/run/bochs.sh [DIRECTORY]    where to build; build/bochs
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/run/install.sh
need build bochs

directory=$(realpath -m "${1:-build/bochs}") sources=tests/platform/bochs
mkdir -p "$directory"
cd "$directory"
root=$OLDPWD
flags=(-std=c++17 -O2 -Wall -Wextra -Werror -ffreestanding -fno-exceptions -fno-rtti -fno-pic -fno-pie
  -fno-stack-protector -mno-red-zone -fno-asynchronous-unwind-tables -fcf-protection=none "-I$root/include")
g++ "${flags[@]}" -c "$root/$sources/line_waits.cpp" -o line_waits.o
gcc -c "$root/$sources/boot.S" -o boot.o
ld -n -T "$root/$sources/pc.ld" --oformat binary -o pc.img boot.o line_waits.o
[ "$(stat -c %s pc.img)" -le $((64 * 512)) ] || { echo "bochs: the program is larger than what boot.S loads" >&2; exit 1; }
truncate -s $((20 * 16 * 63 * 512)) pc.img
cat >bochsrc <<END
megs: 64
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
cpu: model=ryzen, count=2, ips=50000000, reset_on_triple_fault=0, quantum=5
ata0-master: type=disk, path=$directory/pc.img, mode=flat, cylinders=20, heads=16, spt=63
boot: disk
display_library: term
port_e9_hack: enabled=1
log: $directory/log
panic: action=fatal
clock: sync=none
speaker: enabled=0
END
rm -f said ended
# Bochs wants a terminal, and begins in its debugger: c goes on. It ends when the program switches the PC off.
{ sleep 1; echo c; for ((i = 0; i < 60; ++i)); do [ -e ended ] || sleep 1; done; } |
  TERM=xterm timeout 60 script -qc "bochs -q -f bochsrc" said >screen 2>&1 &
bochs=$!
for ((i = 0; i < 60; ++i)); do
  sleep 1
  grep -aqE '^(all passed|some failed)' said 2>/dev/null && break
done
touch ended
kill "$bochs" 2>/dev/null || true
grep -aoE '(ok|FAILED)  .*|all passed|some failed' said | tr -d '\r' || true
grep -aq '^all passed' said || { echo "bochs: not all passed; see $directory/said and $directory/log" >&2; exit 1; }
