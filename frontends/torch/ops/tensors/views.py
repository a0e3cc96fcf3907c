"""Views: another shape, order or element type of the same elements; copies, which are none; extents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlc.dialects.semantics.dims import Dim, DimLike, product
from mlc.frontends.build.ops import casts
from mlc.frontends.build.ops.shapes import reshape as shapes
from mlc.frontends.build.ops.shapes.axes import normalize_axis
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.registry import Call, aten


@aten("alias", "clone", "contiguous", "detach", "lift_fresh_copy", "positive", "_to_copy", "to", "alias_copy")
@aten("lift_fresh", "detach_copy", "_conj", "resolve_conj", "resolve_neg", "prims::convert_element_type")
@aten("prims::view_of", "prims::device_put")
def identity(call: Call, x: Tensor, *_: Any, **__: Any) -> Tensor:
    """A copy, perhaps in another dtype or memory format: values have neither alias nor layout."""
    return x


@aten("copy")
def copy(call: Call, x: Tensor, source: Tensor, non_blocking: bool = False) -> Tensor:
    return expanded(call, call.tensor(source), x.shape)


@aten("view", "reshape", "_unsafe_view", "view_copy", "_reshape_copy", "_reshape_alias")
def reshape(call: Call, x: Tensor, size: Sequence[DimLike], *_: Any) -> Tensor:
    return shapes.reshape(call.build, x, size, zero_copies=False)


@aten("view.dtype")
def bit_cast(call: Call, x: Tensor, dtype: Any) -> Tensor:
    return casts.bit_cast(call.build, x, call.element)


@aten("permute", "permute_copy")
def permute(call: Call, x: Tensor, dims: Sequence[int]) -> Tensor:
    return call.build.transpose(x, [normalize_axis(d, x.rank) for d in dims])


@aten("transpose", "swapaxes")
def transpose(call: Call, x: Tensor, a: int, b: int) -> Tensor:
    perm = list(range(x.rank))
    if perm:
        perm[a], perm[b] = perm[b], perm[a]
    return call.build.transpose(x, perm)


@aten("t", "t_copy")
def matrix_transpose(call: Call, x: Tensor) -> Tensor:
    return call.build.transpose(x, list(reversed(range(x.rank))))


@aten("squeeze", "squeeze_copy")
def squeeze(call: Call, x: Tensor, dim: int | list[int] | None = None) -> Tensor:
    """Dimensions of 1 out of those named, of all where none is; an empty list names none."""
    gone = [] if dim == [] else call.axes(x, dim)
    return call.build.reshape(x, [d for n, d in enumerate(x.shape) if n not in gone or d != 1])


@aten("unsqueeze", "unsqueeze_copy")
def unsqueeze(call: Call, x: Tensor, dim: int) -> Tensor:
    axis = normalize_axis(dim, x.rank + 1)
    return call.build.reshape(x, (*x.shape[:axis], 1, *x.shape[axis:]))


def expanded(call: Call, x: Tensor, size: Sequence[DimLike]) -> Tensor:
    own = (*[1] * (len(size) - x.rank), *x.shape)
    wanted = call.extents([d if isinstance(s, int) and s == -1 else s for s, d in zip(size, own, strict=True)])
    return call.build.broadcast(call.build.reshape(x, own), wanted)


@aten("expand", "expand_copy")
def expand(call: Call, x: Tensor, size: Sequence[DimLike], *, implicit: bool = False) -> Tensor:
    return expanded(call, x, size)


@aten("sym_size", "sym_numel")
def size_of(call: Call, x: Tensor, dim: int | None = None) -> Dim | int:
    return product(x.shape) if dim is None else x.shape[dim]
