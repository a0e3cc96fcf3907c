"""``interleave-gates``: what is computed of several slices of a product in one row becomes one kernel with it.

    %q = graph.contract "mk,kn->mn"(%h, %w) {columns = 1024, block = 64} : (1x256, 16x256x64)
    %z = graph.map "x0 + x1"(%xw, %q)
    %i, %o, %f, %g = slices of 256 columns of %z
    %c1 = graph.map "sigmoid(x1) * x0 + sigmoid(x2) * tanh(x3)"(%c, %f, %i, %g) : 1x256

  → %q = graph.contract "mk,pkgl->pgml"(%h, %v) : (1x256, 16x256x4x16)       # in each panel 16 columns of each slice
    %c1 = graph.compute "sigmoid(x1[0, 512 + 16*i0 + i1] + x0[i0, 2, 0, i1]) * …"(%q, %xw, %c) : 16x16

A step of an LSTM (Hochreiter and Schmidhuber 1997) is then a kernel in which no thread waits for another.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.expr import Const, Expr, Index, parse, substitute
from mlc.dialects.graph import ComputeOp, ContractOp, MapOp, SliceOp, dims_of, ints_of
from mlc.dialects.graph.base import broadcast_index
from mlc.dialects.types import Shape, shape_of
from mlc.passes.graph.constants import constant_values, sole_user
from mlc.passes.graph.layout import Emitter
from mlc.passes.rewriter import bodies, erase_unused


@dataclass(frozen=True)
class InterleaveGates(ModulePass):
    """``panels``: the fewest, which threads share out."""

    name = "interleave-gates"
    panels: int = 4

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            constants = constant_values(body)
            places = {o: n for n, o in enumerate(body.ops)}
            for contract in [o for o in body.ops if isinstance(o, ContractOp) and _panels(o) >= self.panels]:
                if gates := _match(contract, places, constants):
                    gates.rewrite(places)


@dataclass(frozen=True)
class _Gates:
    """``maps`` of ``slices`` (which of them each is) of ``map``, which is elementwise of a product."""

    contract: ContractOp
    map: MapOp
    slices: dict[SSAValue, int]
    maps: list[MapOp]

    @property
    def count(self) -> int:
        return self._columns // self._width

    @property
    def _columns(self) -> int:
        return int(shape_of(self.map.result)[1])  # type: ignore[arg-type]

    @property
    def _width(self) -> int:
        return int(shape_of(self.maps[0].result)[1])  # type: ignore[arg-type]

    @property
    def block(self) -> int:
        """Columns of each slice in a panel."""
        assert self.contract.packing
        return self.contract.packing[1] // self.count

    def rewrite(self, places: dict[Operation, int]) -> None:
        product = self._product()
        done: dict[SSAValue, SSAValue] = {}
        for op in self.maps:
            emitter = Emitter(op)
            args = [product, *self._others(op)]
            value, values = self._value(op, args, done), [done.get(v, v) for v in args]
            done[op.result] = emitter.emit(ComputeOp(str(value), values, (self._width // self.block, self.block)))
            row = emitter.reshape(done[op.result], (1, self._width))
            places[row.owner] = places[op]  # type: ignore[index]
            op.result.replace_uses_with_if(row, lambda use: use.operation not in self.maps)
        erase_unused([*reversed(self.maps)])

    def _product(self) -> SSAValue:
        """The product in panels: [P, gates, 1, block]."""
        emitter = Emitter(self.contract)
        panels, terms, _ = shape_of(self.contract.rhs)
        matrix = emitter.reshape(emitter.transpose(self.contract.rhs, [1, 0, 2]), (terms, self._columns))
        parts = emitter.reshape(matrix, (terms, self.count, panels, self.block))
        return emitter.emit(ContractOp("mk,pkgl->pgml", self.contract.lhs, emitter.transpose(parts, [2, 0, 1, 3])))

    def _others(self, op: MapOp) -> list[SSAValue]:
        """What ``op`` reads beside the product."""
        beside = [v for v in self.map.args if v is not self.contract.result]
        return list(dict.fromkeys(v for arg in op.args for v in (beside if arg in self.slices else [arg])))

    def _value(self, op: MapOp, args: list[SSAValue], done: dict[SSAValue, SSAValue]) -> Expr:
        """What ``op`` computes at a place of the panels, of elements of ``args``."""
        return substitute(op.scalar, lambda x: self._read(op.args[x.operand], args, done))

    def _read(self, value: SSAValue, args: list[SSAValue], done: dict[SSAValue, SSAValue]) -> Expr:
        if value in done:
            return parse(f"x{args.index(value)}[i0, i1]")
        if value not in self.slices:
            return self._at(value, args, 0)
        gate = self.slices[value]
        return substitute(self.map.scalar, lambda x: self._at(self.map.args[x.operand], args, gate))

    def _at(self, value: SSAValue, args: list[SSAValue], gate: int) -> Expr:
        """A value of the row's shape, or one that broadcasts to it, at a column of a slice."""
        if value is self.contract.result:
            return parse(f"x0[i0, {gate}, 0, i1]")
        place = [Const(0), parse(f"{gate * self._width} + {self.block}*i0 + i1")]
        at = parse(f"x{args.index(value)}{broadcast_index(shape_of(value), 2)}")
        return substitute(at, index=lambda i: place[int(i.name[1:])] if isinstance(i, Index) else Const(0))


def _panels(op: ContractOp) -> int:
    """Of a row's product with a packed matrix; 0 where it is none."""
    row = op.packing and not op.product and shape_of(op.result)[:-1] == (1,)
    return op.packing[0] // op.packing[1] if row and op.packing else 0


def _match(op: ContractOp, places: dict[Operation, int], constants: set[SSAValue]) -> _Gates | None:
    """The gates of a product in one row, if nothing else reads it, and they nothing that it leads to."""
    total, row = sole_user(op.result), shape_of(op.result)
    if op.packing is None or op.rhs not in constants or not isinstance(total, MapOp):
        return None
    slices = _slices(total, row, op.packing[1])
    readers = {use.operation: None for value in slices for use in value.uses}
    maps = sorted((r for r in readers if isinstance(r, MapOp)), key=places.__getitem__)
    if not maps or len(maps) != len(readers):
        return None
    gates = _Gates(op, total, slices, maps)
    known = all(v in constants or _known(v, gates, places) for m in (total, *maps) for v in m.args)
    return gates if known and all(shape_of(m.result) == shape_of(next(iter(slices))) for m in maps) else None


def _slices(total: MapOp, row: Shape, block: int) -> dict[SSAValue, int]:
    """The slices of equal width that alone read ``total``, and which of them each is, if they divide panels evenly."""
    found = [use.operation for use in total.result.uses]
    slices = [s for s in found if isinstance(s, SliceOp)]
    if not slices or len(slices) != len(found) or shape_of(total.result) != row:
        return {}
    columns, width = row[1], shape_of(slices[0].result)[1]
    if not isinstance(columns, int) or not isinstance(width, int) or not _even(columns, block, width):
        return {}
    places = {s.result: dims_of(s.starts)[1] for s in slices}
    equal = all(shape_of(s.result) == (1, width) and ints_of(s.steps)[1] == 1 for s in slices)
    aligned = all(isinstance(at, int) and at % width == 0 for at in places.values())
    return {value: int(at) // width for value, at in places.items()} if equal and aligned else {}  # type: ignore[arg-type]


def _even(columns: int, block: int, width: int) -> bool:
    """Whether panels are cut into as many parts as there are slices."""
    if not width or columns % block or columns % width or block % (columns // width):
        return False
    return width % (block // (columns // width)) == 0


def _known(value: SSAValue, gates: _Gates, places: dict[Operation, int]) -> bool:
    """Whether a value is one of the gates', or there before their product."""
    own = value in gates.slices or value is gates.contract.result or any(value is m.result for m in gates.maps)
    return own or not isinstance(value.owner, Operation) or places[value.owner] < places[gates.contract]
