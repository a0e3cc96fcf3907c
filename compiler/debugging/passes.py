"""The graph after each pass, interpreted on the same inputs: the first pass that changes the outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from mlc.debugging.report import Row
from mlc.debugging.rounding import is_rounding
from mlc.dialects.semantics.interpreter import interpret
from mlc.dialects.weights import WeightStore
from mlc.driver.instrument import Instrument
from mlc.pipelines import STAGES
from mlc.tools.difference import Difference, difference, worst_of

Array = np.ndarray[Any, Any]
INTERPRETED = STAGES[: STAGES.index("fuse") + 1]
"""The stages whose IR the interpreter runs: operators, in kernels or not."""


@dataclass
class Versions(Instrument):
    """Keeps the module after each pass that changed it, with the pass's name."""

    found: list[tuple[str, ModuleOp]] = field(default_factory=list)

    def after(self, name: str, module: ModuleOp | None, weights: WeightStore | None) -> None:
        if module is not None and not (self.found and self.found[-1][1].is_structurally_equivalent(module)):
            self.found.append((name, module.clone()))


def compare_passes(
    versions: Versions,
    weights: WeightStore,
    inputs: Mapping[str, Array],
    wanted: Mapping[str, Array],
    tolerance: float | None,
    moves: float,
) -> list[Row]:
    """A row for each version that was interpreted, in the order of the passes. If the last is right, no pass is wrong;
    else the first wrong one is found by bisection. ``moves``: how far rounding moves the outputs.
    """
    seen: dict[int, Row] = {}

    def row(n: int) -> Row:
        if n not in seen:
            name, module = versions.found[n]
            worst = _worst(interpret(module, weights, inputs), wanted, tolerance)
            seen[n] = Row(name, "", worst, rounding=not worst.right and is_rounding(worst, moves))
        return seen[n]

    low, high = -1, len(versions.found) - 1  # the version before is right, this one is wrong
    if high >= 0 and row(high).wrong:
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if row(middle).wrong else (middle, high)
    return [seen[n] for n in sorted(seen)]


def _worst(found: Mapping[str, Array], wanted: Mapping[str, Array], tolerance: float | None) -> Difference:
    return worst_of(difference(found[name], y, tolerance) for name, y in wanted.items())
