"""Hashes of the n-grams that end at each token (engrams). Source: onnxruntime's NGramHashMapping.

Tokens are rows of a matrix, or packed: one vector of those of several requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.tensors import Tensor


@dataclass(frozen=True)
class Rows:
    """Requests of one length, as the rows of a matrix. The elements before a row are in ``past`` [rows, n - 1], or are
    a scalar.
    """

    def back(self, build: Builder, x: Tensor, before: Tensor, k: int, n: int) -> Tensor:
        """[rows, length]: the element ``k`` positions before each one."""
        there = f"x1[i0, min(max({n - 1 - k} + i1, 0), {n - 2})]" if before.rank else "x1[()]"
        return build.compute(f"where(i1 >= {k}, x0[i0, max(i1 - {k}, 0)], {there})", [x, before], x.shape)

    def first(self, build: Builder, x: Tensor, k: int) -> Tensor:
        """i1 [rows, length]: whether the request has no element ``k`` positions before."""
        return build.compute(f"i1 < {k}", [], x.shape)


@dataclass(frozen=True)
class Packed:
    """Requests one after the other in a vector: request r has the elements from ``starts[r]`` to ``starts[r + 1]``."""

    starts: Tensor

    def requests(self, build: Builder, length: DimLike) -> Tensor:
        """i64 [length]: the request of each element."""
        later = self.starts.shape[0] - 2
        return build.compute("i64(x0[r0 + 1] <= i0)", [self.starts], (length,), [later], "add")

    def back(self, build: Builder, x: Tensor, before: Tensor, k: int, n: int) -> Tensor:
        """[length]: the element ``k`` positions before each one in its request."""
        of = self.requests(build, x.shape[0])
        local = "(i0 - x2[x3[i0]])"
        there = f"x1[x3[i0], min(max({n - 1 - k} + {local}, 0), {n - 2})]" if before.rank else "x1[()]"
        text = f"where({local} >= {k}, x0[max(i0 - {k}, 0)], {there})"
        return build.compute(text, [x, before, self.starts, of], x.shape)

    def first(self, build: Builder, x: Tensor, k: int) -> Tensor:
        of = self.requests(build, x.shape[0])
        return build.compute(f"i0 - x0[x1[i0]] < {k}", [self.starts, of], x.shape)

    def state(
        self, build: Builder, x: Tensor, before: Tensor, n: int, captured: tuple[Tensor, int, int] | None = None
    ) -> Tensor:
        """[requests, n - 1]: the last elements of each request, after those ``before`` it.

        With ``captured`` (counts [requests], capacity, filler) [requests, capacity, n - 1]: those after its first
        element, its second, …; the filler from the count of the request, or its length, on.
        """
        count, s = self.starts.shape[0] - 1, "i1" if captured is None else "i2"
        length = "(x2[i0 + 1] - x2[i0])"
        at = f"({length if captured is None else '(i1 + 1)'} - {n - 1} + {s})"
        there = f"x1[i0, min(max({at} + {n - 1}, 0), {n - 2})]" if before.rank else "x1[()]"
        text = f"where({at} >= 0, x0[x2[i0] + max({at}, 0)], {there})"
        if captured is None:
            return build.compute(text, [x, before, self.starts], (count, n - 1))
        counts, capacity, filler = captured
        text = f"where(i1 < min(x3[i0], {length}), {text}, {x.element}({filler}))"
        return build.compute(text, [x, before, self.starts, counts], (count, capacity, n - 1))


@dataclass(frozen=True)
class Grams:
    """Tokens and the ones before them: ``past``, or ``fill`` (a scalar).

    ``segments`` and ``past_segments``: an n-gram does not go over a border of segments, and, where there is an ``end``
    token, not over that.
    """

    layout: Rows | Packed
    ids: Tensor
    fill: Tensor
    past: Tensor | None = None
    segments: Tensor | None = None
    past_segments: Tensor | None = None
    end: Tensor | None = None

    def back(self, build: Builder, k: int, n: int) -> Tensor:
        """The token ``k`` positions before each one."""
        return self.layout.back(build, self.ids, self.fill if self.past is None else self.past, k, n)

    def borders(self, build: Builder, token: Tensor, k: int, n: int) -> Tensor | None:
        """i64: not 0 where an n-gram may not reach back over ``token``, which is ``k`` positions before."""
        found = None if self.end is None else build.map("i64(x0 == x1)", token, self.end)
        if self.segments is None:
            return found
        before = build.constant(0, self.segments.element) if self.past_segments is None else self.past_segments
        there, here = (self.layout.back(build, self.segments, before, b, n) for b in (k, k - 1))
        changes = build.map("i64(x0 != x1)", there, here)
        if self.past_segments is None:
            changes = build.map("where(x1, 0, x0)", changes, self.layout.first(build, self.ids, k))
        return changes if found is None else build.map("x0 + x1", found, changes)


def engram_hashes(
    build: Builder, grams: Grams, multipliers: Tensor, sizes: Tensor, offsets: Tensor | None, n: int, each: int
) -> Tensor:
    """[…, heads]: for the n-grams of 2, 3, … ``n`` tokens that end at each one, ``each`` hashes below ``sizes``.

    A hash is the exclusive or of the tokens times their multipliers, modulo the size of the head, plus its offset.
    ``sizes`` and ``offsets`` [heads] have those of the pairs first.
    """
    tables, parts = [sizes] if offsets is None else [sizes, offsets], []
    mixed: Tensor | None = None
    dead: Tensor | None = None
    for k in range(n):
        token = grams.back(build, k, n)
        if k and (borders := grams.borders(build, token, k, n)) is not None:
            dead = borders if dead is None else build.map("x0 + x1", dead, borders)
            token = build.map("where(x1 == 0, x0, x2)", token, dead, grams.fill)
        product = build.map("x0 * x1", token, build.reshape(build.cut(multipliers, 0, k, 1), ()))
        mixed = product if mixed is None else build.map("x0 ^ x1", mixed, product)
        if k:
            parts.append(_heads(build, mixed, tables, (k - 1) * each, each))
    return build.concat(parts, grams.ids.rank)


def _heads(build: Builder, mixed: Tensor, tables: Sequence[Tensor], start: int, count: int) -> Tensor:
    """[…, count]: a hash modulo the sizes of some heads, plus their offsets."""
    at, head = ", ".join(f"i{n}" for n in range(mixed.rank)), f"{start} + i{mixed.rank}"
    size, added = f"x1[{head}]", f" + x2[{head}]" if len(tables) > 1 else ""
    text = f"where({size} > 0, x0[{at}] % max({size}, 1), 0){added}"
    return build.compute(text, [mixed, *tables], (*mixed.shape, count))
