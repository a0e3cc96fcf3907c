"""Combining the lanes of a value as one C expression: vectors of one width by halves, then the lanes of the last."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from mlc.passes.codegen.c_like.c_ops import expression
from mlc.passes.codegen.c_like.c_types import Chunk, Tile, vector_name

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


def reduction(kind: str, tile: Tile) -> str:
    """C for the combination of all valid lanes of ``tile``."""
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


def _halves(kind: str, strings: Sequence[str], name: str, chunk: Chunk) -> str:
    """Combine several values into one: halves are combined until one value is left."""
    while len(strings) > 1:
        half = (len(strings) + 1) // 2
        pairs = itertools.zip_longest(strings[:half], strings[half:])
        strings = [f"({expression(COMBINE[kind], [a, b], name, name, chunk, {})})" if b else a for a, b in pairs]
    return strings[0]


def _filled(kind: str, text: str, name: str, chunk: Chunk) -> str:
    """A variable whose invalid lanes do not change the result."""
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
