#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do all files that have the version of the project have the same one?

usage: versions.py [tree]

The version is that of project() in CMakeLists.txt. The headers, the newest heading of CHANGELOG.md, docs/stability.md and
the files of other package managers repeat it, as far as they are there. docs/stability.md also names the number of the
binary interface, which is in LOCKSTEP_ABI.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from source_text import Report, root_argument  # noqa: E402

CONFIG = "include/lockstep/detail/platform/config.hpp"
# Files, and where in them the version stands; of several the first. A file that is not there is no complaint.
PLACES = (
    ("CHANGELOG.md", r"^## \[(\d+\.\d+\.\d+)\]"),
    ("docs/stability.md", r"^This is version (\d+\.\d+\.\d+)\b"),
    ("bindings/rust/Cargo.toml", r'^version = "(\d+\.\d+\.\d+)"'),
    ("bindings/rust/*/Cargo.toml", r'^version = "(\d+\.\d+\.\d+)"'),
    ("bindings/python/pyproject.toml", r'^version = "(\d+\.\d+\.\d+)"'),
    ("packaging/vcpkg/**/vcpkg.json", r'"version(?:-semver)?": "(\d+\.\d+\.\d+)"'),
    ("meson.build", r"^  version: '(\d+\.\d+\.\d+)'"),
    ("MODULE.bazel", r'^    version = "(\d+\.\d+\.\d+)"'),
    ("packaging/debian/changelog", r"^lockstep \((\d+\.\d+\.\d+)"),
)


def version_of(root):
    """The version of the project in this tree, as a text."""
    return re.search(r"project\(lockstep\s+VERSION (\d+\.\d+\.\d+)", (root / "CMakeLists.txt").read_text()).group(1)


def header_version(text):
    parts = [re.search(rf"^#define LOCKSTEP_VERSION_{part} (\d+)$", text, re.MULTILINE) for part in
             ("MAJOR", "MINOR", "PATCH")]
    return ".".join(part.group(1) for part in parts) if all(parts) else "none"


def check_place(report, path, pattern, version):
    text = path.read_text(encoding="utf-8")
    found = re.search(pattern, text, re.MULTILINE)
    if not found:
        report.add(path, 1, f"no version that looks like {pattern}")
    elif found.group(1) != version:
        line = text.count("\n", 0, found.start(1)) + 1
        report.add(path, line, f"version {found.group(1)}, but CMakeLists.txt has {version}")


def main(argv):
    root = root_argument(argv)
    report, version = Report(root, "versions"), version_of(root)
    config = root / CONFIG
    text = config.read_text(encoding="utf-8")
    if header_version(text) != version:
        report.add(config, 1, f"version {header_version(text)}, but CMakeLists.txt has {version}")
    checked = 2
    for pattern, place in PLACES:
        for path in sorted(root.glob(pattern)):
            check_place(report, path, place, version)
            checked += 1
    stability = root / "docs/stability.md"
    number = re.search(r"^#define LOCKSTEP_ABI_CHECKS (v\d+)$", text, re.MULTILINE)
    if not number:
        report.add(config, 1, "defines no LOCKSTEP_ABI_CHECKS with a number")
    elif stability.is_file() and f"`{number.group(1)}`" not in stability.read_text(encoding="utf-8"):
        report.add(stability, 1, f"does not name `{number.group(1)}`, the number in LOCKSTEP_ABI")
    return report.finish(checked)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
