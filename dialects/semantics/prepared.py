"""Prepared programs: the interpreter's steps with everything precomputed that is equal in all iterations of a loop.

The reference interpreter reads an operator, its types and its statements each time that it executes the operator. Here
an operator with static shapes becomes a function of NumPy arrays, and a block a list of calls with the positions of
their operands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects.graph import (
    ConstantOp,
    ContractOp,
    GraphOp,
    IfOp,
    LoopOp,
    NonzeroOp,
    PadOp,
    RoutineOp,
    SizeOp,
    SliceOp,
    StructuredOp,
    WeightOp,
    YieldOp,
    dims_of,
)
from mlc.dialects.graph.map import MapOp
from mlc.dialects.semantics.dims import evaluate
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.semantics.expr import Index, walk
from mlc.dialects.semantics.interpreter import interpret, iterated, main_of, names
from mlc.dialects.semantics.numpy_evaluators import evaluator_of
from mlc.dialects.semantics.whole_arrays import WholeArrays
from mlc.dialects.types import element_of, numpy_dtype, shape_of
from mlc.dialects.weights import WeightStore

Symbols = dict[str, int]  # of the block: those around it, and the sizes that its loops define
Run = Callable[[Sequence[Array], Symbols], Sequence[Array]]
UNPREPARED = (RoutineOp, NonzeroOp, SizeOp)  # they define run-time dimensions, or need the table of strings


Interpreted = Callable[[Sequence[Array]], Sequence[Array]]
"""A program without symbols in its signature, as a function of its arguments in order."""


def interpreted(module: ModuleOp, weights: WeightStore) -> Interpreted:
    """Return ``@main`` as a function of its arguments: prepared if possible, otherwise by the reference interpreter."""
    fast = prepared(module, weights)
    if fast is not None:
        return fast
    inputs = names(main_of(module).arg_attrs)
    return lambda given: list(interpret(module, weights, dict(zip(inputs, given, strict=True))).values())


def prepared(module: ModuleOp, weights: WeightStore) -> Interpreted | None:
    """Return ``@main`` as a function of its arguments, in order; None if it needs the reference interpreter."""
    main = main_of(module)
    if any(isinstance(op, UNPREPARED) for op in main.walk()) or not all(map(_is_static, main.args)):
        return None
    body = _Body.of(main.body.block, weights)
    if body.is_one_call(len(main.args)):
        return _one_call(body)

    def run(arguments: Sequence[Array]) -> Sequence[Array]:
        with np.errstate(all="ignore"):  # infinities and NaN are valid results
            return body(arguments, {})

    return run


def _one_call(body: _Body) -> Interpreted:
    ((call, _),) = body.calls

    def run(arguments: Sequence[Array]) -> Sequence[Array]:
        with np.errstate(all="ignore"):
            return call(arguments, {})[:1]  # a loop may have more results

    return run


@dataclass(frozen=True)
class _Body:
    """A block: calls with the positions of operands and results in a list of values. The block's arguments are
    first."""

    calls: tuple[tuple[Run, tuple[int, ...]], ...]
    results: tuple[int, ...]

    @staticmethod
    def of(block: Block, weights: WeightStore) -> _Body:
        at: dict[SSAValue, int] = {value: n for n, value in enumerate(block.args)}
        calls: list[tuple[Run, tuple[int, ...]]] = []
        for op in block.ops:
            operands = tuple(at[v] for v in op.operands)
            if isinstance(op, ReturnOp | YieldOp):
                return _Body(tuple(calls), operands)
            calls.append((_call_of(op, weights), operands))
            for result in op.results:
                at[result] = len(at)
        return _Body(tuple(calls), ())

    def is_one_call(self, arguments: int) -> bool:
        """Return whether the block returns the first result of one operator of all ``arguments`` in order."""
        of_all = len(self.calls) == 1 and self.calls[0][1] == tuple(range(arguments))
        return of_all and self.results == (arguments,)

    def __call__(self, arguments: Sequence[Array], symbols: Symbols) -> list[Array]:
        values = list(arguments)
        for call, operands in self.calls:
            values += call([values[n] for n in operands], symbols)
        return [values[n] for n in self.results]


def _call_of(op: Operation, weights: WeightStore) -> Run:
    match op:
        case WeightOp():
            weight = [weights[op.entry.data]]
            return lambda operands, symbols: weight
        case ConstantOp():
            constant = [op.array()]
            return lambda operands, symbols: constant
        case LoopOp():
            body = _Body.of(op.body.block, weights)
            return lambda operands, symbols: iterated(op, list(operands), symbols, body)
        case IfOp():
            then, otherwise = (_Body.of(region.block, weights) for region in (op.then, op.otherwise))
            return lambda operands, symbols: (then if bool(operands[0]) else otherwise)(operands[1:], symbols)
        case StructuredOp():
            return _structured(op)
    assert isinstance(op, GraphOp)
    return lambda operands, symbols: [op.evaluate(operands, symbols)]  # type: ignore[attr-defined]


def _structured(op: StructuredOp) -> Run:
    if _is_plain(op):
        evaluator = evaluator_of(op)
        if evaluator is not None:
            return lambda operands, symbols: [evaluator(*operands)]
    if type(op).evaluate is not StructuredOp.evaluate and not isinstance(op, ContractOp):
        return lambda operands, symbols: [op.evaluate(operands, symbols)]
    statements, dims = [WholeArrays(each) for each in op.statements()], shape_of(op.results[0])
    dtype = numpy_dtype(element_of(op.results[0]))

    def run(operands: Sequence[Array], symbols: Symbols) -> Sequence[Array]:
        result = np.zeros(tuple(cast(int, evaluate(d, symbols)) for d in dims), dtype)
        for statement in statements:
            statement(operands, result, symbols)
        return [result]

    return run


def _is_static(value: SSAValue) -> bool:
    return all(isinstance(d, int) for d in shape_of(value))


def _is_plain(op: StructuredOp) -> bool:
    """Return whether neither shapes nor attributes depend on symbols, such as the iteration of a loop."""
    if not all(map(_is_static, (*op.operands, *op.results))):
        return False
    match op:
        case SliceOp():
            return all(isinstance(d, int) for d in (*dims_of(op.starts), *dims_of(op.sizes)))
        case PadOp():
            return all(isinstance(d, int) for d in dims_of(op.low))
        case MapOp():
            return not any(isinstance(e, Index) for e in walk(op.scalar))
    return True
