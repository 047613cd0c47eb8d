# SPDX-License-Identifier: MIT
"""GROMACS: 216 waters for some hundred steps. The energies, from its binary file, must be equal in every digit.

gromacs.py make DIRECTORY   makes the run input, water.tpr
gromacs.py run DIRECTORY    runs it
"""

import hashlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from cases import cpu_seconds, report, threads

TOPOLOGY = """#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spce.itp"
[ system ]
water
[ molecules ]
SOL 216
"""
STEPS = 400
OPTIONS = f"""integrator = md
dt = 0.002
nsteps = {STEPS}
cutoff-scheme = Verlet
coulombtype = PME
rcoulomb = 0.8
rvdw = 0.8
fourierspacing = 0.12
gen-vel = yes
gen-temp = 300
gen-seed = 17
nstenergy = 50
nstcalcenergy = 50
"""


def gmx(*arguments, directory):
    done = subprocess.run(["gmx", "-nobackup", *arguments], cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"gmx {arguments[0]} failed:\n{done.stderr[-1500:]}")
    return done.stdout


def make(directory):
    Path(directory, "water.top").write_text(TOPOLOGY, encoding="utf-8")
    Path(directory, "water.mdp").write_text(OPTIONS, encoding="utf-8")
    data = subprocess.run(["gmx", "--version"], capture_output=True, text=True, check=True).stdout
    prefix = re.search(r"Data prefix:\s*(\S+)", data)[1]
    gmx("grompp", "-f", "water.mdp", "-p", "water.top", "-c", f"{prefix}/share/gromacs/top/spc216.gro",
        "-o", "water.tpr", directory=directory)


def run(directory):
    tpr = Path(directory, "water.tpr").resolve()
    with tempfile.TemporaryDirectory() as scratch:
        cpu = cpu_seconds()
        gmx("mdrun", "-s", str(tpr), "-ntmpi", "1", "-ntomp", str(threads()), "-pin", "off", "-reprod", "-notunepme",
            "-deffnm", "run", directory=scratch)
        used = cpu_seconds() - cpu
        log = Path(scratch, "run.log").read_text(encoding="utf-8")
        wall = float(re.search(r"^\s+Time:\s+\S+\s+(\S+)", log, re.MULTILINE)[1])
        energies = gmx("dump", "-e", "run.edr", directory=scratch)
        numbers = [line for line in energies.splitlines() if re.search(r"-?\d\.\d+e[+-]\d+", line)]
        if len(numbers) < STEPS // 50:
            sys.exit("gmx dump showed no energies")
        value = hashlib.sha256("\n".join(numbers).encode()).hexdigest()[:16]
        report("216 waters, a step", value, wall, used, STEPS)


{"make": make, "run": run}[sys.argv[1]](sys.argv[2])
