#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tests of the interfaces for other languages, each in its own tool. liblockstep_c is built once, for all of them. The last
# line counts the tests; the exit status is 0 only if none failed.
#
#   scripts/run/bindings.sh [c] [fortran] [rust] [python]    those languages; without one, all of them
#
# Where LOCKSTEP_C_LIBRARY names a liblockstep_c.so, Rust uses that, and Python for ./do test, which sets LOCKSTEP_TEST_BRIEF.
#
# c        ctest: bindings/c/tests
# fortran  ctest, where there is a Fortran compiler
# rust     cargo test (tests, and the examples of the documents) and, but for ./do test, clippy, where there is cargo
# python   packs the sources, builds the wheel of what was packed, installs it in an environment of its own, and runs pytest
#          there. With LOCKSTEP_EXTRAS=1 also NumPy, Numba, Cython and mypy are installed, and their tests run; else those are
#          skipped. ./do test has pytest on the sources, with the library, and makes no wheel
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

build=build/bindings
passed=0 failed=0 skipped=0
languages=("$@")
[ $# -gt 0 ] || languages=(c fortran rust python)
for language in "${languages[@]}"; do
  case $language in
    c | fortran | rust | python) ;;
    *) echo "bindings.sh: no language '$language': c, fortran, rust, python" >&2 && exit 2 ;;
  esac
done

note() {  # language, passed, failed, skipped, remark
  passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
  printf '%-8s %4d passed %4d failed %4d skipped  %4d s  %s\n' "$1" "$2" "$3" "$4" $((SECONDS - started)) "${5:-}"
}

# What comes before "$1" in its standard input, added up: "12 passed".
sum_of() { grep -oE "[0-9]+ $1" | awk '{ sum += $1 } END { print sum + 0 }'; }

# A library that was built before will do for Rust and Python, which CI makes use of.
build_library() {
  local tests=(-DLOCKSTEP_BUILD_TESTS=OFF) is_needed="${LOCKSTEP_C_LIBRARY:+no}"
  case " ${languages[*]} " in
    *" c "* | *" fortran "*) is_needed=yes tests=(-DLOCKSTEP_BUILD_TESTS=ON "-DLOCKSTEP_TEST_ONLY=^bindings") ;;
  esac
  mkdir -p $build
  if [ "$is_needed" != no ]; then
    cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release -DLOCKSTEP_BUILD_BINDINGS=ON "${tests[@]}" \
      >$build.configure.log || { cat $build.configure.log; return 1; }
    cmake --build $build --target lockstep_c || return 1
    LOCKSTEP_C_LIBRARY=$build/bindings/c/liblockstep_c.so
  fi
  LOCKSTEP_C_LIBRARY=$(readlink -e "$LOCKSTEP_C_LIBRARY") || { echo "LOCKSTEP_C_LIBRARY is not there" >&2; return 1; }
  export LOCKSTEP_C_LIBRARY
}

run_rust() {
  local least has
  least=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' bindings/rust/Cargo.toml)
  has=$(rustc --version 2>/dev/null | cut -d' ' -f2)
  if ! command -v cargo >/dev/null || [ "$(printf '%s\n' "$least" "${has:-0}" | sort -V | head -1)" != "$least" ]; then
    note rust 0 0 1 "needs cargo with Rust $least or later, here is ${has:-none}"
    return
  fi
  local log=$PWD/$build/rust.log status
  export CARGO_TARGET_DIR=$PWD/$build/rust
  # The examples of documents are programs that cargo does not tell where the library is.
  (cd bindings/rust && RUST_BACKTRACE=0 LD_LIBRARY_PATH=$(dirname "$LOCKSTEP_C_LIBRARY") cargo test --no-fail-fast) \
    >"$log" 2>&1
  status=$?
  [ $status -eq 0 ] || grep -E '^error|FAILED|panicked at' -A2 "$log"
  local good bad
  good=$(grep '^test result' "$log" | sum_of passed) bad=$(grep '^test result' "$log" | sum_of failed)
  [ $status -eq 0 ] || [ "$bad" -gt 0 ] || { bad=1 && tail -40 "$log"; }
  note rust "$good" "$bad" 0
  if [ -n "${LOCKSTEP_TEST_BRIEF:-}" ]; then
    return
  elif cargo clippy --version >/dev/null 2>&1; then
    if (cd bindings/rust && cargo clippy --quiet --all-targets -- -D warnings && cargo fmt --check &&
      RUSTDOCFLAGS="-D warnings" cargo doc --quiet --no-deps); then
      note clippy 1 0 0
    else
      note clippy 0 1 0 "see above"
    fi
  else
    note clippy 0 0 1 "cargo has no clippy (Debian: rust-clippy)"
  fi
}

# The sources, with the library that was built here, and a pytest of this machine where there is one.
make_sources_to_test() {
  tested=(env PYTHONPATH=src python3)
  python3 -c "import pytest" 2>/dev/null && return
  tested[2]=$PWD/$build/venv/bin/python
  [ -x $build/venv/bin/python ] || python3 -m venv $build/venv
  $build/venv/bin/pip install --quiet --disable-pip-version-check pytest
}

# Of the unpacked sources, and without the library that was built here: what the source package lacks is missed.
make_wheel_to_test() {
  local venv=$build/venv extras=()
  [ -z "${LOCKSTEP_EXTRAS:-}" ] || extras=(numpy numba cython mypy)
  tested=(env -u LOCKSTEP_C_LIBRARY -u PYTHONPATH "$PWD/$venv/bin/python")
  rm -rf $build/wheel
  [ -x $venv/bin/python ] || python3 -m venv $venv
  $venv/bin/pip install --quiet --disable-pip-version-check build pytest "scikit-build-core>=0.10" "${extras[@]}" &&
    env -u LOCKSTEP_C_LIBRARY $venv/bin/python -m build --no-isolation --outdir $build/wheel bindings/python &&
    tar -tzf $build/wheel/*.tar.gz --wildcards '*/LICENSE' &&
    $venv/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall $build/wheel/*.whl
}

run_python() {
  local log=$build/python.log status tested what=wheel
  [ -z "${LOCKSTEP_TEST_BRIEF:-}" ] || what=sources
  if ! make_${what}_to_test >"$log" 2>&1; then
    cat "$log"
    note python 0 1 0 "there is no $what to test"
    return
  fi
  (cd bindings/python && "${tested[@]}" -m pytest -p no:cacheprovider -rs) >"$log" 2>&1
  status=$?
  tail -15 "$log"
  local good bad skips
  good=$(tail -1 "$log" | sum_of passed) bad=$(tail -1 "$log" | sum_of 'failed|[0-9]+ error')
  skips=$(tail -1 "$log" | sum_of skipped)
  [ $status -eq 0 ] || [ "$bad" -gt 0 ] || { bad=1 && cat "$log"; }
  note python "$good" "$bad" "$skips" "the $what"
}

run_ctest() {  # language
  started=$SECONDS
  if [ "$1" = fortran ] && [ ! -d bindings/fortran ]; then
    note fortran 0 0 1 "there is no bindings/fortran"
    return
  fi
  local log=$build/$1.log status counts bad all
  cmake --build $build >"$log" 2>&1 || { tail -40 "$log"; note "$1" 0 1 0 "does not build"; return; }
  ctest --test-dir $build -R "^bindings\.$1\." --no-tests=ignore --output-on-failure >"$log" 2>&1
  status=$?
  counts=$(sed -n 's/.* tests passed, \([0-9]*\) tests failed out of \([0-9]*\).*/\1 \2/p' "$log")
  read -r bad all <<<"${counts:-0 0}"
  [ $status -eq 0 ] || { tail -40 "$log"; [ "$bad" -gt 0 ] || bad=1; }
  [ "$all" -gt 0 ] || { note "$1" 0 "$bad" 1 "no test: is there a compiler?"; return; }
  note "$1" $((all - bad)) "$bad" 0
}

started=$SECONDS
build_library || { note library 0 1 0 "does not build"; exit 1; }
note library 0 0 0 "$LOCKSTEP_C_LIBRARY"
for language in "${languages[@]}"; do
  started=$SECONDS
  case $language in
    rust) run_rust ;;
    python) run_python ;;
    *) run_ctest "$language" ;;
  esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
