"""Scan (opset 8, 9 and newer)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlc.dialects.semantics.dims import Dim
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.control.loops import Iteration, emit_loop
from mlc.frontends.build.control.scan import scan_loop, slice_of, unrolled_scan
from mlc.frontends.build.control.unroll import MAX_STEPS, UNROLLED
from mlc.frontends.build.ops.shapes.axes import normalize_axis
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op


@onnx_op("Scan")
def scan_8(node: Node) -> tuple[Any, ...]:
    """Opset 8: a scan of its own for each element of the batch, whose sequences may be shorter than the longest."""
    build, inputs, count = node.build, node.attr("num_scan_inputs"), len(node) - 1 - node.attr("num_scan_inputs")
    values, lengths = [node[n] for n in range(1, len(node))], node.get(0)
    batch, steps = values[count].shape[:2]
    backward = [bool(b) for b in node.attr("directions", None) or [0] * inputs]
    forward = [False] * (node.outputs - count)

    def row(number: Dim, _: list[Tensor]) -> Iteration:
        own = [slice_of(build, v, number) for v in values]
        length = None if lengths is None else build.compute(f"x0[{number}]", [lengths], ())
        results = scan_loop(build, own[:count], own[count:], steps, _body(node), backward, forward, length)
        return Iteration([], results, [number] * len(results))

    return tuple(emit_loop(build, batch, [], row))


def _body(node: Node) -> Any:
    def body(states: list[Any], slices: list[Tensor]) -> tuple[list[Any], list[Any]]:
        results = node.branch(node.attr("body"), [*states, *slices])
        return results[: len(states)], results[len(states) :]

    return body


@onnx_op("Scan", since=9)
def scan(node: Node) -> tuple[Any, ...]:
    """A loop. It is unrolled where its steps are few or change the shapes of states."""
    inputs, build = node.attr("num_scan_inputs"), node.build
    states: list[Any] = list(node.inputs[: len(node) - inputs])
    xs = node.tensors()[len(states) :]
    axes = [
        normalize_axis(a, x.rank) for a, x in zip(node.attr("scan_input_axes", None) or [0] * inputs, xs, strict=True)
    ]
    slices = [build.transpose(x, [a, *(n for n in range(x.rank) if n != a)]) for x, a in zip(xs, axes, strict=True)]
    steps = slices[0].shape[0]
    reverse = _reverse(node, "input", inputs), _reverse(node, "output", node.outputs - len(states))

    def as_loop() -> list[Tensor]:
        return scan_loop(build, states, slices, steps, _body(node), *reverse)

    if isinstance(steps, int) and steps <= UNROLLED:
        results = unrolled_scan(build, states, slices, steps, _body(node), *reverse)
    elif not isinstance(steps, int) or steps > MAX_STEPS:
        results = as_loop()
    else:
        results = node.attempt(as_loop) or unrolled_scan(build, states, slices, steps, _body(node), *reverse)
    return (*results[: len(states)], *_on_axes(node, results[len(states) :]))


def _reverse(node: Node, side: str, count: int) -> list[bool]:
    return [bool(b) for b in node.attr(f"scan_{side}_directions", None) or [0] * count]


def _on_axes(node: Node, collected: Sequence[Any]) -> list[Any]:
    """The collected tensors with their first axis moved to the position that the model names."""
    axes = node.attr("scan_output_axes", None) or [0] * len(collected)
    return [
        _moved(node.build, x, axis) if isinstance(x, Tensor) else x for x, axis in zip(collected, axes, strict=True)
    ]


def _moved(build: Builder, x: Tensor, axis: int) -> Tensor:
    order = list(range(1, x.rank))
    order.insert(normalize_axis(axis, x.rank), 0)
    return build.transpose(x, order)
