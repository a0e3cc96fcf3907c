"""Each kernel as it is compiled beside its operators interpreted, on the operands that the compiled kernel had.

    %1 = kernel.call @conv(%x, %w)                  %1 = kernel.call @conv(%x, %w)
    %2 = kernel.call @pool(%1)              →       %2 = kernel.call @pool(%1)
    return %2                                       return %2, %1, %2

The outputs that are added keep every result in memory; the kernels are the same as before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from mlc.debugging.report import Row
from mlc.debugging.rounding import is_rounding, sensitivity
from mlc.dialects.graph import IfOp, LoopOp, source_nodes
from mlc.dialects.kernel import CallOp
from mlc.dialects.semantics.interpreter import bind_symbols, main_of, names, run_operation, strings_of
from mlc.dialects.semantics.strings import StringTable
from mlc.dialects.types import STRING, element_of
from mlc.dialects.weights import WeightStore
from mlc.tools.difference import difference, worst_of

Array = np.ndarray[Any, Any]
STEPS = (CallOp, LoopOp, IfOp)
"""The operations of a program that are compiled; a loop or a branch with its kernels is one step."""
SHOWN_NODES = 3


def expose(module: ModuleOp) -> None:
    """Make the results of all steps of ``main`` outputs too, each named after its step: ``step 3.0``."""
    main = main_of(module)
    end = main.body.block.last_op
    assert isinstance(end, ReturnOp)
    added = {name: value for name, value in _results(main) if element_of(value) != STRING}
    named = main.res_attrs or ArrayAttr([DictionaryAttr({}) for _ in end.operands])
    returned = [*end.operands, *added.values()]
    end.operands = returned
    main.function_type = FunctionType.from_lists([x.type for x in main.args], [value.type for value in returned])
    main.res_attrs = ArrayAttr([*named, *(DictionaryAttr({"graph.name": StringAttr(name)}) for name in added)])


def _results(main: FuncOp) -> Iterator[tuple[str, SSAValue]]:
    for n, op in enumerate(_steps(main)):
        yield from ((f"step {n}.{k}", value) for k, value in enumerate(op.results))


def _steps(main: FuncOp) -> Iterator[Operation]:
    return (op for op in main.body.block.ops if isinstance(op, STEPS))


@dataclass
class Stepwise:
    """Interprets the exposed module one step after the other, and goes on with what was compiled."""

    module: ModuleOp
    weights: WeightStore
    compiled: Mapping[str, Array]
    tolerance: float | None

    def rows(self, inputs: Mapping[str, Array]) -> Iterator[Row]:
        """A row for each step. ``inputs``: states too."""
        main = main_of(self.module)
        arguments = [np.asarray(inputs[name]) for name in names(main.arg_attrs)]
        symbols, strings = bind_symbols(main, arguments), strings_of(main)
        env: dict[SSAValue, Array] = dict(zip(main.args, arguments, strict=True))
        labels = {value: name for name, value in _results(main)}
        for op in main.body.block.ops:
            if isinstance(op, ReturnOp):
                return
            operands = [env[x] for x in op.operands]
            found = run_operation(op, operands, self.weights, symbols, strings)
            if isinstance(op, STEPS):
                results = [self.compiled.get(labels[x], y) for x, y in zip(op.results, found, strict=True)]
                again = partial(_run, op, self.weights, symbols, strings)
                yield self._row(op, results, found, partial(sensitivity, again, operands, found))
                found = results
            env.update(zip(op.results, found, strict=True))

    def _row(self, op: Operation, compiled: list[Array], wanted: list[Array], moves: Callable[[], float]) -> Row:
        worst = worst_of(difference(x, y, self.tolerance) for x, y in zip(compiled, wanted, strict=True))
        return Row(_name(op), _nodes(op), worst, rounding=not worst.right and is_rounding(worst, moves()))


def _run(
    op: Operation, weights: WeightStore, symbols: Mapping[str, int], strings: StringTable, operands: Sequence[Array]
) -> list[Array]:
    """Interpret a step on other operands; sizes that it computes are forgotten."""
    return run_operation(op, list(operands), weights, dict(symbols), strings)


def _name(op: Operation) -> str:
    return op.callee.root_reference.data if isinstance(op, CallOp) else op.name


def _nodes(op: Operation) -> str:
    nodes = source_nodes(op)
    return ", ".join(nodes[:SHOWN_NODES]) + (f" and {len(nodes) - SHOWN_NODES} more" if nodes[SHOWN_NODES:] else "")
