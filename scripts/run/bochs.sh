#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs tests/platform/bochs on two processors of a PC that Bochs emulates: UMONITOR, UMWAIT and TPAUSE on a model of Intel,
# MONITORX and MWAITX on one of AMD, for x86 machines that do not offer them. A few seconds each.
#
# Takes Bochs 3.0 of a later Debian, into build/debian. Where that is not to be had, the system's own Bochs: 2.7 knows
# MONITORX and MWAITX, without their time.
#
#   scripts/run/bochs.sh [DIRECTORY]    where to build; build/bochs
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/run/install.sh
need build

if need later_bochs; then
  bios=$DEBIAN_PLACE/later_bochs/usr/share/bochs ends_by_time=1 runs=("arrow_lake umwait" "ryzen mwaitx")
  export LTDL_LIBRARY_PATH=$DEBIAN_PLACE/later_bochs/usr/lib/x86_64-linux-gnu/bochs/plugins
  start=(debian_program later_bochs /usr/bin/bochs-bin)
else
  echo "bochs: UMWAIT is skipped: it needs Bochs 3.0. MWAITX runs without its time, on the system's own Bochs." >&2
  need bochs
  bios=/usr/share/bochs ends_by_time=0 runs=("ryzen mwaitx")
  start=(bochs)
fi

directory=$(realpath -m "${1:-build/bochs}") sources=$PWD/tests/platform/bochs include=$PWD/include
mkdir -p "$directory"
cd "$directory"
flags=(-std=c++17 -O2 -Wall -Wextra -Werror -ffreestanding -fno-exceptions -fno-rtti -fno-pic -fno-pie
  -fno-stack-protector -mno-red-zone -fno-asynchronous-unwind-tables -fcf-protection=none "-I$include")

build() {  # kind: makes pc.img
  g++ "${flags[@]}" "-DLINE_WAIT=$1" "-DWAITS_END_BY_TIME=$ends_by_time" -c "$sources/line_waits.cpp" -o line_waits.o
  gcc -c "$sources/boot.S" -o boot.o
  ld -n -T "$sources/pc.ld" --oformat binary -o pc.img boot.o line_waits.o
  [ "$(stat -c %s pc.img)" -le $((64 * 512)) ] || { echo "bochs: the program is larger than what boot.S loads" >&2; exit 1; }
  truncate -s $((20 * 16 * 63 * 512)) pc.img
}

describe() {  # model: makes bochsrc
  cat >bochsrc <<END
megs: 64
romimage: file=$bios/BIOS-bochs-latest
vgaromimage: file=$bios/VGABIOS-lgpl-latest
cpu: model=$1, count=2, ips=50000000, reset_on_triple_fault=0, quantum=5
ata0-master: type=disk, path=$directory/pc.img, mode=flat, cylinders=20, heads=16, spt=63
boot: disk
display_library: term
port_e9_hack: enabled=1
log: $directory/log
panic: action=fatal
clock: sync=none
speaker: enabled=0
END
}

run() {  # makes said
  rm -f said ended
  # Bochs wants a terminal, and begins in its debugger: c goes on. It ends when the program switches the PC off.
  { sleep 1; echo c; for ((i = 0; i < 60; ++i)); do [ -e ended ] || sleep 1; done; } |
    SHELL=$BASH TERM=xterm timeout 60 script -qc "$(declare -p DEBIAN_PLACE); $(declare -f debian_program); ${start[*]} -q -f bochsrc" \
      said >screen 2>&1 &
  local bochs=$!
  for ((i = 0; i < 60; ++i)); do
    sleep 1
    grep -aqE '^(all passed|some failed)' said 2>/dev/null && break
  done
  touch ended
  kill "$bochs" 2>/dev/null || true
  wait "$bochs" 2>/dev/null || true
}

status=0
for each in "${runs[@]}"; do
  read -r model kind <<<"$each"
  echo "== $kind, on Bochs' $model"
  build "$kind"
  describe "$model"
  run
  grep -aoE '(ok|FAILED)  .*|all passed|some failed' said | tr -d '\r' || true
  if ! grep -aq '^all passed' said; then
    cp said "said_$kind"
    cp log "log_$kind" || true
    echo "bochs: not all passed; see $directory/said_$kind and $directory/log_$kind" >&2
    status=1
  fi
done
exit $status
