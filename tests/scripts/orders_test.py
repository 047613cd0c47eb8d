#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
import unittest

from tree import TreeTest, header

from check import orders

TABLE = """//
// Memory order (# marks the line)
//   #  access            order    pairs  why it suffices
//   1  phase_.load       relaxed  -      our own arrival comes first, see 2,
//                                        on every machine
//   2  phase_ change     release  1      the other half
//
// Cost   3 system calls
"""
GOOD = """
auto p = phase_.load(memory_order_relaxed);  // 1
engine_.change_and_notify_all(phase_, p + 1);  // 2
"""


class CheckOrders(TreeTest):
    main = orders.main

    def tree(self, body, banner=TABLE):
        return {"include/lockstep/x.hpp": header("x.hpp", body, layer="sync", banner=banner)}

    def good(self, body, banner=TABLE):
        self.assert_good(self.tree(body, banner))

    def bad(self, body, *expected, banner=TABLE):
        self.assert_bad(self.tree(body, banner), *expected)

    def test_a_table_is_good_for_what_follows_it_up_to_the_next(self):
        second = TABLE.replace("  2  phase_ change     release  1      the other half\n//", "").replace("(", "(again, ")
        self.good(GOOD + second + "auto q = phase_.load(memory_order_relaxed);  // 1\n")
        self.bad(GOOD + second + GOOD, "row 2 is not in the table")
        self.bad(second.join(["auto p = phase_.load(memory_order_relaxed);  // 1\n", GOOD]), "row 2 is cited by no",
                 "row 2 is not in the table")
        self.bad(GOOD + second, "row 1 is cited by no access")

    def test_bodies_without_a_table_have_that_of_their_header(self):
        files, source = self.tree("int x;"), "src/sync/x.cpp"
        self.assert_good({**files, source: GOOD})
        self.assert_bad({**files, source: GOOD.replace("// 2", "// 3")}, "row 3 is not in the table",
                        "row 2 is cited by no")
        self.assert_good({**self.tree("int x;", banner=""), source: TABLE + GOOD})
        self.assert_bad({**self.tree("int x;", banner=""), source: GOOD}, "no table 'Memory order'")

    def test_every_order_marked_and_every_row_cited_is_good(self):
        self.good(GOOD)
        self.good("thread_fence(std::memory_order_seq_cst);  // 1, 2\n")
        self.good("thread_fence(std::memory_order::seq_cst);  // 1, 2: both\n")

    def test_a_statement_over_several_lines_carries_the_mark_where_the_order_stands(self):
        self.good(GOOD + "word_.compare_exchange_strong(\n    old, next,\n"
                         "    memory_order_acq_rel,   // 2\n    memory_order_relaxed);  // 1\n")
        self.bad(GOOD + "word_.compare_exchange_strong(  // 2\n    old, next, memory_order_acq_rel,  // 2\n"
                        "    memory_order_relaxed);\n", "x.hpp:17: a memory order without")

    def test_an_order_without_a_mark_is_bad(self):
        self.bad(GOOD + "phase_.store(1, memory_order_release);\n", "x.hpp:15: a memory order without")
        self.bad(GOOD + "phase_.store(1, memory_order_release);  // see 2\n", "without the number")

    def test_a_mark_that_the_table_lacks_is_bad(self):
        self.bad(GOOD + "phase_.store(1, memory_order_release);  // 3\n", "row 3 is not in the table")

    def test_a_row_that_nothing_cites_is_bad(self):
        self.bad("phase_.load(memory_order_relaxed);  // 1\n", "x.hpp:8: row 2 is cited by no access")
        self.bad("phase_.load(memory_order_relaxed);  // 1\n// 2\n", "row 2 is cited by no access")

    def test_a_mark_on_a_line_without_access_is_bad_and_cites_nothing(self):
        self.bad("phase_.load(memory_order_relaxed);  // 1\nint n = 3;  // 2\n",
                 "a row number on a line without access", "row 2 is cited by no access")

    def test_an_order_left_to_the_default_is_bad(self):
        for access in ("phase_.load()", "phase_.store(f(1))", "p->fetch_add(1)", "a.exchange(\n2)"):
            self.bad(GOOD + access + ";\n", "leaves its memory order to the default")

    def test_an_operator_on_an_atomic_is_bad(self):
        declared = GOOD + "platform::atomic<std::uint32_t> word_{0};\nwait_word phase_;\n"
        self.good(declared + "x(int w) : word_(w), phase_{0} {}\nif (word_ == 1) ++my_word_;\n")
        for use in ("++word_;", "phase_--;", "word_ = 3;", "phase_ += 2;", "word_ |= 4;"):
            self.bad(declared + use + "\n", "accessed by an operator")

    def test_a_name_that_is_not_always_an_atomic_is_not_judged_by_its_operators(self):
        self.good(GOOD + "wait_word phase{0};\nstd::uint32_t phase = 0;\nself.phase = target;\n")

    def test_a_function_of_the_header_may_share_the_name_of_an_access(self):
        own = "std::uint32_t load() const { return word_.load(memory_order_relaxed); }  // 1\n"
        self.good(GOOD + own + "auto now = state.load();\n")
        self.bad(GOOD + own + "wait_word word_;\nauto now = word_.load();\n", "leaves its memory order")

    def test_an_order_passed_on_as_a_parameter_needs_no_mark(self):
        self.good("T load(std::memory_order order) { return value_.load(order); }\n", banner="")

    def test_atomic_accesses_without_a_table_are_bad(self):
        self.bad("phase_.load(memory_order_relaxed);\n", "no table 'Memory order'", banner="")
        self.bad("phase_.load(memory_order_relaxed);  // 1\n", "no table 'Memory order'", banner="")

    def test_a_header_without_atomics_needs_no_table(self):
        self.good("using std::memory_order_relaxed;\nint n = 3;  // 64 yields\n", banner="")

    def test_words_in_comments_and_strings_are_no_accesses(self):
        self.good(GOOD + '// phase_.load() and memory_order_relaxed\nauto s = "x.load(memory_order_x)";\n'
                         "/* phase_.store(1)\n memory_order_seq_cst */\n")


if __name__ == "__main__":
    unittest.main()
