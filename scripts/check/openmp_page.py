#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is the C++ code on the pages the code that is compiled and run?

usage: openmp_page.py [--write] [tree]

PAGES says which pages, and where their code is. Every C++ block of a page comes right after a line
`<!-- file.cpp: name -->`; it must be what stands between the marks `// [name]` and `// [/name]` in that file, indented
less; where a name has several such parts, one after the other. Every snippet must be on a page, once. With --write the
blocks are filled in from the sources. Other blocks come after `<!-- compiled by SCRIPT -->`, a file that names the page,
or `<!-- not compiled: REASON -->`.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from source_text import Report, root_argument  # noqa: E402

# The sources of each group of pages.
PAGES = {
    ("examples/openmp/*.cpp",): ("docs/coming-from-openmp.md",),
    ("examples/*.cpp", "examples/audio/*.cpp", "examples/inpaint/*.cpp"):
        ("README.md", "docs/guide.md", "docs/faq.md", "docs/graphs.md", "docs/visibility.md"),
    ("tests/adapters/*.cpp",): ("docs/adapters.md",),
    ("examples/mpi/*/*.cpp", "tests/mpi/*.cpp"): ("docs/mpi.md",),
}

MARK = re.compile(r"\s*// \[(/?)(\w+)\]$")
LABEL = re.compile(r"<!-- (\w+\.cpp): (\w+) -->$")
OTHER = re.compile(r"<!-- (?:compiled by (\S+)|not compiled: .+) -->$")


def without_indent(rows):
    """Less what all rows have in common; directives stand at the margin and have no say."""
    own = [row for row in rows if row.strip() and not row.startswith("#")]
    indent = min((len(row) - len(row.lstrip(" ")) for row in own), default=0)
    return [row if row.startswith("#") else row[indent:] for row in rows]


def snippets(report, path):
    """{name: rows} of a source."""
    found, name, start = {}, None, 0
    rows = path.read_text(encoding="utf-8").split("\n")
    for number, row in enumerate(rows, start=1):
        mark = MARK.match(row)
        if not mark:
            continue
        is_end, new = mark.group(1) == "/", mark.group(2)
        if is_end != (name is not None) or (is_end and new != name):
            report.add(path, number, f"the mark [{mark.group(1)}{new}] has no counterpart")
            return found
        if is_end:
            found.setdefault(name, []).extend(without_indent(rows[start : number - 1]))
            name = None
        else:
            name, start = new, number
    if name is not None:
        report.add(path, start, f"the mark [{name}] has no counterpart")
    return found


def blocks(rows):
    """Yields (number, label row, first row, end row) of each C++ block, rows from 0 and without the fences."""
    start = None
    for index, row in enumerate(rows):
        if not row.startswith("```"):
            continue
        if start is None:
            start = index
        else:
            if rows[start] == "```cpp":
                yield start + 1, rows[start - 1] if start else "", start + 1, index
            start = None
    if start is not None:
        yield start + 1, "", start + 1, len(rows)


def check_page(report, page, sources, shown, write):
    """Returns the rows of the page as they should be, and adds to `shown` what it shows."""
    rows = page.read_text(encoding="utf-8").split("\n")
    result, copied = [], 0
    for number, label_row, first, end in blocks(rows):
        label, other = LABEL.match(label_row), OTHER.match(label_row)
        if other:
            script = other[1] and report.root / other[1]
            if script and not (script.is_file() and page.name in script.read_text(encoding="utf-8")):
                report.add(page, number, f"{other[1]} does not name {page.name}")
            continue
        if not label:
            report.add(page, number, "a code block without a label")
            continue
        key = label.groups()
        right = sources.get(key[0], {}).get(key[1])
        if right is None:
            report.add(page, number, f"there is no snippet '{key[1]}' in {key[0]}")
        elif key in shown:
            report.add(page, number, f"'{key[1]}' of {key[0]} is shown twice")
        elif write:
            result += rows[copied:first] + right
            copied = end
        elif rows[first:end] != right:
            report.add(page, number, f"not what '{key[1]}' in {key[0]} says; see --write")
        shown.add(key)
    return result + rows[copied:]


def main(argv):
    write = "--write" in argv
    root = root_argument([each for each in argv if each != "--write"])
    report, checked = Report(root, "openmp_page"), 0
    for patterns, names in PAGES.items():
        paths = sorted(path for pattern in patterns for path in root.glob(pattern))
        pages = [root / name for name in names if (root / name).is_file()]
        sources = {path.name: snippets(report, path) for path in paths}
        shown = set()
        for page in pages:
            rows = check_page(report, page, sources, shown, write)
            if write:
                page.write_text("\n".join(rows), encoding="utf-8")
        for path in paths:
            for name in sources[path.name]:
                if (path.name, name) not in shown:
                    report.add(path, 1, f"no page shows '{name}'")
        checked += len(paths) + len(pages)
    return report.finish(checked)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
