"""Indexed reads: gathers, sliding windows, tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mlc.dialects.graph import (
    ComputeOp,
)
from mlc.dialects.graph.sizes import sizes_of
from mlc.dialects.semantics.dims import Dim, DimLike, product
from mlc.dialects.semantics.evaluate import evaluate_statement
from mlc.dialects.semantics.expr import Call, Expr, ExprError, Index, element_type, parse, walk
from mlc.dialects.semantics.statement import statement
from mlc.dialects.types import numpy_dtype
from mlc.frontends.build.folding.clamp_indices import clamp_indices, clamped_extents, range_of, static_ranges
from mlc.frontends.build.folding.comparisons import at_least
from mlc.frontends.build.folding.element_checks import check_combines, check_computes
from mlc.frontends.build.folding.fold import is_small
from mlc.frontends.build.folding.prove import implied
from mlc.frontends.build.methods.constants import Constants
from mlc.frontends.build.tensors import Tensor


class Indexing(Constants):
    """Operators whose result is given element by element, by an expression that reads operands at any index."""

    def compute(
        self,
        expr: str,
        xs: Sequence[Tensor],
        shape: Sequence[DimLike],
        reduce: Sequence[DimLike] = (),
        monoid: str | None = None,
    ) -> Tensor:
        """Element (i0, i1, …) of the result is ``expr``, which may read operands at any index (``x0[x1[i0], i1]``).

        Raises:
            ExprError: it reads outside of an operand.
        """
        names = {f"i{n}": d for n, d in enumerate(shape)} | {f"r{n}": d for n, d in enumerate(reduce)}
        expr, xs = self.scalars.read(expr, xs)
        expr = self._in_bounds(expr, xs, names)
        element = check_computes(expr, xs)
        if monoid:
            check_combines(monoid, element)
        concrete = all(x.known is not None and x.known.dtype != object for x in xs)
        if concrete and is_small((*shape, *reduce)):
            try:
                return _computed(expr, xs, shape, reduce, monoid)
            except KeyError:  # the expression reads a symbolic dimension
                pass
        result = self.emit(ComputeOp(expr, self.values(*xs), shape, reduce, monoid), element)
        if monoid is None and element == "i64":
            result.range = range_of(parse(expr), xs, names)
        return result

    def _in_bounds(self, expr: str, xs: Sequence[Tensor], extents: Mapping[str, DimLike]) -> str:
        """``expr`` with reads that stay inside their operands: computed indices are clamped, others get guards."""
        parsed = parse(expr)
        if 0 in extents.values():  # nothing is read for no elements
            return expr
        for index, (low, high), extent in static_ranges(parsed, xs, extents):
            for least, most in ((0, low), (high, extent - 1)):
                if least is None or most is None or self._is_for_elements(most - least, index, extent, extents):
                    continue
                self.refuse_empty(most - least)
                if at_least(most, least):
                    continue
                if at_least(least, most + 1):
                    raise ExprError(f"element {index}, which goes from {low} to {high}, of {extent} elements")
                self.require(most, least)
        for extent, names in clamped_extents(parsed, xs):
            along = [d for name, d in extents.items() if name in names or sizes_of([d])]
            if extent not in along:  # else no element is computed where there is none to read
                self.require_elements(extent, product(along))
        return str(clamp_indices(parsed, xs, extents))

    def _is_for_elements(self, need: DimLike, index: Expr, extent: DimLike, extents: Mapping[str, DimLike]) -> bool:
        """Whether ``need >= 0`` says only that there are elements to read, as it does for a clamped index.

        Then it is required only where the iterators of the index take any value.
        """
        clamped = any(isinstance(node, Call) and node.fn == "min" for node in walk(index))
        if not (clamped and isinstance(need, Dim) and isinstance(extent, Dim) and implied(need, (extent - 1,))):
            return False
        along = [extents[node.name] for node in walk(index) if isinstance(node, Index) and node.name in extents]
        if extent not in along:
            self.require_elements(extent, product(along))
        return True


def _computed(
    expr: str, xs: Sequence[Tensor], shape: Sequence[DimLike], reduce: Sequence[DimLike], monoid: str | None
) -> Tensor:
    element = element_type(parse(expr), [x.element for x in xs]) or "i64"
    result = np.zeros(tuple(shape), numpy_dtype(element))  # type: ignore[type-var]
    names, over = " ".join(f"i{n}" for n in range(len(shape))), " ".join(f"r{n}" for n in range(len(reduce)))
    loops = statement(names, (*shape, *reduce), expr, reduce=over, monoid=monoid)
    evaluate_statement(loops, [x.known for x in xs], result, {})  # type: ignore[misc]
    return Tensor.from_known(result, element)
