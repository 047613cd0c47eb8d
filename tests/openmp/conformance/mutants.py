#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The conformance programs must notice a runtime that does not do what it should.

usage: mutants.py libgomp.so.1 work-directory

broken_calls.c breaks one call of the runtime at a time. A program has noticed it where it fails or does not end.
"""

import subprocess
import sys
from pathlib import Path

import conformance

SECONDS = 2  # for a program that hangs
NOTICED_BY = {
    "parallel.c": ["GOMP_parallel", "GOMP_barrier", "omp_get_thread_num", "omp_get_level", "omp_set_num_threads"],
    "reductions.c": ["GOMP_loop_end", "GOMP_sections_end"],
    "loops.c": ["GOMP_loop_guided_next", "GOMP_loop_ull_guided_next", "GOMP_loop_dynamic_next",
                "GOMP_loop_nonmonotonic_dynamic_next", "omp_set_schedule"],
    "worksharing.c": ["GOMP_critical_start", "GOMP_critical_end", "GOMP_critical_name_start", "GOMP_atomic_start",
                      "GOMP_single_start", "GOMP_single_copy_start", "GOMP_sections_next"],
    "ordered.c": ["GOMP_ordered_start", "GOMP_doacross_wait"],
    "cancel.c": ["GOMP_cancel", "GOMP_cancellation_point"],
    "task_trees.c": ["GOMP_task", "GOMP_taskwait"],
    "task_groups.c": ["GOMP_taskgroup_end"],
    "task_dependences.c": ["GOMP_task depend"],
    "threads.cpp": ["GOMP_task final", "omp_in_final", "GOMP_task at once"],
}


def main():
    library = Path(sys.argv[1]).resolve()
    directory = Path(sys.argv[2])
    directory.mkdir(parents=True, exist_ok=True)
    shims = {}
    for name, options in (("broken_calls", []), ("broken_doacross", ["-DWITH_DOACROSS"])):
        shims[name] = directory / f"{name}.so"
        subprocess.run([*conformance.GCC[".c"], *options, "-O1", "-shared", "-fPIC",
                        str(conformance.HERE / "broken_calls.c"), "-o", str(shims[name]), "-ldl"], check=True)
    bad = runs = 0
    for source, calls in NOTICED_BY.items():
        program = conformance.Program(conformance.HERE / source, directory)
        for call in ["", *calls]:
            shim = shims["broken_doacross" if call == "GOMP_doacross_wait" else "broken_calls"]
            variables = conformance.variables_of(program, 4, library)
            # A race may be won by chance: on a machine with other work members seldom run at the same time.
            for _ in range(50):
                run = conformance.Run(program.build("-O2"), "", SECONDS if call else conformance.SECONDS,
                                      LD_PRELOAD=shim, BROKEN=call, **variables)
                if not call or run.status != 0:
                    break
            runs += 1
            if (run.status == 0) != (call == ""):
                bad += 1
                print(f"{source} fails with a shim that breaks nothing:\n{run.text}" if not call else
                      f"{source} does not notice that {call} is broken")
    print(f"{runs} runs, {bad} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
