#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does every public class say what a user has to know?

usage: api.py [tree]
       api.py --examples[=20] [tree]   print the examples of all public headers as one unit, of C++11 or of C++20

A public header lies directly in include/lockstep/. Above each of its classes a doc comment begins with a sentence that
says what the class does. Four parts follow there, or in the banner of the header, each behind its word:

    Order    what happens before what
    Errors   what is refused, and how; what is undefined
    Cost     read-modify-writes, line transfers, system calls, memory; measured times with their source
    Example  a few lines of code, indented, up to the next empty line or word; "Example for C++20" needs that

Complaints: a class that lacks one of them; in any header, a data member of type call_site, which would be a place in the
library where nobody gives it another: that is a source_place. An example is the body of a function, or one function; it
may use all of lockstep, and std's threads, vectors and printing.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from source_text import Report, headers, root_argument  # noqa: E402

PARTS = ("Order", "Errors", "Cost", "Example")
CLASS = re.compile(r"(?:class|struct)\s+(?:alignas\([^)]*\)\s+)?(?:LOCKSTEP_\w+\s+)?(\w+)\s*(?:final\s*)?(:|\{|$)")
COMMENT = re.compile(r"//+ ?(.*)")
NAMESPACE = re.compile(r"namespace detail \{|\}  // namespace detail")
FUNCTION = re.compile(r"(?:template|inline|void|int|double|bool) ?.*[{})>]$")
KEPT_CALL_SITE = re.compile(r"\s+(?:const )?(?:lockstep::)?call_site \w+(?: = \{\w.*)?;")
UMBRELLAS = ("lockstep.hpp", "mpi.hpp", "toolbox.hpp")


def public_headers(root):
    """The headers that users name, in a fixed order."""
    return [p for p in sorted((root / "include" / "lockstep").glob("*.hpp")) if p.name not in UMBRELLAS]


def mpi_headers(root):
    """Those for use inside MPI."""
    return sorted((root / "include" / "lockstep" / "mpi").glob("*.hpp"))


def banner_of(lines):
    """The (number, text) of the comment lines before the first line of code."""
    banner = []
    for number, line in enumerate(lines, 1):
        found = COMMENT.fullmatch(line)
        if not found:
            break
        banner.append((number, found.group(1)))
    return banner


def comment_above(lines, at):
    """The comment lines above line `at` (from 0): over a template's head, and one empty line between comments."""
    found = []
    at -= 1
    while at >= 0 and re.match(r"template <|          |    class = ", lines[at]):
        at -= 1
    while at >= 0:
        comment = COMMENT.fullmatch(lines[at])
        if comment:
            found.append((at + 1, comment.group(1), lines[at].startswith("///")))
        elif lines[at] or not found or not COMMENT.fullmatch(lines[at - 1]):
            break
        at -= 1
    return found[::-1]


def classes_of(lines):
    """(name, line from 0) of each class outside of namespace detail; declarations and specialisations are none."""
    is_detail = False
    for at, line in enumerate(lines):
        if NAMESPACE.match(line):
            is_detail = line.startswith("namespace")
        found = CLASS.match(line)
        if found and not is_detail and not line.endswith(";"):
            yield found.group(1), at


def parts_of(texts):
    return {part for text in texts for part in PARTS if re.match(rf" *{part}\b", text)}


def missing_in(lines):
    """(line, class, what it lacks) for each part that a class of the header lacks."""
    banner = parts_of(text for _, text in banner_of(lines))
    for name, at in classes_of(lines):
        above = comment_above(lines, at)
        docs = [text for _, text, is_doc in above if is_doc]
        if not docs or not re.match(r"[A-Z]", docs[0]) or "." not in " ".join(docs):
            yield at + 1, name, "a sentence above it that says what it does"
        has = banner | parts_of(text for _, text, _ in above)
        for part in PARTS:
            if part not in has:
                yield at + 1, name, f"'{part}'"


def examples_of(lines):
    """(number of the first line, standard, lines of code) of each example in the comments of the header."""
    number = 0
    while number < len(lines):
        found = re.fullmatch(r"(//+) Example(?: for C\+\+(\d+))?", lines[number])
        number += 1
        if not found:
            continue
        code = []
        while number < len(lines) and lines[number].startswith(found.group(1) + "   "):
            code.append(lines[number][len(found.group(1)) + 3:])
            number += 1
        yield number - len(code) + 1, found.group(2) or "11", code


def unit_of(root, standard="11", of=()):
    """All examples for the standard as one unit, each in a function and a namespace of its own; and how many. `of`: of
    headers for use inside MPI, in place of all others."""
    text = [f"#include <lockstep/{name}.hpp>" for name in (("mpi",) if of else ("lockstep", "toolbox"))] + [""]
    text += [f"#include <{name}>" for name in ("chrono", "cstdio", "mutex", "string", "thread", "vector")]
    if standard == "20":
        text.append("#include <stop_token>")
    count = 0
    for header in of or public_headers(root):
        for number, needs, code in examples_of(header.read_text(encoding="utf-8").splitlines()):
            if needs != standard:
                continue
            count += 1
            place = f'#line {number} "{header.name}"'
            is_function = bool(code and FUNCTION.match(code[0]))
            begin, end = ("", "") if is_function else ("void run() {", "}")
            text += [f"namespace example_{count} {{", begin, place, *code, end, "}"]
    return "\n".join(text) + "\n", count


def main(arguments):
    asked = [a for a in arguments if a.startswith("--examples")]
    if asked:
        root = root_argument([a for a in arguments if a not in asked])
        print(unit_of(root, "20" if asked[0].endswith("=20") else "11")[0], end="")
        return 0
    root = root_argument(arguments)
    report = Report(root, "api")
    checked = public_headers(root) + mpi_headers(root)
    for header in checked:
        lines = header.read_text(encoding="utf-8").splitlines()
        for number, name, what in missing_in(lines):
            report.add(header, number, f"class {name} lacks {what}")
        for number, _, code in examples_of(lines):
            if not code:
                report.add(header, number, "an example without code")
    for header in headers(root):
        for number, line in enumerate(header.read_text(encoding="utf-8").splitlines(), 1):
            if KEPT_CALL_SITE.match(line):
                report.add(header, number, "a kept call_site: make it a source_place")
    return report.finish(len(checked))


if __name__ == "__main__":
    sys.exit(main(sys.argv))
