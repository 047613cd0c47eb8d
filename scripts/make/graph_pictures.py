#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the pictures of docs/graphs.md from what the examples say of their graphs. Needs Graphviz.

usage: graph_pictures.py [directory of a build]
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from source_text import ROOT  # noqa: E402

FIGURES = ROOT / "docs" / "pictures"
STYLE = ["-Gfontname=sans-serif", "-Nfontname=sans-serif", "-Efontname=sans-serif", "-Nfontsize=12", "-Efontsize=10",
         "-Gbgcolor=white", "-Granksep=0.35", "-Gnodesep=0.15"]


def output_of(*command):
    return subprocess.run([str(each) for each in command], capture_output=True, text=True, check=True).stdout


def audio_graph(programs):
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "graph.dot"
        output_of(programs / "audio", "--input", programs / "data/plucked.wav", "--graph", path)
        return path.read_text(encoding="utf-8")


def drawn(text):
    """As SVG, without the version of Graphviz: the picture changes when the graph does."""
    svg = subprocess.run(["dot", "-Tsvg", *STYLE], input=text, capture_output=True, text=True, check=True).stdout
    svg = re.sub(r"<!--.*?-->\n?", "", svg, flags=re.DOTALL)
    return re.sub(r"<\?xml.*?<svg", "<svg", svg, flags=re.DOTALL)


def main(argv):
    build = Path(argv[1]) if len(argv) > 1 else ROOT / "build" / "release"
    programs = build.resolve() / "examples"
    solver = programs / "17_graph_solver"
    pictures = {
        "graph-solver": output_of(solver, 2, 1000, 1),
        "graph-solver-plan": output_of(solver, 2, 1000, 2),
        "graph-audio": audio_graph(programs),
    }
    FIGURES.mkdir(exist_ok=True)
    for name, text in pictures.items():
        path = FIGURES / f"{name}.svg"
        path.write_text(drawn(text), encoding="utf-8")
        print(f"graph_pictures: {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
