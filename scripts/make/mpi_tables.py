# SPDX-License-Identifier: MIT
"""Tables of bench/results/*-mpi.json for docs/performance.md (pure)."""

import mpi_plan as plan
import mpi_report as report


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


def failures(result):
    found = sorted({f"{one['mpi']} {one['layout']}, {one['contender']} {one['setting']}: {one['error'].splitlines()[0]}"
                    for one in result["rows"] if "error" in one})
    return "Failed:\n" + "\n".join(f"- {one}" for one in found) if found else ""


def sections(result, outcomes):
    parts = [about(result),
             "A layout is ranks x threads of a rank; MPI only has a rank for each thread. A cell is the median wall time of a step, with the "
             "best setting of the contender: as it is, with active or passive OpenMP threads, with ranks that yield "
             "(`mpi_yield_when_idle`), or with ranks that are bound to a CPU each. CPU time is that of all ranks in a step."]
    for library in plan.LIBRARIES:
        for title, table, text in (
                ("kernels", report.kernel_table, ""),
                ("a sum over all members of all ranks", report.latency_table,
                 "*bare*: `MPI_Allreduce` by one thread of each rank, and no other threads. OpenMP: barrier, `MPI_Allreduce` by the "
                 "master, barrier. lockstep: `world.sync_sum`."),
                ("what overlap gains", report.overlap_table,
                 "A step of the heat equation that works while the messages are under way, over one that exchanges first.")):
            made = table(result["rows"], library.title)
            if made:
                parts += [f"### {library.title}: {title}", *([text] if text else []), made]
    made = report.fixed_table(result["rows"])
    if made:
        parts += ["### The sum whose bits do not depend on ranks and members", "A dot product: each member's part and `world.sync_sum`, "
                  "and `world.reduce_range`.", made]
    return [*(part for part in parts if part), *([failures(result)] if failures(result) else []),
            "### Inside MPI: targets and outcomes", outcomes(result)]
