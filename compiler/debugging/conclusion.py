"""What a comparison means: the step that is wrong, and what shows it."""

from __future__ import annotations

from collections.abc import Iterable

from mlc.debugging.report import Comparison, Row
from mlc.debugging.rounding import AMPLIFIED


def conclusion_of(found: Comparison) -> str:
    """The conclusion in one or two sentences: of the first wrong node, else pass, else kernel."""
    for rows, text in ((found.nodes, _node), (found.passes, _pass), (found.kernels, _kernel)):
        if row := next((row for row in rows if row.wrong), None):
            return text(row)
    if found.right:
        return "Every output is right."
    if _largest(found.outputs) <= AMPLIFIED * (found.sensitivity or 0.0):
        return "Every step alone is right. The model amplifies rounding: the outputs cannot be nearer in their type."
    what = (
        "Every step alone is right, and the outputs are not: the steps are put together wrong, or small errors add up."
    )
    return f"{what} `mlc compile MODEL --sanitize address` checks the memory plan."


def _node(row: Row) -> str:
    what = f"The importer reads the node '{row.name}' ({row.about}) in another way than onnxruntime"
    return f"{what}: `mlc compile MODEL --emit import` shows what it becomes."


def _pass(row: Row) -> str:
    how = "`mlc compile MODEL --dump-ir DIR` writes the graph before and after it"
    return f"The pass {row.name} changes the outputs: {how}."


def _kernel(row: Row) -> str:
    nodes = f" (nodes {row.about})" if row.about else ""
    how = "`mlc compile MODEL --emit kernel` shows it, and a line for it in a file for --schedule changes its code"
    return f"The kernel {row.name}{nodes} computes other values than its operators: {how}."


def _largest(rows: Iterable[Row]) -> float:
    return max(row.difference.error for row in rows if row.difference is not None)
