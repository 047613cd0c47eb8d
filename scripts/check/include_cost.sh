#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What does it cost to compile a unit that uses the library, and how much code does it get? Two loops over a
# std::vector<double>, with OpenMP and oneTBB where they are installed: processor time of the compiler, the median,
# least and most of ROUNDS compilations taken in turn; and the code (.text) of the unit.
# CXX chooses the compiler, CXXFLAGS replaces -O2, ROUNDS=3 is quick.
#
# usage: include_cost.sh [--check]   with --check it fails where a limit below is exceeded
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[ -f build/single/lockstep.hpp ] || cmake -D DIRECTORY=build/single -P cmake/make_single_header.cmake
readonly CXX=${CXX:-g++} FLAGS=${CXXFLAGS:--O2} ROUNDS=${ROUNDS:-9} USES=10
directory=$(mktemp -d) && trap 'rm -rf "$directory"' EXIT

for_loop() { echo "  $1(std::size_t{0}, v.size(), [&](std::size_t i) { v[i] = v[i] * a + $2; });"; }
sum_loop() {
  echo '  return team.reduce_each(std::size_t{0}, v.size(), 0.0, [&](std::size_t i) { return v[i]; },'
  echo '                              [](double x, double y) { return x + y; });'
}
head_of() { printf '#include <%s>\n' "$@" cstddef vector && echo 'double use(std::vector<double>& v, double a) {'; }
main_of() { echo '}' && echo 'int main() { std::vector<double> v(1000, 1.0); return use(v, 2.0) > 0 ? 0 : 1; }'; }

lockstep() {  # further uses
  head_of lockstep/team.hpp && echo '  lockstep::team team;'
  for ((use = 0; use <= $1; ++use)); do for_loop team.for_each "$use.0"; done
  sum_loop && main_of
}
tbb() {
  head_of oneapi/tbb/parallel_for.h oneapi/tbb/parallel_reduce.h && for_loop tbb::parallel_for 1.0
  cat <<'END'
  using range = tbb::blocked_range<std::size_t>;
  return tbb::parallel_reduce(range(0, v.size()), 0.0, [&](const range& part, double sum) {
    for (std::size_t i = part.begin(); i != part.end(); ++i) sum += v[i];
    return sum;
  }, [](double x, double y) { return x + y; });
END
  main_of
}
openmp() {
  head_of cstdint
  cat <<'END'
  const std::int64_t size = static_cast<std::int64_t>(v.size());
  double sum = 0;
#pragma omp parallel for
  for (std::int64_t i = 0; i < size; ++i) v[i] = v[i] * a + 1.0;
#pragma omp parallel for reduction(+ : sum)
  for (std::int64_t i = 0; i < size; ++i) sum += v[i];
  return sum;
END
  main_of
}
standard_headers() {  # what the headers of the library include, where it exists
  grep -rhoE '^#include <[^>]+>' include/lockstep | sort -u | while read -r _ name; do
    printf '#if __has_include(%s)\n#include %s\n#endif\n' "$name" "$name"
  done
  echo 'int main() {}'
}

names=()
declare -A options
add() {  # name, options; the text comes in
  names+=("$1") options[$1]=$2
  cat >"$directory/$1.cpp"
}
compile() { $CXX -std=c++17 $FLAGS ${options[$1]} -c "$directory/$1.cpp" -o "$directory/$1.o"; }
code() { size -A "$directory/$1.o" | awk '/^[.]text/ {sum += $2} END {print sum}'; }  # bytes

add nothing "" <<<'int main() {}'
add openmp -fopenmp < <(openmp)
if echo '#include <oneapi/tbb/parallel_for.h>' | $CXX -E -x c++ - >/dev/null 2>&1; then add tbb "" < <(tbb); fi
add lockstep -Iinclude < <(lockstep 0)
add lockstep_more -Iinclude < <(lockstep $USES)
add team -Iinclude <<<'#include <lockstep/team.hpp>
int main() {}'
add single -Ibuild/single < <(lockstep 0)
add standard "" < <(standard_headers)
add umbrella -Iinclude <<<'#include <lockstep/lockstep.hpp>
int main() {}'

declare -A times
for ((round = 0; round < ROUNDS; ++round)); do
  for name in "${names[@]}"; do
    TIMEFORMAT='%U %S' spent=$( { time compile "$name"; } 2>&1) || { echo "$spent" >&2; exit 1; }
    times[$name]+=" $(tail -n 1 <<<"$spent" | awk '{print $1 + $2}')"
  done
done

echo "$($CXX --version | head -n 1), $FLAGS; seconds of the compiler (median, least to most of $ROUNDS); bytes of .text"
for name in "${names[@]}"; do
  sorted=$(printf '%s\n' ${times[$name]} | sort -n)
  echo "$name $(sed -n "$(((ROUNDS + 1) / 2))p" <<<"$sorted") $(head -n 1 <<<"$sorted") $(tail -n 1 <<<"$sorted") $(code "$name")"
done | tee "$directory/result" | awk '{printf "  %-14s %6.2f  (%.2f to %.2f) %8d\n", $1, $2, $3, $4, $5}'

awk -v uses=$USES -v check="${1:-}" '
  { time[$1] = $2; code[$1] = $5 }
  function row(text, value, limit, unit) {
    missed = value > limit
    bad += missed
    printf "  %-58s %7.2f %-8s limit %5.2f%s\n", text, value, unit, limit, missed ? "  EXCEEDED" : ""
  }
  END {
    if ("tbb" in time) row("two loops, against oneTBB", time["lockstep"] / time["tbb"], 0.35, "x")
    row("a unit that includes team.hpp", time["team"], 0.35, "s")
    row("each further loop", (time["lockstep_more"] - time["lockstep"]) / uses * 1000, 30, "ms")
    row("each further loop, code", (code["lockstep_more"] - code["lockstep"]) / uses / 1000, 1, "kB")
    row("umbrella above the standard headers", time["umbrella"] - time["standard"], 0.4, "s")
    row("code of the unit", code["lockstep"] / 1000, 15, "kB")
    exit check != "" && bad > 0
  }' "$directory/result"
