"""Kernels that an earlier compilation has lowered and printed: the C function, and what the host program has to know.

    kernel.func @relu(%a, %b) {schedule = …} { poly.statement … }
      →   kernel.func @relu(%a, %b) {schedule = …} { kernel.symbol "batch" }     # and its C function, from the cache

Once a kernel has a schedule, nothing else of the module decides how it is lowered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, StringAttr
from xdsl.ir import Attribute, Block, Region, SSAValue

from mlc.dialects import kernel
from mlc.dialects.graph.base import NODE
from mlc.passes.plan.annotate_launches import is_serial

MADE = ("serial",)  # the fact that tiling writes
ABSENT = ("origin", "work")  # from what decides the C


@dataclass(frozen=True)
class KnownKernel:
    """``text``: the C function, named KERNEL. ``symbols``: the dimensions that it takes. ``serial``: why one thread
    runs it. ``idle``: whether a second thread would have nothing to do."""

    text: str
    symbols: tuple[str, ...]
    serial: str | None
    idle: bool

    @classmethod
    def parsed(cls, content: Any) -> KnownKernel | None:
        """The kernel that ``dataclasses.asdict`` gave as JSON; None if ``content`` has another form."""
        match content:
            case {"text": str(text), "symbols": list(symbols), "serial": str() | None as serial, "idle": bool(idle)}:
                if len(content) == 4 and all(isinstance(each, str) for each in symbols):
                    return cls(text, tuple(symbols), serial, idle)
        return None


def known_of(fn: kernel.FuncOp, text: str, before: Mapping[str, Attribute]) -> KnownKernel | None:
    """A lowered kernel and its C ``text``. None if lowering has changed a fact beside ``MADE``, such as the schedule
    where isl could not apply the first one: such a kernel is lowered each time. ``before``: ``facts_of`` before
    that."""
    if {name: fact for name, fact in facts_of(fn).items() if name not in MADE} != before:
        return None
    return KnownKernel(text, fn.symbols, fn.serial.data if fn.serial is not None else None, is_serial(fn))


def facts_of(fn: kernel.FuncOp) -> dict[str, Attribute]:
    """The properties of a kernel, except its name."""
    return {name: fact for name, fact in fn.properties.items() if name != "sym_name"}


class Descriptions:
    """What decides the C of kernels that have schedules, beside the target, as text: not printed IR, which takes four
    times as long. The text of an attribute is made once."""

    def __init__(self) -> None:
        self.strings: dict[Attribute, str] = {}

    def of(self, fn: kernel.FuncOp) -> str:
        """The facts, types and operations of a kernel, without its name and source nodes; values are numbers."""
        numbers: dict[SSAValue, int] = {}
        facts = {name: fact for name, fact in fn.declared().items() if name not in ABSENT}
        return "\n".join([self._all(facts), *self._block(fn.block, numbers)])

    def _block(self, block: Block, numbers: dict[SSAValue, int]) -> Iterator[str]:
        numbers |= {value: n for n, value in enumerate(block.args, len(numbers))}
        yield f"({', '.join(self._text(value.type) for value in block.args)})"
        for op in block.ops:
            operands = [numbers[value] for value in op.operands]
            types = [self._text(value.type) for value in op.results]
            yield f"{op.name} {operands} {types} {self._all(op.properties)} {self._all(op.attributes)}"
            numbers |= {value: n for n, value in enumerate(op.results, len(numbers))}
            for region in op.regions:
                for inner in region.blocks:
                    yield "{"
                    yield from self._block(inner, numbers)
                    yield "}"

    def _all(self, attributes: Mapping[str, Attribute]) -> str:
        return ", ".join(f"{name} = {self._text(attributes[name])}" for name in sorted(attributes) if name != NODE)

    def _text(self, attribute: Attribute) -> str:
        text = self.strings.get(attribute)
        if text is None:
            text = self.strings[attribute] = str(attribute)
        return text


def empty(fn: kernel.FuncOp) -> None:
    """Remove the statements of a kernel, so that it is not tiled."""
    for op in reversed(list(fn.block.ops)):
        op.detach()
        op.drop_all_references()
    fn.block.add_op(kernel.ReturnOp())


def outline(fn: kernel.FuncOp, known: KnownKernel) -> None:
    """Give an empty kernel what the host program has to know: the dimensions that it takes, and a parallel loop of one
    iteration if a second thread has nothing to do."""
    assert fn.block.last_op is not None
    loop = _one_iteration() if known.idle else []
    fn.block.insert_ops_before([*map(kernel.SymbolOp, known.symbols), *loop], fn.block.last_op)
    fn.serial = None if known.serial is None else StringAttr(known.serial)


def _one_iteration() -> list[Any]:
    first, last = (arith.ConstantOp.from_int_and_width(n, IndexType()) for n in (0, 1))
    body = Block([scf.ReduceOp()], arg_types=[IndexType()])
    return [first, last, scf.ParallelOp([first.result], [last.result], [last.result], Region(body))]
