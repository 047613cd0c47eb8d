# SPDX-License-Identifier: MIT
"""The reference of the interface: a page of Markdown for each public header, and one that lists them.

Doxygen reads the headers and says which classes, functions, types, constants and macros there are, and which are
public, those of a base class in detail/ too. Their comments are read from the sources (comment_text.py), because they
are plain text in a form of their own. A declaration without a comment right below another one shares its comment.
"""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from collections import namedtuple
from functools import lru_cache

import comment_text

DOXYFILE = """
PROJECT_NAME = lockstep
INPUT = include/lockstep
FILE_PATTERNS = *.hpp
RECURSIVE = YES
EXTRACT_ALL = YES
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
OUTPUT_DIRECTORY = {output}
QUIET = YES
WARNINGS = NO
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = LOCKSTEP_COLD= LOCKSTEP_ONCE= LOCKSTEP_HOOK= LOCKSTEP_NOINLINE= LOCKSTEP_ALWAYS_INLINE=inline \\
  LOCKSTEP_NODISCARD= LOCKSTEP_NODISCARD_UNLESS_THROWN= LOCKSTEP_HAS_EXCEPTIONS=1 LOCKSTEP_HAS_BODIES=0 \\
  LOCKSTEP_COMPILED=1 LOCKSTEP_HAS_OBSERVERS=1 __cpp_lib_jthread=201911L __cplusplus=202002L
"""
FAMILIES = (("Teams and loops", ("team", "region", "loop", "reduce")), ("Primitives for threads of your own", ("sync",)),
            ("Graphs", ("graph",)), ("Timelines, ledgers, watchdog", ("trace",)), ("Inside MPI", ("mpi",)))
UMBRELLAS = ("lockstep.hpp", "mpi.hpp")

Entry = namedtuple("Entry", "name signature text line section follows")


def doxygen():
    return shutil.which("doxygen")


def public_headers(root):
    plain_ones = [path for path in sorted((root / "include/lockstep").glob("*.hpp")) if path.name not in UMBRELLAS]
    return plain_ones + sorted((root / "include/lockstep/mpi").glob("*.hpp"))


def plain(element):
    return re.sub(r"\s+", " ", "".join(element.itertext())).strip() if element is not None else ""


def shortened(text):
    """Without what only the library needs to see in a declaration."""
    text = text.replace("LOCKSTEP_ABI::", "")
    text = re.sub(r"\b(?:detail::)?if_bounds\s*<\s*First\s*,\s*Last\s*,\s*(.*)>$", r"\1", text.strip())
    text = re.sub(r"\b(?:detail::)?if_bounds\s*<\s*First\s*,\s*Last\s*>", "bool", text)
    text = re.sub(r"\s*<\s+|<\s*", "<", text)
    text = re.sub(r"\s+>", ">", text)
    text = re.sub(r"\s*=\s*", " = ", text).replace("operator = ", "operator=").replace("= =", "==")
    text = re.sub(r"\s+([&*]+)", r"\1", text)
    return re.sub(r"([&*])(?=\w)", r"\1 ", text).strip()


def wrapped(signature, width=84):
    """A declaration; a line that is too long is broken after the commas of its own brackets."""
    lines = []
    for line in signature.split("\n"):
        if len(line) <= width or "(" not in line:
            lines.append(line)
            continue
        start = line.index("(") + 1
        pieces, depth, begin = [], 0, 0
        for at, character in enumerate(line):
            depth += (character in "(<{[") - (character in ")>}]")
            if character == "," and depth == 1 and at > start:
                pieces.append(line[begin:at + 1])
                begin = at + 2
        pieces.append(line[begin:])
        indent = start if start <= 44 else 4
        current = pieces[0]
        for piece in pieces[1:]:
            if len(current) + 1 + len(piece) > width:
                lines.append(current)
                current = " " * indent + piece
            else:
                current += " " + piece
        lines.append(current)
    return "\n".join(lines)


class Source:
    """A header's lines, and the comments in them."""

    def __init__(self, path):
        self.lines = path.read_text().split("\n")
        self.banner = []
        for line in self.lines[2:]:
            if not line.startswith("//"):
                break
            self.banner.append(self.bare(line))
        found = re.fullmatch(r"// \S+ -- (.*?)(?: \(layer: (\w+)\))?", self.lines[1])
        self.title, self.layer = found.groups() if found else ("", None)

    @staticmethod
    def bare(line):
        return re.sub(r"^\s*//[/!]? ?<?", "", line)

    def start_of(self, line):
        """The first line of the declaration that is on `line` (both from 1)."""
        while line > 1:
            above = self.lines[line - 2].split(" //")[0].strip()
            if not above or above.startswith(("//", "#")) or above.endswith((";", "{", "}", "public:", "private:")):
                break
            line -= 1
        return line

    def comment_above(self, line, over_gap=False):
        """The doc comment right above a declaration; with over_gap also a block of `//` before one empty line."""
        at, found = self.start_of(line) - 1, []
        while at > 0 and re.match(r"\s*///?(?!/)", self.lines[at - 1]) and not self.is_section(at):
            at -= 1
            found.insert(0, self.bare(self.lines[at]))
        if found and not self.lines[at].lstrip().startswith("///"):
            found = []
        if found and over_gap and at > 1 and not self.lines[at - 1].strip() and \
                re.match(r"//(?!/)", self.lines[at - 2]):
            before, at = [""], at - 1
            while at > 0 and re.match(r"//(?!/)", self.lines[at - 1]):
                at -= 1
                before.insert(0, self.bare(self.lines[at]))
            if at > 1:  # not the banner
                found = found + [""] + before
        return found

    def is_section(self, line):
        return re.fullmatch(r"\s*// --- (.*) ---", self.lines[line - 1])

    def section_of(self, line):
        while line > 1 and not re.match(r"(class|struct|template)\b", self.lines[line - 1]):
            found = self.is_section(line)
            if found:
                return found.group(1)
            line -= 1
        return ""

    def trailing(self, line):
        """The comment behind a declaration, with the lines that go on."""
        found = re.search(r"///< ?(.*)", self.lines[line - 1])
        texts = [found.group(1)] if found else []
        while found and re.match(r"\s*///< ?", self.lines[line]):
            texts.append(re.sub(r"\s*///< ?", "", self.lines[line]))
            line += 1
        return texts

    def follows_closely(self, line):
        """No empty line, comment or label stands between a declaration and the one before it."""
        above = self.lines[self.start_of(line) - 2].strip()
        return above.endswith((";", "}"))


class Model:
    """What doxygen found, and the sources."""

    def __init__(self, root, work):
        self.root = root
        work.mkdir(parents=True, exist_ok=True)
        doxyfile = work / "Doxyfile"
        doxyfile.write_text(DOXYFILE.format(output=work))
        shutil.rmtree(work / "xml", ignore_errors=True)
        subprocess.run([doxygen(), str(doxyfile)], cwd=root, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        self.compounds = {}
        for path in sorted((work / "xml").glob("*.xml")):
            if path.name.startswith(("class", "struct", "namespace", "union")) or path.name.endswith("_8hpp.xml"):
                for compound in ElementTree.parse(path).getroot().iter("compounddef"):
                    self.compounds[compound.get("id")] = compound
        # Macros that users may name are defined in detail/platform, and listed with the header that they belong to.
        self.macros = {}
        for line in (root / "tests/build/public_names.txt").read_text().split("\n"):
            found = re.fullmatch(r"(lockstep/\w+\.hpp) (LOCKSTEP_\w+)", line)
            if found:
                self.macros.setdefault("include/" + found.group(1), []).append(found.group(2))
        self.by_name = {}
        for compound in self.compounds.values():
            name = plain(compound.find("compoundname")).replace("LOCKSTEP_ABI::", "")
            if compound.get("kind") in ("class", "struct"):
                self.by_name.setdefault(re.sub(r"\s*([<>])\s*", r"\1", name), compound)

    @lru_cache(maxsize=None)
    def source(self, file):
        return Source(self.root / file)

    def classes_of(self, header):
        """The public classes of a header in the order of their lines, with their compounds: none that are nested."""
        found = []
        for name, compound in self.by_name.items():
            place = compound.find("location")
            if re.fullmatch(r"lockstep::[^:<]+(<.*>)?", name) and place.get("file") == header and \
                    place.get("bodyend", "-1") != "-1":
                found.append((int(place.get("line")), name.removeprefix("lockstep::"), compound))
        for name in self.used_names(header):
            compound = self.by_name.get(f"lockstep::detail::{name}")
            if compound is not None:
                found.append((10 ** 6, name, compound))
        return [(name, compound) for _, name, compound in sorted(found, key=lambda item: item[:2])]

    def used_names(self, header):
        return re.findall(r"^using detail::(\w+);", "\n".join(self.source(header).lines), re.MULTILINE)

    # --- members ---

    def entries_of(self, compound):
        """The public members of a class in the order of their lines, then those of its bases in detail/."""
        found = []
        for section in compound.findall("sectiondef"):
            if section.get("kind").startswith("public"):
                found += [self.entry(member) for member in section.findall("memberdef")]
        found = sorted(filter(None, found), key=lambda entry: entry.line)
        found += self.used_members(compound)
        for base in compound.findall("basecompoundref"):
            below = self.compounds.get(base.get("refid"))
            if base.get("prot") == "public" and below is not None and "detail" in plain(below.find("compoundname")):
                found += [entry._replace(section=entry.section or "from " + plain(below.find("compoundname")))
                          for entry in self.entries_of(below) if not entry.name.startswith("~")
                          and entry.name != plain(below.find("compoundname")).rsplit("::", 1)[-1]]
        return found

    def used_members(self, compound):
        """Those that a class takes over from a private base: using base::name."""
        place = compound.find("location")
        source = self.source(place.get("file"))
        body = source.lines[int(place.get("bodystart")) - 1:int(place.get("bodyend"))]
        names = re.findall(r"^  using \w+::(\w+);", "\n".join(body), re.MULTILINE)
        found = []
        for base in compound.findall("basecompoundref"):
            below = self.compounds.get(base.get("refid"))
            if below is not None:
                found += [entry for section in below.findall("sectiondef") for member in section.findall("memberdef")
                          if plain(member.find("name")) in names and (entry := self.entry(member))]
        return found

    def entry(self, member):
        kind, name = member.get("kind"), plain(member.find("name"))
        place = member.find("location")
        if kind == "friend" or name.startswith("@") or name.endswith("_"):  # members of unions without a name
            return None
        source = self.source(place.get("file"))
        line = int(place.get("line"))
        arguments = plain(member.find("argsstring"))
        if arguments.endswith("=delete") or self.only_refuses(member):
            return None
        comment = source.comment_above(line) or source.trailing(line)
        if name.startswith("~") and not comment:
            return None
        values = []
        if kind == "enum":
            for value in member.findall("enumvalue"):
                text = plain(value.find("briefdescription")) or plain(value.find("detaileddescription"))
                values.append(f"  {plain(value.find('name'))}" + (f",  // {text}" if text else ","))
            signature = f"enum class {name} {{\n" + "\n".join(values) + "\n};" if member.get("strong") == "yes" else \
                f"enum {name} {{\n" + "\n".join(values) + "\n};"
        elif kind == "typedef":
            signature = f"using {name} = {shortened(plain(member.find('type')))};"
        elif kind == "define":
            parameters = [plain(item.find("defname")) for item in member.findall("param")]
            signature = f"#define {name}" + (f"({', '.join(parameters)})" if any(parameters) else "")
        else:
            signature = self.signature(member, kind, name, arguments)
        return Entry(name, wrapped(signature), comment, line, source.section_of(line), source.follows_closely(line))

    def only_refuses(self, member):
        """Its one purpose is a message of the compiler for a call that fits no other."""
        place = member.find("location")
        source = self.source(place.get("bodyfile") or place.get("file"))
        first, last = int(place.get("bodystart", "-1")), int(place.get("bodyend", "-1"))
        body = " ".join(source.lines[first - 1:last]) if 0 < first <= last < first + 8 else ""
        return bool(re.search(r"(?:return|\{)\s*(?:detail::)?refuse_\w+", body)) or \
            "if_too_few" in plain(member.find("type")) or "refus" in plain(member.find("type"))

    @staticmethod
    def signature(member, kind, name, arguments):
        parameters = []
        for item in member.findall("templateparamlist/param"):
            text = plain(item.find("type"))
            if item.find("declname") is not None and not re.search(rf"\b{plain(item.find('declname'))}$", text):
                text += " " + plain(item.find("declname"))
            default = plain(item.find("defval"))
            if "detail::" in default or re.search(r"\bif_\w+\b|enable_if", default + text):
                continue
            parameters.append(text + (f" = {default}" if default else ""))
        text = f"template <{', '.join(parameters)}>\n" if parameters else ""
        words = plain(member.find("type"))
        words = re.sub(r"\bLOCKSTEP_\w+\b", "", words).strip()
        if member.get("static") == "yes" and "static" not in words.split():
            words = "static " + words
        if member.get("explicit") == "yes" and "explicit" not in words.split():
            words = "explicit " + words
        words = re.sub(r"\binline\b ?", "", words).removesuffix("()")  # std::ptrdiff_t(max)(), which no macro replaces
        if name.startswith("operator ") and words.endswith(name.removeprefix("operator ")):
            words = words.removesuffix(name.removeprefix("operator ")).strip()
        arguments = re.sub(r"\b[\w:]*decay_copied\b", "", arguments)
        initial = plain(member.find("initializer")) if kind == "variable" else ""
        if len(initial) > 40:
            initial = ""
        declared = f"{shortened(words)} {name}" if words else name
        return text + shortened(f"{declared}{arguments} {initial}".strip()) + ";"

    # --- what belongs to no class ---

    def free_entries(self, header):
        """Functions, types, constants and macros of a header in the order of their lines."""
        found, lines = [], set()
        for compound in self.compounds.values():
            name = plain(compound.find("compoundname"))
            if compound.get("kind") == "namespace" and name.startswith("lockstep") and "detail" not in name:
                members = [member for section in compound.findall("sectiondef") for member in section.findall("memberdef")
                           if member.find("location").get("file") == header]
                found += [self.entry(member) for member in members]
            if compound.get("kind") == "namespace" and name.endswith("detail"):
                names = self.used_names(header)
                found += [self.entry(member) for section in compound.findall("sectiondef")
                          for member in section.findall("memberdef") if plain(member.find("name")) in names]
            if compound.get("kind") == "file":
                found += [self.entry(member) for section in compound.findall("sectiondef")
                          for member in section.findall("memberdef") if member.get("kind") == "define"
                          and plain(member.find("name")) in self.macros.get(header, ())]
        unique = []
        for entry in sorted(filter(None, found), key=lambda entry: entry.line):
            if (entry.line, entry.name) not in lines:
                lines.add((entry.line, entry.name))
                unique.append(entry)
        return unique

    def grouped(self, entries):
        """Entries that share a comment, as (names, signatures, comment, section)."""
        groups, last = [], None
        for entry in entries:
            shares = not entry.text and groups and entry.section == groups[-1][3]
            if shares and (entry.follows or entry.name == last.name):
                groups[-1][0].append(entry.name)
                groups[-1][1].append(entry.signature)
            else:
                groups.append(([entry.name], [entry.signature], entry.text, entry.section))
            last = entry
        return groups


def anchor(name):
    return re.sub(r"\W+", "-", name).strip("-").lower() or "operator"


class Pages:
    """Writes the pages. `documents` maps a repository path to the address of its page, seen from api/."""

    def __init__(self, root, work, documents, decisions, sources):
        self.root, self.model = root, Model(root, work)
        self.documents, self.decisions, self.sources = documents, decisions, sources
        self.headers = [str(path.relative_to(root)) for path in public_headers(root)]
        self.labels = {}
        for header in self.headers:
            source = self.model.source(header)
            for line in source.lines:
                found = re.fullmatch(r"\s*//[/ ]  +([A-Z][A-Z0-9_]{2,}-\d+[a-z]?)\s+\S.*", line)
                if found:
                    self.labels.setdefault(found.group(1), self.page_of(header) + "#" + found.group(1))
        self.writer = comment_text.Writer(self.link)

    @staticmethod
    def page_of(header):
        return header.removeprefix("include/").removeprefix("lockstep/").removesuffix(".hpp").replace("/", "_") + ".md"

    def link(self, kind, name):
        if kind == "header":
            name = name.removeprefix("include/").removeprefix("lockstep/")
            return self.page_of(name) if f"include/lockstep/{name}" in self.headers else None
        if kind == "document":
            return self.documents.get(name)
        if kind == "decision":
            return self.decisions.get(name)
        if kind == "label":
            return self.labels.get(name)
        if kind == "source":
            return self.sources.get(name)
        return None

    def comment(self, lines, anchors=False):
        return self.writer.markdown(comment_text.parse(lines), anchors)

    def members(self, entries, depth, owner):
        lines, section, used = [], "", {}
        for names, signatures, text, of in self.model.grouped(entries):
            if of != section:
                section = of
                if section and not section.startswith("from "):
                    lines += [f"<p class=\"section\">{section}</p>", ""]
            shown = list(dict.fromkeys(names))
            place = anchor(f"{owner}-{shown[0]}" if owner else shown[0])
            used[place] = used.get(place, 0) + 1
            place += f"-{used[place]}" if used[place] > 1 else ""
            title = ", ".join(f"`{name}`" for name in shown)
            lines += [f"{'#' * depth} {title} {{ #{place} .entry }}", "", "```cpp", *"\n".join(signatures).split("\n"),
                      "```", ""]
            lines += self.comment(text)
        return lines

    def page(self, header):
        source = self.model.source(header)
        name = header.removeprefix("include/")
        first = source.title[:1].upper() + source.title[1:]
        lines = ["---", f"title: {name.removeprefix('lockstep/')}", f"description: {first!r}" if ":" in first else
                 f"description: {first}", "---", "", f"# {name.removeprefix('lockstep/')}", "",
                 f"{self.writer.text(first)}.", "", "```cpp", f"#include <{name}>", "```", ""]
        lines += self.comment(source.banner, anchors=True)
        free = self.model.free_entries(header)
        if free:
            lines += ["## Functions, types and constants" if self.model.classes_of(header) else "## Contents", ""]
            lines += self.members(free, 3, "")
        for known, compound in self.model.classes_of(header):
            lines += self.class_part(known, compound)
        return "\n".join(lines) + "\n"

    def class_part(self, name, compound, depth=2):
        place = compound.find("location")
        source = self.model.source(place.get("file"))
        parameters = []
        for item in compound.findall("templateparamlist/param"):
            default = plain(item.find("defval"))
            text = " ".join(filter(None, (plain(item.find("type")), plain(item.find("declname")))))
            parameters.append(text + (f" = {default}" if default and "detail" not in default else ""))
        head = f"template <{', '.join(parameters)}>\n" if parameters else "template <>\n" if "<" in name else ""
        lines = [f"{'#' * depth} {compound.get('kind')} `{name}` {{ #{anchor(name)} }}", "", "```cpp",
                 *f"{head}{compound.get('kind')} {name};".split("\n"), "```", ""]
        comment = source.comment_above(int(place.get("line")), over_gap=True)
        lines += self.comment(comment, anchors=True)
        if depth == 2 and not any(block.kind == "part" for block in comment_text.parse(comment)):
            lines += ["Order, errors and cost: at the top of this page.", ""]
        if self.cannot_be_copied(compound):
            lines += ["It cannot be copied.", ""]
        for inner in compound.findall("innerclass"):
            below = self.model.compounds.get(inner.get("refid"))
            if inner.get("prot") == "public" and below is not None and below.find("location").get("bodyend", "-1") != "-1":
                known = plain(below.find("compoundname")).replace("LOCKSTEP_ABI::", "").removeprefix("lockstep::")
                lines += self.class_part(known, below, depth + 1)
        entries = self.model.entries_of(compound)
        return lines + self.members(entries, depth + 1, anchor(name))

    @staticmethod
    def cannot_be_copied(compound):
        name = plain(compound.find("compoundname")).rsplit("::", 1)[-1].split("<")[0].strip()
        return any(plain(member.find("name")) == name and plain(member.find("argsstring")).startswith(f"(const {name} &")
                   and plain(member.find("argsstring")).endswith("=delete") for member in compound.iter("memberdef"))

    def families(self):
        """(title, [(header, first line of its banner, names)]) in the order of FAMILIES, the rest at the end."""
        found = {title: [] for title, _ in FAMILIES} | {"What all share": []}
        title_of = {layer: title for title, layers in FAMILIES for layer in layers}
        for header in self.headers:
            source = self.model.source(header)
            names = [name for name, _ in self.model.classes_of(header)]
            names += [entry.name for entry in self.model.free_entries(header)]
            item = (header, source.title, list(dict.fromkeys(name for name in names if "<" not in name)))
            found[title_of.get(source.layer, "What all share")].append(item)
        return [(title, items) for title, items in found.items() if items]

    def index(self):
        lines = ["# Reference", "",
                 "Each public header has a page: what it is for, what happens before what, what it costs, which errors there "
                 "are, an example, and each class and function. The pages are made from the comments in the headers. "
                 "`#include <lockstep/lockstep.hpp>` includes all of them but those for use inside MPI, which "
                 "`#include <lockstep/mpi.hpp>` includes.", ""]
        for title, items in self.families():
            lines += [f"## {title}", "", "| header | what it is for | names |", "|---|---|---|"]
            for header, first, names in items:
                page = self.page_of(header)
                shown = ", ".join(f"`{name}`" for name in names)
                lines.append(f"| [{header.rsplit('/', 1)[-1]}]({page}) | {self.writer.text(first)} | {shown} |")
            lines.append("")
        return "\n".join(lines)
