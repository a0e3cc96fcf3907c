"""Operators on texts: StringConcat, StringSplit, StringNormalizer, RegexFullMatch; casts from and to texts."""

from __future__ import annotations

from mlc.dialects.dims import DimLike
from mlc.dialects.graph import broadcast_shapes
from mlc.dialects.types import TEXT, is_float, is_narrow
from mlc.frontends.onnx.automaton import automaton
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.gather import gathered
from mlc.frontends.onnx.regex import RegexError, parse
from mlc.frontends.onnx.tensors import Tensor

PIECES = 1024  # of one text, where the model says no number; memory is planned for as many
CASES = ("NONE", "LOWER", "UPPER")


def check_text(x: Tensor) -> Tensor:
    """``x``, which holds texts. NotSupported where it does not."""
    if x.element != TEXT:
        raise NotSupported(f"{x} where it takes texts")
    return x


@onnx_op("StringConcat", since=20)
def string_concat(node: Node) -> Tensor:
    """The texts of both operands one behind the other, broadcast (ONNX StringConcat 20)."""
    a, b = check_text(node[0]), check_text(node[1])
    shape = broadcast_shapes([a.shape, b.shape])
    return node.build.text("concat", node.build.broadcast(a, shape), node.build.broadcast(b, shape), element=TEXT)


@onnx_op("StringSplit", since=20)
def string_split(node: Node) -> tuple[Tensor, Tensor]:
    """[…, most pieces] texts, filled with empty ones, and i64 […] how many there are (ONNX StringSplit 20).

    The run fails where a text has more pieces than the model's ``maxsplit`` or PIECES allows.
    """
    x, build = check_text(node[0]), node.build
    words, splits = (node.attr("delimiter", ""),), node.attr("maxsplit", -1)
    bound = min(splits + 1, PIECES) if splits >= 0 else PIECES
    counts = build.text("pieces", x, words=words, numbers=(splits, bound))
    most = build.numbers.of(build.reduce("max", counts, range(x.rank))).item()
    width = node.size(build.numbers.number(f"max({most}, 0)"), "the number of pieces", bound)  # no text has no pieces
    return build.text("split", x, behind=(width,), words=words, numbers=(splits,), element=TEXT), counts


@onnx_op("StringNormalizer", since=10)
def string_normalizer(node: Node) -> Tensor:
    """The texts [C] or [1, C] that are no stop words, in lower or upper case; one empty text where none is left.

    ``locale`` changes nothing: letters are those of Unicode everywhere (ONNX StringNormalizer 10).
    """
    x, build, stop = check_text(node[0]), node.build, node.attr("stopwords", None) or []
    case = node.attr("case_change_action", "NONE")
    if x.rank not in (1, 2) or (x.rank == 2 and x.shape[0] != 1) or case not in CASES:
        raise NotSupported(f"case_change_action '{case}' of {x}; it takes [C] or [1, C], and NONE, LOWER or UPPER")
    flat = build.reshape(x, x.shape[-1:])
    if stop:
        flat = _without(build, flat, build.words(stop), node.flag("is_case_sensitive", 0))
    if case != "NONE":
        flat = build.text(case.lower(), flat, element=TEXT)
    return build.reshape(flat, (*x.shape[:-1], *flat.shape))


def _without(build: Builder, x: Tensor, stop: Tensor, exact: bool) -> Tensor:
    """The elements of a vector that are no stop words; behind them stands an empty text, which is for none."""
    count, plain = x.shape[0], [x, stop] if exact else [build.text("lower", t, element=TEXT) for t in (x, stop)]
    dropped = build.compute("i64(x0[i0] == x1[r0])", plain, (count,), stop.shape, "max")
    left = build.reduce("add", build.map("1 - x0", dropped), [0])
    kept = build.compute(f"where(i0 < {count}, x0[i0], x1[()]) == 0", [_longer(build, dropped), left], (count + 1,))
    return gathered(build, _longer(build, x), build.positions(kept), 0)


def _longer(build: Builder, x: Tensor) -> Tensor:
    """A vector with a zero, or an empty text, behind it."""
    more: list[DimLike] = [1]
    return build.concat([x, Tensor.from_known([0], x.element)], 0) if x.known is not None else build.pad(x, [0], more)


@onnx_op("RegexFullMatch", since=20)
def regex_full_match(node: Node) -> Tensor:
    """i1: whether the pattern (RE2) describes all of a text (ONNX RegexFullMatch 20)."""
    pattern, build = node.attr("pattern"), node.build
    try:
        first, table = automaton(parse(pattern))
    except RegexError as e:
        raise NotSupported(f"pattern {pattern!r}: {e}") from e
    return build.text("match", check_text(node[0]), Tensor.from_known(first), Tensor.from_known(table))


def from_text(build: Builder, x: Tensor, element: str) -> Tensor:
    """Texts as numbers; the run fails where one is none."""
    if element == TEXT:
        return x
    real = is_float(element) or is_narrow(element) or element == "i1"
    return build.cast(build.text("to_f64" if real else "to_i64", x), element)


def to_text(build: Builder, x: Tensor) -> Tensor:
    """Numbers as texts: whole ones in full, f32 with 8 digits, as in onnxruntime, and f64 with 17, which tell it."""
    wide = x.element if x.element in ("f64", "ui64") else "f32" if x.element[0] in "fb" else "i64"
    return build.text(f"of_{wide}", build.cast(x, wide), element=TEXT)
