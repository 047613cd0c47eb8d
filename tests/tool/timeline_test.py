#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page of 'lockstep timeline' in a headless Chromium: bars, names, words under the pointer, zooming, large traces.

usage: timeline_test.py path-of-the-command

Without a Chromium the exit status is 77. Times are printed, never asserted; that drawing is bounded is.
"""

import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import make_trace

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))
from run import chromium

COMMAND = None
COMPUTING, WAITING, DECISION, ARROW = (245, 197, 24), (180, 185, 193), (123, 63, 181), (192, 57, 43)
SERIAL, LOST = (224, 142, 69), (141, 59, 59)
LARGE = 50_000 if os.environ.get("LOCKSTEP_TEST_BRIEF") else 1_000_000
SHIFT = 8  # a modifier of the DevTools protocol


def near(pixel, colour, distance=24):
    return all(abs(a - b) <= distance for a, b in zip(pixel, colour))


class Page(unittest.TestCase):
    """A trace of four members, opened anew for each test."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.trace = make_trace.make(members=4, slices=80, seed=1)
        cls.url = cls.page_of(cls.trace, "small")
        cls.browser = chromium.Browser()
        cls.browser.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.scratch.cleanup()

    @classmethod
    def page_of(cls, trace, name, **other):
        path = Path(cls.scratch.name) / f"{name}.json"
        path.write_text(trace.text(lockstep="0.1.0", **{"dropped": 0, **other}), encoding="utf-8")
        subprocess.run([COMMAND, "timeline", str(path)], check=True, stdout=subprocess.DEVNULL)
        return path.with_suffix(".html").as_uri()

    def setUp(self):
        self.browser.open("about:blank")
        self.browser.open(self.url)
        self.browser.next_frame()
        self.addCleanup(lambda: self.assertEqual(self.browser.complaints(), []))

    # --- where things are ---

    def ask(self, expression):
        return self.browser.evaluate(expression)

    def slices(self, category, thread):
        """(begin, end) in nanoseconds since the first record."""
        first = min(event["ts"] for event in self.trace.events if "ts" in event)
        return [(round((event["ts"] - first) * 1000), round((event["ts"] - first + event["dur"]) * 1000))
                for event in self.trace.events if event.get("cat") == category and event["tid"] == thread
                and event["ph"] == "X"]

    def point(self, thread, when, place="bar", below=10):
        """Where a time is on the bar of a thread, or on its rows."""
        return self.ask(f"""(() => {{
          const box = document.getElementById("scroller").getBoundingClientRect();
          const track = timeline.layout.tracks[{thread}];
          return [box.left + timeline.view.x({when}), box.top + track.{place} + {below}];
        }})()""")

    def show(self, begin, end):
        self.ask(f"timeline.view.show({begin}, {end - begin})")
        self.browser.next_frame()

    def pixel(self, x, y):
        return self.browser.pixels((int(x), int(y), 1, 1))[0][0]

    def bar_colour(self, thread, when):
        return self.pixel(*self.point(thread, when))

    def hover(self, x, y):
        self.browser.mouse("mouseMoved", x, y)
        self.browser.next_frame()
        return self.ask("""document.getElementById("hover").hidden ? "" : document.getElementById("hover").innerText""")

    def view(self):
        return self.ask("[timeline.view.begin, timeline.view.length]")

    # --- names and figures ---

    def test_threads_and_counters_have_their_names(self):
        names = self.ask("""[...document.querySelectorAll(".thread-name")].map((each) => each.textContent)""")
        self.assertEqual(names, ["member 0", "member 1", "member 2", "member 3", "residual"])

    def test_the_table_of_regions_has_the_figures_of_the_trace(self):
        rows = self.ask("""[...document.querySelectorAll("#regions tbody tr")].map((row) =>
                            [...row.cells].map((cell) => cell.textContent))""")
        by_name = {row[0]: row for row in rows}
        self.assertEqual(set(by_name), {"solver.cpp:30", "solver.cpp:52", "serial: no region runs"})
        solver = by_name["solver.cpp:30"]
        self.assertEqual(int(solver[1]), len(self.slices("part", 1)))
        self.assertEqual(solver[2], "4")
        self.assertEqual(solver[7], "900 ns")  # the skew: three times 300
        inline = by_name["solver.cpp:52"]
        self.assertEqual((inline[2], inline[5]), ("1", "3.00 us"))
        self.assertEqual(by_name["serial: no region runs"][7:], ["-"] * 5)

    def test_waits_and_marks_are_counted(self):
        text = self.ask("""document.getElementById("tables").innerText""")
        for word in ("sync_threads at solver.cpp:31", "wait for barrier", "wait for members", "loop inline",
                     "loop on 4 members", "node 3"):
            self.assertIn(word, text)

    def test_the_head_says_how_much_there_is(self):
        about = self.ask("document.getElementById('about').innerText")
        self.assertIn(f"{self.trace.slices} slices of 4 threads", about)

    # --- bars ---

    def test_bars_are_yellow_where_members_compute_and_grey_where_they_wait(self):
        self.show(0, 30_000)
        for thread in range(3):
            part, wait = self.slices("part", thread)[0], self.slices("wait", thread)[0]
            self.assertTrue(near(self.bar_colour(thread, (part[0] + wait[0]) / 2), COMPUTING))
            self.assertTrue(near(self.bar_colour(thread, (wait[0] + wait[1]) / 2 + 150), WAITING))
            # The caller is in the region, the others have not begun.
            self.assertTrue(near(self.bar_colour(thread, 100), WAITING if thread == 0 else (255, 255, 255)))

    def test_a_caller_is_serial_outside_of_its_regions(self):
        regions = sorted(self.slices("region", 0))
        gap = max(zip([end for _, end in regions], [begin for begin, _ in regions[1:]]), key=lambda one: one[1] - one[0])
        self.show(gap[0] - 10, gap[1] + 10)
        self.assertTrue(near(self.bar_colour(0, (gap[0] + gap[1]) / 2), SERIAL))

    def test_bars_have_no_holes_where_columns_are_shared(self):
        self.ask("timeline.view.showAll()")
        self.browser.next_frame()
        begin, end = self.ask("[timeline.model.threads[0].rows[0].begin[0], timeline.model.end]")
        left, top = self.point(0, begin, below=1)
        right, _ = self.point(0, end)
        picture = self.browser.pixels((int(left) + 3, int(top), int(right - left) - 6, 18))
        self.assertEqual(sum(near(pixel, (255, 255, 255), 5) for row in picture for pixel in row), 0)

    def test_the_picture_is_not_blank(self):
        picture = self.browser.pixels((150, 40, 1000, 150))
        count = sum(near(pixel, COMPUTING) for row in picture for pixel in row)
        self.assertGreater(count, 10_000)
        self.assertGreater(sum(near(pixel, WAITING) for row in picture for pixel in row), 1_000)
        self.assertGreater(len({pixel for row in picture for pixel in row}), 20)

    def test_decisions_are_strokes_above_the_bar(self):
        self.show(-5_000, 30_000)
        x, y = self.point(0, 0, below=-4)
        self.assertTrue(near(self.pixel(x + 1, y), DECISION))

    def test_arrows_lead_from_who_let_go_to_who_waited(self):
        self.show(13_000, 15_000)
        x, y = self.point(0, 14_090)
        area = self.browser.pixels((int(x) - 8, int(y) - 2, 16, 14))
        self.assertGreater(sum(near(pixel, ARROW, 60) for row in area for pixel in row), 5)

    def test_the_skew_of_a_region_is_written_at_its_dashed_lines(self):
        self.ask("timeline.choose(timeline.model.runs[0])")
        self.browser.next_frame()
        x, y = self.point(0, 1_100, below=0)
        blue = [pixel for row in self.browser.pixels((int(x) - 3, int(y), 6, 60)) for pixel in row
                if near(pixel, (37, 99, 235), 60)]
        self.assertGreater(len(blue), 20)

    # --- words under the pointer ---

    def test_hovering_a_wait_says_what_it_waited_for_and_how_long(self):
        self.show(0, 30_000)
        begin, end = self.slices("wait", 1)[0]
        words = self.hover(*self.point(1, (begin + end) / 2))
        for part in ("wait for barrier (wait)", "waits for", "barrier", "stage", "phase", f"{begin / 1000:.3f} us",
                     f"{(end - begin) / 1000:.3f} us"):
            self.assertIn(part, words)

    def test_hovering_a_region_says_its_figures(self):
        self.show(0, 30_000)
        words = self.hover(*self.point(0, 5_000, "rows", 5))
        for part in ("solver.cpp:30 (region)", "members\n4", "skew\n900 ns", "parallel", "lost waiting", "number\n1"):
            self.assertIn(part, words)

    def test_hovering_a_node_or_a_mark_names_it(self):
        self.show(0, 30_000)
        begin, end = self.slices("node", 2)[0]
        self.assertIn("node 2 (node)", self.hover(*self.point(2, (begin + end) / 2)))
        x, y = self.point(0, 0, below=-4)
        self.assertIn("worth a wake-up", self.hover(x + 1, y))

    def test_hovering_a_counter_says_its_value(self):
        self.ask("document.getElementById('scroller').scrollTop = 1e6")  # it is the last row
        self.show(0, 30_000)
        x, y = self.ask("""(() => {
          const scroller = document.getElementById("scroller");
          const box = scroller.getBoundingClientRect();
          const {top} = timeline.layout.counters[0];
          return [box.left + timeline.view.x(9000), box.top + top + 20 - scroller.scrollTop];
        })()""")
        self.assertIn("residual (counter)\nvalue\n1\n", self.hover(x, y))
        self.assertTrue(near(self.pixel(x, y), (91, 139, 208)))

    def test_the_words_go_when_there_is_nothing(self):
        self.show(0, 30_000)
        self.assertEqual(self.hover(*self.point(1, 50, below=10)), "")

    # --- zooming and moving ---

    def test_the_wheel_zooms_about_the_pointer(self):
        when = 14_000
        x, y = self.point(0, when)
        length = self.view()[1]
        self.browser.wheel(x, y, -400)
        self.assertLess(self.view()[1], length / 2)
        self.assertAlmostEqual(self.point(0, when)[0], x, delta=2)
        self.browser.wheel(x, y, 400)
        self.assertAlmostEqual(self.view()[1], length, delta=length / 1000)

    def test_dragging_moves_what_was_under_the_pointer(self):
        self.show(10_000, 30_000)
        begin, length = self.view()
        x, y = self.point(0, 20_000)
        self.browser.drag(x, x - 200, y)
        self.assertAlmostEqual(self.point(0, 20_000)[0], x - 200, delta=1)
        self.assertAlmostEqual(self.view()[1], length, delta=1)

    def test_dragging_with_shift_zooms_to_what_is_marked(self):
        self.show(0, 40_000)
        y = self.point(0, 0)[1]
        self.browser.drag(self.point(0, 10_000)[0], self.point(0, 20_000)[0], y, SHIFT)
        begin, length = self.view()
        self.assertAlmostEqual(begin, 10_000, delta=100)
        self.assertAlmostEqual(length, 10_000, delta=100)

    def test_keys_zoom_move_and_show_all(self):
        whole = self.view()
        self.browser.key("+")
        self.assertAlmostEqual(self.view()[1], whole[1] * 0.7, delta=1)
        before = self.view()
        self.browser.key("ArrowRight")
        self.assertGreater(self.view()[0], before[0])
        self.browser.key("a")
        self.assertAlmostEqual(self.view()[0], before[0], delta=1)
        self.browser.key("Home")
        self.assertEqual(self.view(), whole)

    def test_keys_go_from_region_to_region(self):
        starts = [begin for begin, _ in self.slices("region", 0)]
        self.ask(f"timeline.choose(timeline.model.runs[1])")
        for key, run in (("n", 2), ("n", 3), ("p", 2)):
            self.browser.key(key)
            begin, length = self.view()
            self.assertTrue(begin < starts[run] < begin + length / 2, key)

    def test_a_double_click_shows_the_slice(self):
        self.show(0, 30_000)
        begin, end = self.slices("node", 2)[0]
        x, y = self.point(2, (begin + end) / 2)
        for count in (1, 2):
            self.browser.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=count)
            self.browser.mouse("mouseReleased", x, y, button="left", clickCount=count)
        self.browser.next_frame()
        self.assertAlmostEqual(self.view()[1], (end - begin) * 1.2, delta=2)

    def test_the_view_stays_within_the_trace(self):
        whole = self.view()
        for _ in range(3):
            self.browser.key("-")
            self.browser.key("ArrowLeft")
        self.assertEqual(self.view()[1], whole[1])
        self.ask("timeline.view.zoom(1e-9, 600)")
        self.assertEqual(self.view()[1], 20)

    def test_a_click_in_the_table_shows_the_worst_run(self):
        self.ask("""document.querySelector("#regions tbody tr").click()""")
        worst = max(self.slices("region", 0), key=lambda each: each[1] - each[0])
        begin, length = self.view()
        self.assertAlmostEqual(length, (worst[1] - worst[0]) * 1.2, delta=2)
        self.assertLess(begin, worst[0])

    def test_the_address_chooses_what_is_shown(self):
        self.browser.open("about:blank")
        self.browser.open(self.url + "#from=2000&to=9000")
        self.assertEqual(self.view(), [2000, 7000])

    def test_a_click_on_a_name_folds_the_thread(self):
        height = self.ask("timeline.layout.height")
        self.ask("""document.querySelector(".thread-name").click()""")
        self.assertLess(self.ask("timeline.layout.height"), height)

    def test_what_was_lost_is_hatched_and_said_and_out_of_view_at_first(self):
        trace = make_trace.make(members=4, slices=200, seed=1)
        first = min(event["ts"] for event in trace.events if "ts" in event)
        middle = (first + max(event["ts"] for event in trace.events if "ts" in event)) / 2
        trace.add(ph="M", name="thread_lost", tid=2, args={"records": 77, "whole_from": middle})
        page = self.page_of(trace, "lossy", dropped=77)
        self.browser.open(page)
        self.browser.next_frame()
        words = self.ask("document.getElementById('loss').innerText")
        for part in ("77 records lost, the oldest of member 2", "LOCKSTEP_TRACE=FILE,records="):
            self.assertIn(part, words)
        self.assertGreater(self.view()[0], (middle - first) * 800)
        self.ask("timeline.view.showAll()")
        self.browser.next_frame()
        x, y = self.point(2, (middle - first) * 500, below=1)
        area = [pixel for row in self.browser.pixels((int(x), int(y), 60, 18)) for pixel in row]
        self.assertGreater(sum(near(pixel, LOST, 60) for pixel in area), 20)
        self.assertEqual(sum(near(pixel, COMPUTING) for pixel in area), 0)

    def test_many_threads_are_scrolled(self):
        self.browser.open(self.page_of(make_trace.make(members=40, slices=400, seed=1), "many"))
        self.ask("document.getElementById('scroller').scrollTop = 1e6")
        self.browser.next_frame()
        self.show(0, 40_000)
        last = self.ask("document.getElementById('scroller').scrollTop")
        self.assertGreater(last, 100)
        x, y = self.point(39, 13_000)
        self.assertTrue(near(self.pixel(x, y - last), COMPUTING))

    # --- much ---

    def test_a_frame_costs_what_is_seen_and_not_what_there_is(self):
        begun = time.monotonic()
        trace = make_trace.make(members=4, slices=LARGE, seed=1)
        made = time.monotonic()
        url = self.page_of(trace, "large")
        converted = time.monotonic()
        self.browser.open(url)
        self.browser.next_frame()
        first = self.ask("timeline.statistics")
        paints = self.ask("""(async () => {
          const {view, painter, statistics} = timeline;
          const paints = [];
          let most = 0;
          for (let i = 0; i < 60; ++i) {
            view.zoom(i < 45 ? 0.8 : 1.6, 400 + 10 * i);
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            paints.push(statistics.paint);
            most = Math.max(most, painter.drawn);
          }
          paints.sort((a, b) => a - b);
          return {median: paints[30], worst: paints[59], most};
        })()""")
        print(f"{trace.slices} slices: {made - begun:.1f} s to invent, {converted - made:.1f} s to write and convert; "
              f"read in {first['read']:.0f} ms, first paint after {first['firstPaint']:.0f} ms; zooming, a frame takes "
              f"{paints['median']:.1f} ms, at most {paints['worst']:.1f} ms and {paints['most']} rectangles")
        rows = self.ask("timeline.model.rows.length") + 4 * 3  # bars are two, marks one
        self.assertLess(paints["most"], 1050 * rows + 5000)


if __name__ == "__main__":
    COMMAND = str(Path(sys.argv.pop(1)).resolve())
    if not chromium.find():
        print("No Chromium is installed: left out. Debian's package is chromium-headless-shell.")
        sys.exit(77)
    unittest.main()
