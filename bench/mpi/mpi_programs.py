# SPDX-License-Identifier: MIT
"""Compiles the programs of bench/mpi with the compiler wrappers of each MPI library."""

import glob
import shutil
import subprocess
from pathlib import Path

import mpi_plan as plan

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FLAGS = ("-std=c++20", "-O2", "-DNDEBUG")
# The C interface only: the C++ one of Open MPI is old.
DEFINES = ("-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX")
PEERS = {plan.ALONE: "alone", plan.GOMP: "openmp", plan.OMP: "openmp", plan.LOCKSTEP: "lockstep"}


class CannotBuild(Exception):
    pass


def libomp():
    """LLVM's runtime, the newest. It exports libgomp's names too, so the same object is linked to either."""
    found = glob.glob("/usr/lib/llvm-*/lib/libomp.so.5") + glob.glob("/usr/lib/*/libomp.so.5")
    return max(found, key=lambda path: int("".join(filter(str.isdigit, path.split("llvm-")[-1].split("/")[0])) or 0), default="")


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotBuild(f"{' '.join(str(part) for part in command[:2])}: {done.stderr.strip()[-2000:]}")


def newest(paths):
    return max(path.stat().st_mtime for path in paths)


def sources():
    return [*HERE.glob("*.hpp"), *HERE.glob("*.cpp"), *HERE.glob("peers/*.hpp"), *(ROOT / "include").rglob("*.hpp")]


class Builder:
    def __init__(self, directory):
        self.directory = directory.resolve()
        self.directory.mkdir(parents=True, exist_ok=True)
        self.newest = newest(sources())

    def is_fresh(self, target):
        return target.is_file() and target.stat().st_mtime > self.newest

    def compiler(self, library):
        found = shutil.which(f"mpicxx.{library.name}")
        if not found:
            raise CannotBuild(f"there is no mpicxx.{library.name}: ./do bench mpi installs {library.title}")
        return [found, *FLAGS, *DEFINES, f"-I{ROOT / 'include'}", f"-I{ROOT / 'bench'}"]

    def field(self):
        """The object that all programs share."""
        target = self.directory / "field.o"
        if not self.is_fresh(target):
            run("g++", *FLAGS, "-falign-functions=64", f"-I{ROOT / 'bench'}", "-c", HERE / "field.cpp", "-o", target)
        return target

    def program(self, library, contender):
        """Its path; it is compiled if it is missing or old."""
        contender = plan.ALONE if contender == plan.BARE else contender
        name = contender.rpartition(" ")[2].lower()
        target = self.directory / f"{library.name}-{name}"
        if self.is_fresh(target):
            return target
        compiler = self.compiler(library)
        peer = f'-DLOCKSTEP_BENCH_PEER="mpi/peers/{PEERS[contender]}.hpp"'
        field = self.field()
        if contender not in plan.OPENMP:
            run(*compiler, peer, HERE / "main.cpp", field, "-pthread", "-o", target)
            return target
        both = self.directory / f"{library.name}-openmp.o"
        if not self.is_fresh(both):
            run(*compiler, peer, "-fopenmp", "-c", HERE / "main.cpp", "-o", both)
        runtime = ["-fopenmp"] if contender == plan.GOMP else [libomp(), "-pthread"]
        if not runtime[0]:
            raise CannotBuild("there is no libomp.so.5: the package libomp-19-dev has it")
        run(*compiler, both, field, "-o", target, *runtime)
        return target
