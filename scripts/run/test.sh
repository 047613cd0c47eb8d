#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks, and configures, builds and runs each test preset. Every part runs, whatever the others did. With the time that
# the tests of a preset leave over, the next ones are built, then the tests of other languages run, and a few tests for
# a machine of 32 bits (./do everywhere --quick linux-i386). The last lines give the seconds of each part, to build and to
# run, and count the tests; the exit status is 0 only if none failed.
#
#   scripts/run/test.sh                     what CI runs
#   scripts/run/test.sh --nightly [REGEX]   the nightly presets in full; REGEX chooses by name
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

PRESETS=(gcc plain tsan asan-ubsan)
expression=. nightly=
if [ "${1:-}" = --nightly ]; then
  nightly=1 expression=${2:-.}
  PRESETS=(nightly-gcc nightly-tsan nightly-asan-ubsan)
fi
passed=0 failed=0 skipped=0
summary=()

note() {  # part, passed, failed, skipped, remark
  passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
  summary+=("$(printf '%-18s %4d passed %4d failed %4d skipped %5d s to build %5d s to run  %s' \
    "$1" "$2" "$3" "$4" $((built - started)) $((SECONDS - built)) "$5")")
}

# How to start programs of a sanitizer preset: plainly, or without address space randomisation, which
# some kernels do too much of for the sanitizer. Fails where neither works.
launcher() {
  local flags compiler probe="build/$1/probe"
  flags=$(sed -n 's/^CMAKE_CXX_FLAGS:[^=]*=//p' "build/$1/CMakeCache.txt")
  compiler=$(sed -n 's/^LOCKSTEP_CLANGXX:[^=]*=//p' "build/$1/CMakeCache.txt")
  echo 'int main() {}' | $compiler $flags -x c++ - -o "$probe" || return 1
  local without_randomisation="setarch $(uname -m) -R"
  if "$probe" 2>/dev/null; then
    echo env
  elif $without_randomisation "$probe" 2>/dev/null; then
    echo "$without_randomisation"
  else
    return 1
  fi
}

# One thing after another, with the time that tests leave over. build/PART.ahead has the exit status of each part that is
# done.
ahead() {  # presets
  local preset
  for preset in "$@"; do
    ./do build "$preset" >"build/$preset.ahead.log" 2>&1  # what fails is built again, and said, in its turn
    is_done "$preset" $?
  done
  [ -z "$nightly" ] || return 0
  (
    LOCKSTEP_TEST_BRIEF=1 LOCKSTEP_C_LIBRARY=build/plain/bindings/c/liblockstep_c.so scripts/run/bindings.sh rust python >build/languages.log 2>&1
    is_done languages $?
  ) &
  ./do everywhere --quick linux-i386 >build/everywhere.log 2>&1
  is_done everywhere $?
  wait
}
is_done() { echo "$2" >"build/$1.status" && mv "build/$1.status" "build/$1.ahead"; }

# Waits for a part of what is done ahead; its exit status.
await() {
  while [ ! -e "build/$1.ahead" ] && kill -0 "$behind" 2>/dev/null; do
    sleep 0.2
  done
  [ -s "build/$1.ahead" ] && return "$(cat "build/$1.ahead")"
}

run_preset() {  # preset
  local preset=$1 start=env status counts bad all choice=(--preset "$1")
  [ -z "$behind" ] || await "$preset"
  ./do build "$preset"
  status=$? built=$SECONDS
  if [ -z "$behind" ]; then
    nice -n 19 "$BASH" -c "$(declare -f ahead is_done); nightly=$nightly; ahead ${PRESETS[*]:1}" &
    behind=$!
  fi
  if [ $status -ne 0 ]; then
    note "$preset" 0 1 0 "does not build"
    return
  fi
  [ -z "$nightly" ] || choice+=(-R "$expression" --no-tests=ignore)
  if [[ $preset == *san ]]; then
    if ! start=$(launcher "$preset"); then
      note "$preset" 0 0 1 "this system cannot run programs with this sanitizer"
      return
    fi
  fi
  $start ctest "${choice[@]}" 2>&1 | tee "build/$preset/ctest.log"
  status=${PIPESTATUS[0]}
  counts=$(sed -n 's/.* tests passed, \([0-9]*\) tests failed out of \([0-9]*\).*/\1 \2/p' \
    "build/$preset/ctest.log")
  [ -z "$nightly" ] || [ "$status" -ne 0 ] || counts=${counts:-0 0}  # none of that name in this preset
  read -r bad all <<<"${counts:-1 1}"
  [ "$status" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
  note "$preset" $((all - bad)) "$bad" 0 ""
}

started=$SECONDS built=$SECONDS
mkdir -p build
rm -f build/*.ahead
if [ -z "$nightly" ]; then  # beside the first preset, which is configured by one CPU
  { ./do check >build/check.log 2>&1; is_done check $?; } &
  checks=$!
fi
behind=
for preset in "${PRESETS[@]}"; do
  echo "== $preset"
  started=$SECONDS built=$SECONDS
  run_preset "$preset"
done

if [ -z "$nightly" ]; then
  echo "== check"
  started=$SECONDS built=$SECONDS
  wait "$checks" 2>/dev/null  # a program with the same number may have come and gone
  if await check; then note check 1 0 0 ""; else note check 0 1 0 "see its log"; fi
  cat build/check.log

  echo "== other languages, with the library of the preset plain; C and Fortran are among its tests"
  started=$SECONDS built=$SECONDS
  await languages
  status=$?
  cat build/languages.log
  counts=$(tail -1 build/languages.log | tr -dc '0-9 ')
  read -r good bad omitted _ <<<"$counts"
  [ "$status" -eq 0 ] || [ "${bad:-0}" -gt 0 ] || bad=1
  note "Rust and Python" "${good:-0}" "${bad:-1}" "${omitted:-0}" ""

  echo "== everywhere --quick linux-i386"
  started=$SECONDS built=$SECONDS
  if await everywhere; then note everywhere 1 0 0 ""; else note everywhere 0 1 0 "see its table"; fi
  cat build/everywhere.log
fi
wait

echo
printf '%s\n' "${summary[@]}"
echo "$passed passed, $failed failed, $skipped skipped, $SECONDS s"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
