"""Operators that are no loop nests: what they compute is a function in C (``runtime/c/mlc_library.h``).

Each becomes a kernel of its own that calls the function, so it is launched, planned, timed and shared out among threads
as every other kernel.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.dims import DimLike, evaluate
from mlc.dialects.evaluate import Array
from mlc.dialects.graph.base import GraphOp
from mlc.dialects.types import element_of, shape_of

COMPUTED = ("f32", "f64", "i32", "i64", "ui64")  # elements that functions compare and add


class LibraryOp(GraphOp, ABC):
    """Calls ``function`` on the operands, the result, and ``integers``."""

    @property
    @abstractmethod
    def function(self) -> str:
        """The name of the C function, without its prefix ``mlc_``."""

    @property
    @abstractmethod
    def integers(self) -> Sequence[DimLike]:
        """What it is told beside the buffers: sizes and choices."""

    @abstractmethod
    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        """The result as NumPy computes it; what the function leaves unspecified is 0."""


def check_tensor(name: str, x: SSAValue, rank: int) -> None:
    """Raises VerifyException unless ``x`` has this rank, and elements that functions compute with."""
    if len(shape_of(x)) != rank or element_of(x) not in COMPUTED:
        raise VerifyException(f"{name}: it takes a tensor of rank {rank} of {', '.join(COMPUTED)}, not {x.type}")


def whole_numbers(dims: Sequence[DimLike], symbols: Mapping[str, int] | None) -> list[int]:
    """What dimensions are for these values of the symbols."""
    return [cast(int, evaluate(d, symbols or {})) for d in dims]
