#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Breaks the library in one place after the other; the model tests must notice every time.

usage: mutate_orders.py [--build DIR] [--only REGEX] [--list] [--jobs N] [--json FILE]

Mutants of memory order need no compiler: the explorer weakens one access at its line while it runs
(tests/model/explorer/site.hpp). They are found in include/ and src/: every acquire, release and acq_rel but those of the
layers platform and mpi, and those of OpenMP's tasks, is weakened, every fence and every futex wake left out. Mutants of the protocol (a re-check, a
notify, an order of two steps) are in tests/model/mutants.txt, as text to replace: '== LAYER/NAME: what is wrong', for NAME.hpp
and NAME.cpp of the layer, in include/ or src/. A copy of the sources with the changed text is compiled, and what includes
it; for what observers make of what they have seen, the unit tests that UNIT_TESTS names run as well.

A mutant that no test kills must be in tests/model/equivalent.txt with the reason why it does no harm,
and one that is listed there must survive. The seams replace the layer platform in the model. Of the layer mpi only MODELLED
is in it: tests/mpi/order_mutants.py has the rest.
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
from source_text import ROOT, headers, name_of, named_layer, sources, split_lines  # noqa: E402

OTHERS, MODELLED = ("platform", "mpi"), ("mpi/node_board",)
MODEL = ROOT / "tests" / "model"
ENGINE = ("events", "once", "locks", "queues", "boards", "constructs", "regions", "team", "graph", "ranks")
PROGRAMS = (*ENGINE, "observers", "tasks")
# Sources that are no part of the library: the program "tasks" includes them.
TASKS = {"openmp/runtime/task_pool", "openmp/runtime/task_dependences"}
WEAKER = {"acquire": ["relaxed"], "release": ["relaxed"], "acq_rel": ["acquire", "release"]}
LEFT_OUT = re.compile(r"(?<![\w.>])(?:detail::)?(thread_fence|fence_light|fence_heavy|futex::wake_one|futex::wake_all)\s*\(")
# Which test says most about a part, LAYER/NAME.
FIRST = {"wait/published_words": "boards", "wait/wait_engine": "once",
         "wait/parking_lot": "locks",
         "sync/mutex_queue": "locks", "sync/condition_variable": "queues",
         "team/critical_name": "locks",
         "toolbox/fan": "boards",
         "region/turns": "regions",
         "region/region_board": "regions", "base/rank_tree": "regions",
         "loop/loops": "constructs", "loop/loop_crew": "regions", "region/loop_board": "constructs",
         "region/team_barrier": "constructs", "wait/ranked_phases": "boards",
         "region/stop_source": "regions",
         "region/group": "regions", "region/member_state": "regions",
         "reduce/member_nodes": "constructs", "reduce/member_reductions": "constructs", "reduce/reductions": "regions",
         "team/sub_team": "regions", "team/team_core": "team"}

# What observers make of what they have seen is no protocol: texts there are changed under these unit tests, too.
UNIT_TESTS = {"trace/account_table": ["trace/ledger_board", "trace/wait_histogram"], "trace/debug_aids": ["trace/debug_aids"],
              "trace/hooks": ["trace/thread_log", "trace/trace"],
              "trace/ledger": ["trace/ledger_board"], "trace/ledger_board": ["trace/ledger_board", "trace/segment"],
              "trace/names": ["trace/trace"], "trace/recorder": ["trace/trace"],
              "trace/region_hooks": ["trace/ledger"],
              "trace/stuck_report": ["trace/stuck_report"],
              "trace/thread_log": ["trace/thread_log", "trace/watchdog"],
              "trace/trace_view": ["trace/trace"]}
PURE = {"trace/debug_aids", "trace/ledger", "trace/ledger_board", "trace/stuck_report", "trace/trace_view"}

# what: as LOCKSTEP_MODEL_MUTATION has it, or None for a change of the text (old, new). file: below include/ or src/.
Mutant = namedtuple("Mutant", "part file line what text old new")


def key(mutant):
    """What a mutant is called in lists: no line numbers, they rot."""
    return f"{mutant.part} | {mutant.text} | {mutant.what or 'text'}"


def part_of(path, text):
    """LAYER/NAME of a header or source; None for those that stand in no layer."""
    layer = named_layer(text)
    return f"{layer}/{path.stem}" if layer else None


def order_mutants(path, part, text):
    """Weaker orders, and fences and wakes left out, in one file."""
    lines = split_lines(text)
    code = "\n".join(line.code for line in lines)
    for found in ACCESS.finditer(code):
        arguments = code[found.end() - 1 : closing(code, found.end() - 1)]
        orders = [order.replace("memory_order_", "") for order in ORDER.findall(arguments)]
        number = code.count("\n", 0, found.start(2)) + 1
        line = lines[number - 1].code.strip()
        for which, order in zip(("order", "failure"), orders):
            for weaker in WEAKER.get(order, []):
                yield Mutant(part, path, number, f"{which}={weaker}", line, None, None)
    for found in LEFT_OUT.finditer(code):
        number = code.count("\n", 0, found.start()) + 1
        yield Mutant(part, path, number, "drop", lines[number - 1].code.strip(), None, None)


def text_mutants(files):
    """The blocks of mutants.txt: '== LAYER/NAME: title', then lines '-old' and '+new'."""
    title, old, new = None, [], []
    for line in (MODEL / "mutants.txt").read_text(encoding="utf-8").split("\n") + ["== "]:
        if line.startswith("== "):
            if title:
                part, _, what = title.partition(": ")
                places = [path for path, (known, text) in files.items() for _ in range(text.count("\n".join(old)))
                          if known == part]
                if len(places) != 1:
                    raise SystemExit(f"mutants.txt: {title}: the old text is there {len(places)} times")
                yield Mutant(part, places[0], 0, None, what, "\n".join(old), "\n".join(new))
            title, old, new = line[3:].strip(), [], []
        elif line.startswith("-"):
            old.append(line[1:])
        elif line.startswith("+"):
            new.append(line[1:])


def all_mutants():
    texts = {path: path.read_text(encoding="utf-8") for path in headers(ROOT) + sources(ROOT)}
    files = {path: (part_of(path, text), text) for path, text in texts.items()}
    for path, (part, text) in files.items():
        if part and (part.split("/")[0] not in OTHERS or part in MODELLED):
            yield from order_mutants(path, part, text)
    for part in sorted(TASKS):
        for path in (ROOT / f"{part}.hpp", ROOT / f"{part}.cpp"):
            yield from order_mutants(path, part, path.read_text(encoding="utf-8"))
    yield from text_mutants(files)


def equivalents():
    """Maps the key of a mutant to the reason why it does no harm."""
    found = {}
    for line in (MODEL / "equivalent.txt").read_text(encoding="utf-8").split("\n"):
        if line and not line.startswith("#"):
            name, _, reason = line.rpartition(" | ")
            found[name] = reason
    return found


class Campaign:
    def __init__(self, build):
        self.build = build
        self.scratch = Path(tempfile.mkdtemp(prefix="lockstep-mutants-"))
        self.equivalent = equivalents()
        commands = json.loads((build / "compile_commands.json").read_text())
        self.tests = {Path(each["file"]).name: each for each in commands}
        seams = [each for each in commands if Path(each["file"]).name == "lockstep.cpp" and "explorer/atomic_seam" in each["command"]]
        self.library = {"SEAM_OBSERVERS" in each["command"]: each for each in seams}
        self.missing = [each for each in PROGRAMS if f"{each}_model_test.cpp" not in self.tests]
        if self.missing:
            print(f"not in this build, left out: {', '.join(self.missing)}", flush=True)

    def programs_for(self, mutant):
        if mutant.part in TASKS:
            return ["tasks"]
        unit_tests = [] if mutant.what else UNIT_TESTS.get(mutant.part, [])
        if mutant.part.startswith(("observe/", "trace/")) or unit_tests:
            # Nobody watches in the other programs of the model. What only computes is not in its scenarios.
            is_pure = mutant.part in PURE and not mutant.what
            return unit_tests if is_pure else ["observers"] + unit_tests
        first = FIRST.get(mutant.part)
        return sorted(ENGINE, key=lambda program: program != first)

    def compiled(self, program, mutant, number):
        """The program with a changed copy of the library."""
        place = self.scratch / str(number)
        if not place.exists():
            for directory in ("include", "src"):
                shutil.copytree(ROOT / directory, place / directory)
            file = place / mutant.file.relative_to(ROOT)
            file.write_text(file.read_text(encoding="utf-8").replace(mutant.old, mutant.new), encoding="utf-8")
        for step in self.model_steps(program, mutant, place) if program in PROGRAMS else self.unit_steps(program, place):
            done = subprocess.run(step, shell=True, cwd=ROOT, capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(f"{mutant.part}: {mutant.text}: does not compile\n{done.stderr[-2000:]}")
        return place / "test"

    @staticmethod
    def changed(entry, place, output):
        """The command of an object, with the sources of the changed copy."""
        command = entry["command"]
        for directory in ("include", "src"):
            command = command.replace(str(ROOT / directory), str(place / directory))
        return f"cd {entry['directory']} && " + re.sub(r" -o \S+", f" -o {output}", command).replace("-Werror", "-w")

    def model_steps(self, program, mutant, place):
        test = self.tests[f"{program}_model_test.cpp"]
        watched = program == "observers"
        library = place / ("watched.o" if watched else "library.o")
        if not library.exists():
            yield self.changed(self.library[watched], place, library)
        made = Path(test["directory"]) / re.search(r" -o (\S+)", test["command"]).group(1)
        if mutant.file.suffix == ".hpp":
            made = place / "test.o"
            yield self.changed(test, place, made)
        yield (f"{test['command'].split()[0]} {made} {library} {self.build}/tests/model/libmodel_explorer.a "
               f"-lgtest -lgtest_main -lboost_context -pthread -o {place}/test")

    def unit_steps(self, program, place):
        compile_it = f"g++ -std=c++20 -w -D_GLIBCXX_ASSERTIONS -I{place}/include -I{place}/src -Itests"
        if not (place / "unit.o").exists():
            yield f"{compile_it} -c {place}/src/lockstep_checked.cpp -o {place}/unit.o"
        yield f"{compile_it} tests/{program}_test.cpp {place}/unit.o -lgtest -lgtest_main -pthread -o {place}/test"

    def run(self, program, mutant, number):
        """The name of the test that the mutant fails, or None."""
        environment = dict(os.environ, LOCKSTEP_MODEL_BRIEF="2", LOCKSTEP_MODEL_SCHEDULES="400",
                           LOCKSTEP_TEST_BRIEF="1")
        if mutant.what:
            test = self.build / "tests" / "model" / f"model.{program}"
            environment["LOCKSTEP_MODEL_MUTATION"] = f"{mutant.file.relative_to(ROOT)}:{mutant.line}:{mutant.what}"
        else:
            test = self.compiled(program, mutant, number)
        try:
            done = subprocess.run([test, "--gtest_fail_fast"], env=environment, timeout=1800 if program in PROGRAMS else 300,
                                  capture_output=True, text=True)
        except subprocess.TimeoutExpired:
            return f"{program}: runs for ever"
        if done.returncode == 0:
            return None
        failed = re.search(r"\[  FAILED  \] (?:\w+/)?([\w.]+)", done.stdout)
        return failed.group(1) if failed else f"{program}: {(done.stderr or done.stdout)[-200:].strip()}"

    def judge(self, numbered):
        number, mutant = numbered
        killer = None
        programs = [each for each in self.programs_for(mutant) if each not in self.missing]
        for program in programs:
            killer = killer or self.run(program, mutant, number)
        shutil.rmtree(self.scratch / str(number), ignore_errors=True)
        verdict = "killed" if killer else "survived" if programs else "left out"
        reason = self.equivalent.get(key(mutant))
        if reason is not None:
            verdict = "equivalent" if not killer else "killed though listed as equivalent"
        print(f"{verdict:10} {key(mutant)}{'   by ' + killer if killer else ''}", flush=True)
        return dict(mutant=key(mutant), line=mutant.line, verdict=verdict, killer=killer, reason=reason)


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "dev")
    parser.add_argument("--only", default="", help="regular expression on 'LAYER/NAME | code | mutation'")
    parser.add_argument("--list", action="store_true", help="list the mutants, run none")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--json", type=Path, help="write the results there")
    options = parser.parse_args(argv[1:])

    mutants = [each for each in all_mutants() if re.search(options.only, key(each))]
    if options.list:
        print("\n".join(f"{name_of(ROOT, each.file)}:{each.line} {key(each)}" for each in mutants))
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
