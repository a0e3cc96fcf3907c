"""Control flow: ``torch.cond`` and ``torch.while_loop``; run-time scalars (``item``)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from torch.fx import GraphModule

from mlc.dialects.semantics.dims import Dim
from mlc.frontends.build.control.branches import branches
from mlc.frontends.build.control.loops import Iteration, emit_loop
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.registry import Call, Operand, aten, name_of

UNBOUNDED = 1 << 62  # iterations


@aten("higher_order.cond")
def cond(
    call: Call, condition: Operand, true: GraphModule, false: GraphModule, operands: Sequence[Any] = ()
) -> list[Any]:
    """One of two graphs. Both are computed and one result is selected where that costs less than a branch."""
    build, flag = call.build, call.predicate(condition)
    if flag.known is not None:
        return call.graph(true if bool(flag.known) else false, operands)
    scalar = build.reshape(flag, ())
    found = branches(build, [partial(call.graph, side, operands) for side in (true, false)])
    return found.select(scalar) if found.are_cheap else found.emit(scalar)


@aten("higher_order.while_loop")
def while_loop(
    call: Call, condition: GraphModule, body: GraphModule, carried: Sequence[Any], others: Sequence[Any] = ()
) -> list[Tensor]:
    """A loop that updates states as long as ``condition`` holds for them."""
    build = call.build
    states = [call.tensor(x, x.element) if isinstance(x, Tensor) else call.tensor(x, "i64") for x in carried]

    def holds(now: Sequence[Tensor]) -> Tensor:
        return build.reshape(call.predicate(call.graph(condition, [*now, *others])[0]), ())

    def iteration(_: Dim, before: list[Tensor]) -> Iteration:
        new = call.graph(body, [*before, *others])
        after = [build.cast(x, old.element) for x, old in zip(new, before, strict=True)]
        return Iteration(after, condition=holds(after))

    return emit_loop(build, UNBOUNDED, states, iteration, active=holds(states))


@aten("higher_order.with_effects")
def with_effects(call: Call, token: Tensor, operator: Any, *_: Any, **__: Any) -> list[Tensor]:
    """An operator with an effect. Checks of linear algebra's results do nothing here.

    Raises:
        NotSupported: another operator with an effect.
    """
    if name_of(operator) != "_linalg_check_errors":
        raise NotSupported(f"the effect of {name_of(operator)}")
    return [token]


@aten("_local_scalar_dense", "item")
def item(call: Call, x: Tensor) -> Any:
    """The number in a tensor: an integer as a run-time scalar, a float as the tensor."""
    x = call.build.reshape(x, ())
    whole = x.element[0] in "iu"
    return call.build.scalars.of(call.build.cast(x, "i64")).item() if whole else x
