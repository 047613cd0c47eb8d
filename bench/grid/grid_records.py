# SPDX-License-Identifier: MIT
"""What the times of a cell say, and tables of them (pure)."""

import math
import statistics


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1 if share > 0 else 0)]


def rounded(value, digits=4):
    """For the record: noise has no more digits."""
    if value is None or not math.isfinite(value):
        return None
    return 0.0 if value == 0 else float(f"{value:.{digits}g}")


def flat(samples):
    return [time for sample in samples for time in sample]


def summarize(setting, cell, peer, samples, serial, cpus):
    """samples: lists of times of loops in nanoseconds; serial: lists of times of the serial loop, one for each of these. A
    sample is compared with its own list: the clock of the machine may be another one when the next is taken."""
    record = {"setting": setting.name, "cell": cell.title, "kind": cell.kind, "size": cell.size,
              "pause_us": cell.pause_us, "peer": peer.label, "failed": not samples}
    if not samples:
        return record
    medians = [statistics.median(sample) for sample in samples]
    ratios = [median / statistics.median(own) for median, own in zip(medians, serial)]
    loops, serial = flat(samples), flat(serial)
    alone = statistics.median(serial)
    figures = {"median": statistics.median(ratios), "min": min(ratios), "max": max(ratios)}
    return record | {
        "value": {name: rounded(value) for name, value in figures.items()},
        "p95_ratio": rounded(quantile(loops, 0.95) / alone),
        "mean_ratio": rounded(statistics.fmean(loops) / statistics.fmean(serial)),
        "cpus": rounded(statistics.median(cpus), 3),
        "loop_ns": rounded(statistics.median(medians)),
        "p95_ns": rounded(quantile(loops, 0.95)),
        "p99_ns": rounded(quantile(loops, 0.99)),
        "mean_ns": rounded(statistics.fmean(loops)),
        "serial_ns": rounded(alone),
        "serial_p95_ns": rounded(quantile(serial, 0.95)),
        "serial_mean_ns": rounded(statistics.fmean(serial)),
        "samples": len(samples),
        "loops": len(loops),
    }


def of_peer(records, label):
    return [r for r in records if r["peer"] == label and not r["failed"]]


def by_cell(records):
    """{(setting, cell): {peer: record}}, without what failed."""
    found = {}
    for record in records:
        if not record["failed"]:
            found.setdefault((record["setting"], record["cell"]), {})[record["peer"]] = record
    return found


def shown_time(value, unit="ns", missing="-", has_parts_of_ns=True):
    """With three digits, in the unit that fits; what is given in ms stays in it."""
    if value is None:
        return missing
    names = ("ns", "µs", "ms") if unit == "ns" else ("ms",)
    for name in names:
        if abs(value) < 995 or name == names[-1]:
            is_whole = abs(value) >= 99.5 or (name == "ns" and not has_parts_of_ns)
            return f"{value:.{0 if is_whole else 1 if abs(value) >= 9.95 else 2}f} {name}"
        value /= 1000
    raise AssertionError


def aligned(lines):
    """A Markdown table; the first column to the left, the others to the right."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    def row(line):
        return "| " + " | ".join(f"{cell:{'>' if i else '<'}{width}}"
                                 for i, (cell, width) in enumerate(zip(line, widths))) + " |"
    rule = "|" + "|".join("-" * (width + 1) + (":" if i else "-") for i, width in enumerate(widths)) + "|"
    return "\n".join([row(lines[0]), rule, *map(row, lines[1:])])


def table(records, show):
    """A line for each cell, a column for each peer."""
    peers = list(dict.fromkeys(r["peer"] for r in records))
    lines = [["cell", *peers]]
    for cell in dict.fromkeys(r["cell"] for r in records):
        found = {r["peer"]: r for r in records if r["cell"] == cell}
        lines.append([cell] + ["-" if p not in found else "failed" if found[p]["failed"] else show(found[p])
                               for p in peers])
    return aligned(lines)
