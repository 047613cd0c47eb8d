#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Gives each header below include/ and src/ the include guard that its path asks for.

usage: guards.py [--check] [tree]

The single header carries the same guards, so that a unit which comes upon both forms of the library, or upon
two copies of it, gets each part once. #pragma once tells files apart, not what is in them.
Replaces #pragma once and guards of another name. With --check nothing is written: a header without its guard
is an error.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from source_text import Report, guard_of, headers, root_argument, sources  # noqa: E402

ONCE = re.compile(r"^#pragma once\n", re.MULTILINE)
GUARD = re.compile(r"^#ifndef (LOCKSTEP_\w+_(?:HPP|H))\n#define \1\n(.*)^#endif  // \1\n\Z", re.MULTILINE | re.DOTALL)


def guarded(text, guard):
    """The header with its guard, or None if it has neither a guard nor #pragma once."""
    found = GUARD.search(text)
    if found:
        before, body = text[: found.start()], found.group(2)
    else:
        found = ONCE.search(text)
        if not found:
            return None
        before, body = text[: found.start()], text[found.end():].rstrip("\n") + "\n\n"
    return f"{before}#ifndef {guard}\n#define {guard}\n{body}#endif  // {guard}\n"


def main(argv):
    check = "--check" in argv
    root = root_argument([a for a in argv if a != "--check"])
    report = Report(root, "guards")
    found = headers(root) + [p for p in sources(root) if p.suffix == ".hpp"]
    for path in found:
        guard = guard_of(root, path)
        text = path.read_text(encoding="utf-8")
        wanted = guarded(text, guard)
        if wanted is None:
            report.add(path, 1, f"neither the guard {guard} nor #pragma once")
        elif wanted != text and check:
            report.add(path, 1, f"the include guard {guard} is not there; run './do format'")
        elif wanted != text:
            path.write_text(wanted, encoding="utf-8")
    return report.finish(len(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv))
