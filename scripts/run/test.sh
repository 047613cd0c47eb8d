#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks, then configures, builds and runs each test preset. Every part runs, whatever the others did. While the tests of
# a preset run, the next one is built with the time that they leave over. What the library costs to compile is measured
# beside the first parts, and printed; it fails nothing. A few tests for other machines (./do everywhere --quick) run
# beside the last tests. The last lines give the seconds of each part, to build and to run, and count the tests; the exit
# status is 0 only if none failed.
#
#   scripts/run/test.sh                     what CI runs
#   scripts/run/test.sh --nightly [REGEX]   the nightly presets in full; REGEX chooses by name
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

PRESETS=(gcc tsan asan-ubsan)
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

run_preset() {  # preset, the next one
  local preset=$1 next=${2:-} start=env status counts bad all choice=(--preset "$1")
  [ -z "$ahead" ] || wait "$ahead"
  ahead=
  ./do build "$preset"
  status=$? built=$SECONDS
  if [ -n "$next" ]; then
    nice -n 19 ./do build "$next" >"build/$next.ahead.log" 2>&1 &  # what fails is built again, and said, in its turn
    ahead=$!
  elif [ -z "$nightly" ]; then
    nice -n 19 ./do everywhere --quick >build/everywhere.log 2>&1 &
    elsewhere=$!
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
if [ -z "$nightly" ]; then
  mkdir -p build
  ROUNDS=1 scripts/check/include_cost.sh >build/cost.log 2>&1 &
  cost=$!
  echo "== check"
  if ./do check; then note check 1 0 0 ""; else note check 0 1 0 "see above"; fi
fi
ahead=
for ((i = 0; i < ${#PRESETS[@]}; ++i)); do
  echo "== ${PRESETS[i]}"
  started=$SECONDS built=$SECONDS
  run_preset "${PRESETS[i]}" "${PRESETS[i + 1]:-}"
done

if [ -z "$nightly" ]; then
  echo "== everywhere --quick"
  started=$SECONDS built=$SECONDS
  if wait "$elsewhere"; then note everywhere 1 0 0 ""; else note everywhere 0 1 0 "see its table"; fi
  cat build/everywhere.log

  echo "== other languages, with the library of the preset gcc; C and Fortran are among its tests"
  started=$SECONDS built=$SECONDS
  LOCKSTEP_C_LIBRARY=build/gcc/bindings/c/liblockstep_c.so scripts/run/bindings.sh rust python |
    tee build/languages.log
  status=${PIPESTATUS[0]}
  counts=$(tail -1 build/languages.log | tr -dc '0-9 ')
  read -r good bad omitted <<<"$counts"
  [ "$status" -eq 0 ] || [ "${bad:-0}" -gt 0 ] || bad=1
  note "Rust and Python" "${good:-0}" "${bad:-1}" "${omitted:-0}" ""
  echo "== cost of compiling a unit that uses the library"
  wait "$cost"
  cat build/cost.log
fi

echo
printf '%s\n' "${summary[@]}"
echo "$passed passed, $failed failed, $skipped skipped, $SECONDS s"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
