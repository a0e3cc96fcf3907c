"""Scan (opset 8, 9 and newer): a loop over the elements along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlc.dialects.dims import Dim, DimLike
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.node import Node, normalise_axis, onnx_op
from mlc.frontends.onnx.ops.control import MAX_STEPS, UNROLLED, stacked
from mlc.frontends.onnx.tensors import Tensor
from mlc.frontends.onnx.turns import Turn, turns


@onnx_op("Scan")
def scan_8(node: Node) -> tuple[Any, ...]:
    """Opset 8: a scan of its own for each element of the batch, whose sequences may be shorter than the longest.

    Behind its end a sequence keeps its states and gives zeros.
    """
    build, inputs, count = node.build, node.attr("num_scan_inputs"), len(node) - 1 - node.attr("num_scan_inputs")
    values, lengths = [node[n] for n in range(1, len(node))], node.get(0)
    batch, steps = values[count].shape[:2]
    backward = node.attr("directions", None) or [0] * inputs

    def row(number: Dim, _: list[Tensor]) -> Turn:
        own = [_element(build, v, number) for v in values]
        length = None if lengths is None else build.compute(f"x0[{number}]", [lengths], ())

        def turn(step: Dim, before: list[Tensor]) -> Turn:
            at = [_place(step, steps, b) for b in backward]
            xs = [_element(build, x, n) for x, n in zip(own[count:], at, strict=True)]
            if length is not None:
                back = zip(xs, own[count:], backward, strict=True)
                xs = [_from_end(build, whole, length, step) if b else x for x, whole, b in back]
            given = _turn(node, step, before, xs)
            return given if length is None else _short(build, given, before, length, step)

        results = turns(build, steps, own[:count], turn)
        return Turn([], results, [number] * len(results))

    return tuple(turns(build, batch, [], row))


def _from_end(build: Builder, x: Tensor, length: Tensor, step: Dim) -> Tensor:
    """The element of a sequence of ``length`` (a scalar) that is so far from its end; any one behind its beginning."""
    rest = "".join(f", i{n}" for n in range(x.rank - 1))
    return build.compute(f"x0[max(x1[()] - 1 - {step}, 0){rest}]", [x, length], x.shape[1:])


def _short(build: Builder, given: Turn, before: Sequence[Tensor], length: Tensor, step: Dim) -> Turn:
    """What a turn gives, unless it is behind the sequence's end."""
    running = build.compute(f"x0[()] > {step}", [length], ())
    states = [build.map("where(x0, x1, x2)", running, new, old) for new, old in zip(given.states, before, strict=True)]
    zeros = [build.constant(0, c.element) for c in given.collected]
    collected = [build.map("where(x0, x1, x2)", running, c, z) for c, z in zip(given.collected, zeros, strict=True)]
    return Turn(states, collected, given.at)


@onnx_op("Scan", since=9)
def scan(node: Node) -> tuple[Any, ...]:
    """A loop; or the code of its steps where these are few, or change the shapes of states."""
    inputs = node.attr("num_scan_inputs")
    states: list[Any] = list(node.inputs[: len(node) - inputs])
    xs = node.tensors()[len(states) :]
    axes = [
        normalise_axis(a, x.rank) for a, x in zip(node.attr("scan_input_axes", None) or [0] * inputs, xs, strict=True)
    ]
    front = [node.build.transpose(x, [a, *(n for n in range(x.rank) if n != a)]) for x, a in zip(xs, axes, strict=True)]
    steps = front[0].shape[0]
    if isinstance(steps, int) and steps <= UNROLLED:
        return _unrolled(node, states, front, steps)
    if not isinstance(steps, int) or steps > MAX_STEPS:
        return _in_turns(node, states, front, steps)
    return node.attempt(lambda: _in_turns(node, states, front, steps)) or _unrolled(node, states, front, steps)


def _in_turns(node: Node, states: list[Tensor], xs: Sequence[Tensor], steps: DimLike) -> tuple[Tensor, ...]:
    build = node.build

    def turn(step: Dim, before: list[Tensor]) -> Turn:
        slices = [_element(build, x, _place(step, steps, b)) for x, b in zip(xs, _backward(node, "input"), strict=True)]
        given = _turn(node, step, before, slices)
        at = [_place(step, steps, b) for b in _backward(node, "output")]
        return Turn(given.states, given.collected, at)

    results = turns(build, steps, states, turn)
    return (*results[: len(states)], *_on_axes(node, results[len(states) :]))


def _unrolled(node: Node, states: list[Any], xs: Sequence[Tensor], steps: int) -> tuple[Any, ...]:
    collected: list[list[Any]] = [[] for _ in range(node.outputs - len(states))]
    for step in range(steps):
        at = [_place(step, steps, b) for b in _backward(node, "input")]
        slices = [_element(node.build, x, n) for x, n in zip(xs, at, strict=True)]
        with node.build.turn(step):
            results = node.branch(node.attr("body"), [*states, *slices])
        states = results[: len(states)]
        for seen, out in zip(collected, results[len(states) :], strict=True):
            seen.append(out)
    ordered = [c[::-1] if back else c for c, back in zip(collected, _backward(node, "output"), strict=True)]
    return (*states, *_on_axes(node, [stacked(node.build, c, 0) for c in ordered]))


def _turn(node: Node, step: Dim, states: Sequence[Tensor], xs: Sequence[Tensor]) -> Turn:
    results = node.branch(node.attr("body"), [*states, *xs])
    rest = results[len(states) :]
    return Turn(results[: len(states)], rest, [step] * len(rest))


def _place(step: DimLike, steps: DimLike, backward: int) -> DimLike:
    return steps - 1 - step if backward else step


def _backward(node: Node, side: str) -> list[int]:
    inputs = node.attr("num_scan_inputs")
    count = inputs if side == "input" else node.outputs - (len(node) - inputs)
    return node.attr(f"scan_{side}_directions", None) or [0] * count


def _element(build: Builder, x: Tensor, n: DimLike) -> Tensor:
    return build.reshape(build.cut(x, 0, n, 1), x.shape[1:])


def _on_axes(node: Node, collected: Sequence[Any]) -> list[Any]:
    """What was collected along axis 0, with that axis where the model wants it."""
    axes = node.attr("scan_output_axes", None) or [0] * len(collected)
    return [
        _moved(node.build, x, axis) if isinstance(x, Tensor) else x for x, axis in zip(collected, axes, strict=True)
    ]


def _moved(build: Builder, x: Tensor, axis: int) -> Tensor:
    order = list(range(1, x.rank))
    order.insert(normalise_axis(axis, x.rank), 0)
    return build.transpose(x, order)
