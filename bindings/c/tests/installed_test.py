#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Can a program in C be built from what is installed?

usage: installed_test.py BUILD ARCHIVE SOURCE COMPILER

BUILD is the build directory of bindings/c; ARCHIVE liblockstep.a, which the other directory installs, or "" where that is
shared. Installs to a directory of its own, compiles SOURCE with what pkg-config says, and runs it: with the shared library,
and with the archive.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def output_of(*command, **how):
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True, **how)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def main():
    build, archive, source, compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        prefix = Path(name)
        output_of("cmake", f"-DCMAKE_INSTALL_PREFIX={prefix}", "-DCMAKE_INSTALL_LOCAL_ONLY=ON", "-P",
                  Path(build) / "cmake_install.cmake")
        for wanted in ("include/lockstep.h", "share/pkgconfig/lockstep-c.pc"):
            if not (prefix / wanted).exists():
                sys.exit(f"{wanted} is not installed")
        libraries = next(path.parent for path in prefix.rglob("liblockstep_c.so.1"))
        environment = dict(os.environ, PKG_CONFIG_PATH=str(prefix / "share/pkgconfig"), LD_LIBRARY_PATH=str(libraries))

        def asked(*how):
            return output_of("pkg-config", *how, "lockstep-c", env=environment).split()

        flags = [compiler, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror", source]
        shared = prefix / "shared"
        output_of(*flags, *asked("--cflags", "--libs"), "-lm", "-o", shared)
        first = output_of(shared, env=environment)
        print("shared:", first.strip())
        if not first.strip():
            sys.exit("the program has said nothing")
        if archive:
            shutil.copy(archive, libraries)
            for path in libraries.glob("liblockstep_c.so*"):
                path.unlink()
            alone = prefix / "alone"
            output_of(*flags, *asked("--static", "--cflags", "--libs"), "-lm", "-o", alone)
            second = output_of(alone, env=environment)
            print("archive:", second.strip())
            if first != second:
                sys.exit("the two differ")


if __name__ == "__main__":
    main()
