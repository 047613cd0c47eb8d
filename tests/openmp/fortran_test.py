#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The functions of omp_lib, from Fortran with integers of 4 and of 8 bytes.

usage: fortran_test.py libgomp.so.1
"""

import os
import shutil
import sys
import unittest

import support
from support import GFORTRAN, PROGRAMS, compiled

FIRST = min(os.sched_getaffinity(0))


class Fortran(support.Programs):
    def expect_right(self, *options):
        program = compiled(PROGRAMS / "interface.f90", self.scratch / "interface", *options, compiler=GFORTRAN)
        self.expect_success(program, OMP_PLACES=f"{{{FIRST}}},{{{FIRST}}}")

    def test_usual_integers(self):
        self.expect_right("-O0")

    def test_optimised(self):
        self.expect_right("-O2")

    def test_long_integers(self):
        self.expect_right("-fdefault-integer-8")


if __name__ == "__main__":
    if not shutil.which(GFORTRAN):
        print("left out: there is no gfortran (Debian: gfortran)")
        sys.exit(support.SKIPPED)
    unittest.main()
