#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
import unittest

from tree import SPDX, TreeTest, header

from check import layers

SYNC = "include/lockstep/event.hpp"
PLATFORM = "include/lockstep/detail/platform/config.hpp"
TEAM = "include/lockstep/team.hpp"


def sync(body):
    return {SYNC: header("event.hpp", body, layer="sync"), TEAM: header("team.hpp", layer="team")}


def platform(body):
    return {PLATFORM: header("detail/platform/config.hpp", body, layer="platform")}


class CheckLayers(TreeTest):
    main = layers.main

    def test_a_layer_may_include_itself_and_earlier_layers(self):
        self.assert_good(sync("#include <atomic>\n#include <lockstep/event.hpp>\n#include <lockstep/detail/wait/engine.hpp>\n"
                              "#include <lockstep/detail/platform/config.hpp>\n"))

    def test_a_layer_may_not_include_a_later_layer(self):
        self.assert_bad(sync("#include <lockstep/team.hpp>\n"), "event.hpp:4: layer sync includes")
        self.assert_bad(sync("#include <lockstep/detail/graph/flow.hpp>\n"), "later layer graph")
        self.assert_bad(platform("#include <lockstep/detail/wait/engine.hpp>\n"), "later layer wait")

    def test_a_source_names_its_path_and_keeps_to_the_layers(self):
        def source(body, room="wait"):
            return {f"src/{room}/engine.cpp": f"{SPDX}// src/{room}/engine.cpp -- a test (layer: {room})\n{body}"}
        later = {"src/team/core.hpp": f"{SPDX}// src/team/core.hpp -- a test (layer: team)\n"}
        self.assert_good({**source("#include <lockstep/detail/wait/engine.hpp>\n"), **later})
        self.assert_good({**source('#include "../platform/texts.hpp"\n'), **later})
        self.assert_bad({**source('#include "../team/core.hpp"\n'), **later}, "later layer team")
        self.assert_bad(source("", "util"), "'util' is not a layer")
        self.assert_bad({"src/wait/engine.cpp": f"{SPDX}// engine.cpp -- a test (layer: wait)\n"}, "no banner")

    def test_the_fronts_of_openmp_include_its_runtime_and_never_the_other_way_round(self):
        def source(folder, included):
            return {f"openmp/{folder}/x.cpp": f'{SPDX}#include "{included}"\n'}
        self.assert_good({**source("gnu", "runtime/part.hpp"), **source("llvm", "api/api.hpp"), **source("runtime", "part.hpp"),
                          **source("api", "platform/cpus.hpp")})
        self.assert_bad(source("runtime", "llvm/ident.hpp"), "openmp/runtime/ includes llvm/ident.hpp")
        self.assert_bad(source("api", "gnu/x.hpp"), "openmp/api/ includes")
        self.assert_bad(source("llvm", "gnu/x.hpp"), "openmp/llvm/ includes")
        self.assert_bad(source("intel", "runtime/part.hpp"), "'intel' is no folder")

    def test_headers_of_include_know_nothing_of_src(self):
        private = {"src/platform/texts.hpp": f"{SPDX}// src/platform/texts.hpp -- a test (layer: platform)\n"}
        self.assert_bad({**sync('#include "../../src/platform/texts.hpp"\n'), **private}, "is to be included as", "above all")

    def test_a_layer_may_not_include_the_umbrella(self):
        self.assert_bad(sync("#include <lockstep/lockstep.hpp>\n"), "above all layers")
        self.assert_bad(sync("#include <thread_synchronizer.h>\n"), "above all layers")

    def test_a_directory_that_is_no_layer_is_refused(self):
        text = header("detail/util/x.hpp", layer="util")
        self.assert_bad({"include/lockstep/detail/util/x.hpp": text}, "'util' is not a layer")

    def test_a_commented_or_quoted_include_does_not_count(self):
        self.assert_good(sync("// #include <lockstep/team.hpp>\n"
                              "/*\n#include <lockstep/team.hpp>\n*/\n"))

    def test_the_system_is_asked_about_in_platform_only(self):
        for condition in ("#ifdef __linux__", "#if defined(_WIN32)", "#ifndef __GNUC__",
                          "#if defined(A) || \\\n  defined(__x86_64__)"):
            self.assert_bad(sync(f"{condition}\n#endif\n"), "outside platform/")
            self.assert_good(platform(f"{condition}\n#endif\n"))
        self.assert_bad(sync("#if 0\n#elif defined(_MSC_VER)\n#endif\n"), "_MSC_VER")

    def test_the_language_and_our_own_macros_may_be_asked_about(self):
        self.assert_good(sync("#if __cplusplus >= 201703L && LOCKSTEP_X\n#endif\n#ifndef NDEBUG\n#endif\n"
                              "#if defined(__cpp_lib_span)\n#endif\n"))

    def test_macros_are_defined_in_platform_only(self):
        self.assert_bad(sync("#define LOCKSTEP_X 1\n"), "#define LOCKSTEP_X outside")
        self.assert_bad(sync("#undef LOCKSTEP_X\n"), "#undef LOCKSTEP_X outside")
        self.assert_good(platform("#define LOCKSTEP_X 1\n"))
        self.assert_good(sync("// #define LOCKSTEP_X 1\n"))

    def test_a_header_may_define_its_own_guard(self):
        self.assert_good(sync("#ifndef LOCKSTEP_EVENT_HPP\n#define LOCKSTEP_EVENT_HPP\n#endif\n"))
        self.assert_bad(sync("#define LOCKSTEP_OTHER_HPP\n"), "outside platform/")

    def test_macros_carry_the_prefix(self):
        self.assert_bad(platform("#define HELPER 1\n"), "lacks the prefix")

    def test_the_compatibility_header_tests_its_option_and_defines_nothing(self):
        banner = f"{SPDX}// thread_synchronizer.h -- the drop-in\n#pragma once\n"
        name = "include/thread_synchronizer.h"
        option = "#ifdef LOCKSTEP_COMPAT_USING_NAMESPACE_STD\nusing namespace std;\n#endif\n"
        self.assert_good({name: banner + "#include <lockstep/event.hpp>\n" + option})
        self.assert_bad({name: banner + "#define LOCKSTEP_COMPAT_X\n"}, "outside platform/")

    def test_atomics_go_through_the_seam(self):
        self.assert_bad(sync("std::atomic<int> a;\n"), "std::atomic goes round the seam")
        self.assert_bad(platform("std::atomic_thread_fence(o);\n"), "goes round the seam")
        seam = "include/lockstep/detail/platform/atomic.hpp"
        self.assert_good({seam: header("detail/platform/atomic.hpp", "using std::atomic;\n", layer="platform")})

    def test_everything_is_in_the_inline_namespace_of_the_settings(self):
        opened, closed = "namespace lockstep {\ninline namespace LOCKSTEP_ABI {\n", "}\n}\n"
        self.assert_good(sync(opened + "class event;\n" + closed + "// namespace lockstep {\n"))
        self.assert_bad(sync("namespace lockstep {\nclass event;\n}\n"), "event.hpp:4: namespace lockstep without")
        self.assert_bad(sync(opened + closed + "namespace lockstep {\nclass event;\n}\n"), "event.hpp:8: namespace")
        self.assert_bad(sync("namespace lockstep::misuse {\n}\n"), "without the inline namespace")

    def test_a_header_has_at_most_600_lines(self):
        self.assert_good(sync("\n" * 597))
        self.assert_bad(sync("\n" * 598), "601 lines")

    def test_a_header_has_the_spdx_line_and_a_banner_with_its_path_and_layer(self):
        self.assert_bad({SYNC: "#pragma once\n"}, "first line", "no banner", "no 'SPDX")
        self.assert_bad({SYNC: SPDX + "#pragma once\n"}, "no banner")
        self.assert_bad({SYNC: header("barrier.hpp", layer="sync")}, "lockstep/event.hpp -- ")
        self.assert_bad({PLATFORM: header("detail/platform/config.hpp", layer="team")}, "(layer: platform)")
        self.assert_bad({SYNC: f"{SPDX}// lockstep/event.hpp -- a test\n"}, "does not name the layer")

    def test_sources_of_every_kind_carry_the_spdx_line(self):
        for name in ("tests/x_test.cpp", "scripts/x.py", "do", ".ci/run", "tests/CMakeLists.txt"):
            self.assert_bad({name: "x\n"}, "no 'SPDX")
            self.assert_good({name: "#!/bin/sh\n" + SPDX})
        self.assert_good({"README.md": "x\n"})

    def test_no_file_names_a_path_of_a_machine(self):
        for path in ("home/someone", "work/main", "root/x", "Users/me"):
            self.assert_bad({"README.md": f"see /{path}\n"}, "README.md:1: a path of somebody's machine")
        self.assert_good({"README.md": "see build/home/x, ${HOME}/work-tree, /mnt/x, /usr/include, /proc/self\n"})


if __name__ == "__main__":
    unittest.main()
