#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The documentation site: comments in Doxygen's form, the navigation, the check of the result."""

import sys
import tempfile
import unittest
from pathlib import Path

import tree  # noqa: F401  finds scripts/

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "make"))

from check import site as check  # noqa: E402
from run import chromium  # noqa: E402
from source_text import ROOT  # noqa: E402
import doxygen_comments as comments  # noqa: E402
import site_pages as pages  # noqa: E402


def shown(text):
    return [line for line in comments.doxygen(text.strip("\n").split("\n")) if line]


class Comments(unittest.TestCase):
    def test_parts_are_joined_and_examples_are_code(self):
        self.assertEqual(shown("What it does.\n\nOrder  a before b,\n       and c.\nErrors none.\nCost   one load\n"),
                         ["What it does.", "\\par Order", "a before b, and c.", "\\par Errors", "none.", "\\par Cost", "one load"])
        self.assertEqual(comments.doxygen(["Example", "  f();", "", "  g();", "Source [MCS91]"])[1:],
                         ["\\par Example", "\\code{.cpp}", "f();", "", "g();", "\\endcode", "", "\\par Source", "[\\[MCS91\\]](../docs/maintainers/references.html)", ""])

    def test_labels_become_a_list_and_tables_stay_as_they_are(self):
        self.assertEqual(shown("  EVENT-1  first\n           more\n  EVENT-2  second\n\n  bits  name\n  0     sleep"),
                         ["- **EVENT-1** first", "  more", "- **EVENT-2** second", "\\verbatim", "bits  name", "0     sleep",
                          "\\endverbatim"])

    def test_code_in_a_sentence_is_marked_and_the_rest_is_escaped(self):
        self.assertEqual(comments.prose("run(f) of x.hpp is like std::async, not a_b * 2 < 3, as *member*(s) say, and `x * y`."),
                         "`run(f)` of `x.hpp` is like `std::async`, not `a_b` \\* 2 \\< 3, as *member*(s) say, and `x * y`.")

    def test_what_has_a_page_is_a_link(self):
        self.assertEqual(comments.prose("See team.hpp, decision 0007, docs/faq.md, [MCS91], not wait_engine.hpp."),
                         "See [`team.hpp`](team.html), [decision 0007](../docs/maintainers/decisions/0007-how-long-to-yield.html), "
                         "[`docs/faq.md`](../docs/faq.html), [\\[MCS91\\]](../docs/maintainers/references.html), not `wait_engine.hpp`.")

    def test_a_header_is_left_as_it_is_but_for_its_comments(self):
        text = ["// SPDX", "// lockstep/a.hpp -- does a (layer: sync)", "//", "// More.", "inline namespace LOCKSTEP_ABI {",
                "namespace detail {", "int x;", "}  // namespace detail", "/// Text.", "class a {", "  int b;  ///< its b", "};"]
        self.assertEqual([line for line in comments.cpp(text, True) if line],
                         ["/** \\file", "Does a.", "More.", "*/", "/// \\cond", *text[5:8], "/// \\endcond", "/** ", "Text.", "*/",
                          *text[9:]])
        text[5:8] = ["namespace detail {", "struct b;", "}"]
        self.assertIn("/// \\cond\nnamespace detail {\nstruct b;\n}\n/// \\endcond\n", "\n".join(comments.cpp(text, True)))

    def test_text_of_a_class_before_an_empty_line_belongs_to_it(self):
        self.assertEqual(comments.BEFORE_CLASS.sub(r"\2|\1", "// More.\n\n/// Text.\nclass a;\n"), "/// Text.\n|// More.\nclass a;\n")
        self.assertEqual(shown("a, b     both\n         of them\nc        it"), ["\\verbatim", "a, b     both", "         of them",
                                                                              "c        it", "\\endverbatim"])

    def test_the_comments_of_c(self):
        found = comments.c("/* ---- teams ---- */\n\n/* A team.\n * Two. */\ntypedef int a;\nenum {\n  B = 1 /* done */\n};\n")
        self.assertEqual(found.split("\n")[2:], ["/** ", "A team.", "Two.", "*/", "typedef int a;", "enum {",
                                                 "  B = 1 /**< done */", "};", ""])


    def test_each_public_header_has_its_parts(self):
        for path in pages.public_headers():
            found = comments.converted(path, True)
            for part in ("Order", "Errors", "Cost"):
                self.assertTrue(f"\\par {part}\n" in found, f"{path} has no {part}")


class Navigation(unittest.TestCase):
    def test_each_document_is_in_it_once(self):
        named = [path.relative_to(ROOT).as_posix() for section in pages.SECTIONS.values() for pattern in section.split()
                 for path in ROOT.glob(pattern + ".md")]
        self.assertEqual(len(named), len(set(named)))
        self.assertEqual({path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")} - set(named), set())


class Check(unittest.TestCase):
    """check/site.py on small sites."""

    GOOD = {"api/event.html": '<b id="_CPPv4N8lockstep5eventE">event</b>',
            "index.html": '<a href="api/event.html#_CPPv4N8lockstep5eventE">e</a><a href="https://example.org/">x</a><img src="a.svg">',
            "a.svg": "<svg/>"}

    def complaints(self, changed):
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            (root / "tests/build").mkdir(parents=True)
            (root / "tests/build/public_names.txt").write_text("lockstep/event.hpp event\n")
            for name, text in {**self.GOOD, **changed}.items():
                (root / "site" / name).parent.mkdir(parents=True, exist_ok=True)
                (root / "site" / name).write_text(text)
            return list(check.complaints_of_files(root / "site", root))

    def test_a_whole_site_is_good(self):
        self.assertEqual(self.complaints({}), [])

    def test_links_lead_somewhere_and_to_each_page(self):
        self.assertEqual(self.complaints({"index.html": '<a href="b.html">e</a><a href="api/event.html#none">e</a><a href="#x">e</a>'}),
                         ["index.html: no file 'b.html'", "index.html: no anchor 'api/event.html#none'", "index.html: no anchor '#x'"])
        self.assertEqual(self.complaints({"lost.html": ""}), ["lost.html: no link leads there"])

    def test_each_name_is_on_the_page_of_its_header(self):
        self.assertEqual(self.complaints({"api/event.html": '<b id="_CPPv4N8lockstep6eventsE">', "index.html": '<a href="api/event.html">'}),
                         ["api/event.html: nothing about event"])


@unittest.skipIf(chromium.find() is None, "no browser")
class InTheBrowser(unittest.TestCase):
    def test_errors_foreign_requests_and_wide_pages_are_found(self):
        pages_of = {"good.html": "<p>text</p>", "error.html": "<script>console.error('a')</script>",
                    "thrown.html": "<script>throw new Error('oh')</script>", "lost.html": "<img src=none.svg>",
                    "far.html": "<script>fetch('http://127.0.0.1:9/x').catch(() => 0)</script>",
                    "wide.html": "<div style='width: 500px'>x</div>"}
        with tempfile.TemporaryDirectory() as directory:
            for name, text in pages_of.items():
                Path(directory, name).write_text("<!doctype html><meta name=viewport content='width=device-width'>" + text)
            base = Path(directory).resolve().as_uri() + "/"
            with chromium.Browser(check.PHONE, 800) as browser:
                browser.call("Network.enable")
                found = {name: list(check.complaints_of_page(browser, base, name)) for name in pages_of}
        self.assertEqual([name for name in pages_of if not found[name]], ["good.html"], found)
        self.assertIn("error.html: a", found["error.html"])
        self.assertIn("far.html: asks for http://127.0.0.1:9/x", found["far.html"])
        self.assertIn("pixels wide", "".join(found["wide.html"]))

    def test_a_page_that_is_left_while_it_is_looked_at_is_no_failure(self):
        leaves = "location.pathname.endsWith('second.html') || (location.href = 'second.html', new Promise(() => 0))"
        with tempfile.TemporaryDirectory() as directory:
            for name in ("first.html", "second.html"):
                Path(directory, name).write_text("<!doctype html>text")
            first = Path(directory, "first.html").resolve().as_uri()
            with chromium.Browser() as browser:
                browser.open(first)
                with self.assertRaises(chromium.PageLeft):
                    browser.evaluate("location.href = 'second.html', new Promise(() => 0)")
                browser.open(first)
                self.assertTrue(browser.until(leaves))

    def test_a_search_that_finds_nothing_is_found(self):
        with tempfile.TemporaryDirectory() as directory:
            Path(directory, "search.html").write_text("<!doctype html><div id=search-results><a href=api/one.html>one</a></div>")
            base = Path(directory).resolve().as_uri() + "/"
            with chromium.Browser() as browser:
                browser.seconds = 0.5
                self.assertEqual(list(check.complaints_of_search(browser, base, "one", "api/one.html")), [])
                self.assertEqual(list(check.complaints_of_search(browser, base, "two", "api/two.html")),
                                 ["search: 'two' does not find api/two.html"])


if __name__ == "__main__":
    unittest.main()
