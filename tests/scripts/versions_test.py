#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
import unittest

from tree import TreeTest

from check import versions

CONFIG = "include/lockstep/detail/platform/config.hpp"


def tree(project="1.2.3", header=(1, 2, 3), **more):
    defines = "".join(f"#define LOCKSTEP_VERSION_{part} {number}\n" for part, number in zip(("MAJOR", "MINOR", "PATCH"), header))
    return {"CMakeLists.txt": f"project(lockstep\n  VERSION {project}\n)\n", CONFIG: defines + "#define LOCKSTEP_ABI_CHECKS v7c\n#define LOCKSTEP_ABI_CHECKS v7\n", **more}


class CheckVersions(TreeTest):
    main = versions.main

    def test_equal_versions_are_good_and_missing_files_are_no_fault(self):
        self.assert_good(tree())
        self.assert_good(tree() | {"CHANGELOG.md": "# C\n\n## [1.2.3] - unreleased\n\n## [1.1.0]\n",
                                   "docs/stability.md": "This is version 1.2.3. `v7`\n",
                                   "bindings/rust/Cargo.toml": '[package]\nversion = "1.2.3"\n',
                                   "packaging/debian/changelog": "lockstep (1.2.3-1) unstable; urgency=low\n"})

    def test_the_headers_have_the_version_of_the_project(self):
        self.assert_bad(tree(header=(1, 2, 4)), "version 1.2.4, but CMakeLists.txt has 1.2.3")

    def test_each_other_place_has_it_too(self):
        self.assert_bad(tree() | {"CHANGELOG.md": "## [1.3.0] - unreleased\n## [1.2.3]\n"}, "CHANGELOG.md:1: version 1.3.0")
        self.assert_bad(tree() | {"packaging/vcpkg/ports/lockstep/vcpkg.json": '{\n  "version": "1.2.0"\n}\n'},
                        "vcpkg.json:2: version 1.2.0")
        self.assert_bad(tree() | {"bindings/python/pyproject.toml": "[project]\n"}, "no version that looks like")

    def test_the_number_of_the_binary_interface_is_documented(self):
        self.assert_bad(tree() | {"docs/stability.md": "This is version 1.2.3. `v6`\n"}, "does not name `v7`")


if __name__ == "__main__":
    unittest.main()
