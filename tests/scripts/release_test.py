#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The release script on a small repository: what stands in the way, the tarball, the checksums. The whole of it, which
builds the library, runs with ./do release."""

import io
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import tree  # noqa: F401  finds scripts/

from make import release

CONFIG = "include/lockstep/detail/platform/config.hpp"
FILES = {
    "CMakeLists.txt": "project(lockstep\n  VERSION 1.2.3\n)\n",
    CONFIG: "#define LOCKSTEP_VERSION_MAJOR 1\n#define LOCKSTEP_VERSION_MINOR 2\n#define LOCKSTEP_VERSION_PATCH 3\n"
            "#define LOCKSTEP_ABI_CHECKS v0\n",
    "CHANGELOG.md": "# Changelog\n\n## [1.2.3] - 2026-11-23\n",
    "do": "#!/bin/sh\n",
}


class Release(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name) / "tree"
        for name, text in FILES.items():
            self.write(name, text)
        (self.root / "do").chmod(0o755)
        scripts = Path(__file__).resolve().parents[2] / "scripts"
        for name in ("source_text.py", "check/versions.py"):
            self.write("scripts/" + name, (scripts / name).read_text())
        self.write(".gitignore", "__pycache__/\n/build/\n")
        self.git("init", "-q")
        self.commit("first", "2026-01-02T03:04:05Z")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def git(self, *arguments, **more):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=self.root, check=True,
                       stdout=subprocess.DEVNULL, **more)

    def commit(self, message, date):
        self.git("add", "-A")
        with mock.patch.dict("os.environ", {"GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": date}):
            self.git("commit", "-q", "-m", message)

    def obstacles(self):
        return list(release.obstacles(self.root, "1.2.3"))

    def test_nothing_stands_in_the_way(self):
        self.assertEqual(self.obstacles(), [])

    def test_changes_that_are_not_committed_do(self):
        self.write("new.txt", "")
        self.assertIn("not committed", self.obstacles()[0])

    def test_a_changelog_without_a_date_or_of_another_version_does(self):
        self.write("CHANGELOG.md", "## [1.2.3] - unreleased\n")
        self.commit("no date", "2026-01-03T00:00:00Z")
        self.assertEqual(self.obstacles(), ["CHANGELOG.md says 'unreleased' where the date of 1.2.3 is to be"])
        self.write("CHANGELOG.md", "## [1.2.2] - 2026-01-01\n")
        self.commit("older", "2026-01-03T00:00:00Z")
        found = self.obstacles()
        self.assertEqual(found[0], "the newest heading of CHANGELOG.md is not that of 1.2.3")
        self.assertIn("version 1.2.2, but CMakeLists.txt has 1.2.3", found[1])

    def test_the_tarball_is_that_of_the_commit_and_the_same_each_time(self):
        first = release.tarball(self.root, "1.2.3")
        self.write("CHANGELOG.md", "changed, not committed")
        self.assertEqual(release.tarball(self.root, "1.2.3"), first)
        with tarfile.open(fileobj=io.BytesIO(first)) as archive:
            members = {member.name: member for member in archive.getmembers()}
            text = archive.extractfile("lockstep-1.2.3/CHANGELOG.md").read().decode()
        self.assertEqual(text, FILES["CHANGELOG.md"])
        self.assertEqual({member.mtime for member in members.values()}, {1767323045})  # of the commit
        self.assertEqual(members["lockstep-1.2.3/do"].mode & 0o777, 0o755)
        self.commit("another", "2026-01-04T00:00:00Z")
        self.assertNotEqual(release.tarball(self.root, "1.2.3"), first)

    def test_checksums_find_a_file_that_was_changed_added_or_lost(self):
        output = self.root / "build"
        output.mkdir()
        (output / "a.hpp").write_text("a")
        (output / "b.tar.gz").write_text("b")
        release.sums(output)
        release.verify_sums(output)
        subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=output, check=True)
        (output / "a.hpp").write_text("x")
        self.assertRaisesRegex(release.Failure, "a.hpp is not what", release.verify_sums, output)
        release.sums(output)
        (output / "c.whl").write_text("c")
        self.assertRaisesRegex(release.Failure, "SHA256SUMS names", release.verify_sums, output)
        (output / "c.whl").unlink()
        (output / "b.tar.gz").unlink()
        self.assertRaisesRegex(release.Failure, "SHA256SUMS names", release.verify_sums, output)


if __name__ == "__main__":
    unittest.main()
