# SPDX-License-Identifier: MIT
"""Records of what was measured, and their tables."""

import math
import statistics

from modes import OURS, REFERENCE


def spread(times):
    return {"median": statistics.median(times), "min": min(times), "max": max(times)}


def record(program, setting, case, mode, samples):
    """`samples`: dictionaries with value, wall_us, cpu_us and disturbed."""
    return {"program": program, "setting": setting, "case": case, "mode": mode, "samples": len(samples),
            "values": sorted({one["value"] for one in samples}),
            "wall_us": spread([one["wall_us"] for one in samples]), "cpu_us": spread([one["cpu_us"] for one in samples]),
            "disturbed": sum(one["disturbed"] for one in samples)}


def rows_of(records):
    """By program, setting and case: the records of all modes."""
    rows = {}
    for one in records:
        rows.setdefault((one["program"], one["setting"], one["case"]), {})[one["mode"]] = one
    return rows


def differences(records):
    """Texts, one for each mode whose values are not those of the reference, or change from sample to sample."""
    found = []
    for (program, setting, case), modes in rows_of(records).items():
        expected = modes.get(REFERENCE, next(iter(modes.values())))["values"]
        for mode, one in modes.items():
            if one.get("outcome"):
                continue
            if one["values"] != expected or len(one["values"]) != 1 or one["values"] == ["wrong"]:
                found.append({"program": program, "setting": setting, "case": case, "mode": mode,
                              "text": f"{', '.join(one['values'])} instead of {', '.join(expected)}"})
    return found


def ratio(modes, own=OURS):
    """(our wall time over the best other's, our CPU time over that one's), or None."""
    others = [one for mode, one in modes.items() if mode != own]
    if own not in modes or not others:
        return None
    best = min(others, key=lambda one: one["wall_us"]["median"])
    cpu = best["cpu_us"]["median"]
    return (modes[own]["wall_us"]["median"] / best["wall_us"]["median"],
            modes[own]["cpu_us"]["median"] / cpu if cpu else math.nan)


def microseconds(us):
    if us >= 10000:
        return f"{us / 1000:.{0 if us >= 1e5 else 1}f} ms"
    return f"{us:.{0 if us >= 100 else 1 if us >= 10 else 2}f}"


def cell(one):
    if one is None:
        return "-"
    if one.get("outcome"):
        return one["values"][0]
    return f"{microseconds(one['wall_us']['median'])} ({microseconds(one['cpu_us']['median'])})"


def geometric(numbers):
    return math.exp(statistics.fmean(math.log(max(one, 1e-9)) for one in numbers))


def summary_table(records, modes):
    """Geometric means of wall times over those of the best of the runtimes that are not ours."""
    groups = {}
    for (program, setting, _), row in rows_of(records).items():
        others = [one["wall_us"]["median"] for mode, one in row.items() if mode != OURS and not one.get("outcome")]
        if others:
            for mode, one in row.items():
                groups.setdefault((program, setting), {}).setdefault(mode, []).append(
                    one["wall_us"]["median"] / min(others))
    lines = ["| program | setting | " + " | ".join(modes) + " | worst of ours |", "|" + "---|" * (len(modes) + 3)]
    for (program, setting), seen in groups.items():
        cells = [f"{geometric(seen[mode]):.2f}" if mode in seen else "-" for mode in modes]
        worst = f"{max(seen[OURS]):.2f}" if OURS in seen else "-"
        lines.append(f"| {program} | {setting} | " + " | ".join(cells) + f" | {worst} |")
    return lines


def case_table(records, program, modes):
    lines = ["| setting | case | " + " | ".join(modes) + " | ours / best other: wall (CPU) |",
             "|" + "---|" * (len(modes) + 3)]
    for (name, setting, case), row in rows_of(records).items():
        if name == program:
            both = ratio(row)
            shown = f"{both[0]:.2f} ({both[1]:.2f})" if both and not any(one.get("outcome") for one in row.values()) else "-"
            lines.append(f"| {setting} | {case} | " + " | ".join(cell(row.get(mode)) for mode in modes) + f" | {shown} |")
    return lines


def markdown(results):
    records = results["records"]
    modes = list(dict.fromkeys(one["mode"] for one in records))
    lines = ["# OpenMP programs with each runtime", "", results["machine"]["text"], ""]
    for title, key in (("Could not be had", "not_had"), ("Could not be set", "not_set"), ("Failed", "failures"),
                       ("Other values than libgomp", "differences")):
        if results[key]:
            lines += [f"## {title}", ""]
            lines += [f"- {', '.join(one[part] for part in ('program', 'setting', 'case', 'mode') if part in one)}: "
                      + one["text"].splitlines()[0] for one in results[key]] + [""]
    if records:
        lines += ["## Wall time over the best runtime that is not ours: geometric mean of the cases", "",
                  *summary_table(records, modes), "",
                  "## Cases", "", "Microseconds of wall time (and of CPU time) of one repetition, medians.", ""]
        for program in dict.fromkeys(one["program"] for one in records):
            lines += [f"### {program}", "", *case_table(records, program, modes), ""]
    return "\n".join(lines).rstrip() + "\n"
