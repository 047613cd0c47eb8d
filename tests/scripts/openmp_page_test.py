#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
import unittest

from tree import SPDX, TreeTest

from check import openmp_page

SOURCE = "examples/openmp/side.cpp"
PAGE = "docs/coming-from-openmp.md"
GOOD_SOURCE = f"{SPDX}void f() {{\n  // [one]\n#pragma omp for\n  a();\n    b();\n  // [/one]\n}}\n"
GOOD_BLOCK = "<!-- side.cpp: one -->\n```cpp\n#pragma omp for\na();\n  b();\n```\n"


def tree(source=GOOD_SOURCE, page=GOOD_BLOCK):
    return {SOURCE: source, PAGE: page}


class CheckOpenmpPage(TreeTest):
    main = openmp_page.main

    def test_a_block_is_its_snippet_indented_less(self):
        self.assert_good(tree())

    def test_a_block_that_differs_is_refused(self):
        self.assert_bad(tree(page=GOOD_BLOCK.replace("a();", "a(1);")), "not what 'one' in side.cpp says")
        self.assert_bad(tree(page=GOOD_BLOCK.replace("  b();\n", "")), "not what 'one'")

    def test_readme_and_questions_show_the_numbered_examples(self):
        files = {"examples/01_x.cpp": GOOD_SOURCE, "README.md": GOOD_BLOCK.replace("side", "01_x")}
        self.assert_good(files | tree())
        self.assert_good({"docs/faq.md" if name == "README.md" else name: text for name, text in files.items()})
        self.assert_bad(files | {"README.md": files["README.md"].replace("a();", "b();")}, "not what 'one' in 01_x.cpp")
        self.assert_bad(files | {"README.md": GOOD_BLOCK}, "README.md:2: there is no snippet 'one' in side.cpp", "no page shows")
        self.assert_bad(files | {"docs/faq.md": files["README.md"]}, "shown twice")

    def test_blocks_that_are_no_code_need_no_label(self):
        self.assert_good(tree(page="```\n./do test\n```\n" + GOOD_BLOCK + "```cmake\nadd()\n```\n"))

    def test_every_block_has_a_label_and_a_snippet(self):
        self.assert_bad(tree(page=GOOD_BLOCK + "```cpp\nc();\n```\n"), "md:7: a code block without a label")
        self.assert_bad(tree(page=GOOD_BLOCK + "<!-- side.cpp: two -->\n```cpp\n```\n"), "no snippet 'two'")
        self.assert_bad(tree(page=GOOD_BLOCK + "<!-- other.cpp: one -->\n```cpp\n```\n"), "no snippet 'one'")

    def test_a_block_may_say_who_else_compiles_it_or_why_nobody(self):
        other = "<!-- compiled by try.py -->\n```cpp\nc();\n```\n"
        self.assert_good(tree(page=GOOD_BLOCK + other) | {"try.py": f"{SPDX}# coming-from-openmp.md\n"})
        self.assert_bad(tree(page=GOOD_BLOCK + other), "try.py does not name coming-from-openmp.md")
        self.assert_good(tree(page=GOOD_BLOCK + other.replace("compiled by try.py", "not compiled: needs hardware")))

    def test_every_snippet_is_shown_once(self):
        self.assert_bad(tree(page=GOOD_BLOCK + GOOD_BLOCK), "shown twice")
        self.assert_bad(tree(page="nothing\n"), "no page shows 'one'")

    def test_marks_come_in_pairs(self):
        self.assert_bad(tree(GOOD_SOURCE + "// [two]\n"), "the mark [two] has no counterpart")
        self.assert_bad(tree(GOOD_SOURCE + "// [/two]\n"), "the mark [/two] has no counterpart")
        self.assert_bad(tree(GOOD_SOURCE + "// [one]\n"), "the mark [one] has no counterpart")

    def test_a_snippet_of_two_parts_is_shown_as_one(self):
        source = GOOD_SOURCE + "// [one]\n}\n// [/one]\n"
        self.assert_good(tree(source, GOOD_BLOCK.replace("  b();\n", "  b();\n}\n")))
        self.assert_bad(tree(source), "not what 'one' in side.cpp says")


if __name__ == "__main__":
    unittest.main()
