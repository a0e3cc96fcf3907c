"""Hashes of the n-grams that end at each token (engrams). Source: onnxruntime's NGramHashMapping.

Tokens may be packed: one vector of those of several requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlc.frontends.build.builder import Builder
from mlc.frontends.build.tensors import Tensor


@dataclass(frozen=True)
class History:
    """The tokens [rows, length] of requests with what was before them [rows, n - 1], or what fills it (a scalar).

    ``segments`` and ``past_segments`` have their shapes: an n-gram does not go over a border of segments, and, where
    there is an ``end`` token, not over that.
    """

    ids: Tensor
    fill: Tensor
    past: Tensor | None = None
    segments: Tensor | None = None
    past_segments: Tensor | None = None
    end: Tensor | None = None

    def extended(self, build: Builder, n: int) -> Tensor:
        """[rows, n - 1 + length]: the tokens after those before them."""
        rows = self.ids.shape[0]
        past = build.broadcast(self.fill, (rows, n - 1)) if self.past is None else self.past
        return build.concat([past, self.ids], 1)

    def borders(self, build: Builder, n: int) -> Tensor | None:
        """i64 [rows, n - 1 + length]: not 0 where an n-gram that goes on after a place must not have it."""
        (rows, length), found = self.ids.shape, None
        if self.end is not None:
            found = build.map("i64(x0 == x1)", self.extended(build, n), self.end)
        if self.segments is not None:
            changes = _changes(build, self.segments, self.past_segments, n)
            changes = build.pad(changes, [0, n - 1 if self.past_segments is None else 0], [0, 0])
            found = changes if found is None else build.map("x0 + x1", found, changes)
        assert found is None or found.shape == (rows, length + n - 1)
        return found


def _changes(build: Builder, segments: Tensor, past: Tensor | None, n: int) -> Tensor:
    """i64: whether the place after each is of another segment; 0 at the last one."""
    whole = segments if past is None else build.concat([past, segments], 1)
    last = whole.shape[1] - 1
    text = f"i64((i1 < {last}) & (x0[i0, i1] != x0[i0, min(i1 + 1, {last})]))"
    return build.compute(text, [whole], whole.shape)


def engram_hashes(
    build: Builder,
    history: History,
    multipliers: Tensor,
    sizes: Tensor,
    offsets: Tensor | None,
    n: int,
) -> Tensor:
    """[rows, length, heads]: for the n-grams of 2, 3, … ``n`` tokens that end at each one, hashes below ``sizes``.

    A hash is the exclusive or of the tokens times their multipliers, modulo the size of the head, plus its offset.
    ``sizes`` and ``offsets`` [heads] have those of the pairs first.
    """
    whole, borders = history.extended(build, n), history.borders(build, n)
    rows, length = history.ids.shape
    each, mixed, parts = sizes.shape[0] // (n - 1), None, []
    tables = [sizes] if offsets is None else [sizes, offsets]
    alive: Tensor | None = None
    for back in range(n):
        at = f"i0, i1 + {n - 1 - back}"
        token = build.compute(f"x0[{at}]", [whole], (rows, length))
        if borders is not None and back:
            dead = build.compute(f"x0[{at}]", [borders], (rows, length))
            alive = dead if alive is None else build.map("x0 + x1", alive, dead)
            token = build.map("where(x1 == 0, x0, x2)", token, alive, history.fill)
        product = build.map("x0 * x1", token, build.reshape(build.cut(multipliers, 0, back, 1), ()))
        mixed = product if mixed is None else build.map("x0 ^ x1", mixed, product)
        if back:
            parts.append(_heads(build, mixed, tables, (back - 1) * each, each))
    return build.concat(parts, 2)


def _heads(build: Builder, mixed: Tensor, tables: Sequence[Tensor], start: int, count: int) -> Tensor:
    """[rows, length, count]: a hash modulo the sizes of some heads, plus their offsets."""
    size, added = f"x1[{start} + i2]", f" + x2[{start} + i2]" if len(tables) > 1 else ""
    text = f"where({size} > 0, x0[i0, i1] % max({size}, 1), 0){added}"
    return build.compute(text, [mixed, *tables], (*mixed.shape, count))
