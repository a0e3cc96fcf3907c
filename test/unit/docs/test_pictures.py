"""The chart of the README shows the figures of the page of results."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"
ROW = re.compile(r"^\| `(\w+)` \|.*?([\d.]+) \[[^|]*\| ([\d.]+) \[", re.M)


def test_the_chart_is_of_the_results() -> None:
    page = (DOCS / "benchmarks.md").read_text().partition("## Latency")[2].partition("| geometric mean")[0]
    described = re.search(r"<dc:description>(.*?)</dc:description>", (DOCS / "speed.svg").read_text(), re.S)
    assert described
    wanted = {model: [float(first), float(second)] for model, first, second in ROW.findall(page)}
    assert len(wanted) == 16 and json.loads(html.unescape(described[1])) == wanted
