#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A function that makes an object of the library is not compiled as cold code for that.

usage: hot_callers_test.py INCLUDE CXX

GCC takes a function that calls a cold one on every way for cold itself, puts it into .text.unlikely, and compiles it
for size. So no constructor, destructor or function that a hot function calls on its way may be cold. Each function
below makes an object and then runs a loop, which must stay out of that section. Skipped (77) without GCC and objdump.
"""

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


def program():
    functions = "".join(f"void use_{name}(long n) {{ {made} for (long i = 0; i < n; ++i) loop_of_{name}(); }}\n"
                        for name, made in OBJECTS.items())
    marks = "".join(f"void loop_of_{name}();\n" for name in OBJECTS)
    return f"#include <lockstep/lockstep.hpp>\n{marks}{functions}"


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
    section, cold, hot = "", set(), set()
    for line in said.splitlines():
        if line.startswith("RELOCATION RECORDS FOR"):
            section = line
        for name in OBJECTS:
            if f"loop_of_{name}v-" in line or line.endswith(f"loop_of_{name}v"):
                (cold if ".text.unlikely" in section else hot).add(name)
    for name in sorted(cold):
        print(f"a function that makes an object of kind {name} is compiled as cold code")
    missing = set(OBJECTS) - cold - hot
    if missing:
        print("no loop found of:", ", ".join(sorted(missing)))
    return 1 if cold or missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
