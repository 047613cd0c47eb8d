#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the pictures of docs/visibility.md: records the example 22_slow_loops, and takes pictures of the pages
that 'lockstep timeline' makes. Prints the summaries, of which the document has parts. Needs a Chromium.

usage: timeline_pictures.py [directory of a build [directory of traces]]

Traces that are in the directory already are not recorded anew.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from run import chromium  # noqa: E402
from source_text import ROOT  # noqa: E402

FIGURES = ROOT / "docs" / "pictures"
WIDTH = 1000

# name, case, mended, steps, and how many steps the picture shows
PICTURES = (
    ("slow-unequal", 1, 0, 300, 4),
    ("slow-unequal-mended", 1, 1, 300, 4),
    ("slow-crowded", 2, 0, 2000, 2),
    ("slow-crowded-mended", 2, 1, 2000, 8),
    ("slow-too-small", 3, 0, 80, 4),
    ("slow-too-small-mended", 3, 1, 80, 1),
)

# The middle of the trace, from the end of one step of member 0 to that of another; regions where steps have no end.
SHOW = """(({steps}) => {
  const {model, view, layout} = timeline;
  const name = (row, i) => model.looks[row.look[i]].name;
  const row = model.threads[0].rows.find((row) => ["sync_threads", "for_each", "for_range"].includes(name(row, 0)));
  const ends = row ? [...row.end].filter((end, i) => name(row, i) !== "single") : model.runs.map((run) => run.end);
  const middle = ends.length >> 1;
  view.show(ends[middle], ends[middle + steps] - ends[middle]);
  return layout.height;
})"""


def record(programs, case, mended, steps, path):
    subprocess.run([programs / "examples" / "22_slow_loops", str(case), str(mended), str(steps)], check=True,
                   stdout=subprocess.DEVNULL, env={**os.environ, "LOCKSTEP_TRACE": str(path)})


def picture(browser, page, steps):
    browser.open("about:blank")
    browser.open(page.as_uri())
    height = browser.evaluate(SHOW + f"({{steps: {steps}}})")
    browser.next_frame()
    top = browser.evaluate("document.getElementById('ruler').getBoundingClientRect().top")
    return browser.screenshot((0, top, WIDTH, 26 + height))


def draw(build, traces):
    command = build / "tool" / "lockstep"
    FIGURES.mkdir(exist_ok=True)
    paths = [traces / f"{name}.json" for name, *_ in PICTURES]
    for (_, case, mended, steps, _), trace in zip(PICTURES, paths):  # all before the browser takes a CPU
        if not trace.exists():
            record(build, case, mended, steps, trace)
    with chromium.Browser(WIDTH, 900) as browser:
        for (name, *_, shown), trace in zip(PICTURES, paths):
            subprocess.run([command, "timeline", trace], check=True, stdout=subprocess.DEVNULL)
            path = FIGURES / f"{name}.png"
            path.write_bytes(picture(browser, trace.with_suffix(".html"), shown))
            print(f"timeline_pictures: {path.relative_to(ROOT)}", flush=True)
            subprocess.run([command, "summary", trace], check=True)


def main(argv):
    if not chromium.find():
        print("timeline_pictures: no Chromium is installed", file=sys.stderr)
        return 1
    build = (Path(argv[1]) if len(argv) > 1 else ROOT / "build" / "release").resolve()
    with tempfile.TemporaryDirectory() as scratch:
        draw(build, Path(argv[2] if len(argv) > 2 else scratch).resolve())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
