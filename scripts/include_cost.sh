#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How much compile time does '#include <lockstep/lockstep.hpp>' cost at -O2? The median of 9
# compilations with it and of 9 of a file that includes nothing, taken in turn.
# CXX chooses the compiler, CXXFLAGS adds flags.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly ROUNDS=9 HEADER=lockstep/lockstep.hpp

milliseconds() {  # of the compilation of the text
  local begin end
  begin=$(date +%s%N)
  echo "$1" | ${CXX:-c++} -std=c++11 -O2 ${CXXFLAGS:-} -Iinclude -x c++ -c - -o /dev/null
  end=$(date +%s%N)
  echo $(((end - begin) / 1000000))
}
median() { printf '%s\n' "$@" | sort -n | sed -n "$(((ROUNDS + 1) / 2))p"; }

with=() without=()
for ((round = 0; round < ROUNDS; ++round)); do
  without+=("$(milliseconds 'int main() {}')")
  with+=("$(milliseconds "#include <$HEADER>
int main() {}")")
done
base=$(median "${without[@]}") full=$(median "${with[@]}")
echo "${CXX:-c++}: nothing included $base ms, <$HEADER> $full ms (medians of $ROUNDS)"
echo "it adds $((full - base)) ms"
