# SPDX-License-Identifier: MIT
"""The comments of a header in Doxygen's form; docs/site/README.md describes the form that they have in the headers."""

import re

from source_text import ROOT

PART = re.compile(r"((?:Order|Cost)(?=  )|(?:Errors|Source)(?= ))(.*)")
HEADING = re.compile(r"Invariants|Memory order\b")
COLUMNS = re.compile(r"\S(?:.*\S)? {2,}\S|  ")
# Text of a class that stands before an empty line and its doc comment.
BEFORE_CLASS = re.compile(r"((?:^//(?!/).*\n)+)\n((?:^///.*\n)+)(?=class|struct|template)", re.MULTILINE)
LABEL = re.compile(r"  +([A-Z][A-Z0-9_]{2,}-\d+[a-z]?)  (\S.*)")
# What is code or a link in a sentence: `a b`, f(x), a_b, a::b, a.hpp, decision 0002, [KEY].
CODE = re.compile(r"`[^`]+`|[Dd]ecision \d{4}|\[[A-Z][A-Z0-9-]+\]|[\w/]+\.(?:hpp|h|cpp|py|md)\b|\*\w+\*(?!\w)"
                  r"|~?\b[A-Za-z_][\w:]*(?:<[^<>\s]*>)?\((?:[^()\s]|, |\([^()]*\))*\)|\w*[A-Za-z0-9]_\w*"
                  r"|_\w+|\w+(?:::~?\w+)+(?:<[^<>\s]*>)?|[\\@<>#%*&$_\[\]]")


def page_of(word):
    """The page of the site for a name in a comment, seen from those of the headers; nothing if it has none."""
    if word.startswith("["):
        return "../docs/maintainers/references.html"
    found = word.split()[1] if " " in word else ""
    files = [*ROOT.glob(f"docs/maintainers/decisions/{found}*.md")] if found else [ROOT / word] if word.endswith(".md") else []
    if files and files[0].is_file():
        return "../" + files[0].relative_to(ROOT).with_suffix(".html").as_posix()
    header = word.removeprefix("lockstep/")
    is_public = re.fullmatch(r"(mpi/)?\w+\.hpp", header) and (ROOT / "include/lockstep" / header).is_file()
    return header.replace("/", "_").replace(".hpp", ".html") if is_public and header not in ("lockstep.hpp", "mpi.hpp", "toolbox.hpp") else None


def prose(text):
    def written(found):
        word = found.group()
        if word[0] in "`*" and len(word) > 1 or word.endswith("(s)"):
            return word
        if len(word) == 1:
            return "\\" + word
        shown = f"\\[{word[1:-1]}\\]" if word[0] == "[" else word if word[1:9] == "ecision " else f"`{word}`"
        return f"[{shown}]({page_of(word)})" if page_of(word) else shown
    return CODE.sub(written, text)


def indent(line):
    return len(line) - len(line.lstrip())


def block(lines, begin, end):
    least = min(indent(line) for line in lines if line.strip())
    return [begin, *(line[least:] for line in lines), end]


def doxygen(lines):
    """The text of a comment, as lines without marks, in Doxygen's form."""
    out, at = [], 0
    while at < len(lines):
        line, end = lines[at], at + 1
        part = PART.match(line)
        if line.startswith("Example"):
            while end < len(lines) and (lines[end] or "".join(lines[end + 1:end + 2])).startswith("  "):
                end += 1
            out += ["", "\\par " + line, *block(lines[at + 1:end], "\\code{.cpp}", "\\endcode")]
        elif part:
            while end < len(lines) and lines[end].startswith("  "):
                end += 1
            text = " ".join(each.strip() for each in [part.group(2), *lines[at + 1:end]])
            out += ["", "\\par " + part.group(1), prose(text), ""]
        elif HEADING.match(line):
            out += ["", f"**{prose(line)}**", ""]
        elif line.startswith("  ") and line.strip():
            while end < len(lines) and (lines[end].startswith("  ") or not lines[end].strip()):
                end += 1
            while not lines[end - 1].strip():
                end -= 1
            out += indented(lines[at:end])
        elif COLUMNS.match(line):
            while end < len(lines) and COLUMNS.match(lines[end]):
                end += 1
            out += block(lines[at:end], "\\verbatim", "\\endverbatim")
        else:
            out.append(prose(line))
        at = end
    return out


def indented(lines):
    """Labelled lines and lists become lists; everything else that is indented stays as it is."""
    out = []
    for paragraph in "\n".join(lines).split("\n\n"):
        part = paragraph.split("\n")
        if LABEL.match(part[0]):
            out += ["", *(LABEL.sub(lambda found: f"- **{found.group(1)}** {prose(found.group(2))}", line) if LABEL.match(line)
                          else "  " + prose(line.strip()) for line in part), ""]
        elif part[0].lstrip().startswith("- "):
            out += ["", *(prose(line[indent(part[0]):]) for line in part), ""]
        else:
            out += block(part, "\\verbatim", "\\endverbatim")
    return out


def comment(lines, head=""):
    return ["/** " + head, *doxygen(lines), "*/"]


def cpp(lines, is_public):
    end = next(at for at, line in enumerate(lines) if not line.startswith("//"))
    title = re.sub(r"^// \S+ -- (.*?)(?: \(layer: \w+\))?$", r"\1", lines[1])
    yield from comment([title[:1].upper() + title[1:] + ".", ""] + [line[3:] for line in lines[2:end]], "\\file")
    above = []
    for at, line in enumerate(lines[end:], end):
        found = re.match(r"\s*///(?![/<]) ?(.*)", line)
        if found:
            above.append(found.group(1))
            continue
        if above:
            yield from comment(above)
            above = []
        if is_public and line == "namespace detail {":
            yield "/// \\cond"
        if not re.match(r"(inline |\}  // )namespace LOCKSTEP_ABI| *friend [^{]*;$|LOCKSTEP_\w+$", line):
            yield line.replace("(max)()", " max()").replace("(min)()", " min()")
        is_short = line == "}" and lines[at - 2] == "namespace detail {"  # clang-format leaves such an end without a comment
        if is_public and (is_short or line == "}  // namespace detail"):
            yield "/// \\endcond"


def c(text):
    def written(found):
        lines = [re.sub(r"^ \* ?", "", line) for line in found.group(1).strip().split("\n")]
        if lines[0].startswith("----"):
            return ""
        if lines[0].startswith("SPDX"):
            title = lines[1].split(" -- ")[1]
            return "\n".join(comment([title[:1].upper() + title[1:] + ".", *lines[2:]], "\\file"))
        return "\n".join(comment(lines))
    text = re.sub(r"(?<=\S)( +)/\* (.*?) \*/", r"\1/**< \2 */", text)
    return re.sub(r"^/\*(?!\*)(.*?)\*/", written, text, flags=re.MULTILINE | re.DOTALL)


def converted(path, is_public):
    """A header for Doxygen; with only what users need of it, if it is public."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"\b(?:detail::)?if_bounds<First, Last(?:, (\w+))?>", lambda found: found.group(1) or "bool", text)
    text = BEFORE_CLASS.sub(lambda found: found.group(2) + "///\n" + re.sub(r"(?m)^//", "///", found.group(1)), text)
    return c(text) if path.suffix == ".h" else "\n".join(cpp(text.split("\n"), is_public))
