"""Random programs of small loops, written once for NumPy and `mlc`: an outer loop whose state is a few small arrays.

Bodies update elements at computed indices, multiply small matrices, branch, have inner loops, and are kept small by
``tanh``, so that float64 gives a reference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import mlc
import mlc.numpy as mnp

Array = np.ndarray[Any, Any]
SHAPES = ((), (), (1,), (3,), (3, 3), (2, 5), (9,), (17,), (0,), (2, 3, 3))
KINDS = ("fori", "counted", "scan", "reversed", "while")
STEPS = ("affine", "sin", "tanh", "dot", "set", "add", "take", "where", "sum", "max", "cumsum", "roll", "cond", "inner",
         "until", "sort", "cast", "multiply")  # fmt: skip


class ByNumPy:
    """What a program needs, in Python's loops."""

    np: Any = np

    def fori(self, count: Any, body: Callable[[Any, Any], Any], state: Any) -> Any:
        for n in range(int(count)):
            state = body(n, state)
        return state

    def scan(self, f: Callable[[Any, Any], Any], state: Any, xs: Any, reverse: bool) -> Any:
        made: list[Any] = [None] * len(xs)
        for n in reversed(range(len(xs))) if reverse else range(len(xs)):
            state, made[n] = f(state, xs[n])
        return state, made

    def repeat(self, holds: Callable[[Any], Any], body: Callable[[Any], Any], state: Any) -> Any:
        while bool(holds(state)):
            state = body(state)
        return state

    def cond(self, p: Any, f: Callable[[Any], Any], g: Callable[[Any], Any], x: Any) -> Any:
        return f(x) if bool(p) else g(x)

    def change(self, a: Any, n: Any, v: Any, adds: bool) -> Any:
        made = np.array(a)
        made[int(n)] = made[int(n)] + v if adds else v
        return made

    def take(self, a: Any, n: Any) -> Any:
        return a[int(n)]

    def whole(self, x: Any) -> Any:
        return np.int64(np.floor(x))

    def number(self, n: Any) -> Any:
        return np.float64(n)


class ByMlc(ByNumPy):
    np: Any = mnp

    def fori(self, count: Any, body: Callable[[Any, Any], Any], state: Any) -> Any:
        return mlc.fori_loop(0, count, body, state)

    def scan(self, f: Callable[[Any, Any], Any], state: Any, xs: Any, reverse: bool) -> Any:
        return mlc.scan(f, state, xs, reverse=reverse)

    def repeat(self, holds: Callable[[Any], Any], body: Callable[[Any], Any], state: Any) -> Any:
        return mlc.while_loop(holds, body, state)

    def cond(self, p: Any, f: Callable[[Any], Any], g: Callable[[Any], Any], x: Any) -> Any:
        return mlc.cond(p, f, g, x)

    def change(self, a: Any, n: Any, v: Any, adds: bool) -> Any:
        return a.at[n].add(v) if adds else a.at[n].set(v)

    def take(self, a: Any, n: Any) -> Any:
        return a[n]

    def whole(self, x: Any) -> Any:
        return mnp.floor(x).astype("int64")

    def number(self, n: Any) -> Any:
        return n.astype("float64")


@dataclass(frozen=True)
class LoopProgram:
    """A loop of ``kind`` with ``trips`` iterations over arrays of ``shapes``; ``steps`` of (name, operands, place)."""

    kind: str
    trips: int
    shapes: tuple[tuple[int, ...], ...]
    steps: tuple[tuple[str, int, int, int], ...]
    inner: int

    @classmethod
    def drawn(cls, seed: int) -> LoopProgram:
        rng = np.random.default_rng(seed)
        shapes = tuple(SHAPES[n] for n in rng.integers(len(SHAPES), size=rng.integers(1, 4)))
        many = rng.integers(1, 7)
        steps = ((STEPS[rng.integers(len(STEPS))], *map(int, rng.integers(99, size=3))) for _ in range(many))
        kind, trips = KINDS[rng.integers(len(KINDS))], (0, 1, 2, 7, 20)[rng.integers(5)]
        return cls(kind, trips, shapes, tuple(steps), int(rng.integers(4)))

    def inputs(self, seed: int) -> list[Array]:
        """The first states, and an array with an element for each iteration."""
        rng = np.random.default_rng(seed)
        return [rng.standard_normal(shape) for shape in (*self.shapes, (self.trips,))]

    def __call__(self, lib: ByNumPy, *given: Any) -> list[Any]:
        *state, xs = given
        if self.kind in ("scan", "reversed"):
            last, made = lib.scan(lambda s, x: self.collecting(lib, x, s), tuple(state), xs, self.kind == "reversed")
            return [*last, *([made] if self.trips else [])]
        if self.kind == "while":
            holds = lambda s: (s[-1] < self.trips) & (lib.np.sum(s[0]) < 4.0)  # noqa: E731
            again = lambda s: (*self.body(lib, s[-1] * 0.1, s[:-1]), s[-1] + 1)  # noqa: E731
            return [*lib.repeat(holds, again, (*state, lib.np.sum(xs) * 0))]
        count = self.trips if self.kind == "fori" else lib.whole(lib.np.sum(xs * 0) + self.trips)
        return [*lib.fori(count, lambda n, s: self.body(lib, lib.number(n) * 0.1, s), tuple(state))]

    def collecting(self, lib: ByNumPy, x: Any, state: tuple[Any, ...]) -> Any:
        made = self.body(lib, x, state)
        return made, lib.np.sum(made[0]) * 0.5 + x

    def body(self, lib: ByNumPy, x: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
        pool = [*state]
        for step in self.steps:
            pool.append(self.step(lib, x, pool, *step))
        return tuple(lib.np.tanh(self.fit(lib, pool[-1 - n], old) + 0.7 * old + x * 0.1) for n, old in enumerate(state))

    def fit(self, lib: ByNumPy, a: Any, like: Any) -> Any:
        """``a`` in the shape of ``like``: as it is, or its sum."""
        return a if a.shape == like.shape else lib.np.sum(a) * 0.1 + lib.np.zeros(like.shape, "float64")

    def step(self, lib: ByNumPy, x: Any, pool: list[Any], name: str, i: int, j: int, at: int) -> Any:
        np, a = lib.np, pool[i % len(pool)]
        b = self.fit(lib, pool[j % len(pool)], a)
        match name:
            case "affine":
                return 0.5 * a + b * x
            case "multiply":
                return a * b
            case "sin" | "tanh":
                return getattr(np, name)(a) - 0.3 * b
            case "dot":
                return (a @ b if a.shape[-2:] == (3, 3) else a) * 0.3
            case "set" | "add" | "take" if a.shape and a.shape[0]:
                return self.place(lib, a, b, name, at)
            case "where":
                return np.where(a > b, a, 0.5 * b)
            case "sum":
                return np.sum(a, axis=0) if a.shape else a
            case "max" if a.size:
                return np.max(a) + 0.1 * b
            case "cumsum" | "sort" | "roll" if a.shape:
                return np.roll(a, 1, axis=0) if name == "roll" else getattr(np, name)(a, axis=a.ndim - 1)
            case "cond":
                return lib.cond(np.sum(a) > 0.2, lambda v: v * 0.5, lambda v: np.sin(v) + 0.1, b)
            case "inner":
                return lib.fori(self.inner, lambda n, s: np.sin(s) + 0.2 * a, b)
            case "until":
                return lib.repeat(lambda s: np.sum(s * s) > 0.3, lambda s: s * 0.6, b)
            case "cast":
                return (a * 4).astype("int32").astype("float64") * 0.25 + 0.0 * b
        return a - b

    def place(self, lib: ByNumPy, a: Any, b: Any, name: str, at: int) -> Any:
        """An element or row of ``a`` is read or written; where, the data or the program say."""
        n = at % a.shape[0] if at % 2 else lib.whole(lib.np.abs(lib.np.sum(b)) * 7) % a.shape[0]
        if name == "take":
            return lib.take(a, n)
        return lib.change(a, n, lib.np.sum(b) * 0.5, name == "add")
