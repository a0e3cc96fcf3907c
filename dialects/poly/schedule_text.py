"""The schedule language: how a user reads and writes the loop nests of a kernel (``docs/reference/schedules.md``).

    contraction: S0 S1 | y@4 n/32v m/14*4+12*6 | k/256s
    ^rule        ^statements  ^band, outermost first   ^inner loops, outermost first

``y@4`` partitions the band among threads, and so does ``m@32t``, whose tiles cover one block; ``k@8s`` streams blocks
of a reduction, and ``k@64ps`` those of 64 points each, for any extent (GPUs only). ``n/32v`` is a vectorized loop in
tiles of 32, ``m/14*4+12*6`` four tiles of 14 and six of 12, ``k/256s`` a reduction in blocks with partial sums,
``m/64p`` tiles of 64 of which the last may reach beyond the extent. A fourth section, ``warps=2x4``, is for
thread blocks of GPUs, and so are staged steps, ``k/32`` inside.
``;`` separates nests, ``&`` joins them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

from mlc.dialects.poly.schedule import LoopNest, Partition, TiledLoop
from mlc.dialects.poly.schedule_error import ScheduleError
from mlc.dialects.poly.thread_block import ThreadBlock

_PARTITION = re.compile(r"(\w+)@([1-9][0-9]*)(p?)([ts]?)")
_SIZES = re.compile(r"[0-9]+(\*[0-9]+)?(\+[0-9]+(\*[0-9]+)?)*(v?p?|s)")


def parse_schedule(text: str) -> tuple[LoopNest, ...]:
    """Parse a schedule; raise ScheduleError, which names the wrong item."""
    groups = [group.split("&") for group in text.split(";") if group.strip()]
    return tuple(_nest(part.strip(), n > 0) for group in groups for n, part in enumerate(group))


def schedule_text(nests: Iterable[LoopNest]) -> str:
    """Return the text that ``parse_schedule`` parses to these nests."""
    return "".join(f"{' & ' if n.joined else '; '}{n}" for n in nests).removeprefix("; ")


def _nest(text: str, joined: bool) -> LoopNest:
    rule, colon, rest = text.partition(":")
    parts = [p.split() for p in rest.split("|")]
    if not colon or len(parts) not in (3, 4):
        raise ScheduleError(f"schedule {text!r} is not 'rule: statements | band | inner'")
    found = [m for m in map(_PARTITION.fullmatch, itertools.takewhile(_PARTITION.fullmatch, parts[1])) if m]
    partitions = tuple(map(_partition, found))
    if len({p.iterator for p in partitions}) < len(partitions):
        raise ScheduleError(f"schedule item '{partitions[-1]}': an iterator has blocks once")
    band = tuple(map(_band_loop, parts[1][len(partitions) :]))
    block = ThreadBlock.parse(parts[3]) if len(parts) == 4 else None
    inner = tuple(_inner_loop(item, block) for item in parts[2])
    return LoopNest(rule.strip(), tuple(parts[0]), band, inner, partitions, joined, block)


def _partition(found: re.Match[str]) -> Partition:
    name, number, padded, kind = found.groups()
    counts = (0, int(number)) if padded else (int(number), 0)
    return Partition(name, counts[0], kind == "t", kind == "s", counts[1])


def _band_loop(text: str) -> TiledLoop:
    loop = _loop(text)
    if loop.partial_sums:
        raise ScheduleError(f"band item {text!r}: sums in blocks (s) must be after the second '|'")
    return loop


def _inner_loop(text: str, block: ThreadBlock | None) -> TiledLoop:
    loop = _loop(text)
    if loop.padded:
        raise ScheduleError(f"inner item {text!r}: padded tiles (p) must be in the band")
    single, counted = len(loop.sizes) == 1, any(count for _, count in loop.sizes)
    few = loop.vectorized and len(loop.sizes) <= 2  # the second one is of what is left
    if "/" in text and (counted or not (few or single and (loop.partial_sums or block is not None))):
        forms = "'iterator', 'iterator/size' and v (lanes) or 'iterator/size' and s (sums in blocks)"
        raise ScheduleError(f"inner item {text!r} is not {forms}")
    return loop


def _loop(text: str) -> TiledLoop:
    name, slash, sizes = text.partition("/")
    if "@" in text:
        raise ScheduleError(f"schedule item {text!r}: blocks, as in y@4, must be first in the band and at least 1")
    if not slash:
        return TiledLoop(name)
    if not _SIZES.fullmatch(sizes):
        raise ScheduleError(f"schedule item {text!r} is not 'iterator/size*count+…'")
    parsed = tuple(_size(part) for part in sizes.rstrip("vsp").split("+"))
    if any(s < 1 for s, _ in parsed):
        raise ScheduleError(f"schedule item {text!r} has a tile smaller than 1")
    padded = sizes.endswith("p")
    if padded and (len(parsed) > 1 or parsed[0][1] is not None):
        raise ScheduleError(f"schedule item {text!r}: padded tiles (p) have one size, without a count")
    return TiledLoop(name, parsed, "v" in sizes, sizes.endswith("s"), padded)


def _size(text: str) -> tuple[int, int | None]:
    size, star, count = text.partition("*")
    return int(size), int(count) if star else None
