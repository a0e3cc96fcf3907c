"""A regular expression as a deterministic automaton: tables that a loop over a text's characters follows.

The text is matched in one pass whatever the pattern. Reference: R. Cox, "Regular Expression Matching Can Be Simple And
Fast", 2007.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mlc.frontends.onnx.regex import WORD, Choice, Place, Ranges, RegexError, Repeat, Sequence, Set, Tree

Array = np.ndarray[Any, Any]
STATES = 1 << 12  # of the deterministic automaton
PLACES = 1 << 15  # of the other one

State = tuple[frozenset[int], str]  # where the other automaton may be, and the kind of the last character


def automaton(tree: Tree) -> tuple[Array, Array]:
    """(first, table) in i32: ``first[k]`` is the first code point of kind k, [kinds]; ``table[s, k]`` the state behind
    state s and a character of kind k, [states, kinds + 1]. The last column says whether a text may end there.

    Raises:
        RegexError: it has more states than STATES.
    """
    nfa = _Nfa()
    start, end = nfa.place(), nfa.place()
    nfa.add(tree, start, end)
    first = _firsts(nfa)
    kinds = [_kind(code) if nfa.words else "other" for code in first]
    states: dict[State, int] = {(frozenset({start}), "begin"): 0}
    rows: list[list[int]] = []
    for state in (queue := list(states)):  # grows as states are found
        row = []
        for code, kind in zip(first, kinds, strict=True):
            behind = nfa.step(nfa.closure(*state, kind), code), kind
            if behind not in states:
                states[behind] = len(states)
                queue.append(behind)
            row.append(states[behind])
        rows.append([*row, int(end in nfa.closure(*state, "end"))])
        if len(states) > STATES:
            raise RegexError(f"its automaton has more than {STATES} states")
    return np.array(first, np.int32), np.array(rows, np.int32)


def _kind(code: int) -> str:
    return "word" if any(low <= code <= high for low, high in WORD) else "other"


def _firsts(nfa: _Nfa) -> list[int]:
    """Where the code points between which the pattern does not tell begin."""
    ranges = {r for steps in nfa.steps for wanted, _ in steps for r in wanted} | set(WORD if nfa.words else ())
    return sorted({0} | {low for low, _ in ranges} | {high + 1 for _, high in ranges if high < 0x10FFFF})


def _holds(place: str, before: str, behind: str) -> bool:
    """Whether a place is between characters of two kinds."""
    if place in ("begin", "end"):
        return place in (before, behind)
    return ((before == "word") != (behind == "word")) == (place == "boundary")


@dataclass
class _Nfa:
    """Thompson's automaton: from each place, those behind a character, and those behind none (under a condition)."""

    steps: list[list[tuple[Ranges, int]]] = field(default_factory=list)
    empty: list[list[tuple[str | None, int]]] = field(default_factory=list)
    words: bool = False  # whether a condition speaks of words

    def place(self) -> int:
        if len(self.steps) >= PLACES:
            raise RegexError("it is too long")
        self.steps.append([])
        self.empty.append([])
        return len(self.steps) - 1

    def add(self, tree: Tree, start: int, end: int) -> None:
        """Ways from ``start`` to ``end`` for what a tree describes."""
        match tree:
            case Set(ranges):
                self.steps[start].append((ranges, end))
            case Place(kind):
                self.words |= kind in ("boundary", "inside")
                self.empty[start].append((kind, end))
            case Sequence(parts):
                for part in parts:
                    self.add(part, start, start := self.place())
                self.empty[start].append((None, end))
            case Choice(parts):
                for part in parts:
                    self.add(part, start, end)
            case Repeat():
                self._repeat(tree, start, end)

    def _repeat(self, tree: Repeat, start: int, end: int) -> None:
        for _ in range(tree.low):
            self.add(tree.part, start, start := self.place())
        for _ in range((tree.high or 0) - tree.low):
            self.empty[start].append((None, end))
            self.add(tree.part, start, start := self.place())
        if tree.high is None:
            around = self.place()
            self.empty[start].append((None, around))
            self.add(tree.part, around, again := self.place())
            self.empty[again].append((None, around))
            start = around
        self.empty[start].append((None, end))

    def closure(self, places: Iterable[int], before: str, behind: str) -> set[int]:
        """Places that are reached without a character, between two characters of these kinds."""
        stack = list(places)
        found = set(stack)
        while stack:
            for condition, to in self.empty[stack.pop()]:
                if to not in found and (condition is None or _holds(condition, before, behind)):
                    found.add(to)
                    stack.append(to)
        return found

    def step(self, places: Iterable[int], code: int) -> frozenset[int]:
        """Places behind a character."""
        ways = (way for p in places for way in self.steps[p])
        return frozenset(to for ranges, to in ways if _in(ranges, code))


def _in(ranges: Ranges, code: int) -> bool:
    return any(low <= code <= high for low, high in ranges)
