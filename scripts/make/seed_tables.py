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


def by_name(result):
    return {row["name"]: row for row in result["rows"]}


def primitives(result, mark):
    """A ring's hop; a round of the others."""
    rows, lines = by_name(result), [["", "seed 000, M1", "the original here", "threads made anew", "std", "lockstep",
                                     "lockstep / best"]]
    for (kind, threads), published in PUBLISHED_000.items():
        def cost(mechanism):
            row = rows.get(f"{kind}/{threads}/{mechanism}")
            if not row:
                return None
            return 1000 * row["round_trip"]["wall_us"] / (threads if kind == "cyclic" else 1)
        ours, peers = cost(OURS), [cost("original"), cost("naive"), cost("std")]
        lines.append([EXPERIMENTS_000[kind].format(threads), f"{published} µs", *map(time_of, peers), time_of(ours),
                      ratio_of(ours, peers, mark)])
    return about(result) + "\n\n" + aligned(lines)


def ring(result, mark):
    rows = by_name(result)
    lines = [["hop in a ring", "seed 001, ns", "condition variable", "atomic, seq_cst", "atomic, release", "semaphore", "lockstep::event",
              "lockstep / best"]]
    cases = list(dict.fromkeys(tuple(name.split("/")[1:3]) for name in rows if name.startswith("hop/")))
    for threads, place in cases:
        def cost(mechanism):
            row = rows.get(f"hop/{threads}/{place}/{mechanism}")
            return row["value"]["median"] if row and row["value"]["median"] else None
        ours = cost("lockstep")
        peers = [cost(name) for name in ("condition", "seq_cst", "release", "semaphore")]
        published = PUBLISHED_001.get(threads, "-") if place == "free" else "-"
        lines.append([f"{threads} threads {PLACES_001[place]}".strip(), published, *map(time_of, peers), time_of(ours),
                      ratio_of(ours, peers, mark)])
    return about(result) + "\n\n" + aligned(lines)


def slack(result, _):
    """How many additions a waiting thread does meanwhile."""
    rows = by_name(result)
    lines = [["a waiter meanwhile does, of 2 threads", "atomic, seq_cst", "atomic, release", "lockstep::event::try_wait"]]
    for place, title in PLACES_001.items():
        found = [rows.get(f"slack/2/{place}/{name}") for name in ("seq_cst", "release", "lockstep-try_wait")]
        if all(found):
            lines.append([title or "wherever the system puts them"]
                         + [f"{row['value']['median']:.0f} additions (± {row['value']['stddev']:.0f})" for row in found])
    return aligned(lines)


def objects(result, mark):
    rows = by_name(result)
    libraries = [name for name in ("pthread", "std", "abseil", "nsync", "boost") if any(n.endswith("/" + name) for n in rows)]
    lines = [["", *libraries, "lockstep", "lockstep / best"]]
    for kind, threads in dict.fromkeys(tuple(name.split("/")[:2]) for name in rows):
        def cost(library):
            row = rows.get(f"{kind}/{threads}/{library}")
            return 1000 * row["unit_us"]["median"] if row and row["unit_us"] else None
        ours, peers = cost(OURS), [cost(name) for name in libraries]
        lines.append([f"{OBJECTS_004[kind]}, {threads} thread{'s' if threads != '1' else ''}", *map(time_of, peers),
                      time_of(ours), ratio_of(ours, peers, mark)])
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
