# SPDX-License-Identifier: MIT
"""The programs that prove the runtime: where they come from, how they are built, how they are started.

All come from package registries or are compiled from drivers/. What cannot be had is left out, with the reason.
"""

import re
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

DRIVERS = Path(__file__).resolve().parent / "drivers"
SYSTEM_PYTHON = "/usr/bin/python3"  # the one that Debian's packages of numpy and PyTorch belong to
WHEELS = ("lightgbm", "scikit-learn")
GGML_SOURCE = "llama-cpp-python"  # its source package carries ggml's sources


class Unavailable(Exception):
    """Says why a program cannot be had."""


@dataclass(frozen=True)
class Program:
    name: str
    about: str
    driver: str
    python: str = ""          # "system", "venv" or "own": a driver in Python; else one in C++
    tools: tuple = ()         # programs that must be there; the first is the one that OpenMP serves
    modules: tuple = ()       # of Python
    libraries: tuple = ()     # options of the linker
    prepare: str = ""         # a function of Builder
    bundled: bool = False     # brings a runtime under a name of its own
    small: bool = True        # part of --quick
    outcome: bool = False     # an outcome is reported, which may differ between runtimes; once, on the idle machine


PROGRAMS = (
    Program("overheads", "each construct of OpenMP, after the EPCC suite", "overheads.cpp"),
    Program("tasks", "small tasks, after the EPCC suite's taskbench", "tasks.cpp"),
    Program("serial_parts", "loops of 100 us with serial parts between them", "serial_parts.cpp"),
    Program("two_runtimes", "libraries of GCC's and Clang's OpenMP, called in turn", "two_runtimes.cpp",
            prepare="build_parts"),
    Program("fftw", "FFTW with OpenMP threads (libfftw3-dev)", "fftw.cpp", libraries=("-lfftw3_omp", "-lfftw3", "-lm")),
    Program("openblas", "Debian's numpy over libopenblas0-openmp", "openblas.py", "system", modules=("numpy",)),
    Program("graphicsmagick", "gm benchmark on pictures of 32 to 256 pixels", "gm.py", "own", tools=("gm",)),
    Program("primecount", "numbers of primes", "primecount.py", "own", tools=("primecount",)),
    Program("lightgbm", "training on 1000 rows", "lightgbm_train.py", "venv", modules=("lightgbm",)),
    Program("lightgbm_fork", "training in a forked child", "lightgbm_fork.py", "venv", modules=("lightgbm",), outcome=True),
    Program("sklearn", "scikit-learn, which bundles its libgomp", "sklearn_fit.py", "venv", modules=("sklearn",),
            bundled=True),
    Program("torch", "Debian's PyTorch", "torch_matmul.py", "system", modules=("torch",), small=False),
    Program("ggml", "a small network of ggml (from the sources of llama-cpp-python)", "ggml.cpp", prepare="build_ggml",
            small=False),
)


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
        raise Unavailable(f"{Path(str(command[0])).name} {command[1] if len(command) > 1 else ''}: {last}")
    return done.stdout


class Builder:
    def __init__(self, directory, compiler="g++"):
        self.directory = directory.resolve()
        self.compiler = compiler
        self.directory.mkdir(parents=True, exist_ok=True)
        self.venv_failure = None

    def command(self, program):
        """What starts it. Builds and installs what is missing. Raises Unavailable."""
        for tool in program.tools:
            if not shutil.which(tool):
                raise Unavailable(f"there is no {tool}")
        extra = getattr(self, program.prepare)() if program.prepare else ()
        if not program.python:
            return [str(self.compiled(program, extra))]
        python = {"system": SYSTEM_PYTHON, "own": sys.executable}.get(program.python) or self.venv_python()
        for module in program.modules:
            run(python, "-c", f"import {module}")
        return [python, str(DRIVERS / program.driver)]

    def compiled(self, program, more):
        source, target = DRIVERS / program.driver, self.directory / f"{program.name}.{self.compiler}"
        inputs = [source, *DRIVERS.glob("*.hpp")]
        if not target.exists() or any(one.stat().st_mtime > target.stat().st_mtime for one in inputs):
            # Clang calls libatomic for an atomic long double.
            run(self.compiler, "-std=c++20", "-O2", "-fopenmp", "-Wall", "-Wextra", source, "-o", target, *more,
                *program.libraries, "-ldl", "-Wl,--as-needed", "-latomic")
        return target

    def venv_python(self):
        """Of a virtual environment with the wheels; they are fetched once."""
        python = self.directory / "venv" / "bin" / "python"
        if self.venv_failure:
            raise self.venv_failure
        marker = self.directory / "venv" / "complete"
        if not marker.exists():
            try:
                run(sys.executable, "-m", "venv", self.directory / "venv")
                run(python, "-m", "pip", "install", "-q", "--only-binary", ":all:", *WHEELS)
            except Unavailable as failure:
                self.venv_failure = failure
                raise
            marker.touch()
        return str(python)

    def build_parts(self):
        """One library of each compiler, with which the program is linked."""
        if not shutil.which("clang++-19"):
            raise Unavailable("there is no clang++-19")
        for compiler, part in (("g++", "gcc"), ("clang++-19", "clang")):
            run(compiler, "-O2", "-fopenmp", "-shared", "-fPIC", f"-DPART=part_of_{part}", DRIVERS / "two_runtimes_part.cpp",
                "-o", self.directory / f"libpart_of_{part}.so")
        return (f"-L{self.directory}", f"-Wl,-rpath,{self.directory}", "-Wl,--no-as-needed", "-lpart_of_gcc",
                "-lpart_of_clang")

    def build_ggml(self):
        """ggml's static libraries; returns what to compile and link with."""
        source, built = self.directory / "ggml_source", self.directory / "ggml_build"
        archives = [built / "src" / f"lib{name}.a" for name in ("ggml-cpu", "ggml-base")]
        if not all(archive.exists() for archive in archives):
            self.fetch_ggml(source)
            run("cmake", "-S", source, "-B", built, "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=OFF",
                "-DGGML_NATIVE=OFF", "-DGGML_OPENMP=ON", "-DGGML_BUILD_TESTS=OFF", "-DGGML_BUILD_EXAMPLES=OFF")
            run("cmake", "--build", built, "-j2", "--target", "ggml-cpu", "ggml-base")
        return (f"-I{source / 'include'}", *archives, *archives, "-lpthread", "-Wl,--as-needed")

    def fetch_ggml(self, target):
        if (target / "CMakeLists.txt").exists():
            return
        run(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", GGML_SOURCE,
            "-d", self.directory)
        packed = next(self.directory.glob("llama_cpp_python-*.tar.gz"))
        inside = re.compile(r"[^/]+/vendor/llama\.cpp/ggml/(.+)")
        with tarfile.open(packed) as archive:
            for member in archive:
                found = inside.fullmatch(member.name)
                if found and member.isfile() and ".." not in found[1].split("/"):
                    path = target / found[1]
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(archive.extractfile(member).read())
        (target / "ggml.pc.in").touch()  # which the package leaves out
        packed.unlink()
