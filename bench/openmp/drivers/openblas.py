# SPDX-License-Identifier: MIT
"""Debian's numpy over libopenblas0-openmp: ddot, dgemv and dgemm of small sizes."""

import numpy as np
from cases import bits_of, measure, print_runtime

generator = np.random.RandomState(1)
for size in (32, 64, 128, 256):
    a, b = generator.rand(size, size), generator.rand(size, size)
    x = generator.rand(size)
    measure(f"ddot {size}", 2000, lambda: np.dot(x, a[0]), bits_of)
    measure(f"dgemv {size}", 1000, lambda: np.dot(a, x), bits_of)
    measure(f"dgemm {size}", 40 if size == 256 else 200, lambda: np.dot(a, b), bits_of)
x, y = generator.rand(20000), generator.rand(20000)
measure("ddot 20000", 1000, lambda: np.dot(x, y), bits_of)
print_runtime()
