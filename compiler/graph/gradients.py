"""Derivatives of nodes as nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.transforms.derivatives.gradients import grad
from mlc.graph.node import Call, Node, Prepared
from mlc.graph.operation import HostGradient, Operation

if TYPE_CHECKING:
    from mlc.graph.plan import Planning


class Gradients(Node):
    """A list: what reaches each of ``xs`` from the sum of all elements of ``ys``, or of their products with ``grads``.

    ``xs`` that depend on others have their total derivatives, unless ``cut``: then they are held fixed for the others.
    """

    def __init__(self, ys: Sequence[Node], xs: Sequence[Node], grads: Sequence[Node], cut: bool = False) -> None:
        self.ys, self.xs, self.grads, self.cut = list(ys), list(xs), list(grads), cut
        super().__init__([*ys, *xs, *grads], "gradients")

    def prepared(self, planning: Planning) -> Prepared:
        from mlc.graph.plan import Subgraph

        if not self.cut and any(_above(planning, x, self.xs) for x in self.xs):
            apart = [Gradients(self.ys, [x], self.grads) for x in self.xs]
            return Prepared(apart, lambda *found: [each for (each,) in found])
        between = Subgraph(planning, self.ys, self.xs)
        if hosts := [each for each in between.hosted() if isinstance(each, Operation)]:
            return Prepared(_through_hosts(planning, self, hosts), lambda *found: list(found))
        return Prepared([*self.xs, *self.grads, *between.captured], _of(between, len(self.grads)), False, between.nodes)


def _of(between: Any, weights: int) -> Any:
    """The derivative of nodes as a function of its arguments, of what reaches its outputs, and of what it captures."""

    def run(*values: Any) -> list[Array]:
        count = len(between.arguments)
        xs, bars, captured = values[:count], values[count : count + weights], values[count + weights :]

        def total(arguments: list[Array]) -> Array:
            ys = [as_array(y) for y in between(arguments, captured)]
            parts = [_sum(y * bar) for y, bar in zip(ys, bars, strict=True)] if bars else list(map(_sum, ys))
            value = parts[0]
            for each in parts[1:]:
                value = value + each
            return value

        _check_floats(between.arguments, xs)
        found: list[Array] = grad(total)(list(xs))
        return found

    return run


def _sum(y: Array) -> Array:
    return y if y.shape == () else mnp.sum(y)


def _check_floats(nodes: Sequence[Node], values: Sequence[Any]) -> None:
    for node, value in zip(nodes, values, strict=True):
        if dtypes.kind(as_array(value).element) < 2:
            what = f"a derivative by node '{node.name}', which is {as_array(value).dtype}"
            raise InputError(what, hint="Feed floats, or give the variable a float as its initial value")


def _above(planning: Planning, x: Node, others: Sequence[Node]) -> bool:
    """Whether a node depends on one of others."""
    found = {each for node in planning.order([x]) for each in planning[node].reads}
    return any(each is not x and each in found for each in others)


def _through_hosts(planning: Planning, wanted: Gradients, hosts: Sequence[Operation]) -> list[Node]:
    """Nodes of the derivatives by ``xs``: the compiled parts between operations of the host, and these, are
    differentiated one after another from the outputs on."""
    ends: list[Node] = [*wanted.xs, *hosts]
    sums: dict[Node, Node] = {}

    def add(node: Node, part: Node) -> None:
        sums[node] = sums[node] + part if node in sums else part

    def pull(ys: Sequence[Node], bars: Sequence[Node], to: Sequence[Node]) -> None:
        by = [x for x in to if _reaches(planning, x, ys, to)]
        if by:
            made = Gradients(ys, by, bars, cut=True)
            for n, x in enumerate(by):
                add(x, made[n])

    pull(wanted.ys, wanted.grads, ends)
    for n in reversed(range(len(hosts))):
        host, before = hosts[n], ends[: len(wanted.xs) + n]
        if host in wanted.xs or host not in sums:
            continue
        parts = HostGradient(host, sums[host])
        for m, node in enumerate(host.operands):
            if node in before:
                add(node, parts[m])
            elif any(_reaches(planning, x, [node], before) for x in before):
                pull([node], [parts[m]], before)
    return [sums[x] if x in sums else Call(mnp.zeros_like, x) for x in wanted.xs]


def _reaches(planning: Planning, x: Node, ys: Sequence[Node], cuts: Sequence[Node]) -> bool:
    """Whether a node of ``ys`` depends on ``x`` other than through the other ``cuts``."""
    order = planning.order(ys, lambda node: node in cuts)
    return x in ys or any(x in planning[node].reads for node in order)


def gradients(ys: Any, xs: Any, grad_ys: Any = None) -> Any:
    """The derivatives of a node, or of the sum of several, by nodes: a list for a list of ``xs``, else one.

    Each has the shape of its x; of a ``y`` with several elements it is that of their sum. ``grad_ys``: what is
    multiplied with each y first. Zeros where nothing depends on an x.

    Raises:
        InputError: an x is no node.
    """
    of = [*ys] if isinstance(ys, list | tuple) else [ys]
    by = [*xs] if isinstance(xs, list | tuple) else [xs]
    weights = [] if grad_ys is None else [*grad_ys] if isinstance(grad_ys, list | tuple) else [grad_ys]
    for each in [*of, *by]:
        if not isinstance(each, Node):
            raise InputError(f"gradients of nodes by nodes, and a {type(each).__name__} is none")
    made = Gradients(of, by, [x if isinstance(x, Node) else Call(as_array, x) for x in weights])
    found = [made[n] for n in range(len(by))]
    return found if isinstance(xs, list | tuple) else found[0]
