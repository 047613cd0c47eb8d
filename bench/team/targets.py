# SPDX-License-Identifier: MIT
"""The figures that the project is to reach, and whether these records reach them (pure)."""

import re
from dataclasses import dataclass

import summary

OPENMP = ("libgomp", "libomp")
# oneTBB is not among them: an empty fork of its is no fork of all threads.
FORKS = OPENMP + ("ForkUnion", "std::barrier", "std::thread")


@dataclass(frozen=True)
class Target:
    works: str       # a regular expression on titles
    limit: float
    against: tuple = ()  # runtimes: the best of them is 1; none: the figure itself counts
    figure: str = "value"
    unit: str = ""


TARGETS = (
    Target(r"overhead .* of 2", 0.5, OPENMP),
    Target(r"fork/join of 2", 2.5, figure="in_t1", unit="t1"),
    Target(r"fork/join of 2", 1.0, ("ForkUnion",)),
    Target(r"fork/join of 2", 0.3, OPENMP),
    Target(r"fork/join of (4|16|64)", 0.9, FORKS),
    Target(r"barrier of 2", 1.35, figure="in_t1", unit="t1"),
    Target(r"barrier of 2", 0.35, ("libomp",)),
    Target(r"barrier of (4|16|64)", 0.8, FORKS),
    Target(r"burst after 100 ms", 20_000, unit="ns"),
    Target(r"burst after 100 ms", 0.01, figure="cpus", unit="CPUs while idle"),
    Target(r"break-even daxpy", 1.0, ("ForkUnion",)),
    Target(r"n-body (16|32)", 0.9, OPENMP + ("ForkUnion",)),
    Target(r"n-body 128", 1.0, OPENMP + ("ForkUnion",)),
    Target(r"(jacobi|cg) 64", 1.0, ("serial",)),
)


def figure_of(record, target):
    if target.figure != "value":
        return record[target.figure]
    return record["value"]["median"]


def verdict(target, work, records):
    """One line's worth, or None where nobody measured what it needs."""
    best = {r["runtime"]: r for r in records if r["work"] == work and r["best"] and not r["failed"]}
    ours = best.get(summary.OURS)
    if ours is None:
        return None
    figure, against, never = figure_of(ours, target), "", False
    if target.against:
        peers = {runtime: summary.cost(best[runtime]) for runtime in target.against if runtime in best}
        if not peers:
            return None
        against = min(peers, key=peers.get)
        # An overhead of nothing leaves nothing to be a share of.
        peer = peers[against]
        never = figure is None
        figure = None if never or peer <= 0 else max(figure, 0) / peer
    met = figure is not None and figure <= target.limit
    outcome = "met" if met else "NOT MET" if figure is not None or never else "unclear"
    return {"work": work, "against": against, "figure": figure, "limit": target.limit,
            "unit": target.unit, "outcome": outcome}


def verdicts(records):
    works = list(dict.fromkeys(record["work"] for record in records))
    found = [verdict(target, work, records) for target in TARGETS for work in works
             if re.fullmatch(target.works, work)]
    return [one for one in found if one]


def to_line(one):
    figure = "no figure" if one["figure"] is None else summary.four_digits(one["figure"])
    what = f"x {one['against']}" if one["against"] else one["unit"]
    return f"{one['work']}: {figure} {what} (target {one['limit']:g}): {one['outcome']}"


def to_text(found):
    return "\n".join(map(to_line, found))
