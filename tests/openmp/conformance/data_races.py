#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The conformance programs under ThreadSanitizer: the runtime has no data race, and orders what OpenMP says it orders.

usage: data_races.py compile_commands.json work-directory [--without-mutants]

GCC's OpenMP programs need GCC's ThreadSanitizer, and so does the runtime that serves them: it is compiled anew, with the
options of openmp/CMakeLists.txt, which CMake has written to compile_commands.json. Then memory orders of openmp/ are weakened, one at a time: some program must report a race for each, or hang.
"""

import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import conformance

ROOT = conformance.HERE.parents[2]
THREADS = (2, 4)
OPTIONS = ["-fsanitize=thread", "-O1", "-g1"]
REPORT = "WARNING: ThreadSanitizer"
# GCC's sanitizer does not know fences, which `flush` is.
SUPPRESSED = "race:barriers._omp_fn\n"
PROGRAMS = ("parallel.c", "reductions.c", "loops.c", "loop_clauses.c", "ordered.c", "worksharing.c", "cancel.c",
            "task_trees.c", "task_dependences.c", "task_events.c", "task_groups.c", "task_loops.c", "objects.cpp", "../programs/locks.c")
# File of openmp/runtime/, what stands there once, what takes its place; and which programs may notice it.
ACQUIRE, RELEASE, ACQ_REL, RELAXED = (f"detail::memory_order_{order}" for order in ("acquire", "release", "acq_rel", "relaxed"))
MUTANTS = (
    ("task_pool.hpp", f"others.load({ACQUIRE})", f"others.load({RELAXED})", ("task_groups.c", "task_trees.c")),
    ("task_pool.hpp", f"unfinished_[parity & 1].load({ACQUIRE})", f"unfinished_[parity & 1].load({RELAXED})",
     ("task_trees.c", "reductions.c")),
    ("task_pool.cpp", f"fetch_sub(1, {RELEASE}) == 1)", f"fetch_sub(1, {RELAXED}) == 1)", ("task_trees.c", "reductions.c")),
    ("task_pool.cpp", f"others.fetch_sub(ends, {ACQ_REL}) - ends", f"others.fetch_sub(ends, {RELAXED}) - ends",
     ("task_trees.c", "task_groups.c")),
    ("task_pool.cpp", f"others.fetch_sub(ends, {RELEASE});", f"others.fetch_sub(ends, {RELAXED});", ("task_groups.c",)),
    ("task_pool.cpp", f"ended.load({ACQUIRE})", f"ended.load({RELAXED})", ("task_dependences.c", "task_events.c")),
)


def options_of_runtime(commands):
    """The standard, definitions, directories and -f... of the library; its other options are those of the build."""
    entries = [each for each in json.loads(Path(commands).read_text(encoding="utf-8"))
               if Path(each["file"]).is_relative_to(ROOT / "openmp")]
    if not entries:
        raise SystemExit(f"{commands} has no file of {ROOT / 'openmp'}: configure with LOCKSTEP_BUILD_OPENMP=ON")
    words = shlex.split(entries[0]["command"])
    kept = [word for word in words if word.startswith(("-std=", "-D", "-I", "-f")) and "sanitize" not in word]
    for before, word in zip(words, words[1:]):
        if before == "-isystem":
            kept += [before, word]
    return [*kept, *OPTIONS, "-Wno-tsan"]


def compile_all(sources, directory, options):
    """The objects of `sources`, in `directory`; as many at a time as there are CPUs."""
    directory.mkdir(parents=True, exist_ok=True)

    def one(source):
        made = directory / f"{source.parent.name}_{source.name}.o"
        subprocess.run([*conformance.GCC[".cpp"][:1], *options, "-c", str(source), "-o", str(made)], check=True)
        return made

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, sources))


def link(objects, directory):
    library = directory / "libgomp.so.1"
    subprocess.run([*conformance.GCC[".cpp"][:1], *OPTIONS, "-shared", *map(str, objects), "-o", str(library),
                    "-Wl,-soname,libgomp.so.1", f"-Wl,--version-script={ROOT / 'openmp' / 'version.map'}",
                    "-Wl,-z,nodelete", "-ldl"], check=True)
    return library


def executable(source, directory):
    made = directory / Path(source).name.replace(".", "_")
    subprocess.run([*conformance.GCC[Path(source).suffix], "-fopenmp", "-w", *OPTIONS, str(conformance.HERE / source),
                    "-o", str(made), "-ldl"], check=True)
    return made


def races(program, made, library, threads, seconds=120):
    """What a run says that is wrong; empty if nothing is."""
    suppressions = made.parent / "suppressions"
    suppressions.write_text(SUPPRESSED, encoding="utf-8")
    said = ""
    for case in program.cases:
        variables = conformance.variables_of(program, threads, library)
        run = conformance.Run(launched(made), case, seconds, TSAN_OPTIONS=f"suppressions={suppressions}", **variables)
        if REPORT in run.text or run.status != 0:
            said += f"{made.name} {case}, {threads} threads, status {run.status}:\n{run.text[:6000]}\n"
    return said


def launched(made):
    """A script that starts it without address space randomisation, which some kernels do too much of for the sanitizer."""
    script = made.with_suffix(".sh")
    script.write_text(f'#!/bin/sh\nexec setarch "$(uname -m)" -R "{made}" "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    return script


def has_thread_sanitizer(directory):
    probe = directory / "probe.cpp"
    probe.write_text("int main() {}\n", encoding="utf-8")
    made = directory / "probe"
    compiler = conformance.GCC[".cpp"][0]
    return (shutil.which(compiler) is not None
            and subprocess.run([compiler, *OPTIONS, str(probe), "-o", str(made)], capture_output=True, check=False).returncode == 0
            and subprocess.run([str(launched(made))], capture_output=True, check=False).returncode == 0)


def mutant_library(index, objects, directory, options):
    """The library with one order weakened: only what that changes is compiled again."""
    file, old, new, _ = MUTANTS[index]
    file = f"runtime/{file}"
    copy = directory / f"mutant{index}"
    shutil.copytree(ROOT / "openmp", copy, dirs_exist_ok=True)
    text = (copy / file).read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise SystemExit(f"openmp/{file} has {text.count(old)} times '{old}': MUTANTS is out of date")
    (copy / file).write_text(text.replace(old, new), encoding="utf-8")
    header = re.compile(rf'"(runtime/)?{Path(file).name}"') if file.endswith(".hpp") else None
    sources = [path for path in sorted(copy.rglob("*.cpp"))
               if path == copy / file or (header and header.search(path.read_text(encoding="utf-8")))]
    own = [option.replace(str(ROOT / "openmp"), str(copy)) for option in options]
    changed = {path.name: path for path in compile_all(sources, copy / "objects", own)}
    return link([changed.get(path.name, path) for path in objects], copy)


def main():
    commands, directory = Path(sys.argv[1]), Path(sys.argv[2]).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    if not has_thread_sanitizer(directory):
        print("skipped: no g++ with ThreadSanitizer that works here")
        return conformance.SKIPPED
    options = options_of_runtime(commands)
    sources = [*sorted((ROOT / "openmp").rglob("*.cpp")), ROOT / "src" / "lockstep.cpp"]
    objects = compile_all(sources, directory / "objects", options)
    library = link(objects, directory)
    programs = {source: (conformance.Program(conformance.HERE / source, directory), executable(source, directory))
                for source in PROGRAMS}
    bad = runs = 0
    for source, (program, made) in programs.items():
        for threads in THREADS:
            said = races(program, made, library, threads)
            runs += 1
            bad += said != ""
            print(said, end="")
    print(f"{runs} programs under ThreadSanitizer, {bad} bad")
    if bad or "--without-mutants" in sys.argv:
        return 1 if bad else 0
    for index, (file, old, new, noticed_by) in enumerate(MUTANTS):
        weakened = mutant_library(index, objects, directory, options)
        if not any(races(*programs[source], weakened, threads, 60)
                   for _ in range(3) for source in noticed_by for threads in (4, 2)):
            bad += 1
            print(f"openmp/runtime/{file}: nobody notices '{new}' in place of '{old}'")
    print(f"{len(MUTANTS)} mutants, {bad} not noticed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
