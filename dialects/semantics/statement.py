"""Statements: a loop nest over a box that writes, or reduces into, one array; the semantics of every affine operator.

``Statement(("m", "n", "k"), (64, 512, 784), (False, False, True), ("m", "n"), "x0[m, k] * x1[k, n]", "add")`` is a
matrix product. The NumPy reference, the fusion and the ``poly.statement`` of an affine operator all follow from its
statements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.semantics.expr import Expr, parse


@dataclass(frozen=True)
class Monoid:
    """An associative, commutative operation with its identity (a function of the dtype)."""

    fn: str
    numpy: Any
    identity: Callable[[np.dtype], Any]


def _lowest(dtype: np.dtype) -> Any:
    if dtype.kind == "b":
        return False
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _highest(dtype: np.dtype) -> Any:
    if dtype.kind == "b":
        return True
    return np.iinfo(dtype).max if dtype.kind in "iu" else np.inf


MONOIDS = {
    "add": Monoid("add", np.add, lambda dtype: 0),
    "mul": Monoid("mul", np.multiply, lambda dtype: 1),
    "max": Monoid("max", np.maximum, _lowest),
    "min": Monoid("min", np.minimum, _highest),
    "and_": Monoid("and_", np.bitwise_and, lambda dtype: dtype.type(-1) if dtype.kind == "i" else _highest(dtype)),
    "or_": Monoid("or_", np.bitwise_or, lambda dtype: 0),
}


@dataclass(frozen=True)
class Statement:
    """A statement: ``out[...] = value`` (or ``monoid=``, from its identity) at each point of the box ``iters`` in ``[0,
    bounds)``.

    ``out`` has one affine expression for each result dimension; ``reduction`` marks the reduced iterators.
    """

    iters: tuple[str, ...]
    bounds: tuple[DimLike, ...]
    reduction: tuple[bool, ...]
    out: tuple[Expr, ...]
    value: Expr
    monoid: str | None = None


def statement(parallel: str, bounds: tuple[DimLike, ...], value: str, *, out: str | None = None,
              reduce: str = "", monoid: str | None = None) -> Statement:  # fmt: skip
    """Parse a statement: ``statement("m n", (64, 512, 784), "x0[m,k]*x1[k,n]", reduce="k", monoid="add")``.

    ``out`` defaults to the parallel iterators; bounds of the reduced iterators follow those of the parallel ones.
    """
    names, reduced = parallel.split(), reduce.split()
    written = [parse(t) for t in (names if out is None else split_commas(out))]
    flags = (False,) * len(names) + (True,) * len(reduced)
    return Statement((*names, *reduced), tuple(bounds), flags, tuple(written), parse(value), monoid)


def split_commas(text: str) -> list[str]:
    return [part.strip() for part in text.split(";")] if text.strip() else []
