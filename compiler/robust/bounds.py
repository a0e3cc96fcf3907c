"""Bounds of a network's results over a box of inputs, by interval propagation on the graph operators.

The meaning of an operator is in its statements, so the interval of one follows from the intervals of its scalar
expressions. Source: Gowal et al., "On the effectiveness of interval bound propagation", 2018.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue

from mlc.dialects.graph import ConstantOp, ContractOp, ConvOp, WeightOp
from mlc.dialects.graph.base import StructuredOp
from mlc.dialects.semantics.dims import evaluate
from mlc.dialects.semantics.evaluate import evaluate_statement
from mlc.dialects.semantics.interpreter import main_of
from mlc.dialects.semantics.statement import Statement
from mlc.dialects.types import element_of, shape_of
from mlc.errors import InputError
from mlc.export import traced
from mlc.frontends.array.array import as_array
from mlc.robust.intervals import NoInterval, interval

Known = np.ndarray[Any, Any]
Box = tuple[Known, Known]
MONOTONE = (None, "add", "max", "min", "and_", "or_")
"""Reductions that rise in each element."""


def interval_bounds(f: Callable[..., Any], lower: Any, upper: Any) -> tuple[Known, Known]:
    """Arrays that no result of ``f(x)`` is below and above, for all ``x`` with ``lower <= x <= upper`` elementwise.

    ``f`` is a module, a function on arrays, or ``mlc.function(model)`` of an ONNX or PyTorch model, with one result.
    The bounds are computed by NumPy in float64 and rounded outwards. They hold for exact arithmetic; a compiled network
    rounds, by some units in the last place.

    Raises:
        InputError: shapes that differ, a lower bound above the upper, more than one result, or an operator of which no
            interval is known (loops, sorts, sampling).
    """
    low, high = (np.asarray(as_array(x)) for x in (lower, upper))
    if low.shape != high.shape or np.any(low > high):
        what = f"A box from an array {list(low.shape)} to one {list(high.shape)} is none"
        raise InputError(what, hint="Give arrays of one shape, the first nowhere above the second")
    imported = traced(f, [low]).imported()
    main = main_of(imported.module)
    results = _propagated(main.body.block.ops, {main.args[0]: _wide(low, high)}, imported.weights)
    if len(results) != 1:
        what = f"interval_bounds takes functions of one result, and this one has {len(results)}"
        raise InputError(what, hint="Return one array")
    return results[0]


def certified(f: Callable[..., Any], x: Any, y: Any, epsilon: float, clip: tuple[float, float] | None = None) -> Known:
    """Which examples [n] keep their labels ``y`` under every change of at most ``epsilon`` in each element.

    ``f`` gives scores [n, classes] of a batch. False says that no proof was found, and not that there is an attack.
    ``clip``: the least and the largest value of an input.
    """
    given, labels = np.asarray(as_array(x)), np.asarray(as_array(y))
    ends = given - epsilon, given + epsilon
    low, high = interval_bounds(f, *(np.clip(e, *clip).astype(given.dtype) if clip else e for e in ends))
    rows = np.arange(len(labels))
    others = high.copy()
    others[rows, labels] = -np.inf
    return np.asarray(low[rows, labels] > others.max(axis=1))


def _wide(low: Known, high: Known) -> Box:
    return low.astype(np.float64), high.astype(np.float64)


def _propagated(ops: Any, env: dict[SSAValue, Box], weights: Any) -> list[Box]:
    for op in ops:
        if isinstance(op, ReturnOp):
            return [env[value] for value in op.operands]
        env[op.results[0]] = _box(op, [env[value] for value in op.operands], weights)
    return []


def _box(op: Operation, boxes: Sequence[Box], weights: Any) -> Box:
    """The box of an operator's result. Bounds of floats are f64, whatever the type of the operator's elements."""
    if isinstance(op, WeightOp | ConstantOp):
        value = weights[op.entry.data] if isinstance(op, WeightOp) else op.array()
        value = value.astype(np.float64) if _is_float(op) else value
        return value, value
    if not isinstance(op, StructuredOp):
        raise _unknown(op, op.name)
    if isinstance(op, ContractOp | ConvOp) and op.product is None:
        return _outwards(_product(op, *boxes))
    statements = op.statements()
    if any(_monoid(each) not in MONOTONE for each in statements):
        raise _unknown(op, f"{op.name} of products")
    try:
        ends = [_ends(op, statements, boxes, side) for side in (0, 1)]
    except NoInterval as error:
        raise _unknown(op, f"{op.name} with {error}") from error
    return _outwards((ends[0], ends[1])) if _is_float(op) else (ends[0], ends[1])


def _monoid(each: Statement) -> str | None:
    return each.monoid


def _ends(op: StructuredOp, statements: Sequence[Statement], boxes: Sequence[Box], side: int) -> Known:
    """The least (0) or largest (1) elements of a result, by its statements on both ends of the operands."""
    operands = [*(low for low, _ in boxes), *(high for _, high in boxes)]
    shape = tuple(int(evaluate(d, {})) for d in shape_of(op.results[0]))  # type: ignore[arg-type]
    kind = np.float64 if _is_float(op) else operands[0].dtype
    found = np.zeros(shape, kind if element_of(op.results[0]) != "i1" else np.bool_)
    for each in statements:
        value = interval(each.value, len(boxes))[side]
        with np.errstate(all="ignore"):
            evaluate_statement(dataclasses.replace(each, value=value), operands, found, _NO_SYMBOLS)
    return found


_NO_SYMBOLS: Mapping[str, int] = {}


def _product(op: ContractOp | ConvOp, left: Box, right: Box) -> Box:
    """By centres and radii (Rump, 1999), of which products are matrix products: ``|x y - cx cy| ≤ rx |cy| + |cx| ry +
    rx ry``."""
    centers, radii = zip(*((low / 2 + high / 2, high / 2 - low / 2) for low, high in (left, right)), strict=True)
    middle = _summed(op, centers[0], centers[1])
    spread = _summed(op, radii[0], np.abs(centers[1]))
    if np.any(radii[1]):
        spread = spread + _summed(op, np.abs(centers[0]) + radii[0], radii[1])
    return middle - spread, middle + spread


def _summed(op: ContractOp | ConvOp, x: Known, y: Known) -> Known:
    """The operator's result in f64, where its own evaluation does not round to the type of its elements."""
    stretched = isinstance(op, ContractOp) and any(
        x.shape[n] != evaluate(op.extents()[c], {})
        for x, term in zip((x, y), op.terms, strict=False) for n, c in enumerate(term)
    )  # fmt: skip
    if not stretched and op.data_layouts is None and x.size and y.size:
        return op.evaluate([x, y])
    found = np.zeros(tuple(int(evaluate(d, {})) for d in shape_of(op.result)))  # type: ignore[arg-type]
    for each in op.statements():
        evaluate_statement(each, [x, y], found, _NO_SYMBOLS)
    return found


def _outwards(box: Box) -> Box:
    return np.nextafter(box[0], -np.inf), np.nextafter(box[1], np.inf)


def _is_float(op: Operation) -> bool:
    return element_of(op.results[0])[0] in "fb"


def _unknown(op: Operation, what: str) -> InputError:
    node = op.attributes.get("graph.node")
    where = f" ({node})" if node is not None else ""
    hint = "Leave it out of f: products, convolutions, elementwise operators, reductions and moves have one"
    return InputError(f"No interval is known of {what}{where}", hint=hint)
