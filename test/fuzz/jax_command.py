"""The command of a fuzzer beside JAX: its options, and the differences that no rule covers, each with its seed."""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

Table = Sequence[tuple[str, Any]]
One = Callable[[int, Table, bool], Iterable[tuple[str, str]]]
"""(rule, what differs) of a call that the seed draws of a table; the flag asks for compiled calls too."""


def parser_of(name: str, about: str | None, count: int) -> argparse.ArgumentParser:
    """The options of ``test/fuzz/NAME.py``; ``count``: calls by default."""
    parser = argparse.ArgumentParser(prog=f"python test/fuzz/{name}.py", description=about)
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="functions whose name contains this")
    parser.add_argument("--each", type=int, default=0, help="calls of each function, in place of --count")
    parser.add_argument("--jit", action="store_true")
    return parser


def run(one: One, table: Table, given: argparse.Namespace) -> int:
    """Print what no rule covers, and how often each rule did; 1 if anything is left."""
    rules: Counter[str] = Counter()
    total = given.each * len(table) or given.count
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for n in range(total):
            chosen = [table[n % len(table)]] if given.each else table
            for rule, what in one(given.seed + n, chosen, given.jit):
                rules[rule or "unexplained"] += 1
                if not rule:
                    print(given.seed + n, what, flush=True)
    print(f"{total} calls of {len(table)} functions; differences: {dict(rules)}")
    return int(bool(rules["unexplained"]))
