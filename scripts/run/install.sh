# SPDX-License-Identifier: MIT
# Sourced by ./do: 'need GROUP...' makes sure that the tools and libraries of the groups are there.
#
# With apt, missing packages are installed, asking nothing. What dpkg does not know but is there all the same,
# from whatever source, is not missing. Where nothing is, this works off-line. Without apt it says what is missing.

# group, Debian package, and what shows that it is there: a program, /path or <header>; for a library that is compiled
# the header does not, since it may have come without: a program that includes it must also link with this -library
NEEDS='
build    g++                 g++
build    cmake               cmake
build    ninja-build         ninja
scripts  python3             python3
program  libfmt-dev          <fmt/core.h> -lfmt
program  libcli11-dev        <CLI/CLI.hpp>
program  nlohmann-json3-dev  <nlohmann/json.hpp>
peers    libabsl-dev         <absl/synchronization/mutex.h> -labsl_synchronization
peers    libnsync-dev        <nsync_mu.h> -lnsync_cpp
peers    libboost-thread-dev <boost/thread/barrier.hpp> -lboost_thread
team     libtbb-dev          <tbb/parallel_for.h> -ltbb
test     libgtest-dev        <gtest/gtest.h> -lgtest
model    libboost-context-dev <boost/context/fiber.hpp> -lboost_context
model    spin                spin
releases mmdebstrap          mmdebstrap
releases bubblewrap          bwrap
program_headers libfmt-dev   <fmt/core.h> -lfmt
program_headers googletest   /usr/src/googletest
emulator qemu-user           qemu-aarch64
for_i386 g++-i686-linux-gnu  i686-linux-gnu-g++
for_aarch64 g++-aarch64-linux-gnu aarch64-linux-gnu-g++
for_armhf g++-arm-linux-gnueabihf arm-linux-gnueabihf-g++
for_riscv64 g++-riscv64-linux-gnu riscv64-linux-gnu-g++
for_ppc64le g++-powerpc64le-linux-gnu powerpc64le-linux-gnu-g++
for_s390x g++-s390x-linux-gnu s390x-linux-gnu-g++
windows  g++-mingw-w64-x86-64-posix x86_64-w64-mingw32-g++-posix
windows  g++-mingw-w64-x86-64-win32 x86_64-w64-mingw32-g++-win32
wine     wine                wine
wine     wine64              /usr/lib/wine/wine64
wasm     emscripten          em++
wasm     nodejs              node
libcxx   libc++-19-dev       /usr/lib/llvm-19/include/c++/v1
libcxx   libc++abi-19-dev    /usr/lib/llvm-19/lib/libc++abi.a
old_gcc  g++-11              g++-11
old_clang clang-13           clang++-13
old_clang clang-14           clang++-14
old_clang clang-15           clang++-15
old_clang clang-16           clang++-16
adapters libfftw3-dev        <fftw3.h> -lfftw3_threads
adapters libdnnl-dev         <oneapi/dnnl/dnnl_threadpool_iface.hpp>
adapters libeigen3-dev       /usr/include/eigen3
adapters libopencv-imgproc-dev /usr/include/opencv4/opencv2/imgproc.hpp
mpi      libopenmpi-dev      mpicxx.openmpi
mpi      openmpi-bin         mpirun.openmpi
mpi      libmpich-dev        mpicxx.mpich
mpi      mpich               mpirun.mpich
python_venv python3-venv     /usr/share/doc/python3-venv
coverage gcovr               gcovr
pictures graphviz            dot
docs     doxygen             doxygen
docs     python3-venv        /usr/share/doc/python3-venv
openmp_suite gcc-12          gcc-12
openmp_suite g++-12          g++-12
openmp_suite gfortran-12     gfortran-12
openmp_suite gcc-12-source   /usr/src/gcc-12
llvm_suite llvm-19           /usr/lib/llvm-19/bin/llvm-symbolizer
llvm_suite llvm-19-tools     /usr/lib/llvm-19/bin/FileCheck
test     pkg-config          pkg-config
openmp   gfortran            gfortran
proofs   python3-venv        /usr/share/doc/python3-venv
proofs   python3-numpy       /usr/lib/python3/dist-packages/numpy
proofs   libopenblas0-openmp /usr/share/doc/libopenblas0-openmp
proofs   libfftw3-dev        <fftw3.h> -lfftw3_omp
proofs   graphicsmagick      gm
proofs   primecount-bin      primecount
proofs   gdb                 gdb
package_debian debhelper     dh
package_debian dpkg-dev      dpkg-buildpackage
package_debian lintian       lintian
package_debian mmdebstrap    mmdebstrap
package_debian libcli11-dev  <CLI/CLI.hpp>
package_debian libfmt-dev    <fmt/core.h> -lfmt
package_debian nlohmann-json3-dev <nlohmann/json.hpp>
large_proofs python3-torch   /usr/lib/python3/dist-packages/torch
'

# Programs that another release of Debian has, and this one has not, or not in that version: unpacked into
# build/debian/GROUP, with what they depend on, and not installed. in_debian.sh starts them.
debian_packages() {  # group: the release; its packages
  case $1 in
    oldest_compilers) echo bullseye g++-9 g++-10 clang-9 clang-11 ;;
    newest_mingw) echo trixie base-files g++-mingw-w64-x86-64-win32 ;;
    newest_bazel) echo sid base-files bash bazel-bootstrap cmake coreutils dash g++ python3 zip unzip ;;
    newest_compilers) echo sid base-files g++-13 g++-14 g++-15 g++-16 clang-21 clang-23 ;;
    *) return 1 ;;
  esac
}
DEBIAN_PLACE=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)/build/debian

need() {
  local group others=()
  for group in "$@"; do
    if debian_packages "$group" >/dev/null; then
      need_from_debian "$group" || return 1
    else
      others+=("$group")
    fi
  done
  [ ${#others[@]} -eq 0 ] || need_here "${others[@]}"
}

need_here() {
  if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
    need_from_apt "$@"
  else
    need_from_elsewhere "$@"
  fi
}

# --- with apt ---

installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "This needs root, and there is no sudo; run as root: $*" >&2
    return 1
  fi
}

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=a \
    apt-get -q -y -o DPkg::Lock::Timeout=300 "$@" </dev/null
}

# Does the distribution have the package? On a fresh machine the package lists come first.
known() {
  compgen -G '/var/lib/apt/lists/*Packages*' >/dev/null || apt_get update >&2
  [[ $(apt-cache policy "$1" 2>/dev/null) == *'Candidate: '[!\(]* ]]
}

either() { if installed "$1" || known "$1"; then echo "$1"; else echo "$2"; fi; }

# Clang 19 if the distribution has it, else its default version; with the sanitizer runtime.
clang_packages() {
  local version=19
  if [ "$(either clang-19 none)" = none ]; then
    version=$(apt-cache depends clang | sed -n '/.*Depends: clang-\([0-9]*\)$/{s//\1/p;q}')
    echo clang
  fi
  echo "clang-$version"
  either "libclang-rt-$version-dev" "libclang-common-$version-dev"
}

packages_of() {  # group
  case $1 in
    clang) clang_packages ;;
    libomp)
      local clang
      clang=$(clang_packages | grep -m1 '^clang-[0-9]')
      echo "$clang"
      either "lib${clang/clang/omp}-dev" ""
      ;;
    format) either clang-format-19 "" ;;
    linker) either lld-19 "" ;;
    package_module) either clang-tools-19 "" ;;
    package_bazel) either bazel-bootstrap "" ;;
    # Ubuntu has Chromium as a snap only, which a container cannot run: there nothing is installed.
    browser) either chromium-headless-shell "$(either chromium "")" ;;
    *) awk -v group="$1" '$1 == group { print $2 }' <<<"$NEEDS" ;;
  esac
}

# What shows that the package is there, or nothing.
shown_by() { awk -v package="$1" '$2 == package { print $3, $4 }' <<<"$NEEDS"; }

there_without_apt() {  # group
  case $1 in
    clang) clang_sanitizes ;;
    format) present clang-format-19 ;;
    linker) present ld.lld-19 ;;
    package_module) present clang-scan-deps-19 ;;
    package_bazel) present bazel ;;
    browser) browser_present ;;
    *) return 1 ;;
  esac
}

need_from_apt() {
  local group package shown missing=()
  for group in "$@"; do
    if there_without_apt "$group"; then continue; fi
    for package in $(packages_of "$group"); do
      installed "$package" && continue
      shown=$(shown_by "$package")
      # shellcheck disable=SC2086  # a header and its library are two words
      [ -n "$shown" ] && present $shown || missing+=("$package")
    done
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  echo "Installing: ${missing[*]}"
  apt_get update || echo "The package lists could not all be fetched; trying with those at hand." >&2
  apt_get install --no-install-recommends "${missing[@]}"
}

# --- of another release of Debian ---

need_from_debian() {  # group
  local place=$DEBIAN_PLACE/$1 release packages mirror scratch
  read -r release packages <<<"$(debian_packages "$1")"
  [ "$(cat "$place/holds" 2>/dev/null)" = "$release $packages" ] && return 0
  mirror=$(debian_mirror)
  [ -n "$mirror" ] || {
    echo "${packages// /, } of Debian $release: apt-get knows no mirror of Debian for this processor; unpack them into $place" >&2
    return 1
  }
  need_here releases || return 1
  rm -rf "$place"
  mkdir -p "$place"
  scratch=$(mktemp -d)
  chmod 755 "$scratch"
  echo "Unpacking into build/debian: $packages"
  # A mirror that stands still is taken, too: the lists of 'sid' are valid for some days only.
  if as_root mmdebstrap --quiet --variant=extract --architectures=amd64 --include="${packages// /,}" \
    --aptopt='APT::Install-Recommends "false"' --aptopt='Acquire::Check-Valid-Until "false"' \
    "$release" "$scratch/root" "deb $mirror $release main" >"$place/log" 2>&1 </dev/null; then
    as_root cp -a "$scratch/root/." "$place"
    echo "$release $packages" >"$place/holds"
  else
    echo "${packages// /, } of Debian $release cannot be had: $(grep -m1 -E '^(E|W): ' "$place/log")" >&2
  fi
  as_root rm -rf "$scratch"
  [ -e "$place/holds" ]
}

# What its authors have published of a package of this release, as one tar file in a directory; unless one is there.
need_source() {  # source package, directory
  local mirror release lists
  compgen -G "$2/$1_*.orig.tar.*" >/dev/null && return 0
  mirror=$(debian_mirror)
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  [ -n "$mirror" ] || {
    echo "The source of $1: apt-get knows no mirror of Debian; put its .orig.tar.xz into $2" >&2
    return 1
  }
  lists=$(mktemp -d)
  mkdir -p "$lists/lists/partial" "$2"
  echo "deb-src $mirror $release main" >"$lists/sources"
  # Lists of its own: those of the machine stay as they are.
  (cd "$2" && for step in update "source --download-only $1"; do
    # shellcheck disable=SC2086  # words
    apt-get -q -o Dir::Etc::SourceList="$lists/sources" -o Dir::Etc::SourceParts=- -o Dir::State::Lists="$lists/lists" \
      -o Dir::Cache::srcpkgcache= -o Dir::Cache::pkgcache= $step >&2 || exit
  done)
  rm -r "$lists"
  compgen -G "$2/$1_*.orig.tar.*" >/dev/null
}

# Where this machine's own packages come from, if that is Debian.
debian_mirror() {
  [ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] || return 0
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' 2>/dev/null | head -n 1
}

# --- whoever brought it ---

present() {  # what shows it, and a library
  case $1 in
    /*) [ -e "$1" ] ;;
    \<*) if [ $# -eq 1 ]; then compiles "$1" -fsyntax-only; else links "$@"; fi ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

compiles() {  # header, options...
  printf '#include %s\nint main() {}\n' "$1" | c++ -std=c++20 -x c++ - "${@:2}" 2>/dev/null
}

links() {  # header, library
  local scratch status=1
  scratch=$(mktemp -d)
  compiles "$1" "$2" -o "$scratch/program" && status=0
  rm -r "$scratch"
  return $status
}

browser_present() {
  local program
  for program in chromium-headless-shell chromium google-chrome; do
    if present "$program"; then return 0; fi
  done
  return 1
}

clang_sanitizes() {
  local compiler scratch status=1
  compiler=$(command -v clang++-19 || command -v clang++) || return 1
  scratch=$(mktemp -d)
  echo 'int main() {}' | "$compiler" -fsanitize=thread -x c++ - -o "$scratch/program" 2>/dev/null && status=0
  rm -r "$scratch"
  return $status
}

# --- without apt ---

need_from_elsewhere() {
  local group package shown missing=()
  for group in "$@"; do
    case $group in
      clang) clang_sanitizes || missing+=("clang++ with its sanitizer runtime (compiler-rt)") ;;
      format | linker | libomp | browser | package_*) ;;
      *)
        while read -r package shown; do
          # shellcheck disable=SC2086  # a header and its library are two words
          present $shown || missing+=("$shown  (Debian: $package)")
        done < <(awk -v group="$group" '$1 == group { print $2, $3, $4 }' <<<"$NEEDS")
        ;;
    esac
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  echo "This system has no apt-get. Install these by its own means, then try again:" >&2
  printf '  %s\n' "${missing[@]}" >&2
  return 1
}
