"""Value classes: the vectors of a kernel that elementwise operations, broadcasts and loops connect.

All values of a class have one distribution, so that no operation but a reduction moves elements between threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import scf, vector
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Operation, SSAValue

from mlc.dialects import kernel


@dataclass
class ValueClass:
    values: list[SSAValue] = field(default_factory=list)

    @property
    def shape(self) -> tuple[int, ...]:
        """The largest extent of each axis; a value of lower rank has the last axes."""
        rank = max(len(extents(v)) for v in self.values)
        padded = [(1,) * (rank - len(extents(v))) + extents(v) for v in self.values]
        return tuple(max(each) for each in zip(*padded, strict=True))


def extents(value: SSAValue) -> tuple[int, ...]:
    """Return the extents of a vector; () for a scalar."""
    return tuple(value.type.get_shape()) if isinstance(value.type, VectorType) else ()


def value_classes(fn: kernel.FuncOp) -> dict[SSAValue, ValueClass]:
    """Return the class of each vector of a kernel."""
    found: dict[SSAValue, ValueClass] = {}
    for op in fn.walk():
        for connected in _connected(op):
            _join(found, [v for v in connected if extents(v)])
    return found


def _connected(op: Operation) -> Iterator[Sequence[SSAValue]]:
    """Yield the groups of values that an operation connects."""
    if isinstance(op, scf.ForOp):
        last = op.body.block.last_op
        assert last is not None
        yield from zip(op.iter_args, op.body.block.args[1:], op.results, last.operands, strict=True)
    elif isinstance(op, vector.ReductionOp):
        yield (op.vector,)
    elif isinstance(op, kernel.MmaOp):
        yield (op.acc, op.result)
        yield (op.a,)
    elif isinstance(op, kernel.MultiReductionOp) and not op.keeps_axis:
        yield (op.source,)
        yield (op.result,)
    elif not op.regions:
        yield (*op.operands, *op.results)


def _join(found: dict[SSAValue, ValueClass], values: Sequence[SSAValue]) -> None:
    classes = list({id(c): c for v in values if (c := found.get(v))}.values())
    whole = classes[0] if classes else ValueClass()
    for other in classes[1:]:
        whole.values += other.values
    whole.values += [v for v in dict.fromkeys(values) if v not in found]
    found.update(dict.fromkeys(whole.values, whole) if len(classes) > 1 else dict.fromkeys(values, whole))
