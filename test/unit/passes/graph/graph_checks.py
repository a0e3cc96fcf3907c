"""Builds graph modules in a few lines, and checks that passes keep what they compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from mlc import target as targets
from mlc.dialects.graph import ConstantOp, ContractOp, WeightOp, with_nodes
from mlc.dialects.semantics.dims import DimLike, evaluate, parse_dim, symbols_of
from mlc.dialects.semantics.interpreter import interpret
from mlc.dialects.types import element_of, numpy_dtype, shape_of, tensor
from mlc.dialects.weights import WeightStore
from mlc.passes.context import MlcContext
from mlc.passes.graph.verify_graph import verify_module

Array = np.ndarray[Any, Any]
EXTENTS = {"n": 3, "h": 7, "w": 5}  # of symbolic dimensions


class GraphBuilder:
    """One function ``@main`` in the making; every operator comes from a node named after its position."""

    def __init__(self, seed: int = 0) -> None:
        self.random = np.random.default_rng(seed)
        self.weights = WeightStore()
        self.block = Block()
        self.names: list[str] = []

    def input(self, *shape: DimLike | str, element: str = "f32", name: str | None = None) -> SSAValue:
        dims = [parse_dim(d) if isinstance(d, str) else d for d in shape]
        self.names.append(name or f"in{len(self.names)}")
        return self.block.insert_arg(tensor(element, dims), len(self.block.args))

    def weight(self, *shape: int) -> SSAValue:
        """A standard normal weight that is not stored inline."""
        return self.stored(self.random.standard_normal(shape).astype(np.float32))

    def stored(self, array: Array, name: str = "w") -> SSAValue:
        name = self.weights.add(name, array)
        return self.add(WeightOp(name, self.weights.entry(name).type))

    def constant(self, value: Any, dtype: str = "float32") -> SSAValue:
        return self.add(ConstantOp(np.asarray(value, dtype)))

    def add(self, op: Operation) -> SSAValue:
        self.block.add_op(with_nodes(op, [f"node{len(self.block.ops)}"]))
        return op.results[0]

    def module(self, *results: SSAValue) -> ModuleOp:
        self.block.add_op(ReturnOp(*results))
        types = ([a.type for a in self.block.args], [r.type for r in results])
        outputs = _names(f"out{n}" for n in range(len(results)))
        main = FuncOp("main", types, Region(self.block), arg_attrs=_names(self.names), res_attrs=outputs)
        return ModuleOp([main])

    def inputs(self, extents: Mapping[str, int] = EXTENTS) -> dict[str, Array]:
        """Fresh random inputs; symbolic dimensions take their size from ``extents``."""
        return {n: self._input(a, extents) for n, a in zip(self.names, self.block.args, strict=True)}

    def _input(self, value: SSAValue, extents: Mapping[str, int]) -> Array:
        shape = tuple(int(evaluate(d, extents)) for d in shape_of(value))  # type: ignore[arg-type]
        assert symbols_of(shape_of(value)) <= set(extents)
        if element_of(value)[0] in "iu":
            return self.random.integers(0, 2, shape).astype(numpy_dtype(element_of(value)))
        return self.random.standard_normal(shape).astype(numpy_dtype(element_of(value)))


def _names(names: Any) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr(DictionaryAttr({"graph.name": StringAttr(n)}) for n in names)


def ops(module: ModuleOp, kind: type[Operation]) -> list[Any]:
    """All operations of a class, in order."""
    return [o for o in module.walk() if isinstance(o, kind)]


def packing(op: ContractOp) -> tuple[DimLike, int] | None:
    """Columns of a right operand and of each of the panels that hold it."""
    held = op.data_layouts[1] if op.data_layouts else None
    return (op.plain_shape(1)[1], held.tiles[0][1]) if held else None


def apply(
    builder: GraphBuilder, module: ModuleOp, passes: Sequence[ModulePass], target: str = "x86-64-v4"
) -> None:
    """Run passes with the builder's weights; the graph is verified after each."""
    context = MlcContext(weights=builder.weights, target=targets.get(target))
    for p in passes:
        p.apply(context, module)
        verify_module(module, p.name)


def check(
    builder: GraphBuilder, results: Sequence[SSAValue], *passes: ModulePass, tolerance: float = 0,
    target: str = "x86-64-v4",
) -> ModuleOp:  # fmt: skip
    """The module that ``passes`` make; it computes what it did before, within ``tolerance`` of the largest value."""
    module = builder.module(*results)
    inputs = builder.inputs()
    before = interpret(module, builder.weights, inputs)
    apply(builder, module, passes, target)
    after = interpret(module, builder.weights, inputs)
    for name, expected in before.items():
        assert expected.dtype == after[name].dtype
        if tolerance:
            scale = np.abs(expected[np.isfinite(expected)]).max(initial=1e-30)
            np.testing.assert_allclose(after[name], expected, rtol=0, atol=tolerance * scale, err_msg=str(module))
        else:
            np.testing.assert_array_equal(after[name], expected, err_msg=str(module))
    return module
