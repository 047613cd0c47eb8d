#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Starts a program on several ranks of this machine, with the settings that tests and benchmarks need: ranks may be more
# than CPUs, and a rank with several members is not bound to one CPU.
#
#   scripts/run/ranks.sh MPI RANKS PROGRAM [ARG...]
#
# MPI is openmpi or mpich, as distributions name them side by side, or mpi: the only one there is.
set -euo pipefail
shopt -s extglob
[ $# -ge 3 ] || { sed -n '3,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mpi=$1 ranks=$2
shift 2
starter=mpirun.$mpi
[ "$mpi" != mpi ] || starter=mpirun
options=(-n "$ranks")
# In containers: root is the only user, and processes may not read each other's memory. Only Open MPI knows these.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_btl_base_warn_component_unused=0
version=$("$starter" --version 2>&1 || true)
if [[ $version == *@(OpenRTE|"Open MPI")* ]]; then
  options+=(--oversubscribe --bind-to none)
  # Starters that run at once share a directory. The first makes it, the last removes it where it is empty, and one that
  # comes between the two fails: so it is never empty.
  host=$(uname -n)
  mkdir -p "${TMPDIR:-/tmp}/ompi.${host%%.*}.$(id -u)/kept"
fi
exec "$starter" "${options[@]}" "$@"
