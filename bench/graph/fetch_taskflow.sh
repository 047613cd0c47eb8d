#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fetches Taskflow's headers from Debian's packages into the directory given, where the distribution does not have
# them itself: Debian has them since its release 13. Apt does it, with lists of its own, and checks what it gets.
# Nothing is done if they are there, or installed.
set -euo pipefail

directory=${1:?usage: fetch_taskflow.sh DIRECTORY}
package=libtaskflow-cpp-dev
keys=/usr/share/keyrings/debian-archive-keyring.gpg

[ -e /usr/include/taskflow/taskflow.hpp ] || [ -e "$directory/usr/include/taskflow/taskflow.hpp" ] && exit
# From where the system has its own packages.
site=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(SITE)' 'Created-By: Packages' 2>/dev/null |
  awk '$1 == "Debian" && $2 == "Debian" { print $3; exit }') || true
if [ -z "$site" ] || ! [ -e "$keys" ]; then
  echo "Taskflow is left out: there is no apt of Debian's to fetch its package" >&2
  exit
fi
rm -rf "$directory"
mkdir -p "$directory/apt/lists/partial" "$directory/apt/archives/partial"
echo "deb [signed-by=$keys] $site trixie main" >"$directory/apt/sources.list"
apt() {
  apt-get -q -q -o Dir::Etc::SourceList="$PWD/apt/sources.list" -o Dir::Etc::SourceParts=- \
    -o Dir::State::Lists="$PWD/apt/lists" -o Dir::Cache="$PWD/apt" -o APT::Sandbox::User=root "$@"
}
if ! (cd "$directory" && apt update && apt download "$package" && dpkg-deb -x "$package"_*.deb .) >&2; then
  echo "Taskflow is left out: its package could not be fetched" >&2
fi
rm -rf "$directory/apt" "$directory/$package"_*.deb
