# SPDX-License-Identifier: MIT
"""Facts about real machines, from recordings of their /sys, as the short text of tests/support/known_machines.hpp.

    python3 scripts/make/recorded_machines.py SOURCES > tests/support/machines_recorded.hpp

SOURCES is a directory that holds the unpacked sources of the packages in PACKAGES, each below its own name: those of
hwloc and util-linux come with `apt-get source`, that of ghw with `go mod download`. Their test data are archives of /sys,
made on the machines by their users, and each beside what the package says about that machine. No file of them is kept
here: only which CPUs share what, by which name of a file the machine tells it, and the sizes of the groups that the
package states. Those are taken from its own output, not from the recording, and the test compares both.
"""

import pathlib
import posixpath
import re
import sys
import tarfile

PACKAGES = {
    "hwloc": ("hwloc 2.9.0", "hwloc-2.9.0/tests/hwloc/linux/{}.tar.bz2", "tests/hwloc/linux/{}.tar.bz2"),
    "util-linux": ("util-linux 2.42.4", "util-linux-2.42.4/tests/ts/lscpu/dumps/{}.tar.gz", "tests/ts/lscpu/dumps/{}.tar.gz"),
    "ghw": ("github.com/jaypipes/ghw v0.27.0", "ghw@v0.27.0/testdata/snapshots/{}.tar.gz", "testdata/snapshots/{}.tar.gz"),
}
# Name here, package, archive, machine; what the package says and we read differently, as {group: (sizes, reason)}.
ALONE = "hwloc takes what /sys calls siblings of a core for a package; there is no number"
MACHINES = (
    ("magny_cours_sparse", "hwloc", "48amd64-4d2n6c-sparse", "4 AMD Opteron of 12 cores, engineering samples: gaps between the numbers of nodes", {}),
    ("xeon_offline", "hwloc", "16em64t-4s2c2t-offlines", "4 Intel Xeon of 2 cores, SMT on, 4 CPUs offline; /sys of 2006 has masks and no lists", {}),
    ("dunnington", "hwloc", "96em64t-4n4d3ca2co", "16 Intel Xeon of 6 cores, 4 to a node, pairs of cores with an L2; masks only", {}),
    ("xeon_e5_half", "hwloc", "offline-cpu0-node0", "2 Intel Xeon E5-2680 v3, CPUs 0-3 and 21-23 offline, and node 0",
     {"nodes": ("1x8,1x9", "the CPUs of the node that is offline are a group of their own")}),
    ("xeon_e5472", "hwloc", "8em64t-2s2ca2c-buggynuma", "2 Intel Xeon E5472, L2 for pairs of cores; the firmware says of 8 nodes that each has all CPUs", {}),
    ("xeon_x7550", "util-linux", "x86_64-64cpu", "4 Intel Xeon X7550, SMT on; one node has two sockets", {}),
    ("xeon_l5640", "ghw", "linux-amd64-8581cf3a529e5d8b97ea876eade2f60d", "2 Intel Xeon L5640, SMT on, numbered in turns", {}),
    ("epyc_7451", "util-linux", "x86_64-epyc_7451", "2 AMD EPYC 7451 of 24 cores in 8 caches and 4 nodes, SMT on", {}),
    ("ryzen_1600", "ghw", "linux-amd64-61797caf7c0b6bca1725ad7975ed4773", "AMD Ryzen 5 1600: 6 cores in 2 caches, SMT on", {}),
    ("opteron_job", "hwloc", "32amd64-4s2n4c-cgroup2", "4 AMD Opteron 6134, of which a job's control group has 6 CPUs", {}),
    ("core_i7_1270p", "ghw", "linux-amd64-415ee03b8c4d1c4f07ae2e9d8b3d3d6d", "Intel Core i7-1270P: 4 P-cores with SMT, 8 E-cores in clusters of 4; the lists of kinds were not recorded", {}),
    ("snapdragon_8_gen_2", "util-linux", "arm-A510-A710-A715-X3", "Qualcomm Snapdragon 8 Gen 2: 3 Cortex-A510, 2 A710, 2 A715, one X3; its kernel calls clusters packages",
     {"packages": ("1x1,1x3,1x4", "lscpu gives one socket to each kind of core, numbered from 0"),
      "cores": ("8x1", "lscpu counts the cores of each kind from 0")}),
    ("exynos_5", "util-linux", "armv7", "Samsung Exynos 5: 2 Cortex-A15; no caches, no nodes", {}),
    ("kunpeng_920", "hwloc", "128arm-2pa2n8cluster4co", "2 HiSilicon Kunpeng 920 of 64 cores in 2 caches, packages 36 and 8442", {}),
    ("power9_gpus", "hwloc", "nvidiagpunumanodes.kept", "IBM AC922: 2 POWER9, SMT4, 32 of 176 CPUs, caches for pairs of cores told as masks, 6 nodes of GPU memory", {}),
    ("power7_780", "hwloc", "256ppc-8n8s4t", "IBM Power 780: 64 POWER7 cores, SMT4, nodes with gaps, packages without numbers", {"packages": ("1x256", ALONE)}),
    ("power7_guest", "util-linux", "ppc64-POWER7", "partition of an IBM Power 750: 4 POWER7 cores, SMT4; only first-level caches are told",
     {"packages": ("1x16", "lscpu takes what /sys calls siblings of a core for a package; there is no number")}),
    ("z196_partition", "util-linux", "s390-lpar", "partition of an IBM z196, CPUs 0, 6 and 7 offline; no caches, no nodes",
     {"packages": ("1x17", "lscpu goes by lists of siblings; there is no number")}),
    ("z16", "ghw", "linux-s390x-snapshot", "IBM z16, 4 cores, SMT2", {}),
    ("milkv_pioneer", "util-linux", "rv64-milkvpioneer", "Milk-V Pioneer: 64 RISC-V cores, 4 nodes in turns of 8; no caches", {}),
    ("ultra_sparc", "util-linux", "sparc64", "6 UltraSPARC II, CPUs 6, 7, 10, 11, 14, 15; no cache directories, no nodes",
     {"packages": ("1x6", "lscpu goes by lists of siblings; there is no number"),
      "caches": ("1x6", "lscpu reads them elsewhere (l2_cache_size)")}),
    ("loongson_guest", "util-linux", "loongarch-kvm_on_loongson_3c6000", "guest of KVM on a Loongson 3C6000: each of its 32 CPUs a package, one cache for all", {}),
)
MOST_CACHES = 16
MOST_CPUS_IN_FULL = 64


def listed(text):
    """The CPUs of a list as the kernel writes it, or None where it is no list."""
    cpus = set()
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+)(?::(\d+))?)?", part)
        if not match:
            return None
        first = int(match[1])
        cpus.update(range(first, int(match[2] or first) + 1, int(match[3] or 1)))
    return frozenset(cpus)


def masked(text):
    bits = int(text.replace(",", ""), 16)
    return frozenset(cpu for cpu in range(bits.bit_length()) if bits >> cpu & 1)


def written(cpus):
    """The shortest list of them: ranges, and strides of four or more."""
    rest, parts = sorted(cpus), []
    while rest:
        best = [rest[0]]
        for stride in sorted({cpu - rest[0] for cpu in rest[1:9]}):
            run = [rest[0]]
            while run[-1] + stride in cpus and run[-1] + stride in rest:
                run.append(run[-1] + stride)
            if len(run) > len(best) and (stride == 1 or len(run) > 3):
                best, by = run, stride
        if len(best) == 1:
            parts.append(str(best[0]))
        else:
            parts.append(f"{best[0]}-{best[-1]}" + ("" if by == 1 else f":{by}"))
        rest = [cpu for cpu in rest if cpu not in set(best)]
    return ",".join(parts)


def folded(lists):
    """Lists as texts; those that follow each other at a constant step as one."""
    lists, texts, at = sorted(lists, key=min), [], 0
    while at < len(lists):
        count, step = 1, 0
        while at + count < len(lists):
            last, here = lists[at + count - 1], lists[at + count]
            by = min(here) - min(last)
            if (count > 1 and by != step) or here != frozenset(cpu + by for cpu in last):
                break
            step, count = by, count + 1
        texts.append(written(lists[at]) + (f" +{step} x{count}" if count > 1 else ""))
        at += count
    return texts


class Recording:
    """The files of an archive, by their path from the root of the machine."""

    def __init__(self, archive):
        self.texts, links = {}, {}
        with tarfile.open(archive) as tar:
            for member in tar:
                at = re.search(r"(?:^|/)((?:sys|proc)/.*)", member.name)
                if at and member.isfile() and member.size < 1 << 20:
                    self.texts[at[1]] = tar.extractfile(member).read().decode(errors="replace").strip(" \n\t\0")
                elif at and member.issym():
                    links[at[1]] = posixpath.normpath(posixpath.join(posixpath.dirname(at[1]), member.linkname))
                elif at and member.isdir():
                    self.texts.setdefault(at[1], None)
        for path, target in links.items():
            below = {path + other[len(target):]: text for other, text in self.texts.items() if other == target or other.startswith(target + "/")}
            self.texts.update(below)
        self.cpus = sorted(int(match[1]) for path in self.texts if (match := re.fullmatch(r"sys/devices/system/cpu/cpu(\d+)", path)))
        self.nodes = sorted(int(match[1]) for path in self.texts if (match := re.fullmatch(r"sys/devices/system/node/node(\d+)", path)))

    def of_cpu(self, cpu, file):
        return self.texts.get(f"sys/devices/system/cpu/cpu{cpu}/{file}")

    def online(self):
        return [cpu for cpu in self.cpus if self.of_cpu(cpu, "online") != "0"]

    def sharing(self, read, names):
        """The CPUs in the first of the files that is there, and its name; nothing if none is."""
        for name in names:
            text = read(name)
            if text is not None:
                return (listed(text) if name.endswith("list") else masked(text)) or frozenset(), name.rsplit("/", 1)[-1]
        return None, None

    def groups(self, usable, names):
        """{CPUs of a group: the CPUs whose files say so}, and the name of those files."""
        found, by = {}, None
        for cpu in usable:
            cpus, name = self.sharing(lambda file, cpu=cpu: self.of_cpu(cpu, file), names)
            if cpus:
                found.setdefault(cpus, set()).add(cpu)
                by = name
        return found, by


def lines_of_groups(key, groups, usable, name, usual):
    if not groups:
        return
    if name != usual:
        yield f"file {key.split()[0]} {name}"
    for cpus, told_by in groups.items():
        assert told_by == cpus & set(usable), f"{key}: {written(told_by)} say {written(cpus)}"
    for text in folded(groups):
        yield f"{key} {text}"


def facts(machine, usable):
    """The lines of a recording, for the CPUs that its process may use."""
    packages = {}
    for cpu in usable:
        packages.setdefault(machine.of_cpu(cpu, "topology/physical_package_id"), set()).add(cpu)
    for number, cpus in packages.items():
        if number not in (None, "-1"):
            yield f"package {number} {written(cpus)}"
    names = [f"topology/{name}" for name in ("core_cpus_list", "thread_siblings_list", "core_cpus", "thread_siblings")]
    groups, name = machine.groups(usable, names)
    yield from lines_of_groups("core", groups, usable, name, "core_cpus_list")
    is_told = False
    indices = [index for index in range(MOST_CACHES) if any(machine.of_cpu(cpu, f"cache/index{index}/level") for cpu in usable)]
    # Files cost time in the test: of large machines only the last cache is told.
    for index in indices if len(usable) <= MOST_CPUS_IN_FULL else indices[-1:]:
        at = f"cache/index{index}/"
        groups, name = machine.groups(usable, [at + "shared_cpu_list", at + "shared_cpu_map"])
        kinds = {(machine.of_cpu(cpu, at + "level"), machine.of_cpu(cpu, at + "type")) for cpu in usable} - {(None, None)}
        for level, kind in sorted(kinds):
            of_kind = {cpus: told for cpus, told in groups.items() if machine.of_cpu(min(told), at + "type") == kind and machine.of_cpu(min(told), at + "level") == level}
            lines = list(lines_of_groups(f"cache {level} {kind}", of_kind, usable, name, "shared_cpu_list"))
            yield from lines[1:] if is_told and lines and lines[0].startswith("file") else lines
            is_told = True
    yield from nodes_of(machine)
    for key, file in (("capacity", "cpu_capacity"), ("clock", "cpufreq/cpuinfo_max_freq")):
        values = {}
        for cpu in usable:
            if machine.of_cpu(cpu, file) is not None:
                values.setdefault(int(machine.of_cpu(cpu, file)), set()).add(cpu)
        for value, cpus in sorted(values.items()):
            yield f"{key} {value} {written(cpus)}"
    for path, text in machine.texts.items():
        if match := re.fullmatch(r"sys/devices/cpu_(\w+)/cpus", path):
            yield f"hybrid {match[1]} {text}"


def nodes_of(machine):
    # Where node/online was not recorded, the directories tell which there are.
    online = machine.texts.get("sys/devices/system/node/online")
    by = "cpulist"
    lines = []
    for node in sorted(listed(online)) if online else machine.nodes:
        cpus, name = machine.sharing(lambda file, node=node: machine.texts.get(f"sys/devices/system/node/node{node}/{file}"), ["cpulist", "cpumap"])
        lines.append(f"node {node} {written(cpus)}" if cpus else f"memory {node}")
        by = name if cpus else by
    if by != "cpulist":
        yield f"file node {by}"
    yield from lines


def sizes(groups):
    """How many groups there are of each size: 8x6 are eight of six."""
    counts = {}
    for size in map(len, groups):
        counts[size] = counts.get(size, 0) + 1
    return ",".join(f"{count}x{size}" for size, count in sorted(counts.items()))


def parted(of_cpu):
    groups = {}
    for cpu, number in of_cpu.items():
        groups.setdefault(number, set()).add(cpu)
    return groups.values()


def said_by_hwloc(archive, machine):
    """The tree that `lstopo` prints: an object is on the lines below it that are further to the right."""
    text = pathlib.Path(re.sub(r"\.tar\.\w+$", ".output", str(archive))).read_text()
    stack, found, nodes = [], {}, {}
    for line in text.splitlines():
        match = re.match(r"( *)(\w+) L#(\d+) (?:\(P#(\d+))?", line)
        if not match:
            continue
        while stack and stack[-1][0] >= len(match[1]):
            stack.pop()
        kind, number = match[2], int(match[3])
        if kind == "NUMANode":
            nodes[int(match[4])] = stack[-1][1] if stack else ("Machine", 0)
        elif kind == "PU":
            for _, above in [*stack, (0, ("Machine", 0))]:
                found.setdefault(above, set()).add(int(match[4]))
        if kind != "NUMANode":
            stack.append((len(match[1]), (kind, number)))
    usable = found[("Machine", 0)]
    groups = {"packages": "Package", "cores": "Core"}
    caches = [kind for kind in ("L4Cache", "L3Cache", "L2Cache", "L1dCache") if any(above[0] == kind for above in found)]
    if caches:
        groups["caches"] = caches[0]
    result = {key: [cpus for above, cpus in found.items() if above[0] == kind] for key, kind in groups.items()}
    empty = {int(line.split()[1]) for line in nodes_of(machine) if line.startswith("memory")}
    result["nodes"] = [found[above] for node, above in nodes.items() if node not in empty and above in found]
    return usable, result


def said_by_lscpu(archive):
    """The table that `lscpu -p` prints: a column for each kind of group."""
    name = archive.name.replace(".tar.gz", "")
    text = (archive.parents[3] / "expected/lscpu" / f"lscpu-{name}").read_text()
    head, *rows = text.split("# CPU,")[1].strip().splitlines()
    columns = ("CPU," + head).split(",")
    rows = [row.split(",") for row in rows if re.match(r"\d", row)]
    result = {}
    last = next((level for level in ("L3", "L2", "L1d") if level in columns), None)
    for key, column in (("packages", "Socket"), ("cores", "Core"), ("nodes", "Node"), ("caches", last)):
        if column is None:
            continue
        at = columns.index(column)
        of_cpu = {int(row[0]): row[at] for row in rows if len(row) > at and row[at] not in ("", "-")}
        if len(of_cpu) == len(rows):
            result[key] = parted(of_cpu)
    return {int(row[0]) for row in rows}, result


def said_by_cpuinfo(machine):
    """What /proc/cpuinfo says, which is in the same archive and is not made from /sys."""
    packages, cores = {}, {}
    for part in machine.texts["proc/cpuinfo"].split("\n\n"):
        values = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in part.splitlines())}
        cpu = values.get("processor", values.get("cpu number"))
        if cpu is None or "physical id" not in values:
            continue
        packages[int(cpu)] = values["physical id"]
        cores[int(cpu)] = (values["physical id"], values["core id"])
    return set(packages), {"packages": parted(packages), "cores": parted(cores)}


def text_of(name, package, archive, about, differing, sources):
    version, place, shown = PACKAGES[package]
    path = sources / place.format(archive.removesuffix(".kept"))
    machine = Recording(path)
    if package == "hwloc":
        stated = path.with_name(archive + ".tar.bz2")
        usable, said = said_by_hwloc(stated, machine)
        by = "lstopo's output beside it"
    elif package == "util-linux":
        usable, said = said_by_lscpu(path)
        by = "lscpu's output beside it"
    else:
        usable, said = said_by_cpuinfo(machine)
        by = "/proc/cpuinfo in it"
    assert usable <= set(machine.online()), f"{name}: {written(usable)} of {written(machine.online())}"
    yield f"machine {name}"
    yield f"recorded {about}"
    yield f"source {version}, {shown.format(archive.removesuffix('.kept'))}; said by {by}"
    yield f"usable {written(usable)}"
    yield from facts(machine, sorted(usable))
    for key, groups in said.items():
        if groups:
            yield f"said {key} {sizes(groups)}"
    for key, (read, why) in differing.items():
        yield f"read {key} {read} {why}"


HEAD = """// SPDX-License-Identifier: MIT
// tests/support/machines_recorded.hpp -- facts about real machines, from recordings of their /sys
//
// Made by scripts/make/recorded_machines.py; not to be edited. The recordings are test data of hwloc (BSD licence),
// util-linux (GPL) and ghw (Apache licence), which `source` names. No file of them is here, only facts: who shares what,
// and how large the groups are that the package states. The lines: known_machines.hpp.
#pragma once

namespace lockstep::test {

inline constexpr const char* machines_recorded = R"("""
FOOT = """)";

}  // namespace lockstep::test"""


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(HEAD)
    print("\n\n".join("\n".join(text_of(*machine, pathlib.Path(sys.argv[1]))) for machine in MACHINES))
    print(FOOT)


if __name__ == "__main__":
    main()
