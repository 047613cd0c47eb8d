# SPDX-License-Identifier: MIT
"""Tables of bench/results/*-team.json for docs/performance.md (pure)."""

from grid_records import aligned

OURS = "lockstep"
RUNTIMES = ("lockstep", "ForkUnion", "libomp", "libgomp", "oneTBB", "std::barrier", "std::thread", "serial")
# An empty fork of oneTBB is no fork of all threads.
NO_MATCH = {"Empty fork/join and barrier": ("oneTBB",), "Starts": ("oneTBB",), "First fork/join after idle": ("oneTBB",)}
# Where the fastest setting burns CPUs meanwhile, each setting has a column.
IDLE = "First fork/join after idle"
IDLE_SETTINGS = ("lockstep", "ForkUnion pause", "ForkUnion yield", "libomp", "libomp blocktime 0", "libgomp", "libgomp passive",
                 "oneTBB")


def shown(value, unit):
    if value is None:
        return "never"
    if unit != "ns":
        return f"{value:.0f}"
    for limit, divisor, name in ((995, 1, "ns"), (995e3, 1e3, "µs"), (float("inf"), 1e6, "ms")):
        if abs(value) < limit:
            scaled = value / divisor
            return f"{scaled:.{0 if abs(scaled) >= 99.5 or divisor == 1 else 1 if abs(scaled) >= 9.95 else 2}f} {name}"
    raise AssertionError


def median(row):
    return None if row["failed"] else row["value"]["median"]


def over_best(section, found):
    """Our time over that of the best other runtime, or None."""
    ours = median(found[OURS]) if OURS in found else None
    peers = [median(row) for runtime, row in found.items()
             if runtime in RUNTIMES and runtime not in (OURS, "serial", *NO_MATCH.get(section, ()))]
    peers = [value for value in peers if value is not None]
    return max(ours, 0) / min(peers) if ours is not None and peers and min(peers) > 0 else None


def table(section, rows, mark):
    best = {}
    for row in rows:
        if row["best"]:
            best.setdefault(row["work"], {})[row["runtime"]] = row
    runtimes = [name for name in RUNTIMES if any(name in found for found in best.values())]
    lines = [["", *runtimes, "lockstep / best peer"]]
    for work, found in best.items():
        ratio = over_best(section, found)
        lines.append([work] + [shown(median(found[name]), found[name]["unit"]) if name in found else "-" for name in runtimes]
                     + ["-" if ratio is None else f"{ratio:.2f}" + (f" {mark}" if ratio >= 1.005 else "")])
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
    parts = [f"The best setting of each runtime, medians; {mark}: slower than the best peer. An empty fork of oneTBB is compared with "
             "nobody's, because its caller does what other threads are late for."]
    for section in dict.fromkeys(row["section"] for row in result["rows"]):
        rows = [row for row in result["rows"] if row["section"] == section]
        parts.append(f"### {section}")
        if section == IDLE:
            parts += ["Each setting by itself, and in brackets the CPUs used while idle.", idle_table(rows)]
        else:
            parts.append(table(section, rows, mark))
    return parts
