#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Formats the C++ sources, or with --check says whether they are formatted. Only clang-format 19
# counts, because versions differ in details; where it is missing the check is left out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if ! command -v clang-format-19 >/dev/null; then
  echo "format: left out, there is no clang-format-19"
  exit 0
fi

sources() {
  find include src openmp tests examples bench tool bindings/c/src bindings/c/bench \( -name '*.hpp' -o -name '*.h' -o -name '*.cpp' \) -print0 2>/dev/null
}

if [ "${1:-}" != --check ]; then
  sources | xargs -0 clang-format-19 -i
  exit
fi
unformatted=$(sources | xargs -0 clang-format-19 --dry-run 2>&1 |
  sed -n 's/^\([^:]*\):.*\[-Wclang-format-violations\]$/\1/p' | sort -u)
if [ -n "$unformatted" ]; then
  printf '%s: not formatted, run ./do format\n' $unformatted
  exit 1
fi
echo "format: ok"
