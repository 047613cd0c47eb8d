#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is the installed library found and usable, also after it was moved?

usage: install_test.py cmake build-directory compiler
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CONSUMER = Path(__file__).with_name("consumer")


def run(*command, **environment):
    print("+", *command, flush=True)
    subprocess.run([str(c) for c in command], check=True, env={**os.environ, **environment})


def use_find_package(cmake, compiler, prefix, build):
    run(cmake, "-G", "Ninja", "-S", CONSUMER, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_CXX_COMPILER={compiler}")
    run(cmake, "--build", build)
    run(build / "program")


def use_pkg_config(compiler, prefix, scratch):
    if not shutil.which("pkg-config"):
        raise SystemExit("pkg-config is not installed")
    path = next(prefix.rglob("lockstep.pc")).parent
    asked = ["pkg-config", "--cflags", "--libs", "lockstep"]
    flags = subprocess.run(asked, check=True, capture_output=True, text=True,
                           env={**os.environ, "PKG_CONFIG_PATH": str(path)}).stdout.split()
    if f"-I{prefix}" not in " ".join(flags):
        raise SystemExit(f"pkg-config does not name {prefix}: {flags}")
    program = scratch / "program"
    run(compiler, "-std=c++11", *sorted(CONSUMER.glob("*.cpp")), *flags, "-o", program)
    run(program)


def main(argv):
    cmake, build, compiler = argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        scratch = Path(directory).resolve()
        run(cmake, "--install", build, "--prefix", scratch / "first")
        prefix = (scratch / "first").rename(scratch / "moved")
        if not (prefix / "include" / "thread_synchronizer.h").is_file():
            raise SystemExit("include/thread_synchronizer.h is not installed")
        use_find_package(cmake, compiler, prefix, scratch / "build")
        use_pkg_config(compiler, prefix, scratch)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
