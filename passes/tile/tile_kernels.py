"""``tile-kernels``: build the schedule tree that a kernel's ``schedule`` asks for, over tile instances; prove it legal.

    schedule = "contraction: S0 | n/32v m/14*4+12*6 | k"
      →   poly.tile "T0" (14 rows), poly.tile "T1" (12 rows),
          schedule_tree = "{ domain: …, child: { schedule: [{ T0[n, m] -> [(n)]; … }] … } }"

A tile instance is a macro-statement: isl orders instances and generates their loops, and never looks inside one.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import islpy as isl
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from mlc.dialects import kernel, poly
from mlc.dialects.dims import DimLike, ceildiv, floordiv
from mlc.passes.schedule.apply_schedules import following
from mlc.passes.schedule.dependences import between, dependences, independent, within_tiles
from mlc.passes.schedule.isl_text import Params
from mlc.passes.schedule.schedule import SCHEDULE, Item, Nest, Split, groups_of, parse_schedule
from mlc.passes.schedule.view import ScheduleError, params_of, statements_of

TREE = "schedule_tree"
SERIAL = "serial"


@dataclass(frozen=True)
class TileKernels(ModulePass):
    name = "tile-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp) and SCHEDULE in o.attributes]:
            with following(fn):
                _Tiling(fn).run()


@dataclass(frozen=True)
class Segment:
    """``count`` tiles of ``size`` points from ``start``; only ``lanes`` of them are valid where it is given."""

    start: DimLike
    count: DimLike
    size: int
    lanes: DimLike | None = None


def segments(item: Item, extent: DimLike) -> list[Segment]:
    """The tiles that cover ``[0, extent)``; raises ScheduleError where the sizes do not."""
    if not isinstance(extent, int) and any(count for _, count in item.sizes):
        message = f"schedule item {item} counts tiles of an extent of {extent}, which may be smaller"
        raise ScheduleError(f"{message}; leave out the counts, as in {item.iterator}/14+4+1")
    out: list[Segment] = []
    start: DimLike = 0
    for size, count in item.sizes:
        n = _whole(extent - start, size) if count is None else count
        if n != 0:
            out.append(Segment(start, n, size))
        start = start + n * size
    rest = extent - start
    if rest == 0:
        return out
    if not item.lanes or (isinstance(rest, int) and rest < 0):
        raise ScheduleError(f"schedule item {item} does not cover an extent of {extent}")
    if isinstance(rest, int):
        return [*out, Segment(start, 1, rest)]
    last = item.sizes[-1][0]
    return [*out, Segment(start, ceildiv(rest, last), last, rest)]


def _whole(extent: DimLike, size: int) -> DimLike:
    """How many tiles fit; none where those before them reach behind the end."""
    return max(extent // size, 0) if isinstance(extent, int) else floordiv(extent, size)


@dataclass
class _Tiling:
    fn: kernel.FuncOp
    tiles: list[poly.TileOp] = field(default_factory=list)
    blocks: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of tiles that threads share out in blocks

    def run(self) -> None:
        self.statements = {s.name: s for s in statements_of(self.fn)}
        self.params = Params()
        self.params.texts = {name: str(dim) for name, dim in params_of(self.fn).items()}
        text = self.fn.attributes[SCHEDULE]
        assert isinstance(text, StringAttr)
        nests = parse_schedule(text.data)
        parts = [self._group(group) for group in groups_of(nests)]
        self._check(nests)
        domain = "; ".join(t.domain.data.partition("{")[2].rpartition("}")[0] for t in self.tiles)
        tree = f'domain: "{self.params.prefix()}{{ {domain} }}"' + _child(_sequence(parts))
        self.fn.attributes[TREE] = StringAttr(str(isl.Schedule(f"{{ {tree} }}")))
        for tile in self.tiles:
            assert self.fn.block.last_op is not None
            self.fn.block.insert_op_before(tile, self.fn.block.last_op)

    def _group(self, nests: Sequence[Nest]) -> tuple[list[str], str]:
        """(tuples of the tiles, tree text) of nests, one after the other, in each block."""
        counts = {tuple(split.blocks for split in n.splits) for n in nests}
        if len(nests) > 1 and (len(counts) > 1 or () in counts):
            raise ScheduleError(f"'{nests[-1]}': nests joined by '&' must have blocks (@), and as many")
        parts = [self._nest(nest) for nest in nests]
        names, tree = [n for names, _ in parts for n in names], _sequence(parts)
        for level in reversed(range(len(nests[0].splits))):
            tree = _one_dimensional({n: self.blocks[n][level] for n in names}) + _child(tree)
        return names, tree

    def _nest(self, nest: Nest) -> tuple[list[str], str]:
        unknown = [s for s in nest.statements if s not in self.statements]
        if unknown:
            raise ScheduleError(f"kernel @{self.fn.sym_name.data} has no statement {unknown[0]}")
        self._check_iterators(nest)
        return self._band(nest, ())

    def _check_iterators(self, nest: Nest) -> None:
        used = [i.iterator for i in (*nest.band, *nest.inner)]
        iters = {i for s in nest.statements for i in self.statements[s].iters}
        if sorted(used) != sorted(iters):
            wanted = ", ".join(sorted(iters))
            raise ScheduleError(f"'{nest}': band and inner must name each of the iterators {wanted} once")
        if sum(i.lanes for i in (*nest.band, *nest.inner)) > 1:
            raise ScheduleError(f"'{nest}': only one iterator can run along the lanes (v)")
        lanes = {i.iterator for i in nest.inner if i.lanes}
        wide = [i for i in nest.band if any(size > 1 for size, _ in i.sizes)]
        sums = [s for s in nest.statements if lanes & set(self.statements[s].reduced)]
        if sums and wide:
            raise ScheduleError(f"'{nest}': {sums[0]} is combined across the lanes, so {wide[0]} must have tiles of 1")
        self._check_blocks(nest)

    def _check_blocks(self, nest: Nest) -> None:
        for item in (i for i in nest.inner if i.partial):
            if not self._reducing(nest, item.iterator):
                raise ScheduleError(f"'{nest}': no statement sums over {item.iterator}, so it cannot have blocks (s)")

    def _reducing(self, nest: Nest, iterator: str) -> list[str]:
        """The statements that combine along ``iterator``."""
        return [s for s in nest.statements if iterator in self.statements[s].reduced]

    def _band(self, nest: Nest, chosen: tuple[Segment, ...]) -> tuple[list[str], str]:
        """(tuples of the tiles, tree text) of the band from level ``len(chosen)`` on."""
        level = len(chosen)
        if level == len(nest.band):
            return self._tile(nest, chosen), ""
        item = nest.band[level]
        extent = self._extent(nest, item.iterator)
        parts = []
        for segment in segments(item, extent) or [Segment(0, 0, 1)]:
            names, inner = self._band(nest, (*chosen, segment))
            parts.append((names, _one_dimensional(dict.fromkeys(names, item.iterator)) + _child(inner)))
        return [n for names, _ in parts for n in names], _sequence(parts)

    def _extent(self, nest: Nest, iterator: str) -> DimLike:
        extents = {self.statements[s].bounds.get(iterator) for s in nest.statements}
        if len(extents) != 1 or None in extents:
            raise ScheduleError(f"{iterator} is not one iterator of all of {', '.join(nest.statements)}")
        if reducing := self._reducing(nest, iterator):
            raise ScheduleError(f"{reducing[0]} reduces over {iterator}, which must stand inside, after the second '|'")
        return extents.pop()  # type: ignore[return-value]

    def _tile(self, nest: Nest, chosen: Sequence[Segment]) -> list[str]:
        name, iters = f"T{len(self.tiles)}", [i.iterator for i in nest.band]
        text = self.params.text
        box = " and ".join(f"0 <= {i} < {text(s.count)}" for i, s in zip(iters, chosen, strict=True))
        tuple_ = f"{name}[{', '.join(iters)}]"
        domain = f"{{ {tuple_}{' : ' + box if box else ''} }}"
        expansion = self._expansion(nest, name, chosen)
        prefix = self.params.prefix()
        lanes = ["" if s.lanes is None else str(s.lanes) for s in chosen]
        vector = next((i.iterator for i in nest.band if i.lanes), "")
        self.tiles.append(
            poly.TileOp(
                name, nest.statements, prefix + domain, prefix + expansion, iters, [str(s.start) for s in chosen],
                [s.size for s in chosen], lanes, [str(i) for i in nest.inner],
                vector,
            )
        )  # fmt: skip
        if nest.splits:
            self.blocks[tuple_] = tuple(self._block(nest, split, chosen) for split in nest.splits)
        return [tuple_]

    def _block(self, nest: Nest, split: Split, chosen: Sequence[Segment]) -> str:
        """The number of the block in which a tile begins."""
        segment = next((s for i, s in zip(nest.band, chosen, strict=True) if i.iterator == split.iterator), None)
        if segment is None or not isinstance(extent := self._extent(nest, split.iterator), int):
            raise ScheduleError(f"'{nest}': {split} is no iterator of the band with a constant extent")
        return f"floor({split.blocks}*({segment.start} + {segment.size}*{split.iterator})/{extent})"

    def _expansion(self, nest: Nest, name: str, chosen: Sequence[Segment]) -> str:
        """Which statement instances the instances of a tile execute."""
        maps, text = [], self.params.text
        for s in (self.statements[n] for n in nest.statements):
            conditions = [f"0 <= {i} < {text(b)}" for i, b in s.bounds.items()]
            for item, segment in zip(nest.band, chosen, strict=True):
                first = f"{text(segment.start)} + {segment.size}*t_{item.iterator}"
                conditions.append(f"{first} <= {item.iterator} < {first} + {segment.size}")
                conditions.append(f"0 <= t_{item.iterator} < {text(segment.count)}")
            coordinates = ", ".join(f"t_{i.iterator}" for i in nest.band)
            where = " : " + " and ".join(conditions) if conditions else ""
            maps.append(f"{name}[{coordinates}] -> {s.name}[{', '.join(s.iters)}]{where}")
        return "{ " + "; ".join(maps) + " }"

    def _check(self, nests: Sequence[Nest]) -> None:
        """Dependences stay within tiles; nests that depend on each other run on one thread; nothing is left out."""
        where = f"schedule of kernel @{self.fn.sym_name.data}"
        expansion = isl.UnionMap("{ }")
        for tile in self.tiles:
            expansion = expansion.union(isl.UnionMap(tile.expansion.data))
        domain = isl.UnionSet("{ }")
        for s in self.statements.values():
            domain = domain.union(isl.UnionSet(s.op.domain.data))
        if not domain.is_equal(expansion.range()):
            raise ScheduleError(f"{where}: not every statement instance is in a tile")
        for nest in nests:
            if not within_tiles(dependences([self.statements[s] for s in nest.statements]), expansion):
                raise ScheduleError(f"{where}: '{nest}' cuts a dependence; put what belongs together into one tile")
        self._check_order(nests, self._in_blocks(expansion), where)

    def _in_blocks(self, expansion: isl.UnionMap) -> isl.UnionMap:
        """The block of each statement instance that belongs to one."""
        prefix, maps = self.params.prefix(), (f"{tile} -> [{', '.join(block)}]" for tile, block in self.blocks.items())
        return expansion.reverse().apply_range(isl.UnionMap(f"{prefix}{{ {'; '.join(maps)} }}"))

    def _check_order(self, nests: Sequence[Nest], blocks: isl.UnionMap, where: str) -> None:
        pairs = [(a, b) for x, y in itertools.combinations(nests, 2) for a in x.statements for b in y.statements]
        dependent = [pair for pair in pairs if not independent([self.statements[s] for s in pair])]
        place = {name: n for n, name in enumerate(self.statements)}
        inside = [pair for nest in nests for pair in itertools.pairwise(nest.statements)]
        if any(place[a] > place[b] for a, b in (*inside, *dependent)):
            raise ScheduleError(f"{where}: statements must keep their order {' '.join(self.statements)}")
        joined = {pair for pair in dependent if _joined(pair, nests)}
        if not all(within_tiles(between(*(self.statements[s] for s in pair)), blocks.reverse()) for pair in joined):
            raise ScheduleError(f"{where}: a block of nests joined by '&' needs results of another; write ';' for '&'")
        if len(dependent) > len(joined):
            self._make_serial(nests, where)

    def _make_serial(self, nests: Sequence[Nest], where: str) -> None:
        if not all(n.serial for n in nests):
            raise ScheduleError(f"{where}: its nests depend on each other; name them 'serial'")
        self.fn.attributes[SERIAL] = StringAttr("nests depend on each other")


def _joined(pair: Sequence[str], nests: Sequence[Nest]) -> bool:
    """Whether two statements run in the same blocks, the first before the second in each."""
    return any(all(any(s in n.statements for n in group) for s in pair) for group in groups_of(nests))


def _one_dimensional(members: Mapping[str, str]) -> str:
    """A band of one parallel dimension, given for each tuple."""
    terms = "; ".join(f"{name} -> [({value})]" for name, value in members.items())
    return f'schedule: "[{{ {terms} }}]", permutable: 1, coincident: [ 1 ]'


def _child(tree: str) -> str:
    return f", child: {{ {tree} }}" if tree else ""


def _sequence(parts: Sequence[tuple[list[str], str]]) -> str:
    if len(parts) == 1:
        return parts[0][1]
    filters = [f'{{ filter: "{{ {"; ".join(names)} }}"{_child(tree)} }}' for names, tree in parts]
    return "sequence: [ " + ", ".join(filters) + " ]"
