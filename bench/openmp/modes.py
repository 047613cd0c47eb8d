# SPDX-License-Identifier: MIT
"""Which OpenMP runtime serves a program, how it waits, and what the machine does meanwhile."""

import contextlib
import glob
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "grid"))
import machine_settings  # noqa: E402

# What would change a runtime's behaviour, or put another one in its place.
FOREIGN = re.compile(r"^(OMP|KMP|GOMP|LOCKSTEP|OPENBLAS|LD)_")
REFERENCE = "libgomp"
OURS = "ours"


@dataclass(frozen=True)
class Mode:
    name: str
    environment: tuple = ()
    library: str = ""  # the file that serves; empty: the system's, for this compiler

    def variables(self, bundled):
        """`bundled`: the program brings a runtime under a name of its own, which only a preloaded one comes before."""
        more = dict(self.environment)
        if "LD_LIBRARY_PATH" in more:
            return more
        if self.library and (bundled or Path(self.library).name != "libgomp.so.1"):
            more["LD_PRELOAD"] = self.library
        elif self.library:
            more["LD_LIBRARY_PATH"] = str(Path(self.library).parent)
        return more


def libomp():
    """LLVM's runtime, the newest; it exports libgomp's names too."""
    found = glob.glob("/usr/lib/llvm-*/lib/libomp.so.5") + glob.glob("/usr/lib/*/libomp.so.5")
    return max(found, key=lambda path: int((re.search(r"llvm-(\d+)", path) or [0, 0])[1]), default="")


def modes_of_clang(ours):
    """For programs of Clang: its own runtime, with threads that wait as by default, that sleep, that poll; and ours."""
    result = [Mode("libomp"), Mode("libomp passive", (("KMP_BLOCKTIME", "0"),)),
              Mode("libomp active", (("KMP_BLOCKTIME", "infinite"),))]
    if ours:
        result.append(Mode(OURS, (("LD_LIBRARY_PATH", str(ours)),), str(ours / "libomp.so.5")))
    return result


def modes(ours):
    result = [Mode(REFERENCE), Mode("libgomp active", (("OMP_WAIT_POLICY", "active"),)),
              Mode("libgomp passive", (("OMP_WAIT_POLICY", "passive"),))]
    if libomp():
        result.append(Mode("libomp", library=libomp()))
    if ours:
        result.append(Mode(OURS, library=str(ours / "libgomp.so.1")))
    return result


@dataclass(frozen=True)
class Setting:
    name: str
    title: str
    threads: int = 2
    busy: bool = False
    quota: float = 0.0  # CPUs that the control group may use
    one_cpu: bool = False


SETTINGS = (
    Setting("idle", "2 threads, nothing else running"),
    Setting("4", "4 threads", threads=4),
    Setting("8", "8 threads", threads=8),
    Setting("16", "16 threads", threads=16),
    Setting("busy", "2 threads beside a busy process", busy=True),
    Setting("quota", "2 threads under a quota of one CPU", quota=1.0),
)


def environment(mode, setting, bundled):
    kept = {name: value for name, value in os.environ.items() if not FOREIGN.match(name)}
    return kept | {"OMP_NUM_THREADS": str(setting.threads)} | mode.variables(bundled)


@contextlib.contextmanager
def made(setting):
    """Yields (what a process calls before exec, the busy process or None). Raises CannotBeSet."""
    with machine_settings.made(setting) as prepare, contextlib.ExitStack() as stack:
        busy = None
        if setting.busy:
            busy = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(busy.kill)
        yield prepare, busy


CannotBeSet, busy_seconds = machine_settings.CannotBeSet, machine_settings.busy_seconds
