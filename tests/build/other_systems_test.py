#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is the library compiled for other systems, do its observers see there what they see here, do a program and its shared
library meet, and do timed waits sleep on systems of 32 bits? With whatever is installed of: MinGW (with POSIX threads)
and Wine; compilers for i686 and armhf; Clang, for WebAssembly; Zig, for musl, and for macOS and BSD, for which it is
only compiled.

usage: other_systems_test.py INCLUDE SINGLE   programs are made with the header to copy
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCES = Path(__file__).parent
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
INCLUDE = SINGLE = None

MINGW = shutil.which("x86_64-w64-mingw32-g++-posix")
WINE = shutil.which("wine") or shutil.which("wine64")
GCC = shutil.which("g++")
CMAKE = shutil.which("cmake")
CLANG = shutil.which("clang++-19") or shutil.which("clang++")
ARMHF = shutil.which("arm-linux-gnueabihf-g++") or shutil.which("arm-linux-gnueabihf-g++-12")
I686 = shutil.which("i686-linux-gnu-g++") or shutil.which("i686-linux-gnu-g++-12")
ARMEL = shutil.which("arm-linux-gnueabi-g++") or shutil.which("arm-linux-gnueabi-g++-12")


def zig():
    if shutil.which("zig"):
        return ["zig", "c++"]
    return [sys.executable, "-m", "ziglang", "c++"] if importlib.util.find_spec("ziglang") else None


class OtherSystems(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def compile(self, compiler, *flags, program="observed", suffix=".exe"):
        made = self.directory / f"{program}{suffix}"
        done = subprocess.run([*compiler, "-std=c++11", "-O1", *WARNINGS, "-I", SINGLE, SOURCES / f"{program}.cpp",
                               "-o", made, *flags], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr[:4000])
        return made

    def run_it(self, command):
        # Wine keeps its files below the home directory. What it leaves running would keep pipes open.
        said, reported = self.directory / "said", self.directory / "reported"
        with said.open("w") as out, reported.open("w") as errors:
            done = subprocess.run(command, cwd=self.directory, stdin=subprocess.DEVNULL, stdout=out,
                                  stderr=errors, check=False, timeout=300,
                                  env={**os.environ, "HOME": str(self.directory), "WINEDEBUG": "-all"})
        said, reported = said.read_text(encoding="utf-8"), reported.read_text(encoding="utf-8")
        self.assertEqual(done.returncode, 0, said + reported)
        return said, reported

    def run_and_look(self, command):
        said, reported = self.run_it([*command, "trace.json"])
        self.assertIn("sync_sum", said)
        self.assertIn("waits for nothing that lockstep knows", said)
        self.assertTrue(said.rstrip().endswith("ended"), said)
        self.assertIn("lockstep watchdog", reported)
        self.assertIn("for lockstep::event at", reported)
        events = json.loads((self.directory / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
        names = [each["args"]["name"] for each in events if each["name"] == "thread_name"]
        self.assertEqual(len(names), 2)
        self.assertNotIn("", names)
        for category, count in (("region", 5), ("part", 10), ("construct", 20)):
            self.assertEqual(len([1 for each in events if each.get("cat") == category]), count, category)

    @unittest.skipUnless(MINGW, "no MinGW with POSIX threads")
    def test_windows(self):
        made = self.compile([MINGW], "-static")
        if not WINE:
            self.skipTest("it was compiled; no Wine to run it")
        self.run_and_look([WINE, made])

    @unittest.skipUnless(MINGW, "no MinGW with POSIX threads")
    def test_a_program_and_a_library_of_windows_meet(self):
        made = self.compile([MINGW], "-static", program="modules")
        # Each with a C++ library of its own, and with other settings.
        for name, settings in (("same", ()), ("other", ("-DNDEBUG", "-fno-exceptions"))):
            self.compile([MINGW], "-static", "-shared", "-DMODULE=1", *settings, program="modules",
                         suffix=f"_{name}.dll")
            if WINE:
                self.assertIn("met", self.run_it([WINE, made, f"modules_{name}.dll"])[0])

    @unittest.skipUnless(CLANG, "no Clang")
    def test_webassembly_without_threads_is_refused(self):
        config = Path(INCLUDE) / "lockstep" / "detail" / "platform" / "config.hpp"
        for threads in [], ["-pthread"]:
            done = subprocess.run([CLANG, "--target=wasm32-unknown-emscripten", "-fsyntax-only", *threads, config],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode == 0, bool(threads), done.stderr)
            self.assertEqual("lockstep needs threads" in done.stderr, not threads, done.stderr)

    def said_of(self, header, *flags, room="platform"):
        """What a compiler says of a header for a system or processor that it takes this one for."""
        done = subprocess.run([GCC, "-std=c++11", *WARNINGS, *flags, "-fsyntax-only", "-I", INCLUDE, "-x", "c++",
                               Path(INCLUDE) / "lockstep" / "detail" / room / header],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    @unittest.skipUnless(GCC, "no GCC")
    def test_an_unknown_system_takes_the_portable_futex_and_is_told_once(self):
        # The whole library, also where there are no threads of POSIX.
        for unknown in ("-U__linux__",), ("-U__linux__", "-U__unix__"), ():
            done = subprocess.run([GCC, "-std=c++11", *WARNINGS, *unknown, "-I", INCLUDE, "-fsyntax-only",
                                   Path(INCLUDE).parent / "src" / "lockstep.cpp"], capture_output=True, text=True, check=False)
            times = done.stderr.count("message: lockstep does not know this system")
            self.assertEqual((done.returncode, times), (0, 1 if unknown else 0), done.stderr)

    def refused(self, command, header, message):
        """The compiler ends with an error, and this message is the first or among the first that it says."""
        done = subprocess.run([*command, "-fsyntax-only", "-I", INCLUDE, "-x", "c++",
                               Path(INCLUDE) / "lockstep" / header], capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(message, done.stderr)

    @unittest.skipUnless(GCC, "no GCC")
    def test_a_processor_without_atomics_of_32_bits_is_refused(self):
        # GCC for the i386 says 1: "sometimes", that is, by a library.
        name = "__GCC_ATOMIC_INT_LOCK_FREE"
        for value in "01":
            status, said = self.said_of("atomic.hpp", "-Wno-builtin-macro-redefined", f"-U{name}", f"-D{name}={value}")
            self.assertNotEqual(status, 0)
            self.assertIn("lockstep needs lock-free atomics of 32 bits", said)

    @unittest.skipUnless(I686, "no compiler for i686")
    def test_an_i386_is_refused_and_an_i486_is_not(self):
        self.refused([I686, "-std=c++11", "-march=i386"], "detail/platform/atomic.hpp",
                     "lockstep needs lock-free atomics of 32 bits")
        for header in "team.hpp", "mutex.hpp":
            done = subprocess.run([I686, "-std=c++11", "-march=i486", *WARNINGS, "-fsyntax-only", "-I", INCLUDE, "-x",
                                   "c++", Path(INCLUDE) / "lockstep" / header], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    @unittest.skipUnless(ARMEL, "no compiler for armel")
    def test_arm_of_version_5_takes_the_kernels_atomics(self):
        self.compile([ARMEL], "-static", "-pthread", "-latomic", program="timed")

    @unittest.skipUnless(CMAKE and ARMEL and ARMHF, "no CMake, or no compilers for armel and armhf")
    def test_cmake_links_atomics_of_64_bits_where_they_are_in_a_library(self):
        for compiler, is_needed in (ARMEL, True), (ARMHF, False):
            made = self.directory / str(is_needed)
            done = subprocess.run([CMAKE, "-S", Path(INCLUDE).parent, "-B", made, "-DCMAKE_SYSTEM_NAME=Linux",
                                   "-DCMAKE_SYSTEM_PROCESSOR=arm", f"-DCMAKE_CXX_COMPILER={compiler}"],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            for name in "lockstep.pc", "lockstep-header-only.pc":
                with self.subTest(compiler=compiler, name=name):
                    found = next(made.rglob(name)).read_text(encoding="utf-8")
                    self.assertEqual("-latomic" in found, is_needed, found)

    @unittest.skipUnless(GCC or CLANG, "neither GCC nor Clang")
    def test_an_older_standard_is_refused_by_name(self):
        for compiler in filter(None, (GCC, CLANG)):
            for header in "lockstep.hpp", "event.hpp":
                self.refused([compiler, "-std=c++98", "-Wno-everything" if compiler == CLANG else "-w"], header,
                             "lockstep needs C++11: compile with -std=c++11 or later")

    @unittest.skipUnless(CLANG, "no Clang")
    def test_a_cxx_library_without_threads_is_refused(self):
        # As libc++ says it: before its version 20, and since.
        for macro in "-D_LIBCPP_HAS_NO_THREADS", "-D_LIBCPP_HAS_THREADS=0":
            self.refused([CLANG, "-std=c++11", macro], "detail/platform/atomic.hpp",
                         "lockstep needs threads: this C++ library was built without")

    @unittest.skipUnless(GCC, "no GCC")
    def test_where_mpi_is_not_found_is_said_how_to_find_it(self):
        status, said = self.said_of("library.hpp", "-nostdinc", "-I", self.directory, room="mpi")
        self.assertNotEqual(status, 0)
        self.assertIn("needs MPI's <mpi.h>, which is not found: compile with mpicxx", said)

    @unittest.skipUnless(GCC, "no GCC")
    def test_where_the_library_of_an_adapter_is_not_found_is_said_how_to_find_it(self):
        # Their headers lie in no directory that a compiler looks into by itself.
        for name, library in ("eigen", "Eigen"), ("opencv", "OpenCV"):
            self.refused([GCC, "-std=c++11"], f"adapters/{name}.hpp", f"<lockstep/adapters/{name}.hpp> needs {library}'s <")

    @unittest.skipUnless(ARMHF, "no compiler for armhf")
    def test_arm_passes_values_as_compilers_always_did(self):
        # -Wpsabi is a note, not a warning. Of the sources, which the one header has, GCC notes iterators of std::vector.
        made = self.directory / "program.o"
        done = subprocess.run([ARMHF, "-std=c++11", "-O1", *WARNINGS, "-I", INCLUDE, "-c", "-o", made,
                               SOURCES / "consumer" / "program.cpp"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def check_timed_waits(self, compiler, *flags):
        made = self.compile(compiler, "-static", "-pthread", *flags, program="timed")
        for refused in [], ["old"], ["new"]:
            with self.subTest(refused=refused):
                done = subprocess.run([made, *refused], capture_output=True, text=True, check=False, timeout=60)
                self.assertIn(done.returncode, (0, 77), done.stdout + done.stderr)

    @unittest.skipUnless(I686, "no compiler for i686")
    def test_timed_waits_with_32_and_64_bits_of_time(self):
        self.check_timed_waits([I686])
        self.check_timed_waits([I686], "-D_TIME_BITS=64", "-D_FILE_OFFSET_BITS=64")

    @unittest.skipUnless(zig(), "no Zig")
    def test_timed_waits_of_musl(self):
        self.check_timed_waits(zig(), "-target", "x86-linux-musl")
        for target in "arm-linux-musleabihf", "riscv32-linux-musl":
            self.compile(zig(), "-target", target, "-c", program="timed")

    @unittest.skipUnless(zig(), "no Zig")
    def test_musl(self):
        self.run_and_look([self.compile(zig(), "-target", "x86_64-linux-musl")])

    @unittest.skipUnless(zig(), "no Zig")
    def test_macos_and_bsd_compile(self):
        for target in "aarch64-macos", "x86_64-freebsd", "x86_64-netbsd", "x86_64-openbsd":
            with self.subTest(target=target):
                self.compile(zig(), "-target", target, "-c", program="modules")


if __name__ == "__main__":
    SINGLE, INCLUDE = sys.argv.pop(), sys.argv.pop()
    if not GCC and not MINGW and not I686 and not ARMHF and not CLANG and not zig():
        sys.exit(77)
    unittest.main()
