"""The Builder: makes graph operators from tensors, and folds what is known while the module is built.

Every operator of a frontend is written in these few methods. That is why shapes that a model computes (Shape, Gather,
Concat, …) become symbols without a rule for each operator.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Block

from mlc.dialects.graph import (
    NonzeroOp,
    RunCounterOp,
)
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.weights import WeightStore
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.methods.arithmetic import Arithmetic
from mlc.frontends.build.methods.indexing import Indexing
from mlc.frontends.build.methods.routines import Routines
from mlc.frontends.build.runtime_scalars import RuntimeScalars
from mlc.frontends.build.tensors import Stack, Tensor

MAX_ELEMENTS = 1 << 14  # of a sequence: each is an operator of its own


class Builder(Arithmetic, Indexing, Routines):
    """One method for each operator of the graph dialect."""

    def __init__(self, block: Block, weights: WeightStore) -> None:
        super().__init__(block, weights)
        self.scalars = RuntimeScalars(self)
        self.derivatives = False  # whether the module has some

    def nonzero(self, mask: Tensor) -> Tensor:
        """The positions at which a vector of predicates is true, ascending. Their number is a run-time dimension.

        Raises:
            NotSupported: it is not a vector of predicates.
        """
        if mask.element != "i1" or mask.rank != 1:
            raise NotSupported(f"a condition of type {mask}; give a vector of bool")
        if mask.known is not None:
            return Tensor.from_known(np.flatnonzero(mask.known).astype(np.int64))
        return self.emit(NonzeroOp(self.new_size(), self.value(mask)))

    def run_counter(self) -> Tensor:
        """The number of runs before this one, as i64. Random operators mix it in, so that each run draws new
        numbers.
        """
        return self.emit(RunCounterOp())

    def count_random(self) -> int:
        """A new number, which no other random operator of the model has."""
        self.random += 1
        return self.random

    def elements(self, x: Stack) -> list[Tensor]:
        """The elements of a sequence one by one.

        Raises:
            NotSupported: their number is a symbol, or over MAX_ELEMENTS.
        """
        length = x.whole.shape[0]
        if not isinstance(length, int):
            raise NotSupported(f"a sequence of {length} elements; fix that with dims={{name: size}}")
        if length > MAX_ELEMENTS:
            raise NotSupported(f"{length} pieces; at most {MAX_ELEMENTS} are made")
        return [self.element(x, n) for n in range(length)]

    def element(self, x: Stack, n: DimLike) -> Tensor:
        """Element ``n`` of a sequence."""
        return self.reshape(self.cut(x.whole, 0, n, 1), x.whole.shape[1:])
