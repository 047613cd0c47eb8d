#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is every memory order in include/ and src/ argued for in the table of its file?

usage: orders.py [tree]

A file with atomic accesses has a table in a comment, headed 'Memory order' and '#', and every
line of code with an order ends in the numbers of its rows: '// 2' or '// 3, 4'. A table is good for what
follows it, up to the next table: a header of several classes has one in its banner or one above each. Complaints: an
order without a number; a number without a row; a row that no access cites; a number on a line
without access, fence or call of the wait engine; an atomic access that leaves its order to the
default; atomic accesses that no table precedes. A source without a table of its own has the last one of the header of its
name, if that is of the same layer.
"""

import re
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from source_text import Report, headers, root_argument, sources, split_lines  # noqa: E402

ORDER = re.compile(r"\bmemory_order(?:_|::)\w+")
NAMES = r"(load|store|exchange|fetch_\w+|compare_exchange_\w+|test_and_set)"
ACCESS = re.compile(rf"(\w*)\s*(?:\.|->)\s*{NAMES}\s*\(")
OWN_FUNCTION = re.compile(rf"(?<![.>\w]){NAMES}\s*\([^()]*\)\s*(?:const\b|noexcept\b|\{{)")
FENCE = re.compile(r"\b\w*fence\w*\s*\(")
ENGINE = re.compile(r"\b\w*(?:wait|notify|wake|until|change|arrive|announce|publish|heavy|light)\w*\s*\(")
FORWARDED = re.compile(r"\b(?:\w+_)?(?:order|success|failure)\b")
MARKS = re.compile(r"^//\s*(\d+(?:\s*,\s*\d+)*)\s*(?::.*)?$")
DECLARED = re.compile(r"\b(?:atomic\s*<[^;={]*>|wait_word)\s*[&*]?\s*(\w+)\s*[;{=]")
DECLARATION = re.compile(r"(?!return\b)\b\w+(?:<.*>)?\s*[&*]?\s+[&*]?(\w+)\s*(?:;|\{|=(?!=))")


def tables(lines):
    """Yields (index of the first line, {row number: line number}) for each table, in the order of the file."""
    start, rows, column = None, None, None
    for index, line in enumerate(lines):
        is_comment = not line.code.strip() and line.comment.startswith("//")
        body = line.comment[2:] if is_comment else ""
        if is_comment and re.match(r"/?\s*Memory order\b", body):
            if column is not None:
                yield start, rows
            start, rows, column = index, {}, None
        elif rows is None:
            continue
        elif column is None:
            head = re.match(r"(/?\s*)#\s", body)
            column = len(head.group(1)) if head else None
            if not is_comment:
                rows = None
        elif not body.strip(" /") or len(body) - len(body.lstrip(" /")) < column:
            yield start, rows
            rows, column = None, None
        else:
            found = re.match(r"/?\s*(\d+)\s", body[: column + 4])
            if found:
                rows[int(found.group(1))] = line.number
    if column is not None:
        yield start, rows


def has_order(line):
    return bool(ORDER.search(line.code)) and not re.match(r"\s*using\b", line.code)


def marks_of(line):
    found = MARKS.match(line.comment.strip())
    return [int(n) for n in re.findall(r"\d+", found.group(1))] if found else []


def closing(text, start):
    """The index after the parenthesis that closes the one at start."""
    depth = 0
    for index in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth == 0:
            return index + 1
    return len(text)


def accesses(lines):
    """Yields (line number, name, arguments) for each atomic access, over several lines if need be.

    A function that the header itself defines (event: state.load()) is no access, unless it is called
    on an atomic.
    """
    text = "\n".join(line.code for line in lines)
    own = set(OWN_FUNCTION.findall(text))
    atomics = set(DECLARED.findall(text))
    for found in ACCESS.finditer(text):
        receiver, name = found.groups()
        arguments = text[found.end() - 1 : closing(text, found.end() - 1)]
        if name in own and receiver not in atomics and not ORDER.search(arguments):
            continue
        yield text.count("\n", 0, found.start(2)) + 1, name, arguments


def implicit_uses(lines):
    """Yields (line number, variable) where an atomic is used through an operator, that is seq_cst."""
    atomics = Counter(name for line in lines for name in DECLARED.findall(line.code))
    declared = Counter(name for line in lines for name in DECLARATION.findall(line.code))
    # A name that is also declared as something else cannot be judged by its name.
    names = [name for name in atomics if declared[name] <= atomics[name]]
    if not names:
        return
    name = "(?:" + "|".join(names) + ")"
    operator = re.compile(rf"(?:\+\+|--)\s*({name})\b|\b({name})\s*(?:\+\+|--|[-+|&^]?=(?!=))")
    for line in lines:
        if DECLARED.search(line.code):
            continue
        for before, after in operator.findall(line.code):
            yield line.number, before or after


def check_marks(report, path, lines, rows):
    cited = set()
    for line in lines:
        marks = marks_of(line) if line.code.strip() else []
        if has_order(line) and not marks:
            report.add(path, line.number, "a memory order without the number of its row")
        if not marks:
            continue
        if not (has_order(line) or any(p.search(line.code) for p in (ACCESS, FENCE, ENGINE))):
            report.add(path, line.number, "a row number on a line without access or engine call")
            continue
        for mark in marks:
            if mark not in rows:
                report.add(path, line.number, f"row {mark} is not in the table")
        cited.update(marks)
    for row in sorted(set(rows) - cited):
        report.add(path, rows[row], f"row {row} is cited by no access")


def check_file(report, path, lines):
    for number, name, arguments in accesses(lines):
        if not ORDER.search(arguments) and not FORWARDED.search(arguments):
            report.add(path, number, f"{name} leaves its memory order to the default")
    for number, name in implicit_uses(lines):
        report.add(path, number, f"{name} is accessed by an operator, without an explicit order")
    found = list(tables(lines))
    starts = [start for start, _ in found]
    if any(has_order(line) for line in lines[: starts[0] if starts else len(lines)]):
        report.add(path, 1, "atomic accesses, but no table 'Memory order' before them")
    for (start, rows), end in zip(found, starts[1:] + [len(lines)]):
        check_marks(report, path, lines[start:end], rows)


def header_of(root, source):
    """The header of the same layer and name, or None."""
    layer = source.relative_to(root / "src").parts[0]
    places = (source.parent, root / "include" / "lockstep" / "detail" / layer, root / "include" / "lockstep")
    found = [place / f"{source.stem}.hpp" for place in places]
    return next((path for path in found if path.exists()), None)


def main(argv):
    root = root_argument(argv)
    report = Report(root, "orders")
    found = headers(root) + sources(root)
    texts = {path: path.read_text(encoding="utf-8") for path in found}
    bodies = {}  # of a header: the source that has no table
    for path in found:
        if path.suffix == ".cpp" and "// Memory order" not in texts[path]:
            header = header_of(root, path) if path.parent != root / "src" else None
            if header is not None and "// Memory order" in texts[header]:
                bodies[header] = path
    for path in found:
        if path in bodies.values():
            continue
        lines = split_lines(texts[path])
        if path in bodies:
            lines += [line._replace(number=line.number + len(lines)) for line in split_lines(texts[bodies[path]])]
        check_file(report, path, lines)
    return report.finish(len(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv))
