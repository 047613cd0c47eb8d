#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes docs/maintainers/platforms.md from docs/maintainers/platforms.json, which ./do everywhere --record writes: no figure is typed by hand.

usage: platforms.py [--check] [tree]

With --check it writes nothing. It says what is stale: a page that is not what it would write, or a record that has other
rows than scripts/run/everywhere_rows.py.
"""

import json
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[1] / "run")]
from everywhere_rows import REFUSED, ROWS  # noqa: E402
from source_text import Report, root_argument  # noqa: E402

RECORD, PAGE = "docs/maintainers/platforms.json", "docs/maintainers/platforms.md"
NOT_RUN = "not run"

TEXT = """\
<!-- Made by scripts/make/platforms.py from platforms.json: ./do everywhere --record. -->
# Platforms

Where lockstep is compiled, and where its tests are run. `./do everywhere` makes this table; what a row needs, it
installs. {date} The record is of the library of that day: some tests that it names are gone.

**Run** says how programs of that system come to run here: natively; by QEMU, which emulates the processor of another
machine and passes its system calls on to Linux; by Wine, which is Windows' interface on Linux; by Node or headless
Chromium. *Not run* means compiled and linked, and no more. QEMU on an x86-64 machine checks generated code, system
calls and the order of bytes. It does not show weak memory order: its threads are ordered as x86-64's are. That is left to
the explorer of schedules ([tests](tests.md)).

{tables}
## What is run

- **tests**: GoogleTest programs, one source in a process of its own: the contract suites (notify and wait, locks,
  barriers, opening), events, barriers and mutexes, the team and its members' synchronisation, partition of loops,
  reductions, graphs and plans. On Linux also what asks the system beneath: futex, fences, threads and CPUs.
- **scripted**: the wait engine on a clock and a sleep that are the test's.
- **jacobi**: [jacobi](../../examples/jacobi) on a system of 576 unknowns, serially and on teams of 1 to 4 members. The
  bits of all answers have to be those of x86-64 Linux.
- **examples**: numbered [examples](../../examples), their output compared.
- **standards**: all headers together, without a warning, and a program that uses them, run; for C++11, 14, 17, 20 and 23.
- **page**: [a page](../../examples/browser) that runs jacobi and a ring of threads on a `SharedArrayBuffer`, in Chromium, and
  the same page from a server without the headers that it needs: it says so.
- **refused**: what cannot work is refused by the compiler, with a message that names the remedy.
- **link**: the programs of *tests*, *jacobi* and an example, compiled and linked.
- **openmp**: the runtime for [OpenMP programs](../openmp.md) as `libomp.dylib`, compiled and linked; a program that names all
  that LLVM's runtime exports, and programs of Clang, linked with it.

## What is left out

{left_out}
"""


def totals(row):
    return {kind: sum(part[kind] for part in row["parts"]) for kind in ("passed", "failed", "skipped")}


def run_of(row):
    if row["unavailable"]:
        return "not compiled here"
    return row["how"] if any(part["was_run"] for part in row["parts"]) else NOT_RUN


def compiled(row):
    if row["unavailable"]:
        return "no"
    parts = [part for part in row["parts"] if part["name"] != REFUSED]
    if not all(part["compiled"] for part in parts):
        return "**fails**"
    if len(parts) == len(row["parts"]):
        return "yes"
    is_refused = all(part["passed"] and not part["failed"] for part in row["parts"] if part["name"] == REFUSED)
    return "yes; refused what it should" if is_refused else "yes; **does not refuse** what it should"


def table(rows):
    lines = ["| Row | System | Machine | Compiler | Compiled | Run | Parts | Passed | Failed | Skipped |",
             "|---|---|---|---|---|---|---|---:|---:|---:|"]
    for row in rows:
        sums = totals(row)
        is_counted = any(sums.values())
        counts = [str(n) if is_counted else "" for n in sums.values()]
        parts = ", ".join(part["name"] for part in row["parts"])
        lines.append("| " + " | ".join([row["name"], row["system"], row["architecture"], row["compiler"], compiled(row), run_of(row),
                                        parts, *counts]) + " |")
    return "\n".join(lines) + "\n"


def left_out(record):
    rows_of = {}  # what is said: of which rows
    for row in record["rows"]:
        where = f"`{row['name']}`"
        if row["unavailable"]:
            rows_of.setdefault(f"not to be had here: {row['unavailable']}", []).append(where)
        if row["remark"]:
            rows_of.setdefault(row["remark"], []).append(where)
        if row["left_out"]:
            rows_of.setdefault(f"not asked to run: {row['left_out']}", []).append(where)
        for part in row["parts"]:
            for failure in part["failures"]:
                rows_of.setdefault(f"**failed**: {failure}", []).append(where)
            for reason, count in part["reasons"].items():
                rows_of.setdefault(f"{part['name']} skipped, because: {reason}", []).append(f"{where} {count}")
    return "\n".join(f"- {text}: {', '.join(rows)}." for text, rows in rows_of.items()) or "Nothing."


def page(record):
    is_compiler = {row.name: row.parts == ("standards",) for row in ROWS}
    systems = [row for row in record["rows"] if not is_compiler.get(row["name"])]
    compilers = [row for row in record["rows"] if is_compiler.get(row["name"])]
    tables = f"## Systems and machines\n\n{table(systems)}\n## Compilers of Linux on x86-64\n\n{table(compilers)}"
    dates = sorted({row["date"] for row in record["rows"]})
    date = f"Last run on {dates[-1]}." if len(dates) == 1 else f"Rows were last run from {dates[0]} to {dates[-1]}."
    return TEXT.format(date=date, tables=tables, left_out=left_out(record))


def main(argv):
    is_check = "--check" in argv
    root = root_argument([each for each in argv if each != "--check"])
    report = Report(root, "platforms")
    record = json.loads((root / RECORD).read_text(encoding="utf-8"))
    listed = [(row.name, row.system, row.architecture, row.how, list(row.parts)) for row in ROWS]
    recorded = [(row["name"], row["system"], row["architecture"], row["how"],
                 [part["name"] for part in row["parts"]] or None) for row in record["rows"]]
    for row in listed:
        if row not in recorded and (*row[:4], None) not in recorded:
            report.add(root / RECORD, 1, f"the row '{row[0]}' is missing or another one: ./do everywhere --record")
    for row in recorded:
        if row[0] not in [each[0] for each in listed]:
            report.add(root / RECORD, 1, f"there is no row '{row[0]}' any more: ./do everywhere --record")
    text = page(record)
    if not is_check:
        (root / PAGE).write_text(text, encoding="utf-8")
    elif not (root / PAGE).is_file() or (root / PAGE).read_text(encoding="utf-8") != text:
        report.add(root / PAGE, 1, "is not what scripts/make/platforms.py makes of platforms.json")
    return report.finish(2)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
