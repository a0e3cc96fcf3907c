"""Element types of torch, and the promotion of operands."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from mlc.dialects.types import numpy_dtype
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.tensors import Tensor

ELEMENT_OF_TORCH: dict[torch.dtype, str] = {
    torch.float32: "f32",
    torch.float64: "f64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.bool: "i1",
    torch.int8: "i8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.uint8: "ui8",
    torch.uint16: "ui16",
    torch.uint32: "ui32",
    torch.uint64: "ui64",
}
TORCH_OF_ELEMENT = {element: dtype for dtype, element in ELEMENT_OF_TORCH.items()}


@dataclass(frozen=True)
class Complex:
    """A complex tensor: its real and its imaginary part, of one shape and element."""

    re: Tensor
    im: Tensor

    def __iter__(self) -> Iterator[Tensor]:
        return iter((self.re, self.im))


def element_of_torch(dtype: torch.dtype) -> str:
    """The element name of a torch dtype.

    Raises:
        NotSupported: complex numbers, quantized and 8-bit types.
    """
    if dtype not in ELEMENT_OF_TORCH:
        raise NotSupported(f"tensors of {str(dtype).removeprefix('torch.')}")
    return ELEMENT_OF_TORCH[dtype]


def common_element(xs: Sequence[Any]) -> str:
    """The element that operands are promoted to: tensors with dimensions count before those without, and before
    numbers (``torch.result_type``)."""
    return functools.reduce(_promoted, xs[1:], xs[0]).element


def _promoted(a: Any, b: Any) -> Tensor:
    dtype = torch.result_type(_sample(a), _sample(b))
    rank = max(x.rank if isinstance(x, Tensor) else 0 for x in (a, b))
    return Tensor(element_of_torch(dtype), (1,) * rank)


def _sample(x: Any) -> Any:
    if isinstance(x, Tensor):
        return torch.empty((1,) * min(x.rank, 1), dtype=TORCH_OF_ELEMENT[x.element], device="meta")
    return x if isinstance(x, bool | int | float) else 1


def array_of(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    """The tensor's memory as an array, not copied where it is dense; of complex numbers their parts [.., 2]."""
    if tensor._is_zerotensor():  # of a derivative that is 0, without memory
        tensor = torch.zeros(tensor.shape, dtype=tensor.dtype)
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.detach().resolve_conj())
    tensor = tensor.resolve_neg()
    plain, dtype = tensor.detach().cpu(), numpy_dtype(element_of_torch(tensor.dtype))
    if plain.dtype == torch.bfloat16:
        return np.asarray(plain.contiguous().view(torch.int16).numpy()).view(dtype)
    return np.asarray(plain.numpy())
