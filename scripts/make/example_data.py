#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the input files of the numerical examples, byte for byte the same on every machine.

    scripts/make/example_data.py DIRECTORY   writes them; a build does so, into examples/data of its own
    scripts/make/example_data.py --check     are they still the bytes that they were? Else status 1

Integer arithmetic only: the last bit of a cosine differs between libraries.
"""

import argparse
import hashlib
import math
import pathlib
import struct
import sys

DIGEST = "f4302bcdf2d658a4bb203ba07fbf114c2cff9bedb3a69fbb3ee2651731935001"  # of what all_files() makes
REAL_SYMMETRIC = "%%MatrixMarket matrix coordinate real symmetric\n"
REAL_ARRAY = "%%MatrixMarket matrix array real general\n"


def poisson(side, diagonal):
    """The five-point Laplacian on a square grid; a diagonal above 4 makes every row strict."""
    entries = []
    for row in range(side * side):
        entries.append(f"{row + 1} {row + 1} {diagonal}")
        if (row + 1) % side:
            entries.append(f"{row + 2} {row + 1} -1")
        if row + side < side * side:
            entries.append(f"{row + side + 1} {row + 1} -1")
    text = REAL_SYMMETRIC
    text += f"% 2-D Poisson problem, {side} x {side} grid, diagonal {diagonal} instead of 4\n"
    text += f"{side * side} {side * side} {len(entries)}\n"
    return text + "\n".join(entries) + "\n"


def decimal_64th(numerator):
    """A number of 64ths in decimals, exactly."""
    sign = "-" if numerator < 0 else ""
    whole, part = divmod(abs(numerator) * 10**6 // 64, 10**6)
    return f"{sign}{whole}.{part:06d}"


def dense_system(size):
    """A full symmetric matrix and the right-hand side whose solution is 1, 2, ..., size."""
    state = 12345
    matrix = [[0] * size for _ in range(size)]
    for row in range(size):
        for column in range(row):
            state = (1103515245 * state + 12345) % 2**31
            matrix[row][column] = matrix[column][row] = (state >> 16) % 129 - 64
    for row in range(size):
        matrix[row][row] = sum(abs(value) for value in matrix[row]) + 64
    right_side = [sum(matrix[row][k] * (k + 1) for k in range(size)) for row in range(size)]
    columns = [decimal_64th(matrix[row][column]) for column in range(size) for row in range(size)]
    text = REAL_ARRAY + f"% full and diagonally dominant\n{size} {size}\n"
    rhs = REAL_ARRAY + f"% for dense_{size}.mtx; the solution is 1, 2, ..., {size}\n{size} 1\n"
    return (text + "\n".join(columns) + "\n",
            rhs + "\n".join(decimal_64th(value) for value in right_side) + "\n")


def rings(side):
    """Concentric rings that get narrower outwards, in 8 bit grey."""
    raster = bytearray()
    for y in range(side):
        for x in range(side):
            square = (2 * x + 1 - side) ** 2 + (2 * y + 1 - side) ** 2
            wave = (square // 24 + math.isqrt(square)) % 510
            raster.append(wave if wave < 256 else 510 - wave)
    return b"P5\n# rings\n%d %d\n255\n" % (side, side) + bytes(raster)


def gradient(width, height):
    raster = bytearray()
    for y in range(height):
        for x in range(width):
            red, green = 255 * x // (width - 1), 255 * y // (height - 1)
            raster += bytes((red, green, (red ^ green) & 255))
    return b"P6\n%d %d\n255\n" % (width, height) + bytes(raster)


def deep_ramp(width, height):
    """16 bit samples, as text."""
    rows = [" ".join(str((x * 4099 + y * 257) % 65536) for x in range(width))
            for y in range(height)]
    return f"P2\n{width} {height} # 16 bit\n65535\n" + "\n".join(rows) + "\n"


def noise(state):
    """Yields numbers below 2^15 that look random."""
    while True:
        state = (1103515245 * state + 12345) % 2**31
        yield state >> 16


def hills(x, y):
    height = 20
    for middle_x, middle_y, radius in ((90, 80, 110), (270, 150, 140), (180, 230, 90)):
        square = (x - middle_x) ** 2 + (y - middle_y) ** 2
        height += max(0, radius**2 - square) * 100 // radius**2
    return height


def scattered(width, height):
    """One pixel of sixteen of a picture; the others are 0."""
    random = noise(7)
    raster = bytes(hills(x, y) if next(random) % 16 == 0 else 0
                   for y in range(height) for x in range(width))
    return b"P5\n# hills, at one pixel of sixteen\n%d %d\n255\n" % (width, height) + raster


def plucked(frames):
    """Plucked strings [KARPLUS83]: a burst of noise that goes round and loses its edges."""
    left, right, random = [0] * frames, [0] * frames, noise(11)
    for number, length in enumerate((218, 173, 146, 109, 87, 436)):
        string = [next(random) % 16001 - 8000 for _ in range(length)]
        for frame in range(number * frames // 8, frames):
            place = frame % length
            left[frame] += string[place] * (6 - number) // 6
            right[frame] += string[place] * (number + 1) // 6
            string[place] = (string[place] + string[(place + 1) % length]) * 511 // 1024
    samples = [max(-32768, min(32767, x)) for pair in zip(left, right) for x in pair]
    return wave(48000, 2, struct.pack(f"<{2 * frames}h", *samples))


def wave(rate, channels, data):
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, channels, rate, rate * 2 * channels, 2 * channels, 16)
    content = b"WAVE" + form + b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(content)) + content


def all_files():
    dense, dense_rhs = dense_system(12)
    files = {
        "poisson_24x24.mtx": poisson(24, "4.1"),
        "poisson_64x64.mtx": poisson(64, "4.05"),
        "dense_12.mtx": dense,
        "dense_12_rhs.mtx": dense_rhs,
        "rings.pgm": rings(512),
        "gradient.ppm": gradient(64, 48),
        "deep_ramp.pgm": deep_ramp(19, 13),
        "scattered.pgm": scattered(384, 256),
        "plucked.wav": plucked(48000),
    }
    return {name: content.encode() if isinstance(content, str) else content
            for name, content in files.items()}


def write(directory, files):
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def digest(files):
    """Of all names and bytes."""
    made = hashlib.sha256()
    for name in sorted(files):
        made.update(name.encode() + b"\0" + files[name])
    return made.hexdigest()


def main():
    parser = argparse.ArgumentParser(description="Makes the input files of the examples.")
    parser.add_argument("directory", nargs="?", type=pathlib.Path)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    files = all_files()
    if arguments.check:
        print(f"{len(files)} files, {digest(files)}")
        return 0 if digest(files) == DIGEST else 1
    write(arguments.directory, files)
    return 0


if __name__ == "__main__":
    sys.exit(main())
