#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does a numbered example print what it promises, in the promised order?

usage: check_output.py example program
"""

import os
import signal
import subprocess
import sys
from itertools import groupby
from pathlib import Path

TIME_LIMIT = 100  # seconds; only a hang takes that long
NOT_NUMBERS = ["", "-1", "+1", " 1", "1x", "x", "0x10", "1.5", "a\nb", "4294967296000", "9" * 30]


def require(condition, message):
    if not condition:
        raise SystemExit(f"check_output: {message}")


def run(program, *arguments, **variables):
    """The lines of a run that ends well."""
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=TIME_LIMIT,
                          env={**os.environ, **variables})
    require(done.returncode == 0, f"status {done.returncode} for {arguments}: {done.stderr}")
    require(done.stdout.endswith("\n"), f"the last line is not ended for {arguments}")
    return done.stdout.splitlines()


def require_lines(found, wanted):
    for number, (line, right) in enumerate(zip(found, wanted), start=1):
        require(line == right, f"line {number} is '{line}', must be '{right}'")
    require(len(found) == len(wanted), f"{len(found)} lines, must be {len(wanted)}")


def require_groups(found, groups):
    """Each group of lines comes after the one before it; within a group the order is free."""
    start = 0
    for group in groups:
        part = found[start : start + len(group)]
        require(sorted(part) == sorted(group), f"line {start + 1} ff. are {part}, must be {group} in any order")
        start += len(group)
    require(len(found) == start, f"{len(found)} lines, must be {start}")


def check_lock_only(program):
    for rounds in (4, 20, 1001):
        *lines, summary = run(program, rounds)
        require(sorted(lines) == ["task 1"] * rounds + ["task 2"] * rounds, "not each task ran as often as it should")
        require_lines(lines[: rounds // 2], ["task 1"] * (rounds // 2))
        in_a_row = sum(len(list(same)) - 1 for _, same in groupby(lines))
        require_lines([summary], [f"the same task ran twice in a row {in_a_row} times of {2 * rounds - 1}"])


def check_lost_wakeup(program):
    require_lines(run(program), ["task 1 notifies", "task 2 waits", "task 2 gives up after 50 ms: the wake-up was lost"])


def check_alternation(program):
    require_lines(run(program), ["task 1", "task 2"] * 10)
    for rounds in (1, 1000):
        require_lines(run(program, rounds), ["task 1", "task 2"] * rounds)


def require_cycles(lines, cycles):
    tasks = [f"task {number}" for number in range(1, 6)]
    require_lines(lines, tasks * cycles + [f"ended after {cycles} cycles"])


def check_endless_cycle(program):
    for cycles in (1, 100):
        require_cycles(run(program, cycles), cycles)
    with subprocess.Popen([program], stdout=subprocess.PIPE, text=True) as endless:
        lines = [endless.stdout.readline().rstrip("\n") for _ in range(1000)]
        endless.send_signal(signal.SIGINT)
        lines += endless.stdout.read().splitlines()
        require(endless.wait(TIME_LIMIT) == 0, f"status {endless.returncode} after SIGINT")
    require_cycles(lines, len(lines) // 5)


def check_finite_cycle(program):
    for arguments, tasks in (((), 5), ((1,), 1), ((12,), 12)):
        wanted = [f"cycle {cycle} task {task}" for cycle in range(1, 11) for task in range(1, tasks + 1)]
        require_lines(run(program, *arguments), wanted + [f"{10 * tasks} runs"])


def check_parallel(program):
    for arguments, workers in (((), 3), ((1,), 1), ((12,), 12)):
        groups = []
        for iteration in range(1, 11):
            groups.append([f"iteration {iteration} worker {rank}" for rank in range(workers)])
            groups.append([f"iteration {iteration} done"])
        require_groups(run(program, *arguments), groups)


def check_mid_sync(program):
    for arguments, workers in (((), 3), ((1,), 1), ((12,), 12)):
        groups = [
            [f"outer {outer} inner {inner} part {part} worker {rank}" for rank in range(workers)]
            for outer in range(1, 11)
            for inner in range(1, 5)
            for part in (1, 2)
        ]
        require_groups(run(program, *arguments), groups)


def check_team(program):
    require(run(program)[-1] == "check: ok", "the check of the default run failed")
    for members in (1, 2, 3, 8):
        for elements in (0, 1, 7, 10007):
            wanted = [f"{members} members", f"sum {elements**2:.6f}", "check: ok"]
            require_lines(run(program, members, elements), wanted)


def steps_from(number):
    steps = 0
    while number != 1:
        number = number // 2 if number % 2 == 0 else 3 * number + 1
        steps += 1
    return steps


def check_constructs(program):
    for members in (1, 2, 3, 8):
        for numbers in (1, 2, 27, 1000):
            steps = [steps_from(number) for number in range(1, numbers + 1)]
            how_often = [steps.count(length) for length in range(max(steps) + 1)]
            wanted = [f"{i} takes {steps[i - 1]}" for i in range(1, min(numbers, 9) + 1)]
            wanted += [f"sum {sum(steps)}", f"longest {max(steps)}"]
            wanted += [f"commonest {how_often.index(max(how_often))}", f"different {len(set(steps))}"]
            require_lines(run(program, members, numbers), wanted)


def edit_distance(down, across):
    row = list(range(len(across) + 1))
    for i, letter in enumerate(down, start=1):
        above, row = row, [i]
        for j, other in enumerate(across, start=1):
            row.append(min(above[j - 1] + (letter != other), above[j] + 1, row[j - 1] + 1))
    return row[-1]


def check_wavefront(program):
    require(run(program)[-1] == "check: ok", "the check of the default run failed")
    for letters in (0, 1, 15, 100, 333):
        texts = ["".join("acgt"[(i * i * k + 3 * i) % 11 % 4] for i in range(letters)) for k in (7, 5)]
        distance = edit_distance(*texts)
        for members in (1, 2, 3, 8):
            wanted = [f"{members} members", f"distance {distance}", "check: ok"]
            require_lines(run(program, members, letters), wanted)


def check_sub_teams(program):
    for limit in (2, 3, 10, 3000):
        primes = sum(all(n % d for d in range(2, int(n**0.5) + 1)) for n in range(2, limit))
        divisors = sum(d for n in range(1, limit) for d in range(1, n + 1) if n % d == 0)
        for members in (1, 2, 3, 8):
            require_lines(run(program, members, limit), [f"primes {primes}", f"divisors {divisors}"])


def check_graph_cycle(program):
    for tasks in (1, 2, 5, 12):
        for cycles in (1, 2, 100):
            wanted = [f"cycle {cycle} task {task}" for cycle in range(1, cycles + 1) for task in range(1, tasks + 1)]
            require_lines(run(program, tasks, cycles), wanted + [f"{cycles * tasks} runs"])
    with subprocess.Popen([program], stdout=subprocess.PIPE, text=True) as endless:
        lines = [endless.stdout.readline().rstrip("\n") for _ in range(1000)]
        endless.send_signal(signal.SIGINT)
        lines += endless.stdout.read().splitlines()
        require(endless.wait(TIME_LIMIT) == 0, f"status {endless.returncode} after SIGINT")
    runs = len(lines) - 1
    require(runs % 5 == 0, f"the last cycle was cut off: {runs} runs of 5 tasks")
    require_lines(lines, [f"cycle {i // 5 + 1} task {i % 5 + 1}" for i in range(runs)] + [f"{runs} runs"])


def jacobi_steps(unknowns):
    """How many steps the solver takes; the same operations in the same order."""
    def neighbours(x, i):
        return (x[i - 1] if i > 0 else 0.0) + (x[i + 1] if i + 1 < unknowns else 0.0)

    b = [4.0 - (i > 0) - (i + 1 < unknowns) for i in range(unknowns)]
    x, steps = [0.0] * unknowns, 0
    while True:
        x, steps = [(b[i] + neighbours(x, i)) / 4.0 for i in range(unknowns)], steps + 1
        if max(abs(b[i] + neighbours(x, i) - 4.0 * x[i]) for i in range(unknowns)) <= 1e-10:
            return steps


def check_graph_solver(program):
    require(run(program)[-1] == "check: ok", "the check of the default run failed")
    for unknowns in (1, 2, 3, 100, 1001):
        steps = jacobi_steps(unknowns)
        for members in (1, 2, 3, 8):
            wanted = [f"{members} members", f"{steps} steps", "check: ok"]
            require_lines(run(program, members, unknowns), wanted)
    for show in (1, 2):
        require(run(program, 2, 10, show)[0].startswith("digraph "), f"no picture for {show}")
    plan = "\n".join(run(program, 2, 10, 3))
    for name in ("set up", "update 3", "swap", "residual 0", "test", "output"):
        require(plan.count(f"'{name}'") > 0, f"the plan does not say where '{name}' runs")


def check_graph_pipeline(program):
    for blocks in (1, 4, 5, 1000):
        sums = [f"sum {sum(i * k for k in range(64))}" for i in range(blocks)]
        for members in (1, 2, 3, 8):
            require_lines(run(program, members, blocks), sums + [f"repaired {blocks // 5}"])


def check_graph_search(program):
    for number, divisor in ((2, 2), (15, 3), (999962000357, 999979), (1000003 * 7919, 7919), (6700417, 6700417)):
        for members in (1, 2, 3, 8):
            require_lines(run(program, members, number), [str(divisor), "stopped"])


def check_graph_errors(program):
    """What the page says of errors is what the program prints."""
    page = (Path(__file__).resolve().parent.parent / "docs" / "graphs.md").read_text(encoding="utf-8")
    shown = page.split("<!-- 19_graph_errors -->\n```\n")[1].split("```")[0]
    require_lines(run(program), shown.splitlines())


def check_slow_loops(program):
    for case in (1, 2, 3):
        for mended in (0, 1):
            for steps in (1, 7):
                require_lines(run(program, case, mended, steps), ["check: ok"])


def check_guide(program):
    """Of 100 cells: the heat after 1000 steps, computed here; then a straight line from 100 to 0."""
    rod = [100.0] + [0.0] * 99
    for _ in range(1000):
        rod = [100.0] + [(rod[i - 1] + rod[i + 1]) / 2 for i in range(1, 99)] + [0.0]
    for members in (1, 2, 3, 8):
        lines = run(program, LOCKSTEP_NUM_THREADS=str(members))
        require_lines(lines, [f"second cell {rod[1]:.1f}", f"heat {sum(rod):.3f}", lines[2], "measured 50, hottest 149"])
        middle = int(lines[2].split()[1])
        require(45 <= middle <= 50, f"the middle of the rod has {middle}")


def check_refusals(program, most_arguments):
    wrong = [["1000000000000"] * (most_arguments + 1), *([text] for text in NOT_NUMBERS)]
    for arguments in wrong:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=TIME_LIMIT)
        require(done.returncode == 2, f"status {done.returncode} for {arguments}, must be 2")
        require(done.stdout == "", f"output for {arguments}: {done.stdout}")
        one_line = done.stderr.startswith("error: ") and done.stderr.find("\n") == len(done.stderr) - 1
        require(one_line, f"not one line of error for {arguments}: {done.stderr}")


# The check and the number of arguments of each example.
def check_trace(program):
    for members in (1, 2, 5):
        names = ("sweep", "even", "uneven")
        require_lines(run(program, members), [f"{name} is on the timeline" for name in names])


EXAMPLES = {
    "01_lock_only": (check_lock_only, 1),
    "02_lost_wakeup": (check_lost_wakeup, 0),
    "03_repaired": (check_alternation, 1),
    "04_binary_oscillator": (check_alternation, 1),
    "05_cycle_scheduler_endless": (check_endless_cycle, 1),
    "06_cycle_scheduler_finite": (check_finite_cycle, 1),
    "07_parallel_scheduler": (check_parallel, 1),
    "08_parallel_scheduler_with_mid_sync": (check_mid_sync, 1),
    "09_team": (check_team, 2),
    "10_constructs": (check_constructs, 2),
    "11_wavefront": (check_wavefront, 2),
    "12_sub_teams": (check_sub_teams, 2),
    "13_graph_oscillator": (check_alternation, 1),
    "14_graph_cycle": (check_graph_cycle, 2),
    "15_graph_parallel": (check_parallel, 1),
    "16_graph_mid_sync": (check_mid_sync, 1),
    "17_graph_solver": (check_graph_solver, 3),
    "18_graph_pipeline": (check_graph_pipeline, 2),
    "19_graph_errors": (check_graph_errors, 0),
    "20_graph_search": (check_graph_search, 2),
    "21_trace": (check_trace, 1),
    "22_slow_loops": (check_slow_loops, 3),
    "23_guide": (check_guide, None),  # as typed from the page: it looks at no arguments
}


def main(argv):
    example, program = argv[1:]
    check, most_arguments = EXAMPLES[example]
    check(program)
    if most_arguments is not None:
        check_refusals(program, most_arguments)
    print(f"{example}: ok")


if __name__ == "__main__":
    main(sys.argv)
