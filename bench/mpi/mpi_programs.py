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
    own = [*HERE.glob("*.hpp"), *HERE.glob("*.cpp"), *HERE.glob("peers/*.hpp")]
    return own + [path for folder in ("include", "src") for path in (ROOT / folder).rglob("*.?pp")]


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

    def compiled(self, target, *command):
        target = self.directory / target
        if not self.is_fresh(target):
            run(*command, "-o", target)
        return target

    def field(self):
        """The object that all programs share."""
        return self.compiled("field.o", "g++", *FLAGS, "-falign-functions=64", f"-I{ROOT / 'bench'}", "-c", HERE / "field.cpp")

    def lockstep(self, library, compiler):
        """The library, and what of it needs MPI."""
        return [self.compiled("lockstep.o", "g++", *FLAGS, f"-I{ROOT / 'include'}", "-c", ROOT / "src/lockstep.cpp"),
                self.compiled(f"{library.name}-lockstep_mpi.o", *compiler, "-c", ROOT / "src/lockstep_mpi.cpp")]

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
            objects = self.lockstep(library, compiler) if contender == plan.LOCKSTEP else []
            run(*compiler, peer, HERE / "main.cpp", field, *objects, "-pthread", "-o", target)
            return target
        both = self.compiled(f"{library.name}-openmp.o", *compiler, peer, "-fopenmp", "-c", HERE / "main.cpp")
        runtime = ["-fopenmp"] if contender == plan.GOMP else [libomp(), "-pthread"]
        if not runtime[0]:
            raise CannotBuild("there is no libomp.so.5: the package libomp-19-dev has it")
        run(*compiler, both, field, "-o", target, *runtime)
        return target
