"""Schedules as text: what a rule decides, a user edits and the tiling pass obeys.

    contraction: S0 S1 | n/32v m/14*4+12*6 | k
    ^rule        ^statements   ^band, outermost first: iterator/tile sizes ^inner iterators

A nest runs its statements, one after the other, in every tile of its band. A band item ``m/14*4+12*6`` covers m by four
tiles of 14 and six of 12; without a count a size repeats while it fits (``m/14+4+1``), and what is left at the end of a
lane axis (marked ``v``) is one partial tile. An inner item ``k/256s`` sums each block of 256 points apart, which keeps
the rounding error of long sums small. Nests of a kernel are separated by ``;``. ``serial`` in place of a rule's name
runs on one thread.

Threads share out the outermost loops. A band that begins with ``y@4`` runs in 4 equal blocks of y, and these are shared
out: a thread then has the same rows in every kernel. ``b@12 y@4`` are blocks of both. A nest behind ``&`` runs in the
blocks of the nest before, each block's part behind that nest's part.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mlc.passes.schedule.view import ScheduleError

SCHEDULE = "schedule"
_SPLIT = re.compile(r"(\w+)@([1-9][0-9]*)")
_SIZES = re.compile(r"[0-9]+(\*[0-9]+)?(\+[0-9]+(\*[0-9]+)?)*[vs]?")


@dataclass(frozen=True)
class Item:
    """An iterator with the sizes of its tiles: ((size, count or None), …); ``lanes`` marks the vector axis, ``partial``
    a reduction whose blocks have sums of their own."""

    iterator: str
    sizes: tuple[tuple[int, int | None], ...] = ((1, None),)
    lanes: bool = False
    partial: bool = False

    def __str__(self) -> str:
        if self.sizes == ((1, None),) and not self.lanes and not self.partial:
            return self.iterator
        sizes = "+".join(str(s) if n is None else f"{s}*{n}" for s, n in self.sizes)
        return f"{self.iterator}/{sizes}{'v' if self.lanes else ''}{'s' if self.partial else ''}"

    @property
    def size(self) -> int:
        return self.sizes[0][0]


@dataclass(frozen=True)
class Split:
    """Threads share out equal ``blocks`` of an iterator of the band; the whole band runs in each."""

    iterator: str
    blocks: int

    def __str__(self) -> str:
        return f"{self.iterator}@{self.blocks}"


@dataclass(frozen=True)
class Nest:
    rule: str
    statements: tuple[str, ...]
    band: tuple[Item, ...]
    inner: tuple[Item, ...] = ()
    splits: tuple[Split, ...] = ()
    follows: bool = False  # it runs in each block behind the nest before

    def __str__(self) -> str:
        parts = [" ".join(map(str, part)) for part in (self.statements, (*self.splits, *self.band), self.inner)]
        return f"{self.rule}: " + " | ".join(parts)

    @property
    def serial(self) -> bool:
        return self.rule == "serial"


def parse_schedule(text: str) -> tuple[Nest, ...]:
    """Read a schedule; raises ScheduleError naming the part that is wrong."""
    groups = [group.split("&") for group in text.split(";") if group.strip()]
    return tuple(_nest(part.strip(), n > 0) for group in groups for n, part in enumerate(group))


def groups_of(nests: Sequence[Nest]) -> list[list[Nest]]:
    """Nests that run together in blocks, and each other nest alone."""
    groups: list[list[Nest]] = []
    for nest in nests:
        groups[-1:] = [[*groups[-1], nest]] if nest.follows and groups else [*groups[-1:], [nest]]
    return groups


def schedule_text(nests: Iterable[Nest]) -> str:
    """The text of which ``parse_schedule`` makes these nests."""
    return "".join(f"{' & ' if n.follows else '; '}{n}" for n in nests).removeprefix("; ")


def _nest(text: str, follows: bool) -> Nest:
    rule, colon, rest = text.partition(":")
    parts = [p.split() for p in rest.split("|")]
    if not colon or len(parts) != 3:
        raise ScheduleError(f"schedule {text!r} is not 'rule: statements | band | inner'")
    found = [m for m in map(_SPLIT.fullmatch, itertools.takewhile(_SPLIT.fullmatch, parts[1])) if m]
    splits = tuple(Split(m[1], int(m[2])) for m in found)
    if len({s.iterator for s in splits}) < len(splits):
        raise ScheduleError(f"schedule item '{splits[-1]}': an iterator has blocks once")
    band, inner = tuple(map(_band_item, parts[1][len(splits) :])), tuple(map(_inner_item, parts[2]))
    return Nest(rule.strip(), tuple(parts[0]), band, inner, splits, follows)


def _band_item(text: str) -> Item:
    item = _item(text)
    if item.partial:
        raise ScheduleError(f"band item {text!r}: sums in blocks (s) stand inside, after the second '|'")
    return item


def _inner_item(text: str) -> Item:
    item = _item(text)
    single = len(item.sizes) == 1 and item.sizes[0][1] is None
    if "/" in text and not (single and (item.lanes or item.partial)):
        forms = "'iterator', 'iterator/size' and v (lanes) or 'iterator/size' and s (sums in blocks)"
        raise ScheduleError(f"inner item {text!r} is not {forms}")
    return item


def _item(text: str) -> Item:
    name, slash, sizes = text.partition("/")
    if "@" in text:
        raise ScheduleError(f"schedule item {text!r}: blocks, as in y@4, stand first in the band and are at least 1")
    if not slash:
        return Item(name)
    if not _SIZES.fullmatch(sizes):
        raise ScheduleError(f"schedule item {text!r} is not 'iterator/size*count+…'")
    parsed = tuple(_size(part) for part in sizes.rstrip("vs").split("+"))
    if any(s < 1 for s, _ in parsed):
        raise ScheduleError(f"schedule item {text!r} has a tile smaller than 1")
    return Item(name, parsed, sizes.endswith("v"), sizes.endswith("s"))


def _size(text: str) -> tuple[int, int | None]:
    size, star, count = text.partition("*")
    return int(size), int(count) if star else None
