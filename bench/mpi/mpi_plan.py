# SPDX-License-Identifier: MIT
"""Which contender runs what, with how many ranks and threads, and how it is started (pure)."""

from dataclasses import dataclass

ALONE, GOMP, OMP, LOCKSTEP, BARE = "MPI only", "MPI + libgomp", "MPI + libomp", "MPI + lockstep", "bare MPI_Allreduce"
OPENMP = (GOMP, OMP)
# 128 rows and more: sixteen ranks have eight each. A step takes two CPUs 7 us (heat) to 140 (conjugate gradients).
SIZES = ("128x128", "256x512")
KERNELS = ("jacobi", "cg", "heat")
WORKS = (*(f"{kernel}:{size}" for size in SIZES for kernel in KERNELS), *(f"heat_in_turns:{size}" for size in SIZES),
         *(f"dot:{size}" for size in SIZES), "sum", "sync")
# Of lockstep only: the dot product whose bits do not depend on ranks and members.
LOCKSTEP_WORKS = tuple(f"dot_fixed:{size}" for size in SIZES)


@dataclass(frozen=True)
class Layout:
    ranks: int
    threads: int

    @property
    def name(self):
        return f"{self.ranks}x{self.threads}"

    @property
    def members(self):
        return self.ranks * self.threads


# For two CPUs: as many members as CPUs, twice as many, eight times.
LAYOUTS = tuple(Layout(*pair) for pair in ((2, 1), (1, 2), (4, 1), (2, 2), (1, 4), (16, 1), (8, 2), (4, 4), (2, 8), (1, 16)))


@dataclass(frozen=True)
class Library:
    """An MPI library, as Debian names its programs."""
    name: str
    title: str
    environment: tuple = ()
    yields: tuple = ()  # options of mpirun that make a waiting rank give its CPU away; what MPICH has for it has no effect here

    def start(self, ranks, bound, options):
        """The command that starts so many ranks: each on a CPU of its own, or where the system puts them."""
        place = "core" if bound else "none"
        if self.name == "openmpi":
            return ["mpirun.openmpi", "--oversubscribe", "--bind-to", place, *options, "-n", str(ranks)]
        return ["mpirun.mpich", "-bind-to", place, *options, "-n", str(ranks)]


LIBRARIES = (
    Library("openmpi", "Open MPI", (("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")),
            ("--mca", "mpi_yield_when_idle", "1")),
    Library("mpich", "MPICH"),
)


@dataclass(frozen=True)
class Setting:
    """How a contender waits."""
    name: str
    environment: tuple = ()
    yields: bool = False
    bound: bool = False  # each rank to a CPU of its own, else where the system puts it


@dataclass(frozen=True)
class Entry:
    """A contender in a layout with a setting: one process group of each round."""
    library: Library
    layout: Layout
    contender: str
    setting: Setting
    cpus: int

    @property
    def ranks(self):
        return self.layout.members if self.contender == ALONE else self.layout.ranks

    @property
    def threads(self):
        return 1 if self.contender in (ALONE, BARE) else self.layout.threads

    @property
    def works(self):
        if self.contender == BARE:
            return ("sum",)
        if self.contender == ALONE:  # which has nobody in a rank to meet
            return WORKS[:-1]
        return WORKS + (LOCKSTEP_WORKS if self.contender == LOCKSTEP else ())

    @property
    def title(self):
        return f"{self.library.title} {self.layout.name}: {self.contender}" + (f" ({self.setting.name})" if self.setting.name else "")

    def command(self):
        return self.library.start(self.ranks, self.setting.bound, self.library.yields if self.setting.yields else ())

    def environment(self):
        threads = () if self.contender not in OPENMP else (("OMP_NUM_THREADS", str(self.threads)),)
        return dict((*self.library.environment, *threads, *self.setting.environment))


PASSIVE = {GOMP: (("OMP_WAIT_POLICY", "passive"),), OMP: (("OMP_WAIT_POLICY", "passive"), ("KMP_BLOCKTIME", "0"))}
ACTIVE = {GOMP: (("OMP_WAIT_POLICY", "active"),), OMP: (("OMP_WAIT_POLICY", "active"), ("KMP_BLOCKTIME", "infinite"))}


def settings_of(library, layout, contender, cpus):
    """A contender's settings, of which the best counts. lockstep has none but its defaults, and where mpirun puts its ranks.

    Open MPI's ranks yield by themselves where there are more of them than CPUs; a single rank waits for nobody in MPI.
    """
    plain = Setting("")
    ranks = layout.members if contender == ALONE else layout.ranks
    members = ranks if contender == BARE else layout.members
    if 1 < members <= cpus and members == ranks:
        return plain, Setting("bound", bound=True)
    if contender == LOCKSTEP:
        return (plain,)
    ways = [(plain, False)] if not library.yields or ranks == 1 or members <= cpus else [(Setting("yield", (), True), True)]
    if contender not in OPENMP or layout.threads == 1:
        return tuple(setting for setting, _ in ways)
    if layout.members <= cpus:
        return plain, Setting("active", ACTIVE[contender])
    if ways[0][1] and ranks <= cpus:
        ways.append((plain, False))
    return tuple(Setting(", ".join(filter(None, (waits, "yield" if yields else ""))), PASSIVE[contender] if waits else (), yields)
                 for _, yields in ways for waits in ("", "passive"))


def entries(library, layout, cpus, contenders):
    return tuple(Entry(library, layout, contender, setting, cpus)
                 for contender in contenders for setting in settings_of(library, layout, contender, cpus))


def turns(of, turn):
    """The order of a round: each begins with another entry."""
    shift = turn * 3 % max(len(of), 1)
    return of[shift:] + of[:shift]
