#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The documentation site: comments as Markdown, documents for the generator, the check of the result, the reference."""

import sys
import tempfile
import unittest
from pathlib import Path

import tree  # noqa: F401  finds scripts/

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "make"))

from check import site as check  # noqa: E402
from run import chromium  # noqa: E402
import api_pages  # noqa: E402
import c_page  # noqa: E402
import comment_text  # noqa: E402
import site_pages as pages  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]


def shown(text, links=lambda kind, name: None):
    return "\n".join(comment_text.Writer(links).markdown(comment_text.parse(text.strip("\n").split("\n"))))


class Comments(unittest.TestCase):
    def test_lines_of_a_paragraph_are_joined(self):
        self.assertEqual(shown("one\ntwo\n\nthree").strip(), "one two\n\nthree")

    def test_parts_become_a_list_of_definitions(self):
        text = "What it does.\n\nOrder  a before b,\n       and c.\nErrors none.\nCost   one load\n"
        self.assertEqual(shown(text).split("\n"), ["What it does.", "", "Order", ":   a before b, and c.", "", "Errors",
                                                   ":   none.", "", "Cost", ":   one load", ""])

    def test_an_example_is_code_and_ends_where_it_is_not_indented(self):
        self.assertEqual(shown("Example\n  f();\n\n  g();\nSource [MCS91]"),
                         "**Example**\n\n```cpp\nf();\n\ng();\n```\n\nSource\n:   \\[MCS91\\]\n")

    def test_labels_are_named_and_their_lines_joined(self):
        self.assertEqual(shown("  EVENT-1  first\n           more\n  EVENT-2  second").split("\n"),
                         ["EVENT-1", ":   first more", "", "EVENT-2", ":   second", ""])

    def test_tables_stay_as_they_are(self):
        table = "  bits  name   meaning   set by\n  0     sleep  a waiter  it\n"
        self.assertEqual(shown(table).split("\n")[0], "```text")
        self.assertIn("??? note", shown("Memory order (# marks the line)\n  #  access  order\n  1  load    relaxed\n"))

    def test_code_in_a_sentence_is_marked_and_the_rest_is_escaped(self):
        self.assertEqual(shown("run(f) is like std::async, not a_b * 2 < 3 [first, last).").strip(),
                         "`run(f)` is like `std::async`, not `a_b` \\* 2 &lt; 3 \\[first, last).")
        self.assertEqual(shown("As member(s) (see below), wait() and `x * y`.").strip(),
                         "As member(s) (see below), `wait()` and `x * y`.")

    def test_what_has_a_page_is_a_link(self):
        def links(kind, name):
            return {"header": "x.md", "label": "y.md#L", "decision": "d.md", "document": "f.md"}.get(kind)
        self.assertEqual(shown("See team.hpp (TEAM-1), decision 0007, docs/faq.md.", links).strip(),
                         "See [`team.hpp`](x.md) ([TEAM-1](y.md#L)), [decision 0007](d.md), [`docs/faq.md`](f.md).")


class InterfaceOfC(unittest.TestCase):
    HEADER = """/* SPDX-License-Identifier: MIT
 * lockstep.h -- the C interface
 *
 * C99.
 */
#ifndef LOCKSTEP_H
/* ---- teams ---------- */

/* A team. */
typedef struct lockstep_team lockstep_team;

enum {
  LOCKSTEP_OK = 0,      /* done */
  LOCKSTEP_STOPPED = -1 /* ended early */
};

/* Runs it.
 * Cost: little. */
LOCKSTEP_C_API int lockstep_run(lockstep_team* team,
                                int (*f)(void*));
/* Both end it. */
LOCKSTEP_C_API void lockstep_end(lockstep_team* team);
LOCKSTEP_C_API void lockstep_end_now(lockstep_team* team);

/* Text of the section. */

#ifdef __cplusplus
}
#endif
"""

    def test_each_declaration_has_its_names_its_text_and_its_comment(self):
        found = list(c_page.items(self.HEADER))
        self.assertEqual(found[0], ("section", "teams"))
        entries = [(c_page.names_of(item[2]), item[1]) for item in found if item[0] == "entry"]
        self.assertEqual(entries, [(["lockstep_team"], ["A team."]), (["LOCKSTEP_OK", "LOCKSTEP_STOPPED"], []),
                                   (["lockstep_run"], ["Runs it.", "Cost: little."]),
                                   (["lockstep_end", "lockstep_end_now"], ["Both end it."])])
        self.assertEqual(found[-1], ("text", ["Text of the section."]))


class Documents(unittest.TestCase):
    def test_a_list_follows_an_empty_line(self):
        self.assertEqual(pages.for_python_markdown("text:\n- a\n- b"), "text:\n\n- a\n- b")

    def test_what_is_in_a_list_is_indented_by_four(self):
        self.assertEqual(pages.for_python_markdown("- a\n\n  more\n  - b\n\n1. c\n   d"),
                         "- a\n\n    more\n    - b\n\n1. c\n    d")

    def test_code_is_not_touched(self):
        text = "a\n```\n- b\n  - c\n```\n- d"
        self.assertEqual(pages.for_python_markdown(text), text.replace("```\n- d", "```\n\n- d"))

    def test_each_document_is_on_the_site_once(self):
        found = [name for _, files in pages.sections(ROOT) for name in files]
        self.assertEqual(len(found), len(set(found)))
        written = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")}
        self.assertEqual(written - set(found), set())


class Check(unittest.TestCase):
    """check/site.py on small sites; the part in a browser is tried by ./do docs --check."""

    def complaints(self, files):
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            (root / "include/lockstep").mkdir(parents=True)
            (root / "include/lockstep/event.hpp").touch()
            (root / "tests/build").mkdir(parents=True)
            (root / "tests/build/public_names.txt").write_text("lockstep/event.hpp event\n")
            site = root / "site"
            for name, text in files.items():
                (site / name).parent.mkdir(parents=True, exist_ok=True)
                (site / name).write_text(text)
            return list(check.complaints_of_files(site, root))

    GOOD = {"api/event.html": '<h2 id="event">class event</h2>',
            "index.html": '<a href="api/event.html#event">e</a><a href="https://example.org/">x</a><img src="a.svg">',
            "a.svg": "<svg/>"}

    def test_a_whole_site_is_good(self):
        self.assertEqual(self.complaints(self.GOOD), [])

    def test_links_lead_somewhere(self):
        bad = self.GOOD | {"index.html": '<a href="api/events.html">e</a><a href="api/event.html#none">e</a><a href="#x">e</a>'}
        self.assertEqual(self.complaints(bad), ["index.html: no file 'api/events.html'", "index.html: no anchor 'api/event.html#none'",
                                                "index.html: no anchor '#x'"])

    def test_nothing_is_taken_from_elsewhere(self):
        bad = self.GOOD | {"b.html": '<script src="https://example.org/a.js"></script><link rel="stylesheet" href="//example.org/b">'}
        self.assertEqual(len(self.complaints(bad)), 2)

    def test_each_header_has_a_page_and_each_name_a_heading(self):
        self.assertEqual(self.complaints({"index.html": ""}), ["no page for include/lockstep/event.hpp"])
        self.assertEqual(self.complaints(self.GOOD | {"api/event.html": '<h2 id="event">class events</h2>'}),
                         ["api/event.html: no heading for event"])


class Pictures(unittest.TestCase):
    def test_a_picture_that_is_there_is_below_its_paragraph_and_opens_in_full(self):
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            (root / "docs/figures").mkdir(parents=True)
            (root / "docs/figures/a-b.svg").write_text("<svg/>")
            site = pages.Site(root, root / "work")
            self.assertEqual(site.with_pictures("See `docs/figures/a-b.svg`.\n\nMore of `c.svg`.", "seeds/x.md"),
                             "See `docs/figures/a-b.svg`.\n\n[![a b](../pictures/a-b.svg)](../pictures/a-b.svg)\n\nMore of `c.svg`.")


@unittest.skipIf(chromium.find() is None, "no browser")
class InTheBrowser(unittest.TestCase):
    def test_errors_foreign_requests_and_wide_pages_are_found(self):
        pages_of = {"good.html": "<p>text</p>", "error.html": "<script>console.error('a', 1)</script>",
                    "thrown.html": "<script>throw new Error('oh')</script>", "lost.html": "<img src=none.svg>",
                    "far.html": "<script>fetch('http://127.0.0.1:9/x').catch(() => 0)</script>",
                    "wide.html": "<div style='width: 500px'>x</div>"}
        with tempfile.TemporaryDirectory() as directory:
            for name, text in pages_of.items():
                Path(directory, name).write_text("<!doctype html><meta name=viewport content='width=device-width'>"
                                                 "<link rel=icon href=data:,>" + text)
            with check.Server(Path(directory)) as server, chromium.Browser(check.PHONE, 800) as browser:
                browser.call("Network.enable")
                found = list(check.each_page(browser, server.url, pages_of))
        for name in pages_of:
            of_page = [complaint for complaint in found if complaint.startswith(name)]
            self.assertEqual(bool(of_page), name != "good.html", found)
        self.assertIn("error.html: a 1", found)
        self.assertIn("far.html: asks for http://127.0.0.1:9/x", found)
        self.assertTrue(any("pixels wide" in complaint for complaint in found))


    def test_a_page_that_is_left_while_it_is_looked_at_is_no_failure(self):
        leaves = "location.pathname.endsWith('second.html') || (location.href = 'second.html', new Promise(() => 0))"
        with tempfile.TemporaryDirectory() as directory:
            for name in ("first.html", "second.html"):
                Path(directory, name).write_text("<!doctype html><link rel=icon href=data:,>text")
            with check.Server(Path(directory)) as server, chromium.Browser() as browser:
                browser.open(server.url + "first.html")
                with self.assertRaises(chromium.PageLeft):
                    browser.evaluate("location.href = 'second.html', new Promise(() => 0)")
                browser.open(server.url + "first.html")
                self.assertTrue(browser.until(leaves))

    def test_a_search_that_finds_nothing_or_leads_elsewhere_is_found(self):
        pages_of = {"index.html": "<input type=search oninput=\"document.getElementById('found').href ="
                                  " this.value === 'one' ? 'one.html' : 'two.html?'\"><a id=found href=>found</a>",
                    "one.html": "one", "two.html": "two"}
        with tempfile.TemporaryDirectory() as directory:
            for name, text in pages_of.items():
                Path(directory, name).write_text("<!doctype html><link rel=icon href=data:,>" + text)
            with check.Server(Path(directory)) as server, chromium.Browser() as browser:
                browser.seconds = 0.5
                self.assertEqual(list(check.search(browser, server.url, [("one", "/one.html")])), [])
                self.assertEqual(list(check.search(browser, server.url, [("one", "/three.html")])),
                                 ["search: 'one' does not find /three.html"])


@unittest.skipIf(api_pages.doxygen() is None, "no doxygen")
class Reference(unittest.TestCase):
    def test_every_public_header_and_name_has_its_place(self):
        with tempfile.TemporaryDirectory() as directory:
            made = api_pages.Pages(ROOT, Path(directory), {}, {}, {})
            texts = {header: made.page(header) for header in made.headers}
        self.assertEqual(len(texts), len(api_pages.public_headers(ROOT)))
        for line in (ROOT / "tests/build/public_names.txt").read_text().splitlines():
            header, _, name = line.partition(" ")
            if f"include/{header}" in texts:
                self.assertRegex(texts[f"include/{header}"], rf"(?m)^##+ .*`{name}\b", f"{name} has no heading")
        for header, text in texts.items():
            for part in ("Order", "Errors", "Cost"):
                self.assertRegex(text, rf"(?m)^{part}\n:   \S", f"{header} has no {part}")
        self.assertIn("bool run(Function&& f, call_site where = {});", texts["include/lockstep/team.hpp"])
        self.assertIn("sub_team first(std::size_t k, call_site where = {});", texts["include/lockstep/member.hpp"])
        self.assertNotIn("detail::if_bounds", texts["include/lockstep/member.hpp"])


if __name__ == "__main__":
    unittest.main()
