#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The runtime as compilers of LLVM call it: programs that Clang compiles, which find it by the name libomp.so.5.

usage: llvm_test.py libgomp.so.1
"""

import os
import re
import shutil
import sys
import unittest

import support
from support import PROGRAMS, compiled, run

CLANG = os.environ.get("LOCKSTEP_CLANG") or "clang-19"
CLANGXX = os.environ.get("LOCKSTEP_CLANGXX") or "clang++-19"
THREADS = """
#include <stdio.h>
#include <omp.h>
int main(void) {
#pragma omp parallel
#pragma omp critical
  {
    int cpus[64] = {0};
    const int place = omp_get_place_num();
    if (place >= 0) omp_get_place_proc_ids(place, cpus);
    printf("%d of %d: %d\\n", omp_get_thread_num(), omp_get_num_threads(), place < 0 ? -1 : cpus[0]);
  }
  printf("limit %d bind %d\\n", omp_get_thread_limit(), omp_get_proc_bind());
  return 0;
}
"""
ERRORS = """
int main(void) {
#pragma omp error at(execution) severity(warning) message("hello")
#pragma omp error at(execution) message("the end")
  return 0;
}
"""
# What the environment says at the first call of main(), which threads are shown where, and what some variables of LLVM change.
WAYS = """
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char text[64];
  omp_sched_t kind;
  int chunk, made = 0, bad = 0;
  setenv("OMP_NUM_THREADS", "3", 1);
  setenv("OMP_SCHEDULE", "guided,5", 1);
  omp_get_schedule(&kind, &chunk);
  omp_capture_affinity(text, sizeof text, "%{no_field}, level %L");
  printf("%d threads, schedule %d,%d, %s\\n", omp_get_max_threads(), (int)kind, chunk, text);
  omp_display_affinity("shown at %0.3L");
  if (getenv("KMP_ENABLE_TASK_THROTTLING")) {
#pragma omp parallel num_threads(2)
#pragma omp master
    for (int i = 0; i < 500; ++i) {
#pragma omp task shared(made)
      for (int seen = 0; seen < 500;) {
#pragma omp atomic read
        seen = made;
      }
#pragma omp atomic
      ++made;
    }
    printf("%d tasks\\n", made);
  }
  if (getenv("KMP_DETERMINISTIC_REDUCTION")) {
    const double parts[4] = {1, 1e16, -1e16, 3};
    for (int round = 0; round < 300; ++round) {
      double sum = 0, early = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
      {
        sum += parts[omp_get_thread_num()];
#pragma omp for reduction(+ : early) nowait
        for (int i = 0; i < 4; ++i) early += parts[i];
      }
      bad += sum != 3 || early != 3;
    }
    printf("%d bad sums\\n", bad);
  }
#pragma omp teams num_teams(2)
  printf("team %d: %d, %d places\\n", omp_get_team_num(), omp_get_place_num(), omp_get_partition_num_places());
  return 0;
}
"""


def is_allowed_two_cpus():
    return len(os.sched_getaffinity(0)) >= 2


class Llvm(support.Programs):
    def program(self, name, *options, compiler=CLANG):
        source = PROGRAMS / name
        made = self.scratch / (name + "".join(options).replace("/", "_"))
        return made if made.exists() else compiled(source, made, "-fopenmp-version=52", "-pthread", *options, compiler=compiler)

    def text_program(self, name, text):
        made, source = self.scratch / name, self.scratch / f"{name}.c"
        if not made.exists():
            source.write_text(text)
            compiled(source, made, "-fopenmp-version=52", compiler=CLANG)
        return made

    def test_regions(self):
        for option in support.OPTIMISERS:
            for variables in ({}, {"KMP_BLOCKTIME": "0"}, {"OMP_WAIT_POLICY": "active"}, {"KMP_AFFINITY": "compact"}):
                with self.subTest(option=option, variables=variables):
                    self.expect_success(self.program("llvm_regions.c", option), **variables)

    def test_threadprivate_without_thread_local_storage(self):
        self.expect_success(self.program("llvm_threadprivate.cpp", "-std=c++17", "-fnoopenmp-use-tls", compiler=CLANGXX))

    def test_loops(self):
        self.expect_success(self.program("llvm_loops.c", "-O1"))

    def test_atomics(self):
        self.expect_success(self.program("llvm_atomics.c", "-O1"))

    def test_kmp_functions(self):
        for option in support.OPTIMISERS:
            self.expect_success(self.program("llvm_kmp.c", option))

    def test_error_directives(self):
        done = run(self.text_program("errors", ERRORS))
        self.assertRegex(done.stderr, r"OMP: Warning #283: .*errors.c:3:1: Encountered user-directed warning: hello.\n"
                                      r"OMP: Error #282: .*errors.c:4:1: Encountered user-directed error: the end.\n")
        self.assertLess(done.returncode, 0)

    def test_programs_of_llvm_get_the_ways_of_its_runtime(self):
        program = self.text_program("ways", WAYS)
        usual = "3 threads, schedule 3,5, undefined, level 0\nshown at 000\n"
        places = ",".join([f"{{{min(os.sched_getaffinity(0))}}}"] * 4)
        for variables, more in (
                ({}, "team 0: -1, 0 places\nteam 1: -1, 0 places\n"),
                ({"OMP_PLACES": places}, "team 0: 0, 2 places\nteam 1: 2, 2 places\n"),
                ({"OMP_PLACES": places, "KMP_TEAMS_PROC_BIND": "close"}, "team 0: 0, 4 places\nteam 1: 1, 4 places\n"),
                ({"KMP_ENABLE_TASK_THROTTLING": "0"}, "500 tasks\nteam 0: -1, 0 places\nteam 1: -1, 0 places\n"),
                ({"KMP_DETERMINISTIC_REDUCTION": "1"}, "0 bad sums\nteam 0: -1, 0 places\nteam 1: -1, 0 places\n")):
            with self.subTest(variables):
                done = run(program, OMP_NUM_THREADS="7", **variables)
                self.assertEqual((done.stdout, done.stderr), (usual + more, ""))

    def said_with(self, **variables):
        done = run(self.text_program("threads", THREADS), **variables)
        self.assertEqual(done.returncode, 0)
        return done

    def test_kmp_variables(self):
        self.assertIn("limit 3 ", self.said_with(KMP_ALL_THREADS="3", OMP_NUM_THREADS="8").stdout)
        # What a region says of those inside goes before OMP_NUM_THREADS.
        self.expect_success(self.program("llvm_regions.c", "-O2"), OMP_NUM_THREADS="2,4,4")
        self.assertIn("2 of 3", self.said_with(KMP_ALL_THREADS="3", OMP_NUM_THREADS="8").stdout)
        self.assertIn("OMP_STACKSIZE = '524288'", self.said_with(KMP_STACKSIZE="512k", KMP_SETTINGS="1").stderr)
        self.assertIn("OMP_STACKSIZE = '65536'", self.said_with(KMP_STACKSIZE="65536", OMP_DISPLAY_ENV="true").stderr)
        for name in ("KMP_BLOCKTIME", "KMP_AFFINITY", "KMP_HW_SUBSET", "KMP_STACKSIZE"):
            self.assertRegex(self.said_with(**{name: "nonsense"}).stderr, f"invalid value .* {name}: 'nonsense'; it is ignored")

    def test_kmp_variables_that_nobody_hears_are_named_once(self):
        done = self.said_with(KMP_HOT_TEAMS_MODE="1", KMP_FORKJOIN_BARRIER="2,2", KMP_INIT_AT_FORK="FALSE")
        self.assertRegex(done.stderr, r"^[^\n]*KMP_\w+, KMP_\w+: not heard here[^\n]*\n$")
        self.assertNotIn("AT_FORK", done.stderr)
        self.assertEqual(self.said_with(KMP_HOT_TEAMS_MODE="1", KMP_WARNINGS="0").stderr, "")

    @unittest.skipUnless(is_allowed_two_cpus(), "one CPU")
    def test_kmp_affinity_places_threads(self):
        first, second = sorted(os.sched_getaffinity(0))[:2]
        said = self.said_with(OMP_NUM_THREADS="2", KMP_AFFINITY=f"verbose,explicit,proclist=[{second},{first}]")
        self.assertIn(f"0 of 2: {second}", said.stdout)
        self.assertIn(f"1 of 2: {first}", said.stdout)
        self.assertIn("bound to OS proc set", said.stdout)  # verbose
        for how, bind in (("granularity=fine,compact", 3), ("granularity=thread,scatter", 3), ("balanced,granularity=fine", 4),
                          ("respect,granularity=fine,compact,1,0", 3), ("norespect,nowarnings,compact", 3)):
            said = self.said_with(OMP_NUM_THREADS="2", KMP_AFFINITY=how)
            self.assertIn(f"bind {bind}\n", said.stdout)
            self.assertEqual(len(set(re.findall(r": (\d+)", said.stdout))), 2, said.stdout)
        rotated = self.said_with(OMP_NUM_THREADS="2", KMP_AFFINITY="granularity=fine,compact,0,1")
        self.assertNotIn(f"0 of 2: {first}\n", rotated.stdout)
        for how in ("none", "disabled", "verbose,granularity=core"):
            self.assertIn(": -1\n", self.said_with(KMP_AFFINITY=how).stdout)

    @unittest.skipUnless(is_allowed_two_cpus(), "one CPU")
    def test_kmp_hardware_subset(self):
        said = self.said_with(KMP_HW_SUBSET=":1t@1", OMP_PLACES="threads", OMP_PROC_BIND="close").stdout
        self.assertRegex(said, r"^0 of 1: \d+\n")
        everything = self.said_with(KMP_HW_SUBSET="*s,*c", OMP_PLACES="threads").stdout
        self.assertEqual(everything.count(" of "), self.said_with(OMP_PLACES="threads").stdout.count(" of "))


if __name__ == "__main__":
    if shutil.which(CLANG) is None or shutil.which(CLANGXX) is None:
        print(f"skipped: no {CLANG}")
        sys.exit(support.SKIPPED)
    unittest.main()
