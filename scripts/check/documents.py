#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the documents lead where they say, and can the reference show each public header?

usage: documents.py [tree]

A link in a Markdown file, outside of code, leads to a file or a folder of the tree, and an anchor to a heading there, as
GitHub names them: small letters, without punctuation, a hyphen for a space. The second line of a public header, which the
reference (scripts/make/site_pages.py) shows first, names the header, says what it is for, and its layer.
"""

import re
import sys
from functools import lru_cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from source_text import Report, root_argument  # noqa: E402

LEFT_OUT = {"build", "node_modules", "target", "__pycache__"}
FENCE = re.compile(r"\s*(`{3,}|~{3,})")
LINK = re.compile(r"(`+)(?:(?!\1).)+?\1(?!`)|\]\(([^()\s]+)\)")
HEADING = re.compile(r"#{1,6} +(.*?) *#*$")


def documents(root):
    for path in sorted(root.iterdir()):
        if path.name.startswith(".") or path.name in LEFT_OUT:
            continue
        if path.is_dir():
            yield from documents(path)
        elif path.suffix == ".md":
            yield path


def text_lines(path):
    """(number, line) of the lines that are no code."""
    mark = None
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        fence = FENCE.match(line)
        if mark is None and fence:
            mark = fence.group(1)
        elif mark is None:
            yield number, line
        elif fence and fence.group(1).startswith(mark) and line.strip() == fence.group(1):
            mark = None


def anchor_of(heading):
    shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")


@lru_cache(maxsize=None)
def anchors(path):
    found, counts = set(), {}
    for _, line in text_lines(path):
        heading = HEADING.match(line)
        if heading:
            name = anchor_of(heading.group(1))
            found.add(name + (f"-{counts[name]}" if name in counts else ""))
            counts[name] = counts.get(name, 0) + 1
        found.update(re.findall(r'<(?:a|span) (?:id|name)="([^"]+)"', line))
    return found


def check_links(report, path, root):
    for number, line in text_lines(path):
        for found in LINK.finditer(line):
            target = found.group(2)
            if not target or re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            there = (path.parent / name).resolve() if name else path
            if not there.exists() or not there.is_relative_to(root):
                report.add(path, number, f"no file '{name}'")
            elif anchor and there.suffix == ".md" and anchor not in anchors(there):
                report.add(path, number, f"no heading '#{anchor}' in {there.relative_to(root)}")


def check_header(report, path):
    second = (path.read_text(encoding="utf-8").split("\n") + ["", ""])[1]
    if not re.fullmatch(rf"// lockstep/{re.escape(path.name)} -- \S.* \(layer: \w+\)", second) and path.name != "lockstep.hpp":
        report.add(path, 2, f"the reference needs '// lockstep/{path.name} -- what it is for (layer: ...)' here")


def main(argv):
    root = root_argument(argv).resolve()
    anchors.cache_clear()
    report = Report(root, "documents")
    found = list(documents(root))
    for path in found:
        check_links(report, path, root)
    headers = sorted((root / "include/lockstep").glob("*.hpp"))
    for path in headers:
        check_header(report, path)
    return report.finish(len(found) + len(headers))


if __name__ == "__main__":
    sys.exit(main(sys.argv))
