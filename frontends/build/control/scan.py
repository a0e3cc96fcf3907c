"""Scan (JAX: lax.scan): a loop over slices of tensors along their first axis, with loop-carried states. ONNX Scan 9."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.control.loops import Iteration, emit_loop
from mlc.frontends.build.control.unroll import stacked
from mlc.frontends.build.tensors import Tensor

Body = Callable[[list[Any], list[Tensor]], tuple[list[Any], list[Any]]]
"""(states, slices) to (states, values to collect)."""


def scan_loop(
    build: Builder,
    states: Sequence[Tensor],
    xs: Sequence[Tensor],
    steps: DimLike,
    body: Body,
    reverse_in: Sequence[bool],
    reverse_out: Sequence[bool],
    lengths: Tensor | None = None,
) -> list[Tensor]:
    """A loop at run time: the last states, then the collected tensors [steps, …].

    ``reverse_in`` and ``reverse_out``: which of ``xs`` and of the results are read and written from the last slice on.
    With ``lengths``, a scalar, there are so many iterations: later ones keep the states and collect zeros.
    """

    def iteration(step: Dim, before: list[Tensor]) -> Iteration:
        indices = [index_of(step, steps, b) for b in reverse_in]
        slices = [slice_of(build, x, n) for x, n in zip(xs, indices, strict=True)]
        if lengths is not None:
            each = zip(slices, xs, reverse_in, strict=True)
            slices = [_from_end(build, x, lengths, step) if back else part for part, x, back in each]
        new, collected = body(before, slices)
        at = [index_of(step, steps, b) for b in reverse_out]
        given = Iteration(new, collected, at)
        return given if lengths is None else _masked(build, given, before, lengths, step)

    return emit_loop(build, steps, states, iteration)


def unrolled_scan(
    build: Builder,
    states: Sequence[Any],
    xs: Sequence[Tensor],
    steps: int,
    body: Body,
    reverse_in: Sequence[bool],
    reverse_out: Sequence[bool],
) -> list[Any]:
    """Straight-line code of ``steps`` iterations. It returns what ``scan_loop`` does; states may change their
    shapes.
    """
    states = list(states)
    collected: list[list[Any]] = [[] for _ in reverse_out]
    for step in range(steps):
        indices = [index_of(step, steps, b) for b in reverse_in]
        slices = [slice_of(build, x, n) for x, n in zip(xs, indices, strict=True)]
        with build.iteration(step):
            states, values = body(states, slices)
        for seen, value in zip(collected, values, strict=True):
            seen.append(value)
    ordered = [c[::-1] if back else c for c, back in zip(collected, reverse_out, strict=True)]
    return [*states, *(stacked(build, c, 0) for c in ordered)]


def index_of(step: DimLike, steps: DimLike, reverse: bool) -> DimLike:
    """The index of the slice of an iteration."""
    return steps - 1 - step if reverse else step


def slice_of(build: Builder, x: Tensor, n: DimLike) -> Tensor:
    """Slice ``n`` of ``x`` along its first axis, without that axis."""
    return build.reshape(build.cut(x, 0, n, 1), x.shape[1:])


def _from_end(build: Builder, x: Tensor, length: Tensor, step: Dim) -> Tensor:
    """The slice that is ``step`` before the last of the first ``length`` (a scalar) ones, at least the first."""
    rest = "".join(f", i{n}" for n in range(x.rank - 1))
    return build.compute(f"x0[max(x1[()] - 1 - {step}, 0){rest}]", [x, length], x.shape[1:])


def _masked(build: Builder, given: Iteration, before: Sequence[Tensor], length: Tensor, step: Dim) -> Iteration:
    """From iteration ``length`` on: the states before the iteration, and zeros for what it collects."""
    running = build.compute(f"x0[()] > {step}", [length], ())
    states = [build.map("where(x0, x1, x2)", running, new, old) for new, old in zip(given.states, before, strict=True)]
    zeros = [build.constant(0, c.element) for c in given.collected]
    collected = [build.map("where(x0, x1, x2)", running, c, z) for c, z in zip(given.collected, zeros, strict=True)]
    return Iteration(states, collected, given.at)
