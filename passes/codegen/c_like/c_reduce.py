"""Reduction of the lanes of a value as one C expression: vectors of one width are combined by halves, then the lanes of
the last one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from mlc.passes.codegen.c_like.c_ops import expression
from mlc.passes.codegen.c_like.c_types import TRANSPOSABLE, Chunk, CTile, Layout, vector_name

SCALAR = Chunk(0, 1, 1)
COMBINE = {
    "add": "arith.addf", "mul": "arith.mulf", "maximumf": "arith.maximumf", "minimumf": "arith.minimumf",
    "maxsi": "arith.maxsi", "minsi": "arith.minsi", "maxui": "arith.maxui", "minui": "arith.minui", "and": "arith.andi",
    "or": "arith.ori",
}  # fmt: skip
_FOLDS = {
    "add": "add", "mul": "mul", "maximumf": "maximum", "minimumf": "minimum", "maxsi": "maximum", "minsi": "minimum",
}  # fmt: skip
_NEUTRAL = {"add": "0", "mul": "1"}  # a maximum or minimum uses one lane twice instead


def reduction(kind: str, tile: CTile) -> str:
    """Return C for the combination of all valid lanes of ``tile``."""
    name = tile.layout.element
    chunks = [tile.layout.chunks[c] for _, c in tile.layout.positions()]
    variables = list(zip(tile.names, chunks, strict=True))
    parts = []
    for width, group in itertools.groupby(variables, key=lambda variable: variable[1].width):
        if kind in _FOLDS and name not in ("i1", "f16", "bf16") and width > 1:
            whole = Chunk(0, width, width)
            joined = _halves(kind, [_filled(kind, text, name, c) for text, c in group], name, whole)
            parts.append(f"mlc_reduce_{_FOLDS[kind]}_{vector_name(name, width)}({joined})")
        else:
            parts += [lane for text, c in group for lane in _lanes(text, name, c)]
    return _halves(kind, parts, name, SCALAR)


def row(tile: CTile, leading: tuple[int, ...]) -> CTile:
    """Return the variables of a value at ``leading``, as a value of rank 1."""
    shape = tile.layout
    names = [tile.at(leading, c) for c in range(len(shape.chunks))]
    return CTile(Layout(shape.element, shape.shape[-1:], shape.chunks), tuple(names))


def row_vectors(kind: str, tile: CTile, rows: Sequence[tuple[int, ...]], chunk: Chunk) -> list[str] | None:
    """Return one vector for each of ``rows``, with as many lanes as ``chunk``, into which the row's lanes are combined;
    None if rows cannot exchange lanes."""
    name = tile.layout.element
    narrow = any(each.width == 1 for each in (chunk, *tile.layout.chunks))  # a number is no vector that could be joined
    if f"{name}x16" not in TRANSPOSABLE or kind not in _FOLDS or narrow:
        return None
    return [_as_wide(kind, row(tile, at), chunk.width) for at in rows]


def _as_wide(kind: str, tile: CTile, width: int) -> str:
    """Return the lanes of a value combined by halves into one vector of ``width`` lanes."""
    name = tile.layout.element
    strings = [_filled(kind, text, name, c) for text, c in zip(tile.names, tile.layout.chunks, strict=True)]
    parts = [_resized(kind, t, name, c.width, width) for t, c in zip(strings, tile.layout.chunks, strict=True)]
    return _halves(kind, parts, name, Chunk(0, width, width))


def _resized(kind: str, text: str, name: str, lanes: int, width: int) -> str:
    """Return a vector of ``width`` lanes: the upper half is folded onto the lower half, or neutral lanes are added."""
    if lanes == 1:
        return _widened(kind, text, name, width)
    while lanes > width:
        whole, lanes = vector_name(name, lanes), lanes // 2
        halves = [f"mlc_{part}_{whole}({text})" for part in ("low", "high")]
        text = combined(kind, halves, name, Chunk(0, lanes, lanes))
    while lanes < width:
        rest = f"mlc_fill_{vector_name(name, lanes)}({_NEUTRAL[kind]})" if kind in _NEUTRAL else text
        lanes *= 2
        text = f"mlc_join_{vector_name(name, lanes)}({text}, {rest})"
    return text


def _widened(kind: str, text: str, name: str, width: int) -> str:
    """Return a scalar as a vector whose other lanes do not change the result."""
    vector = vector_name(name, width)
    if kind not in _NEUTRAL:
        return f"mlc_fill_{vector}({text})"
    return f"({vector}){{{', '.join([text, *[_NEUTRAL[kind]] * (width - 1)])}}}"


def combined(kind: str, pair: Sequence[str], name: str, chunk: Chunk) -> str:
    """Return C for the combination of two values, lane by lane."""
    return f"({expression(COMBINE[kind], [*pair], name, name, chunk, {})})"


def _halves(kind: str, strings: Sequence[str], name: str, chunk: Chunk) -> str:
    """Return the combination of several values: halves are combined until one value is left."""
    while len(strings) > 1:
        half = (len(strings) + 1) // 2
        pairs = itertools.zip_longest(strings[:half], strings[half:])
        strings = [combined(kind, (a, b), name, chunk) if b else a for a, b in pairs]
    return strings[0]


def _filled(kind: str, text: str, name: str, chunk: Chunk) -> str:
    """Return a variable whose invalid lanes do not change the result."""
    if chunk.valid == chunk.width:
        return text
    vector, rest = vector_name(name, chunk.width), chunk.width - chunk.valid
    neutral, pick = (f"mlc_fill_{vector}({_NEUTRAL[kind]})", chunk.width) if kind in _NEUTRAL else (text, 0)
    picks = [*range(chunk.valid), *[pick] * rest]
    return f"MLC_SHUFFLE({vector}, {chunk.width}, {text}, {neutral}, {', '.join(map(str, picks))})"


def _lanes(text: str, name: str, chunk: Chunk) -> list[str]:
    if chunk.width == 1:
        return [text]
    lanes = [f"{text}[{n}]" for n in range(chunk.valid)]
    return [f"(uint8_t)-{lane}" for lane in lanes] if name == "i1" else lanes
