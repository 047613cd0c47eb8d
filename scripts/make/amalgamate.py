#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes single_include/lockstep.hpp: the umbrella header with everything it includes, in one file.

usage: amalgamate.py [output]

Each header of ours appears once, in its include guard: in a unit that includes some of them by themselves too,
whichever comes first counts. So a header comes after those that it includes, not around them; only what it
includes inside #if, or after code, stays where it is. The bodies of cold functions (.ipp), and what only they
include, come last, inside #if: a unit that links the library needs none of it. Unconditional includes of other headers
are gathered at the top; those inside #if stay where they are.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from source_text import ROOT, directives, guard_of, split_lines  # noqa: E402

INCLUDE = ROOT / "include"
UMBRELLA = "lockstep/lockstep.hpp"
BODIES = "LOCKSTEP_HAS_BODIES"  # "#if" of this, then the bodies; or the #include of an .ipp, "#endif": three lines
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
        self.bodies = None
        depth = 0  # without the guard
        skip = 0
        guard = guard_of(name)
        lines = split_lines(text)
        self.first_code = next((line.number - 1 for line in lines
                                if line.code.strip() and not line.code.lstrip().startswith("#")), len(lines))
        for directive in directives(lines):
            index = directive.number - 1
            if directive.name == "ifndef" and directive.rest == guard:
                continue
            if directive.name == "if" and directive.rest == BODIES and ".ipp" in self.rows[index + 1]:
                self.dropped.update((index, index + 1, index + 2))
                self.bodies = self.resolve(self.rows[index + 1].split()[1])
                skip = 2
            elif skip:
                skip -= 1
            elif directive.name in ("if", "ifdef", "ifndef"):
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
        self.placed = {}  # header -> the context in which it was placed
        self.unconditional = set()
        self.find_unconditional(UMBRELLA)
        self.place(UMBRELLA)
        if any(h.bodies for h in self.headers.values()):
            self.place_bodies()

    def header(self, name):
        if name not in self.headers:
            self.headers[name] = Header(name)
        return self.headers[name]

    def find_unconditional(self, name):
        """Notes every header that is included whatever the system is."""
        if name in self.unconditional:
            return
        self.unconditional.add(name)
        for include in self.header(name).includes.values():
            if include.ours and include.depth == 0:
                self.find_unconditional(include.target)

    def place_bodies(self):
        """Places all .ipp of the headers that are there, and what only they include."""
        done = set()
        self.context.append((BODIES, 0))
        self.body.append(f"#if {BODIES}")
        while waiting := [h.bodies for h in self.headers.values() if h.bodies and h.bodies not in done]:
            for name in waiting:
                done.add(name)
                self.place(name)
        self.body.append("#endif")
        self.context.pop()

    def place(self, name):
        if name in self.placed:
            where = self.placed[name]
            if where != self.context[: len(where)]:
                raise SystemExit(f"amalgamate: {name} is needed outside the #if of {where[-1][0]} too; "
                                 "include it there unconditionally")
            return
        self.placed[name] = list(self.context)
        header = self.header(name)
        for include in header.includes.values():
            if include.ours and include.depth > 0:
                self.place_shared(include.target, {name})
        for include in header.includes.values():
            if include.ours and include.leads:
                self.place(include.target)
        self.emit(header)

    def place_shared(self, name, seen):
        """Places, ahead of an #if, what a header in it shares with the code outside."""
        if name in seen:
            return
        seen.add(name)
        if name in self.unconditional:
            if name not in self.placed:
                self.place(name)
            return
        for include in self.header(name).includes.values():
            if include.ours:
                self.place_shared(include.target, seen)

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
        print(f"usage: {argv[0]} [--check] [output]", file=sys.stderr)
        return 2
    output = Path(arguments[0]) if arguments else OUTPUT
    text = Amalgamation().text()
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
