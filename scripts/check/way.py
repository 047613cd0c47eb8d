#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How many files does a reader open to follow a call from the public header to the atomic operation, and how many
functions does he read?

usage: way.py [--most NAME=FILES[/FUNCTIONS] ...] [--functions] [--compiler CXX] [NAME ...]

Each way below is a small program, compiled with the library, without optimisation and with gcov's counters. It makes the call until
everything is warm, resets the counters, makes the call once, and writes the counters. A file of include/ or src/ is on the
way if more than three of its lines have run. Fewer are an accessor, whose name says at the call what it does, such as
the index of an array: such files are shown in brackets, and not counted. Nor are functions of one statement: --functions
names the others. Waits are those of threads in step: nobody sleeps, but for `contended`, where a thread queues up for a
mutex and is woken. With --most the script fails where a way is longer.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from source_text import ROOT, name_of  # noqa: E402

PROGRAM = """
#include <chrono>
#include <thread>
#include <{header}>
extern "C" void __gcov_reset();
extern "C" void __gcov_dump();
int main() {{
  {objects}
  for (int i = 0; i < {times}; ++i) {{ {before} {call} {after} }}
  {before}
  __gcov_reset();
  {call}
  __gcov_dump();
  {after}
}}
"""
# Of a mutex that nobody else wants; of a barrier whose other participant has arrived; of a team of two, both members.
WAYS = {
    "lock": dict(header="lockstep/mutex.hpp", objects="lockstep::mutex m;", before="", call="m.lock();",
                 after="m.unlock();"),
    "unlock": dict(header="lockstep/mutex.hpp", objects="lockstep::mutex m;", before="m.lock();", call="m.unlock();",
                   after=""),
    "contended": dict(header="lockstep/mutex.hpp", objects="lockstep::mutex m; std::thread other;", before="m.lock();",
                      call="other = std::thread([&] { m.lock(); m.unlock(); });"
                           "std::this_thread::sleep_for(std::chrono::milliseconds(50));"
                           "m.unlock(); other.join();", after="", times=1),
    "barrier": dict(header="lockstep/ranked_barrier.hpp", objects="lockstep::ranked_barrier b(2);", before="b.arrive(1);",
                    call="b.arrive_and_wait(0);", after="b.wait(1);"),
    "run": dict(header="lockstep/team.hpp", objects="lockstep::team t(2, lockstep::wait_policy::spin());", before="",
                call="t.run([](lockstep::member&) {});", after=""),
    # The run waits for the worker's thread to begin: the caller of a loop does not.
    "for_each": dict(header="lockstep/team.hpp", objects="lockstep::team t(2, lockstep::wait_policy::spin());"
                                                         "t.run([](lockstep::member&) {});",
                         before="", call="t.for_each(0, 2, [](int) {}, lockstep::grain(1));", after=""),
}


ACCESSOR = 3


def statements(source, function):
    """How many statements a function has, by its semicolons; those of a for-loop's head are none."""
    text = "\n".join(source[function["start_line"] - 1:function["end_line"]])
    return re.sub(r"//.*|\bfor \(.*", "", text).count(";")


def compiled(compiler, place, *arguments):
    subprocess.run([compiler, "-std=c++17", "-O0", "-g0", "-DNDEBUG", "--coverage", "-pthread", f"-I{ROOT / 'include'}",
                    *arguments], cwd=place, check=True)


def way_of(name, compiler, place):
    """Maps each file of include/ and src/ to the number of its lines that ran, and to the names of its functions of more
    than one statement that did."""
    Path(place, "way.cpp").write_text(PROGRAM.format(**{"times": 1000, **WAYS[name]}))
    compiled(compiler, place, "-c", "way.cpp")
    compiled(compiler, place, "way.o", "lockstep.o", "-o", "way")
    for counters in Path(place).glob("*.gcda"):
        counters.unlink()
    subprocess.run(["./way"], cwd=place, check=True, timeout=60)
    counters = [path.name for path in Path(place).glob("*.gcda")]
    done = subprocess.run(["gcov", "--json-format", "--stdout", *counters], cwd=place, check=True, capture_output=True,
                          text=True)
    found, functions = {}, {}
    for document in filter(None, done.stdout.split("\n")):
        for each in json.loads(document)["files"]:
            path = Path(place, each["file"]).resolve()
            lines = {line["line_number"] for line in each["lines"] if line["count"] > 0}
            if not lines or not (path.is_relative_to(ROOT / "include") or path.is_relative_to(ROOT / "src")):
                continue
            file = name_of(ROOT, path)
            found.setdefault(file, set()).update(lines)
            source = path.read_text().split("\n")
            for function in each["functions"]:
                if function["execution_count"] > 0 and statements(source, function) > 1:
                    at = function["start_line"], function["start_column"]  # a template is one function
                    functions.setdefault(file, {})[at] = short_name(function["demangled_name"])
    return {name: (len(lines), list(functions.get(name, {}).values()))
            for name, lines in sorted(found.items(), key=lambda each: -len(each[1]))}


def short_name(name):
    """`d` of "void a::b<c>::d(e)"."""
    while re.search(r"<[^<>]*>", name):
        name = re.sub(r"<[^<>]*>", "", name)
    return name.split("(")[0].split("::")[-1]


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("ways", nargs="*", default=list(WAYS), metavar="NAME", help=", ".join(WAYS))
    parser.add_argument("--most", action="append", default=[], metavar="NAME=FILES[/FUNCTIONS]")
    parser.add_argument("--functions", action="store_true", help="name the functions")
    parser.add_argument("--compiler", default="g++")
    options = parser.parse_args(argv[1:])
    most = {name: [int(count) for count in counts.split("/")]
            for name, counts in (each.split("=") for each in options.most)}

    with tempfile.TemporaryDirectory() as place:
        compiled(options.compiler, place, "-c", ROOT / "src" / "lockstep.cpp")
        ways = {way: way_of(way, options.compiler, place) for way in options.ways}
    are_short = True
    for way, found in ways.items():
        counts = (sum(lines > ACCESSOR for lines, _ in found.values()), sum(len(names) for _, names in found.values()))
        limits = most.get(way, [])
        limit = f", at most {'/'.join(map(str, limits))}" if limits else ""
        is_short = all(count <= limit for count, limit in zip(counts, limits))
        print(f"{way}: {counts[0]} files, {counts[1]} functions{limit}{'' if is_short else ': too long'}")
        are_short = are_short and is_short
        for name, (lines, names) in found.items():
            print(f"  {lines:4} lines  {name if lines > ACCESSOR else f'({name})'}")
            if options.functions and names:
                print(f"{'':14}{', '.join(names)}")
    return 0 if are_short else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
