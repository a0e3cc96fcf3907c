"""Random inputs by rules: ``input = "n 3 h w: uniform 0 1"`` has the shape [n, 3, h, w] and values of that range.

A dimension is a number, a name of the sizes, or a product or sum of these, ``2*n+1``. The element type is the model's.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import onnx

Arrays = dict[str, np.ndarray]
Make = Callable[[np.random.Generator, tuple[int, ...], list[float]], np.ndarray]


def _integers(rng: np.random.Generator, shape: tuple[int, ...], args: list[float]) -> np.ndarray:
    return rng.integers(int(args[0]), int(args[1]), shape)


def _mask(rng: np.random.Generator, shape: tuple[int, ...], args: list[float]) -> np.ndarray:
    """Ones, then zeros, along the last axis; the first row is whole."""
    lengths = rng.integers(max(1, shape[-1] // 2), shape[-1] + 1, shape[:-1])
    lengths[(0,) * lengths.ndim] = shape[-1]
    return np.arange(shape[-1]) < lengths[..., None]


def _lengths(rng: np.random.Generator, shape: tuple[int, ...], args: list[float]) -> np.ndarray:
    """How much of an axis of so many elements is valid: the first has all."""
    lengths = rng.integers(max(1, int(args[0]) // 2), int(args[0]) + 1, shape)
    lengths[:1] = int(args[0])
    return lengths


def _speech(rng: np.random.Generator, shape: tuple[int, ...], args: list[float]) -> np.ndarray:
    """A sound of many harmonics, louder and softer, with noise: filters see all frequencies."""
    time = np.arange(shape[-1]) / 16000
    pitch = 90 + 60 * rng.random((*shape[:-1], 1))
    tones = sum(np.sin(2 * np.pi * k * pitch * time) / k for k in range(1, 20))
    loudness = 0.5 + 0.5 * np.sin(2 * np.pi * 3 * time + rng.random((*shape[:-1], 1)))
    return 0.2 * tones * loudness + 0.01 * rng.standard_normal(shape)


def _page(rng: np.random.Generator, shape: tuple[int, ...], args: list[float]) -> np.ndarray:
    """Images [n, c, h, w] of lines of dark strokes on light ground, between two values: what finds text finds some."""
    images = np.full(shape, args[1]) - 0.05 * rng.random(shape) * (args[1] - args[0])
    height, width = shape[-2:]
    for top in range(height // 8, height - 11, 24):
        for left in range(width // 10, width - width // 10, 7):
            ink = rng.random((12, 5)) < 0.55
            ink[:, 4] = False
            rows, columns = slice(top, top + 12), slice(left, min(left + 5, width))
            images[..., rows, columns][..., ink[: height - top, : width - left]] = args[0]
    return images


RULES: dict[str, Make] = {
    "uniform": lambda rng, shape, args: rng.uniform(*args, shape),
    "normal": lambda rng, shape, args: rng.normal(*args, shape),
    "integers": _integers,
    "value": lambda rng, shape, args: np.full(shape, args[0]),
    "values": lambda rng, shape, args: np.reshape(args, shape),
    "zeros": lambda rng, shape, args: np.zeros(shape),
    "ones": lambda rng, shape, args: np.ones(shape),
    "mask": _mask,
    "lengths": _lengths,
    "range": lambda rng, shape, args: np.broadcast_to(np.arange(shape[-1]), shape).copy(),
    "sorted": lambda rng, shape, args: np.sort(rng.integers(int(args[0]), int(args[1]), shape), axis=-1),
    "speech": _speech,
    "page": _page,
}


def inputs(file: Path, rules: Mapping[str, str], sizes: Mapping[str, int], seed: int) -> Arrays:
    """One array an input of the model's; each follows from the seed, the input's name and the sizes."""
    model = onnx.load(file, load_external_data=False)
    weights = {tensor.name for tensor in model.graph.initializer}
    declared = {value.name: value for value in model.graph.input if value.name not in weights}
    if missing := declared.keys() ^ rules.keys():
        raise ValueError(f"{file}: rules and inputs differ by {sorted(missing)}")
    return {name: _array(value, rules[name], sizes, seed) for name, value in declared.items()}


def _array(value: onnx.ValueInfoProto, rule: str, sizes: Mapping[str, int], seed: int) -> np.ndarray:
    dims, _, text = rule.partition(":")
    kind, *args = text.split()
    shape = tuple(number(dim, sizes) for dim in dims.split())
    rng = np.random.default_rng([seed, zlib.crc32(repr((value.name, sorted(sizes.items()))).encode())])
    if kind == "words":
        return np.array(rng.choice(np.array(args, dtype=object), shape), dtype=object)
    found = RULES[kind](rng, shape, [number(arg, sizes) if arg[0].isalpha() else float(arg) for arg in args])
    return np.asarray(found, onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type))


def number(text: str, sizes: Mapping[str, int]) -> int:
    """The value of a sum of products of numbers and names.

    >>> number("2*n+1", {"n": 3})
    7
    """
    if not re.fullmatch(r"[\w*+]+", text):
        raise ValueError(f"no dimension: {text}")
    return sum(_product(term, sizes) for term in text.split("+"))


def _product(text: str, sizes: Mapping[str, int]) -> int:
    result = 1
    for factor in text.split("*"):
        result *= int(factor) if factor.isdigit() else sizes[factor]
    return result
