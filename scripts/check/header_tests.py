#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does every header have a test of its name, in the layer of its name?

usage: header_tests.py [tree]

The tests of include/lockstep/.../NAME.hpp and src/.../NAME.hpp are tests/LAYER/NAME_test.cpp, and parts of it tests/LAYER/NAME_PART_test.cpp;
LAYER is the one that the header names in its banner. A header without them stands in tests/covered_elsewhere.txt, in a
line with the tests that cover it: 'lockstep/fan.hpp  contract/notify_wait_contract_test.cpp'. Complaints: a header that
has neither; a line whose header or test is not there; a line for a header that has tests of its name.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from source_text import Report, headers, name_of, named_layer, root_argument, sources  # noqa: E402

LIST = "tests/covered_elsewhere.txt"
TEST = "_test.cpp"


def layers(root):
    """The headers that name a layer: their paths below include/, or from src/ on."""
    found = {}
    for path in headers(root) + [p for p in sources(root) if p.suffix == ".hpp"]:
        layer = named_layer(path.read_text(encoding="utf-8"))
        if layer:
            found[name_of(root, path)] = layer
    return found


def tested(root, names):
    """The headers that have a test of their name. NAME_PART_test.cpp is of the header with the longest such name."""
    by_name = {(layer, Path(header).stem): header for header, layer in names.items()}
    found = set()
    for test in (root / "tests").glob(f"*/*{TEST}"):
        words = test.name.removesuffix(TEST).split("_")
        names = ["_".join(words[:count]) for count in range(len(words), 0, -1)]
        found.update([by_name[test.parent.name, name] for name in names if (test.parent.name, name) in by_name][:1])
    return found


def check_list(root, names, has_test, report):
    """Returns the headers that the list has."""
    path = root / LIST
    listed = set()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines() if path.exists() else [], 1):
        if not line or line.startswith("#"):
            continue
        header, *tests = line.split()
        listed.add(header)
        if header not in names:
            report.add(path, number, f"there is no header {header} with a layer")
        elif header in has_test:
            report.add(path, number, f"{header} has a test of its name: remove this line")
        if not tests:
            report.add(path, number, f"{header}: name the tests that cover it")
        for test in tests:
            if not (root / "tests" / test).exists():
                report.add(path, number, f"there is no tests/{test}")
    return listed


def main(argv):
    root = root_argument(argv)
    report = Report(root, "header_tests")
    names = layers(root)
    has_test = tested(root, names)
    listed = check_list(root, names, has_test, report)
    for header, layer in names.items():
        if header not in has_test | listed:
            report.add(root / ("" if header.startswith("src/") else "include") / header, 1,
                       f"has no tests/{layer}/{Path(header).stem}{TEST}, and does not stand in {LIST}")
    return report.finish(len(names))


if __name__ == "__main__":
    sys.exit(main(sys.argv))
