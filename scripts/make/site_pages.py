#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the documentation site in build/site: Sphinx shows the documents, and what Doxygen finds in the headers.

usage: site_pages.py     (in the environment of docs/site/requirements.txt; ./do docs makes it)

Sphinx reads a copy of the repository in build/site-work/source, with a page for each public header, Doxygen one of the
headers in build/site-work/headers, with their comments in its form (doxygen_comments.py); breathe is between the two.
A link that leads nowhere, and a document that SECTIONS does not name, end the build.
"""

import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from source_text import ROOT  # noqa: E402

import doxygen_comments  # noqa: E402

WORK = ROOT / "build" / "site-work"
# The navigation: each document of the repository in one section.
SECTIONS = {
    "Start": "docs/README docs/guide docs/overview docs/faq docs/packages",
    "Guides": "docs/coming-from-openmp docs/graphs docs/what-a-loop-costs docs/visibility docs/misuse "
              "docs/openmp docs/adapters docs/ports docs/mpi",
    "Languages": "docs/languages bindings/*/README",
    "Reference": "api/index",
    "Promises": "docs/guarantees docs/performance docs/stability SECURITY CHANGELOG",
    "For maintainers": "CONTRIBUTING docs/maintainers/architecture docs/maintainers/memory-model docs/maintainers/glossary "
                       "docs/maintainers/tests docs/maintainers/evidence docs/maintainers/platforms docs/site/README "
                       "docs/maintainers/references docs/maintainers/licences",
    "Benchmarks": "bench/README bench/*/README",
    "Decisions": "docs/maintainers/decisions/README docs/maintainers/decisions/0*",
    "Seeds": "docs/maintainers/seeds/README docs/maintainers/seeds/0*",
}
UMBRELLAS = ("lockstep.hpp", "mpi.hpp", "toolbox.hpp")
FAMILIES = {"team": "Teams and loops", "sync": "Primitives for threads of your own", "graph": "Graphs", "toolbox": "Toolbox",
            "trace": "Timelines, ledgers, watchdog", "mpi": "Inside MPI", "": "What all share"}


def public_headers():
    include = ROOT / "include" / "lockstep"
    return [path for pattern in ("*.hpp", "mpi/*.hpp") for path in sorted(include.glob(pattern)) if path.name not in UMBRELLAS]


def read_headers():
    """What Doxygen finds: {name: its kind}."""
    for path in [*(ROOT / "include" / "lockstep").rglob("*.hpp"), ROOT / "bindings/c/lockstep.h"]:
        copy = WORK / "headers" / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(doxygen_comments.converted(path, is_public=path in public_headers()))
    subprocess.run(["doxygen", ROOT / "docs/site/Doxyfile"], cwd=WORK / "headers", check=True)
    index, kinds, templates = ElementTree.parse(WORK / "xml/index.xml"), {}, {}
    files = {path: ElementTree.parse(path) for pattern in ("class*.xml", "struct*.xml", "*_8h*.xml")
             for path in (WORK / "xml").glob(pattern)}
    for found in files.values():
        templates.update((member.get("id"), member.find("templateparamlist")) for member in found.iter("memberdef")
                         if member.find("templateparamlist") is not None)
    for compound in index.getroot():
        kinds[compound.findtext("name")] = compound.get("kind")
        for member in compound.findall("member"):
            kinds[f"{compound.findtext('name')}::{member.findtext('name')}"] = member.get("kind")
        path = WORK / "xml" / f"{compound.get('refid')}.xml"
        if path in files:
            prepare(files[path].find("compounddef"), compound, templates)
            files[path].write(path)
    index.write(WORK / "xml/index.xml")
    return kinds


def prepare(compound, entry, templates):
    """Breathe shows what is in a header, by its whole name: what a class inherits is moved to where the class is."""
    file = compound.find("location").get("file")
    if entry.get("kind") == "file":
        entry.find("name").text = file
        return
    for section in compound.findall("sectiondef"):
        if not section.get("kind").startswith("public"):
            compound.remove(section)
        for member in section.findall("memberdef"):
            member.find("location").set("file", file)
            member.set("inline", "no")
            if member.find("templateparamlist") is None and member.get("id") in templates:  # Doxygen forgets those of bases
                member.insert(0, templates[member.get("id")])
            if member.findtext("argsstring", "").startswith("(Arguments &&"):  # says why a call fits no other
                section.remove(member)


def documents():
    """A copy of the repository: links to folders lead to a page, pictures that a paragraph names stand below it."""
    source = WORK / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns("build", ".*", "__pycache__", "target"))
    for name in sorted(source.rglob("*.md")):
        def link(found):
            folder = (name.parent / found.group(1)).resolve()
            if not folder.is_dir():
                return found.group()
            if folder == source / "include/lockstep":
                return "](/api/index.md)"
            if (folder / "README.md").is_file():
                return f"]({found.group(1)}/README.md)"
            files = [f"- [{path.name}]({path.name})\n" for path in sorted(folder.iterdir()) if path.is_file()]
            (folder / "index.md").write_text(f"---\norphan: true\n---\n# {folder.relative_to(source)}\n\n{''.join(files)}")
            return f"]({found.group(1)}/index.md)"

        def with_pictures(found):
            pictures = re.findall(r"`(docs/(?:pictures|figures)/[\w-]+\.(?:svg|png))`", found.group())
            return found.group() + "".join(f"\n[![{Path(picture).stem}](/{picture})](/{picture})\n" for picture in pictures)

        text = re.sub(r"\]\(([^)#:\s]+?)/?\)", link, name.read_text())
        name.write_text(re.sub(r"(?:[^\n]+\n)+", with_pictures, text))
    with (source / "README.md").open("a") as file:
        for title, pages in SECTIONS.items():
            file.write(f"\n```{{toctree}}\n:hidden:\n:glob:\n:caption: {title}\n" + "\n".join(pages.split()) + "\n```\n")


def reference(kinds):
    """The pages of the headers, and the one that lists them."""
    public = (ROOT / "tests/build/public_names.txt").read_text()
    api = WORK / "source" / "api"
    api.mkdir()
    families = {}
    for path in public_headers():
        header = path.relative_to(ROOT / "include").as_posix()
        title, layer = re.match(r".*\n// \S+ -- (.*?)(?: \(layer: (\w+)\))?\n", path.read_text()).groups()
        name = header.removeprefix("lockstep/").removesuffix(".hpp").replace("/", "_")
        shown = [f"```{{doxygenfile}} {header}\n```"]
        for used in re.findall(r"^using detail::(\w+);", path.read_text(), re.MULTILINE):
            shown.append(f"```{{doxygen{kinds[f'lockstep::detail::{used}']}}} lockstep::detail::{used}\n```")
        for macro in re.findall(rf"^{header} (LOCKSTEP_\w+)$", public, re.MULTILINE):
            shown.append(f"```{{doxygendefine}} {macro}\n```")
        (api / f"{name}.md").write_text(f"# {header.removeprefix('lockstep/')}\n\n`#include <{header}>`\n\n" + "\n\n".join(shown))
        layer = "team" if layer in ("region", "loop", "reduce") else layer
        family = families.setdefault(FAMILIES.get(layer, FAMILIES[""]), [])
        family.append((f"{name}.md", header.removeprefix("lockstep/"), title))
    (api / "lockstep_h.md").write_text("# lockstep.h: the C interface\n\n```{doxygenfile} lockstep.h\n```\n")
    text = ["# Reference",
            "Each public header, from its comments. `#include <lockstep/lockstep.hpp>` includes all of them but those of the "
            "toolbox, which `#include <lockstep/toolbox.hpp>` includes, and those for use inside MPI: `#include <lockstep/mpi.hpp>`. [lockstep.h](lockstep_h.md) is the C interface.",
            "```{toctree}\n:hidden:\nlockstep_h\n```"]
    for family in FAMILIES.values():
        items = families.get(family, [])
        text += [f"## {family}", *(f"- [{shown}]({page}): {doxygen_comments.prose(title)}" for page, shown, title in items),
                 "```{toctree}\n:hidden:\n" + "\n".join(page.removesuffix(".md") for page, _, _ in items) + "\n```"]
    (api / "index.md").write_text("\n\n".join(text) + "\n")


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    documents()
    reference(read_headers())
    site = ROOT / "build" / "site"
    shutil.rmtree(site, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "--jobs", "auto",
                    "--conf-dir", ROOT / "docs/site", "--doctree-dir", WORK / "doctrees", WORK / "source", site], check=True)
    shutil.copy(site / "README.html", site / "index.html")
    print("site: build/site/index.html")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as failed:
        sys.exit(failed.returncode)
