#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fetches ForkUnion's header from the registry of Rust's packages, which is where it is published, into the
# directory given. Cargo does it, so that a mirror that is set up for it is used, and checks what
# it gets; the package's checksum is compared with ours as well. Nothing is done if it is there.
set -euo pipefail

directory=${1:?usage: fetch_fork_union.sh DIRECTORY}
version=3.0.2
checksum=c08014f7d40a9672ec8abf4afa3efb9488248e1e2254e9bbcd6fa2b2ec61fcf1
package=$directory/vendor/forkunion

is_there() { grep -qs "\"package\":\"$checksum\"" "$package/.cargo-checksum.json"; }

is_there && exit
if ! command -v cargo >/dev/null; then
  echo "ForkUnion is left out: there is no cargo to fetch its package" >&2
  exit
fi
rm -rf "$directory"
mkdir -p "$directory/src"
: >"$directory/src/lib.rs"
printf '[package]\nname = "fetch"\nversion = "0.0.0"\n[workspace]\n[dependencies]\nforkunion = "=%s"\n' \
  "$version" >"$directory/Cargo.toml"
if ! (cd "$directory" && cargo vendor --quiet vendor >/dev/null); then
  echo "ForkUnion is left out: its package could not be fetched" >&2
  exit
fi
if ! is_there; then
  echo "ForkUnion's package is not the one that was expected: $package" >&2
  rm -rf "$package"
  exit 1
fi
