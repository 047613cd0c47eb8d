# SPDX-License-Identifier: MIT
"""A LogGP model of the three kernels of bench/mpi on many nodes (pure). Times are in microseconds.

LogGP [AISS95]: a message of k bytes takes o_send + L + (k - 1) G + o_recv from the call to the arrival; a sender's next
message follows after g at least. The network interface of a node serves its ranks one after the other.

The field is a square, cut into squares: one for each rank. Work on it overlaps the exchange of its sides, but for the
overheads o. A sum over all ranks goes through the nodes by recursive doubling, with one message of a node in each round.
"""

import math
from dataclasses import dataclass

ALONE, OPENMP, LOCKSTEP = "MPI only", "MPI + OpenMP", "MPI + lockstep"
VARIANTS = (ALONE, OPENMP, LOCKSTEP)
BYTES = 8  # of a value


@dataclass(frozen=True)
class Link:
    """Between two ranks: over the network, or inside a node."""
    o_send: float
    o_recv: float
    latency: float
    gap: float       # g
    byte: float      # G
    name: str = ""
    source: str = ""

    @property
    def overhead(self):
        return self.o_send + self.o_recv

    def one_way(self, size):
        return self.overhead + self.latency + max(0, size - 1) * self.byte


@dataclass(frozen=True)
class Kernel:
    name: str
    title: str
    sums: int        # over all, in a step
    syncs: int       # of a rank's members, beside the sums
    point_us: float  # of one CPU


@dataclass(frozen=True)
class Meetings:
    """What two members of a rank pay to meet, and to form a sum."""
    sync: float
    sum: float


@dataclass(frozen=True)
class Machine:
    network: Link
    inside: Link            # between two ranks of a node
    pair_sum: float         # MPI_Allreduce of two ranks of a node
    meetings: dict          # of OPENMP and LOCKSTEP
    cpus: int = 64          # of a node


def rounds(parties):
    """Of recursive doubling, or levels of a tree."""
    return math.ceil(math.log2(parties)) if parties > 1 else 0


def neighbour_nodes(nodes):
    """Of the node that has most of them, when a square is cut into about square parts."""
    across = max(1, math.isqrt(nodes))
    down = -(-nodes // across)
    return min(2, across - 1) + min(2, down - 1)


def network_sum(machine, nodes):
    return rounds(nodes) * machine.network.one_way(BYTES)


def global_sum(machine, variant, nodes):
    """The members of a node meet, the nodes add, the members learn."""
    levels = rounds(machine.cpus)
    if variant != ALONE:
        return levels * machine.meetings[variant].sum + network_sum(machine, nodes)
    if nodes == 1:
        return levels * machine.pair_sum
    return 2 * levels * machine.inside.one_way(BYTES) + network_sum(machine, nodes)  # to one rank of the node, and back


def sync(machine, variant):
    return 0.0 if variant == ALONE else rounds(machine.cpus) * machine.meetings[variant].sync


def exchange(machine, variant, nodes, points):
    """(overheads that nothing overlaps, time until the last side is there) of a step's exchange."""
    sides, node_side = neighbour_nodes(nodes), math.sqrt(points / nodes)
    net = machine.network
    messages = sides * (math.sqrt(machine.cpus) if variant == ALONE else 1)
    transfer = net.latency + max(0, messages - 1) * net.gap + BYTES * sides * node_side * net.byte if sides else 0.0
    overhead = sides * net.overhead
    if variant == ALONE:
        # The rank at the corner of a node has two sides outside at most, the others lead to ranks of its node.
        outside = min(sides, 2)
        inner = 4 - outside if machine.cpus > 1 else 0
        size = BYTES * node_side / math.sqrt(machine.cpus)
        overhead = outside * net.overhead + inner * (machine.inside.overhead + size * machine.inside.byte)
        transfer = max(transfer, machine.inside.latency if inner else 0.0)
    return overhead, transfer


def compute(machine, kernel, nodes, points):
    return kernel.point_us * points / (nodes * machine.cpus)


def step(machine, kernel, variant, nodes, points):
    """Of a field of so many points."""
    work = compute(machine, kernel, nodes, points)
    overhead, transfer = exchange(machine, variant, nodes, points)
    return (max(work, transfer) + overhead + kernel.sums * global_sum(machine, variant, nodes)
            + kernel.syncs * sync(machine, variant))


def efficiency(machine, kernel, variant, nodes, points):
    """Of all CPUs: the share of the step that is work."""
    return compute(machine, kernel, nodes, points) / step(machine, kernel, variant, nodes, points)
