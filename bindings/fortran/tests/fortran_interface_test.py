#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does lockstep.f90 declare every function of lockstep.h, with arguments of its types?

usage: fortran_interface_test.py

What is compared is each argument's type and whether it goes by value, the result, and the constants.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "c" / "tests"))
sys.dont_write_bytecode = True
import interface_test  # noqa: E402

MODULE = HERE.parent / "lockstep.f90"
# Another function does the same.
WITHOUT = {"lockstep_team_for_range": "lockstep_team_for_range_by"}
NUMBERS = {"size_t": "integer(c_size_t)", "int64_t": "integer(c_int64_t)", "uint64_t": "integer(c_int64_t)",
           "int": "integer(c_int)", "double": "real(c_double)", "float": "real(c_float)"}


def in_c(declaration, name):
    """The result and the arguments, in the words of Fortran."""
    result, arguments = re.match(rf"(.*?)\s*\b{name}\((.*)\)$", declaration).groups()
    found = []
    for argument in [] if arguments == "void" else arguments.split(","):
        kind = re.match(r"(.*?)\s*\w+$", argument.strip()).group(1).replace("const ", "")
        if kind.endswith("_fn"):
            found.append("type(c_funptr), value")
        elif kind == "char*":
            found.append("text")
        elif kind == "lockstep_team_options*":
            found.append("type(c_options)")
        elif re.fullmatch(r"lockstep_\w+\*\*", kind):
            found.append("type(c_ptr)")
        elif kind.startswith("lockstep_") or kind == "void*":
            found.append("type(c_ptr), value")
        elif kind.endswith("*"):
            found.append(NUMBERS[kind[:-1]])
        else:
            found.append(NUMBERS[kind] + ", value")
    return {"void": "", "const char*": "type(c_ptr)"}.get(result) if result not in NUMBERS else NUMBERS[result], found


def functions_of_module(text):
    """Result and arguments of each procedure of an interface, by its name in C."""
    found = {}
    pattern = r"^ {4}(function|subroutine) (\w+)\((.*?)\)[\s&]*bind\(c(?:, name=\"(\w+)\")?\)(?: result\((\w+)\))?\n(.*?)^ {4}end \1"
    for match in re.finditer(pattern, text, flags=re.MULTILINE | re.DOTALL):
        kind, name, arguments, in_c_name, result, body = match.groups()
        types = {}
        for line in body.splitlines():
            declared = re.match(r"\s*(.*?) :: (.*)$", line)
            if declared:
                what = re.sub(r", intent\(\w+\)", "", declared.group(1))
                for variable in re.split(r",\s*(?![^()]*\))", declared.group(2)):
                    bare = variable.strip().split("(")[0]
                    types[bare] = "text" if what == "character(kind=c_char)" else what
        names = [each.strip() for each in arguments.split(",") if each.strip()]
        found[in_c_name or name] = ("" if kind == "subroutine" else types[result], [types[each] for each in names])
    return found


def main():
    header = interface_test.HEADER.read_text(encoding="utf-8")
    module = MODULE.read_text(encoding="utf-8")
    declared = interface_test.declarations(header)
    bound = functions_of_module(module)
    wrong = []
    for name, declaration in sorted(declared.items()):
        if name not in bound:
            if name not in WITHOUT:
                wrong.append(f"not in the module: {name}")
            continue
        ours, theirs = bound[name], in_c(declaration, name)
        # A file that may be null is a pointer.
        same = len(ours[1]) == len(theirs[1]) and all(
            a == b or (a == "type(c_ptr), value" and b == "text") for a, b in zip(ours[1], theirs[1]))
        if ours[0] != theirs[0] or not same:
            wrong.append(f"{name}: {ours} in Fortran, {theirs} in C")
    for name in sorted(set(bound) - set(declared)):
        if name.startswith("lockstep_") and not name.endswith(("_fn", "_hook")):
            wrong.append(f"not in lockstep.h: {name}")
    constants = dict(re.findall(r"\b(LOCKSTEP_[A-Z_0-9]+) = (-?\d+)", header))
    ours = dict(re.findall(r"\b(lockstep_\w+) = (-?\d+)", module))
    for name, value in ours.items():
        theirs = constants.get(name.upper())
        if theirs is None:
            theirs = next(iter(re.findall(rf"#define {name.upper()} INT64_C\((-?\d+)\)", header)), None)
        if theirs != value:
            wrong.append(f"{name} is {value}, in lockstep.h {theirs}")
    for line in wrong:
        print(line)
    print(f"{len(bound)} procedures, {len(ours)} constants, {len(wrong)} complaints")
    return 1 if wrong or not bound or not ours else 0


if __name__ == "__main__":
    sys.exit(main())
