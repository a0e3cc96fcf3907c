"""A summary of the conformance tests: for each way of running, how many pass, and why the others do not."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from cases import expected_failure

_TEST = re.compile(r"test_node\[(?P<name>.+)-(?P<way>\w+)\]$")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    counts: dict[str, Counter[str]] = {}
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            if match := _TEST.search(report.nodeid):
                reason = expected_failure(match["name"], match["way"])
                as_expected = f"expected to fail: {reason}" if reason else "right"
                counts.setdefault(match["way"], Counter())[as_expected if outcome == "passed" else "failed"] += 1
    for way, found in sorted(counts.items()):
        terminalreporter.section(f"conformance, {way}: {found['right']} of {found.total()} right")
        for reason, count in sorted(found.items(), key=lambda item: -item[1]):
            terminalreporter.write_line(f"{count:5} {reason}")
