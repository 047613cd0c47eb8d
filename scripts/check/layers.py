#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does every file keep to its layer and to the form of the house?

usage: layers.py [tree]

In include/: public headers lie directly in lockstep/, the others in lockstep/detail/LAYER/; in src/: headers and sources lie
in src/LAYER/. Each file names its layer in its banner, and includes only headers of that layer and of the layers before it.
Nothing outside of src/ includes a header of it, but for tests, and openmp/, which compile the sources themselves.
In openmp/ the two fronts gnu/ and llvm/, and api/, include runtime/, never the other way round, and no front the other.
Questions about system, compiler or architecture are asked in the layer platform only; macros but include guards are defined there only and are
called LOCKSTEP_*; atomics go through the seam detail/platform/atomic.hpp; what a file has in namespace lockstep
it has in the inline namespace LOCKSTEP_ABI; a file has at most 600 lines, the SPDX line and a banner that gives
its path. Everywhere: source files carry the SPDX line, and no file
names a directory of somebody's machine.
"""

import os
import re
import subprocess
import sys
from pathlib import Path, PurePosixPath

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from source_text import Report, directives, guard_of, headers, includes, name_of, named_layer, root_argument, sources, split_lines  # noqa: E402

LAYERS = ("platform", "base", "observe", "wait", "sync", "toolbox", "region", "loop", "reduce", "team", "graph", "trace", "mpi", "adapters")
LAYERLESS = ("lockstep/lockstep.hpp", "lockstep/mpi.hpp", "thread_synchronizer.h", "src/lockstep.cpp", "src/lockstep_checked.cpp",
             "src/lockstep_mpi.cpp", "src/lockstep_mpi_checked.cpp", "src/thread_synchronizer.cpp")
# What MPI libraries ask to be told before their header is read.
MPI_SETTINGS = ("OMPI_SKIP_MPICXX", "MPICH_SKIP_MPICXX")
# What each folder of openmp/ may include beside itself.
OPENMP = {"runtime": (), "api": ("runtime",), "gnu": ("runtime", "api"), "llvm": ("runtime", "api")}
SEAM = "lockstep/detail/platform/atomic.hpp"
MAX_LINES = 600

SPDX = "SPDX-License-Identifier: MIT"
SOURCE_NAMES = re.compile(r"\.(hpp|ipp|h|cpp|py|sh|cmake)$|(^|/)CMakeLists\.txt$|^do$|^\.ci/run$")

# Reserved names in a condition ask about the compiler or the system, but for those of the language.
RESERVED = re.compile(r"\b(_[A-Z_]\w*|__\w+|linux|unix|WIN32)\b")
LANGUAGE = re.compile(r"__cplusplus|__cpp_\w+|__has_include|__has_cpp_attribute")

ATOMIC = re.compile(r"\b(std::atomic\w*|atomic_(?:thread|signal)_fence)\b")

MACHINE_PATH = re.compile(r"(?<![\w.$}/])/(?:home|root|work|farm|Users)/\w|\b[A-Z]:\\Users\\")


def directory_layer(name):
    """The layer of a file; None for public headers."""
    parts = PurePosixPath(name).parts
    if parts[0] == "src":
        return parts[1] if len(parts) > 2 else None
    return parts[2] if len(parts) > 3 and parts[:2] == ("lockstep", "detail") else None


def layers_of(root):
    """Maps each file of include/ and src/ to its layer; None for those that include all."""
    found = {}
    for path in headers(root) + sources(root):
        name = name_of(root, path)
        found[name] = directory_layer(name) or named_layer(path.read_text(encoding="utf-8"))
    return found


def included_path(name, bracket, path):
    """The included file of ours as name_of() has it, or None if it is not one."""
    if path.startswith("lockstep/") or path == "thread_synchronizer.h":
        return path
    if bracket == "<":
        return None
    return os.path.normpath(PurePosixPath(name).parent / path)


def check_includes(report, path, header, text, layers):
    layer = layers[header]
    if layer is None:
        return
    if layer not in LAYERS:
        report.add(path, 1, f"'{layer}' is not a layer; the layers are {', '.join(LAYERS)}")
        return
    for number, bracket, included in includes(text):
        target = included_path(header, bracket, included)
        if target is None:
            continue
        if bracket == '"' and not header.startswith("src/"):
            report.add(path, number, f"{target} is to be included as <lockstep/...>")
        other = layers.get(target) or directory_layer(target)
        if other is None:
            report.add(path, number, f"layer {layer} includes {target}, which is above all layers")
        elif other not in LAYERS or LAYERS.index(other) > LAYERS.index(layer):
            report.add(path, number, f"layer {layer} includes {target} of the later layer {other}")


def check_macros(report, path, header, lines, guard):
    in_platform = directory_layer(header) == "platform"
    for directive in directives(lines):
        if directive.name in ("if", "ifdef", "ifndef", "elif") and not in_platform:
            for macro in RESERVED.findall(directive.rest):
                if not LANGUAGE.fullmatch(macro):
                    report.add(path, directive.number, f"{macro} is asked about outside platform/")
        if directive.name in ("define", "undef"):
            macro = re.match(r"\w*", directive.rest).group()
            if macro == guard or macro in MPI_SETTINGS:
                continue
            if not in_platform:
                report.add(path, directive.number, f"#{directive.name} {macro} outside platform/")
            elif not macro.startswith("LOCKSTEP_"):
                report.add(path, directive.number, f"macro {macro} lacks the prefix LOCKSTEP_")


def check_seam(report, path, header, lines):
    if header == SEAM:
        return
    for line in lines:
        for name in ATOMIC.findall(line.code):
            report.add(path, line.number, f"{name} goes round the seam {SEAM}")


def check_namespace(report, path, lines):
    rows = [line for line in lines if line.code.strip()]
    for line, following in zip(rows, rows[1:] + rows[-1:]):
        if re.match(r"\s*namespace lockstep\b", line.code) and \
                line.code.strip() + following.code.strip() != \
                "namespace lockstep {inline namespace LOCKSTEP_ABI {":
            report.add(path, line.number, "namespace lockstep without the inline namespace LOCKSTEP_ABI in it")


def check_banner(report, path, header, text):
    rows = text.split("\n")
    if rows[0] != f"// {SPDX}":
        report.add(path, 1, f"the first line is not '// {SPDX}'")
    if len(rows) < 2 or not rows[1].startswith(f"// {header} -- "):
        report.add(path, 2, f"no banner: the second line does not start with '// {header} -- '")
    else:
        layer, named = directory_layer(header), named_layer(text)
        if layer and named != layer:
            report.add(path, 2, f"the banner does not say '(layer: {layer})'")
        elif not named and header not in LAYERLESS:
            report.add(path, 2, "the banner does not name the layer")
    length = text.count("\n")
    if length > MAX_LINES:
        report.add(path, length, f"{length} lines, at most {MAX_LINES}: it does two things")


def repository_files(root):
    """Every file git would commit; without git, every file outside build/."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, capture_output=True, check=True).stdout.decode()
        names = [name for name in listed.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        found = (p.relative_to(root) for p in root.rglob("*") if p.is_file())
        names = [p.as_posix() for p in found
                 if p.parts[0] not in ("build", ".git") and "__pycache__" not in p.parts]
    return sorted({root / name for name in names if (root / name).is_file()})


def check_any_file(report, path, name):
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    rows = text.split("\n")
    if SOURCE_NAMES.search(name) and SPDX not in "\n".join(rows[:2]):
        report.add(path, 1, f"no '{SPDX}' in the first line (or the second, after #!)")
    for number, row in enumerate(rows, start=1):
        if MACHINE_PATH.search(row):
            report.add(path, number, "a path of somebody's machine")


def check_openmp(report, path):
    folder = path.parent.name
    if folder not in OPENMP:
        report.add(path, 1, f"'{folder}' is no folder of openmp/; they are {', '.join(OPENMP)}")
        return
    for number, _, included in includes(path.read_text(encoding="utf-8")):
        other = PurePosixPath(included).parts[0]
        is_ours = len(PurePosixPath(included).parts) > 1 and other in OPENMP
        if is_ours and other != folder and other not in OPENMP[folder]:
            report.add(path, number, f"openmp/{folder}/ includes {included}")


def main(argv):
    root = root_argument(argv)
    report = Report(root, "layers")
    layers = layers_of(root)
    for path in headers(root) + sources(root):
        name = name_of(root, path)
        text = path.read_text(encoding="utf-8")
        lines = split_lines(text)
        check_includes(report, path, name, text, layers)
        if path.parent != root / "src":
            check_macros(report, path, name, lines, guard_of(root, path))
        check_seam(report, path, name, lines)
        check_namespace(report, path, lines)
        check_banner(report, path, name, text)
    for path in sorted(each for each in (root / "openmp").rglob("*") if each.suffix in (".hpp", ".cpp")):
        check_openmp(report, path)
    files = repository_files(root)
    for path in files:
        check_any_file(report, path, path.relative_to(root).as_posix())
    return report.finish(len(files))


if __name__ == "__main__":
    sys.exit(main(sys.argv))
