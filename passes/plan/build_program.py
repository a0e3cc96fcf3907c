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
    IfOp,
    LoopOp,
    PositionsOp,
    ReshapeOp,
    RoutineOp,
    RunNumberOp,
    SizeOp,
    SliceOp,
    WeightOp,
    source_nodes,
    with_nodes,
)
from mlc.dialects.graph.loop import size_bounds, size_made
from mlc.dialects.graph.sizes import room_of, sizes_of, upper
from mlc.dialects.types import ITEMSIZE, bytes_of, element_of, memref, shape_of
from mlc.passes.context import weights_of
from mlc.passes.fuse.views import part_offsets, slice_offset, source_of
from mlc.passes.plan.build_regions import build_if, build_loop

Home = tuple[SSAValue, DimLike]  # a buffer, and the bytes of it before a value


@dataclass(frozen=True)
class BuildProgram(ModulePass):
    name = "build-program"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for main in [o for o in op.ops if isinstance(o, func.FuncOp)]:
            program = Builder(main, ctx).run()
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


@dataclass
class Builder:
    main: func.FuncOp
    ctx: Context
    places: dict[SSAValue, SSAValue] = field(default_factory=dict)
    homes: dict[SSAValue, Home] = field(default_factory=dict)
    sizes: dict[str, SSAValue] = field(default_factory=dict)
    bounds: dict[str, DimLike] = field(default_factory=dict)
    branches: int = 0

    def run(self) -> rt.ProgramOp:
        main, block = self.main, self.main.body.block
        returned = list(block.last_op.operands) if block.last_op else []
        dims = sorted(symbols_of(d for a in block.args for d in shape_of(a)))
        inputs = names_of(main.arg_attrs, len(block.args), "input")
        outputs = names_of(main.res_attrs, len(returned), "output")
        self.bounds = size_bounds(block.walk())
        dims += [room for size in self.bounds if (room := room_of(size)) in symbols_of([self.bounds[size]])]
        outer = {size_made(op) for op in block.ops}
        inner = [size for size in self.bounds if size not in outer and room_of(size) not in dims]
        told = [size for size in self.bounds if size not in inner]
        outputs += _fresh(told, outputs)
        self.program = rt.ProgramOp(main.sym_name.data, inputs, outputs, dims, _guards(main), self.bounds, inner)
        self.block = self.program.body.block
        if texts := main.attributes.get("graph.texts"):
            self.program.properties["texts"] = texts
        for n, arg in enumerate(block.args):
            self.places[arg] = self.add(rt.InputOp(n, buffer_type(arg)))
        self.outputs = [self.add(rt.OutputOp(n, buffer_type(v))) for n, v in enumerate(returned)]
        for n, size in enumerate(told, len(returned)):
            self.sizes[size] = self.add(rt.OutputOp(n, memref("i64", ())))
        self.steps(block, [(value, (out, 0)) for value, out in zip(returned, self.outputs, strict=True)])
        return self.program

    def add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def steps(self, block: Block, targets: list[tuple[SSAValue, Home]]) -> None:
        """The steps of a block, at whose end its values are in their targets."""
        self._settle(block, targets)
        for op in block.ops:
            self._op(op)
        for value, home in targets:
            if self.homes.get(source_of(value)) != home:
                self.block.add_op(rt.CopyOp(self.places[value], self._at(home, value)))

    def _at(self, home: Home, value: SSAValue) -> SSAValue:
        """The memory of ``value`` in its home."""
        place, offset = home
        whole = offset == 0 and place.type == buffer_type(value)
        return place if whole else self.add(rt.ViewOp(place, buffer_type(value), offset))

    def _settle(self, block: Block, targets: list[tuple[SSAValue, Home]]) -> None:
        """Homes of values that are (under a reshape) results of the block or parts of a concatenation."""
        for value, home in targets:
            if _computed(source_of(value), block) and _as_large(value):
                self.homes.setdefault(source_of(value), home)
        for op in [o for o in block.ops if isinstance(o, ConcatOp)]:
            self.places[op.result] = self.place(op.result)
            for part, home in self._parts(op):
                computed = isinstance(source_of(part).owner, kernel.CallOp) and _as_large(part)
                if computed and not sizes_of([home[1]]):
                    self.homes.setdefault(source_of(part), home)

    def _parts(self, op: ConcatOp) -> list[tuple[SSAValue, Home]]:
        """The operands of a concatenation with their places in it."""
        offsets, size = part_offsets(op), ITEMSIZE[element_of(op.result)]
        assert offsets is not None
        return [(part, (self.places[op.result], at * size)) for part, at in zip(op.args, offsets, strict=True)]

    def _op(self, op: Operation) -> None:
        match op:
            case WeightOp():
                self.places[op.result] = self.add(rt.WeightOp(op.entry.data, buffer_type(op.result)))
            case ConstantOp():
                entry = weights_of(self.ctx).add("constant", op.array())
                self.places[op.result] = self.add(rt.WeightOp(entry, buffer_type(op.result)))
            case RunNumberOp():
                self.places[op.result] = self.add(rt.RunNumberOp(buffer_type(op.result)))
            case ReshapeOp() | BitcastOp():
                self.places[op.result] = self.add(rt.ViewOp(self.places[op.input], buffer_type(op.result)))
            case SliceOp():
                self._slice(op)
            case ConcatOp():
                self._concat(op)
            case kernel.CallOp():
                self._launch(op)
            case PositionsOp():
                self._positions(op)
            case SizeOp():
                self._size(op)
            case LoopOp():
                build_loop(self, op)
            case IfOp():
                build_if(self, op)
            case RoutineOp():
                self._routine(op)

    def _positions(self, op: PositionsOp) -> None:
        where = self.places[op.result] = self.place(op.result)
        step = rt.PositionsOp(op.size.data, self.places[op.mask], where, self.told(op.size.data))
        self.block.add_op(with_nodes(step, source_nodes(op)))

    def _size(self, op: SizeOp) -> None:
        where = self.places[op.result] = self.told(op.size.data)
        step = rt.SizeOp(op.size.data, self.places[op.value], where, op.most.data, op.why.data)
        self.block.add_op(with_nodes(step, source_nodes(op)))

    def told(self, size: str) -> SSAValue:
        """Where a size is written: an output of the model, or scratch for one that only a loop or branch knows."""
        return self.sizes[size] if size in self.sizes else self.add(rt.BufferOp("8", memref("i64", ())))

    def scratch(self, value: SSAValue) -> SSAValue:
        """Memory of its own for ``value``."""
        return self.add(rt.BufferOp(str(upper(bytes_of(value), self.bounds)), buffer_type(value)))

    def _routine(self, op: RoutineOp) -> None:
        self.places[op.result] = self.place(op.result)
        step = rt.RoutineOp(op.fn, [self.places[v] for v in (*op.args, op.result)], op.words, op.numbers)
        self.block.add_op(with_nodes(step, source_nodes(op)))

    def _slice(self, op: SliceOp) -> None:
        offset = slice_offset(op)
        assert offset is not None
        view = rt.ViewOp(self.places[op.input], buffer_type(op.result), offset * ITEMSIZE[element_of(op.result)])
        self.places[op.result] = self.add(view)

    def _concat(self, op: ConcatOp) -> None:
        """Copy the parts that no kernel has written to their places."""
        for part, home in self._parts(op):
            if self.homes.get(source_of(part)) != home:
                self.block.add_op(rt.CopyOp(self.places[part], self._at(home, part)))

    def _launch(self, op: kernel.CallOp) -> None:
        for result in op.res:
            self.places[result] = self.place(result)
        args = [self.places[v] for v in (*op.args, *op.res)]
        launch = rt.LaunchOp(op.callee.root_reference.data, args, len(op.res))
        self.block.add_op(with_nodes(launch, source_nodes(op)))

    def place(self, value: SSAValue) -> SSAValue:
        """Memory for what is computed: its home, or a buffer of its own."""
        return self._at(self.homes[value], value) if value in self.homes else self.scratch(value)


def _as_large(value: SSAValue) -> bool:
    """Whether memory planned for ``value`` has room for the tensor that it is under another shape."""
    return not sizes_of(shape_of(value)) or bytes_of(value) == bytes_of(source_of(value))


def _computed(value: SSAValue, block: Block) -> bool:
    """Whether a step of ``block`` writes ``value`` to whatever place it is given."""
    op = value.owner
    if isinstance(op, LoopOp):
        return op.parent is block and op.res.index(value) >= len(op.states)
    return isinstance(op, kernel.CallOp | ConcatOp | PositionsOp | RoutineOp | IfOp) and op.parent is block


def buffer_type(value: SSAValue) -> Attribute:
    return memref(element_of(value), shape_of(value))
