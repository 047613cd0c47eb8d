#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the documentation site: the documents of the project, and a reference made from the headers.

usage: site_pages.py [--pages-only] [OUTPUT]     (default: build/site)

The documents stay as they are, written for whoever reads them in the repository. Here each becomes a page; links between
them become links between pages; source files that they link to become pages too, and a picture that one names is shown
below the paragraph, if ./do pictures and ./do performance have made it. The reference is made by api_pages.py. Zensical
(docs/site/requirements.txt) makes HTML of it, with its search and its own scripts: a page takes nothing from elsewhere.

Every Markdown file of docs/ and below is on the site: one that NAVIGATION does not name is found by its folder, or is in
"More". A link that leads nowhere ends the build. --pages-only: writes the Markdown, and makes no HTML.
"""

import argparse
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from check.versions import version_of  # noqa: E402
from source_text import ROOT  # noqa: E402

import api_pages  # noqa: E402
import c_page  # noqa: E402

REFERENCE = "api/"
# Sections in their order: files of the repository, and patterns for those that may be there. None of them is needed.
NAVIGATION = (
    ("Start", ["README.md", "docs/overview.md", "docs/faq.md", "docs/packages.md", "docs/platforms.md"]),
    ("Guides", ["docs/coming-from-openmp.md", "docs/graphs.md", "docs/what-a-loop-costs.md",
                "docs/why-is-my-loop-slow.md", "docs/ledger.md", "docs/watchdog.md", "docs/openmp.md", "docs/mpi.md"]),
    ("Languages", ["docs/languages.md", "docs/c.md", "bindings/*/README.md"]),
    ("Reference", [REFERENCE]),
    ("Promises", ["docs/guarantees.md", "docs/memory-model.md", "docs/stability.md", "SECURITY.md", "docs/licences.md",
                  "LICENSE"]),
    ("Seeds", ["docs/seeds/README.md", "docs/seeds/*.md"]),
    ("Measured", ["docs/performance.md", "bench/README.md", "bench/*/README.md"]),
    ("Inside", ["docs/architecture.md", "docs/tests.md", "CONTRIBUTING.md", "docs/site/README.md", "docs/decisions/*.md"]),
    ("More", ["docs/glossary.md", "docs/references.md", "CHANGELOG.md", "docs/*.md", "docs/**/*.md"]),
)
TITLES = {"README.md": "lockstep", "docs/seeds/README.md": "The five seeds", "bench/README.md": "How it is measured",
          "docs/site/README.md": "This site"}
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".ipp": "cpp", ".h": "c", ".c": "c", ".py": "python", ".sh": "bash", ".rs": "rust",
             ".f90": "fortran", ".cmake": "cmake", ".txt": "text", ".json": "json", ".yml": "yaml", ".toml": "toml"}
LINK = re.compile(r"(`+)(?:(?!\1).)+?\1(?!`)|(\]\()([^()\s]+)(\))", re.DOTALL)
PICTURE = re.compile(r"`(?:docs/(?:pictures|figures)/)?([\w-]+\.(?:svg|png))`")
FENCE = re.compile(r"\s*(`{3,}|~{3,})")
ITEM = re.compile(r"( *)([-*+]|\d+[.)]) +(?=\S)")


class Refused(Exception):
    """A document or the generator is at fault; the text says which and why."""


def page_name(path):
    """Where the page of a file of the repository is, below the pages' folder."""
    if path == "README.md":
        return "index.md"
    if path == "LICENSE":
        return "licence.md"
    if path.startswith("docs/"):
        inside = path.removeprefix("docs/")
        return inside[:-len("README.md")] + "index.md" if inside.endswith("README.md") else inside
    if path.endswith(".md"):
        name = path.lower().removesuffix("/readme.md")
        return name if name.endswith(".md") else name + "/index.md"
    return f"source/{path}.md"


def sections(root):
    """[(title, [file])]: each document once, in the first section that names it."""
    taken, found = set(), []
    for title, patterns in NAVIGATION:
        files = []
        for pattern in patterns:
            if pattern == REFERENCE:
                files.append(REFERENCE)
                continue
            for path in sorted(root.glob(pattern)):
                name = path.relative_to(root).as_posix()
                if name not in taken:
                    taken.add(name)
                    files.append(name)
        if files:
            found.append((title, files))
    return found


def outside_of_code(text):
    """Yields (is code, lines) for the parts of a document: fenced code, and what is between."""
    part, mark = [], None
    for line in text.split("\n"):
        fence = FENCE.match(line)
        if mark is None and fence:
            yield False, part
            part, mark = [line], fence.group(1)
        elif mark is not None and fence and fence.group(1).startswith(mark) and line.strip() == fence.group(1):
            yield True, part + [line]
            part, mark = [], None
        else:
            part.append(line)
    yield mark is not None, part


def for_python_markdown(text):
    """The same document for Python-Markdown: lists follow an empty line, and what is in them is indented by four."""
    lines, stack, mark = [], [], None
    for line in re.sub(r"^ *<!--.*?-->$", "", text, flags=re.MULTILINE | re.DOTALL).split("\n"):
        indent = len(line) - len(line.lstrip())
        fence = FENCE.match(line)
        was_list = bool(stack)
        if mark is None and line.strip():
            while stack and indent < stack[-1] and not (lines and lines[-1].strip() and not ITEM.match(line) and not fence):
                stack.pop()
        depth = len([column for column in stack if indent >= column])
        shifted = " " * (4 * depth + indent - (stack[depth - 1] if depth else 0)) + line.lstrip() if line.strip() else ""
        if mark is not None:
            depth = len(stack)
            shifted = " " * (4 * depth) + line[stack[-1] if stack else 0:] if line.strip() else ""
            if fence and line.strip() == fence.group(1) and fence.group(1).startswith(mark):
                mark = None
        elif fence:
            mark = fence.group(1)
        else:
            item = ITEM.match(line)
            if item:
                if lines and lines[-1].strip() and not was_list:
                    lines.append("")
                stack.append(item.end())
        lines.append(shifted)
    return "\n".join(lines)


class Site:
    def __init__(self, root, work):
        self.root, self.pages = root, work / "pages"
        self.work = work
        self.sections = sections(root)
        self.documents = {name: page_name(name) for _, files in self.sections for name in files if name != REFERENCE}
        self.sources = []  # files and folders that documents link to
        self.broken = []

    def address(self, target, page, document):
        """Where a link of a document leads, seen from its page."""
        path, hash_mark, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target) or not path:
            return target
        base = posixpath.dirname(document)
        name = posixpath.normpath(posixpath.join(base, path))
        if name == "include/lockstep":
            return posixpath.relpath("api/index.md", posixpath.dirname(page) or ".")
        if name not in self.documents:
            if name.startswith("include/lockstep/") and (self.root / name).is_file() and name.count("/") == 2 and \
                    name.endswith(".hpp") and not name.endswith("/lockstep.hpp"):
                return posixpath.relpath("api/" + name.rsplit("/", 1)[-1][:-4] + ".md", posixpath.dirname(page) or ".")
            if name.startswith("..") or not (self.root / name).exists():
                self.broken.append(f"{document}: no file '{target}'")
                return target
            if (self.root / name).is_dir():
                if (self.root / name / "README.md").is_file():
                    name += "/README.md"
                    return posixpath.relpath(self.documents.get(name, page_name(name)), posixpath.dirname(page) or ".")
                name += "/index"
            if name not in self.sources:
                self.sources.append(name)
        there = self.documents.get(name) or page_name(name)
        return posixpath.relpath(there, posixpath.dirname(page) or ".") + hash_mark + anchor

    def linked(self, text, page, document):
        def written(found):
            if found.group(1):
                return found.group()
            return found.group(2) + self.address(found.group(3), page, document) + found.group(4)
        parts = []
        for is_code, lines in outside_of_code(text):
            part = "\n".join(lines)
            parts.append(part if is_code else self.with_pictures(LINK.sub(written, part), page))
        return "\n".join(parts)

    def with_pictures(self, text, page):
        """Each picture that a paragraph names, below it."""
        shown = []
        for paragraph in text.split("\n\n"):
            shown.append(paragraph)
            for name in dict.fromkeys(PICTURE.findall(paragraph)):
                for folder in ("pictures", "figures"):
                    if (self.root / "docs" / folder / name).is_file():
                        (self.pages / "pictures").mkdir(parents=True, exist_ok=True)
                        shutil.copy(self.root / "docs" / folder / name, self.pages / "pictures" / name)
                        up = posixpath.relpath("pictures/" + name, posixpath.dirname(page) or ".")
                        # A link to itself: a telephone shows it small, and a touch opens it in full.
                        shown.append(f"[![{name.rsplit('.', 1)[0].replace('-', ' ')}]({up})]({up})")
        return "\n\n".join(shown)

    def write(self, page, text):
        path = self.pages / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def make_pages(self):
        shutil.rmtree(self.pages, ignore_errors=True)
        for name, page in self.documents.items():
            text = (self.root / name).read_text(encoding="utf-8")
            if name == "LICENSE":
                text = f"# Licence\n\n```text\n{text}\n```\n"
            self.write(page, for_python_markdown(self.linked(text, page, name)))
        self.make_reference()
        for name in self.sources:  # grows while folders are written
            self.write_source(name)
        self.write("assets/extra.css", (self.root / "docs/site/extra.css").read_text())
        if self.broken:
            raise Refused("links that lead nowhere:\n" + "\n".join(self.broken))

    def make_reference(self):
        documents = {name: posixpath.relpath(page, "api") for name, page in self.documents.items()}
        decisions = {Path(name).name[:4]: posixpath.relpath(page, "api") for name, page in self.documents.items()
                     if name.startswith("docs/decisions/")}
        keys = re.findall(r"^\| ([\w-]+) \|", (self.root / "docs/references.md").read_text(), re.MULTILINE)
        sources = dict.fromkeys(keys, "../references.md")
        self.reference = api_pages.Pages(self.root, self.work / "doxygen", documents, decisions, sources)
        self.write("api/index.md", self.reference.index())
        for header in self.reference.headers:
            self.write("api/" + self.reference.page_of(header), self.reference.page(header))
        self.c_header = next(iter(sorted(self.root.glob("bindings/c/**/lockstep.h"))), None)
        if self.c_header:
            self.write("api/lockstep_h.md", c_page.page(self.c_header, self.reference.writer))

    def write_source(self, name):
        page = page_name(name)
        hidden = "---\nsearch:\n  exclude: true\n---\n"
        if name.endswith("/index"):
            folder = name.removesuffix("/index")
            lines = [f"# {folder}", ""]
            for path in sorted((self.root / folder).iterdir()):
                inside = f"{folder}/{path.name}"
                if path.is_file() and path.suffix in LANGUAGES:
                    if inside not in self.sources:
                        self.sources.append(inside)
                    lines.append(f"- [{path.name}]({posixpath.relpath(page_name(inside), posixpath.dirname(page))})")
            self.write(page, hidden + "\n".join(lines) + "\n")
            return
        text = (self.root / name).read_text(encoding="utf-8").rstrip("\n")
        language = LANGUAGES.get(Path(name).suffix, "cmake" if name.endswith("CMakeLists.txt") else "text")
        self.write(page, f"{hidden}# {name}\n\n`````{language}\n{text}\n`````\n")

    # --- HTML ---

    def navigation(self):
        tree = []
        for title, files in self.sections:
            items = []
            for name in files:
                if name == REFERENCE:
                    items.append({"All headers": "api/index.md"})
                    if self.c_header:
                        items.append({"The C interface": "api/lockstep_h.md"})
                    items += [{of: ["api/" + self.reference.page_of(header) for header, _, _ in headers]}
                              for of, headers in self.reference.families()]
                elif name.startswith("docs/decisions/"):
                    if "Decisions" not in (items[-1] if items else ""):
                        items.append({"Decisions": []})
                    items[-1]["Decisions"].append(self.documents[name])
                else:
                    items.append({TITLES[name]: self.documents[name]} if name in TITLES else self.documents[name])
            tree.append({title: items})
        return tree

    def make_html(self, output):
        settings = (self.root / "docs/site/settings.yml").read_text()
        settings = settings.replace("VERSION_OF_THE_PROJECT", version_of(self.root))
        settings += "nav: " + json.dumps(self.navigation()) + "\n"
        settings += "site_dir: site\n"
        config = self.work / "site.yml"
        config.write_text(settings, encoding="utf-8")
        done = subprocess.run([sys.executable, "-m", "zensical", "build", "--clean", "--strict", "--config-file", config.name],
                              cwd=self.work, env={**os.environ, "NO_COLOR": "1"}, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise Refused(done.stdout)
        shutil.rmtree(output, ignore_errors=True)
        shutil.copytree(self.work / "site", output)


def main(argv):
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("output", nargs="?", type=Path, default=ROOT / "build" / "site")
    parser.add_argument("--pages-only", action="store_true")
    given = parser.parse_args(argv[1:])
    if not api_pages.doxygen():
        print("site_pages.py: no program 'doxygen'; install it (Debian: doxygen), or call ./do docs, which does", file=sys.stderr)
        return 1
    site = Site(ROOT, ROOT / "build" / "site-work")
    try:
        site.make_pages()
        if not given.pages_only:
            site.make_html(given.output)
    except Refused as why:
        print(f"site_pages.py: {why}", file=sys.stderr)
        return 1
    shown = given.output.resolve()
    print(f"site: {shown.relative_to(ROOT) if shown.is_relative_to(ROOT) else shown}/index.html; "
          f"{len(site.documents)} documents, {len(site.reference.headers)} headers, {len(site.sources)} sources")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
