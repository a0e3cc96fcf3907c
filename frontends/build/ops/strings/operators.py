"""Operators on strings: split, case, stop words, matching of regular expressions. Source: ONNX 20."""

from __future__ import annotations

from mlc.dialects.graph import broadcast_shapes
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.types import STRING
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.indexing.gather import gather_at
from mlc.frontends.build.ops.strings.automaton import automaton
from mlc.frontends.build.ops.strings.regex import parse
from mlc.frontends.build.ops.strings.regex_tree import RegexError
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.build.unify_dims import unify_dims, with_extent

PIECES = 1024  # of one string, where the model says no number; memory is planned for as many
CASES = ("NONE", "LOWER", "UPPER")


def _checked(x: Tensor) -> Tensor:
    """``x``, which holds strings. NotSupported where it does not."""
    if x.element != STRING:
        raise NotSupported(f"{x} where it takes strings")
    return x


def concat_strings(build: Builder, a: Tensor, b: Tensor) -> Tensor:
    """The strings of both operands concatenated, broadcast."""
    a, b = unify_dims(build, [_checked(a), _checked(b)], [range(-a.rank, 0), range(-b.rank, 0)])
    shape = broadcast_shapes([a.shape, b.shape])
    return build.string_routine("concat", build.broadcast(a, shape), build.broadcast(b, shape), element=STRING)


def split_strings(build: Builder, x: Tensor, delimiter: str, splits: int) -> tuple[Tensor, Tensor]:
    """[…, most pieces] strings, filled with empty ones, and i64 […] how many there are. ``splits`` -1: any number.

    The run fails where a string has more pieces than ``splits`` or PIECES allows.
    """
    bound = min(splits + 1, PIECES) if splits >= 0 else PIECES
    counts = build.string_routine("pieces", _checked(x), words=(delimiter,), numbers=(splits, bound))
    most = build.scalars.of(build.reduce("max", counts, range(x.rank))).item()
    width = build.dim(build.scalars.from_expr(f"max({most}, 0)"), "the number of pieces", bound)  # 0 of no strings
    pieces = build.string_routine("split", x, after=(width,), words=(delimiter,), numbers=(splits,), element=STRING)
    return pieces, counts


def normalize_strings(build: Builder, x: Tensor, case: str, stop_words: list[str], exact: bool) -> Tensor:
    """The strings [C] or [1, C] that are no stop words, in lower or upper case; one empty string where none is left.

    ``case`` is NONE, LOWER or UPPER; with ``exact`` stop words are compared as they are written.
    """
    x = with_extent(build, x, 0, 1) if _checked(x).rank == 2 else x
    if x.rank not in (1, 2) or (x.rank == 2 and x.shape[0] != 1) or case not in CASES:
        raise NotSupported(f"case_change_action '{case}' of {x}; it takes [C] or [1, C], and NONE, LOWER or UPPER")
    flat = build.reshape(x, x.shape[-1:])
    if stop_words:
        flat = _without(build, flat, build.strings(stop_words), exact)
    if case != "NONE":
        flat = build.string_routine(case.lower(), flat, element=STRING)
    return build.reshape(flat, (*x.shape[:-1], *flat.shape))


def _without(build: Builder, x: Tensor, stop: Tensor, exact: bool) -> Tensor:
    """The elements of a vector that are no stop words; the empty string after them is kept where none is left."""
    count = x.shape[0]
    plain = [x, stop] if exact else [build.string_routine("lower", t, element=STRING) for t in (x, stop)]
    dropped = build.compute("i64(x0[i0] == x1[r0])", plain, (count,), stop.shape, "max")
    left = build.reduce("add", build.map("1 - x0", dropped), [0])
    kept = build.compute(f"where(i0 < {count}, x0[i0], x1[()]) == 0", [_longer(build, dropped), left], (count + 1,))
    return gather_at(build, _longer(build, x), build.nonzero(kept), 0)


def _longer(build: Builder, x: Tensor) -> Tensor:
    """A vector with one more element at its end: a zero or an empty string."""
    more: list[DimLike] = [1]
    return build.concat([x, Tensor.from_known([0], x.element)], 0) if x.known is not None else build.pad(x, [0], more)


def full_match(build: Builder, x: Tensor, pattern: str) -> Tensor:
    """i1: whether the pattern (RE2's syntax) describes all of a string.

    Raises:
        NotSupported: the pattern is not valid, or its automaton is too large.
    """
    try:
        first, table = automaton(parse(pattern))
    except RegexError as e:
        raise NotSupported(f"pattern {pattern!r}: {e}") from e
    return build.string_routine("match", _checked(x), Tensor.from_known(first), Tensor.from_known(table))
