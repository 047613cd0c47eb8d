# SPDX-License-Identifier: MIT
"""The declarations are those of lockstep.h; the library is the one that the wheel carries."""
import ctypes
import importlib.metadata
import os
import re
import subprocess
import sys

import lockstep_threads as lockstep
import pytest
from conftest import header_directory
from lockstep_threads import _errors, _library


def header():
    text = (header_directory() / "lockstep.h").read_text()
    return " ".join(re.sub(r"/\*.*?\*/", " ", text, flags=re.S).split())


def kind_of(parameter):
    """void*, const char* and the like are pointers; else the type."""
    if "*" in parameter or re.search(r"_(fn|hook)\b", parameter):
        return "pointer"
    return " ".join(parameter.replace("const ", "").split()[:-1])


SIZES = {
    ctypes.c_int: "int",
    ctypes.c_uint64: "uint64_t",
    ctypes.c_size_t: "size_t",
    ctypes.c_int64: "int64_t",
    ctypes.c_void_p: "pointer",
    ctypes.c_char_p: "pointer",
}


def declared_kind(parameter):
    return SIZES.get(parameter, "pointer")


def same(kind):
    """ctypes has one type for both where they are as long."""
    return "size_t" if kind == "uint64_t" and ctypes.c_uint64 is ctypes.c_size_t else kind


def test_functions_have_the_parameters_of_the_header():
    declared = {
        name: [] if parameters == "void" else parameters.split(",")
        for name, parameters in re.findall(r"LOCKSTEP_C_API [\w\s*]*?\b(lockstep_\w+)\(([^)]*)\)", header())
    }
    assert len(declared) > 60
    for name, (_, parameters) in _library.FUNCTIONS.items():
        assert [same(kind_of(p)) for p in declared[name]] == [declared_kind(p) for p in parameters], name


def test_codes_are_those_of_the_header():
    text = header()
    for name, value in [("STOPPED", _errors.STOPPED), ("TIMED_OUT", _errors.TIMED_OUT), ("BUSY", _errors.BUSY)]:
        assert f"LOCKSTEP_{name} = {value}" in text
    for name in ("ARGUMENT", "RANK", "USE", "GRAPH", "MEMORY", "SYSTEM", "EXCEPTION"):
        assert f"LOCKSTEP_ERROR_{name} = {getattr(_errors, name)}" in text


def test_options_have_the_layout_of_the_header():
    options = _library.TeamOptions()
    _library.check(_library.c.lockstep_team_options_init(ctypes.byref(options), ctypes.sizeof(options)))
    assert options.size == ctypes.sizeof(options)


def test_versions():
    try:
        installed = importlib.metadata.version("lockstep-threads")
    except importlib.metadata.PackageNotFoundError:
        installed = lockstep.__version__  # used from the source tree
    assert lockstep.version() == lockstep.__version__ == installed
    assert lockstep.c_version // 1000 == 1
    assert lockstep.usable_cpus() >= 1
    assert lockstep.build_info()["version"] == lockstep.version()


def test_everything_that_is_exported_is_there():
    for name in lockstep.__all__:
        assert getattr(lockstep, name) is not None


def test_a_library_that_is_not_there_is_named():
    run = subprocess.run(
        [sys.executable, "-c", "import lockstep_threads"],
        env={**os.environ, "LOCKSTEP_C_LIBRARY": "/nowhere/liblockstep_c.so"},
        capture_output=True,
        text=True,
    )
    assert run.returncode != 0 and "/nowhere/liblockstep_c.so" in run.stderr


@pytest.mark.parametrize("bad", ["fast", -1, 0, True, object()])
def test_bad_policies_are_refused(bad):
    with pytest.raises((lockstep.ArgumentError, TypeError)):
        lockstep.Team(1, policy=bad)
