# SPDX-License-Identifier: MIT
"""What the tests of libgomp.so.1 have in common: programs are compiled by GCC, and run with our library."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent / "programs"
SKIPPED = 77

GCC = os.environ.get("LOCKSTEP_GCC") or "gcc"
GFORTRAN = os.environ.get("LOCKSTEP_GFORTRAN") or "gfortran"
# How programs are compiled that may depend on it; by day with the optimiser, as most programs are.
IS_BRIEF = "LOCKSTEP_TEST_BRIEF" in os.environ
OPTIMISERS = ("-O2",) if IS_BRIEF else ("-O0", "-O2")
LIBRARY = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
# Variables that say something to an OpenMP runtime, or to lockstep, are the tests' to set.
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_", "KMP_", "LOCKSTEP_"))}


def compiled(source, program, *options, compiler=None):
    """The program, with OpenMP, unoptimised unless options say otherwise."""
    subprocess.run([compiler or GCC, "-fopenmp", "-w", *options, str(source), "-o", str(program)], check=True)
    return program


def run(program, *arguments, timeout=60, library=LIBRARY, limit=0, **variables):
    """With our library in place of the system's, and at most `limit` bytes of addresses; output and errors are texts."""
    environment = {**CLEAN, "LD_LIBRARY_PATH": str(library.parent), **variables}
    limited = ["sh", "-c", f'ulimit -v {limit // 1024} && exec "$@"', "sh"] if limit else []
    return subprocess.run([*limited, str(program), *arguments], capture_output=True, text=True, timeout=timeout,
                          env=environment)


class Programs(unittest.TestCase):
    """Tests with a directory for what they compile, made once for a class."""

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = Path(scratch.name)

    def expect_success(self, program, **variables):
        done = run(program, **variables)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))
