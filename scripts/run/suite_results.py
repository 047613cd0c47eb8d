# SPDX-License-Identifier: MIT
"""What the suites of openmp_suite.py share: running a program within limits, results, their table and comparison."""

import ctypes
import os
import signal
import subprocess
import tarfile
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

BAD = ("FAIL", "TIMEOUT")
libc = ctypes.CDLL(None)


class SuiteError(Exception):
    """The programs cannot be had, or the library is not the one that was asked for."""


def end_with_parent():
    """For a child: the system ends it if this script ends first."""
    PR_SET_PDEATHSIG = 1
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def wait_for(process, seconds):
    """Its exit status, or None. Seconds for which the system has stopped this script, too, do not count."""
    for _ in range(max(1, round(seconds))):
        try:
            return process.wait(1)
        except subprocess.TimeoutExpired:
            continue
    return None


def execute(command, environment, timeout):
    """Its exit status, None if it ran out of time; and what it wrote. No process of it stays."""
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryFile() as output:
        # No core files, and at most 64 MB of anything that a program in a loop may write.
        process = subprocess.Popen(["sh", "-c", 'ulimit -c 0; ulimit -f 131072; exec "$@"', "sh", *command],
                                   cwd=scratch, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=end_with_parent)
        status = wait_for(process, timeout)
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        output.seek(0)
        return status, output.read().decode(errors="replace")


def unpack_once(tarball, cache, wanted, finish=lambda fresh: None):
    """Unpacks the files that `wanted` matches, under what its group says, into cache/source, and calls finish(it)."""
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as scratch, tarfile.open(tarball) as files:
        fresh = Path(scratch) / "source"
        for member in files:
            if member.isfile() and (found := wanted.match(member.name)):
                path = fresh / next(filter(None, found.groups()))
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(files.extractfile(member).read())
                path.chmod(member.mode)
        finish(fresh)
        fresh.rename(cache / "source")


@dataclass
class Result:
    status: str
    name: str
    why: str = ""
    record: str = ""  # for the log: how to run it, and what it wrote


def line_of(result):
    return f"{result.status} {result.name} {result.why}".rstrip()


def run_all(run_one, programs, jobs):
    results = []
    with ThreadPoolExecutor(jobs) as pool:
        for result in pool.map(run_one, programs):
            if result.status in BAD:
                print(line_of(result), flush=True)
            results.append(result)
    return results


def write_results(path, results):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line_of(result) + "\n" for result in results))
    failed = [result for result in results if result.status in BAD]
    Path(f"{path}.log").write_text("".join(f"=== {line_of(result)}\n{result.record}\n" for result in failed))


def read_results(path):
    return {name: status for status, name, *_ in map(str.split, path.read_text().splitlines())}


def print_summary(results, path):
    statuses = ("PASS", "FAIL", "TIMEOUT", "SKIP")
    print("\n{:<22}".format("") + "".join(f"{status:>9}" for status in statuses))
    directories = list(dict.fromkeys(result.name.split("/")[0] for result in results))
    for directory in [*directories, "all"]:
        counts = Counter(result.status for result in results if directory in (result.name.split("/")[0], "all"))
        print(f"{directory:<22}" + "".join(f"{counts[status]:>9}" for status in statuses))
    skipped = Counter(result.why.split(":")[0] for result in results if result.status == "SKIP")
    failed = Counter(result.why for result in results if result.status == "FAIL")
    for title, reasons in ("skipped", skipped), ("failed, most frequent first", failed):
        if reasons:
            print(f"\n{title}:")
        for reason, count in reasons.most_common(20):
            print(f"{count:6}  {reason}")
    counts = Counter(result.status for result in results)
    ran = len(results) - counts["SKIP"]
    print(f"\n{counts['PASS']} of {ran} programs pass; written to {path}")


def print_comparison(results, other_path):
    """The programs that pass with one library only; whether some pass only with the other."""
    other = read_results(other_path)
    lost = [result for result in results if result.status in BAD and other.get(result.name) == "PASS"]
    won = [result for result in results if result.status == "PASS" and other.get(result.name) in BAD]
    for title, some in ((f"pass only in {other_path}", lost), (f"fail only in {other_path}", won)):
        print(f"\n{len(some)} {title}:")
        for result in some:
            print(f"  {line_of(result)}")
    return bool(lost)
