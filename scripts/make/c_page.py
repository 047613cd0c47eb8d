# SPDX-License-Identifier: MIT
"""The page of the C interface, from the comments of bindings/c/lockstep.h (pure).

A comment that begins in the first column describes the declarations up to the next empty line or comment. One of the form
`/* ---- title ---- */` begins a section. A comment that no declaration follows is text of its section.
"""

import re

import comment_text

SECTION = re.compile(r"/\* -+ (.*?) -+ \*/")
TYPES = (r"\(\*(\w+)\)\(", r"(\w+);$")
NAMES = (r"^#define (\w+)", r"\b(lockstep_\w+)\(")


def bare(lines):
    """The text of a comment: without its marks."""
    text = [re.sub(r"^\s?\*(?!/) ?|^/\* ?", "", line) for line in lines]
    text[-1] = re.sub(r"\s*\*/\s*$", "", text[-1])
    return text


def items(text):
    """Yields ("section", title), ("text", lines), ("entry", comment lines, declaration lines)."""
    lines, at, comment = text.split("\n"), 0, []
    while at < len(lines) and not SECTION.fullmatch(lines[at]):
        at += 1
    while at < len(lines):
        line = lines[at]
        section = SECTION.fullmatch(line)
        if section or line.startswith("/*") or not line.strip() or line.startswith(("#if", "#endif", "}  //", "} /*")):
            if comment and (section or line.startswith("/*") or not line.strip()):
                yield "text", comment
                comment = []
        if section:
            yield "section", section.group(1)
            at += 1
        elif line.startswith("/*"):
            end = at
            while "*/" not in lines[end]:
                end += 1
            comment = bare(lines[at:end + 1])
            at = end + 1
        elif line.startswith(("#ifdef __cplusplus", "#if defined(__cplusplus", "#endif")):
            break
        elif line.strip():
            end = at
            while end < len(lines) and lines[end].strip() and not lines[end].startswith("/*"):
                end += 1
            yield "entry", comment, [each.replace("LOCKSTEP_C_API ", "") for each in lines[at:end]]
            at, comment = end, []
        else:
            at += 1


def names_of(declaration):
    """What a declaration declares; of an enumeration its values."""
    code = re.sub(r"/\*.*?\*/", "", " ".join(declaration))
    if re.match(r"\s*enum\b", code):
        return re.findall(r"\b(LOCKSTEP_\w+)\b(?=\s*(?:=|,|\}))", code)
    flat = " ".join(code.split())
    if flat.startswith("typedef struct") and "{" in flat:
        return re.findall(r"\} ?(\w+);", flat)
    found = []
    for statement in re.sub(r"/\*.*?\*/", "", "\n".join(declaration)).split(";"):
        flat = " ".join(statement.split()) + ";"
        found += next(filter(None, (re.findall(name, flat) for name in (TYPES if flat.startswith("typedef") else NAMES))), [])[:1]
    return found


def page(header, writer):
    """The Markdown of a header's page."""
    text = header.read_text(encoding="utf-8")
    banner = bare(text[:text.index("*/") + 2].split("\n"))
    title = re.sub(r"^lockstep\.h -- ", "", banner[1])
    lines = ["# lockstep.h: the C interface", "", writer.text(title[:1].upper() + title[1:]) + ".", "", "```c",
             "#include <lockstep.h>", "```", ""]
    lines += writer.markdown(comment_text.parse(banner[2:]))
    for item in items(text):
        if item[0] == "section":
            lines += [f"## {item[1][:1].upper() + item[1][1:]}", ""]
        elif item[0] == "text":
            lines += writer.markdown(comment_text.parse(item[1]))
        else:
            names = names_of(item[2])
            shown = ", ".join(f"`{name}`" for name in (names if len(names) < 5 or names[0].islower() else
                                                         names[:2] + ["..."] + names[-1:])) or "`...`"
            anchor = f" {{ #{names[0]} .entry }}" if names else ""
            lines += [f"### {shown}{anchor}", "", "```c", *item[2], "```", ""]
            lines += writer.markdown(comment_text.parse(item[1]))
    return "\n".join(lines) + "\n"
