"""Constant band matrices among the arguments of kernels, such as causal masks."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument

from mlc.dialects import kernel
from mlc.dialects.graph import WeightOp
from mlc.dialects.semantics.band import Band, bands_of
from mlc.dialects.types import element_of, is_float
from mlc.dialects.weights import WeightStore


def calls_of(module: ModuleOp) -> dict[str, list[kernel.CallOp]]:
    """The calls of each kernel by its name."""
    found: dict[str, list[kernel.CallOp]] = {}
    for op in module.walk():
        if isinstance(op, kernel.CallOp):
            found.setdefault(op.callee.root_reference.data, []).append(op)
    return found


def bands_of_argument(arg: BlockArgument, calls: Sequence[kernel.CallOp], weights: WeightStore) -> list[Band]:
    """Return the ways to read an argument of a kernel as a band matrix; none unless every call passes a weight for it,
    and all these weights are the same band matrix."""
    if not (element_of(arg) == "i1" or is_float(element_of(arg))):
        return []
    owners = {call.args[arg.index].owner if arg.index < len(call.args) else None for call in calls}
    names = {o.entry.data if isinstance(o, WeightOp) else "" for o in owners}
    if not names or not all(weights.knows(n) and len(weights.entry(n).shape) > 1 for n in names):
        return []
    first, *others = (bands_of(weights[name]) for name in sorted(names))
    return first if all(other == first for other in others) else []
