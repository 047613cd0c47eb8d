#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program mpi_heat: the same bits for every number of ranks and members, also after it was killed; errors told once.

  heat_test.py all|some RANKS_SH MPI MPI_HEAT SCRATCH

'some': a few runs only. SCRATCH is a directory for files, made anew.
"""

import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
from pathlib import Path

PLATE = ["--rows", "37", "--columns", "29"]
ENDLESS = "4000000000"


LIMIT = 60  # seconds; a run takes less than one


class Runs:
    def __init__(self, extent, start, mpi, program, scratch):
        self.has_all, self.start, self.mpi, self.program = extent == "all", start, mpi, program
        self.scratch = Path(scratch)
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)
        self.checkpoint = self.scratch / "state"

    def command(self, ranks, *arguments):
        plate = [] if "--rows" in arguments else PLATE
        return [self.start, self.mpi, str(ranks), self.program, *plate, *map(str, arguments)]

    def run(self, ranks, *arguments, status=0):
        done = subprocess.run(self.command(ranks, *arguments), capture_output=True, text=True, check=False,
                              timeout=LIMIT)
        text = done.stdout + done.stderr
        assert done.returncode == status, f"{arguments}: status {done.returncode}, not {status}\n{text}"
        return text

    def result(self, ranks, members, *arguments):
        path = self.scratch / f"result_{ranks}_{members}"
        self.run(ranks, "--members", members, "--output", path, *arguments)
        cells = path.read_bytes()
        path.unlink()
        return cells

    def forget(self):
        for path in self.scratch.glob("state*"):
            path.unlink()

    def kill_during(self, ranks, members, after):
        """Starts an endless run that saves at every step, kills it after some checkpoints, returns the last it told of."""
        with subprocess.Popen(
            self.command(ranks, "--members", members, "--steps", ENDLESS, "--resume", "--checkpoint", self.checkpoint,
                         "--checkpoint-every", 1),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        ) as started:
            step = None
            for line in started.stdout:
                found = re.fullmatch(r"checkpoint: step (\d+)\n", line)
                if found:
                    step = int(found[1])
                    after -= 1
                if after == 0:
                    break
            assert step is not None, "the run ended before its first checkpoint"
            for process in reversed(descendants(started.pid)):
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            started.stdout.read()
        return step


    def saved_step(self):
        """Of the younger generation that is there: a run that was killed between two renames has left the older one."""
        young, old = self.checkpoint, Path(f"{self.checkpoint}.old")
        header = (young if young.exists() else old).read_bytes()[:56]
        return struct.unpack_from("=Q", header, 48)[0]


def descendants(root):
    """The process and all that it has started, parents first."""
    children = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found = [root]
    for process in found:
        found.extend(children.get(process, []))
    return found


def step_of(text):
    return int(re.search(r"goes on from .*, step (\d+)", text)[1])


def same_bits(runs):
    plain, ring = (runs.result(1, 1, "--steps", 150, "--check", *extra) for extra in ([], ["--ring"]))
    assert len(plain) == 37 * 29 * 8 and plain != ring
    splits = [(1, 2), (1, 4), (2, 1), (2, 2), (2, 4), (4, 1), (4, 2), (4, 4)]
    for ranks, members in splits if runs.has_all else splits[1::3]:
        assert runs.result(ranks, members, "--steps", 150) == plain, (ranks, members)
    assert runs.result(4, 2, "--steps", 150, "--ring", "--check") == ring


def killed_runs(runs):
    dice = random.Random(2)
    output = runs.scratch / "result"
    for ranks, members in [(2, 1), (4, 2), (1, 4)] if runs.has_all else [(2, 2)]:
        saved = runs.kill_during(ranks, members, dice.randrange(5, 40))
        # Another crew goes on; twice killed is no worse than once.
        again = runs.kill_during(5 - ranks, members + 1, 3)
        assert again >= saved + 3, (saved, again)
        found = runs.saved_step()
        assert found >= again, (found, again)
        text = runs.run(3, "--members", 2, "--steps", found + 50, "--output", output, "--resume", "--checkpoint",
                        runs.checkpoint, "--checkpoint-every", 20)
        assert step_of(text) == found, (found, text)
        assert output.read_bytes() == runs.result(1, 1, "--steps", found + 50)
        runs.forget()


def generations(runs):
    expected = runs.result(1, 1, "--steps", 60)
    save = ["--checkpoint", runs.checkpoint, "--checkpoint-every", 20]
    go_on = ["--resume", *save, "--steps", 60]
    old = Path(f"{runs.checkpoint}.old")

    runs.run(2, "--steps", 40, "--members", 2, *save)
    saved = {path: path.read_bytes() for path in (runs.checkpoint, old)}

    def begin():
        runs.forget()
        for path, content in saved.items():
            path.write_bytes(content)

    def damage(path, offset):
        content = bytearray(path.read_bytes())
        content[offset] ^= 0x10
        path.write_bytes(content)

    begin()
    assert runs.result(4, 1, *go_on) == expected  # another number of ranks and members
    if not runs.has_all:
        return
    # Each kind of damage is found, named, and the older generation used; killed between two renames, as well.
    for spoil, reason in [
        (lambda: damage(runs.checkpoint, 72 + 37 * 29 * 8 - 1), "checksum does not fit"),
        (lambda: damage(runs.checkpoint, 48), "its header is damaged"),  # the step
        (lambda: damage(runs.checkpoint, 0), "does not begin as one"),
        (lambda: damage(runs.checkpoint, 8), "it is of version"),
        (lambda: os.truncate(runs.checkpoint, 72 + 37 * 29 * 8 - 1), "bytes, 37 x 29 cells need"),
        (lambda: os.truncate(runs.checkpoint, 10), "shorter than a header"),
        (runs.checkpoint.unlink, None),
    ]:
        begin()
        spoil()
        text = runs.run(1, *go_on, "--output", runs.scratch / "result")
        assert step_of(text) == 20, text
        assert (reason or "") in text and ("warning: " in text) == (reason is not None), text
        assert (runs.scratch / "result").read_bytes() == expected
    begin()
    for path in (runs.checkpoint, old):
        damage(path, 100)
    text = runs.run(2, *go_on, status=2)
    assert text.count("checksum does not fit") == 2 and "to begin anew" in text, text


def refusals(runs):
    save = ["--checkpoint", runs.checkpoint]
    runs.run(2, "--steps", 30, *save)
    before = runs.checkpoint.read_bytes()
    for arguments, expected in [
        (["--steps", 40], "give --resume to go on from it, or remove it"),
        (["--resume", "--steps", 20], "is at step 30, beyond --steps 20"),
        (["--resume", "--steps", 40, "--rows", 38, "--columns", 29], "is of 37 x 29 cells, this run has 38 x 29: give --rows 37"),
        (["--resume", "--steps", 40, "--diffusion", "0.1"], "is of a run with --diffusion 0.2, this one has 0.1"),
        (["--resume", "--steps", 40, "--ring"], "is of a run without --ring, this one is with"),
        (["--resume", "--steps", 40, "--diffusion", "0.3"], "at most 0.25"),
    ]:
        text = runs.run(2, *arguments, *save, status=2)
        assert text.count("error: ") == 1 and expected in text, (arguments, text)
        assert runs.checkpoint.read_bytes() == before
    text = runs.run(2, "--resume", status=2)
    assert "give --checkpoint FILE as well" in text, text
    text = runs.run(2, "--steps", 3, "--checkpoint", runs.scratch / "nowhere" / "state", status=2)
    assert "No such file" in text, text
    text = runs.run(4, "--rows", 1, "--columns", 3, status=2)
    assert "4 ranks cannot divide 1 x 3 cells" in text, text


def main():
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    runs = Runs(*sys.argv[1:])
    tests = [same_bits, killed_runs, generations]
    for test in tests + [refusals] if runs.has_all else tests:
        test(runs)
        runs.forget()
        print(f"{test.__name__}: ok", flush=True)


if __name__ == "__main__":
    main()
