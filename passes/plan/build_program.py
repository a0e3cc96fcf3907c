"""``build-program``: the main function becomes the host program, with a place for each tensor.

    %y = kernel.call @k(%x, %w) : … -> tensor<4x8xf32>     %b = rt.buffer "128" : memref<4x8xf32>
    func.return %z                                      →   rt.launch @k(%x, %w, %b) ; … rt.launch @l(%b, %out)

A size that depends on data is an output of its own, and memory is planned for the most that it can be. What a kernel
computes is written straight into the caller's buffer, or into its part of a concatenation.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import kernel, rt
from mlc.dialects.dims import DimLike, symbols_of
from mlc.dialects.graph import (
    BitcastOp,
    ConcatOp,
    ConstantOp,
    PositionsOp,
    ReshapeOp,
    RoutineOp,
    SliceOp,
    WeightOp,
    source_nodes,
    with_nodes,
)
from mlc.dialects.graph.sizes import sizes_of, upper
from mlc.dialects.types import ITEMSIZE, bytes_of, element_of, memref, shape_of
from mlc.passes.context import weights_of
from mlc.passes.fuse.views import part_offsets, slice_offset, source_of

Home = tuple[SSAValue, DimLike]  # a buffer, and the bytes of it before a value


@dataclass(frozen=True)
class BuildProgram(ModulePass):
    name = "build-program"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for main in [o for o in op.ops if isinstance(o, func.FuncOp)]:
            program = _Builder(main, ctx).run()
            op.body.block.insert_op_before(program, main)
            main.detach()
            main.drop_all_references()


def names_of(attrs: ArrayAttr[DictionaryAttr] | None, count: int, prefix: str) -> list[str]:
    """The ``graph.name`` of each argument or result of main."""
    data = attrs.data if attrs is not None else [DictionaryAttr({})] * count
    names = [d.data.get("graph.name") for d in data]
    return [n.data if isinstance(n, StringAttr) else f"{prefix}{k}" for k, n in enumerate(names)]


def _guards(main: func.FuncOp) -> list[str]:
    """What the frontend found that the dimensions must satisfy (``Builder.require``)."""
    guards = main.attributes.get("graph.guards")
    return [g.data for g in guards if isinstance(g, StringAttr)] if isinstance(guards, ArrayAttr) else []


def _fresh(names: list[str], taken: list[str]) -> list[str]:
    """Names that no output has yet."""
    return [name + "_" * (1 + max(map(len, taken))) if name in taken else name for name in names]


def _bounds(block: Block) -> dict[str, DimLike]:
    """What the data-dependent sizes never exceed, in the order in which they become known."""
    found: dict[str, DimLike] = {}
    for op in block.ops:
        if isinstance(op, PositionsOp):
            found[op.size.data] = upper(op.bound, found)
    return found


@dataclass
class _Builder:
    main: func.FuncOp
    ctx: Context
    places: dict[SSAValue, SSAValue] = field(default_factory=dict)
    homes: dict[SSAValue, Home] = field(default_factory=dict)
    sizes: dict[str, SSAValue] = field(default_factory=dict)
    bounds: dict[str, DimLike] = field(default_factory=dict)

    def run(self) -> rt.ProgramOp:
        main, block = self.main, self.main.body.block
        returned = list(block.last_op.operands) if block.last_op else []
        dims = sorted(symbols_of(d for a in block.args for d in shape_of(a)))
        inputs = names_of(main.arg_attrs, len(block.args), "input")
        outputs = names_of(main.res_attrs, len(returned), "output")
        self.bounds = _bounds(block)
        outputs += _fresh(list(self.bounds), outputs)
        self.program = rt.ProgramOp(main.sym_name.data, inputs, outputs, dims, _guards(main), self.bounds)
        if texts := main.attributes.get("graph.texts"):
            self.program.properties["texts"] = texts
        for n, arg in enumerate(block.args):
            self.places[arg] = self._add(rt.InputOp(n, _buffer(arg)))
        self.outputs = [self._add(rt.OutputOp(n, _buffer(v))) for n, v in enumerate(returned)]
        for n, size in enumerate(self.bounds, len(returned)):
            self.sizes[size] = self._add(rt.OutputOp(n, memref("i64", ())))
        self._settle(returned)
        for op in block.ops:
            self._op(op)
        for value, out in zip(returned, self.outputs, strict=True):
            if rt.root(self.places[value]) is not out:
                self.program.body.block.add_op(rt.CopyOp(self.places[value], out))
        return self.program

    def _add(self, op: Operation) -> SSAValue:
        self.program.body.block.add_op(op)
        return op.results[0]

    def _settle(self, returned: list[SSAValue]) -> None:
        """Homes of values that are (under a reshape) results of the model or parts of a concatenation."""
        for value, out in zip(returned, self.outputs, strict=True):
            if isinstance(source_of(value).owner, kernel.CallOp | ConcatOp | PositionsOp | RoutineOp):
                self.homes.setdefault(source_of(value), (out, 0))
        for op in [o for o in self.main.body.block.ops if isinstance(o, ConcatOp)]:
            self.places[op.result] = self._place(op.result)
            for part, home in self._parts(op):
                if isinstance(source_of(part).owner, kernel.CallOp) and not sizes_of([home[1]]):
                    self.homes.setdefault(source_of(part), home)

    def _parts(self, op: ConcatOp) -> list[tuple[SSAValue, Home]]:
        """The operands of a concatenation with their places in it."""
        offsets, size = part_offsets(op), ITEMSIZE[element_of(op.result)]
        assert offsets is not None
        return [(part, (self.places[op.result], at * size)) for part, at in zip(op.args, offsets, strict=True)]

    def _op(self, op: Operation) -> None:
        match op:
            case WeightOp():
                self.places[op.result] = self._add(rt.WeightOp(op.entry.data, _buffer(op.result)))
            case ConstantOp():
                entry = weights_of(self.ctx).add("constant", op.array())
                self.places[op.result] = self._add(rt.WeightOp(entry, _buffer(op.result)))
            case ReshapeOp() | BitcastOp():
                self.places[op.result] = self._add(rt.ViewOp(self.places[op.input], _buffer(op.result)))
            case SliceOp():
                self._slice(op)
            case ConcatOp():
                self._concat(op)
            case kernel.CallOp():
                self._launch(op)
            case PositionsOp():
                self._positions(op)
            case RoutineOp():
                self._routine(op)

    def _positions(self, op: PositionsOp) -> None:
        where = self.places[op.result] = self._place(op.result)
        step = rt.PositionsOp(op.size.data, self.places[op.mask], where, self.sizes[op.size.data])
        self.program.body.block.add_op(with_nodes(step, source_nodes(op)))

    def _routine(self, op: RoutineOp) -> None:
        self.places[op.result] = self._place(op.result)
        step = rt.RoutineOp(op.fn, [self.places[v] for v in (*op.args, op.result)], op.words, op.numbers)
        self.program.body.block.add_op(with_nodes(step, source_nodes(op)))

    def _slice(self, op: SliceOp) -> None:
        offset = slice_offset(op)
        assert offset is not None
        view = rt.ViewOp(self.places[op.input], _buffer(op.result), offset * ITEMSIZE[element_of(op.result)])
        self.places[op.result] = self._add(view)

    def _concat(self, op: ConcatOp) -> None:
        """Copy the parts that no kernel has written to their places."""
        for part, home in self._parts(op):
            if self.homes.get(source_of(part)) != home:
                view = self._add(rt.ViewOp(home[0], _buffer(part), home[1]))
                self.program.body.block.add_op(rt.CopyOp(self.places[part], view))

    def _launch(self, op: kernel.CallOp) -> None:
        for result in op.res:
            self.places[result] = self._place(result)
        args = [self.places[v] for v in (*op.args, *op.res)]
        launch = rt.LaunchOp(op.callee.root_reference.data, args, len(op.res))
        self.program.body.block.add_op(with_nodes(launch, source_nodes(op)))

    def _place(self, value: SSAValue) -> SSAValue:
        """Memory for what is computed: its home, or a buffer of its own."""
        if value not in self.homes:
            return self._add(rt.BufferOp(str(upper(bytes_of(value), self.bounds)), _buffer(value)))
        place, offset = self.homes[value]
        whole = offset == 0 and place.type == _buffer(value)
        return place if whole else self._add(rt.ViewOp(place, _buffer(value), offset))


def _buffer(value: SSAValue) -> Attribute:
    return memref(element_of(value), shape_of(value))
