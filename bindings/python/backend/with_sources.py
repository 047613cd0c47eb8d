# SPDX-License-Identifier: MIT
"""The build backend: that of scikit-build-core, whose source package gets the C++ sources and the licence as well.

They lie above this folder in the repository, so that build_sdist() packs a copy that has them in `vendor`.
"""

import os
import shutil
import tempfile
from pathlib import Path

from scikit_build_core import build as core
from scikit_build_core.build import *  # noqa: F403  the other hooks

PACKAGE = ("CMakeLists.txt", "README.md", "backend", "examples", "pyproject.toml", "src", "tests")
SOURCES = ("CMakeLists.txt", "LICENSE", "bindings/CMakeLists.txt", "bindings/c", "bindings/fortran", "cmake", "include", "src")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.so")


def copy(names, source, target):
    for name in names:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name, ignore=LEFT_OUT)
        else:
            shutil.copy2(source / name, target / name)


def build_sdist(sdist_directory, config_settings=None):
    here, output = Path.cwd(), str(Path(sdist_directory).resolve())
    if (here / "vendor").is_dir():  # in an unpacked source package
        return core.build_sdist(output, config_settings)
    with tempfile.TemporaryDirectory() as scratch:
        staged, root = Path(scratch), here.parents[1]
        copy(PACKAGE, here, staged)
        copy(SOURCES, root, staged / "vendor")
        shutil.copy2(root / "LICENSE", staged)
        os.chdir(staged)
        try:
            return core.build_sdist(output, config_settings)
        finally:
            os.chdir(here)
