#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
import unittest

from tree import SPDX, TreeTest

from check import guards

GUARD = "LOCKSTEP_DETAIL_WAIT_TEST_HPP"
NAME = "include/lockstep/detail/wait/test.hpp"
GOOD = f"{SPDX}#ifndef {GUARD}\n#define {GUARD}\n\nint a;\n\n#endif  // {GUARD}\n"


class Guards(TreeTest):
    main = staticmethod(lambda argv: guards.main([argv[0], "--check", argv[1]]))

    def test_a_header_with_its_guard_is_good(self):
        self.assert_good({NAME: GOOD})

    def test_pragma_once_a_foreign_guard_and_none_are_complained_about(self):
        self.assert_bad({NAME: SPDX + "#pragma once\n\nint a;\n"}, "is not there")
        self.assert_bad({NAME: GOOD.replace("TEST", "OTHER")}, "is not there")
        self.assert_bad({NAME: SPDX + "int a;\n"}, "neither")

    def test_pragma_once_and_a_foreign_guard_are_replaced(self):
        self.assertEqual(guards.guarded(SPDX + "#pragma once\n\nint a;\n", GUARD), GOOD)
        self.assertEqual(guards.guarded(GOOD.replace("TEST", "OTHER"), GUARD), GOOD)
        self.assertEqual(guards.guarded(GOOD, GUARD), GOOD)

    def test_a_condition_at_the_end_is_not_taken_for_the_guard(self):
        text = SPDX + "#pragma once\n\n#ifndef LOCKSTEP_X\nint a;\n#endif\n"
        self.assertTrue(guards.guarded(text, GUARD).endswith(f"int a;\n#endif\n\n#endif  // {GUARD}\n"))


if __name__ == "__main__":
    unittest.main()
