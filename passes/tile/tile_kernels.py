"""Tiling (``tile-kernels``): build a kernel's schedule tree over tile instances from its ``schedule``, and prove it
legal.

    schedule = #poly.schedule<"contraction: S0 | n/32v m/14*4+12*6 | k">
      →   poly.tile "T0" (14 rows), poly.tile "T1" (12 rows),
          schedule_tree = "{ domain: …, child: { schedule: [{ T0[n, m] -> [(n)]; … }] … } }"

A tile instance is a macro-statement: isl orders tile instances and generates their loops, not those of the statements
within.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import islpy as isl
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from mlc.dialects import kernel, poly
from mlc.dialects.poly import LoopNest, Partition, ScheduleError, TiledLoop, groups_of, schedule_of
from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.passes.schedule.apply_schedules import following
from mlc.passes.schedule.polyhedral.bounded import ISL_OPERATIONS, bounded
from mlc.passes.schedule.polyhedral.running_reductions import running_of
from mlc.passes.schedule.polyhedral.statement_view import statements_of
from mlc.passes.schedule.rules.fallback import give_up, plain
from mlc.passes.tile.tree.legality import Legality
from mlc.passes.tile.tree.masked_tiles import affine_text, conditions_of, largest, margins
from mlc.passes.tile.tree.padded_blocks import begins_inside, check_stream
from mlc.passes.tile.tree.segments import Blocks, Segment, blocks_of, covers, fitting, segments
from mlc.passes.tile.tree.tree_text import child_of, parallel_band, sequence, stream_band

Part = tuple[list[str], str]
"""The tuples of some tiles, and the isl text of their schedule tree."""
Level = tuple[str, str, Segment]
"""An iterator, its coordinate, and its tiles."""


@dataclass(frozen=True)
class TileKernels(ModulePass):
    """Tile kernels by their schedules. If a rule's schedule is illegal or takes isl too long, the plain schedule
    replaces it, and the kernel's origin records the reason (``plain``)."""

    name = "tile-kernels"
    isl_operations: int = ISL_OPERATIONS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [o for o in op.ops if isinstance(o, kernel.FuncOp)]
        for fn in [fn for fn in functions if fn.schedule is not None and fn.schedule_tree is None and has_work(fn)]:
            with following(fn):
                try:
                    tile(fn, self.isl_operations)
                except ScheduleError as error:
                    tile_plainly(fn, error, self.isl_operations)


def has_work(fn: kernel.FuncOp) -> bool:
    """Return whether a kernel has statements: it has none once it is known from an earlier compilation."""
    return any(isinstance(op, poly.StatementOp) for op in fn.block.ops)


def tile(fn: kernel.FuncOp, isl_operations: int) -> None:
    """Tile one kernel by its schedule."""
    with bounded(fn, TileKernels.name, isl_operations):
        _Tiling(fn).run()


def tile_plainly(fn: kernel.FuncOp, reason: ScheduleError, isl_operations: int) -> None:
    """Tile one kernel by the plain schedule, because its own schedule cannot be applied."""
    give_up(fn, statements_of(fn), reason)
    tile(fn, isl_operations)


@dataclass
class _Tiling:
    fn: kernel.FuncOp
    tiles: list[poly.TileOp] = field(default_factory=list)
    domains: list[str] = field(default_factory=list)  # of the tiles, as isl text
    expansions: list[str] = field(default_factory=list)  # from tile instances to their statement instances
    blocks: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of tiles in a partition
    streams: dict[str, str] = field(default_factory=dict)  # the streamed block of tiles in one
    margins: dict[LoopNest, float] = field(default_factory=dict)  # of the conditions of a nest's tiles
    covered: bool = True  # the tiles of each nest are known to cover its band

    def run(self) -> None:
        self.statements = {s.name: s for s in statements_of(self.fn)}
        self.params = next(iter(self.statements.values())).params
        nests = schedule_of(self.fn)
        self.running = running_of(nests, self.statements)
        parts = [self._group(group) for group in groups_of(nests)]
        if self._depend(nests):
            self.fn.serial = StringAttr("nests depend on each other")
        tree = f'domain: "{self.params.prefix}{{ {"; ".join(self.domains)} }}"' + child_of(sequence(parts))
        self.fn.schedule_tree = StringAttr(str(isl.Schedule(f"{{ {tree} }}")))
        for tile in self.tiles:
            assert self.fn.block.last_op is not None
            self.fn.block.insert_op_before(tile, self.fn.block.last_op)

    def _group(self, nests: Sequence[LoopNest]) -> Part:
        """Return the part of a group of nests, which run one after the other in each block."""
        counts = {tuple((split.blocks, split.points) for split in n.shared) for n in nests}
        if len(nests) > 1 and (len(counts) > 1 or () in counts):
            raise ScheduleError(f"'{nests[-1]}': nests joined by '&' must have blocks (@), and as many")
        for nest in nests:
            self._check_iterators(nest)
        self.margins |= margins(nests, self.statements)
        runs = [(s, [*run]) for s, run in itertools.groupby(nests, _blocks_of_stream)]
        parts = [part for s, run in runs for part in (self._stream(run) if s else map(self._nest, run))]
        names, tree = [n for names, _ in parts for n in names], sequence(parts)
        for level in reversed(range(len(nests[0].shared))):
            tree = parallel_band({n: self.blocks[n][level] for n in names}) + child_of(tree)
        return names, tree

    def _stream(self, nests: Sequence[LoopNest]) -> Iterator[Part]:
        """Yield the parts of nests that run block by block of a reduction: the initial values, then the loop over
        blocks."""
        if not nests[0].shared:
            raise ScheduleError(f"'{nests[0]}': streamed blocks, as in {nests[0].streamed}, need others before")
        starts = [n for n in nests if any(s in self.running.scales for s in n.statements)]
        yield from (self._nest(n, initial=True) for n in starts)
        parts = [self._nest(n) for n in nests]
        names = [n for names, _ in parts for n in names]
        yield names, stream_band({n: self.streams[n] for n in names}) + child_of(sequence(parts))

    def _nest(self, nest: LoopNest, initial: bool = False) -> Part:
        """Return the part of a nest; with ``initial``, the part that writes the initial values of its running
        reductions."""
        splits = [split for split in nest.tiled_blocks.values() if not (initial and split.streamed)]
        kinds = [blocks_of(split, self._any_extent(nest, split.iterator)) for split in splits]
        parts = [self._band(nest, blocks, (), initial) for blocks in itertools.product(*kinds)]
        return [n for names, _ in parts for n in names], sequence(parts)

    def _check_iterators(self, nest: LoopNest) -> None:
        unknown = [s for s in nest.statements if s not in self.statements]
        if unknown:
            raise ScheduleError(f"kernel @{self.fn.sym_name.data} has no statement {unknown[0]}")
        used = [i.iterator for i in (*nest.band, *nest.inner)]
        iters = {i for s in nest.statements for i in self.statements[s].iters}
        if sorted(used) != sorted(iters):
            wanted = ", ".join(sorted(iters))
            raise ScheduleError(f"'{nest}': band and inner must name each of the iterators {wanted} once")
        self._check_lanes(nest)
        self._check_blocks(nest)

    def _check_lanes(self, nest: LoopNest) -> None:
        rows, lanes = ([i for i in items if i.vectorized] for items in (nest.band, nest.inner))
        if max(len(rows), len(lanes)) > 1:
            raise ScheduleError(f"'{nest}': only one iterator can be vectorized (v)")
        across = [s for s in nest.statements if {i.iterator for i in lanes} & set(self.statements[s].reduced)]
        if rows and lanes:
            self._check_rows(nest, rows[0], lanes[0].iterator, across)
        wide = [i for i in nest.band if any(size > 1 for size, _ in i.sizes)]
        if across and wide and not rows:
            raise ScheduleError(f"'{nest}': {across[0]} is reduced across lanes, so {wide[0]} must have tiles of 1")

    def _check_rows(self, nest: LoopNest, rows: TiledLoop, lanes: str, across: Sequence[str]) -> None:
        """Check a nest with two vectorized iterators: its statements must reduce along ``lanes``, and ``rows`` must
        index their results."""
        views = [self.statements[s] for s in nest.statements]
        made = {s.write.array for s in views}
        inside = [s for s in views if lanes in s.iters]
        if any(s.name not in across or made & {r.array for r in s.reads} for s in inside):
            reason = f"a statement along {lanes} is no reduction, or reads what the nest computes"
            raise ScheduleError(f"'{nest}': {rows.iterator} and {lanes} cannot both be vectorized: {reason}")
        blocks = {i for i, split in nest.tiled_blocks.items() if split.points}
        if any(not isinstance(s.bounds[lanes], int) and lanes not in blocks for s in inside) and not rows.padded:
            both = f"{rows.iterator} and {lanes}"
            raise ScheduleError(f"'{nest}': {both} can both be vectorized where {lanes} has a constant extent")

    def _check_blocks(self, nest: LoopNest) -> None:
        for item in (i for i in nest.inner if i.partial_sums):
            if not self._reducing(nest, item.iterator):
                raise ScheduleError(f"'{nest}': no statement sums over {item.iterator}, so it cannot have blocks (s)")
        if (split := nest.streamed) and split.points > 1:
            check_stream(nest, split, self.statements)

    def _reducing(self, nest: LoopNest, iterator: str) -> list[str]:
        """Return the statements that reduce along ``iterator``."""
        return [s for s in nest.statements if iterator in self.statements[s].reduced]

    def _band(self, nest: LoopNest, blocks: Sequence[Blocks], chosen: tuple[Segment, ...], initial: bool) -> Part:
        """Return the part of the band from level ``len(chosen)`` on."""
        level = len(chosen)
        if level == len(nest.band):
            return self._tile(nest, blocks, chosen, initial), ""
        item = nest.band[level]
        extent = self._extent(nest, item.iterator)
        if block := next((b for b in blocks if b.split.iterator == item.iterator), None):
            extent = block.segment.size
            item = fitting(item, extent) if block.first else item
        parts = []
        tiles = segments(item, extent)
        self.covered &= covers(tiles, extent)
        for segment in tiles or [Segment(0, 0, 1, 1)]:
            names, inner = self._band(nest, blocks, (*chosen, segment), initial)
            parts.append((names, parallel_band(dict.fromkeys(names, item.iterator)) + child_of(inner)))
        return [n for names, _ in parts for n in names], sequence(parts)

    def _any_extent(self, nest: LoopNest, iterator: str) -> DimLike:
        """Return the extent of an iterator of the band or of the inner loops."""
        extents = {self.statements[s].bounds.get(iterator) for s in nest.statements}
        if len(extents) != 1 or None in extents:
            raise ScheduleError(f"{iterator} is not one iterator of all of {', '.join(nest.statements)}")
        return extents.pop()  # type: ignore[return-value]

    def _extent(self, nest: LoopNest, iterator: str) -> DimLike:
        extent = self._any_extent(nest, iterator)
        if reducing := self._reducing(nest, iterator):
            raise ScheduleError(f"{reducing[0]} reduces over {iterator}, which must be after the second '|'")
        return extent

    def _tile(self, nest: LoopNest, blocks: Sequence[Blocks], chosen: Sequence[Segment], initial: bool) -> list[str]:
        name = f"T{len(self.tiles)}"
        levels: list[Level] = [(b.split.iterator, poly.block_of(b.split.iterator), b.segment) for b in blocks]
        levels += [(i.iterator, i.iterator, s) for i, s in zip(nest.band, chosen, strict=True)]
        text = self.params.text
        sides = [f"0 <= {i} < {text(s.count)}" for _, i, s in levels]
        sides += begins_inside(nest, levels, self.statements[nest.statements[0]], self.params)
        box = " and ".join([*sides, *([] if initial else self._unmasked(nest, levels, ""))])
        tuple_ = f"{name}[{', '.join(i for _, i, _ in levels)}]"
        self.domains.append(f"{tuple_}{' : ' + box if box else ''}")
        self.expansions += [] if initial else self._expansion(nest, name, levels)
        vector = next((i.iterator for i in nest.band if i.vectorized), "")
        starts, sizes, valid = ([getattr(s, f) for _, _, s in levels] for f in ("start", "size", "valid"))
        names = [i for i, _, _ in levels]
        self.tiles.append(poly.TileOp(name, nest.statements, names, starts, sizes, valid, vector, initial))
        numbers = {b.split: b.number for b in blocks}
        if nest.shared:
            self.blocks[tuple_] = tuple(numbers.get(split) or self._block(nest, split, chosen) for split in nest.shared)
        if nest.streamed in numbers:
            self.streams[tuple_] = numbers[nest.streamed]
        return [tuple_]

    def _block(self, nest: LoopNest, split: Partition, chosen: Sequence[Segment]) -> str:
        """Return the index expression of the block in which a tile begins."""
        segment = next((s for i, s in zip(nest.band, chosen, strict=True) if i.iterator == split.iterator), None)
        if segment is not None and split.points:
            return f"floor(({self.params.text(segment.start)} + {segment.size}*{split.iterator})/{split.points})"
        if segment is None or not isinstance(extent := self._extent(nest, split.iterator), int):
            raise ScheduleError(f"'{nest}': {split} is no iterator of the band with a constant extent")
        return f"floor({split.blocks}*({segment.start} + {segment.size}*{split.iterator})/{extent})"

    def _expansion(self, nest: LoopNest, name: str, levels: Sequence[Level]) -> Iterator[str]:
        """Yield the expansion of a tile, as isl maps to the instances of each statement."""
        text = self.params.text
        unmasked = [*self._unmasked(nest, levels, "t_")]
        for s in (self.statements[n] for n in nest.statements):
            conditions = [*(f"0 <= {i} < {text(b)}" for i, b in s.bounds.items()), *unmasked]
            first: dict[str, str] = {}
            for i, t, segment in levels:
                first[i] = f"{first[i] + ' + ' if i in first else ''}{text(segment.start)} + {segment.size}*t_{t}"
                conditions.append(f"{first[i]} <= {i} < {first[i]} + {segment.size}")
                conditions.append(f"0 <= t_{t} < {text(segment.count)}")
            coordinates = ", ".join(f"t_{t}" for _, t, _ in levels)
            where = " : " + " and ".join(conditions) if conditions else ""
            yield f"{name}[{coordinates}] -> {s.name}[{', '.join(s.iters)}]{where}"

    def _unmasked(self, nest: LoopNest, levels: Sequence[Level], prefix: str) -> Iterator[str]:
        """Yield the conditions of tiles that are not masked completely, over their coordinates with a prefix."""
        bounds = self.statements[nest.statements[0]].bounds
        ranges: dict[str, tuple[DimLike, DimLike]] = {i: (0, n - 1) for i, n in bounds.items()}
        for i, coordinate, segment in reversed(levels):  # of an iterator that has blocks, these are first
            first = segment.start + segment.size * Dim.symbol(prefix + coordinate)
            ranges[i] = first, first + segment.size - 1
        margin = self.margins[nest]
        for condition in conditions_of(nest, self.statements) if margin < math.inf else ():
            yield f"{affine_text(largest(condition, ranges))} >= {-int(margin)}"

    def _depend(self, nests: Sequence[LoopNest]) -> bool:
        """Return whether nests depend on each other; raise ScheduleError if the schedule is not legal."""
        if nests == tuple(plain([*self.statements.values()])):  # legal for any dependences
            return len(nests) > 1
        where = f"schedule of kernel @{self.fn.sym_name.data}"
        blocks = [f"{t} -> [{', '.join(block)}]" for t, block in self.blocks.items()]
        streams = [f"{t} -> [{block}]" for t, block in self.streams.items()]
        executed, block_of, stream_of = (
            f"{self.params.prefix}{{ {'; '.join(m)} }}" for m in (self.expansions, blocks, streams)
        )
        arrays = self.running.arrays
        legality = Legality(where, self.statements, arrays, executed, block_of, stream_of, self.covered)
        return legality.check(nests)


def _blocks_of_stream(nest: LoopNest) -> tuple[int, int] | None:
    """Return the number of blocks of a nest's stream and the points of each; None if the nest is not streamed."""
    return (nest.streamed.blocks, nest.streamed.points) if nest.streamed else None
