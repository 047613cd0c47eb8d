#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes single_include/lockstep.hpp: the umbrella header with everything it includes, in one file.

usage: amalgamate.py [output]

Each header of ours keeps its include guard: in a unit that includes some of them by themselves too, whichever comes
first counts. A header comes after those that it includes before all its code; what it includes inside #if, or after
code, stays where it is. A header that is needed both inside an #if and outside of all is placed once, before that #if.
One that is needed only inside of #if is placed inside the first, and again where an earlier place may be left out while
this one is not; its guard makes it one. Unconditional includes of other headers are gathered at the top; those inside
#if stay where they are.
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
    """One #include of a header: where it stands, what it names, under which conditions, whether before all code."""

    def __init__(self, index, target, conditions, block, leading):
        self.index, self.target, self.conditions, self.block = index, target, conditions, block
        self.ours = not target.startswith("<")
        self.leads = leading and not conditions


def conjuncts(directive):
    """What has to hold for an #if, #ifdef or #ifndef: a set of texts."""
    text = re.sub(r"\s+", " ", directive.rest)
    if directive.name in ("ifdef", "ifndef"):
        return frozenset([("" if directive.name == "ifdef" else "!") + f"defined({text})"])
    return frozenset(text.split(" && ") if not re.search(r"\|\||\?", text) else [text])


class Header:
    """One header of ours, its lines and its includes."""

    def __init__(self, name):
        self.name = name
        text = (INCLUDE / name).read_text(encoding="utf-8")
        self.rows = text.rstrip("\n").split("\n")
        self.dropped = set()
        self.includes = {}
        self.blocks = {}  # line of an outermost #if -> the includes in it
        guard = guard_of(name)
        lines = split_lines(text)
        self.first_code = next((line.number - 1 for line in lines
                                if line.code.strip() and not line.code.lstrip().startswith("#")), len(lines))
        open_ifs = []  # of each: the line, what holds in this branch, what did in those before
        for directive in directives(lines):
            index = directive.number - 1
            if directive.name == "ifndef" and directive.rest == guard:
                continue
            if directive.name in ("if", "ifdef", "ifndef"):
                open_ifs.append((index, conjuncts(directive), []))
            elif directive.name in ("elif", "else") and open_ifs:
                start, before, earlier = open_ifs.pop()
                earlier = earlier + [f"not({' && '.join(sorted(before))})"]
                own = [directive.rest] if directive.name == "elif" else []
                open_ifs.append((start, frozenset(own + earlier), earlier))
            elif directive.name == "endif" and open_ifs:
                open_ifs.pop()
            elif directive.name == "pragma" and directive.rest == "once":
                self.dropped.add(index)
            elif directive.name == "include":
                self.add_include(index, open_ifs)

    def add_include(self, index, open_ifs):
        # An include that names a macro is left as it is: the seams replace our headers that way.
        found = re.match(r'\s*#\s*include\s*(<[^>]+>|"[^"]+")', self.rows[index])
        if not found:
            return
        conditions = frozenset().union(*(holds for _, holds, _ in open_ifs))
        include = Include(index, self.resolve(found.group(1)), conditions, open_ifs[0][0] if open_ifs else None,
                          index < self.first_code)
        self.includes[index] = include
        if include.ours and open_ifs:
            self.blocks.setdefault(include.block, []).append(include)

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
        self.conditions = frozenset()  # of the place where we are
        self.placed = {}  # header -> the conditions under which it was placed
        self.always = set()  # what is needed outside of any #if
        self.find_always(UMBRELLA)
        self.place(UMBRELLA)

    def header(self, name):
        if name not in self.headers:
            self.headers[name] = Header(name)
        return self.headers[name]

    def find_always(self, name):
        if name in self.always:
            return
        self.always.add(name)
        for include in self.header(name).includes.values():
            if include.ours and not include.conditions:
                self.find_always(include.target)

    def place(self, name):
        """Places a header, unless an earlier place of it is seen wherever this one is. Its guard makes it one there."""
        if any(where <= self.conditions for where in self.placed.setdefault(name, [])):
            return
        self.placed[name].append(self.conditions)
        header = self.header(name)
        for include in header.includes.values():
            if include.ours and include.leads:
                self.place(include.target)
        self.emit(header)

    def place_before(self, includes, seen):
        """Places what these includes bring in and what is needed outside of any #if, too."""
        for include in includes:
            if not include.ours or include.target in seen:
                continue
            seen.add(include.target)
            if include.target in self.always:
                self.place(include.target)
            else:
                self.place_before(self.header(include.target).includes.values(), seen)

    def emit(self, header):
        rows = []
        for index, row in enumerate(header.rows):
            if index in header.blocks and not self.conditions:
                self.append(rows)
                rows = []
                self.place_before(header.blocks[index], set())
            include = header.includes.get(index)
            if index in header.dropped or (index == 0 and "SPDX-License-Identifier" in row):
                continue
            if include is None or (not include.ours and (include.conditions or self.conditions)):
                rows.append(row)
            elif not include.ours:
                self.system.add(include.target)
            elif not include.leads:
                self.append(rows)
                rows = []
                outside = self.conditions
                self.conditions |= include.conditions
                self.place(include.target)
                self.conditions = outside
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
