# SPDX-License-Identifier: MIT
import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def header_directory():
    """Where lockstep.h lies: in the repository."""
    directory = HERE.parents[1] / "c"
    if not (directory / "lockstep.h").is_file():
        pytest.skip("lockstep.h is not beside the tests")
    return directory


def compiled(source, target, *flags):
    """A shared object made of C sources, linked with the library that the package has loaded."""
    import lockstep_threads as lockstep

    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    command = [*compiler.split(), "-O2", "-shared", "-fPIC", f"-I{header_directory()}", *flags, "-o", target, source]
    subprocess.run([*map(str, command), lockstep.library_path], check=True)
    return target


@pytest.fixture(scope="session")
def kernels(tmp_path_factory):
    """tests/kernels.c, compiled."""
    return ctypes.CDLL(str(compiled(HERE / "kernels.c", tmp_path_factory.mktemp("kernels") / "kernels.so", "-std=c11")))


@pytest.fixture(params=[1, 2, 3, 9])
def team(request):
    import lockstep_threads as lockstep

    with lockstep.Team(request.param) as made:
        yield made
