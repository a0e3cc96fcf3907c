"""Unification of dimensions: extents that operators require to be equal although the model names them differently.

Exporters leave dimensions symbolic that weights decide: of ``x[batch, unk]`` times a weight [768, 8], ``unk`` is 768.
The import then begins anew with that dimension fixed, so that the artifact takes no other input. Other extents that are
not proved to be equal become a guard: of ``2*((h+1)//2)`` beside ``h``, ``h`` must be a multiple of 2. Run-time
dimensions are checked to be equal at run time.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from mlc.dialects.graph.loop import local_symbols
from mlc.dialects.graph.sizes import sizes_of
from mlc.dialects.semantics.dims import Dim, DimLike, evaluate, floordiv, symbols_of
from mlc.frontends.build.folding.prove import always_zero, never_zero
from mlc.frontends.build.runtime_scalars import values_of
from mlc.frontends.build.tensors import Tensor

if TYPE_CHECKING:
    from mlc.frontends.build.methods.movement import Movement

T = TypeVar("T")

class Fixed(Exception):
    """A dimension ``symbol`` of the inputs has to be ``extent``."""

    def __init__(self, symbol: str, extent: DimLike) -> None:
        super().__init__(f"{symbol} is {extent}")
        self.symbol, self.extent = symbol, extent


def with_fixed_dims(translate: Callable[[dict[str, DimLike]], T], dims: Mapping[str, int]) -> T:
    """Call ``translate`` with the fixed dimensions of inputs, and call it again whenever it finds one more to fix."""
    fixed = dict[str, DimLike](dims)
    while True:
        try:
            return translate(fixed)
        except Fixed as found:
            fixed = {name: evaluate(d, {found.symbol: found.extent}) for name, d in fixed.items()}
            fixed[found.symbol] = found.extent


def unify_dims(
    build: Movement, xs: Sequence[Tensor], names: Sequence[Sequence[Hashable]], exact: Container[Hashable] = ()
) -> list[Tensor]:
    """``xs`` such that dimensions with one name have one extent, or 1 where they are not ``exact``.

    ``names``: of each, None where it may differ.

    Raises:
        Fixed: they are equal only where a dimension of the inputs has one value.
    """
    if not any(isinstance(d, Dim) for x in xs for d in x.shape):
        return list(xs)
    found: dict[Hashable, dict[DimLike, None]] = {}
    for x, own in zip(xs, names, strict=True):
        for name, d in zip(own, x.shape, strict=False):
            counts = name is not None and (d != 1 or name in exact)
            found.setdefault(name, {}).update({d: None} if counts else {})
    one = {name: min(extents, key=_unknowns, default=1) for name, extents in found.items()}
    return [_fitted(build, x, [(one[name], name in exact) for name in own]) for x, own in zip(xs, names, strict=True)]


def _unknowns(d: DimLike) -> tuple[int, bool, int]:
    return len(sizes_of([d])), isinstance(d, Dim), len(str(d))


def _fitted(build: Movement, x: Tensor, extents: Sequence[tuple[DimLike, bool]]) -> Tensor:
    for axis, (extent, exact) in enumerate(extents[: x.rank]):
        if exact or x.shape[axis] != 1 and extent != 1:
            x = with_extent(build, x, axis, extent)
        if not exact and x.shape[axis] != extent:
            _fix_to_one(build, x.shape[axis], extent)
    return x


def _fix_to_one(build: Movement, *extents: DimLike) -> None:
    """Require that one of two extents that are never equal is 1. Raises Fixed where a dimension decides that: b beside
    2*b.
    """
    able = [d for d in extents if isinstance(d, Dim) and not never_zero(d - 1)]
    if len(able) == 1 and 1 not in extents:
        fix(build, able[0] - 1)


def with_extent(build: Movement, x: Tensor, axis: int, extent: DimLike) -> Tensor:
    """``x`` with that extent along ``axis``, which a guard requires; ``x`` unchanged where no guard can.

    Raises:
        Fixed: a dimension of the inputs decides it.
    """
    difference = x.shape[axis] - extent
    if never_zero(difference) or difference == 0:
        return x
    if sizes_of([x.shape[axis], extent]):
        return build.reshape(x, [extent if n == axis else d for n, d in enumerate(x.shape)])
    if not always_zero(difference):
        fix(build, difference)
    build.require_equal(x.shape[axis], extent)
    return build.cut(x, axis, 0, extent)


def with_shape(build: Movement, x: Tensor, shape: Sequence[DimLike]) -> Tensor:
    """``x`` with that shape, which guards require; ``x`` unchanged where no guard can. Raises Fixed, as
    ``with_extent``.
    """
    for axis, extent in enumerate(shape if len(shape) == x.rank else ()):
        x = with_extent(build, x, axis, extent)
    return x


def fix(build: Movement, difference: DimLike) -> None:
    """Raise Fixed where ``difference == 0`` gives a dimension of the inputs its value.

    In a branch, which may not run, nothing is decided.
    """
    if not build.branches and (fixed := solved(difference)) is not None:
        raise fixed


def solved(difference: DimLike) -> Fixed | None:
    """The dimension to which ``difference == 0`` gives a value: n is 7 for ``2*n - 14``. None if there is no such
    dimension.
    """
    if not isinstance(difference, Dim) or values_of([difference]) or local_symbols([difference]):
        return None
    for monomial, c in difference.terms:
        symbol, rest = monomial[0] if monomial else None, difference - Dim.of({monomial: c})
        if isinstance(symbol, str) and len(monomial) == 1 and symbol not in symbols_of([rest]):
            extent = floordiv(-1 * rest, c) if c > 0 else floordiv(rest, -c)
            if c * extent + rest == 0 and _is_extent(extent):
                return Fixed(symbol, extent)
    return None


def _is_extent(value: DimLike) -> bool:
    """Whether a dimension is never negative."""
    return all(c > 0 for _, c in value.terms) if isinstance(value, Dim) else value >= 0
