#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
import sys
import unittest
from pathlib import Path

from tree import TreeTest, header

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "check"))
import header_tests  # noqa: E402

EVENT = "include/lockstep/event.hpp"
BOARD = "include/lockstep/detail/wait/board.hpp"
BOARD_LINES = "include/lockstep/detail/wait/board_lines.hpp"
LIST = "tests/covered_elsewhere.txt"


def tree(*tests, listed=None):
    """A header of sync, two of wait, and empty tests."""
    files = {EVENT: header("event.hpp", layer="sync"), BOARD: header("detail/wait/board.hpp", layer="wait"),
             BOARD_LINES: header("detail/wait/board_lines.hpp", layer="wait")}
    files.update({f"tests/{test}": "" for test in tests})
    if listed is not None:
        files[LIST] = listed
    return files


class RoomTests(TreeTest):
    main = header_tests.main

    def test_a_test_of_the_same_name_in_the_room_suffices(self):
        self.assert_good(tree("sync/event_test.cpp", "wait/board_test.cpp", "wait/board_lines_test.cpp"))

    def test_a_test_of_a_part_suffices(self):
        self.assert_good(tree("sync/event_sleep_test.cpp", "wait/board_test.cpp", "wait/board_lines_seldom_test.cpp"))

    def test_a_test_is_of_the_header_with_the_longest_name(self):
        self.assert_bad(tree("sync/event_test.cpp", "wait/board_lines_test.cpp"), "board.hpp:1: has no tests/wait/board_test.cpp")

    def test_a_test_in_another_room_does_not_count(self):
        self.assert_bad(tree("wait/event_test.cpp", "wait/board_test.cpp", "wait/board_lines_test.cpp"),
                        "event.hpp:1: has no tests/sync/event_test.cpp")

    def test_the_list_stands_for_a_test(self):
        self.assert_good(tree("sync/event_test.cpp", "wait/board_test.cpp",
                              listed="# why\n\nlockstep/detail/wait/board_lines.hpp  sync/event_test.cpp\n"))

    def test_the_list_has_no_line_too_many(self):
        tests = ("sync/event_test.cpp", "wait/board_test.cpp", "wait/board_lines_test.cpp")
        self.assert_bad(tree(*tests, listed="lockstep/event.hpp  sync/event_test.cpp\n"), ":1: lockstep/event.hpp has a test")
        self.assert_bad(tree(*tests, listed="lockstep/gone.hpp  sync/event_test.cpp\n"), "there is no header lockstep/gone.hpp")

    def test_the_list_names_tests_that_are_there(self):
        self.assert_bad(tree("sync/event_test.cpp", "wait/board_test.cpp",
                             listed="lockstep/detail/wait/board_lines.hpp  wait/gone_test.cpp\n"), "no tests/wait/gone_test.cpp")
        self.assert_bad(tree("sync/event_test.cpp", "wait/board_test.cpp",
                             listed="lockstep/detail/wait/board_lines.hpp\n"), "name the tests")


if __name__ == "__main__":
    unittest.main()
