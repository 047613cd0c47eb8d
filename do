#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The front door of lockstep. Each command installs what it lacks, configures, builds and runs.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"  # also through a symbolic link
source scripts/run/install.sh
export CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$(getconf _NPROCESSORS_ONLN)}"

usage() {
  cat <<'END'
usage: ./do COMMAND
  demo             solve four problems with one thread and with all, check and time them; fork/join and barrier
                   beside std and OpenMP; a timeline
  test             everything CI runs: check, then the tests with GCC, Clang and the sanitizers
  bench [NAME] [ARG...]  a benchmark program in full: primitives (the default), ring, objects,
                   team (against OpenMP and other pools, half an hour), duty (loops between serial work),
                   serial (loops against the serial loop, over sizes and pauses), periodic (a short loop every
                   millisecond), graph (plans against flow graphs and tasks); these four take --budget 20m;
                   mpi (MPI + lockstep against MPI + OpenMP and MPI only; half an hour, --layouts 2x2 a minute);
                   trace (what a timeline costs); arguments are passed on to it
  performance      remake docs/performance.md, its pictures, and the figures of README.md, from
                   bench/results
  openmp           build build/release/openmp/libgomp.so.1, which runs OpenMP programs of GCC on lockstep, and the
                   command 'lockstep', which puts it in place
  pictures         draws the pictures of docs/graphs.md and docs/visibility.md, into docs/pictures/
  docs [--check]   makes the documentation site in build/site; --check: tries it in a headless Chromium as well
  build [PRESET]   configure and build a preset of CMakePresets.json (default: dev)
  nightly [REGEX]  an hour or two: more schedules, Promela, stress beside each disturbance, all tests at -O2 and with
                   each sanitizer; REGEX chooses tests by name
  mutants [ARG...] breaks every memory order, fence, wake and re-check in turn: the models must notice
  everywhere [ROW...] [ARG...]  compiles for each system, machine and compiler that can be had, and runs tests there,
                   under emulation where need be; --list shows the rows, --quick takes two minutes; --help
  fuzz [ARG...]    the library's readers of foreign text: seconds for each, and which
  coverage         lines of include/ and src/ that the tests reach
  openmp-suite [DIRECTORY] [ARG...]  libgomp's own test-suite with the libgomp.so.1 there, or the system's; --help;
                   --suite llvm: LLVM's with the libomp.so.5 there
  openmp-proofs [ARG...]  programs that use OpenMP with libgomp, libomp and, with --ours DIR, a libgomp.so.1 of ours:
                   equal values, and times; --quick: the small ones, values only
  packages [NAME...]  builds the package of each manager and a program with it: cmake, module, conan, meson, bazel,
                   vcpkg, debian; pages: all commands of the pages, as they are written; a quarter of an hour for all
  bindings [LANGUAGE...]  tests of the interfaces for c, fortran, rust and python, each in its own tool
  cost [--check]   what a unit that uses the library costs to compile, beside OpenMP and oneTBB
  check            include guards, layers, memory orders, labels, links of documents, versions, formatting
  format           include guards, reformat the sources
  release [--dry-run]  makes tarball, headers to copy, wheel, crate and checksums of the last commit, in
                   build/release-VERSION/, and tries them; --dry-run: says what stands in the way
  single           make the headers with nothing to link, in build/single: lockstep.hpp, the library as one, the toolbox
                   beside it, and thread_synchronizer.h
END
}

configure() { cmake --preset "$1" >"build/$1.configure.log" || { cat "build/$1.configure.log"; return 1; }; }

build() {  # preset, targets...
  local preset=$1 && shift
  mkdir -p build
  configure "$preset" && cmake --build --preset "$preset" ${1:+--target "$@"}
}

# For commands that take no arguments: a word too many is a mistake, not to be passed over.
no_arguments() {
  [ $# -eq 1 ] || { echo "./do $1: takes no arguments, not '$2'" >&2 && exit 2; }
}

do_demo() {
  need build program scripts
  build release jacobi filter5x5 audio inpaint bench.figures lockstep_command
  python3 scripts/run/demo.py
}

# For what a command can do without: the linker of Clang, the libraries that adapters are for.
need_if_possible() {  # groups...
  local group
  for group in "$@"; do need "$group" || echo "Going on without all packages of '$group'." >&2; done
}

do_bench() {
  local name=primitives
  case ${1:-} in
    "" | -*) ;;
    primitives | ring | objects | team | duty | serial | periodic | graph | mpi | trace) name=$1 && shift ;;
    *) echo "./do bench: no benchmark '$1'; ./do help lists them" >&2 && return 2 ;;
  esac
  if [ $name = mpi ]; then  # which run.py compiles, with the wrappers of each MPI library
    need build scripts mpi libomp
    python3 bench/mpi/run.py "$@"
    return
  fi
  need build program peers
  case $name in team | duty | serial | periodic | graph)
    need scripts team libomp
    bench/team/fetch_fork_union.sh build/fork_union
    [ $name != graph ] || bench/graph/fetch_taskflow.sh build/taskflow ;;
  esac
  build release "bench.$name"
  case $name in
    team | duty | serial | periodic | graph) python3 "bench/$name/run.py" --runners build/release/bench "$@" ;;
    *) "build/release/bench/$name" "$@" ;;
  esac
}

do_openmp() {
  need build program
  build release openmp lockstep_command
  echo "build/release/openmp/libgomp.so.1; build/release/tool/lockstep run -- PROGRAM puts it in place"
}

do_pictures() {
  need build program scripts pictures browser
  build release 17_graph_solver 22_slow_loops audio lockstep_command
  python3 scripts/make/graph_pictures.py
  python3 scripts/make/timeline_pictures.py
}

do_docs() {
  case "$*" in
    "" | --check) ;;
    *) echo "./do docs: takes --check, not '$*'" >&2 && return 2 ;;
  esac
  need scripts docs
  do_performance
  [ -f docs/pictures/slow-too-small-mended.png ] || do_pictures  # the last that it draws
  local venv=build/site-venv
  if ! cmp -s docs/site/requirements.txt "$venv/made"; then
    python3 -m venv --clear "$venv" && "$venv/bin/pip" install -q --disable-pip-version-check -r docs/site/requirements.txt
    cp docs/site/requirements.txt "$venv/made"
  fi
  "$venv/bin/python" scripts/make/site_pages.py || return
  if [ "${1:-}" = --check ]; then
    need browser
    python3 scripts/check/site.py
  fi
}

do_build() {
  local preset=${1:-dev}
  [ $# -le 1 ] || no_arguments "build $preset" "$2"
  if ! grep -qF "\"name\": \"$preset\"" CMakePresets.json; then
    echo "./do build: CMakePresets.json has no preset '$preset'" >&2
    return 2
  fi
  need build program test model scripts openmp mpi
  case $preset in
    plain) need clang libomp && need_if_possible linker ;;
    *san) need clang && need_if_possible linker ;;
  esac
  build "$preset"
}

do_nightly() {
  [ $# -le 1 ] || no_arguments "nightly $1" "$2"
  need build program peers team libomp test model scripts clang browser openmp mpi python_venv
  need_if_possible adapters linker
  local status=0
  scripts/run/test.sh --nightly "${1:-.}" || status=1
  [ $# -gt 0 ] || scripts/run/bindings.sh || status=1
  [ $# -gt 0 ] || do_everywhere --quick || status=1
  [ $# -gt 0 ] || do_docs --check || status=1
  return $status
}

do_mutants() {
  need build program test model scripts
  build dev
  python3 scripts/run/mutate_orders.py "$@"
}

do_everywhere() {
  need build scripts
  python3 scripts/run/everywhere.py "$@"
}

do_fuzz() {
  scripts/run/fuzz.sh --check "$@"
  need build program test scripts clang
  scripts/run/fuzz.sh "$@"
}

do_openmp_suite() {
  case " $* " in
    *" --suite llvm "*) need scripts clang libomp llvm_suite && need_source llvm-toolchain-19 build/llvm_suite ;;
    *) need scripts openmp_suite ;;
  esac
  python3 scripts/run/openmp_suite.py "$@"
}

do_coverage() {
  need build program test model scripts coverage
  scripts/run/coverage.sh
}

do_cost() {
  need build team
  scripts/check/include_cost.sh "$@"
}

do_packages() {
  local groups=(build scripts test clang) name
  for name in "${@:-all}"; do
    case $name in
      module | bazel | debian) groups+=("package_$name") ;;
      pages) groups+=(program openmp) ;;
      all) groups+=(package_module package_bazel package_debian program openmp) ;;
    esac
  done
  need "${groups[@]}"
  python3 scripts/run/packages.py "$@"
}

do_openmp_proofs() {
  local groups=(build scripts libomp proofs)
  case " $* " in
    *" --quick "*) ;;
    *) groups+=(large_proofs) ;;
  esac
  need "${groups[@]}"
  python3 bench/openmp/run.py "$@"
}

do_bindings() {
  need build program test scripts
  scripts/run/bindings.sh "$@"
}

do_check() {
  need scripts format
  local failed=0
  python3 scripts/check/guards.py --check || failed=1
  python3 scripts/check/packages.py || failed=1
  python3 scripts/check/layers.py || failed=1
  python3 scripts/check/orders.py || failed=1
  python3 scripts/run/mutate_orders.py --list >/dev/null || failed=1
  python3 scripts/check/labels.py || failed=1
  python3 scripts/check/header_tests.py || failed=1
  python3 scripts/check/api.py || failed=1
  python3 scripts/check/openmp_page.py || failed=1
  python3 scripts/check/documents.py || failed=1
  python3 scripts/run/page_commands.py --check || failed=1
  python3 scripts/check/versions.py || failed=1
  python3 scripts/make/performance.py --check || failed=1
  python3 scripts/make/platforms.py --check || failed=1
  scripts/check/format.sh --check || failed=1
  return $failed
}

do_format() {
  need scripts format
  python3 scripts/check/guards.py
  scripts/check/format.sh
}

do_single() {
  need build
  rm -rf build/single
  cmake -D DIRECTORY=build/single -P cmake/make_single_header.cmake
  wc -c build/single/*.h*
}

do_release() {
  need build scripts python_venv
  python3 scripts/make/release.py "$@"
}

do_performance() {
  need scripts
  python3 scripts/make/performance.py
}

do_test() {
  need build program peers team libomp test model scripts clang format browser openmp mpi python_venv
  need_if_possible adapters linker
  exec scripts/run/test.sh
}

command=${1:-}
case $command in
  demo | test | coverage | check | format | openmp | performance | pictures | single) no_arguments "$@" && "do_$command" ;;
  bench | bindings | docs | build | cost | everywhere | nightly | mutants | fuzz | release) shift && "do_$command" "$@" ;;
  openmp-suite) shift && do_openmp_suite "$@" ;;
  openmp-proofs) shift && do_openmp_proofs "$@" ;;
  packages) shift && do_packages "$@" ;;
  "" | help | -h | --help) usage ;;
  *) echo "./do: no command '$command'" >&2 && usage >&2 && exit 2 ;;
esac
