# SPDX-License-Identifier: MIT
"""Doc comments of this project as Markdown: parts (Order, Errors, Cost, Example, Source), labelled lines, aligned tables.

A comment is plain text in the form that docs/site/README.md describes. parse() finds its blocks, markdown() writes
them. Names of code, headers, documents, decisions and labels become code or links.
"""

import re
from dataclasses import dataclass, field

PART = re.compile(r"(Order|Errors|Cost|Source|Example(?: for C\+\+20)?)(?:(?: +)(.*))?")
LABEL = re.compile(r"\s+([A-Z][A-Z0-9_]{2,}-\d+[a-z]?)\s+(\S.*)")
ORDERS = re.compile(r"Memory order\b")


@dataclass
class Block:
    kind: str  # paragraph, bullets, labels, terms, plain, orders, part, example
    name: str = ""
    lines: list = field(default_factory=list)  # of text; of (name, text) for labels and terms


def indent_of(line):
    return len(line) - len(line.lstrip())


def is_part(line, starts_block):
    """Whether a line begins a part: its word, and then what the word is followed by in this project."""
    found = PART.fullmatch(line)
    if not found:
        return None
    word, rest = found.groups()
    aligned = rest is None or line.startswith((word + "  ", "Errors ", "Source ["))
    return found if starts_block or (aligned and word != "Order") or line.startswith("Order  ") else None


def columns_in(line):
    return len(re.findall(r"\S {2,}(?=\S)", line.strip()))


def parse(lines):
    """The blocks of a comment, given as lines without comment marks."""
    blocks, at = [], 0
    while at < len(lines):
        line = lines[at].rstrip()
        if not line:
            at += 1
            continue
        part = is_part(line, at == 0 or not lines[at - 1].strip() or (blocks and blocks[-1].kind in ("part", "example")))
        end = at + 1
        if part and part.group(1).startswith("Example"):
            while end < len(lines) and (lines[end].startswith("  ") or
                                        (not lines[end].strip() and code_goes_on(lines, end))):
                end += 1
            blocks.append(Block("example", part.group(1), dedent(lines[at + 1:end])))
        elif part:
            while end < len(lines) and lines[end].startswith("  "):
                end += 1
            text = [part.group(2) or ""] + [other.strip() for other in lines[at + 1:end]]
            blocks.append(Block("part", part.group(1), [" ".join(filter(None, text))]))
        elif ORDERS.match(line):
            while end < len(lines) and lines[end].strip() and not is_part(lines[end].rstrip(), False):
                end += 1
            blocks.append(Block("orders", line, dedent(lines[at + 1:end])))
        elif line.startswith("  "):
            while end < len(lines) and (not lines[end].strip() or lines[end].startswith("  ")):
                end += 1
            blocks += indented([other.rstrip() for other in lines[at:end]])
        elif line.startswith("- ") or re.match(r" {0,1}- ", line):
            while end < len(lines) and lines[end].strip() and (lines[end].startswith((" ", "- "))):
                end += 1
            blocks.append(Block("bullets", "", items_of(lines[at:end])))
        elif columns_in(line) == 1 and end < len(lines) and opens_column(line, lines[end]):
            column = re.search(r" {2,}(?=\S)", line).end()
            while end < len(lines) and (lines[end].startswith(" " * column) or opens_column(line, lines[end])):
                end += 1
            blocks += terms_of(lines[at:end], column)
        else:
            while end < len(lines) and lines[end].strip() and not lines[end].startswith(("  ", "- ")) and \
                    not is_part(lines[end].rstrip(), False) and not ORDERS.match(lines[end]):
                end += 1
            blocks.append(Block("paragraph", "", [" ".join(other.strip() for other in lines[at:end])]))
        at = end
    return blocks


def code_goes_on(lines, at):
    """Whether an empty line stands inside an example: the next text is indented as code, and no label."""
    following = next((line for line in lines[at:] if line.strip()), "")
    return following.startswith("  ") and not LABEL.fullmatch(following) and at + 1 < len(lines)


def dedent(lines):
    lines = [line.rstrip() for line in lines]
    while lines and not lines[-1]:
        lines.pop()
    least = min((indent_of(line) for line in lines if line), default=0)
    return [line[least:] for line in lines]


def items_of(lines):
    items = []
    for line in lines:
        if line.lstrip().startswith("- "):
            items.append(line.lstrip()[2:].strip())
        else:
            items[-1] += " " + line.strip()
    return items


def opens_column(first, line):
    """Whether a line has its second column where `first` has it."""
    column = re.search(r"\S {2,}(?=\S)", first.strip())
    start = indent_of(first) + column.end() if column else 0
    return len(line) > start > 2 and line[start - 2:start] == "  " and line[start] != " "


def terms_of(lines, column):
    items = []
    for line in lines:
        name, text = line[:column].strip(), line[column:].strip()
        if name:
            items.append((name, text))
        else:
            items[-1] = (items[-1][0], items[-1][1] + " " + text)
    return [Block("terms", "", items)]


def indented(lines):
    """Blocks of an indented part: labelled lines, bullets, names with what they mean; else as it stands."""
    while lines and not lines[-1]:
        lines.pop()
    blocks = []
    for paragraph in paragraphs(lines):
        first = paragraph[0]
        label = LABEL.fullmatch(first)
        column = re.search(r"\S {2,}(?=\S)", first.strip())
        if label:
            items = []
            for line in paragraph:
                found = LABEL.fullmatch(line)
                if found:
                    items.append((found.group(1), found.group(2)))
                else:
                    items[-1] = (items[-1][0], items[-1][1] + " " + line.strip())
            if blocks and blocks[-1].kind == "labels":
                blocks[-1].lines += items
            else:
                blocks.append(Block("labels", "", items))
        elif first.lstrip().startswith("- "):
            blocks.append(Block("bullets", "", items_of(paragraph)))
        elif column and columns_in(first) == 1 and ";" not in first and \
                all(opens_column(first, line) or indent_of(line) >= indent_of(first) + column.end()
                    for line in paragraph):
            blocks += terms_of(paragraph, indent_of(first) + column.end())
        elif len(paragraph) == 1 and first.endswith(".") and first.strip()[0].isupper():
            blocks.append(Block("paragraph", "", [first.strip()]))
        else:
            blocks.append(Block("plain", "", dedent(paragraph)))
    return blocks


def paragraphs(lines):
    current = []
    for line in lines + [""]:
        if line:
            current.append(line)
        elif current:
            yield current
            current = []


# --- text ---

TOKEN = re.compile(
    r"""(?P<ticks>`[^`]+`)
      | (?P<document>\b(?:docs/[\w/-]+|README|CHANGELOG|bench/README)\.md)
      | (?P<header>\b[\w/]+\.(?:hpp|ipp|h|cpp|py)\b)
      | (?P<decision>\b[Dd]ecision\ (?P<number>\d{4})\b)
      | (?P<label>\b[A-Z][A-Z0-9_]{2,}-\d+[a-z]?\b)
      | (?P<source>\[[A-Z][A-Z0-9-]*\])
      | (?P<call>(?<![\w.])~?[A-Za-z_][\w:]*(?:<[^<>\s]*>)?\((?:[^()\s]|,\ |\([^()]*\))*\)(?:\.\w+\([^()]*\))*)
      | (?P<name>(?<![\w/.])(?:-f[\w-]+|[A-Za-z]\w*(?:::~?\w+)+(?:<[^<>\s]*>)?|\w*[A-Za-z0-9]_\w*|_\w+)(?![\w(]))
      | (?P<other>[\\*_<>\[\]#|`&])""", re.VERBOSE)


def code(text):
    return f"`{text}`" if "`" not in text else text


class Writer:
    """Writes blocks. `links` maps a name of a kind (document, header, decision, label, source) to an address, or None."""

    def __init__(self, links):
        self.links = links

    def link(self, shown, address):
        return f"[{shown}]({address})" if address else shown

    def text(self, text):
        def written(found):
            kind, value = found.lastgroup, found.group()
            if kind == "number":
                kind = "decision"
            if kind == "ticks":
                return value
            if kind == "other":
                return {"<": "&lt;", ">": "&gt;", "&": "&amp;"}.get(value, "\\" + value)
            if kind == "call" and value.endswith("(s)"):
                return value
            if kind == "decision":
                return self.link(value, self.links("decision", found.group("number")))
            if kind == "source":
                return self.link("\\" + value[:-1] + "\\]", self.links("source", value[1:-1]))
            if kind == "label":
                return self.link(value, self.links("label", value))
            shown = code(value)
            return self.link(shown, self.links(kind, value)) if kind in ("document", "header") else shown
        return TOKEN.sub(written, text)

    def definitions(self, items):
        lines = []
        for name, text in items:
            lines += [name, f":   {text}", ""]
        return lines

    def markdown(self, blocks, anchors=False):
        """Lines. Parts that follow each other become one list. With `anchors`, labels get one."""
        lines, at = [], 0
        while at < len(blocks):
            block = blocks[at]
            if block.kind == "part":
                parts = []
                while at < len(blocks) and blocks[at].kind == "part":
                    parts.append((blocks[at].name, self.text(blocks[at].lines[0])))
                    at += 1
                lines += self.definitions(parts)
                continue
            at += 1
            if block.kind == "paragraph":
                lines += [self.text(block.lines[0]), ""]
            elif block.kind == "bullets":
                lines += [f"- {self.text(item)}" for item in block.lines] + [""]
            elif block.kind == "labels":
                lines += self.definitions(
                    [(f'<span id="{name}">{name}</span>' if anchors else name, self.text(text))
                     for name, text in block.lines])
            elif block.kind == "terms":
                lines += self.definitions([(self.text(name) if re.search(r"[A-Z ]", name) else code(name),
                                            self.text(text)) for name, text in block.lines])
            elif block.kind == "example":
                lines += [f"**{block.name}**", "", "```cpp", *block.lines, "```", ""]
            elif block.kind == "orders":
                title = "Memory order: each access of the atomics, and why its order suffices"
                lines += [f'??? note "{title}"', "", "    ```text", *("    " + line for line in block.lines), "    ```", ""]
            else:
                lines += ["```text", *block.lines, "```", ""]
        return lines
