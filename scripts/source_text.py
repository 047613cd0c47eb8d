# SPDX-License-Identifier: MIT
"""Reads C++ sources for the scripts in check/, make/ and run/: lines split into code and comment, and directives."""

import re
import sys
from collections import namedtuple
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

Line = namedtuple("Line", "number code comment")
Directive = namedtuple("Directive", "number name rest")

# One token of C++ that may hide a quote or a comment mark, or one character of anything else.
TOKEN = re.compile(
    r"""(?P<line>//[^\n]*)
      | (?P<block>/\*.*?(?:\*/|\Z))
      | (?P<raw>\bR"(?P<delimiter>[^()\s\\]{0,16})\(.*?\)(?P=delimiter)")
      | (?P<number>\b\d[\w.']*)
      | (?P<string>"(?:\\.|[^"\\\n])*")
      | (?P<char>'(?:\\.|[^'\\\n])*')
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


def headers(root):
    """The headers below root/include, in a fixed order."""
    return sorted(p for p in (root / "include").rglob("*") if p.suffix in (".hpp", ".h"))


def sources(root):
    """The headers and sources below root/src, in a fixed order."""
    return sorted(p for p in (root / "src").rglob("*") if p.suffix in (".hpp", ".cpp"))


def name_of(root, path):
    """What a banner calls a file: its path below include/, or from src/ on."""
    return path.relative_to(root / "include" if path.is_relative_to(root / "include") else root).as_posix()


def guard_of(root, header):
    """The include guard of a header."""
    name = name_of(root, header).removeprefix("lockstep/")
    return "LOCKSTEP_" + re.sub(r"\W", "_", name).upper()


def named_layer(text):
    """The layer that the banner of a header or source names, in its second line; or None."""
    named = re.search(r"\(layer: (\w+)\)", (text.split("\n") + [""])[1])
    return named.group(1) if named else None


def split_lines(text):
    """Splits text into lines of (code, comment); strings lose their content, quotes stay."""
    code, comment = [""], [""]
    for token in TOKEN.finditer(text):
        kind, value = token.lastgroup, token.group()
        if kind == "raw":
            value = '""' + "\n" * value.count("\n")
        elif kind in ("string", "char"):
            value = value[0] + value[-1]
        for index, piece in enumerate(value.split("\n")):
            if index:
                code.append("")
                comment.append("")
            (comment if kind in ("line", "block") else code)[-1] += piece
    return [Line(i + 1, c, m) for i, (c, m) in enumerate(zip(code, comment))]


def directives(lines):
    """Yields the preprocessor directives, continuation lines joined."""
    pending = None
    for line in lines:
        text = line.code.rstrip()
        if pending is not None:
            start, text = pending[0], pending[1] + " " + text.strip()
        else:
            start = line.number
            if not text.lstrip().startswith("#"):
                continue
        if text.endswith("\\"):
            pending = (start, text[:-1].rstrip())
            continue
        pending = None
        found = re.match(r"\s*#\s*(\w+)\s*(.*)", text)
        if found:
            yield Directive(start, found.group(1), found.group(2).strip())


def includes(text):
    """Yields (line number, bracket, path) for every #include; the path survives split_lines only here."""
    code_lines = split_lines(text)
    for number, raw in enumerate(text.split("\n"), start=1):
        found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', raw)
        if found and code_lines[number - 1].code.lstrip().startswith("#"):
            yield number, found.group(1), found.group(2)


class Report:
    """Collects complaints in the form file:line: message."""

    def __init__(self, root, name):
        self.root, self.name, self.complaints = root, name, []

    def add(self, path, number, message):
        place = path.relative_to(self.root) if path.is_absolute() else path
        self.complaints.append(f"{place}:{number}: {message}")

    def finish(self, checked):
        """Prints the complaints and returns the exit status."""
        for complaint in self.complaints:
            print(complaint)
        verdict = f"{len(self.complaints)} complaints" if self.complaints else "ok"
        print(f"{self.name}: {checked} files: {verdict}")
        return 1 if self.complaints else 0


def root_argument(argv):
    """The tree to check: the first argument, or the repository this script belongs to."""
    if len(argv) > 2 or (len(argv) == 2 and argv[1].startswith("-")):
        print(f"usage: {argv[0]} [tree]", file=sys.stderr)
        raise SystemExit(2)
    return Path(argv[1]).resolve() if len(argv) == 2 else ROOT
