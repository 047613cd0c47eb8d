# SPDX-License-Identifier: MIT
"""Grids of loops between other things: settings of the machine, peers, cells, and how long it all takes (pure)."""

from dataclasses import dataclass

OWN = "team_lockstep"


@dataclass(frozen=True)
class Peer:
    """Each with its defaults; a second libgomp that sleeps while it waits."""
    label: str
    runner: str
    peer: str
    environment: tuple = ()


PEERS = (
    Peer("lockstep", OWN, "lockstep"),
    Peer("lockstep loops", OWN, "lockstep-loops"),
    Peer("libgomp", "team_gomp", "libgomp"),
    Peer("libgomp passive", "team_gomp", "libgomp", (("OMP_WAIT_POLICY", "passive"),)),
    Peer("libomp", "team_omp", "libomp"),
    Peer("oneTBB", OWN, "tbb"),
    Peer("ForkUnion", OWN, "fork_union-yield"),
)


@dataclass(frozen=True)
class Setting:
    """What the machine is doing meanwhile, and how many threads a team has."""
    name: str
    title: str
    threads: int = 2
    competitor: str = ""
    one_cpu: bool = False
    quota: float = 0.0  # CPUs that the control group may use


SETTINGS = (
    Setting("idle", "nothing else running, 2 threads"),
    Setting("bound", "beside a busy process that is bound to the first CPU", competitor="bound"),
    Setting("free", "beside a busy process that is free to move", competitor="free"),
    Setting("two", "beside two busy processes", competitor="two"),
    Setting("one-cpu", "2 threads on one CPU (taskset)", one_cpu=True),
    Setting("8", "8 threads", threads=8),
    Setting("32", "32 threads", threads=32),
    Setting("quota", "2 threads, a quota of half a CPU", quota=0.5),
)


@dataclass(frozen=True)
class Cell:
    """A cell of the runners; `step_us`: what a loop takes, about, with the pause before it and what else it brings."""
    kind: str
    size: int
    pause_us: int
    title: str
    step_us: float
    least_loops: int = 3  # in a sample

    def argument(self, loops):
        return f"{self.kind}:{self.size}:{self.pause_us}:{loops}"


@dataclass(frozen=True)
class Group:
    """Cells that one process measures, and in which setting."""
    setting: Setting
    cells: tuple


@dataclass(frozen=True)
class Effort:
    """How much is measured: `rounds` processes of each group and peer, `samples` of each cell in each."""
    rounds: int = 3
    samples: int = 3
    seconds: float = 0.01  # of a sample, about


LEAST_LOOPS, MOST_LOOPS = 3, 300  # the first is that of the runners
LEAST_SECONDS, MOST_SECONDS = 0.003, 0.5
PROCESS_SECONDS = 0.03  # to start one, with its team


def loops_of(cell, seconds):
    """Loops in a sample."""
    fitting = seconds * 1e6 / cell.step_us
    return int(min(max(fitting, cell.least_loops), MOST_LOOPS))


def longest_sample(cells, seconds):
    """The runner ends a sample then if the machine is slow: a few times what is expected."""
    expected = max(loops_of(cell, seconds) * cell.step_us for cell in cells)
    return max(3e-6 * expected, 0.02)


def groups_of(cells_of_setting, group_by):
    """cells_of_setting: {setting: cells}; group_by(cell): the cells of a process have it in common."""
    groups = []
    for setting, cells in cells_of_setting.items():
        for key in dict.fromkeys(map(group_by, cells)):
            groups.append(Group(setting, tuple(cell for cell in cells if group_by(cell) == key)))
    return groups


def expected_seconds(groups, peers, effort, cost):
    """cost(cells, samples, seconds): of one process, in seconds, without its start."""
    return effort.rounds * peers * sum(PROCESS_SECONDS + cost(group.cells, effort.samples, effort.seconds)
                                       for group in groups)


def effort_within(budget, groups, peers, effort, cost):
    """The longest samples that fit into so many seconds, or None."""
    def fits(seconds):
        tried = Effort(effort.rounds, effort.samples, seconds)
        return tried if expected_seconds(groups, peers, tried, cost) <= budget else None

    best = fits(LEAST_SECONDS)
    if best is None:
        return None
    low, high = LEAST_SECONDS, MOST_SECONDS
    for _ in range(30):
        middle = (low + high) / 2
        tried = fits(middle)
        if tried:
            best, low = tried, middle
        else:
            high = middle
    return best


def choose(budget, settings, levels, peers, effort, group_by, cost, keep=lambda setting, cell: True):
    """levels: pairs of cells for the idle machine and for the others, from the whole grid to the least. The first
    that fits into the budget, with the longest samples that fit; else the last one, which does not.
    keep(setting, cell): is it wanted? Returns groups, effort and the number of the level."""
    for number, (idle, others) in enumerate(levels):
        groups = groups_of({s: [cell for cell in (idle if s.name == "idle" else others) if keep(s, cell)]
                            for s in settings}, group_by)
        chosen = effort_within(budget, groups, peers, effort, cost)
        if chosen:
            return groups, chosen, number
    return groups, Effort(effort.rounds, effort.samples, LEAST_SECONDS), len(levels) - 1


def turns(groups, peers, turn):
    """Pairs of group and peer in a round: the peers of a group follow each other, there and back in turns."""
    for index, group in enumerate(groups):
        order = peers if (turn + index) % 2 == 0 else tuple(reversed(peers))
        for peer in order:
            yield group, peer


def slowed(effort, seconds_left, seconds_of_last_round, rounds_left):
    """Shorter samples for the rounds that are left, where the last one took longer than was expected."""
    if rounds_left == 0 or seconds_of_last_round * rounds_left <= seconds_left:
        return effort
    share = max(seconds_left, 0) / (seconds_of_last_round * rounds_left)
    return Effort(effort.rounds, effort.samples, max(LEAST_SECONDS, effort.seconds * share))
