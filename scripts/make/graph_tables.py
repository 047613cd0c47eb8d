# SPDX-License-Identifier: MIT
"""Tables of bench/results/*-graph.json for docs/performance.md (pure)."""

from grid_records import aligned, shown_time

OURS, MEASURED, STEPWISE, BY_HAND = "lockstep", "lockstep measured", "lockstep stepwise", "by hand"
DYNAMIC = ("oneTBB", "Taskflow", "libomp", "libgomp")
RUNTIMES = (OURS, MEASURED, STEPWISE, BY_HAND, *DYNAMIC)
EDGES, PLANNING = "Edges", "Making a plan"
EMPTY, LOOPS = "Nodes without work", "A loop with feedback"
NOTES = {
    EDGES: "Nodes without work, 1000 one after the other: the time of an edge, or of a level. *In t1*: lockstep's time over that of one "
           "cache line between the CPUs. Nodes of the chain that crosses are pinned to two members in turns; those of the last row are "
           "free, and each needs both of the level before.",
    EMPTY: "The time of a node.",
    LOOPS: "Two nodes beside each other, then one that decides: the time of a turn, and how many times faster that is than serial calls.",
    "8 threads": "On 2 CPUs 8 threads are a crowd.",
    "Beside a process that burns a CPU": "Two threads. The serial calls run beside that process, too.",
    PLANNING: "The time of making a plan for two members, of a graph that is there.",
}
TELLS_SPEED_UP = "The time of a node, and how many times faster the graph is than serial calls of its nodes, in parentheses."


def median(record):
    return None if record is None or record["failed"] else record["value"]["median"]


def over_best_peer(found):
    """Lockstep's time over that of the fastest dynamic peer, or None."""
    peers = [value for name in DYNAMIC if (value := median(found.get(name))) is not None]
    ours = median(found.get(OURS))
    return ours / min(peers) if peers and ours is not None else None


def cell(record, section):
    if median(record) is None:
        return "-"
    text = shown_time(record["value"]["median"], record["unit"])
    speed_up = record["more"].get("speed_up")
    return text if section in (EDGES, EMPTY, PLANNING) or speed_up is None else f"{text} ({speed_up:.2f})"


def marked(ratio, mark):
    return "-" if ratio is None else f"{ratio:.3f}" + (f" {mark}" if ratio >= 1.0005 else "")


def table(section, rows, mark):
    works = {}
    for row in rows:
        if row["best"]:
            works.setdefault(row["work"], {})[row["runtime"]] = row
    runtimes = [name for name in RUNTIMES if any(name in found for found in works.values())]
    lines = [["", *runtimes] + (["in t1"] if section == EDGES else []) + ([] if section == PLANNING else ["/ best dynamic"])]
    for work, found in works.items():
        line = [work.replace(", beside a ", ", ").removesuffix(" one"), *(cell(found.get(name), section) for name in runtimes)]
        if section == EDGES:
            in_t1 = found[OURS]["in_t1"] if median(found.get(OURS)) is not None else None
            line.append("-" if in_t1 is None else f"{in_t1:.2f}")
        lines.append(line if section == PLANNING else [*line, marked(over_best_peer(found), mark)])
    return aligned(lines)


def outcome(one, mark):
    figure = "no figure" if one["figure"] is None else f"{one['figure']:.3g} {one['unit']}"
    met = {True: "met", False: f"not met {mark}", None: "unclear"}[one["met"]]
    return [one["text"], figure, f"{'at least' if one['at_least'] else 'at most'} {one['limit']:g}", met]


def sections(result, mark):
    """Markdown parts."""
    t1 = sorted(row["t1_ns"] for row in result["rows"] if row.get("t1_ns"))
    parts = ["Medians; each runtime with the best of its settings that were tried, 1 thread among them where nodes take 0.1 µs or less. "
             f"*{OURS}*: the plan as it is made by default. *{MEASURED}*: made anew with the times of the nodes. *{STEPWISE}*: the same "
             f"with a `run()` for each iteration. *{BY_HAND}*: `publish()` and `await_step()`, or events. oneTBB, Taskflow, and the OpenMP "
             f"runtimes decide while they run who does what. {mark}: lockstep is slower than the fastest of those."
             + (f" A cache line took {t1[len(t1) // 2]:.0f} ns one way." if t1 else "")]
    for section in dict.fromkeys(row["section"] for row in result["rows"]):
        rows = [row for row in result["rows"] if row["section"] == section]
        parts += [f"### {section}", NOTES.get(section, TELLS_SPEED_UP), table(section, rows, mark)]
    return [*parts, "### Targets of graphs and outcomes", aligned([["", "figure", "target", ""], *(outcome(one, mark) for one in result["verdict"])])]
