"""Control flow: If, Loop, Scan, as straight-line code.

Every operator is pure, so both sides of a branch may be computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NeedsConstant, NotSupported
from mlc.frontends.onnx.fold import symbolic
from mlc.frontends.onnx.node import Node, normalise_axis, onnx_op
from mlc.frontends.onnx.tensors import Tensor

MAX_STEPS = 2048


@onnx_op("If")
def if_(node: Node) -> tuple[Any, ...]:
    """The taken branch where the condition is known, else both and a selection."""
    condition = node[0]
    if condition.known is not None:
        taken = "then_branch" if bool(condition.known.reshape(())) else "else_branch"
        return tuple(node.branch(node.attr(taken), ()))
    sides = [node.branch(node.attr(name), ()) for name in ("then_branch", "else_branch")]
    return tuple(_selected(node.build, condition, a, b) for a, b in zip(*sides, strict=True))


def _selected(build: Builder, condition: Tensor, a: Any, b: Any) -> Any:
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        return a if not isinstance(a, Tensor) and a is not None else b  # what could not be imported stays so
    if a.shape != b.shape or a.element != b.element:
        raise NeedsConstant(f"branches that give {a} and {b} on a condition computed at run time")
    return build.map("where(x0, x1, x2)", build.reshape(condition, ()), a, b)


@onnx_op("Loop")
def loop(node: Node) -> tuple[Any, ...]:
    """A known number of iterations, unrolled. A condition computed at run time freezes the values once it is false."""
    build, body = node.build, node.attr("body")
    count, active = node.get(0), node.get(1)
    states: list[Any] = list(node.inputs[2:])
    collected: list[list[Tensor]] = [[] for _ in range(node.outputs - len(states))]
    trips = _trips(count, active)
    for step in range(trips):
        if active is not None and active.known is not None and not bool(active.known.reshape(())):
            break
        flag = build.constant(True, "i1") if active is None else active
        results = node.branch(body, [build.constant(step, "i64"), flag, *states])
        new, outs = results[1 : 1 + len(states)], results[1 + len(states) :]
        if flag.known is None:
            _no_collecting(collected)
            new = [_selected(build, flag, n, o) for n, o in zip(new, states, strict=True)]
        states = new
        active = _continues(build, flag, results[0])
        for seen, out in zip(collected, outs, strict=True):
            seen.append(out)
    else:
        _finished(count, active)
    return (*states, *(_stacked(build, c, 0) for c in collected))


def _trips(count: Tensor | None, active: Tensor | None) -> int:
    """How often the body is unrolled at most."""
    if count is None:
        return MAX_STEPS
    if count.known is None or symbolic([count.known]):
        raise NeedsConstant("the number of iterations is computed at run time")
    return min(int(count.known.reshape(())), MAX_STEPS)


def _finished(count: Tensor | None, active: Tensor | None) -> None:
    if count is None or int(count.known.reshape(())) > MAX_STEPS:  # type: ignore[union-attr]
        raise NotSupported(f"a loop of unknown length, or of more than {MAX_STEPS} iterations")


def _no_collecting(collected: Sequence[Any]) -> None:
    if collected:
        raise NeedsConstant("a loop that ends on a condition computed at run time and collects a value an iteration")


def _continues(build: Builder, flag: Tensor, condition: Any) -> Tensor:
    if not isinstance(condition, Tensor):
        return flag
    scalar = build.reshape(condition, ())
    return scalar if flag.known is not None else build.map("x0 & x1", build.reshape(flag, ()), scalar)


def _stacked(build: Builder, xs: Sequence[Any], axis: int) -> Tensor:
    if not xs:
        raise NotSupported("a loop of no iterations that collects values")
    if not all(isinstance(x, Tensor) for x in xs):
        return next(x for x in xs if not isinstance(x, Tensor))
    return build.concat([build.reshape(x, (*x.shape[:axis], 1, *x.shape[axis:])) for x in xs], axis)


@onnx_op("Scan")
def scan_8(node: Node) -> tuple[Any, ...]:
    """Opset 8: a scan of its own for each element of the batch, whose sequences may be shorter than the longest."""
    build, inputs = node.build, node.attr("num_scan_inputs")
    values = [node[n] for n in range(1, len(node))]
    states, xs = values[: len(values) - inputs], values[len(values) - inputs :]
    batch, steps = xs[0].shape[:2]
    if not isinstance(batch, int) or not isinstance(steps, int) or batch * steps > MAX_STEPS:
        raise NotSupported(f"{batch} sequences of {steps} steps; at most {MAX_STEPS} known steps are unrolled")
    lengths = node.ints(0) if node.has(0) else [steps] * batch
    backward = node.attr("directions", None) or [0] * inputs
    rows: list[list[Any]] = []
    for row, length in enumerate(lengths):
        own = [[_element(build, v, 0, row) for v in group] for group in (states, xs)]
        last, collected = _scanned(node, own[0], own[1], [0] * inputs, backward, length)
        rows.append([*last, *(_lengthened(build, _stacked(build, c, 0), steps) for c in collected)])
    return tuple(_stacked(build, column, 0) for column in zip(*rows, strict=True))


def _lengthened(build: Builder, x: Any, steps: int) -> Any:
    """The collected elements of a short sequence, with zeros behind."""
    if not isinstance(x, Tensor) or x.shape[0] == steps:
        return x
    return build.pad(x, [0] * x.rank, [steps - x.shape[0], *[0] * (x.rank - 1)])


@onnx_op("Scan", since=9)
def scan(node: Node) -> tuple[Any, ...]:
    """The body for each element along the scanned axes, unrolled."""
    inputs = node.attr("num_scan_inputs")
    states: list[Any] = list(node.inputs[: len(node) - inputs])
    xs = node.tensors()[len(states) :]
    axes = [
        normalise_axis(a, x.rank) for a, x in zip(node.attr("scan_input_axes", None) or [0] * inputs, xs, strict=True)
    ]
    backward = node.attr("scan_input_directions", None) or [0] * inputs
    steps = xs[0].shape[axes[0]]
    if not isinstance(steps, int) or steps > MAX_STEPS:
        raise NotSupported(f"{steps} steps; at most {MAX_STEPS} that are known at compile time are unrolled")
    states, collected = _scanned(node, states, xs, axes, backward, steps)
    return (*states, *_scan_outputs(node, collected))


def _scanned(
    node: Node, states: list[Any], xs: Sequence[Tensor], axes: Sequence[int], backward: Sequence[int], steps: int
) -> tuple[list[Any], list[list[Any]]]:
    """The body ``steps`` times: the last states, and what each step gave beside them."""
    collected: list[list[Any]] = [[] for _ in range(node.outputs - len(states))]
    for step in range(steps):
        at = [steps - 1 - step if b else step for b in backward]
        slices = [_element(node.build, x, axis, n) for x, axis, n in zip(xs, axes, at, strict=True)]
        results = node.branch(node.attr("body"), [*states, *slices])
        states = results[: len(states)]
        for seen, out in zip(collected, results[len(states) :], strict=True):
            seen.append(out)
    return states, collected


def _element(build: Builder, x: Tensor, axis: int, n: int) -> Tensor:
    return build.reshape(build.cut(x, axis, n, 1), (*x.shape[:axis], *x.shape[axis + 1 :]))


def _scan_outputs(node: Node, collected: list[list[Any]]) -> list[Any]:
    axes = node.attr("scan_output_axes", None) or [0] * len(collected)
    backward = node.attr("scan_output_directions", None) or [0] * len(collected)
    outputs = []
    for xs, axis, back in zip(collected, axes, backward, strict=True):
        rank = xs[0].rank + 1 if xs and isinstance(xs[0], Tensor) else 1
        outputs.append(_stacked(node.build, xs[::-1] if back else xs, axis % rank))
    return outputs
