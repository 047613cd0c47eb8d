#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is namespace lockstep what public_names.txt says, no more and no less?

usage: public_names.py listed INCLUDE COMPILER [FLAG...]   each name can be used with its header alone
       public_names.py visible INCLUDE [COMPILER]          no other name can; and no detail shows through
       public_names.py write INCLUDE [COMPILER]            public_names.txt anew, from what is visible

public_names.txt has four kinds of lines, the last two of them exceptions that should not be:
  HEADER NAME                a class, function, constant or macro that users may name
  internal MACRO             a macro of the library's own, which only its headers use
  hidden HEADER NAME         a public name that is declared in a header below detail/
  leak HEADER CLASS::MEMBER  a public member, or a public function, whose type is one of lockstep::detail. What is
                             called detail::if_... is a condition on template arguments, and no type

'visible' reads the syntax tree of Clang, whatever compiler is tested. Without Clang it ends with status 77, which
ctest takes for "skipped".
"""

import re
import shutil
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LIST = Path(__file__).with_name("public_names.txt")
ROOT = LIST.parents[2]
SKIPPED = 77
UMBRELLAS = ("lockstep/lockstep.hpp", "lockstep/toolbox.hpp")
COMPATIBLE = "thread_synchronizer.h"
# Headers that need what not every system has: the umbrellas leave them out.
OPTIONAL = {"lockstep/mpi.hpp"}
# Programs and texts that show what users write.
SHOWN = ("README.md", "examples", "bench", "docs/coming-from-openmp.md", "docs/faq.md", "docs/what-a-loop-costs.md")

DECLARATION = re.compile(r"^(?P<indent>[ |`-]*)(?P<kind>[A-Z]\w+Decl) 0x\w+ (?P<rest>.*)$")
BASE = re.compile(r"^(?P<indent>[ |`-]*)public (?:virtual )?'(?P<type>[^']*)'")
PLACE = re.compile(r"([^\s<>,:'\"]+):\d+:\d+|<scratch space>:\d+:\d+")
NAMESPACE_SCOPE = ("CXXRecordDecl", "ClassTemplateDecl", "FunctionDecl", "FunctionTemplateDecl", "VarDecl", "EnumDecl",
                   "TypeAliasDecl", "TypeAliasTemplateDecl", "TypedefDecl", "UsingDecl", "NamespaceDecl",
                   "VarTemplateDecl", "NamespaceAliasDecl", "ConceptDecl")
MEMBERS = ("CXXRecordDecl", "ClassTemplateDecl", "CXXMethodDecl", "CXXConstructorDecl", "CXXConversionDecl",
           "FunctionTemplateDecl", "FieldDecl", "VarDecl", "EnumDecl", "TypeAliasDecl", "TypeAliasTemplateDecl",
           "TypedefDecl", "UsingDecl")
CONTAINERS = ("NamespaceDecl", "CXXRecordDecl", "ClassTemplateDecl", "FunctionTemplateDecl", "TypeAliasTemplateDecl",
              "ClassTemplateSpecializationDecl", "ClassTemplatePartialSpecializationDecl")
WORDS = {"referenced", "used", "implicit", "constexpr", "class", "struct", "union", "inline", "static", "extern",
         "invalid", "undeserialized", "mutable"}


class Node:
    """A declaration of the syntax tree. bases: types of its public base classes, as written."""

    def __init__(self, kind, name, types, flags, header, depth):
        self.kind, self.name, self.types, self.flags = kind, name, types, flags
        self.header, self.depth = header, depth
        self.children, self.bases = [], []


def parsed(kind, rest, header, depth):
    """A node from one line of the dump: <places> flags name 'type':'type' flags."""
    types = [text for text in re.findall(r"'([^']*)'", rest)]
    plain = re.sub(r"'[^']*'", "'", rest)
    plain = re.sub(r"^(?:parent 0x\w+ |prev 0x\w+ )*<(?:[^<>]|<scratch space>)*> ", "", plain)
    plain = re.sub(r"^(?:(?:line|col|[^\s]*\.\w+|<scratch space>|[^\s:]+):[\d:]+ )", "", plain)
    if kind == "CXXConversionDecl":
        return Node(kind, "operator", types, set(plain.split()), header, depth)
    before, _, after = plain.partition("'")
    words = before.split()
    flags = set(words) | set(after.split())
    named = [word for word in words if word not in WORDS and word not in ("definition", "explicit_specialization",
                                                                         "implicit_instantiation", "nested")]
    name = named[0] if named else ""
    if name == "operator" or (kind == "UsingDecl" and named):
        name = named[-1] if kind == "UsingDecl" else "".join(named[:2])
    return Node(kind, name, types, flags, header, depth)


def syntax_tree(lines, include):
    """The namespace blocks at the top of the dump."""
    roots, stack, header = [], [], ""
    for line in lines:
        shown = DECLARATION.match(line)
        if "/" in line:
            for place in PLACE.finditer(re.sub(r"'[^']*'|Text=\".*\"", "", line)):
                if place.group(1) not in (None, "line", "col"):
                    header = place.group(1)
        base = BASE.match(line) if not shown else None
        if base:
            depth = len(base.group("indent")) // 2
            for owner in [node for node in stack if node.depth == depth - 1]:
                owner.bases.append(base.group("type"))
        if not shown:
            continue
        depth = len(shown.group("indent")) // 2
        while stack and stack[-1].depth >= depth:
            stack.pop()
        if depth and (not stack or stack[-1].depth != depth - 1 or stack[-1].kind not in CONTAINERS):
            continue
        node = parsed(shown.group("kind"), shown.group("rest"), short(header, include), depth)
        (stack[-1].children if stack else roots).append(node)
        stack.append(node)
    return roots


def short(path, include):
    """The path of a header relative to include/."""
    return re.sub(r"[^/]+/\.\./", "", re.sub(r"[^/]+/\.\./", "", path)).split(f"{include}/")[-1]


def record_of(node):
    """The class that a declaration defines, if it does."""
    if node.kind == "ClassTemplateDecl":
        for child in node.children:
            if child.kind == "CXXRecordDecl":
                return child
    return node if node.kind in ("CXXRecordDecl", "ClassTemplateSpecializationDecl",
                                 "ClassTemplatePartialSpecializationDecl") else None


def public_members(record):
    """(declaration, types that it shows) of each public member."""
    is_public = "struct" in record.flags or "union" in record.flags
    for child in record.children:
        if child.kind == "AccessSpecDecl":
            is_public = child.name == "public" or "public" in child.flags
        elif is_public and child.kind in MEMBERS and not {"implicit", "delete"} & child.flags and child.name:
            inner = child.children[:] if child.kind in ("FunctionTemplateDecl", "TypeAliasTemplateDecl") else [child]
            shown = [each for each in inner if each.kind in MEMBERS] or [child]
            yield child, [each.types[0] for each in shown[:1] if each.types]


class Namespace:
    """What namespace lockstep has, from the syntax tree."""

    def __init__(self, roots):
        self.public = {}               # name: header of its first declaration
        self.declared = defaultdict(list)   # name: its declarations
        self.detail = defaultdict(list)     # the same in detail
        for root in roots:
            self.look_into(root, self.add_public)

    def look_into(self, namespace, add):
        for child in namespace.children:
            if child.kind == "NamespaceDecl" and "inline" in child.flags:
                self.look_into(child, add)
            elif child.kind == "NamespaceDecl" and (child.name == "detail" or add == self.add_detail):
                self.look_into(child, self.add_detail)
            else:
                add(child)

    def add_public(self, node):
        if "implicit" in node.flags or not node.name:
            return
        if node.kind in ("ClassTemplateSpecializationDecl", "ClassTemplatePartialSpecializationDecl"):
            self.declared[node.name].append(node)
        if node.kind not in NAMESPACE_SCOPE:
            return
        name = node.name.split("::")[-1]
        self.public.setdefault(name, node.header)
        record = record_of(node)
        if record is None or "definition" in record.flags:
            self.public[name] = node.header
        self.declared[name].append(node)

    def add_detail(self, node):
        if node.name and "implicit" not in node.flags:
            self.detail[node.name].append(node)

    def declarations(self, name):
        """Those of a public name; what is exported by 'using detail::name' is declared in detail."""
        for node in self.declared[name]:
            if node.kind == "UsingDecl":
                yield from self.detail.get(name, [])
            else:
                yield node

    def leaks(self):
        """{header CLASS::MEMBER: type} of what shows a type of detail."""
        found = {}
        for name, header in self.public.items():
            for node in self.declarations(name):
                in_detail = node in self.detail.get(name, [])
                record = record_of(node)
                if record is not None:
                    self.look_at(record, f"{header} {name}", in_detail, found, set())
                elif node.kind in ("FunctionDecl", "VarDecl") and node.types and self.is_detail(node.types[0], in_detail):
                    found[f"{header} {name}"] = node.types[0]
                elif node.kind == "FunctionTemplateDecl":
                    for each in node.children:
                        if each.kind == "FunctionDecl" and each.types and self.is_detail(each.types[0], in_detail):
                            found[f"{header} {name}"] = each.types[0]
        return found

    def look_at(self, record, title, in_detail, found, seen, is_base=False):
        """Collects the leaks of a class, of its nested classes and of its public base classes."""
        if id(record) in seen or "definition" not in record.flags:
            return
        seen.add(id(record))
        aliases = {child.name for child in record.children
                   if child.kind in ("TypeAliasDecl", "TypedefDecl") and child.types
                   and self.is_detail(child.types[0], in_detail)}
        for member, types in public_members(record):
            if is_base and (member.kind == "CXXConstructorDecl" or member.name == "operator="):
                continue
            if any(self.is_detail(text, in_detail) or self.names(text) & aliases for text in types):
                found[f"{title}::{member.name.split('<')[0]}"] = types[0]
            nested = record_of(member)
            if nested is not None:
                self.look_at(nested, f"{title}::{member.name}", in_detail, found, seen)
        for base in record.bases:
            name = re.sub(r"<.*", "", base).split("::")[-1]
            for node in self.detail.get(name, []):
                inherited = record_of(node)
                if inherited is not None:
                    self.look_at(inherited, title, True, found, seen, is_base=True)

    @staticmethod
    def names(text):
        return set(re.findall(r"(?<!::)\b[A-Za-z_]\w*\b", text))

    def is_detail(self, text, in_detail):
        """Whether a type, as written in namespace lockstep or in detail, is one of detail."""
        text = re.sub(r"(\bdetail::)?\bif_\w+<", "<", text)
        if re.search(r"\bdetail::", text):
            return True
        return in_detail and any(name in self.detail and name not in self.public for name in self.names(text))


def macros(include):
    """The macros that the headers define for any system, but for their guards."""
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(Path(include).rglob("*.h*")))
    return {name for name in re.findall(r"^ *# *define (\w+)", text, re.MULTILINE)
            if not re.fullmatch(r"LOCKSTEP_\w+_(HPP|H)|THREAD_SYNCHRONIZER_H", name)}


def public_headers(include):
    found = {path.relative_to(include).as_posix() for path in (Path(include) / "lockstep").glob("*.hpp")}
    return found - {*UMBRELLAS} - OPTIONAL


def clang_of(given):
    for name in (given, "clang++-19", "clang++"):
        if name and "clang" in Path(name).name and shutil.which(name):
            return name
    print("public_names: no clang++ here: what is visible in namespace lockstep was not looked at")
    sys.exit(SKIPPED)


def visible(include, clang):
    text = "".join(f"#include <{header}>\n" for header in (*UMBRELLAS, COMPATIBLE))
    command = [clang, "-std=c++20", "-fsyntax-only", "-fno-color-diagnostics", f"-I{include}", "-Xclang", "-ast-dump",
               "-Xclang", "-ast-dump-filter=lockstep", "-x", "c++", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as clang_runs:
        clang_runs.stdin.write(text)
        clang_runs.stdin.close()
        roots = syntax_tree(clang_runs.stdout, include)
    if clang_runs.returncode:
        raise SystemExit(f"public_names: {' '.join(command)} failed")
    return Namespace(root for root in roots if root.name == "lockstep")


class Listed:
    """public_names.txt. names: {name: header}."""

    def __init__(self, path):
        self.names, self.internal, self.leaks = {}, set(), set()
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            if words[0] == "internal":
                self.internal.add(words[1])
            elif words[0] == "leak":
                self.leaks.add(" ".join(words[1:]))
            else:
                self.names[words[-1]] = words[-2]


def compare(what, found, wanted):
    """Complains of each difference; True if there is none."""
    for name in sorted(found - wanted):
        print(f"{what}: {name} is not in {LIST.name}")
    for name in sorted(wanted - found):
        print(f"{what}: {name} is in {LIST.name}, but not there")
    return found == wanted


def check_umbrellas(include):
    text = "".join((Path(include) / header).read_text(encoding="utf-8") for header in UMBRELLAS)
    included = set(re.findall(r"#include <(lockstep/[^>/]+)>", text))
    return compare(f"included by {' and '.join(UMBRELLAS)}", included, public_headers(include)) and \
        "detail/" not in re.sub(r"//.*", "", text)


def check_shown():
    """Examples, benchmarks and texts for users name public names only."""
    good = True
    for place in SHOWN:
        files = [ROOT / place] if (ROOT / place).is_file() else sorted((ROOT / place).rglob("*"))
        for path in files:
            if path.suffix not in (".md", ".cpp", ".hpp", ".h"):
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if re.search(r"lockstep(::|/)detail\b", line):
                    print(f"{path.relative_to(ROOT)}:{number}: names what is in lockstep::detail: {line.strip()}")
                    good = False
    return good


def do_visible(include, compiler=None):
    want = Listed(LIST)
    good = check_umbrellas(include)
    good = check_shown() and good
    if not good:
        return 1
    clang = clang_of(compiler)
    there = visible(include, clang)
    of_library = {f"{header} {name}" for name, header in want.names.items()
                  if header != COMPATIBLE and not name.startswith("LOCKSTEP_")}
    found = {f"{header} {name}" for name, header in there.public.items()}
    good = compare("visible in namespace lockstep", found, of_library) and good
    of_users = {name for name in want.names if name.startswith("LOCKSTEP_")}
    good = compare("macros", macros(include), want.internal | of_users) and good
    shown = there.leaks()
    for each in sorted(set(shown) - want.leaks):
        print(f"  ({each} has the type {shown[each]})")
    good = compare("shows a type of detail", set(shown), want.leaks) and good
    hidden = sum(header.startswith("lockstep/detail/") for header in want.names.values())
    print(f"{len(of_library)} names, {hidden} hidden, {len(want.leaks)} leaks: {'ok' if good else 'not as listed'}")
    return 0 if good else 1


def do_write(include, compiler=None):
    old = Listed(LIST)
    clang = clang_of(compiler)
    there = visible(include, clang)
    kept = {name: header for name, header in old.names.items() if name.startswith("LOCKSTEP_") or header == COMPATIBLE}
    rows = sorted((header, name) for name, header in {**there.public, **kept}.items())
    text = "# SPDX-License-Identifier: MIT\n# What users may name; public_names.py explains it and writes it.\n"
    text += "".join(f"{header} {name}\n" for header, name in rows if "/detail/" not in header)
    text += "".join(f"internal {name}\n" for name in sorted(macros(include) - set(kept)))
    text += "".join(f"hidden {header} {name}\n" for header, name in rows if "/detail/" in header)
    text += "".join(f"leak {each}\n" for each in sorted(there.leaks()))
    LIST.write_text(text, encoding="utf-8")
    return 0


def do_listed(include, compiler, *flags):
    names = Listed(LIST).names
    of_header = defaultdict(list)
    for name, header in names.items():
        of_header[UMBRELLAS[0] if "/detail/" in header else header].append(name)
    good = compare("header without a public name", public_headers(include) - set(of_header), set())

    def run(header):
        text = f"#include <{header}>\nnamespace user {{\n"
        for name in of_header[header]:
            if name.startswith("LOCKSTEP_"):
                text += f"#ifndef {name}\n#error {name} is not defined\n#endif\n"
            else:
                text += f"using {'' if header == COMPATIBLE else 'lockstep'}::{name};\n"
        done = subprocess.run([compiler, "-std=c++11", "-fsyntax-only", *flags, f"-I{include}", "-x", "c++", "-"],
                              input=text + "}\n", capture_output=True, text=True)
        return None if done.returncode == 0 else done.stderr

    with ThreadPoolExecutor(2) as pool:
        for header, said in zip(of_header, pool.map(run, of_header)):
            if said:
                good = False
                print(f"--- {header}\n{said}")
    print(f"{len(names)} names of {len(of_header)} headers: {'ok' if good else 'not all can be used'}")
    return 0 if good else 1


if __name__ == "__main__":
    command = {"listed": do_listed, "visible": do_visible, "write": do_write}[sys.argv[1]]
    sys.exit(command(Path(sys.argv[2]).resolve().as_posix(), *sys.argv[3:]))
