"""Values of names in a graph: tensors, sequences as lists of tensors, and stacked sequences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mlc.frontends.build.tensors import Stack, Tensor


def tensors_of(a: Any, b: Any) -> Iterator[tuple[Any, Any]]:
    """The tensors of two values, pair by pair. Values of other kinds are paired as they are."""
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        yield from zip(a, b, strict=True)
    elif isinstance(a, Stack) and isinstance(b, Stack):
        yield a.whole, b.whole
    elif a is not None or b is not None:
        yield a, b


def alike(value: Any, tensors: list[Tensor]) -> Any:
    """A value of the same kind as ``value``, made of these tensors."""
    if isinstance(value, list):
        return tensors
    if isinstance(value, Stack):
        return Stack(tensors[0])
    return tensors[0] if tensors else None
