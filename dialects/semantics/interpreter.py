"""The reference interpreter of the graph level: runs ``@main`` operator by operator in NumPy.

It also interprets kernel calls where the kernels contain graph operators, as after stage ``fuse``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import cast

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects.graph import ConstantOp, GraphOp, IfOp, LoopOp, NonzeroOp, RoutineOp, SizeOp, WeightOp, YieldOp
from mlc.dialects.graph.base import optional_axes
from mlc.dialects.kernel import CallOp
from mlc.dialects.kernel import FuncOp as KernelOp
from mlc.dialects.kernel import ReturnOp as KernelReturnOp
from mlc.dialects.semantics.dims import Dim, evaluate
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.semantics.strings import StringTable, unescaped
from mlc.dialects.types import element_of, numpy_dtype, shape_of
from mlc.dialects.weights import WeightStore
from mlc.errors import RunError

Observer = Callable[[Operation, list[Array], Array], None]
"""A function that is called for each operator of one result, with the values of its operands and its result."""
Iteration = Callable[[Sequence[Array], dict[str, int]], Sequence[Array]]
"""A function from the operands and the symbols of a loop's iteration to what the iteration yields."""


def interpret(
    module: ModuleOp, weights: WeightStore, inputs: Mapping[str, Array], observer: Observer | None = None
) -> dict[str, Array]:
    """Return the outputs of ``@main`` by name, for inputs by name. ``observer`` also sees the operators in loops and
    branches.

    Raises:
        ValueError: an input is missing, or its shape is not that of the signature.
    """
    main = main_of(module)
    arguments = [np.asarray(inputs[name]) for name in names(main.arg_attrs)]
    symbols = bind_symbols(main, arguments)
    results = run_block(main.body.block, arguments, weights, symbols, strings_of(main), observer)
    given = map(_without_ones, results, map(optional_axes, main.res_attrs or ()))
    return dict(zip(names(main.res_attrs), given, strict=True))


def _without_ones(y: Array, optional: Sequence[int]) -> Array:
    """Return an output as a caller gets it, without its optional axes of extent 1."""
    return y.squeeze(tuple(n for n in optional if y.shape[n] == 1)) if optional else y


def main_of(module: ModuleOp) -> FuncOp:
    """Return the function ``@main`` of a graph module."""
    return next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")


def strings_of(main: FuncOp) -> StringTable:
    """Return the constant strings of a model."""
    known = cast("ArrayAttr[StringAttr]", main.attributes.get("graph.strings", ArrayAttr([])))
    return StringTable(unescaped(string.data) for string in known)


def names(attributes: ArrayAttr[DictionaryAttr] | None) -> list[str]:
    """Return the ``graph.name`` of each argument or result."""
    return [cast(StringAttr, a.data["graph.name"]).data for a in attributes or ()]


def bind_symbols(main: FuncOp, arguments: list[Array]) -> dict[str, int]:
    """Return the values of symbolic dimensions, from the shapes of the arguments."""
    symbols: dict[str, int] = {}
    for argument, array in zip(main.args, arguments, strict=True):
        dims = shape_of(argument)
        if len(dims) != array.ndim:
            raise ValueError(f"an input of shape {array.shape} where the model takes {dims}")
        for dim, extent in zip(dims, array.shape, strict=True):
            name = str(dim)
            if isinstance(dim, Dim) and dim.symbols() == {name}:
                if symbols.setdefault(name, extent) != extent:
                    raise ValueError(f"dimension {name} is {symbols[name]} and {extent}")
            elif isinstance(dim, int) and dim != extent:
                raise ValueError(f"an input of shape {array.shape} where the model takes {dims}")
    return symbols


def run_block(
    block: Block,
    arguments: list[Array],
    weights: WeightStore,
    symbols: Mapping[str, int],
    strings: StringTable | None = None,
    observer: Observer | None = None,
) -> list[Array]:
    """Interpret a block; return the operands of its terminator. A value is dropped after its last use."""
    env: dict[SSAValue, Array] = dict(zip(block.args, arguments, strict=True))
    symbols, strings = dict(symbols), strings or StringTable()
    uses = {value: sum(1 for _ in value.uses) for op in block.ops for value in op.results}
    for op in block.ops:
        operands = [env[o] for o in op.operands]
        if isinstance(op, ReturnOp | YieldOp | KernelReturnOp):
            return operands
        env.update(zip(op.results, run_operation(op, operands, weights, symbols, strings, observer), strict=True))
        _drop(op, env, uses)
    return []


def run_operation(
    op: Operation,
    operands: list[Array],
    weights: WeightStore,
    symbols: dict[str, int],
    strings: StringTable,
    observer: Observer | None = None,
) -> list[Array]:
    """Interpret an operation that is no terminator; return its results. Sets the symbol of a size that it computes."""
    if isinstance(op, LoopOp):
        return iterated(op, operands, symbols, partial(_block_of_loop, op, weights, strings, observer))
    if isinstance(op, CallOp):
        return run_block(_kernel(op), operands, weights, symbols, strings, observer)
    if isinstance(op, IfOp):
        taken = op.then if bool(operands[0]) else op.otherwise
        return run_block(taken.block, operands[1:], weights, symbols, strings, observer)
    result = _run(op, operands, weights, symbols, strings)
    if observer is not None:
        observer(op, operands, result)
    if isinstance(op, NonzeroOp):
        symbols[op.size.data] = len(result)
    if isinstance(op, SizeOp):
        symbols[op.size.data] = int(result)
    return [result]


def _kernel(call: CallOp) -> Block:
    """Return the body of the called kernel, which consists of graph operators."""
    module = call.get_toplevel_object()
    assert isinstance(module, ModuleOp)
    name = call.callee.root_reference.data
    return next(op for op in module.ops if isinstance(op, KernelOp) and op.sym_name.data == name).block


def _block_of_loop(
    op: LoopOp,
    weights: WeightStore,
    strings: StringTable,
    observer: Observer | None,
    operands: Sequence[Array],
    symbols: dict[str, int],
) -> list[Array]:
    """Run one iteration; return what it yields."""
    return run_block(op.body.block, list(operands), weights, symbols, strings, observer)


def iterated(op: LoopOp, operands: list[Array], symbols: dict[str, int], body: Iteration) -> list[Array]:
    """Run a loop; return the last loop-carried values and the collected ones. Set the symbol of the number of
    iterations.

    ``body`` runs an iteration, given its operands and symbols.

    Raises:
        RunError: a strict loop would have more iterations than its bound.
    """
    limit, goes_on, states, used = _loop_operands(op, operands)
    most = cast(int, evaluate(op.most, symbols))
    collected: list[list[Array]] = [[] for _ in op.at]
    iteration = 0
    while goes_on and iteration < limit:
        if iteration == most:
            if op.strict is not None:
                raise RunError(op.strict.data)
            break
        results = list(body([*states, *used], {**symbols, op.step.data: iteration}))
        goes_on = bool(results.pop(0)) if op.active is not None else True
        states, rest = results[: len(states)], results[len(states) :]
        for seen, value in zip(collected, rest, strict=True):
            seen.append(value)
        iteration += 1
    if op.size is not None:
        symbols[op.size.data] = iteration
    return [*states, *(_collected_value(op, n, seen, symbols) for n, seen in enumerate(collected))]


def _loop_operands(op: LoopOp, operands: list[Array]) -> tuple[float, bool, list[Array], list[Array]]:
    """Return (limit of the iterations, whether there is a first one, loop-carried values, other values of the
    region)."""
    rest = list(operands)
    limit = int(rest.pop(0)) if op.limit is not None else float("inf")
    active = bool(rest.pop(0)) if op.active is not None else True
    return limit, active, rest[: len(op.states)], rest[len(op.states) :]


def _collected_value(op: LoopOp, n: int, seen: list[Array], symbols: Mapping[str, int]) -> Array:
    """Return the tensor of one collected value of all iterations."""
    result = op.results[len(op.states) + n]
    shape = tuple(cast(int, evaluate(d, symbols)) for d in shape_of(result))
    out = np.zeros(shape, numpy_dtype(element_of(result)))
    for iteration, value in enumerate(seen):
        out[cast(int, evaluate(op.collect_at[n], {**symbols, op.step.data: iteration}))] = value
    return out


def _run(
    op: Operation, operands: list[Array], weights: WeightStore, symbols: Mapping[str, int], strings: StringTable
) -> Array:
    match op:
        case WeightOp():
            return weights[op.entry.data]
        case ConstantOp():
            return op.array()
        case RoutineOp():
            return op.evaluate_with(strings, operands, symbols)
        case GraphOp():
            result = op.evaluate(operands, symbols)  # type: ignore[attr-defined]
            expected = numpy_dtype(element_of(op.results[0]))
            if result.dtype != expected:
                raise TypeError(f"{op.name} computed {result.dtype} where its type is {expected}")
            return result
    raise NotImplementedError(f"the interpreter does not know {op.name}")


def _drop(op: Operation, env: dict[SSAValue, Array], uses: dict[SSAValue, int]) -> None:
    for operand in set(op.operands):
        if operand in uses:
            uses[operand] -= sum(1 for o in op.operands if o is operand)
            if uses[operand] == 0:
                del env[operand]
