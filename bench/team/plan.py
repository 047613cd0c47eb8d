# SPDX-License-Identifier: MIT
"""What is measured: the works, the peers, and the settings in which each peer is tried (pure)."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Variant:
    """A way to run a peer. The table shows the best one of each runtime."""
    runtime: str
    label: str
    runner: str
    peer: str
    environment: tuple = ()
    # Spins without end: in a crowd an operation takes milliseconds, and nobody would choose it.
    uncrowded_only: bool = False


@dataclass(frozen=True)
class Work:
    section: str
    title: str
    work: str
    threads: int = 2
    size: int = 0
    competitor: str = ""
    # In the table too: where the fastest setting is not the best one.
    every_setting: bool = False

    def is_crowded(self, cpus):
        return self.threads > cpus or self.competitor != ""


@dataclass(frozen=True)
class Row:
    work: Work
    variant: Variant
    arguments: tuple = field(compare=False, default=())

    def name(self):
        return f"{self.work.title} / {self.variant.label}"


def settings(runtime, runner, environments):
    """Variants of an OpenMP runtime: for each setting one region of many steps, and a region a step."""
    for label, environment, uncrowded_only in environments:
        name = f"{runtime} {label}".strip()
        for peer, suffix in ((runtime, ""), (f"{runtime}/stepwise", " stepwise")):
            yield Variant(runtime, name + suffix, runner, peer, tuple(environment.items()), uncrowded_only)


def variants():
    own = "team_lockstep"
    return [
        Variant("lockstep", "lockstep", own, "lockstep"),
        Variant("lockstep", "lockstep stepwise", own, "lockstep/stepwise"),
        Variant("lockstep", "lockstep loops", own, "lockstep/loops"),
        *settings("libgomp", "team_gomp", [
            ("", {}, False),
            ("bound", {"OMP_PROC_BIND": "true"}, False),
            ("active", {"OMP_WAIT_POLICY": "active"}, True),
            ("active bound", {"OMP_WAIT_POLICY": "active", "OMP_PROC_BIND": "true"}, True),
            ("passive", {"OMP_WAIT_POLICY": "passive"}, False),
        ]),
        *settings("libomp", "team_omp", [
            ("", {}, False),
            ("bound", {"OMP_PROC_BIND": "true"}, False),
            ("blocktime infinite", {"KMP_BLOCKTIME": "infinite"}, True),
            ("turnaround bound", {"KMP_LIBRARY": "turnaround", "OMP_PROC_BIND": "true"}, True),
            ("blocktime 0", {"KMP_BLOCKTIME": "0"}, False),
        ]),
        Variant("ForkUnion", "ForkUnion pause", own, "fork_union-pause", uncrowded_only=True),
        Variant("ForkUnion", "ForkUnion yield", own, "fork_union-yield"),
        Variant("oneTBB", "oneTBB", own, "tbb"),
        Variant("oneTBB", "oneTBB simple", own, "tbb/simple"),
        Variant("std::barrier", "std::barrier", own, "std::barrier"),
        Variant("std::barrier", "std::barrier stepwise", own, "std::barrier/stepwise"),
        Variant("std::thread", "std::thread", own, "std::thread"),
        Variant("serial", "serial", own, "serial"),
    ]


CONSTRUCTS = ("parallel", "for", "parallel_for", "barrier", "single", "critical", "lock_unlock",
              "ordered", "atomic", "reduction")
CHUNKS = (1, 2, 4, 8, 16, 32, 64, 128)
LOOPS = ("daxpy", "dot", "stencil", "filter", "matrix")
PROGRAMS = (("n-body", (16, 32, 128)), ("jacobi", (32, 64, 128)), ("gauss-seidel", (32, 64, 128)),
            ("cg", (64,)))
# ForkUnion's own: title, work, sizes. Its own sizes are 512 bodies and 64 communities.
SCHEDULED = (("n-body", "bodies-in-box", (512,)), ("components", "components", (4, 64)))


def overhead_works(threads):
    section = f"Overheads, {threads} threads"
    of = f" of {threads}"
    for construct in CONSTRUCTS:
        yield Work(section, f"overhead {construct}{of}", f"overhead/{construct}", threads)
    yield Work(section, f"overhead static{of}", "overhead/static", threads)
    for kind in ("static", "dynamic", "guided"):
        for chunk in CHUNKS:
            yield Work(section, f"overhead {kind}({chunk}){of}", f"overhead/{kind}", threads, chunk)
            yield Work(section, f"overhead {kind}({chunk}), long{of}", f"overhead/long-{kind}", threads, chunk)


def fork_works(more_threads):
    for threads in sorted({2, 4, 16, 64, *more_threads}):
        for work in ("fork/join", "barrier"):
            yield Work("Empty fork/join and barrier", f"{work} of {threads}", work, threads)
    for idle in (1, 10, 100, 1000):
        yield Work("First fork/join after idle", f"burst after {idle} ms", "burst", 2, idle,
                   every_setting=True)
    yield Work("Starts", "last start, hot", "starts", 2, 0)
    yield Work("Starts", "last start after 10 ms", "starts", 2, 10)


def program_works(threads):
    of = "" if threads == 2 else f" of {threads}"
    for program, sizes in PROGRAMS:
        for size in sizes:
            yield Work("Programs, a step", f"{program} {size}{of}", program, threads, size)
    for title, work, sizes in SCHEDULED:
        for size in sizes:
            for schedule in ("static", "dynamic"):
                yield Work("ForkUnion's benchmarks, a step", f"{title} {size}, {schedule}{of}", f"{work}/{schedule}", threads, size)


def competitor_works():
    for where in ("bound", "free"):
        for title, work, size in (("fork/join", "fork/join", 0), ("barrier", "barrier", 0),
                                  ("jacobi 64", "jacobi", 64)):
            yield Work("Beside a process that burns a CPU", f"{title} beside a {where} one", work, 2,
                       size, where)


def works(team_sizes=(2,), with_competitor=False):
    result = [work for threads in team_sizes for work in overhead_works(threads)]
    result += fork_works(team_sizes)
    result += [Work("Break-even of 2 threads", f"break-even {loop}", f"break-even/{loop}") for loop in LOOPS]
    result += [work for threads in team_sizes for work in program_works(threads)]
    if with_competitor:
        result += competitor_works()
    return result


def arguments_of(work, variant, seconds):
    arguments = [work.work, variant.peer, "--threads", str(work.threads), "--size", str(work.size),
                 "--seconds", str(seconds)]
    return tuple(arguments + (["--competitor", work.competitor] if work.competitor else []))


def rows(all_works, available, cpus, seconds):
    """available: for each runner that was built, its pairs of work and peer."""
    return [Row(work, variant, arguments_of(work, variant, seconds))
            for work in all_works for variant in variants()
            if (work.work, variant.peer) in available.get(variant.runner, ())
            and not (variant.uncrowded_only and work.is_crowded(cpus))]


def turns(count, rounds):
    """Pairs of row and round: there and back again, so that nobody always follows the same neighbour."""
    for turn in range(rounds):
        for i in range(count):
            yield (i if turn % 2 == 0 else count - 1 - i), turn
