"""The public test suite of the Array API standard on ``mlc.numpy``, compared with the failures that are expected.

    git clone --recurse-submodules https://github.com/data-apis/array-api-tests
    python test/array_api/run.py array-api-tests -- -n 4 --max-examples 50

What is after ``--`` goes to pytest; its requirements are array-api-tests' ``requirements.txt``. Prints the share of
tests that pass, and each difference from ``expected_failures.txt``. Exit code 1: a test fails that should pass.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

VERSION = "2025.12"
TABLE = Path(__file__).with_name("expected_failures.txt")


def expected_failures(text: str) -> dict[str, str]:
    """Return the reason for each expected failure. A line is a part of a test's name, ``#`` and the reason; other lines
    are comments.
    """
    rows = [line.partition(" # ") for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return {test.strip(): reason.strip() for test, _, reason in rows}


def outcomes(checkout: Path, options: list[str]) -> dict[str, str]:
    """Return the outcome of each test: ``passed``, ``failed`` or ``skipped``."""
    environment = os.environ | {"ARRAY_API_TESTS_MODULE": "mlc.numpy", "ARRAY_API_TESTS_VERSION": VERSION}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pytest", "array_api_tests", "--disable-deadline", "--disable-warnings", "-q"]
        command += ["--tb=short", "--json-report", f"--json-report-file={report}", "-p", "no:cacheprovider", *options]
        subprocess.run(command, cwd=checkout, env=environment, check=False)
        return {test["nodeid"]: test["outcome"] for test in json.loads(report.read_text())["tests"]}


def summary(found: dict[str, str], expected: dict[str, str]) -> tuple[list[str], bool]:
    """Return the lines to print, and whether only expected tests fail."""
    failed = [test for test, outcome in found.items() if outcome not in ("passed", "skipped")]
    passed = [test for test, outcome in found.items() if outcome == "passed"]
    new = [test for test in failed if not any(part in test for part in expected)]
    gone = [part for part in expected if not any(part in test for test in failed)]
    share = 100 * len(passed) / max(len(passed) + len(failed), 1)
    lines = [f"{len(passed)} of {len(passed) + len(failed)} tests pass ({share:.2f} %)"]
    lines += [f"expected to fail, and fails: {test}" for test in failed if test not in new]
    lines += [f"expected to fail, and passes: {part} ({expected[part]})" for part in gone]
    lines += [f"FAILS: {test}" for test in new]
    return lines, bool(passed) and not new


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path, help="of data-apis/array-api-tests, with its submodule")
    parser.add_argument("options", nargs="*", help="of pytest")
    arguments = parser.parse_args()
    lines, right = summary(
        outcomes(arguments.checkout, arguments.options), expected_failures(TABLE.read_text(encoding="utf-8"))
    )
    print("\n".join(lines))
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
