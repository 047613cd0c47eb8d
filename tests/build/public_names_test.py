#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does public_names.py see what it should? On small headers of its own.

usage: public_names_test.py [compiler]
"""

import sys
import tempfile
import unittest
from pathlib import Path

import public_names

HEADERS = {
    "thread_synchronizer.h": "class WaitNotifySingle {};\n",
    "lockstep/lockstep.hpp": "#include <lockstep/event.hpp>\n",
    "lockstep/toolbox.hpp": "",
    "lockstep/detail/parts.hpp": """
#pragma once
#define LOCKSTEP_OWN 1
namespace lockstep { inline namespace abi { namespace detail {
struct word {};
struct padded { int value; };
class waits { public: waits(word&); void wait(); word& bits(); protected: word hidden(); };
template <class T> class kept { public: T value(); };
}
struct told {};
}}
""",
    "lockstep/event.hpp": """
#include "detail/parts.hpp"
namespace lockstep { inline namespace abi {
using detail::padded;
constexpr int limit = 3;
enum class status { ready };
class later;
class event : public detail::waits {
 public:
  using number = int;
  event(const event&) = delete;
  number count(status) const;
  template <class F> void then(F f);
  template <class F> detail::kept<F> keep(F f);
  class part { public: detail::word inside(); };
  friend void wake(event&) {}
 private:
  using state = detail::word;
  state load();
  detail::word word_;
 public:
  state shown();
};
template <class T> class cell : public detail::kept<T> {};
template <> class cell<void> { public: detail::word nothing(); };
inline void run(event&) {}
inline detail::word* word_of(event&) { return nullptr; }
}}
""",
}


class PublicNames(unittest.TestCase):
    compiler = None

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        for name, text in HEADERS.items():
            path = Path(cls.place.name) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        cls.found = public_names.visible(cls.place.name, cls.compiler)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def test_every_kind_of_name_is_seen_with_its_header(self):
        here, below = "lockstep/event.hpp", "lockstep/detail/parts.hpp"
        self.assertEqual(self.found.public, {
            "padded": here, "limit": here, "status": here, "later": here, "event": here, "cell": here, "run": here,
            "word_of": here, "told": below})

    def test_what_shows_a_type_of_detail_is_a_leak(self):
        title = "lockstep/event.hpp "
        self.assertEqual(set(self.found.leaks()), {
            title + "event::keep", title + "event::part::inside", title + "event::shown", title + "event::bits",
            title + "cell::nothing", title + "word_of"})

    def test_macros_are_seen_but_not_the_guards(self):
        self.assertEqual(public_names.macros(self.place.name), {"LOCKSTEP_OWN"})


if __name__ == "__main__":
    PublicNames.compiler = public_names.clang_of(sys.argv[1] if len(sys.argv) > 1 else None)
    unittest.main(argv=sys.argv[:1])
