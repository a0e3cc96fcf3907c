"""A growing graph whose inputs have open sizes: each value has a shape in each of a few runs.

The first run fits always, as steps are chosen by its shapes. The others may not: there a shape is None as soon as
nobody knows it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import starmap
from math import prod
from random import Random
from typing import Any

from growing import MOST, Graph, Shape, drawn
from onnx import NodeProto, ValueInfoProto, helper

FIRST = (6, 7, 8, 8, 9, 10, 12, 12, 15, 16, 16, 20, 24)  # sizes of the first run
RUNS = 4
Sizes = list[Shape | None]  # of a value, in each run
Rule = Callable[..., Sequence[int]]


class Misfit(Exception):
    """A step that does not fit the values that it chose."""


@dataclass
class Sized(Graph):
    """``runs``: the size of each open dimension. ``sizes``: of each value. ``named``: the dimensions of inputs."""

    runs: list[dict[str, int]] = field(default_factory=list)
    sizes: dict[str, Sizes] = field(default_factory=dict)
    named: dict[str, tuple[int | str, ...]] = field(default_factory=dict)

    def draw_runs(self) -> None:
        """The sizes of ``n``, ``m`` and ``b``: some that fit, one more, twice as many, any."""
        pick = self.random.choice
        n = pick(FIRST)
        first = {"n": n, "m": pick([n, n, n, pick(FIRST)]), "b": pick([1, 2, 3])}
        ways = [lambda d: d + 1, lambda d: 2 * d, lambda d: d + 4, lambda _: self.random.randint(1, 30),
                lambda _: self.random.randint(1, 4)]  # fmt: skip
        self.runs = [first]
        for way in self.random.sample(ways, RUNS - 1):
            n = way(first["n"])
            m = n if first["n"] == first["m"] and self.random.random() < 0.6 else way(first["m"])
            m = max(m, 2) if m != n else m  # of 1 it would be broadcast to n
            self.runs.append({"n": n, "m": m, "b": self.random.randint(1, 4)})

    def input(self, dims: Sequence[int | str], kind: str = "float32") -> str:
        """An input; a dimension is a number, or a name or expression of the open ones, or without a name."""
        name = f"x{len(self.inputs)}"
        self.sizes[name] = [tuple(int(eval(str(d).strip("?"), {}, run)) for d in dims) for run in self.runs]
        self.named[name] = tuple("" if str(d).startswith("?") else d for d in dims)
        self.shapes[name] = self.inputs[name] = self.sizes[name][0]  # type: ignore[assignment]
        self.types[name] = kind
        return name

    def weight(self, *shape: int) -> str:
        """A constant of numbers up to 2, of which as many as are summed have a sum of that order."""
        array = drawn(self.numpy(), shape, "float32")
        return self.constant(array / max(1.0, prod(shape[1:]) ** 0.5))

    def make(
        self, op: str, inputs: Sequence[str], rule: Rule, /, of: Sequence[str] = (), kind: str = "", **how: Any
    ) -> str:
        """A node whose result has the shape that ``rule`` makes of the shapes of the values ``of``, else ``inputs``.

        Raises:
            Misfit: in the first run there is no result, or a large or empty one.
        """
        given = [self.sizes[n] for n in (of or [i for i in inputs if i in self.sizes])]
        sizes = list(starmap(lambda *shapes: applied(rule, shapes), zip(*given, strict=True)))
        if sizes[0] is None or prod(sizes[0]) > MOST or len(sizes[0]) > 6:
            raise Misfit
        name = self.add(op, inputs, sizes[0], kind=kind, **how)
        self.sizes[name] = sizes
        return name

    def whole(self, op: str, inputs: Sequence[str], **how: Any) -> str:
        """A node on whole numbers, whose result no step but the one that makes it reads."""
        name = f"s{len(self.nodes)}"
        self.step(op, inputs, [name], **how)
        return name

    def axis(self, x: str) -> int:
        """An axis, mostly one whose extent is open."""
        rank = len(self.shapes[x])
        free = [n for n in range(rank) if not self.is_fixed(x, n)]
        return self.random.choice(free) if free and self.random.random() < 0.8 else self.random.randrange(rank)

    def extent(self, x: str, axis: int) -> str:
        """A size as [1] of i64."""
        shape = self.whole("Shape", [x])
        if self.random.random() < 0.5:
            return self.whole("Gather", [shape, self.constant([axis])])
        end = axis + 1 if axis != -1 else 1 << 31
        return self.whole("Slice", [shape, self.constant([axis]), self.constant([end])])

    def join(self, *parts: str | int) -> str:
        """Sizes as a shape: [count]."""
        return self.whole("Concat", [p if isinstance(p, str) else self.constant([p]) for p in parts], axis=0)

    def one(self, low: int = 1, high: int = 9, floats: bool = True) -> str:
        """A value of so many dimensions, mostly one of the last.

        Raises:
            Misfit: there is none.
        """
        names = [n for n, s in self.sizes.items() if s[0] and low <= len(s[0]) <= high and self.types[n] == "float32"]
        if not names:
            raise Misfit
        return self.random.choice(names[-3:] + [self.random.choice(names)])

    def is_fixed(self, x: str, axis: int) -> bool:
        """Whether an extent is the same in all runs, as far as it is known."""
        return len({s[axis] for s in self.sizes[x] if s is not None and len(s) > axis}) == 1

    def alike(self, x: str, y: str) -> int:
        """In how many runs both have one shape."""
        return sum(a is not None and a == b for a, b in zip(self.sizes[x], self.sizes[y], strict=True))

    def branch(
        self, condition: str, then: Sequence[NodeProto], other: Sequence[NodeProto], rule: Rule, *of: str
    ) -> str:
        """An If whose branches end in nodes that give ``y``."""
        name = f"y{len(self.nodes)}"
        info = ValueInfoProto(name="y")
        info.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(drawn(self.numpy(), (), "float32").dtype)
        sides = []
        for n, nodes in enumerate((then, other)):
            inner, result = [NodeProto.FromString(each.SerializeToString()) for each in nodes], ValueInfoProto()
            result.CopyFrom(info)
            result.name = f"{name}_{n}"
            for each in inner:
                each.output[:] = [f"{name}_{n}" if o == "y" else f"{name}_{n}_{o}" for o in each.output]
                made = {o for e in nodes for o in e.output}
                each.input[:] = [f"{name}_{n}_{i}" if i in made else i for i in each.input]
            sides.append(helper.make_graph(inner, "side", [], [result]))
        return self.make("If", [condition], rule, of=of, then_branch=sides[0], else_branch=sides[1], kind="float32")

    def _declared(self, name: str) -> tuple[int | str, ...]:
        return self.named[name]

    def _result(self, name: str) -> Sequence[None] | None:
        ranks = {len(s) for s in self.sizes.get(name, ()) if s is not None}
        return [None] * ranks.pop() if len(ranks) == 1 else None


def resized(s: Shape, axis: int, extent: int) -> Shape:
    """The shape with another extent of an axis."""
    return (*s[:axis], extent, *s[axis + 1 :])


def applied(rule: Rule, shapes: Sequence[Shape | None]) -> Shape | None:
    """The shape that a rule makes of others; None where these do not fit, or it has no elements."""
    with suppress(Exception):  # a rule may count on fitting shapes
        if None not in shapes:
            found = tuple(int(d) for d in rule(*shapes))
            return found if min(found, default=1) > 0 else None
    return None


def sized(seed: int) -> Sized:
    """A graph without nodes, of one or two inputs."""
    g = Sized(Random(seed), opset=(18, 19, 20, 21)[seed // 16 % 4])
    g.draw_runs()
    b, c, n, m = g.random.choice(["b", "b", 1, 2]), g.random.randint(1, 4), "n", g.random.choice(["m", "m", "n", 8])
    n, m = (f"?{d}" if g.random.random() < 0.1 and isinstance(d, str) else d for d in (n, m))
    dims = g.random.choice([(b, c, n), (b, c, n), (b, c, n, m), (b, c, n, m), (b, n, c), (b, n)])
    g.input(dims)
    if g.random.random() < 0.3:  # a second one, of a size that follows from the first or is one of its own
        g.input([g.random.choice(["n", "m", "2*n", "n+1", "n//2"]) if d == "n" else d for d in dims])
    if g.random.random() < 0.3:  # numbers of words, or truth values, that share sizes with the first one
        g.input(g.random.choice([("n",), (b, "n"), dims]), g.random.choice(["int64", "int64", "bool"]))
    return g
