# SPDX-License-Identifier: MIT
"""Is the package that `conan create` has made usable? A program of two units is built with it and run."""

from pathlib import Path

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout


class LockstepTestConan(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps", "CMakeToolchain", "VirtualRunEnv"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def build(self):
        header_only = self.dependencies["lockstep"].options.header_only
        cmake = CMake(self)
        cmake.configure(variables={"LIBRARY": "header_only" if header_only else "lockstep"})
        cmake.build()

    def test(self):
        if can_run(self):
            self.run(str(Path(self.cpp.build.bindir).resolve() / "program"), env="conanrun")
