# SPDX-License-Identifier: MIT
"""The tests of LLVM's OpenMP runtime, its tools Archer and multiplex, for openmp_suite.py.

They come from the source package of llvm-toolchain-19. Each is a source whose RUN lines, as lit reads them, are a shell
script: it compiles the source, runs it under several settings and has FileCheck look at what it wrote. The tests' own
lit.cfg says what the words with % stand for; here it is written again. Each test has a directory of its own, where what
the compiler made is kept for later runs. Without a library the runtime is LLVM's, also for programs of GCC.
"""

import contextlib
import glob
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from suite_results import Result, SuiteError, execute, unpack_once

LLVM = Path("/usr/lib/llvm-19")
WANTED = re.compile(r"[^/]*/openmp/((?:runtime/test|tools/archer/tests|tools/multiplex)/.*"
                    r"|runtime/src/kmp_platform\.h)$")
KEYS = re.compile(r"\b(RUN|REQUIRES|UNSUPPORTED|XFAIL):[ \t]*(.*?)(?:\*/)?[ \t]*$", re.MULTILINE)
HERE = {"ompt", "linux", "affinity", "hidden-helper", "x86_64-target-arch", "x86-target-arch", "multicpu", "tsan"}
COMPILERS = {
    "clang": (LLVM / "bin/clang", LLVM / "bin/clang++", {"clang", "clang-19", "clang-19.1", "clang-19.1.7"}),
    "gcc": (Path("/usr/bin/gcc-12"), Path("/usr/bin/g++-12"), {"gcc", "gcc-12", "gcc-12.2", "gcc-12.2.0"}),
}
# Stands in for the compiler: what a command made is kept, and taken when the command comes again.
KEEPING = """#!/bin/bash
kept=
for word in "$@"; do
  [ "$last" = -o ] && kept=$word
  last=$word
done
[ -n "$kept" ] || exec {compiler} "$@"
key=$kept.$(sha1sum <<<"{compiler} $*" | head -c 16)
[ -e "$key" ] || {{ {compiler} "$@" && mv "$kept" "$key"; }} || exit
ln -f "$key" "$kept"
"""


@dataclass
class Program:
    name: str
    source: Path
    script: str
    skip: str
    patience: int = 1  # times the usual limit of time


def unpack(cache):
    """The tests, unpacked once; their directory."""
    source = cache / "source"
    if source.is_dir():
        return source
    tarballs = sorted(cache.glob("llvm-toolchain-19_*.orig.tar.*"))
    if not tarballs:
        raise SuiteError(f"there is no llvm-toolchain-19_*.orig.tar.xz in {cache}; './do openmp-suite --suite llvm' "
                         "downloads it")
    unpack_once(tarballs[0], cache, WANTED)
    return source


def keeping_compilers(cache, compiler):
    """Two commands that stand for the C and the C++ compiler."""
    made = []
    for real in COMPILERS[compiler][:2]:
        if not real.exists():
            raise SuiteError(f"there is no {real}")
        path = cache / "compilers" / real.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(KEEPING.format(compiler=real))
        path.chmod(0o755)
        made.append(str(path))
    return made


def headers_of_openmp(cache):
    """A directory with the headers of LLVM's OpenMP alone: GCC has its own ones beside them."""
    place = cache / "headers"
    place.mkdir(parents=True, exist_ok=True)
    for path in glob.glob(f"{LLVM}/lib/clang/*/include/omp*.h"):
        if not (place / Path(path).name).exists():
            (place / Path(path).name).symlink_to(path)
    return place


def meanings(cache, source, compiler):
    """What the words with % stand for, in the order in which they are replaced."""
    c, cxx = keeping_compilers(cache, compiler)
    tests = source / "runtime/test"
    # There GCC would find a libgomp.so that is LLVM's, and make programs that ask for libomp.so.5. What libgomp has not
    # is looked for when the program runs; and a program exports what it is a tool by, which libgomp does not ask for.
    more = "-w -rdynamic -Wl,--unresolved-symbols=ignore-all"
    if compiler == "clang":
        more = f"-L {LLVM}/lib -Wno-everything"
    flags = f"-I {tests} -I {headers_of_openmp(cache)} -I {tests}/ompt -fno-omit-frame-pointer {more}"
    result = []
    for kind, command, more in (
            ("", "%clang", ""), ("-irbuilder", "%clang", "-fopenmp-enable-irbuilder"), ("-c99", "%clang", "-std=c99"),
            ("-cxx", "%clangXX", "-std=c++17"), ("-cxx20", "%clangXX", "-std=c++20")):
        result += [(f"%libomp{kind}-compile-and-run", f"%libomp{kind}-compile && %libomp-run"),
                   (f"%libomp{kind}-compile-c", f"{command} %openmp_flags %flags {more} -x c++ %s -o %t -lm -latomic"),
                   (f"%libomp{kind}-compile", f"{command} %openmp_flags %flags {more} %s -o %t -lm -latomic")]
    instrumented = "%openmp_flags -gdwarf-4 -O1 -fsanitize=thread %flags"
    suppressing = "env TSAN_OPTIONS=ignore_noninstrumented_modules=1"
    result += [
        ("%libarcher-compile-and-run-race-noserial",
         '%libarcher-compile && env ARCHER_OPTIONS="ignore_serial=1 report_data_leak=1" %libarcher-run-race'),
        ("%libarcher-compile-and-run", "%libarcher-compile && %libarcher-run"),
        ("%libarcher-cxx-compile-and-run", "%libarcher-cxx-compile && %libarcher-run"),
        ("%libarcher-cxx-compile", f"%clangXX {instrumented} -std=c++17 %s -o %t -latomic"),
        ("%libarcher-compile", f"%clang {instrumented} %s -o %t -latomic"),
        ("%libarcher-run-race", f"{suppressing} {source}/tools/archer/tests/deflake.bash %t 2>&1 | tee %t.log"),
        ("%libarcher-run-nosuppression",
         "env TSAN_OPTIONS='ignore_noninstrumented_modules=0:exitcode=0' %t 2>&1 | tee %t.log"),
        ("%libarcher-run", f"{suppressing} %t 2>&1 | tee %t.log"),
        ("%libomp-tool", "%clang %cflags -shared -fPIC -g"),
        ("%libomp-run", "%t"),
        ("%cflags", f"%openmp_flags -I {source}/tools/multiplex %flags"),
        ("%clangXX", cxx), ("%clang-archer", c), ("%clang", c), ("%openmp_flags", "-fopenmp"),
        ("%flags-use-compiler-omp-h", flags), ("%flags", flags),
        ("%python", sys.executable), ("%not", f"{LLVM}/bin/not"),
        ("FileCheck", f"tee %t.out | {LLVM}/bin/FileCheck"), ("%sort-threads", "sort -n -s"),
        ("%preload-tool", "env LD_PRELOAD=%T/tool.so"), ("%no-as-needed-flag", "-Wl,--no-as-needed")]
    return result


def present(text, features):
    """Of a list of features those that are there. 'true' and '*' always are."""
    return [word for word in re.split(r"[,\s]+", text) if word in features or word in ("true", "*")]


def why_skipped(keys, features):
    for key, text in keys:
        there = present(text, features)
        if key == "REQUIRES" and (missing := set(re.split(r"[,\s]+", text)) - set(there)):
            return f"needs {', '.join(sorted(missing))}"
        if key in ("UNSUPPORTED", "XFAIL") and there:
            return "not for this compiler" if key == "UNSUPPORTED" else "LLVM expects it to fail"
    return ""


def programs_of(cache, compiler):
    source = unpack(cache)
    table = meanings(cache, source, compiler)
    result = []
    for path in sorted(source.rglob("*")):
        keys = KEYS.findall(path.read_text(encoding="latin-1")) if path.suffix in (".c", ".cpp") else []
        script = re.sub(r"\\\n", " ", "\n".join(text for key, text in keys if key == "RUN"))
        if not script:
            continue
        name = re.sub(r"^(runtime/test|tools/(archer|multiplex)/tests)/",
                      lambda found: f"{found[2]}/" if found[2] else "", str(path.relative_to(source)))
        place = cache / compiler / name
        for word, meaning in [*table, ("%s", path), ("%S", path.parent), ("%t", place / "t"), ("%T", place)]:
            script = script.replace(word, str(meaning))
        # 500 tasks that sleep, with as many threads as there are CPUs; and members that poll a million times for the first.
        patience = 4 if re.search(r"my_sleep|\bdelay\(\)", path.read_text(encoding="latin-1")) else 1
        result.append(Program(name, path, script.replace("%%", "%"), why_skipped(keys, HERE | COMPILERS[compiler][2]),
                              patience))
    return result


def directories_of(cache, library):
    """Where the loader finds the runtime, and Archer, which is a tool of LLVM's."""
    place = cache / "libomp"
    place.mkdir(parents=True, exist_ok=True)
    links = {"libomp.so.5": "libomp.so.5", "libgomp.so.1": "libomp.so.5", "libarcher.so": "libarcher.so"}
    for name, file in links.items():
        with contextlib.suppress(FileExistsError):  # programs are run by several threads
            (place / name).symlink_to(LLVM / "lib" / file)
    return f"{library}:{place}" if library else str(place)


def run_program(cache, program, arguments):
    if program.skip:
        return Result("SKIP", program.name, program.skip)
    place = cache / arguments.compiler / program.name
    place.mkdir(parents=True, exist_ok=True)
    path = place / "script"
    path.write_text(f"#!/bin/bash\nset -e -o pipefail\n{program.script}\n")
    path.chmod(0o755)
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("OMP_", "GOMP_", "KMP_", "LIBOMP_", "LOCKSTEP_", "LD_"))}
    environment = {**kept, "LC_ALL": "C", "ARCHER_OPTIONS": "report_data_leak=1",
                   "PATH": f"{LLVM}/bin:{kept['PATH']}",  # for the symbolizer of the sanitizer
                   "LD_LIBRARY_PATH": directories_of(cache, arguments.library)}
    for _ in range(arguments.repeat):
        # By its shell: a child of another thread may still have the file open for writing, and exec would refuse it.
        status, output = execute(["bash", path], environment, arguments.timeout * program.patience)
        if status != 0:
            break
    verdict = {None: "TIMEOUT", 0: "PASS"}.get(status, "FAIL")
    last = [line for line in output.strip().splitlines() if line.strip()][-1:] if verdict == "FAIL" else []
    by_hand = f"LD_LIBRARY_PATH={environment['LD_LIBRARY_PATH']} {path}"
    why = f"exit status {status}: {last[0][:160] if last else ''}" if verdict == "FAIL" else ""
    return Result(verdict, program.name, why, f"{by_hand}\n{output[-6000:]}")
