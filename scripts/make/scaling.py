#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes docs/scaling.md and its pictures: a LogGP model of many nodes, with the constants of bench/results/*-mpi.json.

usage: scaling.py [--check] [tree]

Pictures go to docs/figures/, which git ignores. With --check it writes nothing, and says whether the page differs from what
it would write.
"""

import json
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1])] + [
    str(Path(__file__).resolve().parents[2] / "bench" / name) for name in ("grid", "mpi")]
import grid_records as records  # noqa: E402
import mpi_plan as plan  # noqa: E402
import mpi_report as report  # noqa: E402
from make import line_chart, loggp_model as model  # noqa: E402
from source_text import Report, root_argument  # noqa: E402

PAGE, PICTURES, LIBRARY, LARGE, SMALL = "docs/scaling.md", "docs/figures", "Open MPI", plan.SIZES[1], plan.SIZES[0]
NODES = tuple(sorted({1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 10000}))
SHOWN_NODES = (1, 2, 16, 128, 1024, 10000)
STRONG_SIDE, WEAK_SIDE = 16384, 512  # of the whole field; of a node's
TITLES = {"jacobi": ("Jacobi", 1, 0), "cg": ("conjugate gradients", 2, 1), "heat": ("heat equation", 0, 1)}
NETWORKS = (
    model.Link(1.05, 1.08, 3.54, 0.94, 0.0005, "InfiniBand QDR",
               "measured by netgauge on the cluster Tukey at Argonne, published with the simulator CODES ([CODES-TUKEY](references.md)); one way is half of "
               "the round trip of 16 bytes"),
    model.Link(0.3, 0.3, 1.0, 0.1, 0.00004, "fast network",
               "of today, assumed: about 1.6 µs one way, ten million messages a second, 200 Gbit/s. Nobody is cited for them"),
)


class Missing(Exception):
    """A constant that bench/results does not have."""


def best_wall(rows, layout, work, *contenders):
    one = report.best(report.cells(rows).get((LIBRARY, layout, work), []), *contenders)
    if one is None:
        raise Missing(f"`{work}` of {' or '.join(contenders)} at {layout}")
    return report.wall(one)


def points_of(size):
    rows, columns = size.split("x")
    return int(rows) * int(columns)


def constants(result):
    """(link inside a node, sum of two ranks, meetings, kernels). Throws Missing."""
    rows = result["rows"]
    if LIBRARY not in result.get("loggp", {}):
        raise Missing("the parameters of LogGP inside a node")
    found = result["loggp"][LIBRARY]
    inside = model.Link(found["o_send"], found["o_recv"], found["L"], found["g"], found["G"], "shared memory", "measured")
    meetings = {variant: model.Meetings(best_wall(rows, "1x2", "sync", *contenders), best_wall(rows, "1x2", "sum", *contenders))
                for variant, contenders in ((model.OPENMP, plan.OPENMP), (model.LOCKSTEP, (plan.LOCKSTEP,)))}
    kernels = tuple(model.Kernel(name, title, sums, syncs, 2 * best_wall(rows, "2x1", f"{name}:{LARGE}", plan.ALONE) / points_of(LARGE))
                    for name, (title, sums, syncs) in TITLES.items())
    return inside, best_wall(rows, "2x1", "sum", plan.BARE), meetings, kernels


def machine_of(found, network, cpus=64):
    inside, pair_sum, meetings, _ = found
    return model.Machine(network, inside, pair_sum, meetings, cpus)


# --- pictures


def panels(found, value):
    """Kernels beside each other, networks below each other; value(machine, kernel, variant, nodes)."""
    return [line_chart.Panel(f"{kernel.title}, {network.name}",
                             {variant: [(n, value(machine_of(found, network), kernel, variant, n)) for n in NODES]
                              for variant in model.VARIANTS})
            for network in NETWORKS for kernel in found[3]]


def strong(machine, kernel, variant, nodes):
    return model.step(machine, kernel, variant, nodes, STRONG_SIDE ** 2)


def weak(machine, kernel, variant, nodes):
    return model.efficiency(machine, kernel, variant, nodes, nodes * WEAK_SIDE ** 2)


def pictures(machine_name, found):
    """{path: text}"""
    about = "A MODEL (LogGP), not a measurement: constants of one machine with two CPUs inside a node, published or assumed ones between nodes"
    return {
        f"{PICTURES}/{machine_name}-scaling-strong.svg": line_chart.line_chart(
            f"Model: a step on a field of {STRONG_SIDE} x {STRONG_SIDE} over nodes of 64 CPUs", about, panels(found, strong),
            line_chart.Axes("nodes", "µs"), 3),
        f"{PICTURES}/{machine_name}-scaling-weak.svg": line_chart.line_chart(
            f"Model: the share of a step that is work, with {WEAK_SIDE} x {WEAK_SIDE} points for each node of 64 CPUs", about,
            panels(found, weak), line_chart.Axes("nodes", "share", False), 3),
    }


# --- tables


def us(value):
    return records.shown_time(1000 * value)


def links_table(found):
    lines = [["", "o of the sender", "o of the receiver", "L", "g", "G"]]
    for link in (found[0], *NETWORKS):
        lines.append([link.name, us(link.o_send), us(link.o_recv), us(link.latency), us(link.gap), f"{1000 * link.byte:.3f} ns/byte"])
    return records.aligned(lines)


def members_table(found):
    lines = [["two members or ranks of a node", "they meet", "they form a sum"], [model.ALONE, "-", us(found[1])]]
    lines += [[variant, us(meeting.sync), us(meeting.sum)] for variant, meeting in found[2].items()]
    return records.aligned(lines)


def step_table(found, network, value, show):
    lines = [["nodes", *(f"{kernel.title}, {variant}" for kernel in found[3] for variant in model.VARIANTS)]]
    for nodes in SHOWN_NODES:
        lines.append([str(nodes), *(show(value(machine_of(found, network), kernel, variant, nodes))
                                    for kernel in found[3] for variant in model.VARIANTS)])
    return records.aligned(lines)


def ratio_table(found, value):
    """lockstep's step over the others', by network, kernel and nodes."""
    lines = [["network, kernel", *(f"{nodes} node{'s' if nodes > 1 else ''}" for nodes in SHOWN_NODES)]]
    for network in NETWORKS:
        for kernel in found[3]:
            machine = machine_of(found, network)
            cells = []
            for nodes in SHOWN_NODES:
                own = value(machine, kernel, model.LOCKSTEP, nodes)
                cells.append(" / ".join(f"{own / value(machine, kernel, other, nodes):.2f}" for other in (model.OPENMP, model.ALONE)))
            lines.append([f"{network.name}, {kernel.title}", *cells])
    return records.aligned(lines)


def comparison_table(result, found):
    """One node of two CPUs: what the model says and what was measured."""
    layouts = {model.ALONE: ("2x1", (plan.ALONE,)), model.OPENMP: ("1x2", plan.OPENMP), model.LOCKSTEP: ("1x2", (plan.LOCKSTEP,))}
    machine = machine_of(found, NETWORKS[0], cpus=2)
    lines = [["field", *(f"{variant}, {what}" for variant in model.VARIANTS for what in ("model", "measured"))]]
    for kernel in found[3]:
        for size in (SMALL, LARGE):
            line = [f"{kernel.title} {size}"]
            for variant, (layout, contenders) in layouts.items():
                line += [us(model.step(machine, kernel, variant, 1, points_of(size))),
                         us(best_wall(result["rows"], layout, f"{kernel.name}:{size}", *contenders))]
            lines.append(line)
    return records.aligned(lines)


# --- the page

HEAD = ["<!-- made by ./do performance from bench/results: do not edit -->", "# Scaling: a model",
        "**This page is a model, on paper. Nothing on it was measured on more than one node.** It asks what would become of the figures "
        "of [Performance](performance.md) on 2 to 10 000 nodes of 64 CPUs each. `./do performance` makes the page from "
        "`bench/results/*-mpi.json`; [bench/README.md](../bench/README.md) says how the constants were measured."]


def model_text():
    return ["## The model",
            "The model is LogGP [AISS95](references.md): from the call to the arrival a message of *k* bytes takes "
            "*o* of the sender + *L* + (*k* - 1) *G* + *o* of the receiver, and a sender's next message follows after *g* at least.",
            "\n".join((
                "- A square field is cut into squares: one for each CPU with MPI only, one for each node else.",
                "- A step is the work on the own points, the exchange of the sides, and the kernel's sums and syncs. Jacobi has one sum "
                "in a step, conjugate gradients have two and a sync of the rank's members, the heat equation has a sync.",
                "- The exchange is under way during the work; the overheads *o* are not hidden. All ranks of a node share one network "
                "interface, so their messages follow each other after *g*. With MPI only a side of a node is eight messages, else one.",
                "- A sum goes through the nodes by recursive doubling, one message of a node in each round, for all three alike. Inside "
                "a node the ranks or members meet in a tree: log2 of their number times what two of them pay.",
                "- With MPI + OpenMP a sum is a barrier, the call of MPI and a barrier; with lockstep it is one phase of the team.")),
            "What the model leaves out: congestion, the system's noise, imbalance, packing of columns, memory traffic and NUMA, and "
            "libraries whose network adds by itself. The meeting of 64 members is extrapolated from that of two. So the page can "
            "say from which size on synchronisation matters, and what it is made of; it is no forecast of a run."]


def sections(machine_name, result, found):
    names = list(pictures(machine_name, found))
    parts = [*model_text(), "## The constants",
             "Inside a node they were measured between two ranks or members on two CPUs; for the networks:",
             "\n".join(f"- *{network.name}*: {network.source}." for network in NETWORKS), links_table(found), members_table(found),
             "The work on a point is that of the large field with two ranks: "
             + ", ".join(f"{kernel.title} {us(kernel.point_us)}" for kernel in found[3]) + ".",
             "### The model against what was measured",
             "On one node of two CPUs. The large field gives the work on a point, so only the small field and the columns of the others "
             "test the model.", comparison_table(result, found),
             "## Strong scaling", f"`{names[0]}`, which `./do performance` draws, shows the time of a step on a field of {STRONG_SIDE} x "
             f"{STRONG_SIDE} points for 1 to 10 000 nodes."]
    for network in NETWORKS:
        parts += [f"**Model**, {network.name}:", step_table(found, network, strong, us)]
    parts += ["lockstep's step over that of MPI + OpenMP / over that of MPI only (**model**; below 1 lockstep is faster):",
              ratio_table(found, strong),
              "## Weak scaling", f"`{names[1]}`, which `./do performance` draws, shows the share of a step that is work, with {WEAK_SIDE} x "
              f"{WEAK_SIDE} points for each node: few, so that synchronisation is seen."]
    for network in NETWORKS:
        parts += [f"**Model**, {network.name}:", step_table(found, network, weak, lambda share: f"{100 * share:.0f} %")]
    return parts


def results(root):
    """{machine: result}"""
    return {path.stem.removesuffix("-mpi"): json.loads(path.read_text(encoding="utf-8"))
            for path in sorted((root / "bench" / "results").glob("*-mpi.json"))}


def page_and_pictures(found_results):
    parts, drawn = list(HEAD), {}
    for machine_name, result in found_results.items():
        try:
            found = constants(result)
            parts += sections(machine_name, result, found)
        except Missing as missing:
            parts.append(f"*{machine_name}: not measured yet: {missing}.*")
            continue
        drawn |= pictures(machine_name, found)
    if not found_results:
        parts.append("*Not measured yet: `./do bench mpi`.*")
    return "\n\n".join(parts) + "\n", drawn


def main(argv):
    is_check = "--check" in argv
    root = root_argument([each for each in argv if each != "--check"])
    complaints = Report(root, "scaling")
    page, drawn = page_and_pictures(results(root))
    files = {PAGE: page} if is_check else {PAGE: page} | drawn
    for name, text in files.items():
        path = root / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        if is_check:
            complaints.add(path, 1, "not what bench/results says: run ./do performance")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return complaints.finish(len(files))


if __name__ == "__main__":
    sys.exit(main(sys.argv))
