#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lockstep run: programs get our runtime, also in place of one that they have bundled; what cannot work is said.

usage: run_test.py libgomp.so.1 path-of-the-command
"""

import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import support
from support import CLEAN, GCC, LIBRARY, compiled

COMMAND = str(Path(sys.argv.pop(1)).resolve()) if len(sys.argv) > 1 else None
HASHED = "libgomp-0badcafe.so.1.0.0"
PARALLEL = """
#include <omp.h>
#include <stdio.h>
int main(int count, char** arguments) {
  int members = 0;
#pragma omp parallel num_threads(3) reduction(+ : members)
  members += 1;
  printf("%d members, %d arguments, last: %s\\n", members, count, arguments[count - 1]);
  return 7;
}
"""
# A bundled runtime: a call of it says so, and ends the program.
BUNDLED = """
#include <stdio.h>
#include <stdlib.h>
#define BUNDLED(name) void name(void) { puts("the bundled runtime was called: " #name); exit(99); }
BUNDLED(GOMP_parallel) BUNDLED(GOMP_barrier) BUNDLED(omp_get_thread_num)
__attribute__((constructor)) static void loaded(void) { puts("the bundled runtime was loaded"); }
"""
VERSIONS = "GOMP_1.0 { global: GOMP_barrier; }; GOMP_4.0 { global: GOMP_parallel; }; OMP_1.0 { global: omp_get_thread_num; };"
MODULE = """
int members_of_region(void) {
  int members = 0;
#pragma omp parallel num_threads(3)
#pragma omp atomic
  ++members;
  return members;
}
"""


class Run(support.Programs):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        source = cls.write("parallel.c", PARALLEL)
        cls.program = compiled(source, cls.scratch / "parallel")
        cls.make_bundled()

    @classmethod
    def write(cls, name, text):
        path = cls.scratch / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    @classmethod
    def make_bundled(cls):
        """libs/libgomp-0badcafe.so.1.0.0, and a module and a program that find it by their own path."""
        libs = cls.scratch / "site" / "some.libs"
        libs.mkdir(parents=True)
        source, versions = cls.write("bundled.c", BUNDLED), cls.write("versions", VERSIONS)
        subprocess.run([GCC, "-shared", "-fPIC", str(source), f"-Wl,-soname,{HASHED}", f"-Wl,--version-script={versions}",
                        "-o", str(libs / HASHED)], check=True)
        path = ["-Wl,--disable-new-dtags", f"-Wl,-rpath,{libs}"]
        module = cls.write("module.c", MODULE)
        objects = cls.scratch / "module.o"
        subprocess.run([GCC, "-fopenmp", "-fPIC", "-c", str(module), "-o", str(objects)], check=True)
        cls.module = cls.scratch / "module.so"
        subprocess.run([GCC, "-shared", str(objects), str(libs / HASHED), *path, "-o", str(cls.module)], check=True)
        main = cls.write("main.c", "#include <stdio.h>\nint members_of_region(void);\n"
                                   "int main(void) { printf(\"%d members\\n\", members_of_region()); return 0; }\n")
        cls.with_bundled = cls.scratch / "with_bundled"
        subprocess.run([GCC, str(main), str(objects), str(libs / HASHED), *path, "-o", str(cls.with_bundled)], check=True)
        cls.libs = libs

    def call(self, *arguments, status=0, **variables):
        environment = {**CLEAN, "XDG_CACHE_HOME": str(self.scratch / "cache"), **variables}
        done = subprocess.run([COMMAND, "run", "--library", str(LIBRARY), *map(str, arguments)], capture_output=True,
                              text=True, timeout=60, env=environment, cwd=self.scratch)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_the_program_runs_on_lockstep_with_its_arguments_and_status(self):
        done = self.call("--", self.program, "--help", "-x", status=7, LOCKSTEP_DISPLAY_ENV="1")
        self.assertEqual(done.stdout, "3 members, 3 arguments, last: -x\n")
        self.assertIn("lockstep serves", done.stderr)

    def test_arguments_need_no_dashes_before_them(self):
        self.assertEqual(self.call("-q", self.program, "-v", "--bundled", "-q", status=7).stdout,
                         "3 members, 4 arguments, last: -q\n")

    def test_programs_are_found_in_the_path(self):
        path = f"{self.scratch}:{os.environ['PATH']}"
        self.assertIn("3 members", self.call("parallel", status=7, PATH=path).stdout)
        self.assertIn("not found", self.call("no-such-program", status=2, PATH=path).stderr)

    def test_what_takes_the_place_of_what_is_said_on_request(self):
        self.assertEqual(self.call(self.program, status=7).stderr, "")
        said = self.call("-v", self.program, status=7).stderr
        self.assertIn(f"{LIBRARY} takes the place of: libgomp.so.1\n", said)
        self.assertIn("lockstep serves", said)

    def test_a_bundled_runtime_is_replaced(self):
        alone = subprocess.run([str(self.with_bundled)], capture_output=True, text=True, env=CLEAN)
        self.assertIn("the bundled runtime was called", alone.stdout)
        # Its own path leads the program to the bundled one; it is loaded behind ours, and not called.
        self.assertEqual(self.call(self.with_bundled).stdout.splitlines()[-1], "3 members")
        self.assertIn(HASHED, self.call("-v", self.with_bundled).stderr)

    def test_a_bundled_runtime_that_is_loaded_later_is_replaced_where_it_is_named(self):
        main = self.write("later.c", "#include <dlfcn.h>\n#include <stdio.h>\n"
                                     "int main(int n, char** a) { void* m = dlopen(a[1], RTLD_NOW);\n"
                                     "  if (m == 0) { puts(dlerror()); return 1; }\n"
                                     "  int (*f)(void) = (int (*)(void))dlsym(m, \"members_of_region\");\n"
                                     "  printf(\"%d members\\n\", f()); return 0; }\n")
        program = compiled(main, self.scratch / "later", "-ldl")
        for bundled in (self.libs, self.libs / HASHED, self.scratch / "site"):
            self.assertEqual(self.call("--bundled", bundled, program, self.module).stdout, "3 members\n")
        self.assertIn("no such file", self.call("--bundled", self.scratch / "nowhere", program, status=2).stderr)

    def test_all_usual_names_lead_to_lockstep(self):
        main = self.write("names.c", "#include <dlfcn.h>\n#include <stdio.h>\n"
                                     "int main(int n, char** a) { void* first = dlopen(a[1], RTLD_NOW | RTLD_NOLOAD);\n"
                                     "  for (int i = 1; i < n; ++i) printf(\"%d\", first && dlopen(a[i], RTLD_NOW) == first);\n"
                                     "  return 0; }\n")
        program = compiled(main, self.scratch / "names", "-ldl")
        names = ("libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so", "libgomp.so.1.0.0")
        self.assertEqual(self.call("-q", program, *names).stdout, "11111")
        copy = self.scratch / "elsewhere" / "libgomp.so.1"  # without the links beside it
        copy.parent.mkdir()
        shutil.copy(LIBRARY, copy)
        self.assertEqual(self.call("-q", "--library", copy, program, *names).stdout, "11111")

    def test_that_of_several_runtimes_one_is_left_is_said(self):
        program = self.scratch / "with_two"
        subprocess.run([GCC, "-fopenmp", str(self.scratch / "main.c"), str(self.scratch / "module.o"),
                        str(self.libs / HASHED), "-Wl,--no-as-needed", "-lgomp", f"-Wl,-rpath,{self.libs}",
                        "-o", str(program)], check=True)
        done = self.call(program)
        self.assertEqual(done.stdout, "3 members\n")
        self.assertRegex(done.stderr, r"with_two has 2 OpenMP runtimes to load; now it is one, lockstep, in place of:\n  /")
        self.assertIn(f"\n  {self.libs / HASHED}\n", done.stderr)

    def test_python_is_asked_where_it_loads_modules_from(self):
        script = (f"import ctypes; print(ctypes.CDLL('{self.module}').members_of_region(), 'members')")
        for name in ("python3", self.write_script()):
            arguments = ("-c", script) if name == "python3" else (script,)
            self.assertEqual(self.call(name, *arguments, PYTHONPATH=str(self.scratch / "site")).stdout, "3 members\n")

    def test_a_python_that_is_a_script_is_asked_too(self):
        directory = self.scratch / "shims"
        directory.mkdir(exist_ok=True)
        shim = directory / "python3"
        shim.write_text(f"#!/bin/sh\nexec '{sys.executable}' \"$@\"\n")
        shim.chmod(0o755)
        script = f"import ctypes; print(ctypes.CDLL('{self.module}').members_of_region(), 'members')"
        self.assertEqual(self.call(shim, "-c", script, PYTHONPATH=str(self.scratch / "site")).stdout, "3 members\n")

    def write_script(self):
        path = self.write("script", "#!/usr/bin/env python3\nimport sys\nexec(sys.argv[1])\n")
        path.chmod(0o755)
        return path

    def test_preloaded_libraries_of_the_user_stay(self):
        source = self.write("preloaded.c", "#include <stdio.h>\n__attribute__((constructor)) void f(void) { puts(\"here\"); }\n")
        library = self.scratch / "preloaded.so"
        subprocess.run([GCC, "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
        self.assertTrue(self.call(self.program, status=7, LD_PRELOAD=str(library)).stdout.endswith(
            "here\n3 members, 1 arguments, last: " + str(self.program) + "\n"))

    def test_a_library_at_a_path_with_blanks(self):
        place = self.scratch / "a b:c"
        place.mkdir()
        shutil.copy(LIBRARY, place / "libgomp.so.1")
        done = self.call("--library", place / "libgomp.so.1", self.program, status=7, LOCKSTEP_DISPLAY_ENV="1")
        self.assertIn("lockstep serves", done.stderr)

    def test_what_cannot_work_is_said(self):
        static = self.scratch / "static"
        made = subprocess.run([GCC, "-fopenmp", "-static", str(self.scratch / "parallel.c"), "-o", str(static)],
                              capture_output=True)
        if made.returncode == 0:  # not every system has the archives
            self.assertIn("statically", self.call(static, status=2).stderr)
        text = self.write("text", "no program")
        text.chmod(0o755)
        self.assertIn("no program of this system", self.call(text, status=2).stderr)
        if os.geteuid() == 0:
            other = self.scratch / "other"
            shutil.copy(self.program, other)
            os.chown(other, 65534, -1)
            other.chmod(0o4755)
            self.assertIn("more rights", self.call(other, status=2).stderr)
        foreign = bytearray(self.program.read_bytes())
        foreign[18] ^= 0xff  # e_machine
        path = self.scratch / "foreign"
        path.write_bytes(foreign)
        path.chmod(0o755)
        self.assertIn("another kind of processor", self.call(path, status=2).stderr)
        self.assertIn("no such file", subprocess.run([COMMAND, "run", "--library", "/nowhere", "true"], capture_output=True,
                                                     text=True).stderr)

    def test_a_program_without_the_runtime_runs_and_is_told(self):
        done = self.call("true")
        self.assertRegex(done.stderr, r"^lockstep run: .*true loads no OpenMP runtime when it starts")
        self.assertEqual(self.call("-q", "true").stderr, "")

    def test_a_directory_that_others_may_write_to_is_not_used(self):
        open_cache = self.scratch / "open"
        (open_cache / "lockstep" / "openmp").mkdir(parents=True)
        (open_cache / "lockstep" / "openmp").chmod(0o777)
        said = self.call(self.with_bundled, status=2, XDG_CACHE_HOME=str(open_cache)).stderr
        self.assertTrue(re.search("can be written by others", said), said)


if __name__ == "__main__":
    unittest.main()
