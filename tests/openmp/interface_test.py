#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The functions of omp.h, locks, allocators, target, teams and fork(), from C; what error directives say.

usage: interface_test.py libgomp.so.1
"""

import json
import unittest

import support
from support import PROGRAMS, compiled, run

DIRECTIVES = """
int main(int arguments, char** unused) {
#pragma omp error at(execution) severity(warning) message("hello")
#pragma omp error at(execution) severity(warning)
  if (arguments > 1) {
#pragma omp error at(execution) message("the end")
  }
  return 0;
}
"""
# 3000 regions of one function. With an argument n every n-th region makes tasks.
REGIONS = """
#include <stdlib.h>
int main(int count, char** arguments) {
  for (int i = 0; i < 3000; ++i) {
#pragma omp parallel num_threads(2)
    if (count > 1 && i % atoi(arguments[1]) == 0) {
#pragma omp task
      ;
    }
  }
  return 0;
}
"""


class Interface(support.Programs):
    def expect_right(self, name, *options, **variables):
        for option in support.OPTIMISERS:
            with self.subTest(option=option):
                program = compiled(PROGRAMS / f"{name}.c", self.scratch / f"{name}{option}", option, "-pthread", *options,
                                   "-ldl")
                self.expect_success(program, **variables)

    def test_functions(self):
        self.expect_right("interface")

    def test_locks(self):
        self.expect_right("locks")

    def test_locks_that_sleep_at_once(self):
        self.expect_right("locks", OMP_WAIT_POLICY="passive")

    def test_allocators(self):
        self.expect_right("allocators")

    def test_target_and_teams(self):
        self.expect_right("target")

    def test_what_newer_compilers_call(self):
        self.expect_right("newer", f"-Wl,--no-as-needed,{support.LIBRARY}")

    def test_what_it_asks_of_the_system(self):
        program = compiled(PROGRAMS / "system.c", self.scratch / "system", "-O2", "-rdynamic", "-ldl")
        for what, tries, more in (("flush", 1, {}), ("tasks", 4, {}),  # its tasks may be held up
                                  ("memory", 1, {}), ("memory", 1, {"MALLOC_MMAP_THRESHOLD_": "131072"})):
            with self.subTest(what, **more):
                for _ in range(tries):
                    done = run(program, what, **more)
                    if done.returncode == 0:
                        break
                self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def test_regions_end_with_a_barrier_where_they_make_tasks(self):
        source = self.scratch / "regions.c"
        source.write_text(REGIONS)
        program = compiled(source, self.scratch / "regions")

        def barriers(*arguments):
            done = run(program, *arguments, LOCKSTEP_LEDGER="/dev/stdout")
            constructs = json.loads(done.stdout)["constructs"]
            return sum(each["count"] for each in constructs if each["kind"] == "end of region")

        self.assertEqual(barriers(), 63)  # of a module that calls for tasks, until it is known that these make none
        self.assertEqual(barriers("100"), 3000)
        # After the tasks of the first region and those of the region that shows that the guess was wrong. A region
        # that merely waits long enough to look for tasks makes none.
        self.assertEqual(barriers("2000"), 1024 + 999)

    def test_handlers_of_fork(self):
        program = compiled(PROGRAMS / "fork.c", self.scratch / "fork", "-pthread")
        self.expect_success(program)
        self.expect_success(program, LOCKSTEP_LEDGER="/dev/null")  # the list of teams for it is in the child, too

    def test_target_has_a_device_where_it_must(self):
        source = self.scratch / "must.c"
        source.write_text("int main(void) {\n#pragma omp target device(3)\n  ;\n  return 0; }\n")
        done = run(compiled(source, self.scratch / "must"), OMP_TARGET_OFFLOAD="mandatory")
        self.assertEqual(done.returncode, 1)
        self.assertIn("OMP_TARGET_OFFLOAD", done.stderr)

    def test_error_directives(self):
        source = self.scratch / "directives.c"
        source.write_text(DIRECTIVES)
        program = compiled(source, self.scratch / "directives")
        said = "\nlibgomp: error directive encountered: hello\n\nlibgomp: error directive encountered\n"
        done = run(program)
        self.assertEqual((done.returncode, done.stderr), (0, said))
        done = run(program, "more")
        self.assertEqual((done.returncode, done.stderr),
                         (1, said + "\nlibgomp: fatal error: error directive encountered: the end\n"))


if __name__ == "__main__":
    unittest.main()
