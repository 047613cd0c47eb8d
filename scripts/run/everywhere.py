#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles the library for each system, machine and compiler of everywhere_rows.py, and runs tests on each.

usage: ./do everywhere [ROW...] [--list] [--quick] [--record] [--patience N] [-j N]

Without ROW all rows; a name may have * and ?. What rows need is installed. Programs are in build/everywhere/ROW, with a
log; the table is printed, and written to build/everywhere/results.json. --quick takes rows that need nothing slow, and
of those a few tests. --record writes the rows that were run to docs/maintainers/platforms.json, in place of older ones, and
docs/maintainers/platforms.md from it. The exit status is 1 if anything failed; what is not to be had is said, and fails nothing.
"""

import argparse
import fnmatch
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from everywhere_rows import REFUSED, ROWS  # noqa: E402
from everywhere_work import PLACE, ROOT, make_row, record_of, sources_digest  # noqa: E402

LARGE = {"windows": ("x86_64-w64-mingw32-g++-posix",), "wine": ("wine",)}  # groups, and their programs
HEADER = ("row", "system", "machine", "compiler", "compiled", "tests run", "passed", "failed", "skipped")


def arguments():
    parser = argparse.ArgumentParser(prog="./do everywhere", description=__doc__.split("\n\n")[0])
    parser.add_argument("rows", nargs="*", metavar="ROW", help="which rows; all by default; * and ? are allowed")
    parser.add_argument("--list", action="store_true", help="print the rows, and do nothing")
    parser.add_argument("--quick", action="store_true", help="rows that need nothing slow, and a few tests of each")
    parser.add_argument("--record", action="store_true", help="write docs/maintainers/platforms.json and docs/maintainers/platforms.md")
    parser.add_argument("--patience", type=int, default=1, metavar="N",
                        help="give each program and each compilation N times its limit of time, on a machine with other work")
    parser.add_argument("-j", type=int, default=os.cpu_count(), metavar="N", help="rows at once (%(default)s)")
    options = parser.parse_args()
    if options.j < 1:
        parser.error(f"-j: must be 1 or more, not {options.j}")
    if options.patience < 1:
        parser.error(f"--patience: must be 1 or more, not {options.patience}")
    for name in options.rows:
        if not fnmatch.filter([row.name for row in ROWS], name):
            parser.error(f"no row '{name}'; --list shows them")
    if options.record and options.quick:
        parser.error("--record: a record is of all tests, not of --quick")
    return options


def chosen(options):
    rows = [row for row in ROWS if not options.rows or any(fnmatch.fnmatch(row.name, name) for name in options.rows)]
    if not options.quick:
        return rows
    return [replace(row, compiler=row.quick_compiler or row.compiler) for row in rows if row.quick_parts or options.rows]


def install(rows, is_quick):
    """The groups that rows need; returns what is missing: {group: why}. One after the other, so that one that is not to
    be had keeps no other away. With --quick the large ones are taken only where they are there."""
    missing = {}
    for group in dict.fromkeys(["scripts", "program_headers", *(each for row in rows for each in row.needs)]):
        if is_quick and group in LARGE:
            if not all(map(shutil.which, LARGE[group])):
                missing[group] = "not installed; ./do everywhere without --quick installs it"
            continue
        done = subprocess.run(["bash", "-c", f"source scripts/run/install.sh && need {group}"], cwd=ROOT,
                              capture_output=True, text=True)
        if done.returncode:
            missing[group] = (done.stderr.strip().splitlines() or ["?"])[-1]
    return missing


def totals(record):
    return {kind: sum(part[kind] for part in record["parts"]) for kind in ("passed", "failed", "skipped")}


def is_compiled(record):
    return all(part["compiled"] for part in record["parts"] if part["name"] != REFUSED)


def line_of(record):
    sums = totals(record)
    compiled = "no" if record["unavailable"] else "yes" if is_compiled(record) else "FAILED"
    ran = record["how"] if any(part["was_run"] for part in record["parts"]) else "no"
    return (record["name"], record["system"], record["architecture"], record["compiler"], compiled, ran,
            *(str(sums[kind]) for kind in ("passed", "failed", "skipped")))


def print_table(records):
    lines = [HEADER, *map(line_of, records)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADER))]
    print()
    for line in lines:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())
    for record in records:
        if record["unavailable"]:
            print(f"{record['name']}: not to be had: {record['unavailable']}")
        for part in record["parts"]:
            for failure in part["failures"]:
                print(f"{record['name']}: FAILED {failure}")
            for reason, count in part["reasons"].items():
                print(f"{record['name']}: skipped {count}: {reason}")


def not_yet(row):
    return {**record_of(row), "unavailable": "not run for this record", "date": date.today().isoformat()}


def remember(records):
    """Writes the rows' records in place of older ones, and makes the page."""
    path = ROOT / "docs" / "maintainers" / "platforms.json"
    known = {row["name"]: row for row in json.loads(path.read_text(encoding="utf-8"))["rows"]} if path.exists() else {}
    known.update({record["name"]: {**record, "date": date.today().isoformat()} for record in records})
    kept = [known.get(row.name) or not_yet(row) for row in ROWS]
    lines = ",\n".join(json.dumps(row) for row in kept)  # one for each row
    path.write_text(f'{{"rows": [\n{lines}\n]}}\n', encoding="utf-8")
    subprocess.run([sys.executable, ROOT / "scripts" / "make" / "platforms.py"], check=True)


def main():
    options = arguments()
    rows = [replace(row, limit=row.limit * options.patience, compile_limit=row.compile_limit * options.patience)
            for row in chosen(options)]
    if options.list:
        for row in rows:
            print(f"{row.name:22} {row.system}, {row.architecture}, {row.how}: {', '.join(row.parts)}")
        return 0
    started = time.monotonic()
    PLACE.mkdir(parents=True, exist_ok=True)
    missing = install(rows, options.quick)
    digest = sources_digest()
    done = {}
    with ThreadPoolExecutor(options.j) as pool:
        waiting = {}
        for row in rows:
            lacks = [f"{group}: {missing[group]}" for group in row.needs if group in missing]
            waiting[pool.submit(make_row, row, digest, options.quick, "; ".join(lacks))] = row.name
        for each in as_completed(waiting):
            record = each.result()
            (PLACE / record["name"]).mkdir(exist_ok=True)
            (PLACE / record["name"] / "record.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
            done[record["name"]] = record
            seconds = sum(part["seconds"] for part in record["parts"])
            print(f"{record['name']:22} {' '.join(f'{count} {kind}' for kind, count in totals(record).items())}"
                  f"  {seconds:.0f} s", flush=True)
    records = [done[row.name] for row in rows]
    print_table(records)
    result = {"quick": options.quick, "rows": records}
    (PLACE / "results.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if options.record:
        remember(records)
    sums = [totals(record) for record in records]
    failed = sum(each["failed"] for each in sums)
    print(f"\n{sum(each['passed'] for each in sums)} passed, {failed} failed, "
          f"{sum(each['skipped'] for each in sums)} skipped, {time.monotonic() - started:.0f} s")
    return 1 if failed or not any(each["passed"] for each in sums) else 0


if __name__ == "__main__":
    sys.exit(main())
