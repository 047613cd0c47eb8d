# SPDX-License-Identifier: MIT
"""LightGBM: the parent trains, forks, and the child trains. Does the child come to an end?"""

import os
import signal
import sys
import time

from cases import bits_of, cpu_seconds, print_runtime, report
from lightgbm_train import data, train

PATIENCE_S = 10

x, y = data()
expected = bits_of(train(x, y).predict(x))
wall, cpu = time.perf_counter(), cpu_seconds()
child = os.fork()
if child == 0:
    os._exit(0 if bits_of(train(x, y).predict(x)) == expected else 1)
status = None
while status is None and time.perf_counter() - wall < PATIENCE_S:
    ended, code = os.waitpid(child, os.WNOHANG)
    if ended:
        status = code
    else:
        time.sleep(0.001)
if status is None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
outcome = "the child hangs" if status is None else "the child finishes" if status == 0 else f"the child fails: {status}"
report("training in a forked child", outcome, time.perf_counter() - wall, cpu_seconds() - cpu)
print_runtime()
sys.stdout.flush()
os._exit(0)
