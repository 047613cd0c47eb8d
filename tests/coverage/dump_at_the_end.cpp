// SPDX-License-Identifier: MIT
// tests/coverage/dump_at_the_end.cpp -- writes the counters of processes that end the hard way
//
// GCC's counters are written by exit(). The tests of misuse abort() in a child, others leave it by
// _exit() or _Exit(), and what ran there would not count. Linked into every program of the coverage
// build, with --wrap for both functions (scripts/run/coverage.sh).
#include <signal.h>

extern "C" {
// GCC 12 declares it in gcov.h as if for C only.
void __gcov_dump(void);

[[noreturn]] void __real__exit(int status);
[[noreturn]] void __real__Exit(int status);

[[noreturn]] void __wrap__exit(int status) {
  __gcov_dump();
  __real__exit(status);
}
[[noreturn]] void __wrap__Exit(int status) {
  __gcov_dump();
  __real__Exit(status);
}
}

namespace {

// Writing files in a signal handler is not safe in general; here abort() was called by a thread that
// holds none of the locks which that needs. After its return abort() ends the process.
void dump(int) { __gcov_dump(); }

[[maybe_unused]] const bool installed = signal(SIGABRT, dump) != SIG_ERR;

}  // namespace
