"""Indexes and updates arrays by random keys, and compares with NumPy: `python test/fuzz/fuzz_keys.py --count 100000`.

A key has integers, slices, None, an ellipsis, arrays of indices and masks of any rank, and may not fit. Each mismatch
is a line with its seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from random import SystemRandom
from typing import Annotated, Any

import numpy as np
import typer

import mlc
import mlc.numpy as mnp

Draw = random.Random
KINDS = ("integer", "slice", "none", "array", "mask", "scalar array", "number mask")
WEIGHTS = (4, 6, 2, 5, 2, 1, 1)


def drawn(seed: int) -> tuple[np.ndarray, Any]:
    """An array, and a key of it."""
    draw = Draw(seed)
    shape = tuple(draw.choice((1, 2, 3, 4, 5, 0)) if draw.random() < 0.1 else draw.randint(1, 4) for _ in range(
        draw.randint(0, 4)))  # fmt: skip
    common, items, axis = tuple(draw.randint(1, 3) for _ in range(draw.randint(0, 2))), [], 0
    while axis < len(shape) and draw.random() < 0.85:
        kind = draw.choices(KINDS, WEIGHTS)[0]
        each, used = _item(draw, kind, shape[axis:], common)
        items.append(each)
        axis += used
    if draw.random() < 0.3:
        items.insert(draw.randint(0, len(items)), ...)
    key = items[0] if len(items) == 1 and draw.random() < 0.5 else tuple(items)
    return np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape), key


def _item(draw: Draw, kind: str, extents: tuple[int, ...], common: tuple[int, ...]) -> tuple[Any, int]:
    """An item of a key, and how many dimensions it indexes."""
    extent = extents[0]
    far = extent + (draw.random() < 0.02)
    if kind == "none":
        return None, 0
    if kind == "slice":
        ends = [draw.choice((None, draw.randint(-extent - 2, extent + 2))) for _ in range(2)]
        return slice(*ends, draw.choice((None, None, 1, 2, -1, -2, 3))), 1
    if kind == "number mask":
        return draw.random() < 0.5, 0
    if kind == "mask":
        rank = draw.randint(1, min(len(extents), 2))
        return np.array([draw.random() < 0.5 for _ in range(int(np.prod(extents[:rank])))], bool).reshape(
            extents[:rank]), rank  # fmt: skip
    if extent == 0:
        return slice(None), 1
    if kind == "integer":
        return draw.randint(-far, far - 1), 1
    if kind == "scalar array":
        return np.array(draw.randint(-extent, extent - 1)), 1
    shape = tuple(1 if draw.random() < 0.2 else n for n in common[draw.randint(0, len(common)) :])
    found = np.array([draw.randint(-far, far - 1) for _ in range(int(np.prod(shape)))], np.int64).reshape(shape)
    return (found.tolist() if found.ndim and draw.random() < 0.3 else found), 1


def differences(seed: int, compiled: bool) -> Iterator[str]:
    """What of reading and updating at a key differs from NumPy."""
    x, key = drawn(seed)
    values = np.float32(Draw(seed).randint(100, 200))
    cases: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
        "read": (lambda x: x[key], lambda x: x[key]),
        "set": (lambda x: _written(x, key, values), lambda x: _assigned(x, key, values)),
        "add": (lambda x: x.at[key].add(values, mode="check"), lambda x: _added(x, key, values)),
    }
    for name, (ours, theirs) in cases.items():
        expected, found = _of(lambda f=theirs: f(x.copy())), _of(lambda f=ours: f(mnp.asarray(x)))
        if name == "read" and found is IndexError and isinstance(expected, np.ndarray) and not expected.size:
            return  # NumPy does not look at the indices of no element
        if not _equal(found, expected):
            yield f"{name} x{list(x.shape)}[{key!r}]: {found!r} in place of {expected!r}"
        elif compiled and isinstance(expected, np.ndarray):
            again = _of(lambda f=ours: mlc.jit(f, wait=True)(x))
            if not _equal(again, expected):
                yield f"{name} x{list(x.shape)}[{key!r}], compiled: {again!r} in place of {expected!r}"


def _written(x: Any, key: Any, values: Any) -> Any:
    x[key] = values
    return x


def _assigned(x: np.ndarray, key: Any, values: np.float32) -> np.ndarray:
    x[key] = values
    return x


def _added(x: np.ndarray, key: Any, values: np.float32) -> np.ndarray:
    np.add.at(x, key, values)
    return x


def _of(f: Callable[[], Any]) -> np.ndarray | type:
    """An array, or the error's class."""
    try:
        return np.asarray(f())
    except (IndexError, ValueError, mlc.InputError):
        return IndexError


def _equal(a: Any, b: Any) -> bool:
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        return a is b
    return a.shape == b.shape and np.array_equal(a, b)


def main(
    count: Annotated[int, typer.Option(help="Keys to draw.")] = 1000,
    seed: Annotated[int | None, typer.Option(help="Of the first key; random by default.")] = None,
    compiled: Annotated[bool, typer.Option("--compiled", help="Compile each, too.")] = False,
) -> None:
    """Compare random keys with NumPy; exit code 1 if one differs."""
    first, wrong = SystemRandom().getrandbits(31) if seed is None else seed, 0
    for each in range(first, first + count):
        for problem in differences(each, compiled):
            print(f"seed {each}: {problem}", flush=True)
            wrong += 1
    print(f"{wrong} differences of {count} keys from {first}")
    raise typer.Exit(bool(wrong))


if __name__ == "__main__":
    typer.run(main)
