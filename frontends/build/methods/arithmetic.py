"""Elementwise operators, contractions, reductions and pooling; computed at once where the operands are known."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.graph import (
    ContractOp,
    ConvOp,
    ConvTransposeOp,
    MapOp,
    PoolOp,
    ReduceOp,
    broadcast_shapes,
)
from mlc.dialects.semantics.dims import product
from mlc.dialects.semantics.expr import Call, element_type, parse, walk
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.clamp_indices import is_within, range_of
from mlc.frontends.build.folding.element_checks import check_combines, check_computes
from mlc.frontends.build.folding.fold import KNOWN_LIMIT, Undecided, fold_expr, fold_reduce
from mlc.frontends.build.folding.literals import inlined
from mlc.frontends.build.methods.movement import Movement
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.build.unify_dims import unify_dims, with_extent


class Arithmetic(Movement):
    """Operators that compute."""

    def map(self, expr: str, *xs: Tensor) -> Tensor:
        """An elementwise expression of x0, x1, … with broadcasting. Known scalars become literals in it.

        Raises:
            NotSupported: it computes in a narrow type.
        """
        element = check_computes(expr, xs)
        xs = tuple(unify_dims(self, xs, [range(-x.rank, 0) for x in xs]))
        if all(x.known is not None for x in xs):
            try:
                return self._folded_map(expr, xs)
            except Undecided:
                pass
        if is_within(expr, xs):
            return xs[0]
        text, rest = inlined(expr, xs)
        result = self.emit(MapOp(text, self.values(*rest)), element)
        if result.element == "i64":
            result.range = range_of(parse(expr), xs, {})
        return self._traced_from(
            result, lambda: fold_expr(parse(expr), [self.scalars.traced(x) for x in xs], result.element, ratios=True)
        )

    def _folded_map(self, expr: str, xs: Sequence[Tensor]) -> Tensor:
        size = product(broadcast_shapes([x.shape for x in xs]))
        element = element_type(parse(expr), [x.element for x in xs])
        if element is None or not isinstance(size, int) or size > KNOWN_LIMIT:
            raise Undecided
        return Tensor.from_known(fold_expr(parse(expr), [x.known for x in xs], element), element)  # type: ignore[misc]

    def cast(self, x: Tensor, element: str) -> Tensor:
        return x if x.element == element else self.map(f"{element}(x0)", x)

    def wide(self, x: Tensor) -> Tensor:
        """``x`` in the precision of sums: f32 for the 16-bit floats."""
        return self.cast(x, "f32") if x.element in ("f16", "bf16") else x

    def formula(self, expr: str, *xs: Tensor) -> Tensor:
        """As ``map``; several steps on 16-bit floats are computed in f32 and rounded once, constants are not."""
        parsed = parse(expr)
        if xs[0].element not in ("f16", "bf16") or sum(isinstance(each, Call) for each in walk(parsed)) < 2:
            return self.map(expr, *xs)
        found = self.map(expr, *map(self.wide, xs))
        return found if found.element == "i1" else self.cast(found, xs[0].element)

    def contract(self, equation: str, a: Tensor, b: Tensor) -> Tensor:
        """Sum of products; 16-bit floats are summed in f32."""
        check_combines("a product", a.element, b.element)
        terms, _, out = equation.partition("->")
        left, right = terms.split(",")
        a, b = unify_dims(self, [a, b], [left, right], exact=(set(left) & set(right)) - set(out))
        wide = ContractOp(equation, self.value(self.wide(a)), self.value(self.wide(b)))
        return self.cast(self.emit(wide), a.element)

    def conv(self, x: Tensor, w: Tensor, strides: Sequence[int], dilations: Sequence[int], groups: int) -> Tensor:
        """Convolution without padding; 16-bit floats are summed in f32."""
        check_combines("a convolution", x.element, w.element)
        if groups > 1 and not isinstance(w.shape[0], int):
            raise NotSupported(f"{w.shape[0]} filters in {groups} groups; fix their number with dims={{name: size}}")
        x = with_extent(self, x, 1, w.shape[1] * groups)
        op = ConvOp(self.value(self.wide(x)), self.value(self.wide(w)), strides, dilations, groups)
        return self.cast(self.emit(op), x.element)

    def conv_transpose(self, x: Tensor, w: Tensor, strides: Sequence[int], low: Sequence[int]) -> Tensor:
        """Transposed convolution of a padded input by a weight in phases."""
        check_combines("a convolution", x.element, w.element)
        return self.emit(ConvTransposeOp(self.value(x), self.value(w), strides, low))

    def reduce(self, fn: str, x: Tensor, axes: Sequence[int], keepdims: bool = False) -> Tensor:
        """Combine along axes (of either sign) by a monoid, in the element type of ``x``."""
        check_combines(fn, x.element)
        axes = sorted({a % x.rank for a in axes}) if x.rank else []
        if x.known is not None:
            try:
                return Tensor.from_known(fold_reduce(fn, x.known, axes, keepdims, x.element), x.element)
            except Undecided:
                pass
        result = self.emit(ReduceOp(fn, self.value(x), axes, keepdims))
        return self._traced_from(result, lambda: fold_reduce(fn, self.scalars.of(x), axes, keepdims, x.element))

    def pool(
        self, fn: str, x: Tensor, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
    ) -> Tensor:
        check_combines(fn, x.element)
        return self.emit(PoolOp(fn, self.value(x), kernel, strides, dilations))
