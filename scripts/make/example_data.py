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

DIGEST = "9709085eb90d8f01f005fd1d1d5f591c14177e3b2eff53425e64c93aca92d22a"  # of what all_files() makes
REAL_SYMMETRIC = "%%MatrixMarket matrix coordinate real symmetric\n"
REAL_GENERAL = "%%MatrixMarket matrix coordinate real general\n"
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


def riff_chunk(name, content):
    return name + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)


def wave_format(kind=1, channels=1, rate=48000, second=None, frame=None, bits=16):
    frame = 2 * channels if frame is None else frame
    return struct.pack("<HHIIHH", kind, channels, rate, rate * frame if second is None else second, frame, bits)


def riff(*chunks, form=b"WAVE"):
    return riff_chunk(b"RIFF", form + b"".join(chunks))


def wave(rate, channels, data):
    return riff(riff_chunk(b"fmt ", wave_format(1, channels, rate)), riff_chunk(b"data", data))


def malformed_sounds():
    good, data = wave(48000, 1, b"abcdef"), riff_chunk(b"data", b"abcdef")
    form = riff_chunk(b"fmt ", wave_format())
    formats = {
        "format_short.wav": wave_format()[:14],
        "kind_float.wav": wave_format(kind=3),
        "channels_none.wav": wave_format(channels=0),
        "channels_three.wav": wave_format(channels=3),
        "rate_absurd.wav": wave_format(rate=10**9, second=0),
        "bits_eight.wav": wave_format(bits=8),
        "frame_wrong.wav": wave_format(frame=4),
        "second_wrong.wav": wave_format(second=48000),
    }
    files = {name: riff(riff_chunk(b"fmt ", content), data) for name, content in formats.items()}
    files["empty.wav"] = b""
    files["header_truncated.wav"] = good[:10]
    files["truncated.wav"] = good[:-3]
    files["trailing.wav"] = good + b"more"
    files["not_a_wave.wav"] = riff(form, data, form=b"AVI ")
    files["chunk_too_long.wav"] = riff(form, b"data\xff\xff\xff\x7fabcdef")
    files["chunk_header_truncated.wav"] = riff(form, b"data")
    files["format_missing.wav"] = riff(data)
    files["format_twice.wav"] = riff(form, form, data)
    files["data_missing.wav"] = riff(form)
    files["data_empty.wav"] = riff(form, riff_chunk(b"data", b""))
    files["data_odd.wav"] = riff(form, riff_chunk(b"data", b"abcde"))
    files["data_twice.wav"] = riff(form, data, data)
    return files


def malformed_matrices():
    good = "2 2 3\n1 1 2\n2 1 -1\n2 2 2\n"
    symmetric = {
        "size_missing": "% no more\n",
        "size_negative": "-2 -2 3\n1 1 2\n",
        "size_zero": "0 0 0\n",
        "size_overflow": "99999999999999999999 2 3\n1 1 2\n",
        "size_not_whole": "2.5 2 3\n1 1 2\n",
        "size_word_missing": "2 2\n1 1 2\n",
        "entries_absurd": "2000000000 2000000000 1000000000000\n1 1 2\n",
        "entries_negative": "2 2 -3\n1 1 2\n",
        "entries_too_many": "2 2 4\n1 1 2\n2 1 -1\n2 2 2\n2 2 2\n",
        "rows_absurd": "2000000000 2000000000 3\n1 1 2\n2 1 -1\n2 2 2\n",
        "truncated": "2 2 3\n1 1 2.000000\n2 1 -1.000000\n",
        "truncated_line": "2 2 3\n1 1 2\n2 1 -1\n2      2",
        "trailing_text": good + "2 2 2\n",
        "word_too_many": "2 2 3\n1 1 2\n2 1 -1 0\n2 2 2\n",
        "value_nan": good.replace("-1", "nan"),
        "value_inf": good.replace("-1", "-inf"),
        "value_overflow": good.replace("-1", "1e999"),
        "value_bad": good.replace("-1", "-1,5"),
        "value_hex": good.replace("-1", "0x1p0"),
        "index_zero": good.replace("2 1", "2 0"),
        "index_outside": good.replace("2 1", "3 1"),
        "index_above_diagonal": good.replace("2 1", "1 2"),
        "duplicate": "2 2 3\n1 1 2\n1 1 2\n2 2 2\n",
        "diagonal_missing": "3 3 3\n1 1 2\n2 1 -1\n3 3 2\n",
        "diagonal_zero": "2 2 3\n1 1 2\n2 1 -1\n2 2 0\n",
        "diagonal_negative": "2 2 3\n1 1 2\n2 1 -1\n2 2 -2\n",
        "not_dominant": "2 2 3\n1 1 2\n2 1 -3\n2 2 4\n",
        "singular": "3 3 4\n1 1 2\n2 2 1\n3 2 -1\n3 3 1\n",
        "symmetric_not_square": "2 3 3\n1 1 2\n2 1 -1\n2 2 2\n",
    }
    files = {f"{name}.mtx": REAL_SYMMETRIC + text for name, text in symmetric.items()}
    for name, banner in {
            "banner_wrong": "%MatrixMarket matrix coordinate real symmetric\n",
            "banner_short": "%%MatrixMarket matrix coordinate\n",
            "object_vector": "%%MatrixMarket vector coordinate real general\n",
            "field_complex": "%%MatrixMarket matrix coordinate complex symmetric\n",
            "field_pattern": "%%MatrixMarket matrix coordinate pattern symmetric\n",
            "symmetry_skew": "%%MatrixMarket matrix coordinate real skew-symmetric\n",
            "integer_fraction": "%%MatrixMarket matrix coordinate integer symmetric\n"}.items():
        text = good.replace("-1", "-0.5") if name == "integer_fraction" else good
        files[f"{name}.mtx"] = banner + text
    files["empty.mtx"] = ""
    files["not_square.mtx"] = REAL_GENERAL + "2 3 2\n1 1 2\n2 2 2\n"
    files["not_symmetric.mtx"] = REAL_GENERAL + "2 2 3\n1 1 2\n2 1 -1\n2 2 2\n"
    files["array_absurd.mtx"] = REAL_ARRAY + "2000000000 2000000000\n1\n"
    files["array_truncated.mtx"] = REAL_ARRAY + "2 2\n2.0\n-1.0\n-1.0\n"
    files["array_two_values.mtx"] = REAL_ARRAY + "2 2\n2.0\n-1.0 -1.0\n-1.0\n2.0\n"
    files["array_trailing.mtx"] = REAL_ARRAY + "1 1\n2\nend\n"
    return files


def malformed_right_sides():
    """For dense_12.mtx."""
    values = "".join(f"{i}\n" for i in range(1, 13))
    return {
        "rhs_too_short.mtx": REAL_ARRAY + "11 1\n" + values[:-3],
        "rhs_two_columns.mtx": REAL_ARRAY + "6 2\n" + values,
        "rhs_coordinate.mtx": REAL_GENERAL + "12 1 1\n1 1 1\n",
        "rhs_nan.mtx": REAL_ARRAY + "12 1\n" + values.replace("7\n", "NaN\n"),
        "rhs_truncated.mtx": REAL_ARRAY + "12 1\n1.5\n" + values[:-8],
    }


def malformed_images():
    plain = "P2\n3 2\n255\n1 2 3\n4 5 6\n"
    texts = {
        "empty.pgm": "",
        "magic_wrong.pgm": plain.replace("P2", "Q2"),
        "magic_bitmap.pgm": plain.replace("P2", "P1"),
        "header_truncated.pgm": "P2\n3 2\n",
        "width_negative.pgm": plain.replace("3 2", "-3 2"),
        "height_zero.pgm": plain.replace("3 2", "3 0"),
        "width_overflow.pgm": plain.replace("3 2", "99999999999999999999 2"),
        "size_absurd.pgm": plain.replace("3 2", "2000000000 2000000000"),
        "size_absurd_binary.ppm": "P6\n2000000000 2000000000\n255\nabc",
        "maxval_zero.pgm": plain.replace("255", "0"),
        "maxval_too_large.pgm": plain.replace("255", "65536"),
        "truncated_plain.pgm": "P2\n3 2\n255\n100 200 30\n4   5\n",
        "truncated_binary.pgm": "P5\n3 2\n255\nabcd",
        "truncated_header_binary.pgm": "P5\n3 2\n255",
        "sample_nan.pgm": plain.replace("5 6", "nan 6"),
        "sample_negative.pgm": plain.replace("5 6", "-5 6"),
        "sample_above_maxval.pgm": plain.replace("5 6", "5 256"),
        "sample_above_maxval_binary.pgm": "P5\n3 2\n100\nabcdef",
        "trailing_plain.pgm": plain + "7\n",
        "trailing_binary.pgm": "P5\n3 2\n255\nabcdefg",
    }
    return {name: text.encode() for name, text in texts.items()}


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
    malformed = {**malformed_matrices(), **malformed_right_sides(), **malformed_images(), **malformed_sounds()}
    files.update({f"malformed/{name}": content for name, content in malformed.items()})
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
