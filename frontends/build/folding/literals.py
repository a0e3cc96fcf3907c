"""Values known at import, as literals of scalar expressions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from mlc.dialects.graph import ComputeOp
from mlc.dialects.semantics.dims import Dim
from mlc.dialects.semantics.expr import element_type, parse
from mlc.frontends.build.folding.fold import Array
from mlc.frontends.build.tensors import Tensor

_OPERAND = re.compile(r"\bx\d+\b")


def choices(array: Array, element: str) -> ComputeOp:
    """Dimensions as a tensor: one choice by position (or the same everywhere)."""
    flat = [v if isinstance(v, Dim) else int(v) for v in array.flat]
    if len(set(flat)) == 1:
        flat = flat[:1]
    position = "0"
    for n, d in enumerate(array.shape):
        position = f"({position})*{d} + i{n}"
    text = f"i64({flat[-1]})"
    for n, v in reversed(list(enumerate(flat[:-1]))):
        text = f"where({position} == {n}, i64({v}), {text})"
    return ComputeOp(text if element == "i64" else f"{element}({text})", [], array.shape)


def literal(value: Any) -> str:
    """A number as it is written in scalar expressions."""
    value = value.item() if isinstance(value, np.generic | np.ndarray) else value
    return f"({value!r})" if isinstance(value, bool | int | float) else f"({float(value)!r})"


def inlined(expr: str, xs: Sequence[Tensor]) -> tuple[str, list[Tensor]]:
    """Write known scalars into the expression; operands that stay are numbered anew."""
    rank = max((x.rank for x in xs if not _is_literal(x)), default=0)
    constant = {n for n, x in enumerate(xs) if _is_literal(x) and x.rank <= rank}
    if not constant or len(constant) == len(xs) or "as_" in expr:  # the bits of a number without a type are unknown
        return expr, list(xs)
    kept = [n for n in range(len(xs)) if n not in constant]
    names = {f"x{n}": f"x{position}" for position, n in enumerate(kept)}
    names |= {f"x{n}": literal(xs[n].known) for n in constant}
    text = _OPERAND.sub(lambda m: names[m.group()], expr)
    typed = element_type(parse(text), [xs[n].element for n in kept])
    if typed != element_type(parse(expr), [x.element for x in xs]):
        return expr, list(xs)
    return text, [xs[n] for n in kept]


def _is_literal(x: Tensor) -> bool:
    return x.known is not None and x.known.dtype != object and x.known.size == 1
