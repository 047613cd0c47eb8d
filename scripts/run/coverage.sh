#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Which lines of include/ and src/ the tests run: builds them with GCC's counters into build/coverage, runs them and
# prints gcovr's table, which names the lines that are not reached. Fails when a test fails, or when fewer than 95 % of
# the lines or 90 % of the branches are reached; branches that only exceptions take do not count.
#
#   scripts/run/coverage.sh [report]      with 'report', only counts again what the last run left
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

BUILD=build/coverage
TESTS='^(platform|base|observe|trace|wait|sync|toolbox|region|loop|reduce|graph|team|fork|contract|compat|fault)\.'
JOBS=${CMAKE_BUILD_PARALLEL_LEVEL:-$(getconf _NPROCESSORS_ONLN)}
COUNTED=(--coverage -fprofile-update=atomic -O0)

build() {
  local names
  mkdir -p "$BUILD"
  g++ -std=c++20 -c tests/coverage/dump_at_the_end.cpp -o "$BUILD/dump_at_the_end.o"
  cmake -S . -B "$BUILD" -G Ninja -DCMAKE_CXX_COMPILER=g++ -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_CXX_FLAGS="${COUNTED[*]}" -DCMAKE_CXX_FLAGS_DEBUG= \
    -DCMAKE_EXE_LINKER_FLAGS="$PWD/$BUILD/dump_at_the_end.o -Wl,--wrap=_exit,--wrap=_Exit" \
    -DLOCKSTEP_TEST_VARIANTS=portable -DLOCKSTEP_BUILD_TESTS=ON \
    >"$BUILD/configure.log"
  names=$(ctest --test-dir "$BUILD" -N -R "$TESTS" -LE nightly | sed -n 's/^ *Test *#[0-9]*: //p')
  # shellcheck disable=SC2086  # names of targets, without blanks
  cmake --build "$BUILD" --parallel "$JOBS" --target $names
  (cd "$BUILD" && g++ -std=c++20 "${COUNTED[@]}" -fkeep-inline-functions -I../../include -c \
    ../../tests/coverage/all_headers.cpp -o all_headers.o)
}

report() {
  gcovr --root . --object-directory "$BUILD" --filter include/ --filter src/ -j "$JOBS" \
    --exclude-directories '.*CompilerId.*' --exclude-unreachable-branches --exclude-throw-branches \
    --fail-under-line 95 --fail-under-branch 90 "$BUILD"
}

failed=0
if [ "${1:-}" != report ]; then
  build
  find "$BUILD" -name '*.gcda' -delete
  ctest --test-dir "$BUILD" -R "$TESTS" -LE nightly -j "$JOBS" --timeout 600 --output-on-failure --no-tests=error || failed=1
fi
report || failed=1
exit $failed
