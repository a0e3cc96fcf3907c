"""Random small kernels, one family a schedule rule, with extents of 1, primes and no multiples of any tile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

import numpy as np
from graph_checks import Array, GraphBuilder
from xdsl.ir import SSAValue

from mlc.dialects.graph import (
    BroadcastOp,
    ComputeOp,
    ConcatOp,
    ContractOp,
    ConvOp,
    MapOp,
    PadOp,
    PoolOp,
    ReduceOp,
    SliceOp,
    TransposeOp,
)
from mlc.dialects.semantics.dims import DimLike, parse_dim
from mlc.dialects.types import is_float, shape_of

EXTENTS = (1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 33, 40)
LAYOUTS = (
    ("mk,kn->mn", "mk,nk->mn", "km,kn->mn", "km,nk->mn", "mk,kn->nm", "k,kn->n", "mk,k->m", "bk,bk->b", "m,n->mn")
    + ("bmk,bkn->bmn", "bmk,bnk->bmn", "bmk,kn->bmn", "bhmk,bhnk->bhmn", "bmhk,bnhk->bhmn", "bmk,bmn->kn")
)  # fmt: skip
MONOIDS = ("add", "mul", "max", "min")
ELEMENTS = ("f32", "f32", "f64", "f16", "i32", "i64", "i8", "ui8", "i1")


class Builder(GraphBuilder):
    """Gives small integers all their values; i64, which may be an index, stays 0 or 1."""

    def _input(self, value: SSAValue, extents: Mapping[str, int]) -> Array:
        array = super()._input(value, extents)
        if array.dtype.kind not in "iu" or array.dtype == np.int64:
            return array
        limits = np.iinfo(array.dtype)
        return self.random.integers(max(limits.min, -1000), min(limits.max, 1000), array.shape, array.dtype, True)


def expressions(element: str) -> list[str]:
    """Functions of two operands of a type, whatever their result."""
    exprs = ["max(x0, x1)", "where(lt(x0, x1), x0, x1)", "f32(x0) + f32(x1)", "ge(x0, x1)", "i64(x0) - i64(x1)"]
    exprs += ["x0 * x1 + x0", "x0 - x1", "abs(x0) + x1"] if element != "i1" else ["or_(x0, not_(x1))"]
    return exprs + (["exp(x0) / (1.0 + abs(x1))", "floor(x0) + erf(x1)"] if is_float(element) else [])


def monoids(element: str) -> tuple[str, ...]:
    """Those whose result does not depend on the order much, and does not overflow."""
    return ("max", "min") if element in ("i1", "f16") else MONOIDS


class Kernels:
    """Adds kernels to a builder; with ``symbols``, some extents are those names instead of numbers."""

    def __init__(self, builder: GraphBuilder, seed: int, symbols: tuple[str, ...] = ()) -> None:
        self.builder, self.random, self.symbols = builder, Random(seed), symbols

    def dim(self, extents: tuple[int, ...] = EXTENTS) -> DimLike:
        if self.symbols and self.random.random() < 0.4:
            return parse_dim(self.random.choice(self.symbols))
        return self.random.choice(extents)

    def input(self, *shape: DimLike, element: str = "f32") -> SSAValue:
        return self.builder.input(*shape, element=element)

    def contraction(self) -> SSAValue:
        lhs, rhs, out = self.random.choice(LAYOUTS).replace("->", ",").split(",")
        extents = {letter: self.dim() for letter in lhs + rhs}
        weight = all(isinstance(extents[x], int) for x in rhs) and self.random.random() < 0.5
        shape = [extents[x] for x in rhs]
        b = self.builder.weight(*shape) if weight else self.input(*shape)  # type: ignore[arg-type]
        value = self.builder.add(ContractOp(f"{lhs},{rhs}->{out}", self.input(*(extents[x] for x in lhs)), b))
        return self.epilogue(value)

    def epilogue(self, value: SSAValue) -> SSAValue:
        """Nothing, or a bias and a function of it."""
        if self.random.random() < 0.4 or not shape_of(value):
            return value
        bias = self.input(*(1 if self.random.random() < 0.3 else d for d in shape_of(value)[-1:]))
        expr = self.random.choice(("max(x0 + x1, 0)", "x0 * sigmoid(x0 + x1)", "tanh(x0) + x1"))
        return self.builder.add(MapOp(expr, [value, bias]))

    def convolution(self) -> SSAValue:
        groups = self.random.choice((1, 1, 2, 16))
        inner, outer = self.random.choice(((3, 5), (16, 16), (16, 24))) if groups == 1 else (16, 16)
        kernel, stride, dilation = self.random.choice((1, 3)), self.random.choice((1, 2)), self.random.choice((1, 2))
        image = self.input(self.dim((1, 2)), inner, 9, self.random.choice((7, 12, 17)))
        weight = self.builder.weight(outer, inner // groups, kernel, kernel)
        return self.epilogue_of_channels(self.builder.add(ConvOp(image, weight, [stride] * 2, [dilation] * 2, groups)))

    def epilogue_of_channels(self, value: SSAValue) -> SSAValue:
        channels = shape_of(value)[1]
        assert isinstance(channels, int)
        return self.builder.add(MapOp("max(x0 + x1, 0)", [value, self.builder.weight(channels, 1, 1)]))

    def window(self) -> SSAValue:
        image = self.input(self.dim((1, 3)), self.random.choice((3, 16)), 11, self.random.choice((5, 18)))
        kernel, strides = self.random.choice((((2, 3), (2, 1)), ((3, 3), (2, 2)), ((1, 2), (1, 2))))
        return self.builder.add(PoolOp(self.random.choice(("add", "max")), image, kernel, strides, (1, 1)))

    def leading(self) -> SSAValue:
        """A reduction over the leading axis."""
        return self.builder.add(ReduceOp(self.random.choice(MONOIDS), self.input(self.dim(), self.dim()), [0]))

    def rows(self) -> SSAValue:
        x = self.input(self.dim(), self.dim(), self.random.choice(EXTENTS))
        if self.random.random() < 0.5:
            peak = self.builder.add(ReduceOp("max", x, [-1], True))
            e = self.builder.add(MapOp("exp(x0 - x1)", [x, peak]))
            return self.builder.add(MapOp("x0 / x1", [e, self.builder.add(ReduceOp("add", e, [-1], True))]))
        total = self.builder.add(ReduceOp("add", x, [-1], True))
        centred = self.builder.add(MapOp(f"x0 - x1 * {1 / 7}", [x, total]))
        square = self.builder.add(ReduceOp("add", self.builder.add(MapOp("x0 * x0", [centred])), [-1], True))
        return self.builder.add(MapOp("x0 * rsqrt(x1 + 1.0)", [centred, square]))

    def reduction(self) -> SSAValue:
        element = self.random.choice(ELEMENTS)
        x = self.input(self.dim(), self.dim(), self.random.choice(EXTENTS), element=element)
        return self.builder.add(ReduceOp(self.random.choice(monoids(element)), x, [-1], self.random.random() < 0.5))

    def elementwise(self) -> SSAValue:
        element, shape = self.random.choice(ELEMENTS), [self.dim() for _ in range(self.random.randint(0, 4))]
        x = self.input(*shape, element=element)
        y = self.input(*(1 if self.random.random() < 0.3 else d for d in shape), element=element)
        return self.builder.add(MapOp(self.random.choice(expressions(element)), [x, y]))

    def movement(self) -> SSAValue:
        element = self.random.choice(ELEMENTS)
        shape = [self.dim(EXTENTS[1:]) for _ in range(3)]
        x = self.input(*shape, element=element)
        match self.random.randrange(5):
            case 0:
                return self.builder.add(TransposeOp(x, self.random.sample(range(3), 3)))
            case 1:
                return self.builder.add(BroadcastOp(x, (self.dim(), *shape)))
            case 2:
                axis = self.random.randrange(3)
                other = [self.dim() if n == axis else d for n, d in enumerate(shape)]
                return self.builder.add(ConcatOp([x, self.input(*other, element=element), x], axis))
            case 3:
                low, high = ([self.random.randrange(4) for _ in shape] for _ in range(2))
                return self.builder.add(PadOp(x, low, high, "1", [self.random.randrange(3) for _ in shape]))
        return self.builder.add(SliceOp(x, [shape[0] - 1, 0, 1], [shape[0], shape[1], shape[2] - 1], [-1, 1, 1]))

    def gather(self) -> SSAValue:
        rows, columns, count = self.random.choice(EXTENTS[1:]), self.dim(), self.dim()
        table, ids = self.input(rows, columns, element=self.random.choice(ELEMENTS)), self.input(count, element="i64")
        return self.builder.add(ComputeOp("x0[x1[i0], i1]", [table, ids], [count, columns]))

    def diagonal(self) -> SSAValue:
        """Two statements that must run one after the other: every element is made of two results of a reduction."""
        n = self.random.choice(EXTENTS)
        total = self.builder.add(ReduceOp("add", self.input(n, self.dim()), [-1]))
        return self.builder.add(ComputeOp("x0[i1] + x0[i0] * x0[i1]", [total], [n, n]))

    def index(self) -> SSAValue:
        n, m = self.dim(), self.dim()
        return self.builder.add(ComputeOp("x0[i0, i1] * f32(i1 - i0)", [self.input(n, m)], [n, m]))

    def families(self) -> dict[str, Callable[[], SSAValue]]:
        own = (
            self.contraction,
            self.convolution,
            self.window,
            self.leading,
            self.rows,
            self.reduction,
            self.elementwise,
        )
        return {f.__name__: f for f in (*own, self.movement, self.gather, self.diagonal, self.index)}

    def add(self, times: int) -> list[SSAValue]:
        """Results of ``times`` kernels of each family, and of one that has each symbol as a dimension."""
        symbols = self.input(*(parse_dim(s) for s in self.symbols))
        first = self.builder.add(MapOp("exp(x0)", [symbols]))
        return [first, *(make() for _ in range(times) for make in self.families().values())]
