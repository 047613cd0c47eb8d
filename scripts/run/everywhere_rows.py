# SPDX-License-Identifier: MIT
"""The table of ./do everywhere: systems, machines and compilers, how programs get there, and what is run on each."""

from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Sources of tests that need nothing but threads, so that they run on every system.
ANYWHERE = (
    "platform/atomic", "platform/clock", "contract/notify_wait_contract", "contract/lock_contract",
    "contract/barrier_contract", "contract/opening_contract", "sync/event", "sync/barrier", "sync/mutex", "team/team",
    "team/member_sync", "loop/partition", "reduce/reductions", "graph/graph", "graph/plan",
)
# What asks the system beneath; Linux only.
LINUX = (*ANYWHERE, "platform/system", "platform/process_fence", "platform/futex", "platform/futex_linux",
         "platform/this_thread", "wait/parking_lot")
# The wait engine on a scripted system: its clock and its sleep are the test's.
SCRIPTED = ("wait/wait_engine", "wait/queued_word", "wait/wait_engine_word")
# On a processor without instructions that the usual one has.
OTHER_PROCESSOR = ("platform/atomic", "platform/futex", "contract/notify_wait_contract", "sync/mutex", "team/team")
# With --quick: these sources.
BRIEF = ("contract/notify_wait_contract", "team/team")

EXAMPLES = ("04_binary_oscillator", "06_cycle_scheduler_finite", "10_constructs", "15_graph_parallel")
STANDARDS = (11, 14, 17, 20, 23)

# The part whose program must not compile: whether it is refused is counted as passed or failed.
REFUSED = "refused"

# Tests that are not asked to run: as GoogleTest filters name them, and why.
NOTHING_LEFT_OUT = ("", "")
NO_CHILDREN = ("*_death.*:*_misuse.*", "tests that start their own program anew or fork")
FEW_THREADS = (f"{NO_CHILDREN[0]}:*.terminate_while_the_waiter_falls_asleep_*:*_may_destroy_*",
               f"{NO_CHILDREN[1]}, or that start thousands of threads")
NOT_EMULATED = (f"{FEW_THREADS[0]}:*_on_one_cpu.*:process_fence_test.FENCE_1_holds_*:process_fence_test.heavy_says_*",
                f"{FEW_THREADS[1]}, or that ask for one CPU or a filter of system calls")

NATIVE, QEMU, WINE, NODE, CHROMIUM, NOTHING = "natively", "QEMU", "Wine", "Node", "headless Chromium", "not run"


@dataclass(frozen=True)
class Row:
    """One system, machine and compiler. Parts are methods of everywhere_work.Work, named make_PART."""
    name: str
    system: str
    architecture: str
    compiler: tuple  # the command; ("zig", VERSION) is Zig's C++ compiler from the Python package index
    parts: tuple
    needs: tuple = ()  # groups of install.sh
    how: str = NATIVE
    runner: tuple = ()  # before the program
    flags: tuple = ()  # to compile and to link
    link: tuple = ()
    sources: tuple = ANYWHERE
    left_out: tuple = NO_CHILDREN
    suffix: str = ""
    limit: int = 240  # seconds of one program
    compile_limit: int = 600
    environment: dict = field(default_factory=dict)
    other_processor: str = ""  # a model that QEMU emulates, which runs OTHER_PROCESSOR as well
    quick_parts: tuple = ()  # what of them --quick makes
    quick_compiler: tuple = ()  # for --quick, where another one takes less time
    remark: str = ""


def gcc(machine, triple, qemu=None, **more):
    """Debian's cross compiler and QEMU, or what the processor runs by itself."""
    settings = {"system": "Linux, glibc", "architecture": machine, "compiler": (f"{triple}-g++",), "link": ("-static",),
                "parts": ("tests", "scripted", "jacobi", "examples"), "sources": LINUX}
    if qemu:
        settings.update(how=QEMU, runner=(f"qemu-{qemu}",), left_out=NOT_EMULATED, needs=("emulator", f"for_{machine}"))
    return Row(**{"name": f"linux-{machine}", **settings, **more})


def standards(name, compiler, **more):
    """A compiler of this machine: all headers in each standard, and a small program."""
    settings = {"system": "Linux, glibc", "architecture": "x86_64", "parts": ("standards",)}
    return Row(name=name, compiler=compiler, **{**settings, **more})


def in_debian(group, *program):
    return (str(ROOT / "scripts" / "run" / "in_debian.sh"), group, *program)


def debian(name, group, program, **more):
    """A compiler of another release of Debian. It and its programs run there."""
    there = in_debian(group)
    return standards(name, (*there, program), runner=there, needs=("releases", group),
                     remark="compiled and run with the libraries of another release of Debian", **more)


def zig(name, version, target, **more):
    settings = {"compiler": ("zig", version), "flags": ("-target", target), "needs": ("python_venv",)}
    return Row(name=name, **{**settings, **more})


NEWEST_ZIG = "0.17.1"


def bsd(system):
    return zig(f"{system.lower()}-x86_64", NEWEST_ZIG, f"x86_64-{system.lower()}", system=system, architecture="x86_64",
               how=NOTHING, parts=("link",), remark=f"no {system} is at hand")


MINGW = {"system": "Windows", "architecture": "x86_64", "how": WINE, "runner": ("wine",), "suffix": ".exe",
         "link": ("-static",), "parts": ("tests", "jacobi", "examples"), "needs": ("windows", "wine"),
         "left_out": FEW_THREADS, "environment": {"WINEDEBUG": "-all"}}
APPLE = {"system": "macOS", "how": NOTHING, "parts": ("link", "openmp"), "needs": ("python_venv", "libomp"),
         "remark": "no Mac is at hand"}

EMSCRIPTEN_LINK = ("-sPROXY_TO_PTHREAD=1", "-sEXIT_RUNTIME=1", "-sINITIAL_MEMORY=268435456")
WASM = {"system": "WebAssembly", "architecture": "wasm32", "compiler": ("em++",), "needs": ("wasm", "browser"),
        "flags": ("-pthread", "-fexceptions"), "left_out": FEW_THREADS}

ROWS = (
    # Linux, GCC, the machines of Debian
    gcc("x86_64", "x86_64-linux-gnu", compiler=("g++",), link=(), left_out=NOTHING_LEFT_OUT, needs=("build",)),
    gcc("i386", "i686-linux-gnu", needs=("for_i386", "clang"), quick_parts=("tests",),
        quick_compiler=("clang++-19", "--target=i686-linux-gnu"), flags=("-msse2", "-mfpmath=sse"),
        remark="compiled with -msse2 -mfpmath=sse. With x87's arithmetic, GCC's default there, a sum depends on which "
        "intermediate values are stored: tests of sums with equal bits fail"),
    # With and without the atomic instructions of ARMv8.1: GCC's code chooses when it runs.
    gcc("aarch64", "aarch64-linux-gnu", "aarch64", quick_parts=("examples",),
        other_processor="cortex-a53"),
    gcc("armhf", "arm-linux-gnueabihf", "arm"),
    gcc("riscv64", "riscv64-linux-gnu", "riscv64"),
    gcc("ppc64le", "powerpc64le-linux-gnu", "ppc64le"),
    gcc("s390x", "s390x-linux-gnu", "s390x", remark="big-endian"),
    # Other C libraries and C++ libraries
    Row("linux-x86_64-libcxx", "Linux, glibc", "x86_64", ("clang++-19",), ("tests", "scripted", "jacobi", "standards"),
        ("clang", "libcxx"), flags=("-stdlib=libc++",), sources=LINUX, left_out=NOTHING_LEFT_OUT),
    zig("linux-x86_64-musl", NEWEST_ZIG, "x86_64-linux-musl", system="Linux, musl", architecture="x86_64",
        parts=("tests", "jacobi", "examples"), sources=ANYWHERE),
    # Windows
    Row("windows-posix", compiler=("x86_64-w64-mingw32-g++-posix",), quick_parts=("tests", "jacobi"), **MINGW),
    zig("windows-win32", NEWEST_ZIG, "x86_64-windows-gnu", **{**MINGW, "needs": ("python_venv", "wine"), "link": ()},
        remark="threads of Win32, in libc++"),
    Row("windows-mingw-win32", compiler=in_debian("newest_mingw", "x86_64-w64-mingw32-g++-win32"),
        **{**MINGW, "needs": ("releases", "newest_mingw", "wine")},
        remark="threads of Win32, in libstdc++, from GCC 13 on; the compiler is of another release of Debian"),
    Row("windows-no-threads", compiler=("x86_64-w64-mingw32-g++-win32",), **{**MINGW, "parts": ("jacobi", REFUSED)},
        remark="GCC 12 with Win32 threads has no std::thread, which the tests need: thread.hpp and condition_variable.hpp are "
        "refused with a message, the rest is there"),
    # WebAssembly. Emscripten 3.1.6 knows of fetch in pages only, and takes Node's for that of a page.
    Row("wasm-node", parts=("tests", "jacobi", "examples"), how=NODE, runner=("node", "--no-experimental-fetch"),
        suffix=".js", link=(*EMSCRIPTEN_LINK, "-sPTHREAD_POOL_SIZE=8"), **WASM),
    Row("wasm-chromium", parts=("page",), how=CHROMIUM, suffix=".js",
        link=(*EMSCRIPTEN_LINK, "-sPTHREAD_POOL_SIZE=6"), **WASM),
    # Systems that no machine here runs
    zig("macos-aarch64", "0.13.0", "aarch64-macos", architecture="aarch64", **APPLE),
    zig("macos-x86_64", "0.13.0", "x86_64-macos", architecture="x86_64", **APPLE),
    bsd("FreeBSD"),
    bsd("OpenBSD"),
    bsd("NetBSD"),
    # Compilers, from the oldest that the package indexes have
    debian("gcc-9", "oldest_compilers", "g++-9"),
    debian("gcc-10", "oldest_compilers", "g++-10"),
    standards("gcc-11", ("g++-11",), needs=("old_gcc",)),
    standards("gcc-12", ("g++-12",), needs=("build",)),
    debian("gcc-13", "newest_compilers", "g++-13"),
    debian("gcc-14", "newest_compilers", "g++-14"),
    debian("gcc-15", "newest_compilers", "g++-15"),
    debian("gcc-newest", "newest_compilers", "g++-16", parts=("standards", "tests"), sources=LINUX),
    debian("clang-9", "oldest_compilers", "clang++-9"),
    debian("clang-11", "oldest_compilers", "clang++-11"),
    zig("clang-12", "0.8.1", "x86_64-linux-gnu", system="Linux, glibc", architecture="x86_64", parts=("standards",)),
    standards("clang-13", ("clang++-13",), needs=("old_clang",)),
    standards("clang-14", ("clang++-14",), needs=("old_clang",)),
    standards("clang-15", ("clang++-15",), needs=("old_clang",)),
    standards("clang-16", ("clang++-16",), needs=("old_clang",)),
    zig("clang-17", "0.12.1", "x86_64-linux-gnu", system="Linux, glibc", architecture="x86_64", parts=("standards",)),
    zig("clang-18", "0.13.0", "x86_64-linux-gnu", system="Linux, glibc", architecture="x86_64", parts=("standards",)),
    standards("clang-19", ("clang++-19",), needs=("clang",)),
    zig("clang-20", "0.15.2", "x86_64-linux-gnu", system="Linux, glibc", architecture="x86_64", parts=("standards",)),
    debian("clang-21", "newest_compilers", "clang++-21"),
    zig("clang-22", NEWEST_ZIG, "x86_64-linux-gnu", system="Linux, glibc", architecture="x86_64", parts=("standards",)),
    debian("clang-newest", "newest_compilers", "clang++-23", parts=("standards", "tests"), sources=LINUX),
)
