"""``split-threads``: decide along which axis threads share out each kernel, so that they find what they wrote.

    kernel.func @conv {schedule = "contraction: S0 | f/2*4 fi/16v y/14*16 | c"}     # by output channels: all of the
      →   {schedule = "contraction: S0 | y@16 f/2*4 fi/16v y/14*16 | c"}            # input is read by every thread

What one CPU wrote and another reads comes slowly, more so where they share no cache. So a kernel is divided as those
before and after it are, if what its threads then all read (weights), and how long they wait where their shares differ,
costs less than what would change hands.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import OpResult, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.dialects.dims import Dim, DimLike, product
from mlc.dialects.graph import BitcastOp, ConcatOp, ReshapeOp, SliceOp
from mlc.dialects.types import bytes_of
from mlc.passes.schedule.apply_schedules import LINE, TUNED
from mlc.passes.schedule.balance import seconds, tiles_of, waiting
from mlc.passes.schedule.machine import Machine
from mlc.passes.schedule.schedule import SCHEDULE, Item, Nest, Split, parse_schedule, schedule_text
from mlc.passes.schedule.view import Access, statements_of

MACHINE = Machine()
REACH = 2  # how far from a kernel others follow it
GAIN = 1e-6  # of the cost, below which it is the same
MANY, FEW = 16, 4  # blocks: where what each reads in full stays in the cache, and where not

Period = int | None
"""Elements after which the shares of an array repeat: rows of an image are shared out anew in each channel. None: all
of it is read."""


@dataclass(frozen=True)
class SplitThreads(ModulePass):
    name = "split-threads"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {o.sym_name.data: _Kernel(o) for o in op.ops if isinstance(o, kernel.FuncOp) and _free(o)}
        calls = [o for o in op.walk() if isinstance(o, kernel.CallOp)]
        times = Counter(f for call in calls if (f := functions.get(call.callee.root_reference.data)))
        _Splitting(Counter(_edges(calls, functions)), times).run()
        for each in functions.values():
            each.write()


def split_like(schedule: str, chosen: str) -> str:
    """A candidate for a kernel's schedule, shared out among threads as the chosen one is."""
    nests, models = parse_schedule(schedule), parse_schedule(chosen)
    known = {n.statements: n.splits for n in models}
    return schedule_text(n if n.splits else replace(n, splits=known.get(n.statements, ())) for n in nests)


def _free(fn: kernel.FuncOp) -> bool:
    return SCHEDULE in fn.attributes and LINE not in fn.attributes and TUNED not in fn.attributes


@dataclass(eq=False)
class _Kernel:
    """A kernel's nests, the choices of its largest, and the one taken."""

    fn: kernel.FuncOp

    def __post_init__(self) -> None:
        text = self.fn.attributes[SCHEDULE]
        assert isinstance(text, StringAttr)
        self.statements = {s.name: s for s in statements_of(self.fn)}
        self.nests = parse_schedule(text.data)
        self.main = max(self.nests, key=self._points)
        self.choices = list(self._choices())
        self.chosen = self.default = next(iter(self.choices), None)
        self.periods = cache(self._periods)
        self.seconds = seconds(self.fn, MACHINE)

    def _points(self, nest: Nest) -> int:
        bounds = self.statements[nest.statements[0]].bounds.values()
        return math.prod(b if isinstance(b, int) else 1 for b in bounds)

    def _choices(self) -> Iterator[str]:
        """Iterators of the largest nest that have several tiles, the outermost first; lanes only if they are."""
        if self.main.serial or self.main.splits:
            yield from (split.iterator for split in self.main.splits[:1])
            return
        bounds = self.statements[self.main.statements[0]].bounds
        wide = [i for i in self.main.band if tiles_of(i, bounds[i.iterator]) > 1]
        yield from (i.iterator for i in wide if not i.lanes or i is wide[0])  # lines of memory stay whole

    def _periods(self, iterator: str | None) -> dict[int, Period]:
        """How the buffers of the largest nest, and of those split with it, are shared out, by number."""
        found: dict[int, Period] = {}
        for nest in (n for n in self.nests if n is self.main or n.splits):
            along = nest.splits[0].iterator if nest.splits else iterator
            for s in (self.statements[name] for name in nest.statements):
                buffers = [a for a in (*s.reads, s.write) if a.array.startswith("b")]
                found |= {int(a.array[1:]): period(a, along, s.bounds[along]) if along else None for a in buffers}
        return found

    def share(self, argument: int) -> Period:
        """How a buffer is shared out as the kernel is divided now."""
        return self.periods(self.chosen).get(argument)

    def write(self) -> None:
        if self.chosen is None or self.chosen == self.default:
            return
        wanted = self.periods(self.chosen)
        nests = [n if n.splits else replace(n, splits=self._splits(n, wanted)) for n in self.nests]
        self.fn.attributes[SCHEDULE] = StringAttr(schedule_text(nests))

    def _splits(self, nest: Nest, wanted: dict[int, Period]) -> tuple[Split, ...]:
        """The split of one nest that shares out what it writes as the largest does."""
        members = [self.statements[s] for s in nest.statements]
        for item in nest.band:
            extent, write = members[0].bounds[item.iterator], members[-1].write
            same = period(write, item.iterator, extent) == wanted.get(int(write.array[1:]), 0)
            if isinstance(extent, int) and same:
                return (Split(item.iterator, self._blocks(item, extent)),)
        return ()

    def again(self) -> int:
        """How many times more than once what is read in full is read: by each thread, in each block if it does not
        stay in the cache until the next."""
        return FEW - 1 if self.chosen != self.default and self._whole() >= MACHINE.l2 else 1

    def idle(self) -> float:
        """Seconds that one of two threads waits for the other, whose share is larger."""
        item = next((i for i in self.main.band if i.iterator == self.chosen), None)
        if item is None:
            return 0.0
        extent = self.statements[self.main.statements[0]].bounds[item.iterator]
        blocks = tiles_of(item, extent) if self.chosen == self.default else self._blocks(item, extent)
        return self.seconds * waiting(item, extent, blocks)

    def _blocks(self, item: Item, extent: DimLike) -> int:
        return min(MANY if self._whole() <= MACHINE.l2 // 2 else FEW, tiles_of(item, extent))

    def _whole(self) -> int:
        """Bytes of what is read in full."""
        sizes = (bytes_of(self.fn.block.args[n]) for n, p in self.periods(self.chosen).items() if p is None)
        return sum(b for b in sizes if isinstance(b, int))


def period(access: Access, iterator: str, extent: DimLike) -> Period:
    """Elements after which what ``iterator`` moves along begins anew: the axes from the first that it moves along,
    if it is what matters most there."""
    moved = (n for n, i in enumerate(access.index) if isinstance(i, Dim) and iterator in i.symbols())
    tail = product(access.shape[next(moved, len(access.shape)) :])
    stride = access.stride(iterator)
    span = stride * extent if stride is not None else tail
    if not (isinstance(tail, int) and isinstance(span, int)) or stride == 0:
        return None
    return tail if 2 * span > tail else span


@dataclass(frozen=True)
class _Edge:
    """A kernel's argument, and the results of kernels that it is made of; none for weights and inputs."""

    user: _Kernel
    argument: int
    size: int
    makers: tuple[tuple[_Kernel, int], ...]

    def cost(self) -> float:
        """Seconds in which what a thread has not written itself, or all read, comes to it."""
        wanted = self.user.share(self.argument)
        if not self.makers:
            return self.user.again() * self.size / MACHINE.cache if wanted is None else 0.0
        if wanted is None:
            return self.size / MACHINE.remote
        strange = sum(maker.share(n) != wanted for maker, n in self.makers)
        return self.size / 2 * strange / len(self.makers) / MACHINE.remote


@dataclass
class _Splitting:
    """A search that never gets worse: a kernel takes another choice, and those near it follow where that costs less."""

    edges: Counter[_Edge]
    calls: Counter[_Kernel]

    def run(self) -> None:
        self.near: dict[_Kernel, dict[_Edge, int]] = defaultdict(dict)
        for edge, count in self.edges.items():
            for each in (edge.user, *(maker for maker, _ in edge.makers)):
                self.near[each][edge] = count
        better = True
        while better:
            tries = [self._improve(each, choice) for each in self.near for choice in each.choices]
            better = any(tries)

    def _improve(self, each: _Kernel, choice: str) -> bool:
        region = self._region(each)
        edges = {e: n for k in region for e, n in self.near[k].items()}
        before, cost = {k: k.chosen for k in region}, self._cost(edges, region)
        each.chosen = choice
        for other in region[1:]:
            other.chosen = min(other.choices, key=partial(self._if, other), default=None)
        if self._cost(edges, region) < cost * (1 - GAIN):
            return True
        for other, was in before.items():
            other.chosen = was
        return False

    def _region(self, each: _Kernel) -> list[_Kernel]:
        """The kernel and its neighbours, the nearest first."""
        region = {each: None}
        for _ in range(REACH):
            for edge in [e for k in region for e in self.near[k]]:
                region |= dict.fromkeys((edge.user, *(maker for maker, _ in edge.makers)))
        return list(region)

    def _if(self, each: _Kernel, choice: str) -> float:
        was, each.chosen = each.chosen, choice
        cost = self._cost(self.near[each], [each])
        each.chosen = was
        return cost

    def _cost(self, edges: Mapping[_Edge, int], kernels: Sequence[_Kernel]) -> float:
        moved = sum(edge.cost() * count for edge, count in edges.items())
        return moved + sum(each.idle() * self.calls[each] for each in kernels)


def _edges(calls: Sequence[kernel.CallOp], kernels: Mapping[str, _Kernel]) -> Iterator[_Edge]:
    for call in calls:
        user = kernels.get(call.callee.root_reference.data)
        for n, value in enumerate(call.args):
            size, makers = bytes_of(value), [made for r in _roots(value) if (made := _maker(r, kernels))]
            if user is not None and isinstance(size, int):
                yield _Edge(user, n, size, tuple(makers))


def _maker(value: SSAValue, kernels: Mapping[str, _Kernel]) -> tuple[_Kernel, int] | None:
    """The kernel that computes a value, and the number of its argument."""
    if not isinstance(value, OpResult) or not isinstance(call := value.owner, kernel.CallOp):
        return None
    maker = kernels.get(call.callee.root_reference.data)
    return (maker, len(call.args) + value.index) if maker else None


def _roots(value: SSAValue) -> Iterator[SSAValue]:
    """The values whose memory a value is."""
    match value.owner:
        case ReshapeOp() | BitcastOp() | SliceOp():
            yield from _roots(value.owner.input)
        case ConcatOp():
            for part in value.owner.args:
                yield from _roots(part)
        case _:
            yield value
