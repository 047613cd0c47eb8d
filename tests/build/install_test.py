#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is the library built by a compiler and CMake alone, and is it found and usable: installed, moved, staged, at absolute
paths, as a part of another project? Is the header to copy there?

usage: install_test.py cmake compiler
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
BRIEF = "LOCKSTEP_TEST_BRIEF" in os.environ  # by night: the headers to copy, absolute paths, other projects, the shared library, the tool
# For those that show how the library is found, after the first have shown that all of it is there.
LOCKS_ONLY = "-DCONSUMER_LOCKS_ONLY"
# What tests, examples, benchmarks and the tool need, and the Debian packages that have it.
PACKAGES = {"GTest": "libgtest-dev", "Boost": "libboost-context-dev", "Python3": "python3", "CLI11": "libcli11-dev",
            "fmt": "libfmt-dev", "nlohmann_json": "nlohmann-json3-dev"}
# A machine with a compiler and CMake only, as far as CMake sees.
CLEAN_MACHINE = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON" for package in PACKAGES]
# The library is a minute's work for the optimiser, which has no part in this.
QUICK = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0"]
# By night it has one: the strongest optimiser's warnings see most.
STRONG = ["-DCMAKE_CXX_FLAGS_DEBUG=-O3 -march=native -Werror"]


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


def clean_machine(tools):
    """The three commands of README.md, with no option that asks for anything, and none of our packages there."""
    build = tools.scratch / "clean"
    run(tools.cmake, "-S", SOURCE, "-B", build, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={tools.compiler}", *CLEAN_MACHINE, *QUICK,
        *(["-DLOCKSTEP_THREAD_SANITIZER=OFF", "-DLOCKSTEP_UNITS=src/lockstep_checked.cpp"] if BRIEF else STRONG))
    tools.build(build)
    made = {path.name for path in build.iterdir()}
    expect("liblockstep.a" in made and not made & {"tests", "examples", "bench", "tool"}, f"built are {made}")
    tools.install(build, tools.scratch / "first")
    return build


def moved(tools):
    """Installed, then moved to a path with a space in it: both ways, by find_package and by pkg-config."""
    prefix = (tools.scratch / "first").rename(tools.scratch / "moved there")
    for name in ("include/thread_synchronizer.h", "share/doc/lockstep/LICENSE"):
        expect((prefix / name).is_file(), f"{name} is not installed")
    tools.use_find_package(prefix, "consumer-static", f"-DCMAKE_CXX_FLAGS={LOCKS_ONLY}")
    tools.use_pkg_config(prefix, prefix / "include")
    if BRIEF:
        return
    one_header = prefix / "include/lockstep-header-only"
    tools.use_find_package(prefix, "consumer-header-only", "-DLIBRARY=header_only", f"-DCMAKE_CXX_FLAGS={LOCKS_ONLY}")
    tools.use_pkg_config(prefix, one_header, "lockstep-header-only")
    nothing_to_link(tools, prefix / "include")
    thread_sanitizer(tools, prefix)


def nothing_to_link(tools, include):
    """The drop-in, by the command of the original."""
    program = tools.scratch / "drop_in"
    run(tools.compiler, "-Wall", "-std=c++11", "-O3", "-I", include, "-o", program, HERE / "drop_in" / "sample.cpp")
    run(program)


def thread_sanitizer(tools, prefix):
    """A program that is compiled with it finds its part of the library; where the library has none, that is said."""
    flags = ["-fsanitize=thread", "-std=c++11", "-pthread", f"-I{prefix / 'include'}"]
    program = tools.scratch / "sanitized"
    run(tools.compiler, *flags, *sorted(CONSUMER.glob("*.cpp")), prefix / "lib/liblockstep.a", "-o", program)
    symbols = subprocess.run(["nm", "-C", str(program)], check=True, capture_output=True, text=True).stdout
    expect("lockstep::v0c_tsan::" in symbols and "lockstep::v0c::" not in symbols, "the program has not the sanitized library")
    done = subprocess.run([tools.compiler, *flags, "-DLOCKSTEP_WITHOUT_THREAD_SANITIZER=1", "-fsyntax-only",
                           str(CONSUMER / "program.cpp")], check=False, capture_output=True, text=True)
    expect(done.returncode != 0 and "LOCKSTEP_THREAD_SANITIZER=ON" in done.stderr, f"no remedy is named: {done.stderr}")


def what_is_missing_is_named(tools):
    """Whoever asks for the tests on a clean machine is told all that is missing, and how to go without."""
    build = tools.scratch / "asks for tests"
    asked = [tools.cmake, "-G", "Ninja", "-S", SOURCE, "-B", build, f"-DCMAKE_CXX_COMPILER={tools.compiler}",
             *CLEAN_MACHINE, "-DLOCKSTEP_BUILD_TESTS=ON", "-DLOCKSTEP_BUILD_EXAMPLES=ON"]
    done = subprocess.run([str(c) for c in asked], capture_output=True, text=True)
    expect(done.returncode != 0, "configuring the tests succeeds without what they need")
    for named in (*PACKAGES, *PACKAGES.values(), "LOCKSTEP_BUILD_TESTS", "LOCKSTEP_BUILD_EXAMPLES"):
        expect(named in done.stderr, f"'{named}' is not named as missing:\n{done.stderr}")


def links_by_function(tools):
    """What a program does not use of the static library is not in it; that CMake and pkg-config say so."""
    program = tools.scratch / "consumer-static" / "program"
    symbols = subprocess.run(["nm", "-C", str(program)], check=True, capture_output=True, text=True).stdout
    expect("wait_engine" in symbols, "nm shows no symbols")
    for unused in ("team_core", "flow_machine", "graph_model"):
        expect(unused not in symbols, f"'{unused}' is in a program that uses an event")
    said = subprocess.run(["pkg-config", "--libs", "lockstep"], check=True, capture_output=True, text=True,
                          env={**os.environ, "PKG_CONFIG_PATH": str(tools.scratch / "moved there/share/pkgconfig")})
    expect("gc-sections" in said.stdout, f"pkg-config leaves in what is not used: {said.stdout}")


def components(tools):
    """What is not installed is not found, and it is said how to get it."""
    text = "cmake_minimum_required(VERSION 3.22)\nproject(asks LANGUAGES CXX)\n"
    for prefix, asked, missing in (
            ("moved there", "", ""),
            ("moved there", "COMPONENTS static", ""),
            ("moved there", "COMPONENTS shared", "shared.*BUILD_SHARED_LIBS=ON"),
            ("moved there", "COMPONENTS static OPTIONAL_COMPONENTS shared", ""),
            ("shared there", "COMPONENTS shared", ""),
            ("shared there", "COMPONENTS static", "static.*BUILD_SHARED_LIBS=OFF"),
            ("shared there", "COMPONENTS tool", "tool.*LOCKSTEP_BUILD_TOOL=ON"),
            ("shared there", "OPTIONAL_COMPONENTS tool unheard-of", ""),
            ("moved there", "COMPONENTS header_only compiled", ""),
            ("moved there", "COMPONENTS single_header", ""),
            ("shared there", "COMPONENTS c", "'c'.*LOCKSTEP_BUILD_BINDINGS=ON"),
            ("shared there", "COMPONENTS openmp", "openmp.*LOCKSTEP_BUILD_OPENMP=ON"),
            ("shared there", "COMPONENTS unheard-of", "no component 'unheard-of'")):
        text += (f"unset(lockstep_DIR CACHE)\n"
                 f"find_package(lockstep CONFIG QUIET {asked} NO_DEFAULT_PATH PATHS \"{tools.scratch / prefix}\")\n"
                 f"if(NOT lockstep_FOUND EQUAL {int(not missing)} OR NOT lockstep_NOT_FOUND_MESSAGE MATCHES \"{missing}\")\n"
                 f"  message(FATAL_ERROR \"{prefix}, {asked}: ${{lockstep_FOUND}} ${{lockstep_NOT_FOUND_MESSAGE}}\")\n"
                 f"endif()\n")
    text += (f"unset(lockstep_DIR CACHE)\n"
             f"find_package(lockstep CONFIG QUIET COMPONENTS module NO_DEFAULT_PATH PATHS \"{tools.scratch / 'moved there'}\")\n"
             f"if(CMAKE_VERSION VERSION_LESS 3.28 AND NOT lockstep_NOT_FOUND_MESSAGE MATCHES \"needs CMake 3.28.*this is 3\")\n"
             f"  message(FATAL_ERROR \"module: ${{lockstep_FOUND}} ${{lockstep_NOT_FOUND_MESSAGE}}\")\n"
             f"endif()\n")
    asks = tools.scratch / "asks for components"
    asks.mkdir()
    (asks / "CMakeLists.txt").write_text(text, encoding="utf-8")
    tools.configure(asks, "asks for components/build")


def tool(tools):
    """Installed with the rest, it runs, and needs no library that a machine without our packages does not have."""
    build = tools.configure(SOURCE, "tool", "-DLOCKSTEP_BUILD_TOOL=ON", *QUICK, *(o for o in CLEAN_MACHINE if "GTest" in o or "Boost" in o))
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


def first_page():
    """What README.md and docs/packages.md have for CMakeLists.txt: the library found, and fetched."""
    blocks = {page: re.findall(r"```cmake\n(.*?)```", (SOURCE / page).read_text(encoding="utf-8"), re.DOTALL)
              for page in ("README.md", "docs/packages.md")}
    fetched = [block for block in blocks["docs/packages.md"] if "FetchContent_Declare" in block]
    expect(len(blocks["README.md"]) == len(fetched) == 1 and "find_package" in blocks["README.md"][0],
           f"the pages have other blocks: {blocks}")
    return blocks["README.md"] + fetched


def found(tools, block):
    """The first block works as it stands. Before 1.0 each minor version is another library: others are refused."""
    versions = ""
    for version, good in (("0.0", 0), ("0.8", 0), ("1.0", 0), ("0.9", 1), ("0.9.0", 1)):
        versions += (f"find_package(lockstep {version} CONFIG QUIET)\n"
                     f"if(NOT lockstep_FOUND EQUAL {good})\n  message(FATAL_ERROR \"{version}\")\nendif()\n")
    project = tools.scratch / "found"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(first_page LANGUAGES CXX)\n"
        f'add_executable(program "{CONSUMER}/program.cpp" "{CONSUMER}/second_unit.cpp")\n' + versions + block, encoding="utf-8")
    build = tools.configure(project, project / "build", f"-DCMAKE_PREFIX_PATH={tools.scratch / 'moved there'}",
                            *QUICK, f"-DCMAKE_CXX_FLAGS={LOCKS_ONLY}")
    tools.build(build)
    run(build / "program")


def staged(tools, build):
    """Installed for a prefix, but below DESTDIR, as packages are made."""
    root = tools.scratch / "root"
    tools.install(build, "/opt/ours", DESTDIR=str(root))
    prefix = root / "opt" / "ours"
    tools.use_pkg_config(prefix, prefix / "include")


def absolute_directories(tools, build):
    """Headers, and then everything but the library, at absolute paths away from the prefix."""
    include = tools.scratch / "headers elsewhere"
    run(tools.cmake, f"-DCMAKE_INSTALL_INCLUDEDIR={include}", build)
    prefix = tools.scratch / "prefix"
    tools.install(build, prefix)
    tools.use_find_package(prefix, "absolute-consumer", f"-DCMAKE_CXX_FLAGS={LOCKS_ONLY}")
    tools.use_pkg_config(prefix, include)

    prefix, data = tools.scratch / "prefix2", tools.scratch / "data"
    run(tools.cmake, "-DCMAKE_INSTALL_INCLUDEDIR=include", f"-DCMAKE_INSTALL_PREFIX={prefix}",
        f"-DCMAKE_INSTALL_DATADIR={data}", build)
    run(tools.cmake, "--install", build)
    tools.use_pkg_config(data, prefix / "include")
    tools.use_pkg_config(data, prefix / "include" / "lockstep-header-only", "lockstep-header-only")
    tools.use_find_package(prefix, "absolute2-consumer", f"-Dlockstep_DIR={data}/cmake/lockstep",
                           f"-DCMAKE_CXX_FLAGS={LOCKS_ONLY}")


def part_of_a_parent(tools, name, *has_it):
    """As a part, with shared libraries: the parent finds what we need, and installs nothing of ours unless it asks."""
    asked = [HERE / "parent", name, f"-DCONSUMER={CONSUMER}", f"-DCMAKE_CXX_FLAGS={LOCKS_ONLY}", *QUICK, *has_it]
    for option, is_found in (("-DLOCKSTEP_INSTALL=OFF", False), ("-DLOCKSTEP_INSTALL=ON", True)):
        build = tools.configure(*asked, *([option] if is_found else []))
        tools.build(build)
        run(build / "program")
        prefix = tools.scratch / f"{name} {option}"
        tools.install(build, prefix)
        expect((prefix / "bin" / "program").is_file(), "the parent's program is not installed")
        ours = [p for p in prefix.rglob("*") if p.is_file() and p.name != "program"]
        expect(bool(ours) == is_found, f"{name}, {option}: {len(ours)} files of ours are installed")
    return prefix


def shared(tools, prefix):
    """What a parent has installed of us, with shared libraries, and moved; for units that hide their symbols, too."""
    prefix = prefix.rename(tools.scratch / "shared there")
    tools.use_find_package(prefix, "consumer-shared", "-DCMAKE_CXX_FLAGS=-fvisibility=hidden")
    tools.use_pkg_config(prefix, prefix / "include")


def main(argv):
    cmake, compiler = argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        tools = Toolchain(cmake, compiler, Path(directory).resolve())
        build = clean_machine(tools)
        moved(tools)
        what_is_missing_is_named(tools)
        links_by_function(tools)
        find, fetch = first_page()
        found(tools, find)
        if BRIEF:
            return 0
        staged(tools, build)
        absolute_directories(tools, build)
        lines = tools.scratch / "fetch.cmake"
        lines.write_text(fetch, encoding="utf-8")
        fetched = [f"-DFIRST_PAGE={lines}", f"-DFETCHCONTENT_SOURCE_DIR_LOCKSTEP={SOURCE}"]
        shared(tools, part_of_a_parent(tools, "fetches", *fetched))
        components(tools)
        part_of_a_parent(tools, "has a subdirectory", f"-DLOCKSTEP_SOURCE={SOURCE}")
        tool(tools)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
