# SPDX-License-Identifier: MIT
"""Rows, ratios, verdict and tables of bench/mpi (pure)."""

import math
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "grid"))
import grid_records as records  # noqa: E402

import mpi_plan as plan  # noqa: E402

LOSES = "✗"
KEY = ("mpi", "layout", "work", "contender", "setting")
TOLERANCE = 1e-9  # of results: sums are added in other orders


def figures(values):
    return {"median": records.rounded(statistics.median(values)), "min": records.rounded(min(values)),
            "max": records.rounded(max(values))}


def row(entry, work, samples, result, steps, others=0.0):
    """samples: pairs of microseconds of wall time and CPU time for a step. others: the CPUs that other processes used beside the
    most disturbed of its process groups."""
    return {"mpi": entry.library.title, "layout": entry.layout.name, "work": work, "contender": entry.contender,
            "setting": entry.setting.name, "ranks": entry.ranks, "threads": entry.threads, "result": result, "steps": steps,
            "samples": len(samples), "others": round(max(others, 0.0), 2), "wall_us": figures([wall for wall, _ in samples]),
            "cpu_us": figures([cpu for _, cpu in samples])}


def key(one):
    return tuple(one[name] for name in KEY)


def merged(old, new):
    """The rows of both; a new one takes the place of the old one of its key."""
    replaced = {key(one) for one in new}
    return [one for one in old if key(one) not in replaced] + list(new)


def wall(one):
    return one["wall_us"]["median"]


def cells(rows):
    """{(mpi, layout, work): rows}, without what failed."""
    found = {}
    for one in rows:
        if "error" not in one:
            found.setdefault((one["mpi"], one["layout"], one["work"]), []).append(one)
    return found


def best(rows, *contenders):
    """The row of the best setting, or None."""
    return min((one for one in rows if one["contender"] in contenders), key=wall, default=None)


def slow_settings(times, limit=3):
    """times: {(contender, setting): [wall time of each work]}. Those whose geometric mean is that much slower than their contender's
    best setting: nobody would use them."""
    means = {one: math.exp(statistics.fmean(math.log(max(t, 1e-6)) for t in found)) for one, found in times.items() if found}
    return {(contender, setting) for (contender, setting), mean in means.items()
            if mean > limit * min(other for (whose, _), other in means.items() if whose == contender)}


def disagreements(rows):
    """Cells in which contenders with the same members have different results. Of 'sum' the number of members tells the result."""
    found = []
    for name, those in cells(rows).items():
        if name[2] == "sync":
            continue
        known = [one for one in those if name[2] != "sum" or one["contender"] not in (plan.BARE,)]
        results = [one["result"] for one in known]
        if results and max(results) - min(results) > TOLERANCE * max(abs(result) for result in results):
            found.append(f"{' '.join(name)}: " + ", ".join(f"{one['contender']} {one['result']:.17g}" for one in known))
    fixed = {}
    for (mpi, layout, work), those in cells(rows).items():
        if work.startswith("dot_fixed"):
            fixed.setdefault(work, {}).update({one["result"]: f"{mpi} {layout}" for one in those})
    found += [f"{work}: bits differ: {', '.join(f'{where} {result:.17g}' for result, where in seen.items())}"
              for work, seen in fixed.items() if len(seen) > 1]
    return found


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def is_kernel(work):
    return work.split(":")[0] in plan.KERNELS


def ratios(rows, ours, peers, keep):
    """{cell: median of ours over that of the peers' best}"""
    found = {}
    for name, those in cells(rows).items():
        own, other = best(those, *ours), best(those, *peers)
        if own and other and keep(*name):
            found[name] = wall(own) / wall(other)
    return found


def beyond_work(rows, cpus):
    """{cell of a crowded kernel: what lockstep takes beyond the work, over what the best MPI + OpenMP takes beyond it}. The work is
    the best uncrowded time of MPI only: no contender can be faster than that by waiting better."""
    found, floors = {}, {}
    for (mpi, _, work), those in cells(rows).items():
        alone = best([one for one in those if one["ranks"] <= cpus], plan.ALONE)
        if alone and is_kernel(work):
            floors[(mpi, work)] = min(wall(alone), floors.get((mpi, work), math.inf))
    for (mpi, layout, work), those in cells(rows).items():
        own, peer, floor = best(those, plan.LOCKSTEP), best(those, *plan.OPENMP), floors.get((mpi, work))
        if own and peer and floor and wall(peer) > 1.05 * floor:
            found[(mpi, layout, work)] = max(wall(own) - floor, 0.01 * floor) / (wall(peer) - floor)
    return found


def is_crowded(layout, cpus):
    ranks, threads = layout.split("x")
    return int(ranks) * int(threads) > cpus


def verdict(rows, cpus):
    """The targets of the work, with what was measured."""
    found = []

    def judge(text, seen, limit):
        if seen:
            worst = max(seen, key=seen.get)
            met = seen[worst] <= limit
            found.append({"text": f"{text}: {sum(r <= limit for r in seen.values())} of {len(seen)} cells, geometric mean "
                                  f"{geometric_mean(seen.values()):.2f}, worst {seen[worst]:.2f} ({' '.join(worst)})", "met": met})

    both = (plan.LOCKSTEP,), plan.OPENMP
    judge("kernels, as many members as CPUs: at most 1.0 x the best MPI + OpenMP",
          ratios(rows, *both, lambda mpi, layout, work: is_kernel(work) and not is_crowded(layout, cpus)), 1.0)
    judge("kernels, crowded: at most 0.5 x the best MPI + OpenMP",
          ratios(rows, *both, lambda mpi, layout, work: is_kernel(work) and is_crowded(layout, cpus)), 0.5)
    for title, is_alone in (("ranks of one member", True), ("ranks of several members", False)):
        judge(f"world.sync_sum, {title}: at most 1.1 x a bare MPI_Allreduce by one thread of each rank",
              ratios(rows, (plan.LOCKSTEP,), (plan.BARE,), lambda mpi, layout, work, is_alone=is_alone:
                     work == "sum" and not layout.startswith("1x") and layout.endswith("x1") == is_alone), 1.1)
    beyond = {name: ratio for name, ratio in beyond_work(rows, cpus).items() if is_crowded(name[1], cpus)}
    if beyond:
        found.append({"text": f"kernels, crowded: of the time beyond the work, which no waiting can save, lockstep takes "
                              f"{geometric_mean(beyond.values()):.2f} x what the best MPI + OpenMP takes, at most 0.5 x in "
                              f"{sum(r <= 0.5 for r in beyond.values())} of {len(beyond)} cells", "met": None})
    judge("world.sync_sum: below barrier, MPI_Allreduce, barrier of MPI + OpenMP",
          ratios(rows, *both, lambda mpi, layout, work: work == "sum"), 1.0)
    fixed = {name: wall(own) / wall(plain) for name, (plain, own) in fixed_pairs(rows).items()}
    judge("the sum with fixed bits: at most 1.2 x the plain one", fixed, 1.2)
    return found


def shown_ratio(value):
    return f"{value:.2f}" if value >= 0.095 else f"{value:.1g}"


def us(value):
    return records.shown_time(1000 * value)


def contender_cell(one, base=None):
    """A time; of what lost against `base`, with a mark."""
    if one is None:
        return "-"
    return us(wall(one)) + (f" {LOSES}" if base and wall(one) > 1.005 * wall(base) else "")


def kernel_table(rows, mpi):
    """A line for each layout and work."""
    lines = [["layout, work", plan.ALONE, plan.GOMP, plan.OMP, plan.LOCKSTEP, "lockstep / best OpenMP", "CPU time, best OpenMP",
              "CPU time, lockstep"]]
    found = cells(rows)
    for layout in plan.LAYOUTS:
        for work in plan.WORKS:
            those = found.get((mpi, layout.name, work))
            if not those or not is_kernel(work):
                continue
            peer, own = best(those, *plan.OPENMP), best(those, plan.LOCKSTEP)
            lines.append([f"{layout.name} {work}", *(contender_cell(best(those, c)) for c in (plan.ALONE, plan.GOMP, plan.OMP)),
                          contender_cell(own, peer), shown_ratio(wall(own) / wall(peer)) if own and peer else "-",
                          us(peer["cpu_us"]["median"]) if peer else "-", us(own["cpu_us"]["median"]) if own else "-"])
    return records.aligned(lines) if len(lines) > 1 else ""


def latency_table(rows, mpi):
    lines = [["layout", plan.BARE, plan.GOMP, plan.OMP, plan.LOCKSTEP, "lockstep / bare", "lockstep / best OpenMP"]]
    found = cells(rows)
    for layout in plan.LAYOUTS:
        those = found.get((mpi, layout.name, "sum"))
        if not those:
            continue
        bare, peer, own = best(those, plan.BARE), best(those, *plan.OPENMP), best(those, plan.LOCKSTEP)
        lines.append([layout.name, contender_cell(bare), contender_cell(best(those, plan.GOMP)), contender_cell(best(those, plan.OMP)),
                      contender_cell(own, peer), *(shown_ratio(wall(own) / wall(other)) if own and other else "-" for other in (bare, peer))])
    return records.aligned(lines) if len(lines) > 1 else ""


def overlap_table(rows, mpi):
    """The time with the exchange under way during the work, over that with the exchange first."""
    contenders = (plan.ALONE, plan.GOMP, plan.OMP, plan.LOCKSTEP)
    lines, found = [["layout, field", *contenders]], cells(rows)
    for layout in plan.LAYOUTS:
        for size in plan.SIZES:
            pair = [found.get((mpi, layout.name, f"{work}:{size}"), []) for work in ("heat", "heat_in_turns")]
            each = [[best(those, contender) for those in pair] for contender in contenders]
            if any(all(two) for two in each):
                lines.append([f"{layout.name} {size}", *(f"{wall(two[0]) / wall(two[1]):.2f}" if all(two) else "-" for two in each)])
    return records.aligned(lines) if len(lines) > 1 else ""


def fixed_pairs(rows):
    """{cell: (row of the plain dot product, row of the one with fixed bits)} of lockstep."""
    found = cells(rows)
    pairs = {(mpi, layout, work): (best(found.get((mpi, layout, work.replace("dot_fixed", "dot")), []), plan.LOCKSTEP),
                                   best(those, plan.LOCKSTEP))
             for (mpi, layout, work), those in found.items() if work.startswith("dot_fixed")}
    return {name: pair for name, pair in pairs.items() if all(pair)}


def fixed_table(rows):
    lines = [["library, layout, elements", "plain", "fixed bits", "fixed / plain"]]
    for (mpi, layout, work), (plain, fixed) in fixed_pairs(rows).items():
        lines.append([f"{mpi} {layout} {work.split(':')[1]}", us(wall(plain)), us(wall(fixed)), f"{wall(fixed) / wall(plain):.2f}"])
    return records.aligned(lines) if len(lines) > 1 else ""
