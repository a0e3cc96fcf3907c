"""Tokens of strings in Python, and MurmurHash3: the reference of ``runtime/c/strings/mlc_tokens.c``.

Source: ContribOperators.md of onnxruntime, Tokenizer. The match is the longest one at the first position that has a
match, as in POSIX. The operand ``how`` is described in ``frontends/build/ops/strings/tokens.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mlc.dialects.semantics.routine import Array, Given, Routine

CHARACTERS, SEPARATORS, EXPRESSION = range(3)
MASK = 0xFFFFFFFF  # of 32 bits


class Searcher:
    """The DFA of a pattern; see ``searcher`` of ``frontends/build/ops/strings/automaton.py``."""

    def __init__(self, how: Array) -> None:
        ranges, self.classes = int(how[0]), int(how[1])
        self.first, self.of, rest = how[2 : 2 + ranges], how[2 + ranges : 2 + 2 * ranges], how[2 + 2 * ranges :]
        self.begins, self.rows = rest[: self.classes + 1], rest[self.classes + 1 :]

    def kinds(self, text: str) -> list[int]:
        """Return the classes of the characters of a text; at index -1, the class of its ends."""
        found = np.searchsorted(self.first, [ord(c) for c in text], side="right") - 1
        return [*map(int, self.of[found.astype(int)]), self.classes]

    def match(self, kinds: Sequence[int], at: int) -> int | None:
        """Return the end of the longest match that begins at position ``at``, or None."""
        state, found, width = self.begins[kinds[at - 1]], None, 2 * self.classes + 1
        while True:
            row = self.rows[state * width : (state + 1) * width]
            if row[self.classes + kinds[at]]:
                found = at
            if at == len(kinds) - 1 or row[kinds[at]] < 0:
                return found
            state, at = row[kinds[at]], at + 1

    def search(self, kinds: Sequence[int], at: int) -> tuple[int, int] | None:
        """Return the first match at or after position ``at``, or None."""
        for start in range(at, len(kinds)):
            if (stop := self.match(kinds, start)) is not None:
                return start, stop
        return None


def _between(searchers: Sequence[Searcher], text: str, least: int) -> Iterator[str]:
    """Yield the pieces of a text between the matches of all searchers, which are applied one after the other."""
    if not searchers:
        yield text
        return
    kinds, at = searchers[0].kinds(text), 0
    while True:
        found = searchers[0].search(kinds, at)
        piece = text[at : found[0]] if found else text[at:]
        if len(piece) >= least:
            yield from _between(searchers[1:], piece, least)
        if found is None or found[0] == len(text):
            return
        at = found[1] + (found[0] == found[1])  # nothing matches: its next character goes with it


def _matches(searcher: Searcher, text: str, least: int) -> Iterator[str]:
    kinds, at = searcher.kinds(text), 0
    while (found := searcher.search(kinds, at)) is not None and found[0] < len(text):
        whole = found[1] - found[0] >= max(least, 1)
        if whole:
            yield text[found[0] : found[1]]
        at = found[1] if whole else found[0] + 1


def tokens(text: str, how: Array, least: int) -> list[str]:
    """Return the tokens of a text that have at least ``least`` characters."""
    searchers = [Searcher(how[start:]) for start in how[3 : 3 + how[2]]]
    if how[0] == CHARACTERS:
        return list(text)
    return list(_between(searchers, text, least) if how[0] == SEPARATORS else _matches(searchers[0], text, least))


def _counted(given: Given, array: Array, how: Array) -> Array:
    counts = [len(tokens(text, how, given.numbers[0])) for text in given.strings.of(array).flat]
    return np.array(counts, np.int64).reshape(given.shape)


def _made(given: Given, array: Array, how: Array) -> Array:
    width = given.shape[-1]
    rows = []
    for text in given.strings.of(array).flat if width else ():
        found = tokens(text, how, given.numbers[0])
        found = ["\x02", *found, "\x03"] if how[1] else found
        rows.append(found + [given.words[0]] * (width - len(found)))
    return given.strings.numbers(rows).reshape(given.shape) if rows else np.zeros(given.shape, np.int64)


def murmur3(data: bytes, seed: int) -> int:
    """Return MurmurHash3_x86_32 (A. Appleby, public domain)."""
    whole = len(data) // 4 * 4
    for at in range(0, whole, 4):
        seed = _rotated(seed ^ _mixed(data[at : at + 4]), 13) * 5 + 0xE6546B64 & MASK
    seed ^= _mixed(data[whole:]) ^ len(data)
    for by, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        seed = (seed ^ seed >> by) * factor & MASK
    return seed ^ seed >> 16


def _mixed(block: bytes) -> int:
    return _rotated(int.from_bytes(block, "little") * 0xCC9E2D51 & MASK, 15) * 0x1B873593 & MASK


def _rotated(x: int, by: int) -> int:
    return (x << by | x >> (32 - by)) & MASK


def _hashed(given: Given, array: Array) -> Array:
    found = [murmur3(text.encode(), given.numbers[0]) for text in given.strings.of(array).flat]
    return np.array(found, np.uint32).reshape(given.shape)


TOKEN_ROUTINES = {
    "count_tokens": Routine(("i64", "i32"), "i64", _counted),
    "tokens": Routine(("i64", "i32"), "i64", _made, widens=True),
    "murmur3": Routine(("i64",), "ui32", _hashed),
}
