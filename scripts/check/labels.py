#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does every cited invariant exist, once?

usage: labels.py [tree]

A header defines a label in a comment line of its own: '//   MUTEX-4  Bounded bypass. ...'. Headers, tests, documents
and benchmarks cite it as MUTEX-4, and the names of tests as MUTEX_4. Complaints: a label that two places define; a
citation of a number that nobody defines, where the word before the hyphen is that of a label; in the documents, any
other word with a number in that form that is not among FOREIGN. A label of the form T1 is refused where it is defined,
in docs/guarantees.md, and in the names of tests: it says nothing, and several headers would have the same.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from source_text import Report, headers, root_argument, sources  # noqa: E402

DEFINITION = re.compile(r"^\s*//+\s+([A-Z]+-?\d+)  ", re.MULTILINE)
CITATION = re.compile(r"(?<![\w-])([A-Z]{2,}-\d+)(?![\w.]*-|\w)")
IN_A_NAME = re.compile(r"(?<![A-Za-z0-9])([A-Z]{2,})_(\d+)(?![0-9])")
SHORT = re.compile(r"(?<![\w-])([A-Z]\d+)(?!\w)")
SHORT_DEFINITION = re.compile(r"[A-Z]+\d+")
SHORT_IN_A_TEST = re.compile(r"^ *(?:TEST(?:_[FP])?\(\w+, *|(?=\w+\) \{))(?:\w*_)?([A-Z]\d{1,2})(?=[_)])")
# Words of other people's with a number: encodings, licences, processors, standards.
FOREIGN = {"UTF", "ISO", "IEC", "BSD", "GPL", "LGPL", "MIT", "AVX", "SSE", "ARM", "POWER", "RISC", "CVE", "RFC", "SHA"}
SOURCES = (".cpp", ".hpp", ".h", ".txt")
# Decisions and earlier changes keep the labels of their time.
HISTORY = {"decisions"}


def definitions(root, report):
    """The labels of the headers and sources, with the place of each."""
    found = {}
    for header in headers(root) + sources(root):
        for number, line in enumerate(header.read_text(encoding="utf-8").splitlines(), 1):
            match = DEFINITION.match(line)
            if not match:
                continue
            label = match.group(1)
            if SHORT_DEFINITION.fullmatch(label):
                report.add(header, number, f"{label}: a label is a word, a hyphen and a number")
                continue
            if label in found:
                report.add(header, number, f"{label} is defined in {found[label]}, too")
            found.setdefault(label, f"{header.relative_to(root)}:{number}")
    return found


def readers(root):
    """The files that cite labels, each with whether it is a document."""
    for folder in ("include", "tests", "bench", "src"):
        yield from ((path, False) for path in sorted((root / folder).rglob("*"))
                    if path.suffix in SOURCES and path.is_file())
    yield from ((path, True) for path in sorted((root / "docs").rglob("*.md"))
                if not HISTORY & set(path.relative_to(root).parts))
    if (root / "README.md").exists():
        yield root / "README.md", True


def cited(line, is_document, is_guarantee, words):
    """The labels in a line, as they would be defined."""
    for match in CITATION.finditer(line):
        word = match.group(1).rsplit("-", 1)[0]
        if word in words or (is_document and word not in FOREIGN):
            yield match.group(1)
    if not is_document:
        yield from (f"{m.group(1)}-{m.group(2)}" for m in IN_A_NAME.finditer(line) if m.group(1) in words)
        yield from SHORT_IN_A_TEST.findall(line)
    if is_guarantee:
        yield from SHORT.findall(line)


def main(argv):
    root = root_argument(argv)
    report = Report(root, "labels")
    found = definitions(root, report)
    words = {label.rsplit("-", 1)[0] for label in found}
    files = list(readers(root))
    for path, is_document in files:
        is_guarantee = path.name == "guarantees.md"
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            for label in cited(line, is_document, is_guarantee, words):
                if label not in found:
                    report.add(path, number, f"{label} is defined nowhere")
    return report.finish(len(files))


if __name__ == "__main__":
    sys.exit(main(sys.argv))
