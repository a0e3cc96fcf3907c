"""SSA values of tensors: weights and constants are made on first use, in each block that reads them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from mlc.dialects.graph import ConcatOp, ConstantOp, ReshapeOp, WeightOp
from mlc.dialects.types import is_narrow, numpy_dtype
from mlc.frontends.build.folding.fold import Array, symbolic
from mlc.frontends.build.folding.literals import choices
from mlc.frontends.build.folding.ratios import FLOATS
from mlc.frontends.build.methods.insertion import Insertion
from mlc.frontends.build.methods.scopes import block_of
from mlc.frontends.build.runtime_scalars import is_traced
from mlc.frontends.build.symbols import value_name
from mlc.frontends.build.tensors import Tensor

INLINE_LIMIT = 8  # elements of a float constant that stays visible in the IR (integers: all that a constant may hold)
CONSTANT_LIMIT = 64
CHOICES = 16  # elements of a symbolic value that one expression selects from


class Constants(Insertion):
    """Operators of tensors that are known, in the weight store, or computed."""

    def named(self, x: Tensor, name: str) -> Tensor:
        """``x``, after its SSA value got the source's ``name`` as its hint. A value that has a hint keeps it."""
        x.hint = x.hint or name
        if x.value is not None and x.value.name_hint is None:
            x.value.name_hint = value_name(x.hint)
        return x

    def value(self, x: Tensor) -> SSAValue:
        """The SSA value of a tensor, made on first use."""
        if x.value is None or (x.known is not None or x.store) and block_of(x.value) is not self.block:
            x.value = self._cloned(x.value) or self._materialise(x)
            if x.hint or x.name:
                x.value.name_hint = value_name(x.hint or x.name)
        return self._captured(x.value, len(self.scopes) - 1)

    def _cloned(self, value: SSAValue | None) -> SSAValue | None:
        """A copy, in this block, of a weight or constant that another block defines."""
        made = value.owner if value is not None else None
        return self._insert(made.clone()) if isinstance(made, WeightOp | ConstantOp) else None

    def _captured(self, value: SSAValue, depth: int) -> SSAValue:
        """The argument by which the scope at that depth reads ``value``."""
        scope = self.scopes[depth]
        if block_of(value) is scope.block:
            return value
        if value not in scope.arguments:
            scope.captured.append(self._captured(value, depth - 1))
            scope.arguments[value] = scope.block.insert_arg(value.type, len(scope.block.args))
        return scope.arguments[value]

    def _materialise(self, x: Tensor) -> SSAValue:
        if x.store is not None:
            entry = x.store()
            return self._insert(WeightOp(entry, self.weights.entry(entry).type))
        assert x.known is not None
        if symbolic([x.known]):
            return self._symbols(x.known, x.element)
        limit = 0 if is_narrow(x.element) else CONSTANT_LIMIT if x.known.dtype.kind in "iub" else INLINE_LIMIT
        if 0 < x.known.size <= limit:
            return self._insert(ConstantOp(x.known))
        entry = self.weights.add(x.name or f"{self.node}.constant", x.known)
        return self._insert(WeightOp(entry, self.weights.entry(entry).type))

    def _symbols(self, array: Array, element: str) -> SSAValue:
        """A runtime tensor of dimensions; long ones in pieces, so that no expression grows deep."""
        if array.size <= CHOICES or len(set(array.flat)) == 1:
            return self._insert(choices(array, element))
        flat = array.reshape(-1)
        pieces = [self._symbols(flat[n : n + CHOICES], element) for n in range(0, flat.size, CHOICES)]
        return self._insert(ReshapeOp(self._insert(ConcatOp(pieces, 0)), array.shape))

    def values(self, *xs: Tensor) -> list[SSAValue]:
        return [self.value(x) for x in xs]

    def constant(self, value: Any, element: str) -> Tensor:
        """A known tensor of a Python number or array."""
        return Tensor.from_known(np.asarray(value, numpy_dtype(element)), element)

    def _traced_from(self, result: Tensor, trace: Callable[[], Array]) -> Tensor:
        """``result``, with ``trace`` as the function that computes its run-time scalars or predicates on demand."""
        if result.known is None and (is_traced(result) or result.element in ("i1", *FLOATS)):
            result.trace = trace
        return result
