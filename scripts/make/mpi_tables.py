# SPDX-License-Identifier: MIT
"""Tables of bench/results/*-mpi.json for docs/performance.md (pure)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench" / "mpi"))
import mpi_plan as plan  # noqa: E402
import mpi_report as report  # noqa: E402


def about(result):
    machine, versions = result["machine"], result["versions"]
    libraries = [one["mpi"] for one in versions.values() if isinstance(one, dict)]
    compilers = sorted({one["compiler"] for one in versions.values() if isinstance(one, dict)})
    samples = sorted({one["samples"] for one in result["rows"] if "samples" in one})
    text = [f"{machine['cpu']}, {machine['usable_cpus']} CPUs, {machine['kernel']}; GCC {', '.join(compilers)}, `{machine['flags']}`; "
            f"{', '.join(libraries)}. Measured on {result['date']}."]
    if samples:
        text.append(f"{samples[-1]} samples of each row, in processes that take turns with those of the other contenders"
                    + (f" ({samples[0]} where a setting was three times slower than its contender's best in the first round)."
                       if samples[0] < samples[-1] else "."))
    return "\n".join(text + (["**Rough: a quick run.**"] if result["quick"] else []))


def settings(result):
    """Which settings of the peers were the best, and how often."""
    counts = report.settings_used(result["rows"])
    return ", ".join(f"{contender} *{setting}* {count} x" for (contender, setting), count in sorted(counts.items()))


def failures(result):
    found = sorted({f"{one['mpi']} {one['layout']}, {one['contender']} {one['setting']}: {one['error'].splitlines()[0]}"
                    for one in result["rows"] if "error" in one})
    return "Failed:\n" + "\n".join(f"- {one}" for one in found) if found else ""


def sections(result, outcomes):
    parts = [about(result),
             "A layout is ranks x threads of a rank; MPI only has a rank for each thread. A cell is the wall time of a step, a median. Of a "
             "contender it is that of its best setting: as it is, active or passive OpenMP threads, ranks that yield "
             f"(`mpi_yield_when_idle`), ranks that are bound to a CPU each. Where that was not the default: {settings(result) or 'nowhere'}. CPU time is that of all ranks in a "
             "step."]
    for library in plan.LIBRARIES:
        for title, table, text in (
                ("kernels", report.kernel_table, ""),
                ("a sum over all members of all ranks", report.latency_table,
                 "*bare*: `MPI_Allreduce` by one thread of each rank, and no other threads. OpenMP: barrier, `MPI_Allreduce` by the "
                 "master, barrier. lockstep: `world.sync_sum`."),
                ("what overlap gains", report.overlap_table,
                 "The step of the heat equation with the rows under way during the work, over that with the exchange first.")):
            made = table(result["rows"], library.title)
            if made:
                parts += [f"### {library.title}: {title}", *([text] if text else []), made]
    made = report.fixed_table(result["rows"])
    if made:
        parts += ["### The sum whose bits do not depend on ranks and members", "A dot product: each member's part and `world.sync_sum`, "
                  "and `world.reduce_range`.", made]
    return [*(part for part in parts if part), *([failures(result)] if failures(result) else []),
            "### Inside MPI: targets and outcomes", outcomes(result)]
