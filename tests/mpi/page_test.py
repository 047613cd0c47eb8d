#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the commands of docs/mpi.md work in a fresh copy of the repository? Its first program is solver.cpp. They are as they are
written, but without the optimiser, which takes most of their time and shows nothing here.

Usage: page_test.py ROOT DIRECTORY
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

root, place = Path(sys.argv[1]), Path(sys.argv[2])
page = (root / "docs" / "mpi.md").read_text(encoding="utf-8")
shutil.rmtree(place, ignore_errors=True)
place.mkdir(parents=True)
for entry in root.iterdir():
    if entry.name not in ("build", ".git"):
        (place / entry.name).symlink_to(entry)
(place / "solver.cpp").write_text(re.search(r"```cpp\n(#include.*?)```", page, re.DOTALL)[1], encoding="utf-8")
# In containers there is no user but root, and there may be fewer CPUs than ranks.
environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
environment.pop("LOCKSTEP_WATCHDOG", None)


def run(block):
    print(block, flush=True)
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=place, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    print(done.stdout, flush=True)
    if done.returncode != 0:
        sys.exit(f"page_test: exit status {done.returncode}")
    return done.stdout


RELEASE = "-DCMAKE_BUILD_TYPE=Release"
blocks = [block.replace("-O2", "-O0").replace(RELEASE, f"{RELEASE} '-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG'")
          for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL)]
built = [block for block in blocks if "cmake" in block]
plain = [block for block in blocks if block not in built and "mpi_" not in block]
assert len(built) == 1 and len(plain) == 1, "docs/mpi.md: the commands that build examples, and a way to build solver.cpp"
said = run(plain[0])
assert "LOCKSTEP_WATCHDOG=10" in plain[0] and "ignored" not in said, "the watchdog is on"
for block in blocks:
    if block not in plain:
        run(block)
