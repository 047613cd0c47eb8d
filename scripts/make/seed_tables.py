# SPDX-License-Identifier: MIT
"""Tables for the pages of docs/maintainers/seeds, from bench/results/*-{primitives,ring,objects,team}.json (pure).

The published column of a table has the figures of the seed, measured on its author's machine: they are cited, and not
compared with ours.
"""

from grid_records import aligned, shown_time
from make import team_tables

PROGRAMS = ("primitives", "ring", "objects")
OURS = "lockstep-default"
# Microseconds a hop or a round in seed 000, on a Mac mini (M1).
PUBLISHED_000 = {("cyclic", 2): "1.1", ("cyclic", 3): "1.5", ("cyclic", 5): "1.4", ("cyclic", 10): "1.1", ("cyclic", 100): "1.4",
                 ("parallel", 4): "5.2", ("parallel", 16): "27", ("parallel", 64): "112",
                 ("sync", 4): "9.1", ("sync", 16): "36", ("sync", 64): "142"}
EXPERIMENTS_000 = {"cyclic": "a hop in a ring of {}", "parallel": "{} workers: wake all, wait for all",
                   "sync": "the same, and meet in the middle: {}"}
# Nanoseconds a hop in seed 001, on a Core i7-4771: condition variable, atomic, atomic with release.
PUBLISHED_001 = {"2": "4 080, 59, 46", "3": "3 490, 66, 53", "4": "3 040, 69, 54", "5": "3 150, 72, 56", "6": "3 110, 75, 58",
                 "7": "3 220, 77, 59", "8": "5 080, 82, 60"}
PLACES_001 = {"two-cpus": "on two CPUs", "one-cpu": "on one CPU", "free": ""}
OBJECTS_004 = {"mutex": "lock and unlock", "condition": "a chain of broadcasts", "barrier": "barrier"}


def about(result):
    machine = result["machine"]
    return (f"{machine['cpu']}, {machine['usable_cpus']} CPUs, {machine['kernel']}; {machine['compiler']}, `{machine['flags']}`; "
            f"lockstep {machine['lockstep']}; {result['samples']} samples of each row, medians. Measured on {result['date']} by "
            f"`{result['command']}`.")


def time_of(nanoseconds):
    return shown_time(nanoseconds, missing="-", has_parts_of_ns=False)


def ratio_of(ours, peers, mark):
    """Ours over the best of the others."""
    peers = [value for value in peers if value is not None and value > 0]
    if ours is None or not peers:
        return "-"
    ratio = ours / min(peers)
    return f"{ratio:.{2 if ratio >= 0.095 else 3}f}" + (f" {mark}" if ratio >= 1.005 else "")


def medians(result, group, contenders):
    """Of the rows of a group; None for those that are not there."""
    rows = {row["name"]: row["value"]["median"] for row in result["rows"]}
    return [rows.get(f"{group}/{contender}") for contender in contenders]


def groups(result, kind=""):
    return list(dict.fromkeys(group for row in result["rows"] for group, _, _ in [row["name"].rpartition("/")]
                              if group.startswith(kind)))


def compared(title, result, group, peers, ours, mark, published=()):
    """A line: what is published, the peers, ours, and ours over the best peer."""
    [own], others = medians(result, group, [ours]), medians(result, group, peers)
    return [title, *published, *map(time_of, others), time_of(own), ratio_of(own, others, mark)]


def primitives(result, mark):
    """A ring's hop; a round of the others."""
    lines = [["", "seed 000, M1", "the original here", "threads made anew", "std", "lockstep", "lockstep / best"]]
    for (kind, threads), published in PUBLISHED_000.items():
        lines.append(compared(EXPERIMENTS_000[kind].format(threads), result, f"{kind}/{threads}", ("original", "naive", "std"), OURS,
                              mark, [f"{published} µs"]))
    return about(result) + "\n\n" + aligned(lines)


def ring(result, mark):
    lines = [["hop in a ring", "seed 001, ns", "condition variable", "atomic, seq_cst", "atomic, release", "semaphore", "lockstep::event",
              "lockstep / best"]]
    for group in groups(result, "hop/"):
        _, threads, place = group.split("/")
        published = PUBLISHED_001.get(threads, "-") if place == "free" else "-"
        lines.append(compared(f"{threads} threads {PLACES_001[place]}".strip(), result, group,
                              ("condition", "seq_cst", "release", "semaphore"), "lockstep", mark, [published]))
    return about(result) + "\n\n" + aligned(lines)


def slack(result, _):
    """How many additions a waiting thread does meanwhile."""
    rows = {row["name"]: row["value"] for row in result["rows"]}
    lines = [["a waiter meanwhile does, of 2 threads", "atomic, seq_cst", "atomic, release", "lockstep::event::try_wait"]]
    for place, title in PLACES_001.items():
        found = [rows.get(f"slack/2/{place}/{name}") for name in ("seq_cst", "release", "lockstep-try_wait")]
        if all(found):
            lines.append([title or "wherever the system puts them"]
                         + [f"{value['median']:.0f} additions (± {value['stddev']:.0f})" for value in found])
    return aligned(lines)


def objects(result, mark):
    named = {row["name"].rpartition("/")[2] for row in result["rows"]}
    libraries = [name for name in ("pthread", "std", "abseil", "nsync", "boost") if name in named]
    lines = [["", *libraries, "lockstep", "lockstep / best"]]
    for group in groups(result):
        kind, threads = group.split("/")
        title = f"{OBJECTS_004[kind]}, {threads} thread{'s' if threads != '1' else ''}"
        lines.append(compared(title, result, group, libraries, OURS, mark))
    return about(result) + "\n\n" + aligned(lines)


def starts(team, machine, mark):
    """How soon the last of two threads begins, and from which size on two threads pay; each with the machine before it."""
    parts = []
    for section in ("Starts", "Break-even of 2 threads"):
        rows = [row for row in team["rows"] if row["section"] == section]
        if rows:
            parts.append(machine + "\n\n" + team_tables.table(section, rows, mark))
    return parts or ["*Not measured yet.*", "*Not measured yet.*"]


def blocks(programs, mark):
    """{name: text} for the pages, of one machine's results."""
    made = {"seed-000": ("primitives", primitives), "seed-001": ("ring", ring), "seed-001-slack": ("ring", slack),
            "seed-004": ("objects", objects)}
    return {name: table(programs[program], mark) for name, (program, table) in made.items() if program in programs}


NAMES = ("seed-000", "seed-001", "seed-001-slack", "seed-002-starts", "seed-002-sizes", "seed-004")
