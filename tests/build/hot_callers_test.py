#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What GCC makes of functions that call the library on their way.

usage: hot_callers_test.py INCLUDE CXX

GCC takes a function that calls a cold one on every way for cold itself, puts it into .text.unlikely, and compiles it
for size. So no constructor, destructor or function that a hot function calls on its way may be cold. Each function
below makes an object and then runs a loop, which must stay out of that section.

A read from the stack that is wider than the writes before it waits until those, and all stores before them, are out of
the store buffer: also the arrival that others wait for. GCC makes such reads where it copies an object that it has just
put together, as the argument of a function that it does not inline. No construct of a member may have one (x86-64).

Skipped (77) without GCC and objdump.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

OBJECTS = {
    "team": "lockstep::team x(2);",
    "default_made_team": "lockstep::team x;",
    "team_of_options": "lockstep::team x(lockstep::team_options().members(2));",
    "paused_team": "lockstep::team& x = lockstep::default_team(); x.pause(); x.resume(); x.request_stop();",
    "external_team": "lockstep::external_team x(2); x.release();",
    "started_region": "lockstep::team& t = lockstep::default_team(); lockstep::started_region x = t.start([] {}); "
                      "x.join();",
    "inside_region": "lockstep::inside_region x(lockstep::this_region());",
    "mutex": "lockstep::mutex x; x.lock(); x.unlock();",
    "shared_mutex": "lockstep::shared_mutex x; x.lock(); x.unlock();",
    "barrier": "lockstep::ranked_barrier x(2);",
    "barrier": "lockstep::barrier<> x(2);",
    "event": "lockstep::event x;",
    "latch": "lockstep::latch x(1); x.count_down();",
    "counting_semaphore": "lockstep::counting_semaphore<> x(1); x.acquire();",
    "condition_variable": "lockstep::condition_variable x;",
    "thread": "lockstep::joinable_thread x([] {});",
    "per_member": "lockstep::per_member<int> x(lockstep::default_team());",
}

MEETINGS = """
void step(long);
void meet_all(lockstep::member& me, long n) { for (long i = 0; i < n; ++i) { step(i); me.sync_threads(); } }
double meet_sum(lockstep::member& me, double mine) { return me.sync_sum(mine); }
void meet_single(lockstep::member& me) { me.single([] { step(1); }); }
void meet_loop(lockstep::member& me) { me.for_each(0, 100, [](long i) { step(i); }); }
"""
MEETS = re.compile(r"meet|::sync|run_claimed|hand_out|wait_for_others|pass_by_|::wait\(")
MOVES_STACK = re.compile(r":\s+(call|push|pop|(add|sub) .*,%rsp)")
NARROW_WRITE = re.compile(r"\bmov[lq]?\s+(?:%[er]\w+|\$\w+),(0x\w+|)\(%rsp\)")
WIDE_READ = re.compile(r"\bmov(?:dq|ap|up)[aus]\s+(0x\w+|)\(%rsp\),%xmm")


def program():
    functions = "".join(f"void use_{name}(long n) {{ {made} for (long i = 0; i < n; ++i) loop_of_{name}(); }}\n"
                        for name, made in OBJECTS.items())
    marks = "".join(f"void loop_of_{name}();\n" for name in OBJECTS)
    return f"#include <lockstep/lockstep.hpp>\n#include <lockstep/toolbox.hpp>\n{marks}{functions}{MEETINGS}"


def wide_reads(code):
    """The functions of meetings in which a wide read follows narrow writes of what it reads, with neither a call nor a
    move of the stack between."""
    found, function, written = set(), "", set()
    for line in code.splitlines():
        if line.endswith(">:"):
            function, written = line, set()
        elif MOVES_STACK.search(line):
            written = set()
        elif match := NARROW_WRITE.search(line):
            written.add(int(match[1] or "0", 16))
        elif (match := WIDE_READ.search(line)) and MEETS.search(function):
            first = int(match[1] or "0", 16)
            if any(first <= at < first + 16 for at in written):
                found.add(function)
    return found


def main(argv):
    include, compiler = argv[1:3]
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    if "clang" in version or "Free Software Foundation" not in version or shutil.which("objdump") is None:
        return 77
    with tempfile.TemporaryDirectory() as place:
        source, made = Path(place) / "callers.cpp", Path(place) / "callers.o"
        source.write_text(program())
        subprocess.run([compiler, "-std=c++17", "-O2", "-DNDEBUG", f"-I{include}", "-c", source, "-o", made], check=True)
        said = subprocess.run(["objdump", "--reloc", made], capture_output=True, text=True, check=True).stdout
        # What the callers call on their way is in the library.
        library = Path(place) / "library.o"
        subprocess.run([compiler, "-std=c++17", "-O2", "-DNDEBUG", f"-I{include}", "-c",
                        Path(include).parent / "src" / "lockstep.cpp", "-o", library], check=True)
        code = subprocess.run(["objdump", "-dC", "--no-show-raw-insn", made, library],
                              capture_output=True, text=True, check=True).stdout
    section, cold, hot = "", set(), set()
    for line in said.splitlines():
        if line.startswith("RELOCATION RECORDS FOR"):
            section = line
        for name in OBJECTS:
            if f"loop_of_{name}v-" in line or line.endswith(f"loop_of_{name}v"):
                (cold if ".text.unlikely" in section else hot).add(name)
    for name in sorted(cold):
        print(f"a function that makes an object of kind {name} is compiled as cold code")
    stalls = wide_reads(code)
    for function in sorted(stalls):
        print("a read from the stack is wider than the writes before it:", function)
    missing = set(OBJECTS) - cold - hot
    if missing:
        print("no loop found of:", ", ".join(sorted(missing)))
    return 1 if cold or missing or stalls else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
