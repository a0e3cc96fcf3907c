"""Non-affine operators, each of which is a runtime library function in C (``runtime/c/library/mlc_library.h``).

Each becomes a separate kernel that calls the function, so it is launched, planned, timed and partitioned among threads
like every other kernel.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import GraphOp
from mlc.dialects.semantics.dims import DimLike, evaluate
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.types import element_of, shape_of

COMPUTED = ("f32", "f64", "i32", "i64", "ui64")  # element types that the functions support


class LibraryOp(GraphOp, ABC):
    """An operator that calls ``function`` on the operands, the result, and ``integers``."""

    @property
    @abstractmethod
    def function(self) -> str:
        """The name of the C function, without its prefix ``mlc_``."""

    @property
    @abstractmethod
    def integers(self) -> Sequence[DimLike]:
        """The integer arguments after the buffers: extents and options."""

    @abstractmethod
    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        """Return the result by NumPy; elements that the function leaves unspecified are 0."""


def check_tensor(name: str, x: SSAValue, rank: int) -> None:
    """Raise VerifyException unless ``x`` has this rank and a supported element type."""
    if len(shape_of(x)) != rank or element_of(x) not in COMPUTED:
        raise VerifyException(f"{name}: it takes a tensor of rank {rank} of {', '.join(COMPUTED)}, not {x.type}")


def whole_numbers(dims: Sequence[DimLike], symbols: Mapping[str, int] | None) -> list[int]:
    """Return the values of dimensions for given values of the symbols."""
    return [cast(int, evaluate(d, symbols or {})) for d in dims]
