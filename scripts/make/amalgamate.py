#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes single_include/lockstep.hpp: the umbrella header with everything it includes, in one file.

usage: amalgamate.py [output]

Each header of ours keeps its include guard: in a unit that includes some of them by themselves too, whichever comes
first counts. A header comes after those that it includes before all its code; what it includes inside #if, or after
code, stays where it is. A header that was placed inside an #if is placed again where it is needed outside of that, as
the preprocessor would do it; its guard makes it one. Unconditional includes of other headers are gathered at the top;
those inside #if stay where they are.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from source_text import ROOT, directives, guard_of, split_lines  # noqa: E402

INCLUDE = ROOT / "include"
UMBRELLA = "lockstep/lockstep.hpp"
OUTPUT = ROOT / "single_include" / "lockstep.hpp"

HEAD = """\
// SPDX-License-Identifier: MIT
// lockstep.hpp -- all of <lockstep/lockstep.hpp> in one file
//
// Made by scripts/make/amalgamate.py from include/lockstep; change the headers there.
#pragma once
"""


class Include:
    """One #include of a header: where it stands, what it names, under how many #if, whether before all code."""

    def __init__(self, index, target, depth, leading):
        self.index, self.target, self.depth = index, target, depth
        self.ours = not target.startswith("<")
        self.leads = leading and depth == 0


class Header:
    """One header of ours, its lines and its includes."""

    def __init__(self, name):
        self.name = name
        text = (INCLUDE / name).read_text(encoding="utf-8")
        self.rows = text.rstrip("\n").split("\n")
        self.dropped = set()
        self.includes = {}
        depth = 0  # without the guard
        guard = guard_of(name)
        lines = split_lines(text)
        self.first_code = next((line.number - 1 for line in lines
                                if line.code.strip() and not line.code.lstrip().startswith("#")), len(lines))
        for directive in directives(lines):
            index = directive.number - 1
            if directive.name == "ifndef" and directive.rest == guard:
                continue
            if directive.name in ("if", "ifdef", "ifndef"):
                depth += 1
            elif directive.name == "endif" and depth > 0:
                depth -= 1
            elif directive.name == "pragma" and directive.rest == "once":
                self.dropped.add(index)
            elif directive.name == "include":
                self.add_include(index, depth)

    def add_include(self, index, depth):
        # An include that names a macro is left as it is: the seams replace our headers that way.
        found = re.match(r'\s*#\s*include\s*(<[^>]+>|"[^"]+")', self.rows[index])
        if found:
            target = self.resolve(found.group(1))
            self.includes[index] = Include(index, target, depth, index < self.first_code)

    def resolve(self, written):
        """Our headers as a path below include/, others as <name>."""
        name = written[1:-1]
        beside = (INCLUDE / self.name).parent / name
        if written[0] == '"' and beside.is_file():
            return beside.resolve().relative_to(INCLUDE).as_posix()
        return name if (INCLUDE / name).is_file() else f"<{name}>"


class Amalgamation:
    def __init__(self):
        self.headers = {}
        self.system = set()
        self.body = []
        self.context = []  # (header, index of the include) of every #if we are in
        self.placed = {}  # header -> the contexts in which it was placed
        self.place(UMBRELLA)

    def header(self, name):
        if name not in self.headers:
            self.headers[name] = Header(name)
        return self.headers[name]

    def place(self, name):
        """Places a header, unless an earlier place of it is seen wherever this one is. Its guard makes it one there."""
        if any(where == self.context[: len(where)] for where in self.placed.setdefault(name, [])):
            return
        self.placed[name].append(list(self.context))
        header = self.header(name)
        for include in header.includes.values():
            if include.ours and include.leads:
                self.place(include.target)
        self.emit(header)

    def emit(self, header):
        rows = []
        for index, row in enumerate(header.rows):
            include = header.includes.get(index)
            if index in header.dropped or (index == 0 and "SPDX-License-Identifier" in row):
                continue
            if include is None or (not include.ours and (include.depth or self.context)):
                rows.append(row)
            elif not include.ours:
                self.system.add(include.target)
            elif not include.leads:
                self.append(rows)
                rows = []
                if include.depth:
                    self.context.append((header.name, index))
                self.place(include.target)
                if include.depth:
                    self.context.pop()
        self.append(rows)

    def append(self, rows):
        text = "\n".join(rows).strip("\n")
        if text:
            self.body.append(text)

    def text(self):
        system = "\n".join(f"#include {name}" for name in sorted(self.system))
        body = re.sub(r"\n{3,}", "\n\n", "\n\n".join(self.body))
        return f"{HEAD}\n{system}\n\n{body}\n"


def main(argv):
    arguments = argv[1:]
    if len(arguments) > 1 or any(a.startswith("-") for a in arguments):
        print(f"usage: {argv[0]} [output]", file=sys.stderr)
        return 2
    output = Path(arguments[0]) if arguments else OUTPUT
    text = Amalgamation().text()
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
