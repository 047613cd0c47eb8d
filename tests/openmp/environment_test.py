#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What libgomp.so.1 takes from the environment, and what it says of values that make no sense.

usage: environment_test.py libgomp.so.1
"""

import os
import re
import unittest

import support
from support import PROGRAMS, compiled, run

CPUS = sorted(os.sched_getaffinity(0))
UNUSABLE = max(CPUS) + 1
BIND = {"false": "0", "true": "1", "primary": "2", "close": "3", "spread": "4"}


class Environment(support.Programs):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.settings = compiled(PROGRAMS / "settings.c", cls.scratch / "settings")
        cls.places = compiled(PROGRAMS / "places.c", cls.scratch / "places")
        cls.usual = cls.read({})

    @classmethod
    def read(cls, variables):
        """The control variables of the program; the text on stderr under the name 'said'."""
        done = run(cls.settings, **variables)
        if done.returncode != 0:
            raise AssertionError(f"{variables}: status {done.returncode}, {done.stderr}")
        read = dict(line.split(" ", 1) for line in done.stdout.splitlines())
        read["said"] = done.stderr
        return read

    def expect(self, variables, **wanted):
        """Besides `wanted` all is as usual, and nothing is said."""
        with self.subTest(variables=variables):
            self.assertEqual(self.read(variables), {**self.usual, **wanted})

    def expect_refused(self, variable, value):
        read = self.read({variable: value})
        with self.subTest(variable=variable, value=value):
            said = read.pop("said")
            self.assertEqual(read, {name: text for name, text in self.usual.items() if name != "said"})
            self.assertTrue(said.startswith("libgomp (lockstep): ") and variable in said, said)

    def test_without_variables(self):
        wanted = {"dynamic": "0", "levels": "1", "nested": "0", "limit": "2147483647", "schedule": "2,1", "bind": "0",
                  "places": "0", "place": "-1", "cancellation": "0", "priority": "0", "device": "0", "teams": "0",
                  "teams_limit": "0", "allocator": "1", "said": ""}
        self.assertEqual({name: self.usual[name] for name in wanted}, wanted)
        self.assertLessEqual(int(self.usual["threads"]), len(CPUS))

    def test_threads_that_cannot_be_started(self):
        region = self.scratch / "region.c"
        region.write_text("int main() {\n#pragma omp parallel num_threads(2)\n;\n#pragma omp parallel\n;\n}\n")
        program = compiled(region, self.scratch / "region")
        # Stacks larger than any address space; and room for some of the threads.
        for which, variables in ((2, {"OMP_STACKSIZE": "1000000G"}), (1000, {"OMP_STACKSIZE": "64M", "OMP_NUM_THREADS": "1000"})):
            with self.subTest(variables=variables):
                done = run(program, limit=4 << 30, **variables)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                said = re.fullmatch(r"libgomp \(lockstep\): Thread creation failed: .+: thread (\d+) of (\d+) of a region. "
                                    r"Ask for fewer threads \(OMP_NUM_THREADS\).+\n", done.stderr.splitlines(True)[-1])
                self.assertIsNotNone(said, done.stderr)
                self.assertEqual(int(said[2]), which)
                self.assertLess(int(said[1]), 1000)

    def test_numbers_of_threads(self):
        self.expect({"OMP_NUM_THREADS": "3"}, threads="3")
        self.expect({"OMP_NUM_THREADS": " 3 "}, threads="3")
        self.expect({"OMP_NUM_THREADS": "4, 3"}, threads="4", levels="255", nested="1")
        self.expect({"OMP_NUM_THREADS": "4,3", "OMP_MAX_ACTIVE_LEVELS": "1"}, threads="4")
        for value in ("", "x", "0", "-1", "4,x", "4,", "0x4", "99999999999999999999", "3000000000"):
            self.expect_refused("OMP_NUM_THREADS", value)

    def test_switches(self):
        self.expect({"OMP_DYNAMIC": "true"}, dynamic="1")
        self.expect({"OMP_DYNAMIC": " TRUE "}, dynamic="1")
        self.expect({"OMP_CANCELLATION": "true"}, cancellation="1")
        self.expect({"OMP_NESTED": "true"}, levels="255", nested="1")
        self.expect({"OMP_NESTED": "false"})
        for variable in ("OMP_DYNAMIC", "OMP_CANCELLATION", "OMP_NESTED", "OMP_DISPLAY_AFFINITY", "OMP_DISPLAY_ENV"):
            for value in ("1", "yes", "", "truely"):
                self.expect_refused(variable, value)

    def test_numbers(self):
        self.expect({"OMP_MAX_ACTIVE_LEVELS": "3"}, levels="3", nested="1")
        self.expect({"OMP_MAX_ACTIVE_LEVELS": "0"}, levels="0")
        self.expect({"OMP_MAX_ACTIVE_LEVELS": "300"}, levels="255", nested="1")
        self.expect({"OMP_MAX_ACTIVE_LEVELS": "2", "OMP_NESTED": "false"}, levels="2", nested="1")
        self.expect({"OMP_THREAD_LIMIT": "5"}, limit="5")
        self.expect({"OMP_MAX_TASK_PRIORITY": "10"}, priority="10")
        self.expect({"OMP_DEFAULT_DEVICE": "3"}, device="3")
        self.expect({"OMP_NUM_TEAMS": "4"}, teams="4")
        self.expect({"OMP_TEAMS_THREAD_LIMIT": "3"}, teams_limit="3")
        for variable, least in (("OMP_MAX_ACTIVE_LEVELS", 0), ("OMP_THREAD_LIMIT", 1), ("OMP_MAX_TASK_PRIORITY", 0),
                                ("OMP_DEFAULT_DEVICE", 0), ("OMP_NUM_TEAMS", 1), ("OMP_TEAMS_THREAD_LIMIT", 1)):
            for value in (str(least - 1), "", "x", "1 2"):
                self.expect_refused(variable, value)

    def test_schedules(self):
        for value, wanted in (("static", "80000001,0"), ("static,4", "80000001,4"), (" guided , 4 ", "3,4"),
                              ("AUTO", "4,1"), ("monotonic:dynamic,3", "80000002,3"), ("nonmonotonic:static", "1,0"),
                              ("monotonic : guided", "80000003,1"), ("dynamic,0", "2,1"), ("guided", "3,1")):
            self.expect({"OMP_SCHEDULE": value}, schedule=wanted)
        for value in ("", "foo", "dynamic,", "dynamic,x", "dynamic,-1", "monotonic", "monotonic:", "dynamic4"):
            self.expect_refused("OMP_SCHEDULE", value)

    def test_stacks_waits_devices_and_allocators(self):
        for variable in ("OMP_STACKSIZE", "GOMP_STACKSIZE"):
            for value in ("4M", " 512 k ", "64000000B", "1g", "4096"):
                self.expect({variable: value})
            for value in ("", "x", "4MB", "1", "1k", "99999999999999999999"):
                self.expect_refused(variable, value)
        for variable, values in (("OMP_WAIT_POLICY", ("active", "PASSIVE")), ("GOMP_SPINCOUNT", ("0", "10k", "infinite")),
                                 ("OMP_TARGET_OFFLOAD", ("mandatory", "disabled", "default"))):
            for value in values:
                self.expect({variable: value})
            self.expect_refused(variable, "foo")
        self.expect({"OMP_ALLOCATOR": "omp_large_cap_mem_alloc"}, allocator="2")
        self.expect_refused("OMP_ALLOCATOR", "foo")

    def test_binding_and_places(self):
        threads = {f"cpus_of_{place}": str(cpu) for place, cpu in enumerate(CPUS)}
        each = {"places": str(len(CPUS)), "place": "0", **threads}
        for name, number in BIND.items():
            self.expect({"OMP_PROC_BIND": name}, **(each if name != "false" else {}), bind=number)
        self.expect({"OMP_PROC_BIND": "spread, close"}, bind=BIND["spread"], levels="255", nested="1", **each)
        self.expect({"OMP_PROC_BIND": "master"}, bind=BIND["primary"], **each)
        self.expect({"OMP_PLACES": "threads"}, bind=BIND["true"], **each)
        self.expect({"OMP_PROC_BIND": "false", "OMP_PLACES": "threads"})
        first = str(CPUS[0])
        one = {"bind": BIND["true"], "places": "1", "place": "0", "cpus_of_0": first}
        self.expect({"OMP_PLACES": "threads(1)"}, **one)
        self.expect({"OMP_PLACES": f"{{{first}}}"}, **one)
        self.expect({"OMP_PLACES": f"{{{first},!{first},{first}}}"}, **one)
        self.expect({"OMP_PLACES": f"{{{first}:2,!{CPUS[0] + 1}}}"}, **one)
        self.expect({"OMP_PLACES": f"{{{first}}},{{{first}:3}},!{{{first}:3}}"}, **one)
        self.expect({"GOMP_CPU_AFFINITY": first}, **one)
        self.expect({"GOMP_CPU_AFFINITY": f"{first} {first},{first}"}, bind=BIND["true"], places="3", place="0",
                    **{f"cpus_of_{place}": first for place in range(3)})
        for value in ("", "foo", "{", "{}", "{0", "{x}", "{0}:0", "{0:0}", "!{0}", "{0}:99999999", "threads(0)", "threads x",
                      f"{{{UNUSABLE}}}"):
            self.expect_refused("OMP_PLACES", value)
        for value in ("", "foo", "3-1", "0-1:0", str(UNUSABLE)):
            self.expect_refused("GOMP_CPU_AFFINITY", value)
        for value in ("foo", "true,close", "close,", ""):
            self.expect_refused("OMP_PROC_BIND", value)

    def test_units_of_the_machine_are_made_of_all_usable_cpus(self):
        for unit in ("cores", "sockets", "ll_caches", "numa_domains"):
            read = self.read({"OMP_PLACES": unit})
            places = [read[f"cpus_of_{place}"].split() for place in range(int(read["places"]))]
            with self.subTest(unit=unit, places=places):
                self.assertEqual(sorted(int(cpu) for place in places for cpu in place), CPUS)

    def test_members_are_dealt_out_to_places(self):
        """Where six places of one CPU stand in a row: (place, first place and length of the partition)."""
        places = ",".join([f"{{{CPUS[0]}}}"] * 6)
        said = run(self.places, OMP_PLACES=places, OMP_PROC_BIND="spread").stdout
        for line in ("5 close 0(0+6) 1(0+6) 2(0+6) 3(0+6) 4(0+6)",
                     "8 close 0(0+6) 1(0+6) 2(0+6) 3(0+6) 4(0+6) 5(0+6) 0(0+6) 1(0+6)",
                     "13 close 0(0+6) 0(0+6) 1(0+6) 1(0+6) 2(0+6) 2(0+6) 3(0+6) 3(0+6) 4(0+6) 4(0+6) 5(0+6) 5(0+6) 0(0+6)",
                     "3 primary 0(0+6) 0(0+6) 0(0+6)",
                     "2 spread 0(0+3) 3(3+3)",
                     "4 spread 0(0+2) 2(2+2) 4(4+1) 5(5+1)",
                     "7 spread 0(0+1) 1(1+1) 2(2+1) 3(3+1) 4(4+1) 5(5+1) 0(0+1)",
                     "inside of the second of 2: 3 close 3(3+3) 4(3+3) 5(3+3)",
                     "inside of the second of 2: 2 spread 3(3+2) 5(5+1)"):
            self.assertIn(line + "\n", said)

    def test_settings_are_shown(self):
        said = self.read({"OMP_DISPLAY_ENV": "true", "OMP_NUM_THREADS": "4,3", "OMP_SCHEDULE": "monotonic:dynamic,3",
                          "OMP_STACKSIZE": "4M"})["said"]
        self.assertTrue(said.startswith("\nOPENMP DISPLAY ENVIRONMENT BEGIN\n"), said)
        self.assertTrue(said.endswith("\nOPENMP DISPLAY ENVIRONMENT END\n"), said)
        for line in ("_OPENMP = '201511'", "OMP_NUM_THREADS = '4,3'", "OMP_SCHEDULE = 'MONOTONIC:DYNAMIC,3'",
                     "OMP_STACKSIZE = '4194304'", "OMP_MAX_ACTIVE_LEVELS = '255'", "OMP_THREAD_LIMIT = '4294967295'"):
            self.assertIn(f"\n  {line}\n", said)
        self.assertRegex(said, r"lockstep \d+\.\d+\.\d+\n")
        self.assertNotIn("GOMP_SPINCOUNT", said)
        self.assertIn("GOMP_SPINCOUNT", self.read({"OMP_DISPLAY_ENV": "verbose"})["said"])
        self.assertIn("lockstep serves", self.read({"LOCKSTEP_DISPLAY_ENV": "1"})["said"])

    def test_where_threads_run_is_shown(self):
        said = run(self.places, OMP_DISPLAY_AFFINITY="true", OMP_AFFINITY_FORMAT="%L %n of %N on %A").stderr
        for rank in range(3):
            self.assertTrue(re.search(rf"^1 {rank} of 3 on \d", said, re.MULTILINE), said)


if __name__ == "__main__":
    unittest.main()
