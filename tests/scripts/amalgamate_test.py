#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from tree import SPDX

from make import amalgamate


class Amalgamate(unittest.TestCase):
    def text(self, files):
        """The amalgamation of headers given as {path below include/lockstep: text}."""
        with tempfile.TemporaryDirectory() as directory:
            include = Path(directory).resolve()
            for name, text in files.items():
                path = include / "lockstep" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(SPDX + "#pragma once\n" + text, encoding="utf-8")
            with mock.patch.object(amalgamate, "INCLUDE", include):
                return amalgamate.Amalgamation().text()

    def test_a_header_included_twice_appears_once_and_before_its_users(self):
        text = self.text({
            "lockstep.hpp": "#include <lockstep/a.hpp>\n#include <lockstep/b.hpp>\n",
            "a.hpp": '#include "b.hpp"\nint a;\n',
            "b.hpp": "int b;\n",
        })
        self.assertEqual(text.count("int b;"), 1)
        self.assertLess(text.index("int b;"), text.index("int a;"))
        self.assertNotIn("#include", text)

    def test_guards_stay_and_are_no_condition(self):
        def guarded(name, body):
            guard = f"LOCKSTEP_{name.upper()}_HPP"
            return f"#ifndef {guard}\n#define {guard}\n{body}#endif  // {guard}\n"
        text = self.text({
            "lockstep.hpp": guarded("lockstep", '#include <new>\n#include "a.hpp"\n#include "b.hpp"\n'),
            "a.hpp": guarded("a", '#include "b.hpp"\nint a;\n'),
            "b.hpp": guarded("b", "#include <memory>\nint b;\n"),
        })
        self.assertIn("#include <memory>\n#include <new>\n", text)
        places = [text.index(part) for part in (
            "#ifdef __linux__", "#include <unistd.h>", "int on_linux;", "#include <mutex>", "int on_other;", "int user;")]
        self.assertEqual(places, sorted(places))

    def test_a_header_first_met_inside_an_if_is_there_outside_of_it_too(self):
        text = self.text({
            "lockstep.hpp": '#ifdef A\n#include "a.hpp"\n#endif\n#include "b.hpp"\n',
            "a.hpp": '#include "shared.hpp"\n',
            "b.hpp": '#include "shared.hpp"\nint b;\n',
            "shared.hpp": "int shared;\n",
        })
        inside, outside = text.index("int shared;"), text.rindex("int shared;")
        self.assertLess(text.index("#ifdef A"), inside)
        self.assertLess(inside, outside)
        self.assertLess(outside, text.index("int b;"))

    def test_an_include_that_names_a_macro_is_left_alone(self):
        text = self.text({"lockstep.hpp": "#ifdef SEAM\n#include SEAM\n#endif\n"})
        self.assertIn("#ifdef SEAM\n#include SEAM\n#endif", text)


if __name__ == "__main__":
    unittest.main()
