#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
import unittest

from tree import TreeTest, header

from check import labels

LATCH = "include/lockstep/latch.hpp"
BANNER = "//   LATCH-1  n only falls.\n//   LATCH-2  A waiter sleeps\n//            on a word (LATCH-1).\n"


def tree(**files):
    """A header with the labels LATCH-1 and LATCH-2, and files by the names of the arguments."""
    paths = {"test": "tests/latch_test.cpp", "document": "docs/guarantees.md", "decision": "docs/maintainers/decisions/0001-a.md"}
    found = {paths[name]: text for name, text in files.items()}
    found[LATCH] = header("latch.hpp", banner=BANNER, layer="sync")
    return found


class CheckLabels(TreeTest):
    main = labels.main

    def test_what_is_defined_may_be_cited(self):
        self.assert_good(tree(test="// LATCH-1\nTEST(latch, LATCH_2_opens) {}\n", document="(LATCH-1, LATCH-2)\n"))

    def test_a_number_that_nobody_defines_is_refused(self):
        self.assert_bad(tree(test="// see LATCH-3\n"), "latch_test.cpp:1: LATCH-3 is defined nowhere")
        self.assert_bad(tree(test="TEST(latch, LATCH_3_opens) {}\n"), "LATCH-3 is defined nowhere")
        self.assert_bad(tree(document="one (LATCH-1)\ntwo (LATCH-4)\n"), "guarantees.md:2: LATCH-4")

    def test_a_document_cites_no_unknown_word_and_no_short_label(self):
        self.assert_bad(tree(document="(GATE-1)\n"), "GATE-1 is defined nowhere")
        self.assert_bad(tree(document="(T1)\n"), "T1 is defined nowhere")
        self.assert_good(tree(document="text in UTF-8\n"))

    def test_a_label_of_one_letter_is_refused(self):
        files = tree()
        files["include/lockstep/gate.hpp"] = header("gate.hpp", banner="//   G1  opens\n", layer="sync")
        self.assert_bad(files, "gate.hpp:3: G1: a label is a word, a hyphen and a number")
        for name in ("G1_opens", "opens_G1", "opens_G1_LATCH_2"):
            self.assert_bad(tree(test=f"TEST_P(gate, {name}) {{}}\n"), "latch_test.cpp:1: G1 is defined nowhere")

    def test_what_is_not_ours_is_left_alone_in_sources(self):
        self.assert_good(tree(test="// SHA-256, ISO-8859-1, LOCKSTEP_ABI_1\n"))

    def test_decisions_keep_the_labels_of_their_time(self):
        self.assert_good(tree(decision="(LATCH-9)\n"))

    def test_a_label_is_defined_once(self):
        files = tree()
        files["include/lockstep/gate.hpp"] = header("gate.hpp", banner="//   LATCH-2  again\n", layer="sync")
        self.assert_bad(files, "LATCH-2 is defined in include/lockstep/gate.hpp:3, too")


if __name__ == "__main__":
    unittest.main()
