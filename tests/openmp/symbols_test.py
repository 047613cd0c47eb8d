#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is libgomp.so.1 in form what programs expect: names, versions, what it needs, how much thread-local storage it has?

usage: symbols_test.py libgomp.so.1

Names and versions are compared with those of the libgomp of this machine's GCC and of its libomp, where there is one,
and of the libraries of GCC that were unpacked for './do everywhere'.
"""

import ctypes
import glob
import re
import subprocess
import unittest
from pathlib import Path

import support

# All nodes that GCC 4.2 to 16 gives names of OpenMP.
NODES = ("GOMP_1.0 GOMP_2.0 GOMP_3.0 GOMP_4.0 GOMP_4.0.1 GOMP_4.5 GOMP_5.0 GOMP_5.0.1 GOMP_5.1 GOMP_5.1.1 "
         "GOMP_5.1.2 GOMP_5.1.3 GOMP_6.0 GOMP_6.0.1 "
         "OMP_1.0 OMP_2.0 OMP_3.0 OMP_3.1 OMP_4.0 OMP_4.5 OMP_5.0 OMP_5.0.1 OMP_5.0.2 OMP_5.1 OMP_5.1.1 OMP_5.2 VERSION").split()
# Of later GCCs than these nodes are, or of OpenACC and its plugins.
FOREIGN = re.compile(r"@@?(OACC|GOACC|GOMP_PLUGIN)_|@@?GOMP_6\.(0\.[2-9]|[1-9])")
# What GCC 14 to 16 added, as their libraries have it: the machine's GCC may be older.
NEWER = {
    "GOMP_5.1.2": "GOMP_add_alloc GOMP_is_alloc GOMP_target_map_indirect_ptr",
    "GOMP_5.1.3": "GOMP_interop omp_get_interop_int omp_get_interop_name omp_get_interop_name_ omp_get_interop_ptr "
                  "omp_get_interop_rc_desc omp_get_interop_rc_desc_ omp_get_interop_str omp_get_interop_str_ "
                  "omp_get_interop_type_desc omp_get_interop_type_desc_ omp_get_num_interop_properties",
    "GOMP_6.0": "omp_get_device_from_uid omp_get_device_from_uid_ omp_get_uid_from_device omp_get_uid_from_device_ "
                "omp_get_uid_from_device_8_",
    "GOMP_6.0.1": "omp_target_memset omp_target_memset_async",
}
# What Intel's runtime has besides: functions of libatomic, for MKL.
OF_INTEL = {f"__atomic_{verb}@@VERSION" for verb in ("load", "store", "compare_exchange")}
UNPACKED = Path(__file__).resolve().parents[2] / "build" / "debian"  # other releases: scripts/run/install.sh
LOCKS = [f"omp_{verb}_{kind}lock{end}" for verb in ("init", "destroy", "set", "unset", "test")
         for kind in ("", "nest_") for end in ("", "_")]


def readelf(*options):
    return subprocess.run(["readelf", "-W", *options], capture_output=True, text=True, check=True).stdout


def exported(library):
    """Names with '@' or, for the usual version of a name, '@@' and the version."""
    names = set()
    for line in readelf("--dyn-syms", str(library)).splitlines():
        words = line.split()
        if len(words) == 8 and words[4] in ("GLOBAL", "WEAK") and words[6] not in ("UND", "ABS"):
            names.add(words[7])
    return names


def libomp():
    """The newest of the machine."""
    found = glob.glob("/usr/lib/llvm-*/lib/libomp.so.5")
    return max(found, key=lambda path: int(re.search(r"llvm-(\d+)", path)[1]), default="")


class Symbols(unittest.TestCase):
    def test_every_name_of_gccs_libraries_is_there_in_its_version(self):
        found = subprocess.run([support.GCC, "-print-file-name=libgomp.so.1"], capture_output=True, text=True).stdout.strip()
        libraries = [Path(found)] if Path(found).is_absolute() else []
        libraries += UNPACKED.glob("*/usr/lib/*/libgomp.so.1")
        if not libraries:
            self.skipTest("GCC has no libgomp.so.1")
        for library in libraries:
            with self.subTest(library=library):
                theirs = {name for name in exported(library) if not FOREIGN.search(name)}
                self.assertGreater(len(theirs), 200)
                self.assertEqual(theirs - exported(support.LIBRARY), set())

    def test_every_name_of_llvms_library_is_there(self):
        library = libomp()
        if not library:
            self.skipTest("there is no libomp.so.5")
        theirs = {name.replace("@@", "@") for name in exported(library) if name.endswith("@VERSION")}
        self.assertGreater(len(theirs), 700)
        ours = {name.replace("@@", "@") for name in exported(support.LIBRARY)}
        self.assertEqual(theirs - ours, set())

    def test_the_names_of_other_runtimes_lead_to_the_same_file(self):
        for name in ("libomp.so.5", "libomp.so", "libiomp5.so", "libgomp.so.1.0.0"):
            self.assertTrue(support.LIBRARY.samefile(support.LIBRARY.with_name(name)))

    def test_names_of_newer_gccs_are_there_in_their_versions(self):
        wanted = {f"{name}@@{node}" for node, names in NEWER.items() for name in names.split()}
        self.assertEqual(wanted - exported(support.LIBRARY), set())

    def test_nothing_is_exported_but_the_interface(self):
        for name in exported(support.LIBRARY):
            if name in OF_INTEL:
                continue
            self.assertRegex(name, r"^((GOMP|omp)_[a-z0-9_]+@@?G?OMP_[0-9.]+|(___?kmpc?|kmpc?|omp[ct]?|GOMP)_[a-z0-9_]+@@?VERSION)$")

    def test_atomics_of_any_size(self):
        library = ctypes.CDLL(str(support.LIBRARY))
        load, store, swap = (library[f"__atomic_{verb}"] for verb in ("load", "store", "compare_exchange"))
        swap.restype = ctypes.c_bool
        size = ctypes.c_size_t
        for count in (1, 2, 3, 4, 8, 16, 24):
            first, second = (bytes(range(start, start + count)) for start in (1, 101))
            variable, seen = ctypes.create_string_buffer(count), ctypes.create_string_buffer(count)
            store(size(count), variable, first, 5)
            load(size(count), variable, seen, 5)
            self.assertEqual((variable.raw, seen.raw), (first, first))
            seen.raw = second
            self.assertFalse(swap(size(count), variable, seen, second, 5, 5))
            self.assertEqual((variable.raw, seen.raw), (first, first))
            self.assertTrue(swap(size(count), variable, seen, second, 5, 5))
            self.assertEqual((variable.raw, seen.raw), (second, first))

    def test_all_versions_are_there(self):
        versions = re.findall(r"Name: (\S+)", readelf("--version-info", str(support.LIBRARY)).split("Version needs")[0])
        self.assertEqual(set(versions) - {"libgomp.so.1"}, set(NODES))

    def test_locks_have_two_versions_of_which_the_newer_one_is_usual(self):
        names = exported(support.LIBRARY)
        for lock in LOCKS:
            self.assertIn(f"{lock}@OMP_1.0", names)
            self.assertIn(f"{lock}@@OMP_3.0", names)

    def test_it_is_named_as_programs_call_it_and_needs_the_c_library_only(self):
        dynamic = readelf("--dynamic", str(support.LIBRARY))
        self.assertIn("Library soname: [libgomp.so.1]", dynamic)
        for needed in re.findall(r"\(NEEDED\)\s+Shared library: \[(.*)\]", dynamic):
            self.assertRegex(needed, r"^(lib(c|m|dl|pthread)\.so\.\d|ld-linux.*)$")
        self.assertIn("NODELETE", dynamic)  # threads run its code: it stays when a module that wanted it goes

    def test_thread_local_storage_fits_where_libraries_are_loaded_late(self):
        segment = re.search(r"^\s+TLS\s+(?:0x\w+\s+){4}(0x\w+)", readelf("--segments", str(support.LIBRARY)), re.MULTILINE)
        self.assertLessEqual(int(segment.group(1), 16), 136)
        self.assertIn("STATIC_TLS", readelf("--dynamic", str(support.LIBRARY)))  # it is found without a call


if __name__ == "__main__":
    unittest.main()
