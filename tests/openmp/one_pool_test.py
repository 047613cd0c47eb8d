#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A process with libraries of GCC's and of Clang's OpenMP: one pool of threads. If another runtime has started as well, ours says so.

usage: one_pool_test.py libgomp.so.1 path-of-the-command
"""

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import support
from support import CLEAN, GCC, LIBRARY, compiled

COMMAND = str(Path(sys.argv.pop(1)).resolve()) if len(sys.argv) > 1 else None
CLANG = os.environ.get("LOCKSTEP_CLANG")
# Compiled by each compiler: a loop, tasks, and a region whose members must all run at once.
PART = """
#include <omp.h>
int loop_sum_NAME(int count) {
  int sum = 0;
#pragma omp parallel for schedule(dynamic, 7) reduction(+ : sum)
  for (int i = 0; i < count; ++i) sum += i;
  return sum;
}
int tasks_NAME(int count) {
  int done = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < count; ++i) {
#pragma omp task shared(done)
    {
#pragma omp atomic
      ++done;
    }
  }
  return done;
}
int members_NAME(void) {
  int members = 0;
#pragma omp parallel
  {
#pragma omp critical(both)
    ++members;
#pragma omp barrier
  }
  return members;
}
"""
MAIN = """
#include <dirent.h>
#include <stdio.h>
int loop_sum_gcc(int), loop_sum_clang(int), tasks_gcc(int), tasks_clang(int), members_gcc(void), members_clang(void);
int main(void) {
  int wrong = 0, members = 0, threads = -2;
  for (int i = 0; i < 200; ++i) {
    wrong += loop_sum_gcc(1000) != 499500;
    wrong += loop_sum_clang(1000) != 499500;
    wrong += tasks_clang(20) != 20;
    wrong += tasks_gcc(20) != 20;
    members += members_gcc() + members_clang();
  }
  DIR* d = opendir("/proc/self/task");
  while (readdir(d) != 0) ++threads;
  printf("%d wrong, %d members, %d threads\\n", wrong, members, threads);
  return 0;
}
"""
ONE_POOL = "0 wrong, 1200 members, 3 threads\n"
TWO_POOLS = "0 wrong, 1200 members, 5 threads\n"
LATE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int main(int n, char** a) {
  for (int i = 1; i < n; i += 2) {
    void* const m = dlopen(a[i], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (m == 0) { puts(dlerror()); return 1; }
    int (*const f)(void) = (int (*)(void))dlsym(m, a[i + 1]);
    printf("%d\\n", f());
  }
  return 0;
}
"""


@unittest.skipUnless(CLANG, "there is no Clang with OpenMP")
class OnePool(support.Programs):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, compiler in (("gcc", GCC), ("clang", CLANG)):
            source = cls.scratch / f"{name}.c"
            source.write_text(PART.replace("NAME", name), encoding="utf-8")
            compiled(source, cls.scratch / f"lib{name}.so", "-shared", "-fPIC", "-O1", compiler=compiler)
        for name, text, libraries in (("main", MAIN, ["gcc", "clang"]), ("late", LATE, [])):
            source = cls.scratch / f"{name}.c"
            source.write_text(text, encoding="utf-8")
            subprocess.run([GCC, str(source), f"-L{cls.scratch}", *(f"-l{each}" for each in libraries), "-ldl",
                            f"-Wl,-rpath,{cls.scratch}", "-o", str(cls.scratch / name)], check=True)

    def call(self, *command, **variables):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60,
                              env={**CLEAN, "OMP_NUM_THREADS": "3", "XDG_CACHE_HOME": str(self.scratch), **variables})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def test_with_the_compilers_runtimes_there_are_two_pools(self):
        self.assertEqual(self.call(self.scratch / "main", OMP_WAIT_POLICY="passive").stdout, TWO_POOLS)

    def test_where_both_names_are_ours_there_is_one(self):
        done = self.call(self.scratch / "main", LD_LIBRARY_PATH=str(LIBRARY.parent))
        self.assertEqual((done.stdout, done.stderr), (ONE_POOL, ""))

    def test_lockstep_run_makes_it_one_and_says_so(self):
        done = self.call(COMMAND, "run", "--library", LIBRARY, self.scratch / "main")
        self.assertEqual(done.stdout, ONE_POOL)
        self.assertRegex(done.stderr, r"has 2 OpenMP runtimes to load; now it is one, lockstep, in place of:\n  /.*libg?omp.*\n  /.*libg?omp")

    def test_ours_preloaded_gets_the_calls_of_both(self):
        # LLVM's own is loaded, too, and not called.
        self.assertEqual(self.call(self.scratch / "main", LD_PRELOAD=str(LIBRARY)).stdout, ONE_POOL)

    def test_a_libomp_that_has_started_before_is_told_of(self):
        ours = self.scratch / "only_gomp"
        ours.mkdir()
        shutil.copy(LIBRARY, ours / "libgomp.so.1")
        done = self.call(self.scratch / "late", self.scratch / "libclang.so", "members_clang", self.scratch / "libgcc.so",
                         "members_gcc", LD_LIBRARY_PATH=str(ours))
        self.assertEqual(done.stdout, "3\n3\n")
        self.assertRegex(done.stderr, r"^libgomp \(lockstep\): Other calls of this process have the OpenMP runtime "
                                      r"\S*libomp\S*, and threads of its own; .*\n$")

    def test_of_two_copies_of_ours_the_one_that_few_libraries_find_tells(self):
        copy = self.scratch / "libgomp.so.9"
        copy.write_bytes(LIBRARY.read_bytes().replace(b"libgomp.so.1\0", b"libgomp.so.9\0"))  # its soname, too
        bound = self.scratch / "libbound.so"
        subprocess.run([GCC, "-fopenmp", "-fPIC", "-c", str(self.scratch / "gcc.c"), "-o", f"{bound}.o"], check=True)
        subprocess.run([GCC, "-shared", f"{bound}.o", str(copy), f"-Wl,-rpath,{self.scratch}", "-o",
                        str(bound)], check=True)
        done = self.call(self.scratch / "late", bound, "members_gcc", LD_PRELOAD=str(LIBRARY))
        self.assertEqual(done.stdout, "3\n")
        self.assertIn(f"have the OpenMP runtime {LIBRARY}, and threads of its own", done.stderr)


if __name__ == "__main__":
    unittest.main()
