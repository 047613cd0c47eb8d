# SPDX-License-Identifier: MIT
"""GraphicsMagick: gm benchmark on small images. The pixels are hashed as they are written."""

import csv
import hashlib
import subprocess
import tempfile
from pathlib import Path

from cases import cpu_seconds, report

OPERATIONS = {"blur": ["-blur", "0x1"], "resize": ["-resize", "150%"], "emboss": ["-emboss", "1"]}
ITERATIONS = {32: 100, 64: 60, 128: 30, 256: 10}


def picture(size):
    """A portable pixmap of noise over a slope, the same in each process."""
    seed, pixels = 1, bytearray()
    for i in range(size * size * 3):
        seed = (seed * 1664525 + 1013904223) & 0xFFFFFFFF
        pixels.append(((seed >> 25) + i // (size * 3)) & 255)
    return f"P6 {size} {size} 255\n".encode() + bytes(pixels)


with tempfile.TemporaryDirectory() as scratch:
    source, target = Path(scratch, "in.ppm"), Path(scratch, "out.rgb")
    for size, iterations in ITERATIONS.items():
        source.write_bytes(picture(size))
        for name, operation in OPERATIONS.items():
            cpu = cpu_seconds()
            done = subprocess.run(["gm", "benchmark", "-iterations", str(iterations), "-rawcsv", "convert",
                                   source, *operation, target], capture_output=True, text=True, check=True)
            row = next(csv.reader([(done.stdout + done.stderr).strip().splitlines()[-1]]))
            value = hashlib.sha256(target.read_bytes()).hexdigest()[:16]
            report(f"{name} of {size} x {size}", value, float(row[3]), cpu_seconds() - cpu, iterations)
            target.unlink()
