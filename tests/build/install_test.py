#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is the library found and usable: installed, moved, staged, at absolute paths, as a part of another project?

usage: install_test.py cmake build-directory compiler
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CONSUMER = HERE / "consumer"
SOURCE = HERE.parents[1]
BRIEF = "LOCKSTEP_TEST_BRIEF" in os.environ  # by night: what takes half a minute
# For those that show how the library is found, after the first have shown that all of it is there.
LOCKS_ONLY = "-DCONSUMER_LOCKS_ONLY"
# What tests, examples, benchmarks and the tool need, and the Debian packages that have it.
PACKAGES = {"GTest": "libgtest-dev", "Boost": "libboost-context-dev", "Python3": "python3", "CLI11": "libcli11-dev",
            "fmt": "libfmt-dev", "nlohmann_json": "nlohmann-json3-dev"}
# A machine with a compiler and CMake only, as far as CMake sees.
CLEAN_MACHINE = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON" for package in PACKAGES]
HEADERS_ONLY = [*CLEAN_MACHINE, "-DLOCKSTEP_BUILD_COMPILED=OFF"]


def run(*command, **environment):
    print("+", *command, flush=True)
    subprocess.run([str(c) for c in command], check=True, env={**os.environ, **environment})


def expect(good, message):
    if not good:
        raise SystemExit(message)


class Toolchain:
    """CMake and the compiler under test; each project goes to a directory of its own."""

    def __init__(self, cmake, compiler, scratch):
        self.cmake, self.compiler, self.scratch = cmake, compiler, scratch

    def configure(self, source, name, *options):
        build = self.scratch / name
        run(self.cmake, "-G", "Ninja", "-S", source, "-B", build,
            f"-DCMAKE_CXX_COMPILER={self.compiler}", *options)
        return build

    def build(self, build):
        run(self.cmake, "--build", build)

    def install(self, build, prefix, **environment):
        run(self.cmake, "--install", build, "--prefix", prefix, **environment)

    def use_find_package(self, prefix, name, *options):
        build = self.configure(CONSUMER, name, f"-DCMAKE_PREFIX_PATH={prefix}", *options)
        self.build(build)
        run(build / "program")

    def use_pkg_config(self, prefix, include, name="lockstep"):
        expect(shutil.which("pkg-config"), "pkg-config is not installed")
        path = next(prefix.rglob(f"{name}.pc")).parent
        asked = ["pkg-config", "--cflags", "--libs", name]
        said = subprocess.run(asked, check=True, capture_output=True, text=True,
                              env={**os.environ, "PKG_CONFIG_PATH": str(path)}).stdout
        flags = shlex.split(said)
        named = [Path(flag[2:]).resolve() for flag in flags if flag.startswith("-I")]
        expect(named == [include], f"pkg-config names {named}, not {include}: {said}")
        program = self.scratch / "program"
        run(self.compiler, "-std=c++11", LOCKS_ONLY, *sorted(CONSUMER.glob("*.cpp")), *flags, "-o", program)
        libraries = ":".join(flag[2:] for flag in flags if flag.startswith("-L"))
        run(program, LD_LIBRARY_PATH=libraries)


def moved(tools, build):
    """Installed, then moved to a path with a space in it."""
    tools.install(build, tools.scratch / "first")
    prefix = (tools.scratch / "first").rename(tools.scratch / "moved there")
    for name in ("include/thread_synchronizer.h", "share/doc/lockstep/LICENSE"):
        expect((prefix / name).is_file(), f"{name} is not installed")
    tools.use_find_package(prefix, "moved-consumer")
    tools.use_pkg_config(prefix, prefix / "include")


def what_is_missing_is_named(tools):
    """Whoever asks for the tests on a clean machine is told all that is missing, and how to go without."""
    build = tools.scratch / "asks for tests"
    asked = [tools.cmake, "-G", "Ninja", "-S", SOURCE, "-B", build, f"-DCMAKE_CXX_COMPILER={tools.compiler}",
             *CLEAN_MACHINE, "-DLOCKSTEP_BUILD_TESTS=ON", "-DLOCKSTEP_BUILD_EXAMPLES=ON"]
    done = subprocess.run([str(c) for c in asked], capture_output=True, text=True)
    expect(done.returncode != 0, "configuring the tests succeeds without what they need")
    for named in (*PACKAGES, *PACKAGES.values(), "LOCKSTEP_BUILD_TESTS", "LOCKSTEP_BUILD_EXAMPLES"):
        expect(named in done.stderr, f"'{named}' is not named as missing:\n{done.stderr}")


def compiled(tools):
    """lockstep::compiled by find_package and by pkg-config: static, as moved() has installed it, and shared."""
    tools.use_find_package(tools.scratch / "moved there", "compiled-consumer-static", "-DLIBRARY=compiled",
                           f"-DCMAKE_CXX_FLAGS={LOCKS_ONLY}")
    build = tools.configure(SOURCE, "compiled-shared", *CLEAN_MACHINE, "-DBUILD_SHARED_LIBS=ON",
                            "-DCMAKE_BUILD_TYPE=Debug")
    tools.build(build)
    tools.install(build, tools.scratch / "compiled first")
    prefix = (tools.scratch / "compiled first").rename(tools.scratch / "compiled there")
    tools.use_find_package(prefix, "compiled-consumer-shared", "-DLIBRARY=compiled")
    tools.use_pkg_config(prefix, prefix / "include", "lockstep-compiled")


def links_by_function(tools):
    """What a program does not use of the static library is not in it; that CMake and pkg-config say so."""
    program = tools.scratch / "compiled-consumer-static" / "program"
    symbols = subprocess.run(["nm", "-C", str(program)], check=True, capture_output=True, text=True).stdout
    expect("wait_engine" in symbols, "nm shows no symbols")
    for unused in ("team_core", "flow_machine", "graph_model"):
        expect(unused not in symbols, f"'{unused}' is in a program that uses an event")
    said = subprocess.run(["pkg-config", "--libs", "lockstep-compiled"], check=True, capture_output=True, text=True,
                          env={**os.environ, "PKG_CONFIG_PATH": str(tools.scratch / "moved there/share/pkgconfig")})
    expect("gc-sections" in said.stdout, f"pkg-config leaves in what is not used: {said.stdout}")


def components(tools):
    """What is not installed is not found, and it is said how to get it."""
    text = "cmake_minimum_required(VERSION 3.22)\nproject(asks LANGUAGES CXX)\n"
    for prefix, asked, missing in (
            ("moved there", "COMPONENTS compiled static", ""),
            ("moved there", "COMPONENTS compiled shared", "shared.*BUILD_SHARED_LIBS=ON"),
            ("moved there", "COMPONENTS compiled OPTIONAL_COMPONENTS shared", ""),
            ("compiled there", "COMPONENTS shared", ""),
            ("compiled there", "COMPONENTS static", "static.*BUILD_SHARED_LIBS=OFF"),
            ("compiled there", "COMPONENTS tool", "tool.*LOCKSTEP_BUILD_TOOL=ON"),
            ("compiled there", "OPTIONAL_COMPONENTS tool unheard-of", ""),
            ("prefix", "COMPONENTS compiled", "compiled.*LOCKSTEP_BUILD_COMPILED=ON"),
            ("prefix", "COMPONENTS unheard-of", "no component 'unheard-of'"),
            ("prefix", "", "")):
        text += (f"unset(lockstep_DIR CACHE)\n"
                 f"find_package(lockstep CONFIG QUIET {asked} NO_DEFAULT_PATH PATHS \"{tools.scratch / prefix}\")\n"
                 f"if(NOT lockstep_FOUND EQUAL {int(not missing)} OR NOT lockstep_NOT_FOUND_MESSAGE MATCHES \"{missing}\")\n"
                 f"  message(FATAL_ERROR \"{prefix}, {asked}: ${{lockstep_FOUND}} ${{lockstep_NOT_FOUND_MESSAGE}}\")\n"
                 f"endif()\n")
    asks = tools.scratch / "asks for components"
    asks.mkdir()
    (asks / "CMakeLists.txt").write_text(text, encoding="utf-8")
    tools.configure(asks, "asks for components/build")


def tool(tools):
    """Installed with the rest, it runs, and needs no library that a machine without our packages does not have."""
    build = tools.configure(SOURCE, "tool", "-DLOCKSTEP_BUILD_TOOL=ON", "-DLOCKSTEP_BUILD_COMPILED=OFF",
                            "-DCMAKE_BUILD_TYPE=Debug", *(o for o in CLEAN_MACHINE if "GTest" in o or "Boost" in o))
    tools.build(build)
    tools.install(build, tools.scratch / "tool first")
    prefix = (tools.scratch / "tool first").rename(tools.scratch / "tool there")
    command = prefix / "bin" / "lockstep"
    run(command, "--help")
    needed = subprocess.run(["readelf", "-d", str(command)], check=True, capture_output=True, text=True).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", needed)
    foreign = [name for name in needed if not re.match(r"(libc|libm|ld-linux.*|libstdc\+\+|libgcc_s)\.so", name)]
    expect(needed and not foreign, f"the command needs {needed}")
    asks = tools.scratch / "asks for tool"
    asks.mkdir()
    (asks / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(asks LANGUAGES CXX)\n"
        "find_package(lockstep CONFIG REQUIRED COMPONENTS tool)\n"
        "add_custom_target(asked ALL COMMAND lockstep::tool --help)\n", encoding="utf-8")
    tools.build(tools.configure(asks, "asks for tool/build", f"-DCMAKE_PREFIX_PATH={prefix}"))


def first_page(tools):
    """What README.md has for CMakeLists.txt works as it stands: found, and fetched from a place that is given."""
    blocks = re.findall(r"```cmake\n(.*?)```", (SOURCE / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    expect([word for block in blocks for word in ("find_package", "FetchContent") if word in block]
           == ["find_package", "FetchContent"], f"README.md has other blocks: {blocks}")
    for number, block in enumerate(blocks):
        for library in ("lockstep",) if BRIEF or number == 0 else ("lockstep", "compiled"):
            project = tools.scratch / f"first page {number} {library}"
            project.mkdir()
            (project / "CMakeLists.txt").write_text(
                "cmake_minimum_required(VERSION 3.22)\nproject(first_page LANGUAGES CXX)\n"
                f'add_executable(program "{CONSUMER}/program.cpp" "{CONSUMER}/second_unit.cpp")\n'
                + block.replace("lockstep::lockstep", f"lockstep::{library}"), encoding="utf-8")
            build = tools.configure(project, project / "build", f"-DCMAKE_PREFIX_PATH={tools.scratch / 'moved there'}",
                                    f"-DFETCHCONTENT_SOURCE_DIR_LOCKSTEP={SOURCE}", "-DCMAKE_BUILD_TYPE=Debug",
                                    f"-DCMAKE_CXX_FLAGS={LOCKS_ONLY}", *CLEAN_MACHINE)
            tools.build(build)
            run(build / "program")


def staged(tools, build):
    """Installed for a prefix, but below DESTDIR, as packages are made."""
    root = tools.scratch / "root"
    tools.install(build, "/opt/ours", DESTDIR=str(root))
    prefix = root / "opt" / "ours"
    tools.use_pkg_config(prefix, prefix / "include")


def other_versions_are_refused(tools):
    """Before 1.0 each minor version is another library."""
    text = "cmake_minimum_required(VERSION 3.22)\nproject(asks LANGUAGES CXX)\n"
    for version, good in (("0.0", 0), ("0.2", 0), ("1.0", 0), ("0.1", 1), ("0.1.0", 1)):
        text += (f"find_package(lockstep {version} CONFIG QUIET)\n"
                 f"if(NOT lockstep_FOUND EQUAL {good})\n  message(FATAL_ERROR \"{version}\")\nendif()\n")
    asks = tools.scratch / "asks"
    asks.mkdir()
    (asks / "CMakeLists.txt").write_text(text, encoding="utf-8")
    tools.configure(asks, "asks/build", f"-DCMAKE_PREFIX_PATH={tools.scratch / 'moved there'}")


def absolute_directories(tools):
    """Headers, and then everything, at absolute paths away from the prefix."""
    include = tools.scratch / "headers elsewhere"
    build = tools.configure(SOURCE, "absolute", *HEADERS_ONLY, f"-DCMAKE_INSTALL_INCLUDEDIR={include}")
    prefix = tools.scratch / "prefix"
    tools.install(build, prefix)
    tools.use_find_package(prefix, "absolute-consumer", f"-DCMAKE_CXX_FLAGS={LOCKS_ONLY}")
    tools.use_pkg_config(prefix, include)

    prefix, data = tools.scratch / "prefix2", tools.scratch / "data"
    build = tools.configure(SOURCE, "absolute2", *HEADERS_ONLY, f"-DCMAKE_INSTALL_PREFIX={prefix}",
                            f"-DCMAKE_INSTALL_DATADIR={data}")
    run(tools.cmake, "--install", build)
    tools.use_pkg_config(data, prefix / "include")
    tools.use_find_package(prefix, "absolute2-consumer", f"-Dlockstep_DIR={data}/cmake/lockstep",
                           f"-DCMAKE_CXX_FLAGS={LOCKS_ONLY}")


def part_of_a_parent(tools):
    """As a subdirectory: the parent finds what we need, and installs nothing of ours unless it asks for it."""
    for name, options, found in (("parent", [], 0), ("parent that installs us", ["-DLOCKSTEP_INSTALL=ON"], 1)):
        build = tools.configure(HERE / "parent", name, f"-DLOCKSTEP_SOURCE={SOURCE}",
                                f"-DCONSUMER={CONSUMER}", f"-DCMAKE_CXX_FLAGS={LOCKS_ONLY}", *options)
        tools.build(build)
        run(build / "program")
        prefix = tools.scratch / f"{name} prefix"
        tools.install(build, prefix)
        expect((prefix / "bin" / "program").is_file(), "the parent's program is not installed")
        ours = [p for p in prefix.rglob("*") if p.is_file() and p.name != "program"]
        expect(bool(ours) == bool(found), f"{name}: {len(ours)} files of ours are installed")


def main(argv):
    cmake, build, compiler = argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        tools = Toolchain(cmake, compiler, Path(directory).resolve())
        moved(tools, build)
        what_is_missing_is_named(tools)
        compiled(tools)
        links_by_function(tools)
        staged(tools, build)
        other_versions_are_refused(tools)
        absolute_directories(tools)
        components(tools)
        first_page(tools)
        if not BRIEF:
            tool(tools)
        part_of_a_parent(tools)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
