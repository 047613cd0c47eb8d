# SPDX-License-Identifier: MIT
"""The figures that graphs are to reach, and whether these records reach them (pure)."""

import graph_plan as plan

WAVEFRONT = "wavefront 64, 1 us"


def value(record):
    return record["value"]["median"]


def in_t1(record):
    return record["in_t1"]


def times_serial(record):
    return 1 / record["more"]["speed_up"]


def speed_up(record):
    return record["more"]["speed_up"]


class Records:
    """By the title of the work and the runtime: the best setting."""

    def __init__(self, records):
        self.found = {(r["work"], r["runtime"]): r for r in records if r["best"] and not r["failed"]}
        self.all = [r for r in records if not r["failed"]]

    def get(self, work, runtime=plan.LOCKSTEP):
        return self.found.get((work, runtime))

    def fastest_dynamic(self, work, may_be_alone=True):
        """With one thread as well, or with as many as lockstep."""
        peers = [r for r in self.all if r["work"] == work and r["runtime"] in plan.DYNAMIC
                 and (may_be_alone or not r["variant"].endswith(plan.ALONE))]
        return min(peers, key=value) if peers else None


def line(text, figure, limit, unit, at_least=False):
    met = None if figure is None else figure >= limit if at_least else figure <= limit
    return {"text": text, "figure": figure, "limit": limit, "unit": unit, "at_least": at_least, "met": met}


def edge_verdicts(records):
    for work, figure, limit, unit in (
            ("chain on one member", value, 5, "ns"), ("two chains beside each other", value, 5, "ns"),
            ("chain that crosses at each edge", in_t1, 1.5, "t1"), ("two nodes a level, all edges", in_t1, 1.5, "t1")):
        if ours := records.get(work):
            yield line(f"{work}, an edge", figure(ours), limit, unit)


def empty_verdicts(records):
    for work in plan.works():
        peer, together = records.fastest_dynamic(work.title), records.fastest_dynamic(work.title, may_be_alone=False)
        if work.section != plan.EMPTY or not peer or not together:
            continue
        for runtime in (plan.LOCKSTEP, plan.MEASURED):
            if ours := records.get(work.title, runtime):
                yield line(f"{work.title}: {runtime}, times faster than {peer['variant']} "
                           f"(with 2 threads: {value(together) / value(ours):.3g} x {together['runtime']})",
                           value(peer) / value(ours), 10, "x", at_least=True)


def wavefront_verdicts(records):
    for runtime in (plan.LOCKSTEP, plan.MEASURED):
        if ours := records.get(WAVEFRONT, runtime):
            yield line(f"{WAVEFRONT}: {runtime}, times faster than serial calls", speed_up(ours), 1.8, "x", at_least=True)


def busy_verdicts(records):
    for _, _, title in plan.CROWDED:
        crowd, two = records.get(f"{title}, 1 us, 8 threads"), records.get(f"{title}, 1 us")
        if crowd and two:
            yield line(f"{title}, 1 us: 8 members over 2", value(crowd) / value(two), 2, "x")
        for competitor in ("bound", "free"):
            if ours := records.get(f"{title}, 1 us, beside a {competitor} one"):
                yield line(f"{title}, 1 us, beside a {competitor} process: over serial calls", times_serial(ours), 1.1, "x")


def planning_verdicts(records):
    for work in plan.planning_works():
        if work.size == 10000 or work.work == "plan/wavefront":
            if ours := records.get(work.title):
                yield line(work.title, value(ours), 100, "ms")


def verdicts(all_records):
    records = Records(all_records)
    return [*edge_verdicts(records), *empty_verdicts(records), *wavefront_verdicts(records), *busy_verdicts(records),
            *planning_verdicts(records)]


def to_line(one):
    outcome = {True: "met", False: "NOT MET", None: "unclear"}[one["met"]]
    figure = "no figure" if one["figure"] is None else f"{one['figure']:.3g}"
    return f"{outcome:8}{one['text']}: {figure} {one['unit']} (target {'>=' if one['at_least'] else '<='} {one['limit']:g})"
