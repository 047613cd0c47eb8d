#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
import sys
import unittest
from pathlib import Path

from tree import TreeTest, header

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "check"))
import api

LATCH = "include/lockstep/latch.hpp"
PARTS = "// Order  none.\n// Errors none.\n// Cost   one load.\n// Example\n//   latch one(1);\n//   one.wait();\n"
CLASS = "/// Lets threads pass.\nclass latch {\n};\n"


def tree(banner=PARTS, body=CLASS):
    return {LATCH: header("latch.hpp", banner=banner, body=body, layer="sync")}


class Api(TreeTest):
    main = api.main

    def test_the_parts_may_be_in_the_banner_or_above_the_class(self):
        self.assert_good(tree())
        self.assert_good(tree("", "/// Lets threads pass.\n" + PARTS.replace("// ", "/// ") + "class latch {\n};\n"))
        self.assert_good(tree("", PARTS + "\n" + CLASS))
        self.assert_good(tree(body=CLASS.replace("class latch", "template <class Type>\nclass latch")))

    def test_each_part_has_to_be_there(self):
        for part in ("Order", "Errors", "Cost", "Example"):
            self.assert_bad(tree(PARTS.replace(part, "Fiction")), f"class latch lacks '{part}'")

    def test_each_class_has_to_say_what_it_does(self):
        self.assert_bad(tree(body="class latch {\n};\n"), "class latch lacks a sentence")
        self.assert_bad(tree(body=CLASS + "struct gate {\n};\n"), "class gate lacks a sentence")
        self.assert_bad(tree(body="/// no sentence\nclass latch {\n};\n"), "class latch lacks a sentence")

    def test_what_is_no_class_of_users_needs_nothing(self):
        self.assert_good(tree("", "class latch;\n"))
        self.assert_good(tree("", "namespace detail {\nclass latch {\n};\n}  // namespace detail\n"))
        self.assert_good({"include/lockstep/detail/wait/latch.hpp": header("detail/wait/latch.hpp", CLASS, "wait")})

    def test_an_example_has_code(self):
        self.assert_bad(tree(PARTS.split("//   latch")[0]), "an example without code")

    def test_a_call_site_is_not_kept(self):
        kept = {"include/lockstep/detail/wait/a.hpp": header("detail/wait/a.hpp", "struct a {\n  call_site where;\n};\n")}
        self.assert_bad(kept, "a.hpp:5: a kept call_site: make it a source_place")
        kept = {path: text.replace("call_site", "source_place") for path, text in kept.items()}
        self.assert_good(kept)

    def test_examples_end_at_an_empty_line_or_a_word(self):
        lines = [*PARTS.splitlines(), "// Source [A]", "", "/// Example", "///   void f() {}", "///", "///   no code"]
        self.assertEqual(
            [code for _, _, code in api.examples_of(lines)], [["latch one(1);", "one.wait();"], ["void f() {}"]]
        )

    def test_an_example_may_need_a_later_standard(self):
        lines = ["// Example for C++20", "//   co_return;"]
        self.assertEqual(list(api.examples_of(lines)), [(2, "20", ["co_return;"])])


if __name__ == "__main__":
    unittest.main()
