#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the recipes of the package managers agree with the project, and with each other?

usage: packages.py [tree]

Complaints: a recipe with a version of its own, whose version is not that of project() in CMakeLists.txt; a build file that
lacks a source of the library; a name that modules/lockstep.cppm exports or lacks, other than tests/build/public_names.txt
has it; a Debian package of the library that is not named by its soname; a vcpkg.json that vcpkg would refuse. A recipe
that is not there is no complaint.
"""

import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from source_text import Report, root_argument  # noqa: E402

# Files that repeat the version because their formats cannot read it, and where it stands in them.
VERSIONS = (
    ("MODULE.bazel", r'^    version = "(\d+\.\d+\.\d+)"'),
    ("meson.build", r"^  version: '(\d+\.\d+\.\d+)'"),
    ("packaging/vcpkg/ports/lockstep/vcpkg.json", r'^  "version-semver": "(\d+\.\d+\.\d+)"'),
    ("packaging/debian/changelog", r"^lockstep \((\d+\.\d+\.\d+)\)"),
)
BUILD_FILES = ("CMakeLists.txt", "meson.build", "BUILD.bazel")
MODULE = "modules/lockstep.cppm"
NAMES = "tests/build/public_names.txt"
PORT_KEYS = {"name", "version-semver", "port-version", "description", "homepage", "documentation", "license", "supports",
             "dependencies", "features", "default-features", "maintainers"}
PORT_FUNCTIONS = {"vcpkg_cmake_configure": "vcpkg-cmake", "vcpkg_cmake_config_fixup": "vcpkg-cmake-config"}
PORT_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*$")


def version_of(root):
    found = re.search(r"project\(lockstep\s+VERSION (\d+\.\d+\.\d+)", (root / "CMakeLists.txt").read_text("utf-8"))
    return found.group(1)


def check_versions(report, root):
    version = version_of(root)
    for name, pattern in VERSIONS:
        path = root / name
        if not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        found = re.search(pattern, text, re.MULTILINE)
        if not found:
            report.add(path, 1, f"no version that looks like {pattern}")
        elif found.group(1) != version:
            line = text.count("\n", 0, found.start(1)) + 1
            report.add(path, line, f"version {found.group(1)}, but CMakeLists.txt has {version}")
    control = root / "packaging/debian/control"
    name = "liblockstep" + version.rpartition(".")[0]
    if control.is_file() and f"\nPackage: {name}\n" not in control.read_text(encoding="utf-8"):
        report.add(control, 1, f"no package {name}, as the soname of the library asks for")


def check_sources(report, root):
    """Each build file names each source of the library."""
    for name in BUILD_FILES:
        path = root / name
        if not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        for source in sorted((root / "src").glob("*.cpp")):
            if not re.search(rf"[\s\"'(]src/{re.escape(source.name)}[\s\"')]", text):
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
    path = root / "packaging/vcpkg/ports/lockstep/vcpkg.json"
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


def main(argv):
    root = root_argument(argv)
    report = Report(root, "packages")
    for check in (check_versions, check_sources, check_module, check_port):
        check(report, root)
    places = [name for name, _ in VERSIONS] + [*BUILD_FILES, MODULE]
    return report.finish(sum((root / name).is_file() for name in set(places)))


if __name__ == "__main__":
    sys.exit(main(sys.argv))
