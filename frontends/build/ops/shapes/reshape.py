"""Reshape and broadcast to shapes that may hold run-time scalars. Source: ONNX Reshape 14, Expand 13."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.semantics.dims import DimLike, dim_max, equality, floordiv, pretty, product
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.comparisons import at_least
from mlc.frontends.build.folding.prove import never_zero
from mlc.frontends.build.runtime_scalars import Scalar, any_runtime, is_runtime
from mlc.frontends.build.tensors import Tensor


def reshape(build: Builder, x: Tensor, shape: Sequence[DimLike], zero_copies: bool = True) -> Tensor:
    """``x`` with another shape: -1 is inferred from the elements, 0 (if ``zero_copies``) is the extent of ``x`` there.

    Run-time scalars of the shape are compared with 0 and -1 at run time.
    """
    if any_runtime(shape):
        return _runtime_reshape(build, x, shape, zero_copies)
    if zero_copies:
        shape = [x.shape[n] if d == 0 and n < x.rank else d for n, d in enumerate(shape)]
    return build.reshape(x, inferred(x.shape, shape))


def inferred(shape: Sequence[DimLike], wanted: Sequence[DimLike]) -> list[DimLike]:
    """``wanted`` with its -1 inferred from the number of elements of ``shape``."""
    _check_one_unknown(wanted)
    rest = product(d for d in wanted if d != -1)
    return [(floordiv(product(shape), rest) if rest != 0 else 0) if d == -1 else d for d in wanted]


def _check_one_unknown(wanted: Sequence[DimLike]) -> None:
    if list(wanted).count(-1) > 1:
        raise NotSupported(f"a shape with two unknown dimensions: {list(wanted)}")


def _runtime_reshape(build: Builder, x: Tensor, wanted: Sequence[DimLike], zero_copies: bool) -> Tensor:
    total, scalars = product(x.shape), build.scalars
    copied = [x.shape[n] if zero_copies and n < x.rank else 0 for n in range(len(wanted))]
    extents = [_without_zero(d, extent) for d, extent in zip(wanted, copied, strict=True)]
    missing = [n for n, d in enumerate(extents) if d == -1 or is_runtime(d)]
    if len([d for d in extents if isinstance(d, int) and d == -1]) > 1:
        raise NotSupported(f"a shape with two unknown dimensions: {list(wanted)}")
    rest = product(d for d in extents if not isinstance(d, str) and d != -1 and not is_runtime(d))
    if len(missing) == 1 and at_least(rest, 1):  # there is no choice
        n, shape = missing[0], list(extents)
        shape[n] = floordiv(total, rest)
        agrees = f"({extents[n]} == -1) | ({extents[n]} == {shape[n]})"
        build.check(f"where({agrees}, 0, -1)", f"the shape does not have the {total} elements of {x}")
        return build.reshape(x, shape)  # type: ignore[arg-type]
    found = [scalars.from_expr(f"{d}") if isinstance(d, str) else d for d in extents]
    others = scalars.from_expr(f"abs({product(found)})")
    sizes: list[Scalar] = [d if n not in missing else _runtime_inferred(d, total, others) for n, d in enumerate(found)]
    return build.reshape(x, [build.dim(s, f"dimension {n} of the shape") for n, s in enumerate(sizes)])


def _without_zero(d: DimLike, extent: DimLike) -> Scalar:
    """A wanted dimension, in which 0 stands for ``extent``."""
    if not is_runtime(d) or extent == 0:
        return extent if d == 0 else d
    return f"where(({d}) == 0, {extent}, {d})"


def _runtime_inferred(d: DimLike, total: DimLike, others: DimLike) -> Scalar:
    """A dimension where -1 is inferred from ``total`` elements; ``others``: the product of the others."""
    left = f"({total}) // max({others}, 1)"
    return left if d == -1 else d if at_least(d, 0) else f"where(({d}) == -1, {left}, {d})"


def expand(build: Builder, x: Tensor, wanted: Sequence[DimLike]) -> Tensor:
    """Broadcast ``x`` to the common shape of its own and ``wanted``; 1 there leaves a dimension as it is."""
    rank = max(x.rank, len(wanted))
    left, right = [(*[1] * (rank - len(s)), *s) for s in (x.shape, wanted)]
    shape = [_common_extent(build, n, d, w) for n, (d, w) in enumerate(zip(left, right, strict=True))]
    reads = [_broadcast_index(n, d, s) for n, (d, s) in enumerate(zip(left, shape, strict=True))]
    if not any(r.startswith("min") for r in reads):
        return build.broadcast(x, shape)
    return build.compute(f"x0[{', '.join(reads[rank - x.rank :])}]", [x], shape)


def _broadcast_index(n: int, d: DimLike, common: DimLike) -> str:
    """The index at which dimension ``n`` is read. Its extent ``d`` is 1 or the common one, which may be known only at
    run time.
    """
    return "0" if d == 1 else f"i{n}" if d == common else f"min(i{n}, ({d}) - 1)"


def _common_extent(build: Builder, n: int, d: DimLike, wanted: DimLike) -> DimLike:
    """The common extent of a dimension and a wanted one."""
    what = f"dimension {n} of the shape, beside {d},"
    if not is_runtime(wanted):
        return _guarded_extent(build, d, wanted)
    if d == 1:
        return build.dim(wanted, what)
    same = f"({wanted} == 1) | ({wanted} == {d})"
    if isinstance(d, int):
        build.check(f"where({same}, 0, -1)", f"{what} is neither 1 nor {d}")
        return d
    return build.dim(f"where({same}, {d}, where(({d}) == 1, {wanted}, -1))", what)


def _guarded_extent(build: Builder, d: DimLike, wanted: DimLike) -> DimLike:
    """The common extent where sizes of inputs decide it. Of two open ones it is ``d``, so that what follows keeps plain
    reads, and a guard refuses the sizes at which it would be the other one; unless it is that one at all sizes.
    """
    if 1 in (d, wanted) or d == wanted:
        return d if wanted == 1 else wanted
    if not (isinstance(wanted, int) or never_zero(wanted - 1) and never_zero(wanted - d)):
        d, wanted = wanted, d
    _require_one_or(build, d, wanted)
    return wanted


def _require_one_or(build: Builder, d: DimLike, other: DimLike) -> None:
    """The model is only right where ``d`` is 1 or ``other``, which both may be 0."""
    guard = dim_max(equality(d - 1), equality(d - other))
    if isinstance(guard, int) and guard < 0:
        raise NotSupported(f"an extent of {pretty(d)} where 1 or {pretty(other)} is needed")
    build.require(guard, 0)
