#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks, then configures, builds and runs each test preset. Every part runs, whatever the others
# did; the last line counts the tests of all parts, and the exit status is 0 only if none failed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

PRESETS=(dev tsan asan-ubsan)
passed=0 failed=0 skipped=0
summary=()

note() {  # part, passed, failed, skipped, remark
  passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
  summary+=("$(printf '%-11s %4d passed %4d failed %4d skipped %5d s  %s' \
    "$1" "$2" "$3" "$4" $((SECONDS - started)) "$5")")
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

run_preset() {
  local preset=$1 start=env status counts bad all
  if ! ./do build "$preset"; then
    note "$preset" 0 1 0 "does not build"
    return
  fi
  if [ "$preset" = tsan ] || [ "$preset" = asan-ubsan ]; then
    if ! start=$(launcher "$preset"); then
      note "$preset" 0 0 1 "this system cannot run programs with this sanitizer"
      return
    fi
  fi
  $start ctest --preset "$preset" 2>&1 | tee "build/$preset/ctest.log"
  status=${PIPESTATUS[0]}
  counts=$(sed -n 's/.* tests passed, \([0-9]*\) tests failed out of \([0-9]*\).*/\1 \2/p' \
    "build/$preset/ctest.log")
  read -r bad all <<<"${counts:-1 1}"
  [ "$status" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
  note "$preset" $((all - bad)) "$bad" 0 ""
}

started=$SECONDS
echo "== check"
if ./do check; then note check 1 0 0 ""; else note check 0 1 0 "see above"; fi
for preset in "${PRESETS[@]}"; do
  echo "== $preset"
  started=$SECONDS
  run_preset "$preset"
done

echo
printf '%s\n' "${summary[@]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
