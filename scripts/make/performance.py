#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes docs/performance.md and its pictures from bench/results/*.json, so that no figure is typed by hand.

usage: performance.py [--check] [tree]

The results are named MACHINE-PROGRAM.json: serial, duty, periodic, team, graph, mpi. Pictures go to docs/figures/,
which git ignores. In README.md and docs/maintainers/seeds/*.md (whose tables are made from the programs primitives, ring
and objects) the script fills in the lines between `<!-- figures: NAME -->` and `<!-- end -->`. With --check it
writes nothing, and says which pages differ from what it would write.
"""

import json
import re
import sys
import textwrap
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path[:0] = [str(Path(__file__).resolve().parents[1]), *(str(BENCH / each) for each in ("grid", "graph", "mpi"))]
import graph_targets  # noqa: E402
import grid_records as records  # noqa: E402
import grid_verdict as verdict  # noqa: E402
import mpi_report  # noqa: E402
from make import graph_tables, heat_map, mpi_tables, seed_tables, team_tables  # noqa: E402
from source_text import Report, root_argument  # noqa: E402

PAGE, PICTURES, README, SEEDS = "docs/performance.md", "docs/figures", "README.md", "docs/maintainers/seeds"
PROGRAMS = ("serial", "duty", "periodic", "team")
GRAPH, MPI = "graph", "mpi"
# What the rows say of the targets is computed here, as by the drivers: the results do not have it.
VERDICTS = {"serial": verdict.serial_verdict, "duty": verdict.duty_verdict, "periodic": verdict.periodic_verdict,
            GRAPH: graph_targets.verdicts}
LOSES = "✗"
TARGETS = (("serial", "Loops against the serial loop"), ("duty", "Loops between serial work"), ("graph", "Graphs"),
           ("mpi", "Inside MPI"))
KINDS = {"regular": "Regular gaps", "tenth": "Gaps that vary by a tenth",
         "alternating": "Gaps that alternate between a half and one and a half of S", "random": "Random gaps, up to 2 S"}


def results(root):
    """{machine: {program: result}}"""
    found = {}
    for path in sorted((root / "bench" / "results").glob("*.json")):
        machine, _, program = path.stem.rpartition("-")
        if program in (*PROGRAMS, GRAPH, MPI, *seed_tables.PROGRAMS):
            result = found.setdefault(machine, {})[program] = json.loads(path.read_text(encoding="utf-8"))
            if program in VERDICTS:
                result["verdict"] = VERDICTS[program](result["rows"])
            elif program == MPI:
                result["verdict"] = mpi_report.verdict(result["rows"], result["machine"]["usable_cpus"])
    return found


def microseconds(value):
    return f"{value} µs" if value < 1000 else f"{value // 1000} ms"


def count(value):
    return f"{value}" if value < 1000 else f"{value // 1000}k" if value < 1000000 else f"{value // 1000000}M"


def numbers(rows, name, show):
    return [(value, show(value)) for value in sorted({r[name] for r in rows})]


# --- pictures


def panels_of(rows, peers, value, line=lambda row: row["size"]):
    """A panel for each peer; of rows that share a place the worst counts. value(row): ratio and note."""
    panels = []
    for peer in peers:
        values = {}
        for row in records.of_peer(rows, peer):
            place, found = (line(row), row["pause_us"]), value(row)
            if place not in values or found[0] > values[place][0]:
                values[place] = found
        panels.append(heat_map.Panel(peer, values))
    return panels


def serial_picture(result):
    rows = [r for r in result["rows"] if r["setting"] == "idle"]
    if not rows:
        return None
    panels = panels_of(rows, list(result["peers"]), lambda r: (max(verdict.beyond_free(r), 0.01), ""))
    return heat_map.heat_map(
        "A loop of n elements after a pause: time over the serial loop's",
        "worst of daxpy, dot, sqrt and stencil, medians less 100 ns; two threads, nothing else running; "
        "lockstep: run(), lockstep loops: for_each() and reduce_each()",
        panels, numbers(rows, "size", lambda n: f"n = {count(n)}"), numbers(rows, "pause_us", microseconds), 4)


def duty_picture(result):
    rows = [r for r in result["rows"] if r["setting"] == "idle"]
    if not rows:
        return None
    rows = [r for r in rows if r["kind"] in ("regular", "random")]
    panels = panels_of(rows, list(result["peers"]), lambda r: (verdict.ratio(r), f"{r['cpus']:.1f} CPUs"),
                       lambda r: (r["kind"], r["size"]))
    lines = [((kind, p), f"{kind}, P = {p}") for kind in ("regular", "random") for p, _ in numbers(rows, "size", str)]
    return heat_map.heat_map(
        "A loop of P µs after a gap of S: time over the serial loop's, and the CPUs used",
        "medians; gaps regular and random; two threads, nothing else running; lockstep: run(), lockstep loops: for_each()",
        panels, lines, numbers(rows, "pause_us", microseconds), 4)


# --- tables


def wrapped(part):
    """Text in lines of 120 characters; tables and headings as they are."""
    if part.startswith(("|", "#", "<!--", "[")):
        return part
    return "\n".join(textwrap.fill(line, 120, break_long_words=False, break_on_hyphens=False,
                                   subsequent_indent="  " if line.startswith("- ") else "") for line in part.split("\n"))


def about(result):
    machine, effort = result["machine"], result.get("effort")
    versions = ", ".join(f"{name} {version}" for name, version in machine["peers"].items())
    lines = [f"{machine['cpu']}, {machine['usable_cpus']} CPUs, {machine['kernel']}; {machine['compiler']}, `{machine['flags']}`; "
             f"{versions}." + (f" Measured on {result['date']}." if "date" in result else "")]
    if effort:
        lines.append(f"{effort['samples']} samples of each cell in {effort['processes']} processes, alternating with the other peers; "
                     f"{effort['seconds'] / 60:.0f} minutes in all.")
    changed = [f"{label}: " + ", ".join(f"`{k}={v}`" for k, v in peer["environment"].items())
               for label, peer in result.get("peers", {}).items() if peer.get("environment")]
    if changed:
        lines.append("Each peer runs with its defaults, except " + "; ".join(changed) + ".")
    return wrapped("\n".join(lines + (["**Rough: a quick run.**"] if result["quick"] else [])))


def left_out(result):
    return [f"{s['title']}: could not be set ({s['left_out']})." for s in result["settings"].values() if "left_out" in s]


def settings_of(result, rows):
    return [name for name in result["settings"] if any(r["setting"] == name for r in rows)]


def by_setting(result, show, best=None):
    """A line for each setting, a column for each peer; show(rows of one peer) -> text."""
    peers, lines = list(result["peers"]), []
    for name in settings_of(result, result["rows"]):
        rows = [r for r in result["rows"] if r["setting"] == name]
        cells = len({r["cell"] for r in rows})
        lines.append([f"{result['settings'][name]['title']} ({cells} cells)"]
                     + [show(records.of_peer(rows, peer)) or "-" for peer in peers])
    return records.aligned([["", *peers], *lines])


def worst_table(result):
    def show(rows):
        if not rows:
            return ""
        return (f"{heat_map.shown(max(map(verdict.beyond_free, rows)))} "
                f"({heat_map.shown(max(verdict.beyond_free(r, 'p95_ns') for r in rows))})")
    return by_setting(result, show)


LISTED = re.compile(r"( cells\b[^(]*) \(([^(),]*), [^()]*\)")  # the cells that miss a target


def outcomes(result):
    """What was aimed at, a line for each; what is only told, without a target, comes last."""
    told = [(LISTED.sub(r"\1 (not: \2)", one["text"]), one["met"]) for one in result["verdict"]
            if not one["text"].startswith("worst of ")]
    lines = [f"| {text} | {'met' if met else f'not met {LOSES}'} |" for text, met in told if met is not None]
    return "\n".join((["| target | |", "|---|---|", *lines, ""] if lines else []) + [f"- {text}" for text, met in told if met is None]).rstrip()


def losing_serial(result):
    rows = [r for r in records.of_peer(result["rows"], verdict.LOOPS) if verdict.beyond_free(r) > 1.1]
    if not rows:
        return "None: no cell of lockstep's loops is above 1.1 times the serial loop and 100 ns."
    peers, found = list(result["peers"]), records.by_cell(result["rows"])
    lines = [["setting: cell", *peers]]
    for row in sorted(rows, key=verdict.beyond_free, reverse=True):
        each = found[(row["setting"], row["cell"])]
        lines.append([verdict.where(row)] + [(f"{heat_map.shown(verdict.ratio(each[p]))}" if p in each else "-")
                                             + (f" {LOSES}" if p == verdict.LOOPS else "") for p in peers])
    return records.aligned(lines)


def is_lost(row, others):
    limit = 1.05 if row["kind"] == "random" else 1.1 * min(map(verdict.ratio, others)) if others else 1e9
    return verdict.ratio(row) > limit


def duty_table(result, kind):
    peers = list(result["peers"])
    lines = [["P, S", *peers]]
    for (setting, _), found in records.by_cell(result["rows"]).items():
        one = next(iter(found.values()))
        if setting != "idle" or one["kind"] != kind:
            continue
        others = [row for peer, row in found.items() if peer not in verdict.OURS]
        line = [f"{microseconds(one['size'])}, {microseconds(one['pause_us'])}"]
        for peer in peers:
            row = found.get(peer)
            mark = f" {LOSES}" if row and peer in verdict.OURS and is_lost(row, others) else ""
            line.append(f"{verdict.ratio(row):.2f} ({row['cpus']:.1f}){mark}" if row else "-")
        lines.append(line)
    return records.aligned(lines) if len(lines) > 1 else ""


def means_table(result):
    def show(rows):
        if not rows:
            return ""
        means = [max(r["mean_ratio"], 1e-3) for r in rows]
        return f"{heat_map.shown(verdict.statistics.geometric_mean(means))} ({heat_map.shown(max(means))})"
    return by_setting(result, show)


def periodic_table(result, is_idle):
    """Of the loops, or of the idle team after them."""
    peers, lines = list(result["peers"]), []
    for (setting, cell), found in records.by_cell(result["rows"]).items():
        if is_idle == any("idle_first_s" in row for row in found.values()):
            title = f"{setting}: {cell}".replace(" us", " µs").replace(" a loop of 10 µs", "").replace(", of 10 µs", "")
            lines.append([title] + [periodic_cell(found[p]) if p in found else "-" for p in peers])
    return records.aligned([["", *peers], *lines]) if lines else ""


def periodic_cell(row):
    if "idle_first_s" in row:
        return f"{1e3 * row['idle_first_s']['max']:.1f} ms, then {1e3 * row['idle_second_s']['max']:.1f}"
    return f"{row['loop_ns'] / 1e3:.1f} µs ({row['p99_ns'] / 1e3:.1f}; {row['cpus']:.2f})"


# --- the page


def drawn(what, picture):
    return f"`{picture}`, which `./do performance` draws, shows {what}."


def serial_section(result, picture):
    return ["## Loops against the serial loop", about(result), *left_out(result),
            drawn("the time of a loop over that of the serial loop, by size and pause", picture) if picture else "",
            "The table shows the worst cell of each peer over all kernels, sizes and pauses: its median, and in parentheses the "
            "worst 95th percentile. Both are multiples of the median of the serial loop, after 100 ns of each loop have been "
            "taken off. Beside other processes the serial loop has a long tail as well.", worst_table(result),
            "### Targets and outcomes", outcomes(result),
            f"### Cells in which lockstep's loops lose {LOSES}",
            "Multiples of the median of the serial loop. A cell is listed if lockstep's loop takes more than 1.1 times the serial "
            "loop and 100 ns.", losing_serial(result)]


def duty_section(result, picture):
    parts = ["## Loops between serial work", about(result), *left_out(result),
             drawn("the time of a loop over that of the serial loop, by its length and the gap", picture) if picture else "",
             "A program alternates serial work of length S with a loop that takes P on one thread. Each cell shows the median time "
             "of the loop as a multiple of the serial loop's, and in parentheses the CPUs that the program used. "
             f"{LOSES}: more than 1.1 of the best peer; with random gaps, more than 1.05 of serial. Two threads, nothing else "
             "running."]
    for kind, title in KINDS.items():
        table = duty_table(result, kind)
        parts += [f"### {title}", table] if table else []
    return [*parts, "### Beside other programs, and in a crowd", "Mean times as multiples of the serial loop's mean: the geometric "
            "mean over all cells, and in parentheses the worst cell. A mean shows what is rare and long; a median does not.",
            means_table(result), "### Targets and outcomes", outcomes(result)]


def periodic_section(result):
    settings = "; ".join(f"*{name}*: {setting['title']}" for name, setting in result["settings"].items())
    return ["## A short loop at fixed times", about(result), "The caller sleeps until the next loop is due; a loop takes 10 µs on one "
            "thread. The cells show the median time of the loop, and in parentheses its 99th percentile and the CPUs that the whole "
            f"program used. {settings}.", periodic_table(result, False),
            "What an idle team costs: CPU time in the quarter of a second after the last loop (the worst sample), and in the next "
            "quarter.", periodic_table(result, True), outcomes(result)]


def team_section(result, suffix):
    return [f"## The team's operations{suffix}", about(result), *team_tables.sections(result, LOSES)]


def graph_section(result):
    return ["## Graphs", about(result), *graph_tables.sections(result, LOSES)]


def duty_mean(result, setting, peer):
    means = [max(row["mean_ratio"], 1e-3) for row in records.of_peer(result["rows"], peer) if row["setting"] == setting]
    return verdict.statistics.geometric_mean(means) if means else None


def at_a_glance(programs, others):
    """A few rows: what, ours, the best peer. others: what was measured on further machines."""
    lines = []
    if "team" in programs:
        lines += [team_tables.glance(programs["team"], work, title, LOSES) for work, title in team_tables.GLANCE]
    for team in [other["team"] for other in others if "team" in other]:
        lines += [team_tables.glance(team, work, title, LOSES) for work, title in team_tables.whole_machine(team)]
    if "duty" in programs:
        duty = programs["duty"]
        for setting, title in (("idle", "loops between serial work, over the serial loop"),
                               ("two", "the same beside two busy processes")):
            ours = duty_mean(duty, setting, verdict.LOOPS)
            peers = {peer: mean for peer in duty["peers"] if peer not in verdict.OURS
                     and (mean := duty_mean(duty, setting, peer)) is not None}
            if ours is not None and peers:
                best = min(peers, key=peers.get)
                lines.append([title, f"{ours:.2f}", f"{peers[best]:.2f} ({best})", team_tables.verdict(ours / peers[best], LOSES)])
    return records.aligned([["", "lockstep", "best peer", "lockstep / best peer"], *filter(None, lines)])


def first_screen(programs, others):
    parts = ["lockstep was compared with the OpenMP runtimes of GCC (libgomp) and Clang (libomp), with oneTBB, ForkUnion and the "
             "standard library: alone, beside busy processes, with more threads than CPUs, and with a quota. Each row has the best of "
             "the settings that were tried for a peer. Less is better.", at_a_glance(programs, others)]
    if "team" in programs:
        cpus = programs["team"]["machine"]["usable_cpus"]
        parts += [f"**Where lockstep loses** on {cpus} CPUs: the operations in which the best peer is at least 1.05 times as fast. Loops with "
                  "schedules are left out, because most of their differences are noise. After a pause ForkUnion's threads still poll, each on "
                  "a CPU of its own; lockstep's sleep.", team_tables.lost(programs["team"], LOSES)]
    missed = [f"{outcomes.count(False)} of {outcomes.count(True) + outcomes.count(False)} of [{title}](#{anchor(title)})"
              for name, title in TARGETS if name in programs
              for outcomes in [[one["met"] for one in programs[name]["verdict"]]]]
    if missed:
        parts.append(f"**Targets that are not met:** {'; '.join(missed)}. Most of the time is lost in one way: after a pause of a millisecond "
                     "or more that nothing foretells, a region of `run()` pays for waking its members, and a loop of `for_each()` stays on one "
                     "thread. Threads that poll gain there, at the cost of a CPU.")
    return [part for part in parts if part]


def anchor(title):
    return re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")


def contents(parts):
    """Links to the sections, once each."""
    titles = dict.fromkeys(part.removeprefix("## ") for part in parts if part.startswith("## "))
    return " ·\n".join(f"[{title}](#{anchor(title)})" for title in titles)


def page_and_pictures(found):
    """The page, and {path: text} of its pictures."""
    machines = list(found.values())
    parts, pictures = ["<!-- made by ./do performance from bench/results: do not edit -->", "# Performance",
                       *first_screen(machines[0] if machines else {}, machines[1:]),
                       "How the figures were measured: [bench/README.md](../bench/README.md). `./do performance` makes this page "
                       f"from `bench/results/*.json`. {LOSES} marks what lockstep loses. *lockstep* means a region of `run()`, in "
                       "which every member takes part; *lockstep loops* means `for_each()` and `reduce_each()`. *Crowded* means more "
                       "threads than CPUs."], {}
    head = len(parts)
    for machine, programs in found.items():
        is_first, names = programs is machines[0], {}
        for program, draw in (("serial", serial_picture), ("duty", duty_picture)):
            picture = draw(programs[program]) if program in programs else None
            if picture:
                names[program] = f"{PICTURES}/{machine}-{program}.svg"
                pictures[names[program]] = picture
        for program in PROGRAMS:
            if program not in programs and is_first:
                parts.append(f"*{machine}: `./do bench {program}` has not been run.*")
            elif program not in programs:
                continue
            elif program in ("serial", "duty"):
                section = serial_section if program == "serial" else duty_section
                parts += section(programs[program], names.get(program))
            elif program == "periodic":
                parts += periodic_section(programs[program])
            else:
                cpus = programs[program]["machine"]["usable_cpus"]
                parts += team_section(programs[program], "" if is_first else f" on {cpus} CPUs")
        if GRAPH in programs:
            parts += graph_section(programs[GRAPH])
        if MPI in programs:
            parts += ["## Inside MPI", *mpi_tables.sections(programs[MPI], outcomes)]
    parts.insert(head, contents(parts))
    return "\n\n".join(wrapped(part) for part in parts if part) + "\n", pictures


# --- blocks on other pages


def blocks_of(found):
    """{name: text} for README.md and docs/maintainers/seeds, each of the first machine that has the program."""
    blocks = {}
    for machine, programs in found.items():
        if "team" in programs and "team" not in blocks:
            others = [other["team"] for other in found.values() if other is not programs and "team" in other]
            machines = "".join(f" On {one['machine']['usable_cpus']} CPUs: {one['machine']['cpu']}, {one['machine']['kernel']}, on {one['date']}."
                               for one in others)
            blocks["team"] = (team_tables.summary(programs["team"], others, LOSES) + "\n\n"
                              + wrapped(" ".join((about(programs["team"]) + machines).split())))
            blocks["seed-002-starts"], blocks["seed-002-sizes"] = seed_tables.starts(programs["team"], about(programs["team"]), LOSES)
        blocks = seed_tables.blocks(programs, LOSES) | blocks
    return {name: blocks.get(name, "*Not measured yet.*") for name in ("team", *seed_tables.NAMES)}


def filled(text, blocks, report, path):
    """The page with its blocks. A mark without its block, or without an end, is a complaint."""
    result, inside = [], None
    for number, row in enumerate(text.split("\n"), start=1):
        if row.startswith("<!-- figures: ") and row.endswith(" -->"):
            inside = row[len("<!-- figures: "):-len(" -->")]
            if inside not in blocks:
                report.add(path, number, f"there are no figures '{inside}'")
            result += [row, blocks.get(inside, "")]
        elif row == "<!-- end -->":
            if inside is None:
                report.add(path, number, "an end without a beginning")
            inside = None
            result.append(row)
        elif inside is None:
            result.append(row)
    if inside is not None:
        report.add(path, number, f"the figures '{inside}' have no end")
    return "\n".join(result)


def made_files(root, report):
    """{path: text} of the pages, and of the pictures."""
    found = results(root)
    page, pictures = page_and_pictures(found)
    files = {PAGE: page}
    seeds = [path.relative_to(root).as_posix() for path in sorted((root / SEEDS).glob("*.md"))]
    for name in (README, *seeds):
        if (root / name).is_file():
            files[name] = filled((root / name).read_text(encoding="utf-8"), blocks_of(found), report, root / name)
    return files, pictures


def main(argv):
    is_check = "--check" in argv
    root = root_argument([each for each in argv if each != "--check"])
    report = Report(root, "performance")
    pages, pictures = made_files(root, report)
    files = pages if is_check else pages | pictures
    for name, text in files.items():
        path = root / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        if is_check:
            report.add(path, 1, "not what bench/results says: run ./do performance")
        elif not report.complaints:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return report.finish(len(files))


if __name__ == "__main__":
    sys.exit(main(sys.argv))
