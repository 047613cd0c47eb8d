#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the tests for other machines and runs them under QEMU's user emulation.
#
#   scripts/run/qemu.sh [--all] [MACHINE...]    aarch64 (the default), riscv64, ppc64le
#
# It checks code generation, system calls and what the source assumes about the machine. It does not
# show weak ordering: on an x86 host, QEMU's threads are ordered as x86 is. Without --all only the tests
# named in FEW are built, which is what CI has time for. Nothing is installed here: ./do does that.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

GTEST_SOURCES=${GTEST_SOURCES:-/usr/src/googletest}
JOBS=${CMAKE_BUILD_PARALLEL_LEVEL:-$(getconf _NPROCESSORS_ONLN)}

# One test of each kind of code: fences and futex, the engine, a primitive of each family, the team.
FEW='platform\.(atomic|clock|futex|futex_linux|process_fence|system|processor_wait|this_thread)|contract\.notify_wait|team\.team'
FEW="^($FEW|wait\.(wait_engine|published_words|published_words_stress)|sync\.(event|barrier|mutex))$"
MANY='^(platform|base|wait|sync|region|loop|reduce|team|contract|compat)\.|^fork\.team$'
# Left out: a flood of signals takes QEMU minutes; all cases of wait.misuse are in the filter below.
LEFT_OUT='^(contract\.signal_storm|wait\.misuse)$'
# Death tests that start their own program anew: the child of QEMU would be a program of this machine.
GTEST_FILTER='-*_death.*:*_misuse.*:*_on_one_cpu.*:process_fence_test.FENCE_1_holds_*:process_fence_test.heavy_says_*'
# These start thousands of threads, at which QEMU is slow: with --all only.
MANY_THREADS='*.terminate_while_the_waiter_falls_asleep_*:*_the_waiter_may_destroy_*'

build_gtest() {  # machine, directory
  [ -f "$2/lib/libgtest_main.a" ] && return
  cmake -S "$GTEST_SOURCES" -B "$2/build" -G Ninja --toolchain "$PWD/cmake/$1.cmake" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DBUILD_GMOCK=OFF -DCMAKE_INSTALL_LIBDIR=lib \
    -DCMAKE_INSTALL_PREFIX="$2" &&
    cmake --build "$2/build" --target install
}

configure() {  # machine, directory
  cmake -S . -B "$2" -G Ninja --toolchain "$PWD/cmake/$1.cmake" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O1 -D_GLIBCXX_ASSERTIONS" -DLOCKSTEP_WERROR=ON \
    -DLOCKSTEP_TEST_VARIANTS= -DLOCKSTEP_BUILD_TESTS=ON \
    -DGTest_DIR="$PWD/$2/gtest/lib/cmake/GTest"
}

# With and without the atomic instructions of ARMv8.1: GCC's code chooses when it runs.
processors_of() { case $1 in aarch64) echo max cortex-a53 ;; riscv64) echo rv64 ;; ppc64le) echo power9 ;; esac; }

run() {  # machine, regular expression of tests, QEMU's model of the processor
  local log=build/qemu-$1/Testing/Temporary/LastTest.log status=0
  echo "== $1, processor $3"
  QEMU_CPU=$3 ctest --test-dir "build/qemu-$1" -R "$2" -E "$LEFT_OUT" -j "$JOBS" --timeout 300 \
    --output-on-failure --no-tests=error || status=1
  awk '/^\[  PASSED  \]/ { passed += $4 } /^\[  FAILED  \] [0-9]+ test/ { failed += $4 }
       /^\[  SKIPPED \] [0-9]+ test/ { skipped += $4 }
       END { printf "cases: %d passed, %d failed, %d skipped\n", passed, failed, skipped }' "$log"
  sed -n '/: Skipped$/{n;p}' "$log" | sort | uniq -c
  return $status
}

test_machine() {  # machine, regular expression of tests
  local directory=build/qemu-$1 log=build/qemu-$1.log names
  mkdir -p "$directory/gtest"
  { build_gtest "$1" "$PWD/$directory/gtest" && configure "$1" "$directory"; } >"$log" 2>&1 ||
    { tail -30 "$log"; return 1; }
  names=$(ctest --test-dir "$directory" -N -R "$2" -E "$LEFT_OUT" | sed -n 's/^ *Test *#[0-9]*: //p')
  # shellcheck disable=SC2086  # names of targets, without blanks
  cmake --build "$directory" --parallel "$JOBS" --target $names >>"$log" 2>&1 || { tail -60 "$log"; return 1; }
  # shellcheck disable=SC2207  # names without blanks
  local processor status=0 processors=($(processors_of "$1"))
  for processor in "${processors[@]}"; do run "$1" "$2" "$processor" || status=1; done
  return $status
}

expression=$FEW machines=()
for argument in "$@"; do
  case $argument in
    --all) expression=$MANY ;;
    aarch64 | riscv64 | ppc64le) machines+=("$argument") ;;
    *) echo "usage: scripts/run/qemu.sh [--all] [aarch64] [riscv64] [ppc64le]" >&2; exit 2 ;;
  esac
done
[ "$expression" = "$MANY" ] || GTEST_FILTER+=:$MANY_THREADS
export GTEST_FILTER
failed=0
for machine in "${machines[@]:-aarch64}"; do test_machine "$machine" "$expression" || failed=1; done
exit $failed
