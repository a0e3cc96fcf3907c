"""Deterministic finite automaton (DFA) of a regular expression: tables that a loop over the characters follows.

The string is matched in one pass whatever the pattern. Reference: R. Cox, "Regular Expression Matching Can Be Simple
And Fast", 2007.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from collections.abc import Sequence as Sequence_
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
NEWLINE = 10

State = tuple[frozenset[int], str]  # the states that the NFA may be in, and the kind of the last character


def automaton(tree: Tree) -> tuple[Array, Array]:
    """(first, table) in i32: ``first[k]`` is the first code point of kind k, [kinds]; ``table[s, k]`` the state after
    state s and a character of kind k, [states, kinds + 1]. The last column says whether a string may end there.

    Raises:
        RegexError: it has more states than STATES.
    """
    dfa = Dfa(tree)
    dfa.state(frozenset({dfa.start}), "begin")
    dfa.explore()
    after = np.array(dfa.after, np.int32).reshape(len(dfa.after), -1)[:, dfa.classes]
    ends = [int(dfa.accepts(*state, "end")) for state in dfa.states]
    return np.array(dfa.first, np.int32), np.column_stack([after, np.array(ends, np.int32)]).astype(np.int32)


def searcher(tree: Tree) -> Array:
    """[n] of i32: what finds the longest match that begins at a place in a text.

    Ranges and classes of characters; the first code point of each range, and its class; the state to begin with after
    a character of each class and at the beginning of a text; for each state, the state after a character of each class
    (below 0: there is no longer match), and whether a match may end before each class and at the end.

    Raises:
        RegexError: it has more states than STATES.
    """
    dfa = Dfa(tree)
    begins = [dfa.state(frozenset({dfa.start}), kind) for kind in (*dfa.kinds, "begin")]
    dfa.explore()
    dead = {n for n, (states, _) in enumerate(dfa.states) if not states}
    rows: list[int] = []
    for state, after in zip(dfa.states, dfa.after, strict=True):
        rows += [-1 if n in dead else n for n in after]
        rows += [int(dfa.accepts(*state, kind)) for kind in (*dfa.kinds, "end")]
    return np.array([len(dfa.first), len(dfa.kinds), *dfa.first, *dfa.classes, *begins, *rows], np.int32)


class Dfa:
    """The DFA that the subset construction makes of an NFA, over classes of characters that the pattern treats
    alike.
    """

    def __init__(self, tree: Tree) -> None:
        self.nfa = _Nfa()
        self.start, self.end = self.nfa.state(), self.nfa.state()
        self.nfa.add(tree, self.start, self.end)
        self.first = _firsts(self.nfa)
        kinds = [_kind(code) if self.nfa.assertions else "other" for code in self.first]
        sets = [_members(ranges, self.first) for ranges in self.nfa.sets]
        alike = list(zip(kinds, *sets, strict=True))
        found = {key: n for n, key in enumerate(dict.fromkeys(alike))}
        self.classes = [found[key] for key in alike]  # of each range
        self.kinds = [str(key[0]) for key in found]  # of each class
        self.members = [key[1:] for key in found]  # whether the class is in each set
        self.states: dict[State, int] = {}
        self.after: list[list[int]] = []

    def state(self, states: frozenset[int], kind: str) -> int:
        """The number of a state.

        Raises:
            RegexError: there are more than STATES.
        """
        if len(self.states) > STATES:
            raise RegexError(f"its automaton has more than {STATES} states")
        return self.states.setdefault((states, kind), len(self.states))

    def explore(self) -> None:
        """Add all states that are reachable from the known ones, and their transitions."""
        queue = list(self.states)
        for state in queue:
            known = len(self.states)
            closures = {kind: self.nfa.closure(*state, kind) for kind in dict.fromkeys(self.kinds)}
            steps = zip(self.kinds, self.members, strict=True)
            self.after.append([self.state(self.nfa.step(closures[k], inside), k) for k, inside in steps])
            queue += list(self.states)[known:]

    def accepts(self, states: frozenset[int], before: str, after: str) -> bool:
        """Whether a match may end in a state, before a character of this kind."""
        return self.end in self.nfa.closure(states, before, after)


def _kind(code: int) -> str:
    return "word" if any(low <= code <= high for low, high in WORD) else "line" if code == NEWLINE else "other"


def _firsts(nfa: _Nfa) -> list[int]:
    """The first code points of the ranges in which the pattern treats all characters alike."""
    ranges = {r for wanted in nfa.sets for r in wanted} | set((*WORD, (NEWLINE, NEWLINE)) if nfa.assertions else ())
    return sorted({0} | {low for low, _ in ranges} | {high + 1 for _, high in ranges if high < 0x10FFFF})


def _members(ranges: Ranges, first: list[int]) -> list[bool]:
    """Whether each range of characters, by its first code point, is in a set."""
    inside = np.zeros(len(first), bool)
    for low, high in ranges:
        inside[bisect_left(first, low) : bisect_right(first, high)] = True
    return inside.tolist()


def _holds(assertion: str, before: str, after: str) -> bool:
    """Whether an assertion holds between characters of two kinds."""
    match assertion:
        case "begin" | "end":
            return assertion in (before, after)
        case "line begin":
            return before in ("begin", "line")
        case "line end":
            return after in ("end", "line")
    return ((before == "word") != (after == "word")) == (assertion == "boundary")


@dataclass
class _Nfa:
    """Thompson's NFA: for each state its transitions on a character, and its empty transitions (under an assertion)."""

    steps: list[list[tuple[int, int]]] = field(default_factory=list)
    empty: list[list[tuple[str | None, int]]] = field(default_factory=list)
    sets: dict[Ranges, int] = field(default_factory=dict)  # of characters, numbered
    assertions: bool = False  # whether the kinds of characters matter

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
                self.steps[start].append((self.sets.setdefault(ranges, len(self.sets)), end))
            case Assertion(kind):
                self.assertions |= kind not in ("begin", "end")
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

    def step(self, states: Iterable[int], inside: Sequence_[bool]) -> frozenset[int]:
        """The states after a character, by the sets that it is in."""
        return frozenset(to for s in states for wanted, to in self.steps[s] if inside[wanted])
