#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is the library to be had by each package manager, and does a program built with the package run?

usage: packages.py [NAME...]   of cmake, module, conan, meson, bazel, vcpkg, debian, pages; without a name, all of them

Works on a copy of the files that git has or would add, in build/packages. Tools of the Python index are installed there.
Prints one table: each step was run, has failed, or was not run, and why. What a step printed is in build/packages/NAME.log.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from page_commands import blocks

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "packages"
SOURCE = WORK / "source"
CONSUMER = SOURCE / "tests" / "build" / "consumer"
# The project has no mail address. Who publishes a package names his own.
NOT_OURS = "bogus-mail-host,bogus-mail-host-in-debian-changelog"


class Failed(Exception):
    pass


class NotHere(Exception):
    """A tool that this machine does not have: the text says which, and where it would come from."""


class Steps:
    """What was done for one package: rows of (package, step, result, seconds)."""

    def __init__(self, name):
        self.name, self.rows = name, []
        self.log = WORK / f"{name}.log"
        self.log.write_text("", encoding="utf-8")

    @contextmanager
    def step(self, title):
        print(f"-- {self.name}: {title}", flush=True)
        start, result = time.monotonic(), "run"
        try:
            yield
        except NotHere as reason:
            result = f"not run: {reason}"
            raise
        except (Failed, OSError) as reason:
            result = "FAILED"
            print(f"{reason}\n(all of it: {self.log})", file=sys.stderr)
            raise Failed from reason
        finally:
            self.rows.append((self.name, title, result, round(time.monotonic() - start)))

    def sh(self, *command, cwd=WORK, **environment):
        command = [str(word) for word in command]
        with self.log.open("a", encoding="utf-8") as log:
            log.write("+ " + " ".join(command) + "\n")
            log.flush()
            done = subprocess.run(command, cwd=cwd, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                                  stdout=log, stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            tail = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-30:]
            raise Failed("\n".join(tail))


def fresh(*parts):
    """An empty directory of that name below build/packages."""
    path = WORK.joinpath(*parts)
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def take_source():
    """What a fresh clone would have, and changes that are not committed yet; a repository of its own."""
    fresh("source")
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout
    for name in listed.split("\0"):
        if name and (ROOT / name).is_file():
            (SOURCE / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, SOURCE / name)
    who = ["-c", "user.name=lockstep", "-c", "user.email=lockstep@localhost"]
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], [*who, "commit", "-q", "-m", "sources"]):
        subprocess.run(["git", *command], cwd=SOURCE, check=True)


def python_tool(steps, package, program=None):
    """A program of the Python index, in an environment of its own."""
    place = WORK / "venv"
    if not (place / "bin" / "pip").exists():
        steps.sh(sys.executable, "-m", "venv", place)
    steps.sh(place / "bin" / "pip", "install", "-q", package)
    return place / "bin" / (program or package)


def as_written(steps, commands, cwd, **environment):
    """The block of docs/packages.md that has these words."""
    found = [text for _, kind, _, text in blocks(SOURCE / "docs/packages.md") if kind == "sh" and commands in text]
    if len(found) != 1:
        raise Failed(f"docs/packages.md has {len(found)} blocks with '{commands}'")
    steps.sh("bash", "-e", "-c", found[0], cwd=cwd, **environment)


def needed(program, origin):
    found = shutil.which(program)
    if not found:
        raise NotHere(f"{program} is not here; {origin}")
    return found


def consumer_sources():
    return sorted(CONSUMER.glob("*.cpp"))


# --- the packages ---

def by_cmake(steps):
    with steps.step("install, find_package and its components, versions, FetchContent, add_subdirectory, pkg-config"):
        steps.sh(sys.executable, SOURCE / "tests/build/install_test.py", needed("cmake", "apt has it"),
                 needed("c++", "apt has it"))


def by_module(steps):
    with steps.step("import lockstep, the source as a part"):
        clang = needed("clang++-19", "apt has it as clang-19")
        needed("clang-scan-deps-19", "apt has it as clang-tools-19")
        cmake = python_tool(steps, "cmake>=3.28", "cmake")
        common = ["-G", "Ninja", f"-DCMAKE_CXX_COMPILER={clang}", "-DCMAKE_BUILD_TYPE=Debug"]
        program = SOURCE / "tests/build/module"
        build = fresh("module", "part")
        steps.sh(cmake, *common, "-S", program, "-B", build, f"-DLOCKSTEP_SOURCE={SOURCE}")
        steps.sh(cmake, "--build", build)
        steps.sh(build / "program")
    with steps.step("import lockstep, installed"):
        library, prefix = fresh("module", "library"), fresh("module", "prefix")
        steps.sh(cmake, *common, "-S", SOURCE, "-B", library)
        steps.sh(cmake, "--build", library)
        steps.sh(cmake, "--install", library, "--prefix", prefix)
        build = fresh("module", "installed")
        steps.sh(cmake, *common, "-S", program, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
        steps.sh(cmake, "--build", build)
        steps.sh(build / "program")


def by_conan(steps):
    with steps.step("conan from the Python index"):
        conan = python_tool(steps, "conan>=2,<3", "conan")
        home = {"CONAN_HOME": str(fresh("conan"))}
    with steps.step("the commands of docs/packages.md, which leave nothing in the repository"):
        as_written(steps, "conan create", SOURCE, PATH=f"{conan.parent}:{os.environ['PATH']}", **home)
        steps.sh("sh", "-c", 'left=$(git status --porcelain); echo "$left"; test -z "$left"', cwd=SOURCE)
    for title, option in (("shared", "shared=True"), ("headers", "header_only=True")):
        with steps.step(f"conan create ., {title}, and its test_package"):
            steps.sh(conan, "create", ".", "--no-remote", "--build=missing", "-o", f"lockstep/*:{option}", cwd=SOURCE,
                     **home)


def by_meson(steps):
    with steps.step("meson setup of a program, lockstep as its subproject by the wrap"):
        needed("git", "apt has it")
        needed("ninja", "apt has it as ninja-build")
        meson = python_tool(steps, "meson")
        program = fresh("meson", "program")
        shutil.copy(SOURCE / "packaging/meson/program/meson.build", program)
        for file in CONSUMER.glob("*.[ch]pp"):
            shutil.copy(file, program)
        (program / "subprojects").mkdir()
        wrap = (SOURCE / "packaging/meson/lockstep.wrap").read_text(encoding="utf-8")
        (program / "subprojects/lockstep.wrap").write_text(
            wrap.replace("ADDRESS_OF_THIS_REPOSITORY", f"file://{SOURCE}"), encoding="utf-8")
        steps.sh(meson, "setup", "build", cwd=program)
        steps.sh(meson, "test", "-C", "build", cwd=program)
    with steps.step("meson install, static, and the program by pkg-config"):
        prefix = fresh("meson", "prefix")
        steps.sh(meson, "setup", "--prefix", prefix, "--libdir", "lib", "-Ddefault_library=static",
                 fresh("meson", "library"), SOURCE)
        steps.sh(meson, "install", "-C", WORK / "meson/library")
        use_pkg_config(steps, WORK / "meson/uses", [prefix / "lib/pkgconfig", prefix / "share/pkgconfig"])


def use_pkg_config(steps, program, paths):
    path = {"PKG_CONFIG_PATH": ":".join(map(str, paths))}
    for name in ("lockstep", "lockstep-header-only"):
        flags = subprocess.run([needed("pkg-config", "apt has it"), "--cflags", "--libs", name], check=False,
                               capture_output=True, text=True, env={**os.environ, **path})
        if flags.returncode != 0:
            raise Failed(flags.stderr)
        steps.sh("c++", "-std=c++11", *consumer_sources(), *flags.stdout.split(), "-o", program)
        steps.sh(program)


def bazel_program(*parts):
    program = fresh("bazel", *parts)
    shutil.copytree(SOURCE / "packaging/bazel/program", program, dirs_exist_ok=True)
    for file in CONSUMER.glob("*.[ch]pp"):
        shutil.copy(file, program)
    return program


def by_bazel(steps):
    """Debian's Bazel is older than modules; the rules that a newer one fetches are stood in for (packaging/bazel)."""
    with steps.step("BUILD.bazel, built and run by Debian's Bazel 4"):
        bazel = needed("bazel", "apt has version 4 as bazel-bootstrap; npm's bazelisk downloads it from elsewhere")
        program = bazel_program("program")
        places = {"rules_cc": SOURCE / "packaging/bazel/rules_cc", "rules_java": SOURCE / "packaging/bazel/rules_java",
                  "lockstep": SOURCE}
        lines = "".join(f'local_repository(name = "{name}", path = "{path}")\n' for name, path in places.items())
        (program / "WORKSPACE").write_text('workspace(name = "program")\n' + lines, encoding="utf-8")
        (SOURCE / "WORKSPACE").write_text('workspace(name = "lockstep")\n', encoding="utf-8")
        steps.sh(bazel, "--batch", f"--output_user_root={WORK / 'bazel/out'}", "build", "--noshow_progress", "//...",
                 cwd=program, HOME=str(fresh("bazel", "home")))
        for name in ("library", "headers"):
            steps.sh(program / "bazel-bin" / f"uses_{name}")
    with steps.step("MODULE.bazel, built and run by Bazel 7 of another release of Debian"):
        by_bazel_module(steps)


def by_bazel_module(steps):
    """Bazel asks a registry for modules that it uses itself. Here none is within reach, so a registry in a directory names
    them: without sources, as nothing of them is needed."""
    has = subprocess.run(["bash", "-c", "source scripts/run/install.sh && need releases newest_bazel"], cwd=ROOT,
                         stdout=subprocess.DEVNULL, check=False)
    if has.returncode != 0:
        raise NotHere("needs Bazel 6 or newer, as Debian's release 'sid' has it; its version is checked")
    program, registry = bazel_program("module"), fresh("bazel", "registry")
    (program / "MODULE.bazel").write_text(f"""module(name = "program")
bazel_dep(name = "lockstep")
local_path_override(module_name = "lockstep", path = "{SOURCE}")
bazel_dep(name = "rules_cc")
""", encoding="utf-8")
    (registry / "bazel_registry.json").write_text("{}", encoding="utf-8")
    in_debian = (ROOT / "scripts/run/in_debian.sh", "newest_bazel")
    surroundings = {"HOME": str(fresh("bazel", "module_home")), "USER": "somebody", "JAVA_HOME": "/usr/lib/jvm/default-java"}
    for _ in range(20):
        try:
            steps.sh(*in_debian, "bazel", "--batch", f"--output_user_root={WORK / 'bazel/module_out'}", "build",
                     "--noshow_progress", "--noenable_workspace", "--lockfile_mode=off", f"--registry=file://{registry}",
                     "//:uses_library", "//:uses_headers", cwd=program, **surroundings)
            break
        except Failed as failure:
            name, version = (re.findall(r"module (\w+)@([\w.-]+) not found in registries", str(failure)) or [("", "")])[-1]
            module = registry / "modules" / name / version
            if module.exists():  # it is not this that it lacks
                raise
            module.mkdir(parents=True)
            (module / "MODULE.bazel").write_text(f'module(name = "{name}", version = "{version}")\n', encoding="utf-8")
            (module / "source.json").write_text('{"type": "local_path", "path": "/nowhere"}\n', encoding="utf-8")
    for name in ("library", "headers"):
        steps.sh(*in_debian, program / "bazel-bin" / f"uses_{name}")


def by_vcpkg(steps):
    with steps.step("portfile.cmake with stand-ins for vcpkg's functions, and a program with what it made"):
        cmake, place = needed("cmake", "apt has it"), fresh("vcpkg")
        port = SOURCE / "packaging/vcpkg/ports/lockstep/portfile.cmake"
        steps.sh(cmake, "-DPORT=lockstep", f"-DPORTFILE={port}", f"-DCURRENT_PACKAGES_DIR={place / 'packages'}",
                 f"-DCURRENT_BUILDTREES_DIR={place / 'trees'}", "-P", SOURCE / "packaging/vcpkg/stub.cmake")
        for kind in ("Release", "Debug"):
            build = place / kind
            steps.sh(cmake, "-G", "Ninja", "-S", CONSUMER, "-B", build, f"-DCMAKE_BUILD_TYPE={kind}",
                     f"-DCMAKE_PREFIX_PATH={place / 'packages'}")
            steps.sh(cmake, "--build", build)
            steps.sh(build / "program")
    with steps.step("vcpkg install"):
        raise NotHere("vcpkg is in no registry here; scripts/check/packages.py checks vcpkg.json")


def by_debian(steps):
    with steps.step("dpkg-buildpackage"):
        needed("dpkg-buildpackage", "apt has it as dpkg-dev")
        needed("dh", "apt has it as debhelper")
        place = fresh("debian")
        shutil.copytree(SOURCE, place / "lockstep")
        as_written(steps, "dpkg-buildpackage", place / "lockstep")
    with steps.step("lintian, pedantic, any remark fails"):
        steps.sh(needed("lintian", "apt has it"), "--pedantic", "--allow-root", f"--suppress-tags={NOT_OURS}",
                 "--fail-on=error,warning,info,pedantic", *place.glob("*.changes"), cwd=place)
    with steps.step("installed in a clean Debian, programs built and run there, removed"):
        needed("mmdebstrap", "apt has it")
        if os.geteuid() != 0:
            raise NotHere("a root of its own needs root")
        root = clean_debian(steps, place)
        for package in place.glob("*.deb"):
            if "dbgsym" not in package.name:
                shutil.copy(package, root / "lockstep")
        shutil.copytree(CONSUMER, root / "lockstep/consumer")
        for file in ("packaging/debian/try.sh", "bindings/c/example/smoothing.c"):
            shutil.copy(SOURCE / file, root / "lockstep")
        # With /proc, which `lockstep run` reads; mounted for these processes alone.
        steps.sh("unshare", "--mount", "--pid", "--fork", "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "sh", "-c",
                 'mount -t proc proc "$0/proc" && exec chroot "$0" sh /lockstep/try.sh', root)


def clean_debian(steps, place):
    """A root with a compiler and CMake, of this machine's version of Debian; made once."""
    system = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
                  if "=" in line)
    if system["ID"].strip('"') != "debian":
        raise NotHere("this system is no Debian")
    archive = WORK / f"root-{system['VERSION_CODENAME']}.tar"
    if not archive.exists():
        steps.sh("mmdebstrap", "--variant=apt", "--include=g++,cmake,ninja-build,pkg-config",
                 system["VERSION_CODENAME"], WORK / "new.tar")
        (WORK / "new.tar").rename(archive)
    root = place / "root"
    (root / "lockstep").mkdir(parents=True)
    steps.sh("tar", "-C", root, "-xf", archive, "--exclude=./dev/*")
    steps.sh("mknod", "-m", "666", root / "dev/null", "c", "1", "3")
    return root


def by_pages(steps):
    with steps.step("the commands of the pages, as they are written"):
        needed("gfortran", "apt has it")
        copy = fresh("pages") / "lockstep"
        shutil.copytree(SOURCE, copy)
        steps.sh(sys.executable, SOURCE / "scripts/run/page_commands.py", "--all", copy)


PACKAGES = {"cmake": by_cmake, "module": by_module, "conan": by_conan, "meson": by_meson, "bazel": by_bazel,
            "vcpkg": by_vcpkg, "debian": by_debian, "pages": by_pages}


def main(names):
    unknown = [name for name in names if name not in PACKAGES]
    if unknown:
        print(f"./do packages: no package '{unknown[0]}'; there are {', '.join(PACKAGES)}", file=sys.stderr)
        return 2
    WORK.mkdir(parents=True, exist_ok=True)
    take_source()
    rows, failed = [], 0
    for name in names or PACKAGES:
        steps = Steps(name)
        try:
            PACKAGES[name](steps)
        except NotHere:
            pass
        except Failed:
            failed += 1
        rows += steps.rows
    print()
    for name, title, result, seconds in rows:
        print(f"{name:8} {seconds:4} s  {title}: {result}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
