# SPDX-License-Identifier: MIT
"""Compiles and runs the parts of one row of ./do everywhere (everywhere_rows.py), in build/everywhere/ROW."""

import hashlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from everywhere_rows import BRIEF, EXAMPLES, NOTHING, OTHER_PROCESSOR, ROWS, SCRIPTED, STANDARDS
from llvm_suite import LLVM

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2] / "tests" / "support")]
import batch  # noqa: E402
from source_text import ROOT  # noqa: E402

PLACE = ROOT / "build" / "everywhere"
GOOGLETEST = Path(os.environ.get("GTEST_SOURCES", "/usr/src/googletest")) / "googletest"
FMT = Path(os.environ.get("FMT_HEADERS", "/usr/include/fmt"))
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror")
JACOBI = ("tests/everywhere/jacobi_bits.cpp", "examples/support/linear_system.cpp", "examples/jacobi/solver.cpp",
          "examples/support/error.cpp")
SCRIPTED_SYSTEM = '-DLOCKSTEP_SYSTEM_SEAM="support/scripted_system.hpp"'


LLVMS_PROGRAMS = [ROOT / "tests" / "openmp" / "programs" / name for name in ("llvm_regions.c", "llvm_loops.c", "llvm_atomics.c")]


def names_of(libomp):
    """What LLVM's runtime exports, without what is of Linux alone: what GCC's programs call, and data for a debugger."""
    done = subprocess.run(["nm", "--dynamic", "--defined-only", "--without-symbol-versions", libomp], capture_output=True,
                          text=True, check=True)
    names = {line.split()[2] for line in done.stdout.splitlines() if line.split()[1] != "A"}
    return sorted(name for name in names if not name.startswith("GOMP_") and name != "__kmp_gtid")


class Failure(Exception):
    """A step that did not do what it should; the text says which, and where to read more."""


class Unavailable(Exception):
    """What the row needs is not to be had here."""


@dataclass
class Part:
    """What came of one part of a row."""
    name: str
    compiled: bool = False
    was_run: bool = False
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    reasons: dict = field(default_factory=dict)  # of skipping: how many tests
    failures: list = field(default_factory=list)
    seconds: float = 0


def sources_digest():
    """{directory: digest} of what programs are compiled from."""
    digests = {}
    for directory in ("include", "src", "openmp", "tests", "examples"):
        digest = hashlib.sha1()
        for path in sorted((ROOT / directory).rglob("*")):
            if path.suffix in (".hpp", ".h", ".cpp"):
                digest.update(path.relative_to(ROOT).as_posix().encode())
                digest.update(path.read_bytes())
        digests[directory] = digest.hexdigest()
    return digests


# --- what the index of Python packages has


ZIG_LOCK = threading.Lock()
FMT_LOCK = threading.Lock()


def zig(version):
    """Zig's C++ compiler, from the index; installed once, into a place of its own."""
    place = PLACE / "tools" / f"zig-{version}"
    python = place / "bin" / "python"
    with ZIG_LOCK:
        if not (place / "done").exists():
            for command in ([sys.executable, "-m", "venv", place],
                            [python, "-m", "pip", "install", "-q", f"ziglang=={version}"]):
                done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
                if done.returncode:
                    raise Unavailable(f"ziglang {version} from the Python package index: {last_line(done.stderr)}")
            (place / "done").touch()
    return (str(python), "-m", "ziglang", "c++")


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "it said nothing"


class Work:
    """One row on its way. Parts are made by make_NAME()."""

    def __init__(self, row, digest, is_quick):
        self.row, self.digest, self.is_quick = row, digest, is_quick
        self.place = PLACE / row.name
        self.place.mkdir(parents=True, exist_ok=True)
        (PLACE / "tools").mkdir(exist_ok=True)  # Wine makes its own directory there, but not this one
        self.log = (self.place / "log").open("w", encoding="utf-8")
        self.environment = {
            **os.environ, "LOCKSTEP_TEST_BRIEF": "1", "LC_ALL": "C.UTF-8",
            "ZIG_GLOBAL_CACHE_DIR": str(PLACE / "tools" / "zig-cache"),
            "ZIG_LOCAL_CACHE_DIR": str(PLACE / "tools" / "zig-cache"),
            "NODE_PATH": "/usr/share/nodejs",  # of Debian: what Emscripten's own scripts need
            "WINEPREFIX": str(PLACE / "tools" / "wine"),
            **row.environment}
        self.compiler = zig(row.compiler[1]) if row.compiler[0] == "zig" else row.compiler

    # --- the compiler

    def version(self):
        done = subprocess.run([*self.compiler, "--version"], capture_output=True, text=True, env=self.environment)
        if done.returncode:
            raise Unavailable(f"{self.compiler[0]}: {last_line(done.stderr)}")
        first = done.stdout.splitlines()[0]
        found = re.search(r"(\d+\.\d+\.\d+)", re.sub(r"\(.*?\)", "", first))
        number = found.group(1) if found else first
        if self.row.compiler[0] == "zig":
            return f"Clang {number} (Zig {self.row.compiler[1]})"
        if "emcc" in first or "Emscripten" in first:
            return f"Emscripten {number}"
        if "clang" in first:
            return f"Clang {number}"
        mingw = re.search(r"(\d+)-(posix|win32)", first)
        return f"MinGW GCC {mingw.group(1)} ({mingw.group(2)} threads)" if mingw else f"GCC {number}"

    def compile(self, output, arguments, sources=("include", "src", "tests")):
        """Makes output, unless it is there and made the same way from the same sources in these directories."""
        made = self.place / output
        command = [*self.compiler, *self.row.flags, *map(str, arguments)]
        if made.suffix != "":
            command += ["-o", str(made)]
        written = hashlib.sha1()  # units of this row, which --quick and another list of tests write otherwise
        for unit in (each for each in arguments if isinstance(each, Path) and self.place in each.parents and each.suffix == ".cpp"):
            written.update(unit.read_bytes())
        digests = [*(self.digest[each] for each in sources), written.hexdigest()]
        stamp, key = made.with_name(made.name + ".key"), f"{shlex.join(command)}\n{digests}\n"
        if made.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == key:
            return made
        stamp.unlink(missing_ok=True)
        said = self.call(command, self.row.compile_limit, f"compiling {output}")[1]
        if said.strip():
            self.log.write(said)
        stamp.write_text(key, encoding="utf-8")
        return made

    def library(self, name="library", *flags):
        """An object of the library for units without NDEBUG."""
        return self.compile(f"{name}.o", ["-std=c++11", self.optimiser(), *WARNINGS, *self.common_flags(), *flags, "-c",
                                          ROOT / "src" / "lockstep_checked.cpp"], ("include", "src"))

    def common_flags(self):
        """Zig's compiler defines NDEBUG where it optimises."""
        return ["-I", ROOT / "include", "-I", ROOT / "src", "-I", ROOT / "tests", "-pthread", "-UNDEBUG"]

    # --- programs

    def call(self, command, limit, what, is_program=False):
        """Runs it and returns its status and all that it said; a compiler must succeed. Ended with its children after
        `limit` seconds."""
        self.log.write(f"$ {shlex.join(map(str, command))}\n")
        self.log.flush()
        said = self.place / "said"
        with said.open("w", encoding="utf-8") as out:  # not a pipe: what Wine leaves running would keep it open
            process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=subprocess.STDOUT, cwd=self.place, env=self.environment,
                                       start_new_session=True)
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                status = None
        text = said.read_text(encoding="utf-8", errors="replace")
        if is_program or status != 0:
            self.log.write(text)
            self.log.flush()
        if status is None and not is_program:
            raise Failure(f"{what}: not done in {limit} s")
        if status != 0 and not is_program:
            errors = [line for line in text.splitlines() if "error" in line.lower()] or text.splitlines() or ["?"]
            raise Failure(f"{what}: {errors[0].replace(f'{ROOT}/', '')[:300]}")
        return status, text

    def run(self, program, *arguments, limit=None):
        return self.call([*self.row.runner, program, *arguments], limit or self.row.limit, str(program), True)

    # --- GoogleTest

    def optimiser(self):
        """Without it the compiler takes half the time, the tests a little more."""
        return "-O0" if self.is_quick else "-O1"

    def google_test(self, name, sources, *flags):
        """A program of these sources, made to one unit, and GoogleTest."""
        suite = self.compile("gtest.o", ["-std=c++20", self.optimiser(), "-w", "-pthread", "-I", GOOGLETEST, "-I",
                                         GOOGLETEST / "include", "-c", GOOGLETEST / "src" / "gtest-all.cc"], ())
        paths = [ROOT / "tests" / f"{source}_test.cpp" for source in sources]
        unit = self.place / f"{name}.cpp"
        unit.write_text(batch.unit([*paths]) + f'#include "{ROOT}/tests/support/main.cpp"\n', encoding="utf-8")
        return self.compile(f"{name}{self.row.suffix or '.program'}", [
            "-std=c++20", self.optimiser(), *WARNINGS, *self.common_flags(), "-isystem", GOOGLETEST / "include", "-include",
            ROOT / "tests" / "everywhere" / "no_death_tests.hpp", *flags, unit, suite, self.library(f"{name}_library" if flags else "library", *flags),
            *self.row.link])

    def run_google_test(self, part, program, sources):
        """Each source in a process of its own: what hangs or falls takes no other with it."""
        for source in sources:
            self.run_source(part, program, source, source)
        if self.row.other_processor and not self.is_quick:
            plain = self.environment
            self.environment = {**plain, "QEMU_CPU": self.row.other_processor}
            for source in (each for each in OTHER_PROCESSOR if each in sources):
                self.run_source(part, program, source, f"{source} on {self.row.other_processor}")
            self.environment = plain

    def run_source(self, part, program, source, name):
        arguments = [f"--from={ROOT}/tests/{source}_test.cpp"]
        if self.row.left_out[0]:
            arguments.append(f"--gtest_filter=-{self.row.left_out[0]}")
        status, said = self.run(program, *arguments)
        self.count_google_test(part, name, status, said)

    def count_google_test(self, part, source, status, said):
        passed = re.search(r"^\[  PASSED  \] (\d+) test", said, re.MULTILINE)
        failed = set(re.findall(r"^\[  FAILED  \] ([\w/]+\.[\w./]+)", said, re.MULTILINE))
        part.passed += int(passed.group(1)) if passed else 0
        part.failed += len(failed)
        part.failures += [f"{source}: {name}" for name in sorted(failed)]
        # The reason stands in the lines after the place.
        reasons = re.findall(r": Skipped\r?\n(.*?)\r?\n", said)
        part.skipped += len(reasons)
        for reason in reasons:
            part.reasons[reason.strip() or "no reason given"] = part.reasons.get(reason.strip(), 0) + 1
        if not passed or (status != 0 and not failed):
            begun = re.findall(r"^\[ RUN      \] (\S+)", said, re.MULTILINE)
            how = f"not done in {self.row.limit} s" if status is None else f"exit status {status}"
            part.failed += 1
            part.failures.append(f"{source}: {how}, in {begun[-1] if begun else 'no test'}")

    def sources(self):
        return BRIEF if self.is_quick else self.row.sources

    def make_tests(self, part):
        program = self.google_test("tests", self.sources())
        part.compiled = True
        self.run_google_test(part, program, self.sources())

    def make_scripted(self, part):
        program = self.google_test("scripted", SCRIPTED, SCRIPTED_SYSTEM)
        part.compiled = True
        self.run_google_test(part, program, SCRIPTED)

    # --- programs that print

    def jacobi_flags(self):
        """fmt comes from this machine: headers only, and no others of its directory. A copy: compilers of other releases of
        Debian see this checkout only."""
        headers = PLACE / "tools" / "headers"
        with FMT_LOCK:
            if (headers / "fmt").is_symlink() or not (headers / "fmt" / "core.h").exists():
                shutil.rmtree(headers, ignore_errors=True)
                shutil.copytree(FMT, headers / "fmt")
        return ["-std=c++20", "-O2", "-ffp-contract=off", "-DFMT_HEADER_ONLY=1", "-isystem", headers, "-I",
                ROOT / "examples"]

    def jacobi(self):
        unit = self.place / "jacobi.cpp"
        unit.write_text("".join(f'#include "{ROOT / source}"\n' for source in JACOBI), encoding="utf-8")
        return self.compile(f"jacobi{self.row.suffix or '.program'}",
                            [*self.jacobi_flags(), *self.common_flags(), unit, self.library(), *self.row.link],
                            ("include", "tests", "examples"))

    def make_jacobi(self, part):
        program = self.jacobi()
        part.compiled = True
        status, said = self.run(program)
        wanted = reference_lines()
        found = [line.strip() for line in said.splitlines() if line.startswith("jacobi ")]
        for i, line in enumerate(wanted):
            if i < len(found) and found[i] == line:
                part.passed += 1
            else:
                part.failed += 1
                part.failures.append(f"jacobi: '{found[i] if i < len(found) else f'exit status {status}'}', not '{line}'")

    def make_examples(self, part):
        programs = {name: self.compile(f"{name}{self.row.suffix or '.program'}", [
            "-std=c++11", "-O0" if self.is_quick else "-O2", *WARNINGS, *self.common_flags(), ROOT / "examples" / f"{name}.cpp", self.library(), *self.row.link],
            ("include", "examples")) for name in EXAMPLES}
        part.compiled = True
        for name, program in programs.items():
            # The check wants one program, and reads what it says by a pipe, which Wine's own processes would keep open.
            start = self.place / f"{name}.start"
            start.write_text(f'#!/bin/sh\n{shlex.join([*self.row.runner, str(program)])} "$@" >{name}.out 2>{name}.err\n'
                             f'status=$?\ncat {name}.out\ncat {name}.err >&2\nexit $status\n', encoding="utf-8")
            start.chmod(0o755)
            status, said = self.call([sys.executable, ROOT / "examples" / "check_output.py", name, start],
                                     self.row.limit, name, True)
            self.count(part, status == 0, f"{name}: {last_line(said)}")

    def count(self, part, is_good, failure):
        part.passed += is_good
        part.failed += not is_good
        if not is_good:
            part.failures.append(failure)

    # --- compilers

    def headers(self):
        foreign = (ROOT / "tests" / "build" / "foreign_headers.txt").read_text(encoding="utf-8").split()
        names = sorted(path.relative_to(ROOT / "include").as_posix()
                       for path in (ROOT / "include").rglob("*") if path.suffix in (".hpp", ".h"))
        needs_mpi = ("lockstep/mpi", "lockstep/detail/mpi/")  # build.headers compiles these, with each MPI
        return "".join(f"#include <{name}>\n" for name in names if name not in foreign and not name.startswith(needs_mpi))

    def make_standards(self, part):
        """All headers without a warning, in each standard; and a program that uses them, run."""
        all_headers = self.place / "all_headers.cpp"
        all_headers.write_text(self.headers(), encoding="utf-8")
        consumer = ROOT / "tests" / "build" / "consumer"
        part.compiled = True
        for year in STANDARDS:
            try:
                standard = self.standard(year)
                if standard is None:
                    part.skipped += 2
                    part.reasons[f"the compiler knows no C++{year}"] = 2
                    continue
                self.compile(f"headers_{year}.o", [standard, *WARNINGS, *self.common_flags(), "-c", all_headers], ("include",))
                part.passed += 1
                program = self.compile(f"consumer_{year}{self.row.suffix or '.program'}", [
                    standard, "-O2", *WARNINGS, *self.common_flags(), consumer / "program.cpp",
                    consumer / "second_unit.cpp", self.library(), *self.row.link])
            except Failure as failure:
                self.count(part, False, f"C++{year}: {failure}")
                part.compiled = False
                continue
            status, said = self.run(program)
            self.count(part, status == 0, f"C++{year}: {last_line(said)}")

    def standard(self, year):
        """The flag; None if the compiler says that it does not know the standard."""
        empty = self.place / "empty.cpp"
        empty.write_text("int empty;\n", encoding="utf-8")
        for spelling in {23: ("c++23", "c++2b"), 20: ("c++20", "c++2a")}.get(year, (f"c++{year}",)):
            done = subprocess.run([*self.compiler, *self.row.flags, f"-std={spelling}", "-c", empty, "-o",
                                   self.place / "empty.o"], capture_output=True, text=True, env=self.environment)
            if done.returncode == 0:
                return f"-std={spelling}"
            if spelling not in done.stderr:
                raise Failure(f"an empty file of C++{year}: {last_line(done.stderr)}")
        return None

    def make_refused(self, part):
        """What cannot work is refused with a message that names the remedy."""
        try:
            unit = self.place / "refused.cpp"
            unit.write_text("#include <lockstep/thread.hpp>\n", encoding="utf-8")
            self.compile("refused.o", ["-std=c++11", *self.common_flags(), "-c", unit])
            self.count(part, False, "it compiles")
        except Failure:
            said = (self.place / "said").read_text(encoding="utf-8")
            found = [line for line in said.splitlines() if "#error" in line and "needs std::thread" in line]
            self.count(part, bool(found), "no message names the reason")

    # --- a page

    def make_page(self, part):
        import everywhere_page
        import chromium
        unit, browser = self.place / "page.cpp", ROOT / "examples" / "browser"
        unit.write_text("".join(f'#include "{source}"\n' for source in
                                (browser / "page.cpp", *(ROOT / each for each in JACOBI[1:]))), encoding="utf-8")
        self.compile("page.js", [*self.jacobi_flags(), *self.common_flags(), unit, self.library(), *self.row.link],
                     ("include", "examples"))
        shutil.copy(browser / "index.html", self.place / "index.html")
        part.compiled = True
        try:
            checks = everywhere_page.look(self.place, PLACE / "browser.png", self.row.limit)
        except (chromium.Failure, OSError) as error:
            raise Failure(f"headless Chromium: {error}") from error
        for what, is_good, found in checks:
            self.count(part, is_good, f"{what}: {found}")

    def make_link(self, part):
        """For systems that nothing here runs: the programs are compiled and linked."""
        self.google_test("tests", self.sources())
        self.jacobi()
        self.compile("example.program", ["-std=c++11", "-O2", *WARNINGS, *self.common_flags(),
                                         ROOT / "examples" / "10_constructs.cpp", self.library(), *self.row.link], ("include", "examples"))
        part.compiled = True

    def make_openmp(self, part):
        """The OpenMP runtime for LLVM's programs: linked, with all names of LLVM's, and programs linked with it."""
        libomp = LLVM / "lib" / "libomp.so.5"
        if not libomp.exists():
            raise Unavailable(f"{libomp}, whose names are wanted")
        names, headers = names_of(libomp), next(libomp.parent.glob("clang/*/include"))  # with omp.h
        runtime = self.compile("libomp.dylib", [
            "-std=c++20", "-O2", *WARNINGS, "-I", ROOT / "openmp", *self.common_flags(), "-DNDEBUG",
            "-DLOCKSTEP_DIAGNOSE_MISUSE=0", "-fvisibility=hidden", "-fno-exceptions", "-fno-rtti", "-shared",
            *sorted((ROOT / "openmp").glob("*/*.cpp")), ROOT / "src" / "lockstep.cpp"], ("include", "src", "openmp"))
        unit = self.place / "names.cpp"
        unit.write_text("".join(f'extern "C" char {name};\n' for name in names)
                        + f"char* all[] = {{{', '.join(f'&{name}' for name in names)}}};\n"
                        "int main() { return all[0] == nullptr; }\n", encoding="utf-8")
        self.compile("names.program", [unit, runtime])
        for program in LLVMS_PROGRAMS:
            self.compile(f"{program.stem}.program", [
                "-Xclang", "-fopenmp", "-idirafter", headers, "-x", "c", program, "-x", "none", runtime], ("openmp", "tests"))
        part.compiled = True

    # --- the row

    def make(self, name):
        part, started = Part(name), time.monotonic()
        try:
            getattr(self, f"make_{name}")(part)
        except Failure as failure:
            part.failed += 1
            part.failures.append(str(failure))
        except (Unavailable, FileNotFoundError):
            raise
        except Exception as error:  # a mistake of ours, which must not take the other rows' results with it
            part.failed += 1
            part.failures.append(f"{name}: {type(error).__name__}: {error}")
            self.log.write(traceback.format_exc())
        part.was_run = part.compiled and self.row.how != NOTHING
        part.seconds = round(time.monotonic() - started, 1)
        return part


REFERENCE_LOCK = threading.Lock()
REFERENCE = []


def reference_lines():
    """What jacobi prints on this machine, of the first row."""
    with REFERENCE_LOCK:
        if not REFERENCE:
            work = Work(replace(ROWS[0], name="reference"), sources_digest(), True)
            status, said = work.run(work.jacobi())
            lines = [line for line in said.splitlines() if line.startswith("jacobi ")]
            if status != 0 or len(lines) != 5 or len({line.split(":")[1] for line in lines}) != 1:
                raise Failure(f"jacobi on this machine: exit status {status}: {lines}")
            REFERENCE.extend(lines)
        return REFERENCE


def record_of(row):
    """What is known of a row before it is made."""
    return {"name": row.name, "system": row.system, "architecture": row.architecture, "how": row.how,
            "remark": row.remark, "left_out": row.left_out[1] if "tests" in row.parts else "", "compiler": "",
            "unavailable": "", "parts": []}


def make_row(row, digest, is_quick, lacks):
    """The record of the row: what the table shows, and more."""
    record = record_of(row)
    if lacks:
        return {**record, "unavailable": lacks}
    try:
        work = Work(row, digest, is_quick)
        record["compiler"] = work.version()
        record["parts"] = [asdict(work.make(name)) for name in (row.quick_parts if is_quick else row.parts)]
    except (Unavailable, FileNotFoundError) as error:
        record["unavailable"] = str(error)
    return record
