#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the shell commands of the pages run as they are written?

usage: page_commands.py --check
       page_commands.py --day BUILD COMPILER   those that need no more than a build directory
       page_commands.py --all COPY             also those that build: in a copy of the repository, which they fill

A block of commands is marked sh, and the line before it says who runs it:
    <!-- run: day -->                         this script, by ctest (build.pages) and by ./do packages pages
    <!-- run: packages -->                    this script, by ./do packages pages
    <!-- run: packages, without COMMAND -->   the same, without the lines that begin so
    <!-- run: by SCRIPT -->                   SCRIPT, a file of the repository, which names the page
    <!-- not run: REASON -->                  nobody
--check complains of a block without such a line, and of commands in a block that is not marked sh.

A block runs in a shell that stops where a command fails; those of a page follow each other in one directory. There are
program, solver (tests/build/pages) and the command lockstep; with --all, program.c, program.f90 (of the page), rod.cpp (of
the guide) and an installed lockstep as well. What would be installed to /usr/local goes to COPY/root.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^(?:<!-- (?P<mark>[^\n]*?) -->\n)?^(?P<fence>```+)(?P<kind>\w*)\n(?P<text>.*?)^(?P=fence)$", re.M | re.S)
MARK = re.compile(r"run: (?P<when>day|packages)(, without (?P<without>.+))?|run: by (?P<script>\S+)|not run: .+")
PROGRAM = re.compile(r"^```fortran\n(.*?)^```$", re.M | re.S)
# How a line begins that is a command, in a block that is not marked as such.
COMMAND = re.compile(r"\s*(?:[A-Z_]+=\S+ +)*(?:\./|\.\./|cmake|cc|c\+\+|g\+\+|gcc|clang|gfortran|mpi\w* |conan|vcpkg|meson |bazel |pip|"
                     r"python|cargo|dpkg|cp |cd |for |gdb|lockstep (?:run|summary|timeline)|make )")
PLACES = ("CONTRIBUTING.md", "README.md", "bindings", "docs", "examples", "packaging")
NOT_PAGES = {"build", "target", "node_modules", "seeds", "decisions", "__pycache__"}


def pages(root):
    """Of each place that has pages. Other folders are not searched: their files may vanish while tests run."""
    found = [root / place for place in PLACES if place.endswith(".md")]
    for place in PLACES:
        for directory, below, files in os.walk(root / place):
            below[:] = [name for name in below if name not in NOT_PAGES and not name.startswith(".")]
            found += [Path(directory) / name for name in files if name.endswith(".md")]
    return sorted(path for path in found if path.is_file())


def blocks(path):
    """(line, kind, mark, text)"""
    page = path.read_text(encoding="utf-8")
    for found in BLOCK.finditer(page):
        yield page.count("\n", 0, found.start("fence")) + 1, found["kind"], found["mark"] or "", found["text"]


def check(root):
    complaints, count = [], 0
    for path in pages(root):
        for line, kind, mark, text in blocks(path):
            place = f"{path.relative_to(root)}:{line}"
            said = MARK.fullmatch(mark)
            if kind != "sh":
                if kind == "" and any(COMMAND.match(each) for each in text.splitlines()):
                    complaints.append(f"{place}: has commands; mark it sh")
                continue
            count += 1
            if not said:
                complaints.append(f"{place}: nothing says who runs these commands: scripts/run/page_commands.py has the forms")
            elif said["script"]:
                script = root / said["script"]
                if not script.is_file() or path.name not in script.read_text(encoding="utf-8"):
                    complaints.append(f"{place}: {said['script']} does not name {path.name}")
    for each in complaints:
        print(each)
    print(f"page_commands: {count} blocks: {'ok' if not complaints else f'{len(complaints)} complaints'}")
    return 1 if complaints else 0


def compile_programs(page, root, to, compiler, options):
    """What the pages call program and solver."""
    sources = root / "tests/build/pages"
    for name in ("program", "solver"):
        command = (["gcc", "-fopenmp", "-O1", sources / "openmp.c"] if page.name == "openmp.md" else
                   [compiler, "-std=c++11", "-O1", "-pthread", "-I", root / "include",
                    sources / "solver.cpp", *options])
        subprocess.run([*command, "-o", to / name], check=True)


def run_page(page, whens, place, surroundings):
    """The number of blocks that failed."""
    failed = 0
    for line, kind, mark, text in blocks(page):
        said = MARK.fullmatch(mark)
        if kind != "sh" or not said or said["when"] not in whens:
            continue
        if said["without"]:
            text = "".join(each for each in text.splitlines(True) if not each.startswith(said["without"]))
        print(f"-- {page}:{line}\n{text}", flush=True)
        if subprocess.run(["bash", "-e", "-c", text], cwd=place, env=surroundings, stdin=subprocess.DEVNULL, check=False).returncode:
            print(f"FAILED: {page}:{line}", flush=True)
            failed += 1
    return failed


def pages_with(root, whens):
    for page in pages(root):
        said = [MARK.fullmatch(mark) for _, kind, mark, _ in blocks(page) if kind == "sh"]
        if any(each and each["when"] in whens for each in said):
            yield page


def by_day(build, compiler):
    failed = 0
    for page in pages_with(ROOT, {"day"}):
        with tempfile.TemporaryDirectory() as scratch:
            place = Path(scratch)
            compile_programs(page, ROOT, place, compiler, [build / "liblockstep.a"])
            for made in ("tool/lockstep", "openmp/libgomp.so.1"):
                link = place / "build/release" / made
                link.parent.mkdir(parents=True)
                link.symlink_to(build / made)
            tools = f"{place / 'build/release/tool'}:{os.environ['PATH']}"
            failed += run_page(page, {"day"}, place, {**os.environ, "PATH": tools})
    return failed


def run_all(copy):
    prefix, library, failed = copy / "PREFIX", copy / "library", 0
    options = [f"-DLOCKSTEP_BUILD_{each}=ON" for each in ("TOOL", "OPENMP", "BINDINGS")]
    for command in (["cmake", "-S", copy, "-B", library, "-DCMAKE_BUILD_TYPE=Release", *options],
                    ["cmake", "--build", library], ["cmake", "--install", library, "--prefix", prefix]):
        subprocess.run(command, check=True)
    surroundings = {**os.environ, "DESTDIR": str(copy / "root"), "LD_LIBRARY_PATH": str(prefix / "lib"),
                    "PKG_CONFIG_PATH": str(prefix / "share/pkgconfig"), "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}"}
    shutil.copy(copy / "tests/build/pages/program.c", copy)
    shutil.copy(copy / "examples/23_guide.cpp", copy / "rod.cpp")
    shutil.copy(prefix / "share/lockstep/lockstep.f90", copy)
    for page in pages_with(copy, {"day", "packages"}):
        compile_programs(page, copy, copy, "c++", [f"-L{prefix / 'lib'}", "-llockstep"])
        for program in PROGRAM.findall(page.read_text(encoding="utf-8"))[:1]:
            (copy / "program.f90").write_text(program, encoding="utf-8")
        failed += run_page(page, {"day", "packages"}, copy, surroundings)
    return failed


def main(argv):
    if argv == ["--check"]:
        return check(ROOT)
    if len(argv) == 3 and argv[0] == "--day":
        failed = by_day(Path(argv[1]).resolve(), argv[2])
    elif len(argv) == 2 and argv[0] == "--all":
        failed = run_all(Path(argv[1]).resolve())
    else:
        print(__doc__, file=sys.stderr)
        return 2
    print(f"page_commands: {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
