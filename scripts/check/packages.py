#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the recipes of the package managers agree with the project, and with each other?

usage: packages.py [tree]

Complaints: a build file that lacks a source of the library; a name that modules/lockstep.cppm exports or lacks, other than
tests/build/public_names.txt has it; a Debian package of the library that is not named by its soname, or lacks a script
that CMake installs; a vcpkg.json that vcpkg would refuse; a wheel or a crate, or what they import as, that has another name than docs/packages.md says. A recipe that is not there is no complaint. versions.py looks at the versions in them.
"""

import json
import re
import sys
from fnmatch import fnmatch
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from check.versions import version_of  # noqa: E402
from source_text import Report, root_argument  # noqa: E402

BUILD_FILES = ("CMakeLists.txt", "meson.build", "BUILD.bazel")
CONTROL = "packaging/debian/control"
DEVELOPMENT_FILES = "packaging/debian/liblockstep-dev.install"
PORT = "packaging/vcpkg/ports/lockstep"
MODULE = "modules/lockstep.cppm"
NAMES = "tests/build/public_names.txt"
PORT_KEYS = {"name", "version-semver", "port-version", "description", "homepage", "documentation", "license", "supports",
             "dependencies", "features", "default-features", "maintainers"}
PORT_FUNCTIONS = {"vcpkg_cmake_configure": "vcpkg-cmake", "vcpkg_cmake_config_fixup": "vcpkg-cmake-config"}
LANGUAGES = "docs/packages.md"
# Where the name on the registries stands, and with underscores the name that programs import. Cargo makes the latter itself.
REGISTRY_NAMES = (
    ("bindings/rust/Cargo.toml", r'^name = "(.*)"$', "-"),
    ("bindings/python/pyproject.toml", r'^name = "(.*)"$', "-"),
    ("bindings/python/pyproject.toml", r'^wheel\.packages = \["src/(.*)"\]$', "_"),
    ("bindings/python/CMakeLists.txt", r"DESTINATION (\w+) RENAME", "_"),
)
PORT_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*$")


def check_debian(report, root):
    """The package of the library is named by its soname, which has two numbers of the version; no script of CMake is missing."""
    control = root / CONTROL
    name = "liblockstep" + version_of(root).rpartition(".")[0]
    if control.is_file() and f"\nPackage: {name}\n" not in control.read_text(encoding="utf-8"):
        report.add(control, 1, f"no package {name}, as the soname of the library asks for")
    files = root / DEVELOPMENT_FILES
    if files.is_file():
        patterns = files.read_text(encoding="utf-8").split()
        script = (root / "cmake/lockstep_install.cmake").read_text(encoding="utf-8")
        for installed in re.findall(r"/cmake/([\w.]+) DESTINATION \$\{package_dir\}", script):
            if not any(fnmatch(f"usr/lib/x/cmake/lockstep/{installed}", pattern) for pattern in patterns):
                report.add(files, 1, f"CMake installs {installed}, and no package has it")


# Units that are not of the library: of a header to copy, and of what each program compiles with its own MPI.
OTHER_UNITS = {"thread_synchronizer.cpp", "lockstep_mpi.cpp", "lockstep_mpi_checked.cpp"}


def check_sources(report, root):
    """Each build file names each unit of the library."""
    for name in BUILD_FILES:
        path = root / name
        if not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        for source in sorted((root / "src").glob("*.cpp")):
            if source.name not in OTHER_UNITS and not re.search(rf"[\s\"'(]src/{re.escape(source.name)}[\s\"')]", text):
                report.add(path, 1, f"src/{source.name} is not built")


def public_names(text):
    """Those of namespace lockstep, without macros and without the names of ThreadSynchronizer."""
    words = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return {name for header, *names in words for name in names
            if header.startswith("lockstep/") and not name.startswith("LOCKSTEP_")}


def check_module(report, root):
    path = root / MODULE
    if not path.is_file():
        return
    exported = dict(reversed([(name, number) for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
                              for name in re.findall(r"^using lockstep::(\w+);$", line)]))
    public = public_names((root / NAMES).read_text(encoding="utf-8"))
    for name in sorted(public - exported.keys()):
        report.add(path, 1, f"does not export the public name {name}")
    for name in sorted(exported.keys() - public):
        report.add(path, exported[name], f"exports {name}, which {NAMES} does not have")


def check_port(report, root):
    """What vcpkg's documentation asks of a port's vcpkg.json, as far as ours has it."""
    path = root / PORT / "vcpkg.json"
    if not path.is_file():
        return
    try:
        port = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        report.add(path, 1, str(error))
        return
    for key in sorted(port.keys() - PORT_KEYS):
        report.add(path, 1, f"vcpkg has no key '{key}'")
    for key in ("name", "version-semver", "description", "license"):
        if not isinstance(port.get(key), str):
            report.add(path, 1, f"'{key}' is missing, or is no text")
    if port.get("name") != path.parent.name:
        report.add(path, 1, "the port is not named as its directory")
    names = [each["name"] if isinstance(each, dict) else each for each in port.get("dependencies", [])]
    for name in names:
        if not PORT_NAME.match(name):
            report.add(path, 1, f"'{name}' is no name of a port")
    script = (path.parent / "portfile.cmake").read_text(encoding="utf-8")
    for function, name in PORT_FUNCTIONS.items():
        if function in script and name not in names:
            report.add(path, 1, f"portfile.cmake calls {function}, which comes from the dependency {name}")
    if "/usage\"" in script and not (path.parent / "usage").is_file():
        report.add(path, 1, "portfile.cmake installs 'usage', which is missing")


def check_registry_names(report, root):
    """docs/packages.md says what the wheel and the crate are called: on the registries others have `lockstep`."""
    page = root / LANGUAGES
    if not page.is_file():
        return
    said = re.search(r"^The wheel and the crate are called `([a-z-]+)`", page.read_text(encoding="utf-8"), re.MULTILINE)
    if not said:
        report.add(page, 1, "does not say what the wheel and the crate are called")
        return
    for name, pattern, separator in REGISTRY_NAMES:
        path, wanted = root / name, said.group(1).replace("-", separator)
        found = re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE) if path.is_file() else None
        if path.is_file() and (found is None or found.group(1) != wanted):
            report.add(path, 1, f"is for {found.group(1) if found else 'nothing'}, and {LANGUAGES} says {wanted}")


def main(argv):
    root = root_argument(argv)
    report = Report(root, "packages")
    for check in (check_debian, check_sources, check_module, check_port, check_registry_names):
        check(report, root)
    return report.finish(sum((root / name).is_file() for name in (*BUILD_FILES, MODULE, CONTROL, f"{PORT}/vcpkg.json")))


if __name__ == "__main__":
    sys.exit(main(sys.argv))
