"""Plants faults and looks whether the tests see them.

    python test/mutants/run.py                      # all; the table at the end says which test found which fault
    python test/mutants/run.py fuse/ softmax        # those whose name has one of these
    python test/mutants/run.py --list

Each fault is a patch in a folder of this one, which is applied to a copy of the working tree. First run the tests that
the patch names, then those of the folders that it changes, the other fast ones, and the whole models, until one fails.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from copies import ENDED, Copy
from faults import Fault, faults
from rich.console import Console
from rich.markup import escape
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

ENOUGH = 0.95  # of all faults
OTHERS = (["test/unit", "-m", "fast"], ["test/filecheck"], ["test/e2e"], ["test/conformance"], ["test/unit"])


@dataclass(frozen=True)
class Result:
    """``test``: the first that failed; None: all passed, or the time was up."""

    fault: Fault
    test: str | None
    seconds: float


def hunt(fault: Fault, copy: Copy, limit: float, near: bool) -> Result:
    """Plant a fault in a copy, and run tests until one fails; ``near``: only those that it names."""
    start, found = time.monotonic(), None
    copy.plant(fault.path, fault.files)
    for tests in ([*fault.tests], *(() if near else ([each] for each in fault.nearby())), *(() if near else OTHERS)):
        if found is None and tests:
            found = copy.first_failure(tests, limit - (time.monotonic() - start))
    copy.restore(fault.files)
    return Result(fault, None if found == ENDED else found, time.monotonic() - start)


def confirmed(results: Sequence[Result], copy: Copy) -> list[Result]:
    """Without the tests that fail without the fault too."""
    tests = list(dict.fromkeys(result.test for result in results if result.test))
    wrong: set[str] = set()
    while tests and (failing := copy.first_failure(tests, 3600)):
        wrong.add(failing)
        tests = [test for test in tests if test != failing]
        if failing not in {result.test for result in results}:
            raise SystemExit(f"tests fail without a fault: {failing}")
    return [Result(r.fault, None if r.test in wrong else r.test, r.seconds) for r in results]


def hunt_all(wanted: Sequence[Fault], copies: Sequence[Copy], limit: float, near: bool) -> list[Result]:
    """The results of all, in order, with progress on the terminal."""
    free: SimpleQueue[Copy] = SimpleQueue()
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress, ThreadPoolExecutor(len(copies)) as pool:
        task = progress.add_task("copying", total=len(wanted))
        for copy in copies:
            copy.make()
            free.put(copy)

        def one(fault: Fault) -> Result:
            copy = free.get()
            progress.update(task, description=fault.name)
            result = hunt(fault, copy, limit, near)
            said = f"{fault.name}: {result.test or 'not found'}, {result.seconds:.0f} s"
            progress.console.print(said, soft_wrap=True, markup=False)
            progress.advance(task)
            free.put(copy)
            return result

        results = list(pool.map(one, wanted))
        progress.update(task, description="the same tests without faults")
        return confirmed(results, copies[0])


def report(results: Sequence[Result]) -> int:
    """Print the table and the share found; the exit status."""
    table = Table("fault", "found by", "seconds")
    for result in results:
        test = escape(result.test) if result.test else "[red]not found"
        table.add_row(result.fault.name, test, f"{result.seconds:.0f}")
    found = sum(result.test is not None for result in results)
    Console(width=None if sys.stdout.isatty() else 180).print(table)
    print(f"{found} of {len(results)} faults found: {found / len(results):.1%}")
    return int(found < ENOUGH * len(results))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts of the names of faults; default: all")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("--near", action="store_true", help="run only the tests that a patch names")
    parser.add_argument("--jobs", type=int, default=1, help="faults at a time (default: %(default)s)")
    parser.add_argument("--limit", type=float, default=900, help="seconds for a fault (default: %(default)s)")
    args = parser.parse_args()
    wanted = faults(args.names)
    if args.list:
        print(*(fault.name for fault in wanted), sep="\n")
        return 0
    if not wanted:
        parser.error("no fault has such a name; see --list")
    with tempfile.TemporaryDirectory(prefix="mlc-mutants-", ignore_cleanup_errors=True) as folder:
        copies = [Copy(Path(folder).resolve() / str(n)) for n in range(min(args.jobs, len(wanted)))]
        try:
            return report(hunt_all(wanted, copies, args.limit, args.near))
        except subprocess.CalledProcessError as error:
            raise SystemExit(f"{' '.join(error.cmd)}: {error.stderr.decode()}") from None


if __name__ == "__main__":
    sys.exit(main())
