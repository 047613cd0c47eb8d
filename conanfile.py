# SPDX-License-Identifier: MIT
"""The recipe for Conan 2: `conan create .` packages this tree, and needs no other package.

Programs find it as with `cmake --install`, by find_package(lockstep): the package's own CMake files are used, with all
their targets. Generators for other build systems (PkgConfigDeps, MesonToolchain) get the same from package_info().
"""

import re
from pathlib import Path

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

required_conan_version = ">=2.0"


class LockstepConan(ConanFile):
    name = "lockstep"
    description = "Coordinates CPU threads at sub-microsecond grain: teams, loops, barriers, graphs"
    license = "MIT"
    topics = ("threads", "fork-join", "barrier", "parallel-for", "dataflow")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "header_only": [True, False]}
    default_options = {"shared": False, "fPIC": True, "header_only": False}
    exports_sources = ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "modules/*", "src/*")
    test_package_folder = "packaging/conan/test_package"

    def set_version(self):
        text = load(self, str(Path(self.recipe_folder) / "CMakeLists.txt"))
        self.version = re.search(r"project\(lockstep\s+VERSION ([\d.]+)", text).group(1)

    def config_options(self):
        if self.settings.os == "Windows":
            del self.options.fPIC

    def configure(self):
        if self.options.header_only:
            self.options.rm_safe("shared")
        if self.options.get_safe("shared") or self.options.header_only:
            self.options.rm_safe("fPIC")
        if self.options.header_only:
            self.package_type = "header-library"

    def layout(self):
        cmake_layout(self)

    def validate(self):
        if self.settings.get_safe("compiler.cppstd"):
            check_min_cppstd(self, 11)

    def package_id(self):
        if self.info.options.header_only:
            self.info.settings.clear()

    def generate(self):
        if not self.options.header_only:
            CMakeToolchain(self).generate()

    def build(self):
        if not self.options.header_only:
            cmake = CMake(self)
            cmake.configure()
            cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, str(Path(self.package_folder) / "licenses"))
        if self.options.header_only:
            script = Path(self.source_folder) / "cmake" / "make_single_header.cmake"
            self.run(f'cmake -D "DIRECTORY={Path(self.package_folder) / "include"}" -P "{script}"')
        else:
            CMake(self).install()

    def package_info(self):
        if self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.system_libs = ["pthread"]
        if self.options.header_only:
            self.cpp_info.bindirs = self.cpp_info.libdirs = []
            self.cpp_info.set_property("cmake_file_name", "lockstep")
            self.cpp_info.set_property("cmake_target_name", "lockstep::header_only")
            self.cpp_info.set_property("pkg_config_name", "lockstep-header-only")
        else:
            self.cpp_info.libs = ["lockstep"]
            self.cpp_info.set_property("cmake_find_mode", "none")
            self.cpp_info.builddirs = ["share/cmake/lockstep"]
            self.cpp_info.set_property("pkg_config_name", "lockstep")
