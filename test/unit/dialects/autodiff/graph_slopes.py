"""Graphs of float64 built by hand: their derivatives, against central differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from central import central_differences
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from mlc.dialects.autodiff import gradients
from mlc.dialects.graph import ComputeOp
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.semantics.interpreter import main_of, run_block
from mlc.dialects.semantics.strings import StringTable
from mlc.dialects.types import element_of, element_of_dtype, shape_of, tensor
from mlc.dialects.weights import WeightStore
from mlc.passes.graph.verify_graph import VerifyGraph

Emit = Callable[[Operation], SSAValue]
Make = Callable[..., SSAValue]
STEP = 1e-6


def module_of(
    make: Make, types: Sequence[tuple[str, Sequence[DimLike]]], order: int, floats: Sequence[int]
) -> ModuleOp:
    """``@main`` gives the value (order 0), its derivatives with respect to the arguments ``floats`` (order 1), or those
    of the first of these (order 2)."""
    block = Block(arg_types=[tensor(element, shape) for element, shape in types])

    def emit(op: Operation) -> SSAValue:
        block.add_op(op)
        return op.results[0]

    results = [make(emit, *block.args)]
    for _ in range(order):
        results = _derived(results, [block.args[n] for n in floats], emit)
    block.add_op(ReturnOp(*results))
    main = FuncOp("main", ([a.type for a in block.args], [r.type for r in results]), Region(block))
    module = ModuleOp([main])
    VerifyGraph().apply(Context(), module)
    return module


def _derived(ys: Sequence[SSAValue], xs: Sequence[SSAValue], emit: Emit) -> list[SSAValue]:
    """The derivatives of the sum over all elements, each times a number of its own."""
    y = ys[0]
    weights = " + ".join(["1", *(f"{0.3 + 0.2 * n} * f64(i{n} % 3)" for n in range(len(shape_of(y))))])
    seed = emit(ComputeOp(f"{element_of(y)}({weights})", [], shape_of(y)))
    found = gradients(y, xs, seed, emit)
    return [bar if bar is not None else emit(ComputeOp(f"{element_of(x)}(0)", [], shape_of(x)))
            for x, bar in zip(xs, found, strict=True)]  # fmt: skip


def run(module: ModuleOp, arrays: Sequence[Array], symbols: Mapping[str, int]) -> list[Array]:
    with np.errstate(all="ignore"):
        return list(run_block(main_of(module).body.block, list(arrays), WeightStore(), dict(symbols), StringTable()))


def seeded(y: Array) -> float:
    """The sum that ``_derived`` differentiates."""
    weights = np.ones(y.shape)
    for n, d in enumerate(y.shape):
        weights += ((0.3 + 0.2 * n) * (np.arange(d) % 3)).reshape(-1, *[1] * (y.ndim - n - 1))
    return float((weights * y).sum())


def check(make: Make, *arrays: Array, shapes: Sequence[Sequence[DimLike]] | None = None,
          symbols: Mapping[str, int] | None = None, order: int = 2, rtol: float = 1e-6) -> ModuleOp:  # fmt: skip
    """The derivatives of ``make(emit, *args)`` at ``arrays``, up to ``order``, are the central differences of the order
    before. Returns the module of the first ones."""
    types = [(element_of_dtype(a.dtype), s) for a, s in zip(arrays, shapes or [a.shape for a in arrays], strict=True)]
    floats = [n for n, a in enumerate(arrays) if a.dtype.kind == "f"]
    modules = [module_of(make, types, n, floats) for n in range(order + 1)]
    for before, module in zip(modules, modules[1:], strict=False):
        found = run(module, arrays, symbols or {})
        for actual, n in zip(found, floats, strict=True):
            right = _differences(before, arrays, n, symbols or {})
            assert actual.shape == right.shape
            np.testing.assert_allclose(actual, right, rtol=rtol, atol=rtol * max(1, np.abs(right).max(initial=0)))
    return modules[1]


def _differences(module: ModuleOp, arrays: Sequence[Array], n: int, symbols: Mapping[str, int]) -> Array:
    def total(moved: Array) -> float:
        return seeded(run(module, [*arrays[:n], moved, *arrays[n + 1 :]], symbols)[0])

    return central_differences(total, arrays[n], STEP)
