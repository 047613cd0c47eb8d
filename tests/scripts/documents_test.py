#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
import unittest

from tree import SPDX, TreeTest

from check import documents

HEADER = f"{SPDX}// lockstep/event.hpp -- one thread tells another (layer: sync)\n"


class CheckDocuments(TreeTest):
    main = documents.main

    def test_links_to_files_folders_and_headings_are_good(self):
        self.assert_good({"README.md": "[a](docs/a.md#the-teams-1st-part), [b](docs/), [c](#d-e)\n\n## D `e`\n",
                          "docs/a.md": "## The team's 1st part\n[up](../README.md) [web](https://example.org/x#y)\n",
                          "include/lockstep/event.hpp": HEADER})

    def test_a_file_that_is_not_there_is_refused(self):
        self.assert_bad({"README.md": "\n[a](docs/a.md)\n"}, "README.md:2: no file 'docs/a.md'")
        self.assert_bad({"docs/a.md": "[a](../../outside.md)\n"}, "no file '../../outside.md'")

    def test_a_heading_that_is_not_there_is_refused(self):
        self.assert_bad({"README.md": "## One\n[a](#two) [b](b.md#one)\n", "b.md": "text\n"},
                        "no heading '#two' in README.md", "no heading '#one' in b.md")

    def test_the_second_of_two_equal_headings_has_a_number(self):
        self.assert_good({"a.md": "## X\n## X\n[1](#x) [2](#x-1)\n"})
        self.assert_bad({"a.md": "## X\n[2](#x-1)\n"}, "no heading '#x-1'")

    def test_code_has_no_links_and_no_headings(self):
        self.assert_good({"a.md": "```cpp\nf[&](x)\n# no\n```\nand `[&](std::size_t)` too\n"})
        self.assert_bad({"a.md": "```\n## no\n```\n[a](#no)\n"}, "no heading '#no'")

    def test_a_header_needs_the_line_that_the_reference_shows(self):
        self.assert_bad({"include/lockstep/event.hpp": f"{SPDX}// lockstep/event.hpp -- one thread\n"}, "event.hpp:2: the reference")
        self.assert_bad({"include/lockstep/event.hpp": HEADER.replace("/event.hpp --", "/other.hpp --")}, "the reference")


if __name__ == "__main__":
    unittest.main()
