"""Deterministic finite automaton (DFA) of a regular expression: tables that a loop over the characters follows.

The string is matched in one pass whatever the pattern. Reference: R. Cox, "Regular Expression Matching Can Be Simple
And Fast", 2007.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mlc.frontends.build.ops.strings.regex_tree import (
    WORD,
    Assertion,
    Choice,
    Ranges,
    RegexError,
    Repeat,
    Sequence,
    Set,
    Tree,
)

Array = np.ndarray[Any, Any]
STATES = 1 << 12  # of the DFA
NFA_STATES = 1 << 15

State = tuple[frozenset[int], str]  # the states that the NFA may be in, and the kind of the last character


def automaton(tree: Tree) -> tuple[Array, Array]:
    """(first, table) in i32: ``first[k]`` is the first code point of kind k, [kinds]; ``table[s, k]`` the state after
    state s and a character of kind k, [states, kinds + 1]. The last column says whether a string may end there.

    Raises:
        RegexError: it has more states than STATES.
    """
    nfa = _Nfa()
    start, end = nfa.state(), nfa.state()
    nfa.add(tree, start, end)
    first = _firsts(nfa)
    kinds = [_kind(code) if nfa.words else "other" for code in first]
    states: dict[State, int] = {(frozenset({start}), "begin"): 0}
    rows: list[list[int]] = []
    for state in (queue := list(states)):  # grows as states are found
        row = []
        for code, kind in zip(first, kinds, strict=True):
            after = nfa.step(nfa.closure(*state, kind), code), kind
            if after not in states:
                states[after] = len(states)
                queue.append(after)
            row.append(states[after])
        rows.append([*row, int(end in nfa.closure(*state, "end"))])
        if len(states) > STATES:
            raise RegexError(f"its automaton has more than {STATES} states")
    return np.array(first, np.int32), np.array(rows, np.int32)


def _kind(code: int) -> str:
    return "word" if any(low <= code <= high for low, high in WORD) else "other"


def _firsts(nfa: _Nfa) -> list[int]:
    """The first code points of the ranges in which the pattern treats all characters alike."""
    ranges = {r for steps in nfa.steps for wanted, _ in steps for r in wanted} | set(WORD if nfa.words else ())
    return sorted({0} | {low for low, _ in ranges} | {high + 1 for _, high in ranges if high < 0x10FFFF})


def _holds(assertion: str, before: str, after: str) -> bool:
    """Whether an assertion holds between characters of two kinds."""
    if assertion in ("begin", "end"):
        return assertion in (before, after)
    return ((before == "word") != (after == "word")) == (assertion == "boundary")


@dataclass
class _Nfa:
    """Thompson's NFA: from each state, those after a character, and those after none (under an assertion)."""

    steps: list[list[tuple[Ranges, int]]] = field(default_factory=list)
    empty: list[list[tuple[str | None, int]]] = field(default_factory=list)
    words: bool = False  # whether an assertion is about words

    def state(self) -> int:
        if len(self.steps) >= NFA_STATES:
            raise RegexError("it is too long")
        self.steps.append([])
        self.empty.append([])
        return len(self.steps) - 1

    def add(self, tree: Tree, start: int, end: int) -> None:
        """Transitions from ``start`` to ``end`` for what a tree describes."""
        match tree:
            case Set(ranges):
                self.steps[start].append((ranges, end))
            case Assertion(kind):
                self.words |= kind in ("boundary", "inside")
                self.empty[start].append((kind, end))
            case Sequence(parts):
                for part in parts:
                    self.add(part, start, start := self.state())
                self.empty[start].append((None, end))
            case Choice(parts):
                for part in parts:
                    self.add(part, start, end)
            case Repeat():
                self._repeat(tree, start, end)

    def _repeat(self, tree: Repeat, start: int, end: int) -> None:
        for _ in range(tree.low):
            self.add(tree.part, start, start := self.state())
        for _ in range((tree.high or 0) - tree.low):
            self.empty[start].append((None, end))
            self.add(tree.part, start, start := self.state())
        if tree.high is None:
            around = self.state()
            self.empty[start].append((None, around))
            self.add(tree.part, around, again := self.state())
            self.empty[again].append((None, around))
            start = around
        self.empty[start].append((None, end))

    def closure(self, states: Iterable[int], before: str, after: str) -> set[int]:
        """The epsilon closure, between two characters of these kinds."""
        stack = list(states)
        found = set(stack)
        while stack:
            for condition, to in self.empty[stack.pop()]:
                if to not in found and (condition is None or _holds(condition, before, after)):
                    found.add(to)
                    stack.append(to)
        return found

    def step(self, states: Iterable[int], code: int) -> frozenset[int]:
        """The states after a character."""
        transitions = (step for s in states for step in self.steps[s])
        return frozenset(to for ranges, to in transitions if _in(ranges, code))


def _in(ranges: Ranges, code: int) -> bool:
    return any(low <= code <= high for low, high in ranges)
