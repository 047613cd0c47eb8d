#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Breaks the library in one place after the other; the model tests must notice every time.

usage: mutate_orders.py [--build DIR] [--only REGEX] [--list] [--jobs N] [--json FILE]

Mutants of memory order need no compiler: the explorer weakens one access at its line while it runs
(tests/model/explorer/site.hpp). They are found in the sources: every acquire, release and acq_rel of
the headers but detail/platform, and of OpenMP's tasks, is weakened, every fence and every futex wake left out. Mutants of the protocol
(a re-check, a notify, an order of two steps) are in tests/model/mutants.txt, as text to replace; the
model tests that include the header are compiled against a changed copy of include/; for what observers make of what
they have seen, the unit tests that UNIT_TESTS names.

A mutant that no test kills must be in tests/model/equivalent.txt with the reason why it does no harm,
and one that is listed there must survive. detail/platform/ is not mutated: the seams replace it in the model. Nor is
detail/mpi/ but for MODELLED, which no model includes: tests/mpi/order_mutants.py has it.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from check.orders import ACCESS, ORDER, closing  # noqa: E402
from source_text import ROOT, headers, includes, split_lines  # noqa: E402

OTHERS, MODELLED = (("detail", "platform"), ("detail", "mpi")), ("node_board.hpp",)
MODEL = ROOT / "tests" / "model"
INCLUDE = ROOT / "include"
PROGRAMS = ("events", "once", "locks", "queues", "boards", "constructs", "regions", "team", "graph", "ranks", "observers", "tasks")
# Sources that are no headers of the library: "tasks" includes them.
TASKS = tuple(f"openmp/task_{name}" for name in ("pool.hpp", "pool.cpp", "dependences.hpp", "dependences.cpp"))
WEAKER = {"acquire": ["relaxed"], "release": ["relaxed"], "acq_rel": ["acquire", "release"]}
LEFT_OUT = re.compile(r"(?<![\w.>])(?:detail::)?(thread_fence|fence_light|fence_heavy|futex_wake_one|futex_wake_all)\s*\(")
# Which test says most about a header that nearly all include.
FIRST = {"detail/wait/published_words.hpp": "boards", "detail/wait/word_waiter.hpp": "once",
         "detail/wait/parking_lot.hpp": "locks", "detail/wait/short_lock.hpp": "locks",
         "detail/wait/queued_word.hpp": "locks",
         "detail/team/critical_name.hpp": "locks",
         "detail/region/turns.hpp": "regions", "detail/region/team_door.hpp": "regions",
         "detail/region/share_board.hpp": "regions", "detail/region/share_claims.hpp": "constructs",
         "detail/region/region_board.hpp": "regions", "detail/region/region_tree.hpp": "regions",
         "detail/loop/loops.hpp": "constructs", "detail/region/construct_boards.hpp": "constructs",
         "detail/region/team_barrier.hpp": "constructs", "detail/wait/ranked_phases.hpp": "boards",
         "detail/wait/arrival_tree.hpp": "boards",
         "detail/region/stop_source.hpp": "regions",
         "detail/region/group.hpp": "regions", "sub_team.hpp": "regions", "detail/team/team_core.hpp": "team", "detail/team/workers.hpp": "team"}

# What observers make of what they have seen is no protocol: texts there are changed under these unit tests, too.
UNIT_TESTS = {"detail/trace/account_table.hpp": ["trace/ledger_board"], "detail/trace/delay_hooks.hpp": ["trace/debug_aids"],
              "detail/trace/hook_bodies.hpp": ["trace/thread_log", "trace/trace"],
              "detail/trace/ledger_board.hpp": ["trace/ledger_board"], "detail/trace/ledger_hook_bodies.hpp": ["trace/ledger"],
              "detail/trace/records.hpp": ["trace/trace"], "detail/trace/kept_texts.hpp": ["trace/trace"],
              "detail/trace/recorder.hpp": ["trace/trace"],
              "detail/trace/segment.hpp": ["trace/segment"], "detail/trace/stuck_report.hpp": ["trace/stuck_report"],
              "detail/trace/thread_log.hpp": ["trace/thread_log"],
              "detail/trace/trace_view.hpp": ["trace/trace"], "detail/trace/wait_histogram.hpp": ["trace/wait_histogram"],
              "detail/trace/watch_hooks.hpp": ["trace/watch_hooks", "trace/watchdog"]}
PURE = {"detail/trace/delay_hooks.hpp", "detail/trace/ledger_board.hpp",
        "detail/trace/segment.hpp", "detail/trace/stuck_report.hpp", "detail/trace/trace_view.hpp",
        "detail/trace/wait_histogram.hpp"}

# what: as LOCKSTEP_MODEL_MUTATION has it, or None for a change of the text (old, new).
Mutant = namedtuple("Mutant", "header line what text old new")


def key(mutant):
    """What a mutant is called in lists: no line numbers, they rot."""
    return f"{mutant.header} | {mutant.text} | {mutant.what or 'text'}"


def order_mutants(path):
    """Weaker orders, and fences and wakes left out, in one header."""
    name = str(path.relative_to(ROOT if path.is_relative_to(ROOT / "openmp") else INCLUDE / "lockstep"))
    lines = split_lines(path.read_text(encoding="utf-8"))
    text = "\n".join(line.code for line in lines)
    for found in ACCESS.finditer(text):
        arguments = text[found.end() - 1 : closing(text, found.end() - 1)]
        orders = [order.replace("memory_order_", "") for order in ORDER.findall(arguments)]
        number = text.count("\n", 0, found.start(2)) + 1
        code = lines[number - 1].code.strip()
        for part, order in zip(("order", "failure"), orders):
            for weaker in WEAKER.get(order, []):
                yield Mutant(name, number, f"{part}={weaker}", code, None, None)
    for found in LEFT_OUT.finditer(text):
        number = text.count("\n", 0, found.start()) + 1
        yield Mutant(name, number, "drop", lines[number - 1].code.strip(), None, None)


def text_mutants():
    """The blocks of mutants.txt: '== header: title', then lines '-old' and '+new'."""
    title, old, new = None, [], []
    for line in (MODEL / "mutants.txt").read_text(encoding="utf-8").split("\n") + ["== "]:
        if line.startswith("== "):
            if title:
                header, _, what = title.partition(": ")
                yield Mutant(header, 0, None, what, "\n".join(old), "\n".join(new))
            title, old, new = line[3:].strip(), [], []
        elif line.startswith("-"):
            old.append(line[1:])
        elif line.startswith("+"):
            new.append(line[1:])


def all_mutants():
    for path in headers(ROOT):
        parts = path.relative_to(INCLUDE).parts
        if parts[0] == "lockstep" and (parts[1:3] not in OTHERS or parts[-1] in MODELLED):
            yield from order_mutants(path)
    for name in TASKS:
        yield from order_mutants(ROOT / name)
    yield from text_mutants()


def equivalents():
    """Maps the key of a mutant to the reason why it does no harm."""
    found = {}
    for line in (MODEL / "equivalent.txt").read_text(encoding="utf-8").split("\n"):
        if line and not line.startswith("#"):
            name, _, reason = line.rpartition(" | ")
            found[name] = reason
    return found


def included_by(program):
    """The headers of the library, as names, that a model test includes at last."""
    seen, left = set(), [MODEL / f"{program}_model_test.cpp"]
    while left:
        path = left.pop()
        for _, bracket, name in includes(path.read_text(encoding="utf-8")):
            place = INCLUDE / name if bracket == "<" else (path.parent / name).resolve()
            if place.is_relative_to(INCLUDE / "lockstep") and place.exists() and place not in seen:
                seen.add(place)
                left.append(place)
    return {str(path.relative_to(INCLUDE / "lockstep")) for path in seen}


class Campaign:
    def __init__(self, build):
        self.build = build
        self.scratch = Path(tempfile.mkdtemp(prefix="lockstep-mutants-"))
        self.programs = {program: included_by(program) for program in PROGRAMS}
        self.equivalent = equivalents()
        commands = json.loads((build / "compile_commands.json").read_text())
        self.commands = {Path(each["file"]).name: each for each in commands}

    def programs_for(self, mutant):
        header = mutant.header
        if header in TASKS:
            return ["tasks"]
        unit_tests = [] if mutant.what else UNIT_TESTS.get(header, [])
        if header.startswith(("detail/observe/", "detail/trace/")) or unit_tests:
            # Nobody watches in the other programs of the model. What only computes is not in its scenarios.
            is_pure = header in PURE and not mutant.what
            return unit_tests if is_pure else ["observers"] + unit_tests
        found = [program for program in PROGRAMS if header in self.programs[program]]
        first = FIRST.get(header)
        return sorted(found, key=lambda program: program != first)

    def compiled(self, program, mutant, number):
        """The program against a changed copy of include/; None if that does not compile."""
        place = self.place(number, program)
        shutil.copytree(INCLUDE, place / "include")
        header = place / "include" / "lockstep" / mutant.header
        text = header.read_text(encoding="utf-8")
        if text.count(mutant.old) != 1:
            raise SystemExit(f"mutants.txt: {mutant.header}: {mutant.text}: the old text is there "
                             f"{text.count(mutant.old)} times")
        header.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        if program in self.programs:
            steps, directory = self.model_commands(program, place)
        else:
            steps, directory = self.unit_commands(program, place), ROOT
        for step in steps:
            done = subprocess.run(step, shell=True, cwd=directory, capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(f"{mutant.header}: {mutant.text}: does not compile\n{done.stderr[-2000:]}")
        return place / "test"

    def place(self, number, program):
        return self.scratch / f"{number}-{program.replace('/', '-')}"

    def model_commands(self, program, place):
        entry = self.commands[f"{program}_model_test.cpp"]
        command = entry["command"].replace(str(INCLUDE), str(place / "include"))
        command = re.sub(r" -o \S+", f" -o {place}/test.o", command).replace("-Werror", "-w")
        link = (f"{command.split()[0]} {place}/test.o {self.build}/tests/model/libmodel_explorer.a "
                f"-lgtest -lgtest_main -lboost_context -pthread -o {place}/test")
        return (command, link), entry["directory"]

    def unit_commands(self, program, place):
        compiler = self.commands["observers_model_test.cpp"]["command"].split()[0]
        return [f"{compiler} -std=c++20 -w -D_GLIBCXX_ASSERTIONS -DLOCKSTEP_OBSERVABLE=1 -I{place}/include -Itests "
                f"tests/{program}_test.cpp -lgtest -lgtest_main -pthread -o {place}/test"]

    def run(self, program, mutant, number):
        """The name of the test that the mutant fails, or None."""
        environment = dict(os.environ, LOCKSTEP_MODEL_BRIEF="1", LOCKSTEP_MODEL_SCHEDULES="400",
                           LOCKSTEP_TEST_BRIEF="1")  # as ./do test
        if mutant.what:
            test = self.build / "tests" / "model" / f"model.{program}"
            environment["LOCKSTEP_MODEL_MUTATION"] = f"{mutant.header}:{mutant.line}:{mutant.what}"
        else:
            test = self.compiled(program, mutant, number)
        try:
            done = subprocess.run([test, "--gtest_fail_fast"], env=environment, timeout=1800 if program in self.programs else 300,
                                  capture_output=True, text=True)
        except subprocess.TimeoutExpired:
            return f"{program}: runs for ever"
        finally:
            shutil.rmtree(self.place(number, program), ignore_errors=True)
        if done.returncode == 0:
            return None
        failed = re.search(r"\[  FAILED  \] (?:\w+/)?([\w.]+)", done.stdout)
        return failed.group(1) if failed else f"{program}: {(done.stderr or done.stdout)[-200:].strip()}"

    def judge(self, numbered):
        number, mutant = numbered
        killer = None
        for program in self.programs_for(mutant):
            killer = killer or self.run(program, mutant, number)
        verdict = "killed" if killer else "survived"
        reason = self.equivalent.get(key(mutant))
        if reason is not None:
            verdict = "equivalent" if not killer else "killed though listed as equivalent"
        print(f"{verdict:10} {key(mutant)}{'   by ' + killer if killer else ''}", flush=True)
        return dict(mutant=key(mutant), line=mutant.line, verdict=verdict, killer=killer, reason=reason)


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "dev")
    parser.add_argument("--only", default="", help="regular expression on 'header | code | mutation'")
    parser.add_argument("--list", action="store_true", help="list the mutants, run none")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--json", type=Path, help="write the results there")
    options = parser.parse_args(argv[1:])

    mutants = [each for each in all_mutants() if re.search(options.only, key(each))]
    if options.list:
        print("\n".join(f"{each.header}:{each.line} {key(each)}" for each in mutants))
        return 0
    campaign = Campaign(options.build.resolve())
    stale = set(campaign.equivalent) - {key(each) for each in all_mutants()}
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(campaign.judge, enumerate(mutants)))
    shutil.rmtree(campaign.scratch, ignore_errors=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    for each in sorted(stale):
        print(f"equivalent.txt: no such mutant: {each}")
    count = Counter(each["verdict"] for each in results)
    print(f"{len(results)} mutants: " + ", ".join(f"{n} {verdict}" for verdict, n in count.most_common()))
    return 0 if not stale and set(count) <= {"killed", "equivalent"} else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
