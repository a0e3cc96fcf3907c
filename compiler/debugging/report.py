"""What a comparison found: a row for each thing compared, in groups, and the conclusion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite

from mlc.tools.difference import Difference


@dataclass(frozen=True)
class Row:
    """An output, a node, a pass or a kernel. ``about``: what it is of, as text. ``difference`` is None where it was not
    compared, for the reason ``why``. ``rounding``: it is beyond its tolerance, and rounding moves it as far."""

    name: str
    about: str
    difference: Difference | None
    why: str = ""
    rounding: bool = False

    @property
    def wrong(self) -> bool:
        return self.difference is not None and not (self.difference.right or self.rounding)

    def __str__(self) -> str:
        marks = "  WRONG" if self.wrong else "  (rounding, amplified)" if self.rounding else ""
        verdict = self.why if self.difference is None else f"{self.difference}{marks}"
        return "  ".join(filter(None, (self.name, self.about, verdict)))


@dataclass
class Comparison:
    """``outputs`` of the compiled model beside the reference's, then the steps, in order: ``nodes``, ``passes``,
    ``kernels``. A step that was not needed, or is not possible, has no rows. ``sensitivity``: how far the outputs move,
    as a share of the largest value, where each input moves by a rounding error.
    """

    reference: str
    outputs: list[Row] = field(default_factory=list)
    nodes: list[Row] = field(default_factory=list)
    passes: list[Row] = field(default_factory=list)
    kernels: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    sensitivity: float | None = None
    conclusion: str = ""

    @property
    def right(self) -> bool:
        """Whether every output is within its tolerance."""
        return not any(row.wrong for row in self.outputs)

    def __str__(self) -> str:
        groups = [
            (f"outputs, compiled beside {self.reference}", self.outputs, True),
            ("nodes, each as the importer reads it beside onnxruntime's, on onnxruntime's operands", self.nodes, False),
            ("passes, the graph after each beside the imported one, interpreted", self.passes, False),
            ("kernels, each compiled beside interpreted, on the compiled operands", self.kernels, False),
        ]
        lines = [line for title, rows, whole in groups for line in _group(title, rows, whole)]
        if self.sensitivity is not None:
            lines.append(f"Inputs that move by a rounding error move the outputs by {self.sensitivity:.1e}.")
        return "\n".join([*lines, *self.notes, self.conclusion])


SHOWN = 8  # rows of a group: those that are wrong, or the largest errors


def _group(title: str, rows: Sequence[Row], whole: bool) -> list[str]:
    """The lines of a group: of all rows, or of those that are wrong or not compared and of the largest errors."""
    if not rows:
        return []
    compared = [row for row in rows if row.difference is not None]
    wrong = [row for row in compared if row.wrong]
    count = f"{len(compared) - len(wrong)} of {len(compared)} right"
    left = f", {len(rows) - len(compared)} not compared" if len(rows) > len(compared) else ""
    shown = rows if whole else (wrong or _largest(compared))[:SHOWN]
    more = [f"  and {len(wrong) - SHOWN} more"] if not whole and len(wrong) > SHOWN else []
    return [f"{title}: {count}{left}", *(f"  {row}" for row in shown), *more, ""]


def _largest(rows: Sequence[Row]) -> list[Row]:
    errors = [(row.difference.error, row) for row in rows if row.difference is not None and row.difference.error]
    ranked = sorted(errors, key=lambda each: -each[0] if isfinite(each[0]) else float("-inf"))
    return [row for _, row in ranked[:3]]
