#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do lockstep.h, the library and the tests speak of the same functions?

usage: interface_test.py LIBRARY

The library exports what the header declares and nothing else, each name under the version that brought it. Its
SONAME has the major number of the header. Every function is called by a test in C, and refuses each pointer that must not be
null by its name. Of the functions of version 1.0 none has
gone and none has changed: their declarations are those of interface_1_0.txt. The code in docs/languages.md is that of the example.
"""

import ctypes
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
HEADER = HERE.parent / "lockstep.h"
FIRST = HERE.parent / "interface_1_0.txt"
EXAMPLE = HERE.parent / "example" / "smoothing.c"
PAGE = HERE.parents[2] / "docs" / "languages.md"


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)


def declarations(header):
    """What each function is declared as, on one line, by its name."""
    found = {}
    for match in re.finditer(r"LOCKSTEP_C_API ([^;]*\b(lockstep_\w+)\([^;]*\));", without_comments(header)):
        found[match.group(2)] = " ".join(match.group(1).split())
    return found


def types(header):
    """Types, constants and numbers that a program is compiled with."""
    text = without_comments(header)
    found = [" ".join(match.group(0).split()) for match in
             re.finditer(r"^(?:typedef\b[^;{]*(?:\{[^}]*\}[^;]*)?;|enum \{[^}]*\};)", text, flags=re.MULTILINE)]
    found += [" ".join(match.group(0).replace("\\\n", " ").split()) for match in
              re.finditer(r"^#define LOCKSTEP_(?:POLICY|FOREVER|LARGEST|TEAM)\w*(?:.*\\\n)*.*$", text, flags=re.MULTILINE)]
    return found


def exported(library):
    """Name and version of each symbol that the library defines, but for the versions themselves."""
    listing = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in listing.splitlines():
        kind, symbol = line.split()[-2:]
        if kind != "A":
            name, _, version = symbol.partition("@")
            found[name] = version.lstrip("@")
    return found


def soname(library):
    listing = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
    return re.search(r"soname: \[([^\]]*)\]", listing).group(1)


# What may be null, wherever it is a parameter, and in one function; and whose result says nothing of it.
MAY_BE_NULL = {"context", "length", "node", "poll", "options of lockstep_team_create", "file of lockstep_trace_stop",
               "name of lockstep_name_this_thread"}
TAKES_NULL = re.compile(r"_destroy|_stop_requested")
NUMBERS = {"int": ctypes.c_int(1), "size_t": ctypes.c_size_t(1), "int64_t": ctypes.c_int64(1), "uint64_t": ctypes.c_uint64(1),
           "double": ctypes.c_double(1), "float": ctypes.c_float(1)}


def takes_null(library, declared):
    """Each pointer that a function did not refuse. The other pointers lead to zeros: it must not look at what is there."""
    loaded, zeros, missed = ctypes.CDLL(library), ctypes.create_string_buffer(1 << 16), []
    loaded.lockstep_last_error.restype = ctypes.c_char_p
    for function, declaration in declared.items():
        if not declaration.startswith("int ") or TAKES_NULL.search(function):
            continue
        parameters = [re.fullmatch(r"(.*[ *])(\w+)", each.strip()).groups()
                      for each in re.search(r"\((.*)\)", declaration).group(1).split(",") if each.strip() != "void"]
        given = {name: NUMBERS.get(kind.strip(), ctypes.byref(zeros)) for kind, name in parameters}
        for kind, name in parameters:
            if kind.strip() in NUMBERS or MAY_BE_NULL & {name, f"{name} of {function}"}:
                continue
            code = getattr(loaded, function)(*{**given, name: None}.values())
            if code != -16 or loaded.lockstep_last_error() != f"{function}: '{name}' is a null pointer, and must not be".encode():
                missed.append(f"{name} of {function}")
    return missed


def main():
    library = sys.argv[1]
    header = HEADER.read_text(encoding="utf-8")
    wrong = []

    def compare(what, ours, theirs):
        wrong.extend(f"{what}: {name}" for name in sorted(set(ours) - set(theirs)))

    declared = declarations(header)
    symbols = exported(library)
    compare("declared, and not exported", declared, symbols)
    compare("exported, and not declared", symbols, declared)
    begun = FIRST.read_text(encoding="utf-8")
    wrong += [f"exported as {version}: {name}" for name, version in symbols.items()
              if (version == "LOCKSTEP_C_1.0") != (f"{name}(" in begun)]
    major = re.search(r"LOCKSTEP_C_VERSION_MAJOR (\d+)", header).group(1)
    if soname(library) != f"liblockstep_c.so.{major}":
        wrong.append(f"the soname is {soname(library)}, and the major number {major}")

    tests = "".join(path.read_text(encoding="utf-8") for path in sorted(HERE.glob("*_test.c")))
    compare("in no test", declared, re.findall(r"\b(lockstep_\w+)\(", tests))

    compare("taken though it is null", takes_null(library, declared), [])

    # What programs have been compiled with stays.
    first = begun.splitlines()
    now = set(declared.values()) | set(types(header))
    compare("of version 1.0, and gone or changed", [line for line in first if line and not line.startswith("#")], now)
    if major == "1" and "LOCKSTEP_C_VERSION_MINOR 0" in header:
        compare("not in interface_1_0.txt", now, first)

    code = "".join(re.findall(r"^```c\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL))
    compare("in docs/languages.md, and not in the example", [line for line in code.splitlines() if line.strip() != "..."],
            EXAMPLE.read_text(encoding="utf-8").splitlines())
    if not code:
        wrong.append("docs/languages.md has no code")

    for line in wrong:
        print(line)
    print(f"{len(declared)} functions, {len(symbols)} exported, {len(wrong)} complaints")
    return 1 if wrong or not declared else 0


if __name__ == "__main__":
    sys.exit(main())
