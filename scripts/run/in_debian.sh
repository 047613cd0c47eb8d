#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs a program of another release of Debian (install.sh: debian_packages) with that release for its system, in this
# directory; it sees this checkout and GoogleTest's sources, too.
#
#   scripts/run/in_debian.sh GROUP PROGRAM [ARG...]
set -euo pipefail
source "${BASH_SOURCE[0]%/*}/install.sh"
[ $# -ge 2 ] || { echo "usage: in_debian.sh GROUP PROGRAM [ARG...]" >&2; exit 2; }
root=$(dirname "$(dirname "$DEBIAN_PLACE")")
shown=(--dev /dev --proc /proc --tmpfs /tmp --ro-bind /sys /sys --bind "$root" "$root")
for directory in usr lib lib32 lib64 bin etc; do
  shown=(--ro-bind-try "$DEBIAN_PLACE/$1/$directory" "/$directory" "${shown[@]}")
done
[ ! -d "$DEBIAN_PLACE/$1/usr/src" ] || shown+=(--ro-bind-try /usr/src /usr/src)
exec bwrap --die-with-parent "${shown[@]}" --chdir "$PWD" "${@:2}"
