# SPDX-License-Identifier: MIT
"""Makes a setting of the machine for the processes that are measured: their CPUs, and a quota of CPU time.

Also what CPU time the machine spends."""

import contextlib
import os
from pathlib import Path

PERIOD_US = 100_000


class CannotBeSet(Exception):
    pass


def busy_seconds():
    """CPU time of all processes since the start of the system."""
    fields = Path("/proc/stat").read_text(encoding="utf-8").split("\n", 1)[0].split()[1:]
    user, nice, system, _, _, irq, softirq = (int(one) for one in fields[:7])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def own_group(controller):
    """This process's path in the hierarchy of a controller ('' is that of version 2), or None."""
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, names, path = line.split(":", 2)
        if controller in names.split(",") and (controller or not names):
            return path.lstrip("/")
    return None


def mount_point(kind, controller=None):
    for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines():
        _, where, found, options = line.split()[:4]
        if found == kind and (controller is None or controller in options.split(",")):
            return Path(where)
    return None


def group_files(cpus):
    """Pairs of the parent directory and the files to write, for each version of control groups."""
    quota = int(cpus * PERIOD_US)
    for kind, controller, files in (
            ("cgroup", "cpu", {"cpu.cfs_period_us": PERIOD_US, "cpu.cfs_quota_us": quota}),
            ("cgroup2", "", {"cpu.max": f"{quota} {PERIOD_US}"})):
        mount, path = mount_point(kind, controller or None), own_group(controller)
        if mount and path is not None:
            yield mount / path, files


@contextlib.contextmanager
def quota_group(cpus):
    """The directory of a new control group that may use so many CPUs; removed at the end, when it is empty."""
    reasons = []
    for parent, files in group_files(cpus):
        group = parent / f"lockstep-bench-{os.getpid()}"
        try:
            group.mkdir()
        except OSError as error:
            reasons.append(f"{parent}: {error.strerror}")
            continue
        try:
            try:
                for name, value in files.items():
                    (group / name).write_text(f"{value}\n", encoding="utf-8")
            except OSError as error:
                reasons.append(f"{parent}: {error.strerror}")
                continue
            yield group
            return
        finally:
            with contextlib.suppress(OSError):
                group.rmdir()
    raise CannotBeSet("; ".join(reasons) or "this system has no control groups")


@contextlib.contextmanager
def made(setting):
    """Yields what a process calls between fork and exec to be in that setting. Throws CannotBeSet."""
    if setting.one_cpu:
        first = min(os.sched_getaffinity(0))
        yield lambda: os.sched_setaffinity(0, {first})
    elif setting.quota:
        with quota_group(setting.quota) as group:
            members = group / "cgroup.procs"
            yield lambda: members.write_text(f"{os.getpid()}\n", encoding="utf-8")
    else:
        yield None
