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
            "#ifndef LOCKSTEP_B_HPP", "int b;", "#endif  // LOCKSTEP_B_HPP", "#ifndef LOCKSTEP_A_HPP", "int a;",
            "#endif  // LOCKSTEP_A_HPP", "#ifndef LOCKSTEP_LOCKSTEP_HPP", "#endif  // LOCKSTEP_LOCKSTEP_HPP")]
        self.assertEqual(places, sorted(places))

    def test_one_pragma_once_and_one_licence_line_remain(self):
        text = self.text({"lockstep.hpp": '#include "a.hpp"\n', "a.hpp": "int a;\n"})
        self.assertEqual(text.count("#pragma once"), 1)
        self.assertEqual(text.count("SPDX"), 1)

    def test_system_includes_are_gathered_once_at_the_top(self):
        text = self.text({
            "lockstep.hpp": '#include <new>\n#include "a.hpp"\n',
            "a.hpp": "#include <new>\n#include <atomic>  // std::atomic\nint a;\n",
        })
        self.assertEqual(text.count("#include <new>"), 1)
        self.assertIn("#include <atomic>\n#include <new>\n", text)

    def test_conditional_includes_stay_in_their_condition(self):
        text = self.text({
            "lockstep.hpp": '#include "futex.hpp"\n#include "user.hpp"\n',
            "futex.hpp": '#ifdef __linux__\n#include "linux.hpp"\n#else\n#include "other.hpp"\n#endif\n',
            "linux.hpp": '#include <unistd.h>\n#include "futex.hpp"\n#include "atomic.hpp"\nint on_linux;\n',
            "other.hpp": '#include <mutex>\n#include "atomic.hpp"\nint on_other;\n',
            "user.hpp": '#include "atomic.hpp"\nint user;\n',
            "atomic.hpp": "int atomic;\n",
        })
        places = [text.index(part) for part in (
            "int atomic;", "#ifdef __linux__", "#include <unistd.h>", "int on_linux;", "#else", "#include <mutex>", "int on_other;",
            "#endif", "int user;")]
        self.assertEqual(places, sorted(places))
        self.assertEqual(text.count("int atomic;"), 1)  # for user.hpp, too

    def test_a_header_that_two_branches_need_is_there_in_both(self):
        text = self.text({
            "lockstep.hpp": '#ifdef A\n#include "a.hpp"\n#else\n#include "b.hpp"\n#endif\n',
            "a.hpp": '#include "shared.hpp"\nint a;\n',
            "b.hpp": '#include "shared.hpp"\nint b;\n',
            "shared.hpp": "int shared;\n",
        })
        places = [text.index("#ifdef A"), text.index("int shared;"), text.index("int a;"), text.index("#else"),
                  text.rindex("int shared;"), text.index("int b;")]
        self.assertEqual(places, sorted(places))
        self.assertEqual(text.count("int shared;"), 2)

    def test_a_header_is_placed_again_only_where_the_earlier_place_may_be_left_out(self):
        headers = {
            "a.hpp": "int a;\n#if A\n#include \"shared.hpp\"\n#endif\n",
            "b.hpp": "int b;\n#if B && A\n#include \"shared.hpp\"\n#endif\n",
            "shared.hpp": "int shared;\n",
        }
        narrow_last = self.text({"lockstep.hpp": '#include "a.hpp"\n#include "b.hpp"\n', **headers})
        self.assertEqual(narrow_last.count("int shared;"), 1)
        wide_last = self.text({"lockstep.hpp": '#include "b.hpp"\n#include "a.hpp"\n', **headers})
        self.assertEqual(wide_last.count("int shared;"), 2)

    def test_what_an_if_in_the_middle_brings_in_and_others_need_too_comes_before_the_if(self):
        text = self.text({
            "lockstep.hpp": '#include "hooks.hpp"\n#include "log.hpp"\n',
            "hooks.hpp": 'int hooks;\n#if BODIES\n#include "bodies.hpp"\n#endif\n',
            "bodies.hpp": '#include "hooks.hpp"\n#include "log.hpp"\n#include "only.hpp"\nint bodies;\n',
            "log.hpp": "int log;\n",
            "only.hpp": "int only;\n",
        })
        places = [text.index(part) for part in (
            "int hooks;", "int log;", "#if BODIES", "int only;", "int bodies;", "#endif")]
        self.assertEqual(places, sorted(places))
        self.assertEqual(text.count("int log;"), 1)

    def test_an_include_that_names_a_macro_is_left_alone(self):
        text = self.text({"lockstep.hpp": "#ifdef SEAM\n#include SEAM\n#endif\n"})
        self.assertIn("#ifdef SEAM\n#include SEAM\n#endif", text)


if __name__ == "__main__":
    unittest.main()
