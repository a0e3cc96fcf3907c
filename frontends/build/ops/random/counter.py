"""Counter-based random number generator: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).

Element ``e`` of an operator is number ``e`` of the sequence that starts where the operator's key and the number of the
run (in a loop: and of the iteration) say. So elements need no order, and results depend neither on threads nor on the
target. Operators without a key have sequences of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.semantics.dims import DimLike, product
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.tensors import Tensor

GOLDEN = 0x9E3779B97F4A7C15  # between two states of the generator
ROUNDS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))  # of its output function: shift, factor
DIGITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}  # of a fraction that the type holds without rounding


def random_bits(build: Builder, shape: Sequence[DimLike], key: int | None = None) -> Tensor:
    """[shape] of ui64, each value as likely as any other; ``key``: 64 bits that distinguish sequences."""
    start = _constant(build, 0)
    iterations = [build.compute(f"i64({n})", [], ()) for n in build.iterations]
    for number in (build.run_counter(), *iterations):
        start = mix(build, build.map("x0 + as_ui64(x1)", start, number))
    own = build.count_random() if key is None else key
    start = mix(build, build.map("x0 + x1", start, _constant(build, own)))
    count = build.compute("as_ui64(i64(i0))", [], (product(shape),))
    states = build.map("x0 + x1 * x2", start, count, _constant(build, GOLDEN))
    return build.reshape(mix(build, states), shape)


def mix(build: Builder, state: Tensor) -> Tensor:
    """SplitMix64's output function of the state after ``state``."""
    x = build.map("x0 + x1", state, _constant(build, GOLDEN))
    for shift, factor in ROUNDS:
        x = build.map(f"(x0 ^ (x0 >> {shift})) * x1", x, _constant(build, factor))
    return build.map("x0 ^ (x0 >> 31)", x)


def _constant(build: Builder, value: int) -> Tensor:
    return build.constant(value, "ui64")


def fraction(build: Builder, bits: Tensor, element: str, digits: int = 0) -> Tensor:
    """At least 0 and below 1, from the upper ``digits`` bits (by default as many as ``element`` has)."""
    digits = digits or DIGITS[element]
    return build.map(f"{element}(i64(x0 >> {64 - digits})) * {element}({2.0**-digits!r})", bits)
