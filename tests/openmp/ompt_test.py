#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tools (OMPT): how one is found, what it is told of programs of GCC and of Clang, and that values are the standard's.

usage: ompt_test.py libgomp.so.1
"""

import os
import re
import subprocess
import unittest
from pathlib import Path

import support
from support import CLEAN, GCC, LIBRARY, compiled, run

HERE = Path(__file__).resolve().parent
GXX = os.environ.get("LOCKSTEP_GXX") or "g++"
CLANG = os.environ.get("LOCKSTEP_CLANG")
# Events by their numbers, as ompt_callbacks_t has them.
THREAD_BEGIN, THREAD_END, PARALLEL_BEGIN, PARALLEL_END, TASK_CREATE, TASK_SCHEDULE, IMPLICIT_TASK = range(1, 8)
SYNC_REGION_WAIT, MUTEX_RELEASED, DEPENDENCES, TASK_DEPENDENCE, WORK, MASKED = 16, 17, 18, 19, 20, 21
SYNC_REGION, MUTEX_ACQUIRE, MUTEX_ACQUIRED, CANCEL, REDUCTION, DISPATCH = 23, 26, 27, 30, 31, 32

EVERYTHING = """
#include <omp.h>
int main(void) {
  omp_lock_t lock;
  int sum = 0, a = 0, b = 0;
  omp_init_lock(&lock);
  for (int round = 0; round < 20; ++round) {
#pragma omp parallel num_threads(3)
    {
#pragma omp barrier
#pragma omp for schedule(dynamic, 2) reduction(+ : sum)
      for (int i = 0; i < 30; ++i) sum += 1;
#pragma omp sections
      {
#pragma omp section
        omp_set_lock(&lock), ++a, omp_unset_lock(&lock);
#pragma omp section
        omp_set_lock(&lock), ++a, omp_unset_lock(&lock);
      }
#pragma omp single
      {
#pragma omp taskgroup
        for (int i = 0; i < 40; ++i) {
#pragma omp task depend(inout : b) shared(b)
          ++b;
        }
#pragma omp task if (0)
        ++a;
#pragma omp taskwait
      }
#pragma omp critical
      ++a;
#pragma omp parallel num_threads(2)
#pragma omp master
#pragma omp taskloop grainsize(3)
      for (int i = 0; i < 9; ++i) {
#pragma omp atomic
        ++sum;
      }
    }
  }
  return sum == 20 * (30 + 27) && a == 20 * 6 && b == 20 * 40 ? 0 : 1;
}
"""
# A tool in the program itself; what it returns is read from the environment.
IN_PROGRAM = """
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
typedef void (*function)(void);
typedef struct { int (*initialize)(function (*)(const char*), int, void*); void (*finalize)(void*); void* data; } result;
static int begin(function (*lookup)(const char*), int device, void* data) {
  printf("initialized, device %d, %d\\n", device, lookup("ompt_set_callback") != 0 && lookup("ompt_no_name") == 0);
  return getenv("DECLINES") == NULL;
}
static void end(void* data) { puts("finalized"); }
result* ompt_start_tool(unsigned version, const char* runtime) {
  static result own = {begin, end, NULL};
  printf("started for %u\\n", version);
  return getenv("REFUSES") == NULL ? &own : NULL;
}
int omp_control_tool(int, int, void*);
int main(void) {
  int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
  members += 1;
  printf("%d members, control: %d\\n", members, omp_control_tool(1, 0, NULL));
  return 0;
}
"""
STARTED, INITIALIZED, FINALIZED = "started for 202111\n", "initialized, device 0, 1\n", "finalized\n"


class Tools(support.Programs):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tool = cls.scratch / "grammar.so"
        subprocess.run([GXX, "-std=c++17", "-O1", "-shared", "-fPIC", str(HERE / "ompt" / "grammar.cpp"), "-o", str(cls.tool)],
                       check=True)

        cls.everything = compiled(cls.write("everything.c", EVERYTHING), cls.scratch / "everything", "-O2")

    @classmethod
    def write(cls, name, text):
        path = cls.scratch / name
        path.write_text(text, encoding="utf-8")
        return path

    def report(self, program, *arguments, **variables):
        """What the tool says of a run: counts of events by number. Fails where something is wrong."""
        report = self.scratch / "report"
        report.unlink(missing_ok=True)
        done = run(program, *arguments, OMP_TOOL_LIBRARIES=str(self.tool), LOCKSTEP_OMPT_REPORT=str(report), **variables)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        text = report.read_text(encoding="utf-8")
        self.assertNotIn("wrong", text)
        return {int(number): int(count) for number, count in re.findall(r"event (\d+): (\d+)", text)}

    def expect_everything(self, counts, *more):
        for event in (THREAD_BEGIN, PARALLEL_BEGIN, TASK_CREATE, TASK_SCHEDULE, IMPLICIT_TASK, SYNC_REGION_WAIT, MUTEX_RELEASED,
                      DEPENDENCES, TASK_DEPENDENCE, WORK, SYNC_REGION, MUTEX_ACQUIRE, DISPATCH, *more):
            self.assertGreater(counts.get(event, 0), 0, f"event {event}")
        # 20 rounds of a region of 3 threads, each of which has one of 2.
        self.assertEqual(counts[PARALLEL_BEGIN], 20 * 4)
        self.assertEqual(counts[PARALLEL_END], counts[PARALLEL_BEGIN])
        self.assertEqual(counts[THREAD_END], counts[THREAD_BEGIN])
        self.assertEqual(counts[IMPLICIT_TASK], 2 + 2 * 20 * (3 + 3 * 2))
        self.assertEqual(counts[TASK_CREATE], 20 * (41 + 3 * 3))
        self.assertEqual(counts[TASK_SCHEDULE], 2 * counts[TASK_CREATE])
        self.assertEqual(counts[MUTEX_ACQUIRED], counts[MUTEX_RELEASED])

    def test_events_of_gccs_programs_come_in_order(self):
        self.expect_everything(self.report(self.everything, OMP_MAX_ACTIVE_LEVELS="2"))

    @unittest.skipUnless(CLANG, "no Clang")
    def test_events_of_clangs_programs_come_in_order(self):
        program = compiled(self.scratch / "everything.c", self.scratch / "everything_clang", "-O1", compiler=CLANG)
        self.expect_everything(self.report(program, OMP_MAX_ACTIVE_LEVELS="2"), MASKED, REDUCTION)

    def test_events_of_the_conformance_programs_come_in_order(self):
        for name, variables in (("parallel", {}), ("worksharing", {}), ("task_dependences", {}), ("task_events", {}),
                                ("cancel", {"OMP_CANCELLATION": "true"}), ("loops", {}), ("task_groups", {}),
                                ("task_loops", {}), ("task_trees", {}), ("fork", {}))[:5 if support.IS_BRIEF else None]:
            with self.subTest(name):
                program = compiled(HERE / "conformance" / f"{name}.c", self.scratch / name, "-O1", "-lm")
                self.assertGreater(self.report(program, OMP_NUM_THREADS="4", **variables)[PARALLEL_BEGIN], 0)

    def test_a_tool_in_the_program_is_found_first(self):
        program = compiled(self.write("own.c", IN_PROGRAM), self.scratch / "own", "-rdynamic", "-Wl,--unresolved-symbols=ignore-all")
        result = "2 members, control: {}\n"
        # No callback is set: -1; no tool: -2.
        for variables, expected in (
                ({}, STARTED + INITIALIZED + result.format(-1) + FINALIZED),
                ({"OMP_TOOL": "enabled"}, STARTED + INITIALIZED + result.format(-1) + FINALIZED),
                ({"OMP_TOOL": "disabled"}, result.format(-2)),
                ({"DECLINES": "1"}, STARTED + INITIALIZED + result.format(-2)),
                ({"REFUSES": "1"}, STARTED + result.format(-2))):
            with self.subTest(variables):
                self.assertEqual(run(program, **variables).stdout, expected)
        refused = run(program, REFUSES="1", OMP_TOOL_LIBRARIES=str(self.tool), LOCKSTEP_OMPT_REPORT=str(self.scratch / "second"))
        self.assertEqual(refused.stdout, STARTED + result.format(-1))
        self.assertIn("event 3: 1\n", (self.scratch / "second").read_text(encoding="utf-8"))

    def test_the_search_is_said_on_request(self):
        program = self.everything
        libraries = f"{self.scratch}/none.so:{self.tool}"
        said = run(program, OMP_TOOL_LIBRARIES=libraries, OMP_TOOL_VERBOSE_INIT="stderr").stderr
        self.assertRegex(said, r"none\.so\.\.\. Failed: .*\n")
        self.assertIn(f"Searching for ompt_start_tool in {self.tool}... Success.\n", said)
        log = self.scratch / "log"
        run(program, OMP_TOOL_VERBOSE_INIT=str(log))
        self.assertIn("No OMP tool loaded.\n", log.read_text(encoding="utf-8"))
        self.assertIn("OMP tool disabled.", run(program, OMP_TOOL="disabled", OMP_TOOL_VERBOSE_INIT="stdout").stdout)
        self.assertIn("OMP_TOOL", run(program, OMP_TOOL="perhaps").stderr)

    def test_a_preloaded_tool_is_found(self):
        report = self.scratch / "preloaded.report"
        done = run(self.everything, LD_PRELOAD=str(self.tool), LOCKSTEP_OMPT_REPORT=str(report))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("event 3:", report.read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
