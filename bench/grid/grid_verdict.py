# SPDX-License-Identifier: MIT
"""The figures that loops between other things are to reach, and whether these records reach them (pure)."""

import statistics

from grid_records import by_cell, of_peer

RUN, LOOPS = "lockstep", "lockstep loops"
OURS = (RUN, LOOPS)
SLEEPERS = ("libgomp passive", "oneTBB")
FREE_NS = 100  # what a loop may cost beyond the serial one, however short it is
BUSY = ("bound", "free", "two")


def line(text, met=None):
    return {"text": text, "met": met}


def peers_of(records):
    return list(dict.fromkeys(r["peer"] for r in records))


def where(record):
    return f"{record['setting']}: {record['cell']}"


def listed(misses, most=12):
    """The cells of a verdict, as far as they fit on a line."""
    shown = ", ".join(misses[:most])
    return f" ({shown}{f' and {len(misses) - most} more' if len(misses) > most else ''})" if misses else ""


def ratio(record):
    return record["value"]["median"]


def over_the_best(records, ours, settings, kinds, figure, pays=None):
    """[(setting, cell, our figure over that of the best other peer)]; pays: only where that one is below."""
    result = []
    for (setting, cell), found in by_cell(records).items():
        others = [figure(r) for peer, r in found.items() if peer not in OURS]
        if setting not in settings or ours not in found or not others or (pays and min(others) >= pays):
            continue
        if kinds is None or found[ours]["kind"] in kinds:
            result.append((setting, cell, figure(found[ours]) / min(others)))
    return result


# --- serial


def beyond_free(record, figure="loop_ns"):
    """Ratio to the serial loop, less what is free."""
    return max(record[figure] - FREE_NS, 0) / record["serial_ns"]


def worst_of_serial(records, peer):
    own = [r for r in of_peer(records, peer) if r["kind"] != "places"]
    if not own:
        return None
    worst = max(own, key=beyond_free)
    tail = max(own, key=lambda r: beyond_free(r, "p95_ns"))
    text = (f"worst of {peer}: {beyond_free(worst):.2f} at {where(worst)}; "
            f"95th percentile {beyond_free(tail, 'p95_ns'):.2f} at {where(tail)}")
    if peer != LOOPS:
        return [line(text)]
    above = [where(r) for r in own if beyond_free(r) > 1.1]
    late = [where(r) for r in own if beyond_free(r, "p95_ns") > 1.5]
    # Beside others the serial loop has a tail as well: nobody can be better than that.
    later = [where(r) for r in own
             if beyond_free(r, "p95_ns") > 1.5 * max(1, r["serial_p95_ns"] / r["serial_ns"])]
    return [line(text),
            line(f"{peer}: median <= 1.1 of serial + 100 ns in {len(own) - len(above)} of {len(own)} cells{listed(above)}",
                 not above),
            line(f"{peer}: 95th percentile <= 1.5 of serial + 100 ns in {len(own) - len(late)} of {len(own)} cells"
                 f"{listed(late)}", not late),
            line(f"{peer}: 95th percentile <= 1.5 of that of serial in {len(own) - len(later)} of {len(own)} cells"
                 f"{listed(later)}", not later)]


def where_threads_pay(records):
    """Idle machine, cells in which the best of the others takes less than 0.9 of its serial loop. Ratios to the serial
    loop, because another compiler makes another one."""
    found = [(cell, value) for _, cell, value in over_the_best(records, LOOPS, ("idle",), None, ratio, pays=0.9)]
    missed = [f"{cell} {value:.2f}" for cell, value in found if value > 1.0]
    far = sum(value > 1.05 for _, value in found)
    return [line(f"{LOOPS}: <= 1.0 of the best peer in {len(found) - len(missed)} of {len(found)} cells of the idle machine "
                 f"where two threads pay, <= 1.05 in {len(found) - far}{listed(missed)}", not missed)] if found else []


def programs_of_many_loops(records):
    """From the first round on: nothing is free there."""
    own = [r for r in of_peer(records, LOOPS) if r["kind"] == "places"]
    above = [where(r) for r in own if ratio(r) > 1.1]
    return [line(f"{LOOPS}: programs of different short loops <= 1.1 of serial in {len(own) - len(above)} of {len(own)} "
                 f"cells{listed(above)}", not above)] if own else []


def serial_verdict(records):
    lines = [each for peer in peers_of(records) for each in worst_of_serial(records, peer) or []]
    lines += programs_of_many_loops(records)
    return lines + where_threads_pay(records)


# --- duty


def regular_gaps(records, ours):
    found = over_the_best(records, ours, ("idle",), ("regular", "tenth", "alternating"), ratio)
    missed = [f"{cell} {value:.2f}" for _, cell, value in found if value > 1.1]
    if not found:
        return []
    return [line(f"{ours}: <= 1.1 of the best peer in {len(found) - len(missed)} of {len(found)} cells of the idle machine "
                 f"whose gaps are not random{listed(missed)}", not missed)]


def random_gaps(records, ours):
    own = [r for r in of_peer(records, ours) if r["setting"] == "idle" and r["kind"] == "random"]
    missed = [f"{r['cell']} {ratio(r):.2f}" for r in own if ratio(r) > 1.05]
    return [line(f"{ours}: <= 1.05 of serial in {len(own) - len(missed)} of {len(own)} cells of the idle machine with random "
                 f"gaps{listed(missed)}", not missed)] if own else []


def cpu_time(records, ours):
    cells, missed = 0, []
    for (setting, cell), found in by_cell(records).items():
        sleepers = [found[peer]["cpus"] for peer in SLEEPERS if peer in found]
        if setting != "idle" or ours not in found or found[ours]["pause_us"] < 1000 or not sleepers:
            continue
        cells += 1
        above = found[ours]["cpus"] - min(sleepers)
        if above > 0.3:
            missed.append(f"{cell} +{above:.2f}")
    return [line(f"{ours}: at most 0.3 CPUs above the best sleeping peer in {cells - len(missed)} of {cells} cells with gaps of "
                 f"1 ms and more{listed(missed)}", not missed)] if cells else []


def beside_others(records, ours):
    """Means: what is rare and long counts. All cells of a setting together, because one cell has few such loops."""
    lines = []
    for setting in BUSY:
        cells = {cell: found for (where_, cell), found in by_cell(records).items() if where_ == setting and ours in found}
        peers = [p for p in peers_of(records) if p not in OURS and all(p in found for found in cells.values())]
        if not cells or not peers:
            continue
        def mean(peer):
            return statistics.geometric_mean(max(found[peer]["mean_ratio"], 1e-3) for found in cells.values())
        best = min(peers, key=mean)
        worse = [cell for _, cell, value in over_the_best(records, ours, (setting,), None,
                                                         lambda r: r["mean_ratio"]) if value > 1.0]
        lines.append(line(f"{ours}, setting {setting}: mean of serial {mean(ours):.2f} over {len(cells)} cells, the best peer "
                          f"({best}) {mean(best):.2f}; better than every peer in {len(cells) - len(worse)} cells",
                          mean(ours) <= mean(best)))
    return lines


def worst_of_duty(records, peer):
    own = of_peer(records, peer)
    worst, mean = max(own, key=ratio), max(own, key=lambda r: r["mean_ratio"])
    return line(f"worst of {peer}: {ratio(worst):.2f} of serial at {where(worst)}; of the means {mean['mean_ratio']:.2f} at "
                f"{where(mean)}")


def duty_verdict(records):
    lines = [worst_of_duty(records, peer) for peer in peers_of(records) if of_peer(records, peer)]
    for ours in OURS:
        lines += regular_gaps(records, ours) + random_gaps(records, ours) + cpu_time(records, ours)
        lines += beside_others(records, ours)
    return lines


# --- periodic


def periodic_verdict(records):
    lines = []
    for ours in OURS:
        own = [r for r in of_peer(records, ours) if r.get("idle_first_s")]
        if own:
            first = max(r["idle_first_s"]["max"] for r in own) * 1e3
            second = max(r["idle_second_s"]["max"] for r in own) * 1e3
            lines.append(line(f"{ours}: an idle team uses {first:.2f} ms of CPU time in the quarter of a second after its last loop "
                              f"(<= 5 ms) and {second:.2f} ms in the next (0, the caller's sleep apart)",
                              first <= 5 and second <= 0.3))
        for cell, value in [(cell, value) for _, cell, value in over_the_best(records, ours, ("idle",), ("sleeps",),
                                                                             lambda r: r["loop_ns"])]:
            lines.append(line(f"{ours}: {cell}: {value:.2f} of the best peer's median"))
    return lines
