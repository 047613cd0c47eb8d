#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fuzzes the readers with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer.
#
#   scripts/run/fuzz.sh [SECONDS [READER...]]   each reader for so long (default 60), or those named
#   scripts/run/fuzz.sh merge [READER...]       makes the corpus in the repository anew from what was found
#   scripts/run/fuzz.sh --check ...             says whether the arguments are good, and does nothing
#
# What is found grows in build/fuzz/corpus and helps the next run. An input that breaks something stays in
# build/fuzz/findings: mend the reader, then keep the input in tests/fuzz/corpus/<reader>.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

BUILD=build/fuzz
MOST=30       # inputs that are kept for each reader, beside those with names
LARGEST=2048  # bytes of an input: all there is to find fits, and the runs are many

readers() { sed -n 's/^lockstep_fuzz(\([a-z_]*\).*/\1/p' tests/fuzz/CMakeLists.txt; }

build_fuzzers() {
  mkdir -p "$BUILD"
  cmake -S . -B "$BUILD" -G Ninja --toolchain "$PWD/cmake/clang.cmake" \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1 -fno-omit-frame-pointer -D_GLIBCXX_ASSERTIONS" \
    -DCMAKE_CXX_FLAGS="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all" \
    -DLOCKSTEP_FUZZ=ON -DLOCKSTEP_BUILD_TESTS=ON >"$BUILD/configure.log"
  cmake --build "$BUILD" --target fuzzers
}

fuzz() {  # reader, seconds
  local grown=$BUILD/corpus/$1 findings=$BUILD/findings/$1 log=$BUILD/$1.log status=0
  mkdir -p "$grown" "$findings"
  "$BUILD/tests/fuzz/fuzz.$1" -max_total_time="$2" -max_len=$LARGEST -timeout=10 -rss_limit_mb=2048 \
    -artifact_prefix="$findings/" -print_final_stats=1 "$grown" "tests/fuzz/corpus/$1" >"$log" 2>&1 || status=$?
  report "$1" "$log" $status
  return $status
}

report() {  # reader, log, status
  local runs edges verdict=clean
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$2")
  edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$2" | tail -1)
  local signs='broken property|ERROR: |runtime error|SUMMARY'
  [ "$3" -eq 0 ] || verdict="BROKEN: $(grep -m1 -E "$signs" "$2" || tail -1 "$2")"
  printf '%-14s %10s runs  %5s edges  %s\n' "$1" "${runs:-?}" "${edges:-?}" "$verdict"
}

# Keeps few inputs, those that reach the most edges which the known ones leave out. Known are the inputs with names:
# bugs that were found, and kinds that a mutation hardly hits.
merge() {  # reader
  local kept=$BUILD/kept/$1 corpus=tests/fuzz/corpus/$1 by_hash=(-regextype posix-extended -regex '.*/[0-9a-f]{40}')
  rm -rf "$kept" && mkdir -p "$kept/known" "$BUILD/corpus/$1"
  find "$corpus" -type f -not "${by_hash[@]}" -exec cp {} "$kept/known/" \;
  "$BUILD/tests/fuzz/fuzz.$1" -set_cover_merge=1 -use_counters=0 -max_len=$LARGEST \
    "$kept" "$corpus" "$BUILD/corpus/$1" >"$BUILD/$1.merge.log" 2>&1
  find "$corpus" -type f "${by_hash[@]}" -delete
  # The first ones were found to add the most.
  find "$kept" -maxdepth 1 -type f -printf '%T@ %p\n' | sort -n | sed -n "1,$MOST{s/^[^ ]* //;p}" |
    while read -r file; do cp "$file" "$corpus/"; done
  echo "$1: $(find "$corpus" -type f | wc -l) files"
}

main() {
  local only_check=false
  [ "${1:-}" != --check ] || { only_check=true && shift; }
  local command=${1:-60} failed=0 reader
  shift || true
  [ $# -gt 0 ] || mapfile -t selected < <(readers)
  [ $# -eq 0 ] || selected=("$@")
  # libFuzzer takes a word for 0 seconds, and those for ever.
  if ! [[ $command =~ ^([1-9][0-9]*|merge)$ ]]; then
    echo "fuzz: '$command' is neither a number of seconds above 0 nor 'merge'" >&2
    return 2
  fi
  for reader in "${selected[@]}"; do
    readers | grep -qx -- "$reader" || { echo "fuzz: no reader '$reader'; there are:" $(readers) >&2 && return 2; }
  done
  ! $only_check || return 0
  build_fuzzers
  for reader in "${selected[@]}"; do
    if [ "$command" = merge ]; then merge "$reader"; else fuzz "$reader" "$command" || failed=1; fi
  done
  return $failed
}

main "$@"
