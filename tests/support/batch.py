#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Joins test sources to one unit: what they include is read, and what they instantiate compiled, once for all.

usage: batch.py output source...

Each source is included in a namespace of its own, so that equal names of helpers do not meet. Its directives for
headers come first, outside: inside the namespace the headers' guards leave nothing. What a source puts into a namespace
of the code under test is then in another one of the same name, which has all names of the first.
"""

import re
import sys
from pathlib import Path

DIRECTIVE = re.compile(r"#\s*(?:include|if|ifdef|ifndef|elif|else|endif)\b.*")
# Namespaces of the code under test: of lockstep, and of the programs.
NAMESPACE = re.compile(r"^namespace ((?:lockstep|bench|examples)\b[\w:]*) \{", re.MULTILINE)
NEIGHBOUR = re.compile(r'(#\s*include ")([^"]+)"')


def directives(source):
    """The lines of the source that include headers, or choose which; its neighbours by their full names."""
    for line in source.read_text(encoding="utf-8").split("\n"):
        if not DIRECTIVE.match(line):
            continue
        found = NEIGHBOUR.match(line)
        neighbour = source.parent / found.group(2) if found else None
        yield f'{found.group(1)}{neighbour.as_posix()}"' if neighbour and neighbour.exists() else line


def copies(source):
    """Makes each name of the namespaces that the source opens visible in those that it opens inside of its own."""
    text = ""
    for name in dict.fromkeys(NAMESPACE.findall(source.read_text(encoding="utf-8"))):
        parts = name.split("::")
        opened = "".join(f"namespace {part} {{ using namespace ::{'::'.join(parts[:i + 1])}; "
                         for i, part in enumerate(parts))
        text += opened + "}" * len(parts) + "\n"
    return text


def unit(sources):
    text = "// Made by tests/support/batch.py.\n"
    for source in sources:
        text += "".join(line + "\n" for line in directives(source))
    for source in sources:
        name = re.sub(r"\W", "_", f"{source.parent.name}_{source.stem}")
        text += f'\nnamespace {name} {{\n{copies(source)}#include "{source.as_posix()}"\n}}\n'
    return text


def main(argv):
    output, sources = Path(argv[1]), [Path(source) for source in argv[2:]]
    output.parent.mkdir(parents=True, exist_ok=True)
    text = unit(sources)
    if not output.exists() or output.read_text(encoding="utf-8") != text:
        output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
