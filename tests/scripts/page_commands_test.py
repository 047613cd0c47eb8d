#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import tree  # noqa: F401, which says where the scripts are

from run import page_commands


class PageCommands(unittest.TestCase):
    def test_only_folders_that_have_pages_are_looked_at(self):
        with tempfile.TemporaryDirectory() as directory:
            for name in ("README.md", "docs/a.md", "docs/decisions/0001.md", "docs/a.txt", "bindings/rust/target/b.md",
                         "bindings/rust/b.md", "build/plain/c.md", "src/d.md"):
                path = Path(directory, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("", encoding="utf-8")
            looked_at, scandir = [], os.scandir

            def noted(place):
                looked_at.append(os.path.relpath(place, directory))
                return scandir(place)

            with mock.patch("os.scandir", noted):
                found = [path.relative_to(directory).as_posix() for path in page_commands.pages(Path(directory))]
        self.assertEqual(found, ["README.md", "bindings/rust/b.md", "docs/a.md"])
        # Another test may remove files of build/ meanwhile.
        self.assertEqual([place for place in looked_at if place.startswith(("build", "src"))], [])


if __name__ == "__main__":
    unittest.main()
