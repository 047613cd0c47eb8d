# SPDX-License-Identifier: MIT
"""Small source trees for the tests of the scripts."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

SPDX = "// SPDX-License-Identifier: MIT\n"


def header(name, body="", layer=None, banner=""):
    """The text of include/lockstep/<name>, with a correct banner."""
    layer = layer or name.split("/")[0]
    return f"{SPDX}// lockstep/{name} -- a test (layer: {layer})\n{banner}#pragma once\n{body}"


class TreeTest(unittest.TestCase):
    """Runs a script's main on a tree made of {path: text}."""

    main = None

    def complaints(self, files):
        """The complaints about the tree, one a line; asserts that the exit status agrees."""
        with tempfile.TemporaryDirectory() as directory:
            for name, text in files.items():
                path = Path(directory, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                status = type(self).main(["script", directory])
        lines = printed.getvalue().splitlines()[:-1]
        self.assertEqual(status, 1 if lines else 0)
        return lines

    def assert_good(self, files):
        self.assertEqual(self.complaints(files), [])

    def assert_bad(self, files, *expected):
        """One complaint for each expected text, in this order."""
        found = self.complaints(files)
        self.assertEqual(len(found), len(expected), found)
        for complaint, text in zip(found, expected):
            self.assertIn(text, complaint)
