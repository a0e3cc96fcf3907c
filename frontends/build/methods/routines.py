"""Strings and other runtime library functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlc.dialects.graph import (
    RoutineOp,
)
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.semantics.routines import ROUTINES, Given
from mlc.dialects.types import STRING
from mlc.frontends.build.folding.fold import is_small
from mlc.frontends.build.methods.constants import Constants
from mlc.frontends.build.tensors import Tensor


class Routines(Constants):
    """Calls of runtime library functions, evaluated at once where the operands are known."""

    def strings(self, strings: Any) -> Tensor:
        """A known tensor of strings."""
        return Tensor.from_known(self.string_table.numbers(strings), STRING)

    def string_routine(
        self, fn: str, *xs: Tensor, after: Sequence[DimLike] = (), element: str | None = None, **how: Any
    ) -> Tensor:
        """A routine on strings; ``element`` is STRING where it makes strings.

        The result has the shape of the first operand and, after that, ``after``.
        """
        return self.routine(f"string.{fn}", xs, (*xs[0].shape, *after), element=element, **how)

    def routine(
        self,
        fn: str,
        xs: Sequence[Tensor],
        shape: Sequence[DimLike],
        words: Sequence[str] = (),
        numbers: Sequence[int] = (),
        element: str | None = None,
    ) -> Tensor:
        """Call a routine of ``ROUTINES``."""
        if all(x.known is not None and x.known.dtype != object for x in xs) and is_small(shape):
            given = Given(self.string_table, tuple(words), tuple(numbers), tuple(shape))  # type: ignore[arg-type]
            known = ROUTINES[fn].meaning(given, *(x.known for x in xs))
            return Tensor.from_known(known, element or ROUTINES[fn].result)
        return self.emit(RoutineOp(fn, self.values(*xs), shape, words, numbers), element)
