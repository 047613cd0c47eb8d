# SPDX-License-Identifier: MIT
"""Tables of bench/results/*-team.json for docs/performance.md and README.md (pure)."""

import functools
import re

from grid_records import aligned, shown_time

OURS = "lockstep"
RUNTIMES = ("lockstep", "ForkUnion", "libomp", "libgomp", "oneTBB", "std::barrier", "std::thread", "serial")
OVERHEADS, EMPTY, IDLE = "Overheads, 2 threads", "Empty fork/join and barrier", "First fork/join after idle"
BESIDE = "Beside a process that burns a CPU"
# An empty fork of oneTBB is no fork of all threads.
NO_MATCH = {EMPTY: ("oneTBB",), "Starts": ("oneTBB",), IDLE: ("oneTBB",), BESIDE: ("oneTBB",)}
# Here our own time is also given in t1.
IN_T1 = (OVERHEADS, EMPTY)
SCHEDULE = re.compile(r" (static|dynamic|guided)\b")
# Where the fastest setting burns CPUs meanwhile, each setting has a column.
IDLE_SETTINGS = ("lockstep", "ForkUnion pause", "ForkUnion yield", "libomp", "libomp blocktime 0", "libgomp", "libgomp passive",
                 "oneTBB")
NOTES = {
    OVERHEADS: "What a construct costs beyond the work inside it, by EPCC's method. `atomic` is `std::atomic` in lockstep's column. "
               "Each thread has 128 iterations of a loop with a schedule, 13 µs of work, and most of the differences between "
               "schedules are noise of that work.",
    EMPTY: "More threads than CPUs are a crowd. An empty fork of oneTBB takes no part in the comparison, because its caller "
           "does the work of threads that are late.",
    "Break-even of 2 threads": "The smallest number of elements or rows for which two threads are faster than one.",
    "Programs, a step": "Two threads, if a row names no other number. ForkUnion's and oneTBB's threads cannot meet inside a region, so there each loop is a fork.",
    "ForkUnion's benchmarks, a step": "Two threads. ForkUnion's own two benchmarks: 512 bodies in single precision, and a round of connected "
                  "components on 4 and on 64 R-MAT communities (27 million edges). static: a block for each thread. dynamic: one body "
                  "or vertex for each claim.",
    IDLE: "Each setting has a column of its own. In parentheses: the CPUs that the idle threads used, counted from 5 ms after the "
          "last region.",
    "Starts": "From the call until the last member starts. oneTBB takes no part in the comparison, as above.",
    BESIDE: "Two threads. The other process is bound to the first CPU, or free to move. oneTBB takes no part in the comparison, as "
            "above. What falls short, and why: [decision 0011](maintainers/decisions/0011-where-the-team-falls-short.md).",
}
# The rows of README.md: (work, its name there).
SUMMARY = (("fork/join of 2", "fork/join, 2 threads"), ("barrier of 2", "barrier, 2 threads"),
           ("fork/join of 16", "fork/join, 16 threads on 2 CPUs"), ("barrier of 16", "barrier, 16 threads on 2 CPUs"),
           ("fork/join beside a free one", "fork/join, 2 threads, beside a busy process"),
           ("burst after 10 ms", "first fork/join after 10 ms of idling"))
# The first rows of docs/performance.md.
GLANCE = (("fork/join of 2", "fork/join, 2 threads"), ("barrier of 2", "barrier, 2 threads"),
          ("fork/join beside a free one", "fork/join, 2 threads, beside a busy process"))


def whole_machine(result):
    """The rows of a further machine: a thread on each of its CPUs."""
    cpus = result["machine"]["usable_cpus"]
    return [(f"{work} of {cpus}", f"{work}, {cpus} threads on {cpus} CPUs") for work in ("fork/join", "barrier")]


SUMMARY_RUNTIMES = ("lockstep", "ForkUnion", "libomp", "libgomp", "std::barrier")


def shown(value, unit):
    if value is not None and unit != "ns":
        return f"{value:.0f}"
    return shown_time(value, missing="never", has_parts_of_ns=False)


def median(row):
    return None if row["failed"] else row["value"]["median"]


def best_peer(section, found):
    """The fastest other runtime and its time, or nothing."""
    peers = {runtime: median(row) for runtime, row in found.items()
             if runtime in RUNTIMES and runtime not in (OURS, "serial", *NO_MATCH.get(section, ())) and median(row) is not None}
    name = min(peers, key=peers.get, default=None)
    return name, peers.get(name)


def over_best(section, found):
    """Our time over that of the best other runtime, or None."""
    ours, best = median(found[OURS]) if OURS in found else None, best_peer(section, found)[1]
    return max(ours, 0) / best if ours is not None and best is not None and best > 0 else None


def beside_best(title, section, found, mark):
    """A line: our time, that of the best peer with its name, the ratio."""
    name, best = best_peer(section, found)
    unit = found[OURS]["unit"]
    return [title, shown(median(found[OURS]), unit), f"{shown(best, unit)} ({name})", verdict(over_best(section, found), mark)]


def glance(result, work, title, mark):
    rows = [row for row in result["rows"] if row["work"] == work and row["best"]]
    found = {row["runtime"]: row for row in rows}
    return beside_best(title, rows[0]["section"], found, mark) if OURS in found and len(found) > 1 else None


def lost(result, mark):
    """What the best peer does at least 1.05 times as fast, the worst first."""
    works = {}
    for row in result["rows"]:
        if row["best"] and not SCHEDULE.search(row["work"]):
            works.setdefault((row["section"], row["work"]), {})[row["runtime"]] = row
    names = (("overhead ", "overhead of "), ("break-even ", "break-even of "), ("burst after", "first fork/join after a pause of"),
             (" beside a free one", " beside a busy process"), (" beside a bound one", " beside a bound busy process"))
    lines = [(ratio, beside_best(functools.reduce(lambda work, name: work.replace(*name), names, work), section, found, mark))
             for (section, work), found in works.items() if (ratio := over_best(section, found)) is not None and ratio >= 1.05]
    lines.sort(key=lambda line: -line[0])
    return aligned([["", OURS, "best peer", "lockstep / best peer"], *(line for _, line in lines)]) if lines else ""


def table(section, rows, mark):
    best = {}
    for row in rows:
        if row["best"]:
            best.setdefault(row["work"], {})[row["runtime"]] = row
    runtimes = [name for name in RUNTIMES if any(name in found for found in best.values())]
    lines = [["", *runtimes, "lockstep / best peer"]]
    for work, found in best.items():
        lines.append([work.removeprefix("overhead ").removeprefix("break-even ")] + times(found, runtimes)
                     + [verdict(over_best(section, found), mark)])
    if section in IN_T1:
        column = lines[0].index(OURS) + 1
        for line, found in zip(lines, [None, *best.values()]):
            line.insert(column, "in t1" if found is None else in_t1(found.get(OURS)))
    return aligned(lines)


def times(found, runtimes):
    return [shown(median(found[name]), found[name]["unit"]) if name in found else "-" for name in runtimes]


def verdict(ratio, mark):
    return "-" if ratio is None else f"{ratio:.2f}" + (f" {mark}" if ratio >= 1.005 else "")


def in_t1(row):
    """A crowd waits for CPUs, not for cache lines, and what a schedule costs is more noise than lines."""
    is_known = row and row.get("threads") == 2 and row.get("in_t1") is not None
    return f"{row['in_t1']:.2f}" if is_known and not SCHEDULE.search(row["work"]) else "-"


def summary(result, others, mark):
    """The table of README.md. oneTBB has no column: most of these rows compare it with nobody."""
    lines = [["", *SUMMARY_RUNTIMES, "lockstep / best"]]
    for result, work, title in [(result, *row) for row in SUMMARY] + [(one, *row) for one in others for row in whole_machine(one)]:
        found = {row["runtime"]: row for row in result["rows"] if row["work"] == work and row["best"]}
        compared = {name: found[name] for name in SUMMARY_RUNTIMES if name in found}
        lines.append([title] + times(compared, SUMMARY_RUNTIMES) + [verdict(over_best("", compared), mark)])
    return aligned(lines)


def idle_table(rows):
    labels = [label for label in IDLE_SETTINGS if any(r["variant"] == label for r in rows)]
    lines = [["", *labels]]
    for work in dict.fromkeys(r["work"] for r in rows):
        found = {r["variant"]: r for r in rows if r["work"] == work and not r["failed"]}
        lines.append([work] + [f"{shown(median(found[name]), 'ns')} ({(found[name]['cpus'] or 0):.2f})" if name in found else "-"
                               for name in labels])
    return aligned(lines)


def sections(result, mark):
    """Markdown parts."""
    t1 = sorted(row["t1_ns"] for row in result["rows"] if row.get("t1_ns"))
    parts = ["Medians; each runtime with the best of its settings that were tried. "
             f"{mark}: lockstep is slower than the best peer."
             + (f" *in t1*: lockstep's time over that of one cache line between the CPUs, which took {t1[len(t1) // 2]:.0f} ns."
                if t1 else "")]
    for section in dict.fromkeys(row["section"] for row in result["rows"]):
        rows = [row for row in result["rows"] if row["section"] == section]
        parts += [f"### {section}", NOTES.get(section, ""), idle_table(rows) if section == IDLE else table(section, rows, mark)]
    return parts
