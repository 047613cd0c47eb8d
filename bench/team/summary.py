# SPDX-License-Identifier: MIT
"""What the samples of a row say, which variant of a runtime is the best, and the table (pure)."""

import math
import statistics
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "grid"))
from grid_records import aligned  # noqa: E402

# Two probes that differ by more tell that the CPUs moved in between.
MOST_DRIFT = 1.25
OURS = "lockstep"


def is_stable(sample):
    before, after = sample.get("t1_before"), sample.get("t1_after")
    return bool(before and after) and max(before, after) < MOST_DRIFT * min(before, after)


def spread(values):
    """Median, minimum and maximum; None counts as infinite: a break-even that was never reached."""
    ordered = sorted(math.inf if value is None else value for value in values)
    figures = {"median": statistics.median_low(ordered) if math.inf in ordered else statistics.median(ordered),
               "min": ordered[0], "max": ordered[-1]}
    return {name: value if math.isfinite(value) else None for name, value in figures.items()}


def summarize(row, samples):
    """The record of a row; without samples one that says so."""
    work, variant = row.work, row.variant
    record = {"name": row.name(), "section": work.section, "work": work.title,
              "runtime": variant.runtime, "variant": variant.label, "runner": variant.runner,
              "peer": variant.peer, "environment": dict(variant.environment),
              "threads": work.threads, "size": work.size, "competitor": work.competitor,
              "every_setting": work.every_setting}
    if not samples:
        return record | {"failed": True}
    probed = [s for s in samples if is_stable(s)]
    in_t1 = [s["value"] / ((s["t1_before"] + s["t1_after"]) / 2) for s in probed
             if s["unit"] == "ns" and s["value"] is not None]
    more = {name: spread([s["more"][name] for s in samples if name in s["more"]])["median"]
            for name in sorted({name for s in samples for name in s.get("more", {})})}
    return record | {
        "failed": False,
        "unit": samples[0]["unit"],
        "value": spread([s["value"] for s in samples]),
        "cpus": spread([s["cpus"] for s in samples])["median"],
        "in_t1": statistics.median(in_t1) if in_t1 else None,
        "t1_ns": statistics.median((s["t1_before"] + s["t1_after"]) / 2 for s in probed) if probed else None,
        "stable_samples": len(probed),
        "more": more,
        "samples": samples,
    }


def cost(record):
    """For comparison: less is better, failures and what never wins are worst."""
    if record["failed"] or record["value"]["median"] is None:
        return math.inf
    return record["value"]["median"]


def mark_best(records):
    """record['best']: the best variant of its runtime in its work, by median."""
    chosen = {}
    for record in records:
        key = (record["work"], record["runtime"])
        if key not in chosen or cost(record) < cost(chosen[key]):
            chosen[key] = record
    for record in records:
        record["best"] = chosen[(record["work"], record["runtime"])] is record


def add_ratios(records):
    """record['lockstep_over_peer']: our time over this one's, where both have a positive one."""
    ours = {r["work"]: cost(r) for r in records if r["runtime"] == OURS and r["best"]}
    for record in records:
        our, peer = ours.get(record["work"], math.inf), cost(record)
        is_comparable = record["runtime"] != OURS and math.isfinite(our) and math.isfinite(peer)
        record["lockstep_over_peer"] = our / peer if is_comparable and our > 0 and peer > 0 else None


def four_digits(value):
    if value is None:
        return "-"
    digits = 3 - math.floor(math.log10(abs(value))) if value != 0 else 3
    return f"{value:.{min(max(digits, 0), 3)}f}"


def two_places(value):
    return "-" if value is None else f"{value:.2f}"


NOTES = {"skew_ns": "first to last {} ns", "cpu_ns": "CPU time {} ns"}


def notes_of(record, samples):
    notes = [text.format(four_digits(record["more"][name])) for name, text in NOTES.items()
             if name in record["more"]]
    unstable = samples - record["stable_samples"]
    if unstable:
        notes.append(f"t1 moved in {unstable}")
    return ", ".join(notes)


COLUMNS = ["work", "peer", "median", "min", "max", "unit", "x t1", "t1 [ns]", "CPUs", "lockstep / peer", "notes"]


def cells_of(record):
    if record["failed"]:
        return [record["work"], record["variant"], "failed"] + [""] * (len(COLUMNS) - 3)
    value = record["value"]
    never = "never" if value["median"] is None else four_digits(value["median"])
    return [record["work"], record["variant"], never, four_digits(value["min"]),
            four_digits(value["max"]), record["unit"], two_places(record["in_t1"]),
            four_digits(record["t1_ns"]), two_places(record["cpus"]),
            two_places(record["lockstep_over_peer"]), notes_of(record, len(record["samples"]))]


def to_text(records, with_all, columns=COLUMNS, cells=cells_of):
    """A table for each section: the best variant of each runtime, or all."""
    parts = []
    for section in dict.fromkeys(record["section"] for record in records):
        rows = [cells(r) for r in records if r["section"] == section and (with_all or r["best"] or r["every_setting"])]
        parts.append(f"## {section}\n\n{aligned([columns, *rows])}\n")
    return "\n".join(parts)
