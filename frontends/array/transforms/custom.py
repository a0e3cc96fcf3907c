"""Derivatives that the user chooses: stop_gradient, checkpoint, custom_jvp, custom_vjp. Source: JAX's functions of
these names.
"""

from __future__ import annotations

import functools
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlc.dialects.graph import YieldOp
from mlc.dialects.graph.custom import CustomOp
from mlc.errors import InputError
from mlc.frontends.array import dtypes, trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions.creation import zeros_like
from mlc.frontends.array.functions.elementwise import FUNCTIONS
from mlc.frontends.array.record import Body, Record, new_argument
from mlc.frontends.array.transforms.bodies import results_like, traced, traced_on
from mlc.frontends.array.transforms.regions import inside
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.tensors import Tensor

ORDER = 2  # rules within rules, where a function does not say more of one function


def stop_gradient(x: Any) -> Any:
    """``x``, a tree of arrays, as a constant of derivatives: it has the derivative 0."""
    leaves, tree = trees.flatten(x)
    body, _ = traced(lambda *xs: xs, leaves)
    made = results_like(custom, [as_array(each) for each in leaves], ("none", len(leaves), body), body.outputs)
    return trees.unflatten(tree, made)


def checkpoint(f: Callable[..., Any], *, static_argnums: int | Sequence[int] = ()) -> Callable[..., Any]:
    """``f``, whose intermediate values are not saved for derivatives in reverse mode: they are computed anew. The
    arguments ``static_argnums`` are passed as they are, such as flags that Python's ``if`` asks."""
    static = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)

    @functools.wraps(f)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        at = [n % len(args) for n in static]
        fixed, rest = [args[n] for n in at], tuple(x for n, x in enumerate(args) if n not in at)
        given = [as_array(x) for x in trees.leaves((rest, kwargs))]
        body, out = traced(lambda xs, kwargs: f(*_merged(at, fixed, xs), **kwargs), [rest, kwargs])
        made = results_like(custom, given, ("recompute", len(given), body), body.outputs)
        return trees.unflatten(out, made)

    return checkpointed


class _Custom(ABC):
    """A function with a rule. Where the rule calls the function, that has the rule too, ``order`` rules deep."""

    order = ORDER

    def __init__(self, f: Callable[..., Any], nondiff_argnums: Sequence[int] = ()) -> None:
        functools.update_wrapper(self, f)
        self.function, self.depth, self.nondiff = f, 0, tuple(nondiff_argnums)
        self.name = getattr(f, "__name__", type(f).__name__)
        self.rule: Any = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.rule is None:
            raise InputError(f"{self.name} has no rule for its derivative", hint="Give one by defjvp or defvjp")
        given = _by_position(self.function, args, kwargs) if kwargs or self.nondiff else args
        if self.depth == self.order:
            return self.function(*given)
        at = [n % len(given) for n in self.nondiff]
        fixed, rest = [given[n] for n in at], tuple(x for n, x in enumerate(given) if n not in at)
        leaves, tree = trees.flatten(rest)
        body, out = traced(lambda *xs: self.function(*_merged(at, fixed, xs)), rest)
        self.depth += 1
        try:
            made, wanted = self.derivative(body, tree, out, at, fixed)
        finally:
            self.depth -= 1
        self._check(body, made, wanted)
        params = (self.kind, len(leaves), body, made)
        return trees.unflatten(out, results_like(custom, [as_array(x) for x in leaves], params, body.outputs))

    kind: str

    @abstractmethod
    def derivative(
        self, body: Body, tree: trees.Tree, out: trees.Tree, at: Sequence[int], fixed: Sequence[Any]
    ) -> tuple[Body, list[Record]]:
        """The rule traced, and records like what it should return; the structures are of arguments and results.
        ``fixed`` are the arguments at the positions ``at`` that there is no derivative by."""

    def _check(self, body: Body, made: Body, wanted: Sequence[Record]) -> None:
        types = [[dtypes.text(x.element, x.shape) for x in side] for side in (made.outputs, wanted)]
        if types[0] != types[1]:
            got, expected = (", ".join(each) for each in types)
            raise InputError(f"The rule of {self.name} returns {got} in place of {expected}")
        if any(Array(x).is_varied() for x in (*body.captured, *made.captured)):
            hint = "Make what it reads from around it an argument"
            raise InputError(f"{self.name} reads a variable of a derivative, for which it has no rule", hint=hint)


class custom_jvp(_Custom):
    """A function whose derivative ``defjvp`` gives; a decorator.

        @mlc.custom_jvp                    @f.defjvp
        def f(x): …                        def f_jvp(primals, tangents): return f(*primals), …

    The rule returns the value and the tangents of the results, which are linear in ``tangents``; those of integers are
    None. Reverse mode follows from it. Arguments ``nondiff_argnums`` may be anything, such as functions: they come
    first in the rule, ``(*nondiff, primals, tangents)``.
    """

    kind = "jvp"

    def defjvp(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Set the rule ``(primals, tangents) → (value, tangents of the value)``."""
        self.rule = rule
        return rule

    def defjvps(self, *rules: Callable[..., Any] | None) -> None:
        """Set a rule ``(tangent, value, *primals) → tangent of the value`` for each argument; None for 0."""

        def rule(primals: Any, along: Any) -> tuple[Any, Any]:
            value = self(*primals)
            pairs = [(f, t) for f, t in zip(rules, along, strict=True) if f is not None]
            parts = [f(t, value, *primals) for f, t in pairs] or [trees.tree_map(zeros_like, value)]
            return value, functools.reduce(lambda a, b: trees.tree_map(FUNCTIONS["add"], a, b), parts)

        self.rule = rule

    def derivative(
        self, body: Body, tree: trees.Tree, out: trees.Tree, at: Sequence[int], fixed: Sequence[Any]
    ) -> tuple[Body, list[Record]]:
        def rule(primals: Any, along: Any) -> Any:
            return self.rule(*fixed, primals, along)[1]

        return _traced_rule(rule, body, tree, body.arguments, tree), [y for y in body.outputs if _is_float(y)]


class custom_vjp(_Custom):
    """A function whose pullback ``defvjp`` gives; a decorator.

        @mlc.custom_vjp                    f.defvjp(forward, backward)
        def f(x): …                        # forward(x) → (value, residuals), backward(residuals, bars) → (bar of x,)

    The pullback is linear in ``bars``, and forward mode follows from it. It returns None for a cotangent of 0.
    Arguments ``nondiff_argnums`` may be anything, such as functions: they come first in ``backward``, ``(*nondiff,
    residuals, bars)``, which returns no cotangents of them.
    """

    kind = "vjp"

    def defvjp(self, forward: Callable[..., Any], backward: Callable[..., Any]) -> None:
        """Set the rules ``forward`` and ``backward``."""
        self.rule = forward, backward

    def derivative(
        self, body: Body, tree: trees.Tree, out: trees.Tree, at: Sequence[int], fixed: Sequence[Any]
    ) -> tuple[Body, list[Record]]:
        forward, backward = self.rule

        def rule(primals: Any, bars: Any) -> list[Any]:
            found = backward(*fixed, forward(*_merged(at, fixed, primals))[1], bars)
            leaves = [x for arg, bar in zip(primals, found, strict=True) for x in _cotangents(arg, bar)]
            return [x for x, arg in zip(leaves, body.arguments, strict=True) if _is_float(arg)]

        return _traced_rule(rule, body, tree, body.outputs, out), [x for x in body.arguments if _is_float(x)]


def _by_position(f: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any]:
    """All arguments of a call in the order of the parameters, with their defaults."""
    bound = inspect.signature(f).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args


def _merged(at: Sequence[int], fixed: Sequence[Any], rest: Sequence[Any]) -> list[Any]:
    """``fixed`` at their positions among ``rest``."""
    known, others = dict(zip(at, fixed, strict=True)), iter(rest)
    return [known[n] if n in known else next(others) for n in range(len(fixed) + len(rest))]


def _is_float(x: Record) -> bool:
    return dtypes.kind(x.element) >= 2


def _traced_rule(
    rule: Callable[..., Any], body: Body, tree: trees.Tree, like: Sequence[Record], shape: trees.Tree
) -> Body:
    """A rule traced on arguments as the function has them, and a tree with one more for each float of ``like``."""
    arguments = [new_argument(x.element, x.shape, True) for x in body.arguments]
    further = [new_argument(x.element, x.shape, True) for x in like if _is_float(x)]

    def on_leaves(*xs: Any) -> Any:
        rest = iter(xs[len(arguments) :])
        given = [next(rest) if _is_float(x) else None for x in like]
        return rule(trees.unflatten(tree, xs[: len(arguments)]), trees.unflatten(shape, given))

    every = [*arguments, *further]
    return traced_on(on_leaves, trees.flatten(tuple(every))[1], every)[0]


def _cotangents(arg: Any, bar: Any) -> list[Any]:
    return [zeros_like(as_array(x)) for x in trees.leaves(arg)] if bar is None else trees.leaves(bar)


def custom(build: Builder, operands: Sequence[Tensor], rule: str, count: int, *bodies: Any) -> list[Tensor]:
    """``graph.custom``: regions of one or two bodies, which get all operands and then their further arguments."""
    *regions, _unique = bodies
    blocks, first = [], count
    for body in regions:
        last = first + len(body.captured)
        further = [Tensor(x.element, x.shape) for x in body.arguments[count:]]
        with build.region(*operands, *further) as scope:
            every = [Tensor.of(a) for a in scope.block.args]
            arguments = [*every[:count], *every[len(operands) :]]
            made = inside(build, body, arguments, every[first:last])
            scope.block.add_op(YieldOp(build.values(*made)))
        blocks.append(scope.block)
        first = last
    return build.emit_all(CustomOp(rule, build.values(*operands), count, *blocks))
