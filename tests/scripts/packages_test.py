#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
import json
import unittest

from tree import TreeTest

from check import packages

PORT = "packaging/vcpkg/ports/lockstep/"
GOOD_PORT = {"name": "lockstep", "version-semver": "1.2.3", "description": "d", "license": "MIT",
             "dependencies": [{"name": "vcpkg-cmake", "host": True}]}


def tree(**more):
    return {"CMakeLists.txt": "project(lockstep\n  VERSION 1.2.3\n)\nadd_library(lockstep src/a.cpp src/b.cpp)\n",
            "src/a.cpp": "", "src/b.cpp": "", **more}


def with_port(port, script="vcpkg_cmake_configure()\n", **more):
    text = port if isinstance(port, str) else json.dumps(port, indent=2)
    return tree() | {PORT + "vcpkg.json": text, PORT + "portfile.cmake": script, **more}


def with_module(exports):
    names = "# names\nlockstep/team.hpp team\nlockstep/team.hpp LOCKSTEP_X\nthread_synchronizer.h Wait\ninternal LOCKSTEP_Y\n"
    return tree() | {"tests/build/public_names.txt": names, "modules/lockstep.cppm": "export module lockstep;\n" + exports}


class CheckPackages(TreeTest):
    main = packages.main

    def test_a_tree_without_recipes_is_good(self):
        self.assert_good(tree())

    def test_the_debian_package_is_named_by_the_soname(self):
        self.assert_good(tree() | {"packaging/debian/control": "Source: x\n\nPackage: liblockstep1.2\n"})
        self.assert_bad(tree() | {"packaging/debian/control": "Source: x\n\nPackage: liblockstep1.1\n"}, "no package liblockstep1.2")

    def test_the_debian_package_has_each_script_that_cmake_installs(self):
        script = "install(FILES ${PROJECT_SOURCE_DIR}/cmake/lockstep_x.cmake DESTINATION ${package_dir})\n"
        good = tree() | {"cmake/lockstep_install.cmake": script,
                         "packaging/debian/liblockstep-dev.install": "usr/include\nusr/lib/*/cmake/lockstep/lockstep_*.cmake\n"}
        self.assert_good(good)
        self.assert_bad(good | {"packaging/debian/liblockstep-dev.install": "usr/include\n"}, "CMake installs lockstep_x.cmake")

    def test_each_build_file_has_each_source(self):
        build = "library('src/a.cpp', 'src/b.cpp')\n  version: '1.2.3',\n"
        self.assert_good(tree() | {"meson.build": build})
        self.assert_bad(tree() | {"meson.build": build.replace("src/b", "src/ab")}, "meson.build:1: src/b.cpp is not built")

    def test_the_module_exports_the_public_names(self):
        self.assert_good(with_module("using lockstep::team;\n"))
        self.assert_bad(with_module(""), "does not export the public name team")
        self.assert_bad(with_module("using lockstep::team;\nusing lockstep::mutex;\n"), "cppm:3: exports mutex")

    def test_a_port_is_what_vcpkg_takes(self):
        self.assert_good(with_port(GOOD_PORT))
        self.assert_bad(with_port("{"), "Expecting property name")
        self.assert_bad(with_port(GOOD_PORT | {"licence": "MIT"}), "no key 'licence'")
        self.assert_bad(with_port(GOOD_PORT | {"name": "lock"}), "not named as its directory")
        self.assert_bad(with_port(GOOD_PORT | {"dependencies": ["vcpkg-cmake", "Fmt"]}), "'Fmt' is no name of a port")
        self.assert_bad(with_port(GOOD_PORT | {"dependencies": []}), "comes from the dependency vcpkg-cmake")
        self.assert_bad(with_port(GOOD_PORT, 'vcpkg_cmake_configure()\nfile(INSTALL "/usage")\n'), "'usage', which is missing")

    def test_wheel_and_crate_have_the_name_that_the_page_says(self):
        good = tree() | {"docs/packages.md": "# P\n\nThe wheel and the crate are called `two-words`.\n",
                         "bindings/rust/Cargo.toml": '[package]\nname = "two-words"\n',
                         "bindings/python/pyproject.toml": 'name = "two-words"\nwheel.packages = ["src/two_words"]\n',
                         "bindings/python/CMakeLists.txt": "install(PROGRAMS x DESTINATION two_words RENAME y)\n"}
        self.assert_good(good)
        self.assert_bad(good | {"bindings/rust/Cargo.toml": 'name = "two"\n'}, "is for two, and docs/packages.md says two-words")
        for name in ("pyproject.toml", "CMakeLists.txt"):
            path = "bindings/python/" + name
            self.assert_bad(good | {path: good[path].replace("two_words", "lockstep")}, "says two_words")
        self.assert_bad(good | {"docs/packages.md": "# P\n"}, "does not say")


if __name__ == "__main__":
    unittest.main()
