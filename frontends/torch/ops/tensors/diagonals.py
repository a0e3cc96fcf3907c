"""Diagonals of two dimensions of a tensor, read and replaced."""

from __future__ import annotations

from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.shapes.axes import normalize_axis
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.registry import Call, aten


@aten("diagonal", "diagonal_copy")
def diagonal(call: Call, x: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The elements with positions n and n + ``offset`` along two dimensions; n is the last dimension."""
    a, b = normalize_axis(dim1, x.rank), normalize_axis(dim2, x.rank)
    rest = [n for n in range(x.rank) if n not in (a, b)]
    size = call.node.meta["val"].shape[-1]
    if not isinstance(size, int):
        raise NotSupported("a diagonal of symbolic length")
    last, moved = f"i{len(rest)}", {n: f"i{k}" for k, n in enumerate(rest)}
    moved |= {a: f"{last} + {max(-offset, 0)}", b: f"{last} + {max(offset, 0)}"}
    read = ", ".join(moved[n] for n in range(x.rank))
    return call.build.compute(f"x0[{read}]", [x], [*(x.shape[n] for n in rest), size])


@aten("diagonal_scatter")
def diagonal_scatter(
    call: Call, x: Tensor, source: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """``x`` with a diagonal replaced."""
    a, b = normalize_axis(dim1, x.rank), normalize_axis(dim2, x.rank)
    names = [f"i{n}" for n in range(x.rank)]
    rest = [name for n, name in enumerate(names) if n not in (a, b)]
    if source.shape[-1] == 0:
        return x
    at = f"min(max(i{a} - {max(-offset, 0)}, 0), ({source.shape[-1]}) - 1)"
    text = f"where(i{b} - i{a} == {offset}, x1[{', '.join([*rest, at])}], x0[{', '.join(names)}])"
    return call.build.compute(text, [x, call.tensor(source)], x.shape)
