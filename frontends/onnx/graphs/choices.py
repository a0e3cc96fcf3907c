"""A node with two branches on a condition that is not known: which of them a module has.

It is an If, or a Squeeze without axes, whose rank follows from whether a dimension is 1.

    both branches give values of one rank and type      a branch at run time (``graph.if``)
    only one of them can be imported                    that one, and a guard or a check that the condition says so
    they give other ranks, types or sequences           the nodes after it belong to both branches, as long as these
                                                        differ, and the same holds for these longer branches
    outputs differ by axes of one element alone         a branch at run time, and the model drops the axes (``ones``)

Where they differ otherwise up to the end, a condition on sizes is required to be what it is for most sizes.
TorchScript's ``x.squeeze(-1)`` is such an If on ``Shape(x)[-1] == 1``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from onnx import NodeProto

from mlc.dialects.graph.loop import steps_of
from mlc.dialects.semantics.dims import DimLike, equality_of, product
from mlc.expressions import source_names
from mlc.frontends.build.control.branches import Branches
from mlc.frontends.build.control.sides import is_local
from mlc.frontends.build.errors import NeedsConstant, NotSupported
from mlc.frontends.build.folding.predicates import guard_of, guard_of_sizes
from mlc.frontends.build.runtime_scalars import values_of
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.build.unify_dims import solved
from mlc.frontends.onnx.graphs.alternative import Alternative
from mlc.frontends.onnx.graphs.likely import likely
from mlc.frontends.onnx.graphs.ones import Ones, marked
from mlc.frontends.onnx.graphs.subgraph import Part, Poison
from mlc.frontends.onnx.graphs.values import alike, tensors_of
from mlc.frontends.onnx.node import Make

if TYPE_CHECKING:
    from mlc.frontends.onnx.importer import Importer

MAX_NODES = 256  # that belong to both branches of a condition on sizes; more are compiled for most sizes alone
MAX_DEPTH = 4  # of conditions whose branches have the nodes after them: 16 copies


class Choice:
    """Imports the node before ``part.next``, of which ``makes`` are the branches where a condition holds and does not.

    ``usual`` is the branch of most data where the condition depends on these and one has to be taken.
    """

    def __init__(
        self, importer: Importer, part: Part, condition: Tensor, makes: Sequence[Make], usual: int | None = None
    ) -> None:
        self.importer, self.build, self.part = importer, importer.build, part
        self.index = part.next - 1
        if condition.element != "i1" or product(condition.shape) != 1:
            raise NotSupported(f"a condition of type {condition}; it must be one bool")
        self.condition, self.makes, self.usual = condition, makes, usual
        self.changed = dict.fromkeys(part.nodes[self.index].output)  # names that the branches give values

    def run(self) -> tuple[Any, ...]:
        """Import the node and return those of its values that the nodes after the imported ones need."""
        sizes = self._sizes
        if isinstance(sizes, int):
            return tuple(self.makes[sizes < 0](self.importer.bound(self.part, self.index)))
        both = [Alternative(self.importer, self.part) for _ in self.makes]
        self.importer.choices += 1
        for each, make in zip(both, self.makes, strict=True):
            each.begin(make, list(self.changed))
        self.importer.choices -= 1
        self._follow(both)
        return tuple(self.part.values.get(name) for name in self.part.nodes[self.index].output)

    @cached_property
    def _sizes(self) -> DimLike | None:
        """A dimension that is at least 0 where the first branch runs. None where that depends on data."""
        return guard_of_sizes(self.build, self.condition)

    @cached_property
    def _guard(self) -> DimLike:
        """A dimension that is at least 0 where the first branch runs."""
        return guard_of(self.build, self.condition)

    @cached_property
    def _on_data(self) -> bool:
        """Whether the condition depends on other data than sizes."""
        sizes = self._sizes
        return sizes is None or bool(values_of([sizes]) or steps_of([sizes]))

    def _follow(self, both: list[Alternative]) -> None:
        """Import nodes until one branch alone is left, or both give values that one module can have."""
        while True:
            valid = [each for each in both if not each.fails]
            if len(valid) < 2:
                self._take(both, valid)
                return
            there = all(each.part.next == self.part.next for each in both)
            if there and self._joined(both):
                return
            if self.part.next == len(self.part.nodes) or self._is_long():
                self._differ(both)
                return
            self._advance(both)

    def _advance(self, both: list[Alternative]) -> None:
        """Import the next node: in both branches if it depends on these, or may have branches itself; else once."""
        index = self.part.next
        fixed = self.changed.keys().isdisjoint(self.part.reads(index)) and not _may_choose(self.part.nodes[index])
        if fixed and all(each.part.next == index for each in both):
            self.importer.step(self.part)
            for each in both:
                each.part.next = self.part.next
            return
        self.part.next += 1
        self.changed |= dict.fromkeys(self.part.nodes[index].output)
        self.importer.choices += 1
        for each in both:
            if each.part.next == index and not each.fails:
                each.attempt(partial(self.importer.step, each.part))
        self.importer.choices -= 1

    def _is_long(self) -> bool:
        several = self.part.next - self.index > MAX_NODES and not self._on_data
        return several or self.importer.choices >= MAX_DEPTH

    def _pairs(self, both: Sequence[Alternative]) -> dict[str, tuple[Any, Any]]:
        """Pairs of the values that both branches give to the nodes that follow."""
        return {n: (both[0].part.values.get(n), both[1].part.values.get(n)) for n in self.part.alive(self.changed)}

    def _joined(self, both: Sequence[Alternative]) -> bool:
        """Join the branches as one branch at run time if that can give all needed values. Returns whether it did."""
        pairs = self._pairs(both)
        flat = [list(tensors_of(*pair)) for pair in pairs.values()]
        sides = [each.side for each in both]
        found, ones = Branches(self.build, sides, []), Ones(self.build, sides, self._sizes, self.part.ends)
        for tensors in flat:
            for a, b in tensors:
                if not isinstance(a, Tensor) or not isinstance(b, Tensor):
                    return False
                if ones.dropped(a, b) is None and not found.fit(a, b):
                    return False
                found.given.append((a, b))
        self._share_guards(both)
        found.given = [ones.alike(*pair) for pair in found.given]
        scalar = self.build.reshape(self.condition, ())
        given = found.select(scalar) if found.are_cheap else found.emit(scalar)
        results = map(marked, given, found.given)
        for name, tensors, (like, _) in zip(pairs, flat, pairs.values(), strict=True):
            self._set(name, alike(like, [next(results) for _ in tensors]))
        return True

    def _set(self, name: str, value: Any) -> None:
        self.part.values[name] = self.build.named(value, name) if isinstance(value, Tensor) else value

    def _share_guards(self, both: Sequence[Alternative]) -> None:
        """Require, outside of the branches, the guards that both of them need."""
        guards = [each.side.guards for each in both]
        for guard in [g for g in guards[0] if g in guards[1]]:
            self._hold(guard)
            if guard in self.build.guards:
                self.build.guards[guard] = guards[0][guard]
            for each in guards:
                del each[guard]

    def _take(self, both: Sequence[Alternative], valid: Sequence[Alternative]) -> None:
        """Take the one branch that is left, and require that the condition selects it."""
        absent = [] if valid else [each for each in both if not each.absent]
        one = (valid or absent or [likely(both, self._guard)])[0]
        other = both[both[0] is one]
        self.importer.unsupported += other.absent + one.unsupported
        if one.failure is not None and not other.absent:
            raise one.failure
        if other.absent or one.fails:
            self._poison()
        else:
            self._enter(both, one, f"its other branch cannot be computed ({other.why})")

    def _differ(self, both: Sequence[Alternative]) -> None:
        """Choose a branch where both differ in ranks or types up to the end of the graph."""
        pairs = self._pairs(both)
        if any(isinstance(v, Poison) for pair in pairs.values() for v in pair):
            self._poison()
            return
        a, b = next((p for p in pairs.values() if not self._same_kind(*p)), (None, None))
        if self._on_data and self.usual is None:
            raise NeedsConstant(f"branches with results {a} and {b} on a condition computed at run time")
        self._share_guards(both)  # they say nothing on which branch is the likely one
        one = both[self.usual] if self._on_data and self.usual is not None else likely(both, self._guard)
        self._enter(both, one, f"its other branch gives {b if one is both[0] else a}")

    def _poison(self) -> None:
        """Give the node the values of a model that is refused."""
        self.part.values.update(dict.fromkeys(self.changed, Poison()))

    @staticmethod
    def _same_kind(a: Any, b: Any) -> bool:
        return isinstance(a, Tensor) and isinstance(b, Tensor) and (a.element, a.rank) == (b.element, b.rank)

    def _enter(self, both: Sequence[Alternative], one: Alternative, why: str) -> None:
        """Continue with this branch alone. ``why`` says what is wrong with the other one."""
        guard = self._guard if one is both[0] else -1 - self._guard
        if is_local(guard):
            self.build.check(guard, why)
        else:
            self._hold(guard)
            if guard in self.build.guards:
                self.build.guards[guard] += f" ({source_names(why)}{_way_to(-1 - guard)})"
        one.side.inline()
        self.part.values.update(one.values.maps[0])
        self.part.next = max(self.part.next, one.part.next)

    def _hold(self, guard: DimLike) -> None:
        """Require that ``guard`` is at least 0.

        Raises:
            Fixed: a dimension of the inputs has one size then.
        """
        zero = equality_of(guard)
        if not self.build.branches and zero is not None and (fixed := solved(zero)) is not None:
            raise fixed
        self.build.require(guard, 0)


def _way_to(other: DimLike) -> str:
    """A hint that says how to compile the model for the other branch."""
    zero = equality_of(other)
    fixed = None if zero is None else solved(zero)
    return (
        "" if fixed is None else f"; 'mlc compile --dim {source_names(str(fixed).replace(' is ', '='))}' makes that one"
    )


def _may_choose(node: NodeProto) -> bool:
    """Whether a node may have branches to which the nodes that follow belong."""
    axes = [name for name in node.input[1:] if name] + [a.name for a in node.attribute]
    return node.op_type == "If" or node.op_type == "Squeeze" and not axes
