#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
import unittest

from tree import SPDX, TreeTest

import check_openmp_page

SOURCE = "examples/openmp/side.cpp"
PAGE = "docs/coming-from-openmp.md"
GOOD_SOURCE = f"{SPDX}void f() {{\n  // [one]\n#pragma omp for\n  a();\n    b();\n  // [/one]\n}}\n"
GOOD_BLOCK = "<!-- side.cpp: one -->\n```cpp\n#pragma omp for\na();\n  b();\n```\n"


def tree(source=GOOD_SOURCE, page=GOOD_BLOCK):
    return {SOURCE: source, PAGE: page}


class CheckOpenmpPage(TreeTest):
    main = check_openmp_page.main

    def test_a_block_is_its_snippet_indented_less(self):
        self.assert_good(tree())

    def test_a_block_that_differs_is_refused(self):
        self.assert_bad(tree(page=GOOD_BLOCK.replace("a();", "a(1);")), "not what 'one' in side.cpp says")
        self.assert_bad(tree(page=GOOD_BLOCK.replace("  b();\n", "")), "not what 'one'")

    def test_every_block_has_a_label_and_a_snippet(self):
        self.assert_bad(tree(page=GOOD_BLOCK + "```cpp\nc();\n```\n"), "md:7: a code block without a label")
        self.assert_bad(tree(page=GOOD_BLOCK + "<!-- side.cpp: two -->\n```cpp\n```\n"), "no snippet 'two'")
        self.assert_bad(tree(page=GOOD_BLOCK + "<!-- other.cpp: one -->\n```cpp\n```\n"), "no snippet 'one'")

    def test_every_snippet_is_shown_once(self):
        self.assert_bad(tree(page=GOOD_BLOCK + GOOD_BLOCK), "shown twice")
        self.assert_bad(tree(page="nothing\n"), "'one' of side.cpp is not shown")

    def test_marks_come_in_pairs(self):
        self.assert_bad(tree(GOOD_SOURCE + "// [two]\n"), "the mark [two] has no counterpart")
        self.assert_bad(tree(GOOD_SOURCE + "// [/two]\n"), "the mark [/two] has no counterpart")
        self.assert_bad(tree(GOOD_SOURCE + "// [one]\n"), "two snippets 'one'")


if __name__ == "__main__":
    unittest.main()
