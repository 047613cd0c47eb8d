#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts a lockstep team in place of ggml's own threads, in a source tree of ggml that you have.

usage: ggml.py DIRECTORY

It changes src/ggml-cpu/ggml-cpu.c: where ggml has OpenMP, as an alternative to its threads, there is a region of a team now. A
thread pool has a team; graphs without one run on the team of the process, if that is large enough. docs/ports.md says how
to build it, and what came of it. Known to fit ggml 0.21.0 (commit d99724f2); another version is refused where it differs.
"""

import re
import sys
from pathlib import Path

# what to look for, and what takes its place; \g<name> is ggml's own text, which is moved
EDITS = [
    (r"#ifdef GGML_USE_OPENMP\n#include <omp.h>\n#endif\n",
     "#include <lockstep.h>\n#define GGML_USE_OPENMP  // its branches, by a team\n"
     "static _Thread_local lockstep_member * ggml_member;\n"),
    (r"    #pragma omp barrier\n", "    lockstep_member_sync_threads(ggml_member);\n"),
    (r"(?P<field>    uint32_t +poll; [^\n]*\n)", r"\g<field>    lockstep_team * team;\n    bool owns_team;\n"),
    (r"(?P<before>#endif // GGML_USE_OPENMP\n\n)(?P<after>    const size_t workers_size)",
     r"\g<before>    if (threadpool->owns_team) { lockstep_team_destroy(threadpool->team); }\n\n\g<after>"),
    (r"(?P<at>#ifdef GGML_USE_OPENMP\n)(?P<after>    int32_t cpumask_iter = 0;\n)",
     r"""\g<at>    lockstep_default_team(&threadpool->team);
    threadpool->owns_team = cgraph == NULL || lockstep_team_size(threadpool->team) < (size_t) tpp->n_threads;
    if (threadpool->owns_team) {
        lockstep_team_options options = LOCKSTEP_TEAM_OPTIONS_INIT;
        options.members = (size_t) tpp->n_threads;
        GGML_ASSERT(lockstep_team_create(&options, &threadpool->team) == LOCKSTEP_OK);
    }
\g<after>"""),
    (r"(?P<head>enum ggml_status ggml_graph_compute\(.*?)"
     r"        #pragma omp parallel num_threads\(n_threads\)\n        \{.*?"
     r"            int ith = omp_get_thread_num\(\);\n(?P<part>.*?)        \}\n(?P<tail>    \} else \{)",
     r"""static int ggml_part_of_member(lockstep_member * me, void * data) {
    struct ggml_threadpool * threadpool = data;
    const size_t ith = lockstep_member_rank(me);
    ggml_member = me;
\g<part>    return 0;
}

\g<head>        n_threads = n_threads < threadpool->n_threads ? n_threads : threadpool->n_threads;
        atomic_store_explicit(&threadpool->n_graph, n_threads, memory_order_relaxed);
        lockstep_team_run_on(threadpool->team, (size_t) n_threads, ggml_part_of_member, threadpool);
\g<tail>"""),
]


def main(argv):
    if len(argv) != 2:
        sys.exit(__doc__)
    path = Path(argv[1]) / "src/ggml-cpu/ggml-cpu.c"
    text = path.read_text(encoding="utf-8")
    for pattern, replacement in EDITS:
        text, count = re.subn(pattern, replacement, text, flags=re.DOTALL)
        if count != 1:
            sys.exit(f"ggml.py: {path} is not the version it knows: found {count} times, not once: {pattern!r}")
    path.write_text(text, encoding="utf-8")
    print(f"ggml.py: {path} has a team")


if __name__ == "__main__":
    main(sys.argv)
