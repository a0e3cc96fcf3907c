"""The reference interpreter of the graph level: runs ``@main`` operator by operator in NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects.dims import Dim
from mlc.dialects.evaluate import Array
from mlc.dialects.graph import ConstantOp, GraphOp, PositionsOp, RoutineOp, WeightOp
from mlc.dialects.texts import Texts, unescaped
from mlc.dialects.types import element_of, numpy_dtype, shape_of
from mlc.dialects.weights import WeightStore


def interpret(module: ModuleOp, weights: WeightStore, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Outputs of ``@main`` by name, for inputs by name.

    Raises:
        ValueError: an input is missing, or its shape is not what the signature says.
    """
    main = main_of(module)
    arguments = [np.asarray(inputs[name]) for name in names(main.arg_attrs)]
    symbols = bind_symbols(main, arguments)
    results = run_block(main.body.block, arguments, weights, symbols, texts_of(main))
    return dict(zip(names(main.res_attrs), results, strict=True))


def main_of(module: ModuleOp) -> FuncOp:
    """The function ``@main`` of a graph module."""
    return next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")


def texts_of(main: FuncOp) -> Texts:
    """The texts that a model knows before it runs."""
    known = cast("ArrayAttr[StringAttr]", main.attributes.get("graph.texts", ArrayAttr([])))
    return Texts(unescaped(text.data) for text in known)


def names(attributes: ArrayAttr[DictionaryAttr] | None) -> list[str]:
    """The ``graph.name`` of each argument or result."""
    return [cast(StringAttr, a.data["graph.name"]).data for a in attributes or ()]


def bind_symbols(main: FuncOp, arguments: list[Array]) -> dict[str, int]:
    """Values of the symbolic dimensions, read off the shapes of the arguments."""
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
    texts: Texts | None = None,
) -> list[Array]:
    """Operands of the block's terminator. Values are dropped after their last use."""
    env: dict[SSAValue, Array] = dict(zip(block.args, arguments, strict=True))
    symbols, texts = dict(symbols), texts or Texts()
    uses = {value: sum(1 for _ in value.uses) for op in block.ops for value in op.results}
    for op in block.ops:
        if isinstance(op, ReturnOp):
            return [env[o] for o in op.operands]
        env[op.results[0]] = _run(op, [env[o] for o in op.operands], weights, symbols, texts)
        if isinstance(op, PositionsOp):
            symbols[op.size.data] = len(env[op.result])
        _drop(op, env, uses)
    return []


def _run(op: Operation, operands: list[Array], weights: WeightStore, symbols: Mapping[str, int], texts: Texts) -> Array:
    match op:
        case WeightOp():
            return weights[op.entry.data]
        case ConstantOp():
            return op.array()
        case RoutineOp():
            return op.evaluate_with(texts, operands, symbols)
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
