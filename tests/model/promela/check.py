# SPDX-License-Identifier: MIT
"""Checks Promela models with SPIN: the models must hold, and their broken variants must not.

    check.py [--nightly] [--only NAME] [--trail] MODEL.pml...

A model's banner says what to run, in lines that begin with '//@ ':
    variant NAME [nightly] [safety] [-D...]     must hold: assertions and no invalid end state, and, unless
                                                'safety' is there, its LTL property under weak fairness
    bug NAME VARIANT assert|end|cycle -D...     VARIANT with a defect: SPIN must find an error of that kind
    unreached REGEX [why]                       statements that no variant need reach, by their text in SPIN
A search that was cut short (depth, memory) is a failure, and so is a statement that is never reached: such
a model shows less than it seems to. '--nightly' runs the nightly variants instead of the others.
Exit status: 0 as expected, 1 surprises, 77 no SPIN or no C compiler here.
"""

import argparse
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
LIMIT_SECONDS = 3600
KINDS = {
    "assertion violated": "assert",
    "invalid end state": "end",
    "acceptance cycle": "cycle",
}
CUT_SHORT = ("max search depth too small", "out of memory", "Search not completed", "VECTORSZ", "interrupted")

NOISE = re.compile(r"^\t\tqueue |\[(each = .*|DO|IF|else|\.\(goto\)|goto .*|break)\]$|each = \d+$")


class Surprise(Exception):
    """A run that did not end as the banner says."""


class Variant:
    def __init__(self, words):
        self.name = words.pop(0)
        self.defines = [word for word in words if word.startswith("-D")]
        options = set(words) - set(self.defines)
        self.nightly = "nightly" in options
        self.live = "safety" not in options
        if options - {"nightly", "safety"}:
            raise Surprise(f"variant {self.name}: unknown options {options}")


class Bug:
    def __init__(self, words, variants):
        self.name, base, self.kind = words[:3]
        self.defines = variants[base].defines + words[3:]
        self.nightly = variants[base].nightly
        if self.kind not in KINDS.values() or not words[3:]:
            raise Surprise(f"bug {self.name}: unknown kind {self.kind}, or no -D")


class Model:
    def __init__(self, path):
        self.path = path.resolve()
        self.name = path.stem
        self.variants, self.bugs, self.unreached = {}, [], []
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("//@ "):
                self.add(line.split()[1:])
        if not self.variants or not self.bugs:
            raise Surprise(f"{path.name}: no variants or no bugs in its banner")

    def add(self, words):
        what = words.pop(0)
        if what == "variant":
            variant = Variant(words)
            self.variants[variant.name] = variant
        elif what == "bug":
            self.bugs.append(Bug(words, self.variants))
        elif what == "unreached":
            self.unreached.append(re.compile(words[0]))
        else:
            raise Surprise(f"{self.path.name}: unknown line '//@ {what}'")


class Outcome:
    """What pan printed."""

    def __init__(self, text, seconds):
        self.text, self.seconds = text, seconds
        found = re.search(r"errors: (\d+)", text)
        if not found or "warning" in text:
            raise Surprise(f"pan did not finish:\n{text}")
        self.errors = int(found.group(1))
        self.states = int(float(re.search(r"([\d.e+]+) states, stored", text).group(1)))
        first = re.search(r"^pan:\d+: (.*)$", text, re.MULTILINE)
        self.kind = next((kind for words, kind in KINDS.items() if first and words in first.group(1)), None)

    def cut_short(self):
        return next((words for words in CUT_SHORT if words in self.text), None)

    def unreached(self, allowed):
        """Process and text of the statements: the same place has other numbers in another variant."""
        found, process = set(), ""
        for line in self.text.splitlines():
            if line.startswith("unreached in "):
                process = line.removeprefix("unreached in ")
            at = re.match(r'\t.*, state \d+, "(.*)"$', line)
            if at and not process.startswith("claim") and at.group(1) != "-end-":
                if not any(regex.search(at.group(1)) for regex in allowed):
                    found.add(f"{process}: {at.group(1)}")
        return found


def cpu_seconds():
    """Of all children so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def call(command, work):
    done = subprocess.run(command, cwd=work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, timeout=LIMIT_SECONDS)
    return done.returncode, done.stdout


def run_pan(model, defines, live, optimise, work):
    """Generates, compiles and runs the verifier."""
    depth = 10000000 if optimise == "-O2" else 100000
    begin = cpu_seconds()
    status, text = call(["spin", "-a", *defines, str(model.path)], work)
    if status != 0 or "rror" in text or not (work / "pan.c").exists():
        raise Surprise(f"spin -a failed:\n{text}")
    flags = ["-DNFAIR=3"] if live else ["-DSAFETY", "-DNOCLAIM"]
    compiler = os.environ.get("CC", "gcc")
    status, text = call([compiler, optimise, "-w", *flags, "pan.c", "-o", "pan"], work)
    if status != 0:
        raise Surprise(f"{compiler} failed:\n{text}")
    _, text = call(["./pan", *(["-a", "-f"] if live else []), f"-m{depth}", "-w18"], work)
    return Outcome(text, cpu_seconds() - begin)


def trail(model, defines, work):
    """The run that leads to the error, as SPIN replays it, without the insides of loops."""
    for found in work.glob("*.trail"):
        _, text = call(["spin", "-t", "-p", "-g", "-k", str(found), *defines, str(model.path)], work)
        return "\n".join(line for line in text.splitlines() if not NOISE.search(line)) + "\n"
    return ""


class Check:
    """All runs of one model."""

    def __init__(self, model, arguments):
        self.model, self.arguments = model, arguments
        self.runs = self.surprises = self.found = 0
        self.missed = None  # what no variant so far has reached

    def wanted(self, run):
        only = self.arguments.only
        return run.name == only if only else run.nightly == self.arguments.nightly

    def all(self):
        for variant in filter(self.wanted, self.model.variants.values()):
            self.one(variant, "holds, safety", False, None)
            if variant.live:
                self.one(variant, "holds, progress", True, None)
        if self.missed and not self.arguments.only:
            self.surprises += 1
            print(f"{self.model.name:20} SURPRISE: never reached: " + "; ".join(sorted(self.missed)))
        for bug in filter(self.wanted, self.model.bugs):
            self.one(bug, f"broken, {bug.kind}", bug.kind == "cycle", bug.kind)

    def one(self, run, what, live, kind):
        self.runs += 1
        with tempfile.TemporaryDirectory(prefix="lockstep-promela-") as directory:
            work = pathlib.Path(directory)
            try:
                # To optimise pan takes longer than a search of some 100 000 states without.
                optimise = "-O2" if run.nightly else "-O0"
                outcome = run_pan(self.model, run.defines, live, optimise, work)
                verdict = self.judge(outcome, kind)
                failed = verdict is not None
                line = f"{outcome.states:>10} states {outcome.seconds:6.1f} s"
                if failed or self.arguments.trail:
                    verdict = f"{verdict or ''}\n{outcome.text}{trail(self.model, run.defines, work)}"
            except Surprise as surprise:
                line, failed, verdict = "", True, str(surprise)
        self.surprises += failed
        self.found += bool(kind) and not failed
        print(f"{self.model.name:20} {run.name:24} {what:16} {line}  {'SURPRISE: ' if failed else 'as expected'}"
              f"{verdict or ''}", flush=True)

    def judge(self, outcome, kind):
        """What is wrong with the outcome, or None."""
        if kind:
            return None if outcome.kind == kind else f"expected an error of kind {kind}, found {outcome.kind}"
        if outcome.errors:
            return f"{outcome.errors} errors, of kind {outcome.kind}"
        if outcome.cut_short():
            return f"the search is not complete: {outcome.cut_short()}"
        missed = outcome.unreached(self.model.unreached)
        self.missed = missed if self.missed is None else self.missed & missed
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", type=pathlib.Path, metavar="MODEL.pml")
    parser.add_argument("--nightly", action="store_true", help="the nightly variants instead of the others")
    parser.add_argument("--only", metavar="NAME", help="only the variant or bug of this name")
    parser.add_argument("--trail", action="store_true", help="print pan's report and SPIN's replay of the error")
    arguments = parser.parse_args()
    compiler = os.environ.get("CC", "gcc").split()[0]
    for tool in ("spin", compiler):
        if not shutil.which(tool):
            print(f"SKIPPED: {tool} is not installed (Debian: apt-get install spin gcc)")
            return SKIPPED
    runs = found = surprises = 0
    for path in arguments.models:
        check = Check(Model(path), arguments)
        check.all()
        runs, found, surprises = runs + check.runs, found + check.found, surprises + check.surprises
    print(f"{runs} runs, {found} broken variants found, {surprises} surprises, {cpu_seconds():.1f} s of CPU")
    return 1 if surprises or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
