"""Schedules: the loop nests in which a kernel runs its statements.

A rule chooses them, a user reads and edits their text (``schedule_text.py``), and the tiling pass applies them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlc.dialects.poly.schedule_error import ScheduleError
from mlc.dialects.poly.thread_block import ThreadBlock
from mlc.dialects.semantics.dims import DimLike


@dataclass(frozen=True)
class TiledLoop:
    """A loop over an iterator, with the sizes of its tiles: ((size, count or None), …).

    ``vectorized``: its points are the lanes of vectors. ``partial_sums``: a reduction whose blocks have partial sums,
    which are added to the total (blocked summation). ``padded``: tiles of one size cover the extent, and the last tile
    may reach beyond it (the GPU's threads there are idle). Inside a tile, a size without a flag counts *staged* steps:
    a GPU's block copies the operands of that many steps to shared memory together.
    """

    iterator: str
    sizes: tuple[tuple[int, int | None], ...] = ((1, None),)
    vectorized: bool = False
    partial_sums: bool = False
    padded: bool = False

    def __str__(self) -> str:
        flags = {"v": self.vectorized, "s": self.partial_sums, "p": self.padded}
        marks = "".join(mark for mark, on in flags.items() if on)
        if self.sizes == ((1, None),) and not marks:
            return self.iterator
        sizes = "+".join(str(s) if n is None else f"{s}*{n}" for s, n in self.sizes)
        return f"{self.iterator}/{sizes}{marks}"

    @property
    def size(self) -> int:
        """The points of the first tile, which is the largest."""
        return self.sizes[0][0]

    @property
    def staged(self) -> int | None:
        """Inside a tile, the number of steps whose operands are staged together; None if the schedule does not give
        it."""
        return None if self.vectorized or self.partial_sums or self.size == 1 else self.size


@dataclass(frozen=True)
class Partition:
    """A partition of an iterator of the band into equal ``blocks`` among threads; the band runs in each block.

    ``tiled``: the iterator's tiles cover one block, and repeat in each block. Otherwise they cover its extent, and a
    tile belongs to the block in which it begins. ``streamed``: tiled blocks of a reduction, which one thread runs in
    order, with running results. ``points``: the points of each block if the number of blocks is not given (``blocks``
    is 0); such blocks cover any extent, and the last one may reach beyond it (padded).
    """

    iterator: str
    blocks: int
    tiled: bool = False
    streamed: bool = False
    points: int = 0

    def __str__(self) -> str:
        kind = "t" if self.tiled else "s" if self.streamed else ""
        return f"{self.iterator}@{self.blocks or f'{self.points}p'}{kind}"

    def size(self, extent: DimLike) -> int | None:
        """Return the points of a block (the last block may have fewer), or None if the number is not known."""
        if self.points:
            return self.points
        return -(-extent // self.blocks) if isinstance(extent, int) else None

    def is_each(self, extent: DimLike) -> bool:
        """Return whether each point is a block."""
        return self.points == 1 or bool(self.blocks) and extent == self.blocks


@dataclass(frozen=True)
class LoopNest:
    """A loop nest: ``statements`` in order in every tile of ``band``; ``inner``: the loops within a tile.

    ``joined``: nest fusion; the nest runs after the previous nest in each block. ``block``: how the threads of a GPU's
    block compute a tile.
    """

    rule: str
    statements: tuple[str, ...]
    band: tuple[TiledLoop, ...]
    inner: tuple[TiledLoop, ...] = ()
    partitions: tuple[Partition, ...] = ()
    joined: bool = False
    block: ThreadBlock | None = None

    def __str__(self) -> str:
        block = [(self.block,)] if self.block is not None else []
        sections = (self.statements, (*self.partitions, *self.band), self.inner, *block)
        parts = [" ".join(map(str, part)) for part in sections]
        return f"{self.rule}: " + " | ".join(parts)

    @property
    def tiled_blocks(self) -> dict[str, Partition]:
        """The partition of each iterator whose tiles repeat in each block."""
        return {split.iterator: split for split in self.partitions if split.tiled or split.streamed}

    @property
    def streamed(self) -> Partition | None:
        """The partition of a reduction whose blocks the nest runs in order."""
        return next((split for split in self.partitions if split.streamed), None)

    @property
    def shared(self) -> tuple[Partition, ...]:
        """The partitions whose blocks threads divide among themselves."""
        return tuple(split for split in self.partitions if not split.streamed)

    @property
    def serial(self) -> bool:
        """Whether only one thread runs the nest."""
        return self.rule == "serial"


def block_of(iterator: str) -> str:
    """Return the name of the coordinate that counts the blocks of a tiled partition."""
    return iterator + "'"


def thread_block_of(nests: Sequence[LoopNest]) -> ThreadBlock:
    """Return the thread blocks of a kernel, which its nests share: one launch has blocks of one kind.

    Raise ScheduleError if two nests give different thread blocks.
    """
    found = list(dict.fromkeys(n.block for n in nests if n.block))
    if len(found) > 1:
        raise ScheduleError(f"the nests of a kernel share its thread blocks: '{found[0]}' is not '{found[1]}'")
    return found[0] if found else ThreadBlock()


def groups_of(nests: Sequence[LoopNest]) -> list[list[LoopNest]]:
    """Return the groups of joined nests; a nest that is not joined is a group of one."""
    groups: list[list[LoopNest]] = []
    for nest in nests:
        groups[-1:] = [[*groups[-1], nest]] if nest.joined and groups else [*groups[-1:], [nest]]
    return groups
