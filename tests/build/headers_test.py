#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does each header below include/ compile alone, without a warning, in every standard, and each file of src/?

usage: headers_test.py [--brief] [--mpi=DIRECTORY[:DIRECTORY]...]... include-directory compiler [warning...]

Files of src/ are compiled in the oldest standard only, and in the special builds. All headers together, and a program that
uses them, are also compiled with the warnings that strict users of GCC set, and by an old Clang, which warns of other
shadowed names. The headers for use inside MPI are compiled for each --mpi, which names the directories of an MPI library's
headers.

With --brief all are compiled together, in the oldest and the newest standard and in two special builds. Only those that the
last commits or the working tree have changed are compiled alone, in the oldest standard. That takes a tenth of the time. A
change that breaks another header is found at night.
"""

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOREIGN = Path(__file__).with_name("foreign_headers.txt")
BARE = ["-fno-exceptions", "-fno-rtti"]
NAMES = Path(__file__).with_name("public_names.txt")
PROGRAM = Path(__file__).parent / "consumer" / "program.cpp"
COMMITS, CHANGED = 15, 2  # with --brief: what counts as changed lately, and how many of these are taken, the latest first
STRICT = ["-Wuseless-cast", "-Wcast-align", "-Wnon-virtual-dtor",
          "-Wzero-as-null-pointer-constant"]
OLD_CLANG = shutil.which("clang++-13")
JOBS = 2


def syntax_check(compiler, flags, text):
    """Compiles the text without output; returns what the compiler says, or None if it is content."""
    done = subprocess.run([compiler, "-fsyntax-only", *flags, "-x", "c++", "-"],
                          input=text, capture_output=True, text=True)
    return None if done.returncode == 0 else done.stderr or f"exit status {done.returncode}"


def variants(compiler):
    """The flag sets of the check: the standards that the compiler knows, and the special builds."""
    newest = "-std=c++23" if syntax_check(compiler, ["-std=c++23"], "") is None else "-std=c++2b"
    plain = [[f"-std=c++{year}"] for year in (11, 14, 17, 20)]
    if syntax_check(compiler, [newest], "") is None:
        plain.append([newest])
    return plain, [
        ["-std=c++11", *BARE, "-DNDEBUG"],
        ["-std=c++20", *BARE],
        ["-std=c++11", "-DLOCKSTEP_FORCE_PORTABLE_FUTEX=1"],
    ]


def header_names(include):
    """All headers but the foreign ones; a foreign one that does not exist is an error."""
    listed = FOREIGN.read_text(encoding="utf-8").splitlines()
    foreign = {line.strip() for line in listed if line.strip() and not line.startswith("#")}
    names = {p.relative_to(include).as_posix() for p in include.rglob("*") if p.suffix in (".hpp", ".h")}
    if foreign - names:
        raise SystemExit(f"{FOREIGN.name} lists what does not exist: {sorted(foreign - names)}")
    return sorted(names - foreign)


def is_mpi(name):
    return name.startswith(("lockstep/mpi", "lockstep/detail/mpi/"))


def changed_lately(include, names):
    """Those of the headers that the working tree or the last commits have changed; none where git knows of none."""
    asked = (["diff", "--name-only", "--relative", "HEAD"],
             ["log", f"-{COMMITS}", "--first-parent", "-m", "--format=", "--name-only", "--relative"])
    found = []
    for arguments in asked:
        try:
            done = subprocess.run(["git", *arguments, "--", "."], cwd=include, capture_output=True, text=True, check=False)
        except OSError:
            return []
        found += done.stdout.splitlines() if done.returncode == 0 else []
    known = set(names)
    return [name for name in dict.fromkeys(found) if name in known][:CHANGED]


def mpi_compilations(names, alone, compiler, found, brief):
    """Of the headers for use inside MPI: alone in the oldest standard, all together in the others and without exceptions."""
    plain, special = variants(compiler)
    yield from (([name], [*plain[0], *found]) for name in alone)
    yield from ((names, [*flags, *found]) for flags in ([special[0]] if brief else [*plain[1:], *special[:2]]))


def strict_compilations(names, compiler, brief):
    """The same with warnings of strict users."""
    if syntax_check(compiler, ["-Werror", *STRICT], "") is None:
        for year in (11,) if brief else (11, 20):
            yield names, [f"-std=c++{year}", *STRICT]
            yield [PROGRAM], [f"-std=c++{year}", *STRICT]
    if OLD_CLANG and not brief:
        yield names, ["-std=c++11", OLD_CLANG]


def compilations(names, alone, compiler, brief):
    """Yields (names of the headers, flags) for each compilation; another compiler is the last flag."""
    standards, special = variants(compiler)
    listed = {line.split()[0] for line in NAMES.read_text(encoding="utf-8").splitlines() if line.strip()}
    if brief:
        # Not every mix: exceptions and the futex do not depend on the standard.
        yield from ((names, flags) for flags in [standards[-1], special[0], special[2]])
        yield from (([name], standards[0]) for name in alone if name not in listed)  # those public_names.py compiles
    else:
        yield from (([name], flags) for flags in standards + special for name in names)
    yield from strict_compilations(names, compiler, brief)


def source_compilations(src, compiler, mpi, brief):
    """Of the files of src/ alone, those for use inside MPI where there is one, and of the units that have them all."""
    standards, special = variants(compiler)
    files = sorted(path.relative_to(src).as_posix() for path in src.rglob("*.[ch]pp"))
    for name in changed_lately(src, files) if brief else files:
        needs_mpi = name.startswith(("mpi/", "lockstep_mpi"))
        if mpi or not needs_mpi:
            yield [src / name], [*standards[0], *(mpi[0] if needs_mpi else [])]
    units = [src / "lockstep.cpp", src / "thread_synchronizer.cpp", src / "lockstep_checked.cpp"]
    # By day build.no_exceptions has all of the library.
    yield from (([unit], flags) for flags in special[:1 if brief else 3] for unit in (units[1:2] if brief else units))


def main(argv):
    brief = "--brief" in argv
    include, compiler, *warnings = [a for a in argv[1:] if a != "--brief" and not a.startswith("--mpi=")]
    common = [*warnings, "-Werror", f"-I{include}"]
    all_names = header_names(Path(include))
    names = [name for name in all_names if not is_mpi(name)]
    alone = changed_lately(include, all_names) if brief else all_names
    jobs = list(compilations(names, [name for name in alone if not is_mpi(name)], compiler, brief))
    mpis = [[flag for directory in a.removeprefix("--mpi=").split(":") for flag in ("-isystem", directory)]
            for a in argv if a.startswith("--mpi=")]
    jobs += source_compilations(Path(include).parent / "src", compiler, mpis, brief)
    for number, mpi in enumerate(mpis):
        changed = [] if brief and number else list(filter(is_mpi, alone))
        jobs += mpi_compilations(list(filter(is_mpi, all_names)), changed, compiler, mpi, brief)

    def run(job):
        together, flags = job
        text = "".join(f'#include "{name}"\n' if isinstance(name, Path) else f"#include <{name}>\n" for name in together)
        if flags[-1] == OLD_CLANG:
            return syntax_check(OLD_CLANG, [*flags[:-1], *common], text)
        return syntax_check(compiler, [*flags, *common], text)

    with ThreadPoolExecutor(JOBS) as pool:
        failures = [(job, said) for job, said in zip(jobs, pool.map(run, jobs)) if said]
    for (together, flags), said in failures:
        title = together[0] if len(together) == 1 else "all headers"
        print(f"--- {title} {' '.join(flags)}\n{said}")
    print(f"{len(names)} headers, {len(jobs)} compilations, {len(failures)} failed")
    return 1 if failures or not names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
