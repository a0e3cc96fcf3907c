"""A kernel of the loops level as a CUDA function: one thread's part of a thread block.

A vector of the IR is what a block computes together. Its distribution says which elements a thread holds in registers:
``vector<64x64xf32>`` over 256 threads is 16 variables. Blocks take the iterations of the outermost ``scf.parallel``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith, math, scf, vector
from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.dialects.utils.fast_math import FastMathFlag
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation

from mlc.dialects import kernel
from mlc.dialects.graph import dims_of
from mlc.dialects.semantics.dims import parse_dim
from mlc.dialects.types import ITEMSIZE, element_of, elements_in
from mlc.passes.codegen.c_like.c_dims import c_dim
from mlc.passes.codegen.c_like.c_literal import literal
from mlc.passes.codegen.c_like.c_memory import pointer_type
from mlc.passes.codegen.c_like.c_ops import expression
from mlc.passes.codegen.c_like.c_text import CText
from mlc.passes.codegen.c_like.c_types import c_scalar, element
from mlc.passes.codegen.cuda.async_copies import AsyncCopy, bulk_step
from mlc.passes.codegen.cuda.block_reduce import SCALAR, AxisReduction, BlockReduction, identity
from mlc.passes.codegen.cuda.coordinates import THREAD, Coordinates
from mlc.passes.codegen.cuda.cuda_memory import Accesses, busy_threads
from mlc.passes.codegen.cuda.fragments import HeldOperand, Operand, WarpgroupProduct, WarpProduct
from mlc.passes.codegen.cuda.launch_geometry import tensor_maps
from mlc.passes.codegen.cuda.thread_part import Held, Part
from mlc.passes.device.distribute_values import DISTRIBUTION, THREADS
from mlc.passes.device.distribution.linear_layout import LinearLayout
from mlc.passes.device.distribution.swizzle import LAYOUT
from mlc.passes.device.distribution.value_classes import extents
from mlc.passes.device.set_launch_geometry import CLUSTER, DYNAMIC, RESIDENT, alignment_of, local_offsets
from mlc.passes.device.spill_locals import SCRATCH
from mlc.passes.device.stage_operands import UNROLL
from mlc.passes.tile.tile_kernels import SERIAL

UNROLLED = 8  # steps of a staged sum: of more the compiler would hold all operands in registers at a time


def print_kernel(fn: kernel.FuncOp, symbol: str) -> str:
    """The CUDA function ``symbol`` of a kernel."""
    return _Printer(fn, symbol).text()


@dataclass
class _Printer(CText):
    fn: kernel.FuncOp
    symbol: str
    head: list[str] = field(default_factory=list)  # declarations at the start of the function
    env: dict[SSAValue, Held] = field(default_factory=dict)
    pointers: dict[SSAValue, str] = field(default_factory=dict)
    layouts: dict[SSAValue, LinearLayout] = field(default_factory=dict)  # of local arrays that are not row-major
    before: list[str] = field(default_factory=list)  # the iterations of earlier parallel loops
    turn: str = "0"  # the iterations of a parallel loop that the block has done
    barrier: str = "__syncthreads();"  # of the threads that compute
    assumed: frozenset[str] = frozenset()  # conditions on threads that hold in the block that is printed

    def text(self) -> str:
        self.coordinates = Coordinates(lambda name, text: self.head.append(f"const int {name} = {text};"))
        self.serial = SERIAL in self.fn.attributes
        self.warpgroups = any(isinstance(o, kernel.MmaOp) and o.warpgroup for o in self.fn.walk())
        self.maps = {each: f"map{n}" for n, each in enumerate(tensor_maps(self.fn))}
        parameters = [*self._buffers(), *(f"const int64_t {name}" for name in self.fn.symbols),
                      *(f"const __grid_constant__ mlc_tensor_map {name}" for name in self.maps.values())]  # fmt: skip
        self.block(self.fn.block)
        threads, resident = self.fn.attributes[THREADS], self.fn.attributes[RESIDENT]
        assert isinstance(threads, IntegerAttr) and isinstance(resident, IntegerAttr)
        bounds = f"__launch_bounds__({threads.value.data}, {resident.value.data})"
        if isinstance(cluster := self.fn.attributes.get(CLUSTER), IntegerAttr):
            bounds += f" __cluster_dims__({cluster.value.data}, 1, 1)"
        first = f'extern "C" __global__ void {bounds} {self.symbol}({", ".join(parameters)}) {{'
        dynamic = self.fn.attributes.get(DYNAMIC)
        shared = [f"MLC_DYNAMIC_SHARED({DYNAMIC}, {dynamic.value.data});"] if isinstance(dynamic, IntegerAttr) else []
        start = [f"const int {THREAD} = threadIdx.x; (void){THREAD};", *shared, *self.head]
        return "\n".join([first, *(f"  {line}" for line in start), *self.lines, "}"]) + "\n"

    def _buffers(self) -> list[str]:
        """The pointer parameters; a block's own row of the scratch arrays."""
        written = {o.buffer for o in self.fn.walk() if isinstance(o, kernel.WriteOp | kernel.ScatterOp)}
        written |= {o.args[-1] for o in self.fn.walk() if isinstance(o, kernel.LibraryCallOp)}
        scratch, args = self.fn.attributes.get(SCRATCH), self.fn.block.args
        own = scratch.value.data if isinstance(scratch, IntegerAttr) else 0
        parameters = []
        for n, arg in enumerate(args):
            const = "" if arg in written else "const "
            parameters.append(f"{const}{pointer_type(element_of(arg))} *__restrict__ b{n}")
            self.pointers[arg] = f"b{n}"
            if n >= len(args) - own:
                row = elements_in(arg) // element_rows(arg)
                self.head.append(f"b{n} += (int64_t)blockIdx.x * {row};")
        return parameters

    # -- values --------------------------------------------------------------------------------------------------------

    def scalar(self, value: SSAValue) -> str:
        return self.env[value].only

    def part(self, value: SSAValue, like: Sequence[Held] = ()) -> Part:
        """The part of a value: by the distribution of the operation that makes it, else by that of an operand."""
        shape, owner = extents(value), value.owner
        found = owner.attributes.get(DISTRIBUTION) if isinstance(owner, Operation) else None
        if not shape:
            return Part(None, ())
        if isinstance(found, StringAttr):
            return Part(LinearLayout.parse(found.data), shape)
        return Part(next(h.part.layout for h in like if h.part.layout is not None), shape)

    def define(self, value: SSAValue, part: Part, names: dict[int, str]) -> None:
        """Declare a variable for each register of ``value``."""
        base, type_ = self.name(), c_scalar(element(value.type))
        held = {r: f"{base}_{r}" if len(names) > 1 else base for r in names}
        for r, text in names.items():
            self.line(f"{type_} {held[r]} = {text};")
        self.env[value] = Held(part, held)

    def alias(self, value: SSAValue, text: str) -> None:
        self.env[value] = Held(Part(None, ()), {0: text})

    # -- operations ----------------------------------------------------------------------------------------------------

    def op(self, op: Operation) -> None:
        match op:
            case arith.ConstantOp():
                self.constant(op)
            case kernel.SymbolOp():
                self.alias(op.result, c_dim(parse_dim(op.dim.data)))
            case vector.BroadcastOp():
                source, part = self.env[op.source], self.part(op.vector)
                self.env[op.vector] = Held(part, {r: source.at(r) for r in part.registers()})
            case kernel.ReadOp():
                self.read(op)
            case kernel.WriteOp():
                self.write(op)
            case kernel.GatherOp():
                self.gather(op)
            case kernel.ScatterOp():
                self.scatter(op)
            case kernel.StepOp():
                part = self.part(op.result)
                axis = next(iter(part.axes), len(part.aligned) - 1)
                self.define(op.result, part, {r: self.coordinates.at(part, axis, r) for r in part.registers()})
            case vector.ReductionOp():
                self.reduction(op)
            case kernel.MultiReductionOp():
                self.multi_reduction(op)
            case kernel.LibraryCallOp():
                args = [*(self.pointers[v] for v in op.args), *map(c_dim, dims_of(op.integers))]
                self.line(f"mlc_{op.function.data}({', '.join(args)}, MLC_GRID_THREAD, MLC_GRID_THREADS);")
            case kernel.LocalOp():
                self.local(op)
            case kernel.MmaOp():
                self.product(op)
            case kernel.BarrierOp():
                self.line(f"mlc_proxy_fence(); {self.barrier}" if self.warpgroups else self.barrier)
            case kernel.ClusterBarrierOp():
                self.line("mlc_cluster_barrier();")
            case kernel.ClusterRankOp():
                self.define(op.result, self.part(op.result), {0: "mlc_cluster_rank()"})
            case kernel.TurnOp():
                self.alias(op.result, self.turn)
            case kernel.SpecializeOp():
                self.specialize(op)
            case kernel.BulkCopyOp() | kernel.MbarrierInitOp():
                self.line(bulk_step(op, self.maps, self.pointers, self.scalar))
            case kernel.MbarrierExpectOp() | kernel.MbarrierArriveOp() | kernel.MbarrierWaitOp():
                self.line(bulk_step(op, self.maps, self.pointers, self.scalar))
            case kernel.SubviewOp():
                self.subview(op)
            case kernel.AsyncCopyOp():
                self.async_copy(op)
            case kernel.AsyncGatherOp():
                self.async_gather(op)
            case kernel.AsyncGroupOp():
                self.line("mlc_async_group();")
            case kernel.AsyncWaitOp():
                self.line(f"mlc_async_wait<{op.groups.value.data}>();")
            case scf.ParallelOp():
                self.parallel(op)
            case scf.ForOp():
                self.loop(op)
            case scf.IfOp():
                self.open(f"if ({self.scalar(op.cond)})")
                self.block(op.true_region.block)
                self.close()
            case scf.YieldOp() | scf.ReduceOp() | kernel.ReturnOp():
                pass
            case _:
                self.elementwise(op)

    def constant(self, op: arith.ConstantOp) -> None:
        if (text := literal(op, element(op.result.type))) is not None:
            self.alias(op.result, text)

    def elementwise(self, op: Operation) -> None:
        name, properties = op.name, op.properties
        if isinstance(op, kernel.LanewiseOp):
            name, properties = op.op.data, dict(op.of.data)
        result, source = op.results[0], element(op.operands[0].type)
        operands = [self.env[v] for v in op.operands]
        part = self.part(result, operands)
        names = {}
        for r in part.registers():
            args = [held.at(r) for held in operands]
            if isinstance(op, math.Exp2Op) and FastMathFlag.APPROX_FUNC in op.fastmath.data:
                names[r] = f"mlc_exp2_approximate({args[0]})"
                continue
            names[r] = expression(name, args, source, element(result.type), SCALAR, properties)
        self.define(result, part, names)

    def reduction(self, op: vector.ReductionOp) -> None:
        kind, held, name = op.kind.data.value, self.env[op.vector], element(op.vector.type)
        type_, neutral = c_scalar(name), identity(kind, name, c_scalar(name))
        accesses = Accesses(self.coordinates, held.part, "0", [])
        elements = []
        for r in held.part.registers():
            valid = " && ".join(accesses.valid(r))
            elements.append(f"({valid} ? {held.at(r)} : {neutral})" if valid else held.at(r))
        target = self.name()
        for step in BlockReduction(held.part, kind, name, type_).steps(target, elements):
            self.line(step)
        self.alias(op.dest, target)

    def multi_reduction(self, op: kernel.MultiReductionOp) -> None:
        name, part = element(op.source.type), self.part(op.result)
        kind, base = op.kind.data.value, self.name()
        reduction = AxisReduction(self.coordinates, self.env[op.source], part, kind, name, c_scalar(name))
        for step in reduction.steps(base):
            self.line(step)
        self.define(op.result, part, reduction.results(base))
        if not reduction.in_place:
            self.line("__syncthreads();")

    # -- memory --------------------------------------------------------------------------------------------------------

    def local(self, op: kernel.LocalOp) -> None:
        name, size, type_ = self.name(), elements_in(op.result), pointer_type(element_of(op.result))
        assert isinstance(size, int)
        if DYNAMIC in self.fn.attributes:
            self.line(f"{type_} *const {name} = ({type_} *)({DYNAMIC} + {local_offsets(self.fn)[0][op]});")
        else:
            self.line(f"__shared__ __align__({alignment_of(op)}) {type_} {name}[{max(size, 1)}];")
        self.pointers[op.result] = name
        if isinstance(layout := op.attributes.get(LAYOUT), StringAttr):
            self.layouts[op.result] = LinearLayout.parse(layout.data)

    def subview(self, op: kernel.SubviewOp) -> None:
        name, source, size = self.name(), self.pointers[op.source], elements_in(op.result)
        type_ = pointer_type(element_of(op.result))
        self.line(f"{type_} *const {name} = {source} + {self.scalar(op.index)} * {size};")
        self.pointers[op.result] = name
        if layout := self.layouts.get(op.source):
            self.layouts[op.result] = layout

    def async_copy(self, op: kernel.AsyncCopyOp) -> None:
        distribution, width, size = op.attributes[DISTRIBUTION], op.width.value.data, ITEMSIZE[element_of(op.buffer)]
        assert isinstance(distribution, StringAttr)
        part, axis = Part(LinearLayout.parse(distribution.data), op.chunks), op.axis if width > 1 else None
        factors = [
            str(width if n == axis else s if isinstance(s, int) else self.scalar(s))
            for n, s in enumerate(op.mixed_strides)
        ]
        targets = [str(width if n == axis else s) for n, s in enumerate(op.target_strides.get_values())]
        source = Accesses(self.coordinates, part, self.scalar(op.offset), factors, self.limits(op))
        layout = self.layouts.get(op.target)
        target = Accesses(self.coordinates, part, self.scalar(op.at), targets, layout=layout)
        pointers = (self.pointers[op.buffer], self.pointers[op.target])
        when, type_ = self.scalar(op.when) if op.when is not None else None, pointer_type(element_of(op.buffer))
        for line in AsyncCopy(source, target, pointers, type_, width, width * size, axis, when).steps():
            self.line(line)

    def async_gather(self, op: kernel.AsyncGatherOp) -> None:
        offsets, size = self.env[op.offsets], ITEMSIZE[element_of(op.buffer)]
        source = Accesses(self.coordinates, offsets.part, "0", [], self.limits(op))
        strides = [str(s) for s in op.target_strides.get_values()]
        target = Accesses(
            self.coordinates, offsets.part, self.scalar(op.at), strides, layout=self.layouts.get(op.target)
        )
        pointers, type_ = (self.pointers[op.buffer], self.pointers[op.target]), pointer_type(element_of(op.buffer))
        when = self.scalar(op.when) if op.when is not None else None
        for line in AsyncCopy(source, target, pointers, type_, 1, size, None, when, offsets.at).steps():
            self.line(line)

    def accesses(self, op: kernel.ReadOp | kernel.WriteOp, part: Part) -> Accesses:
        factors = [str(s) if isinstance(s, int) else self.scalar(s) for s in op.mixed_strides]
        layout = self.layouts.get(op.buffer)
        return Accesses(self.coordinates, part, self.scalar(op.offset), factors, self.limits(op), layout, self.assumed)

    def limits(self, op: IRDLOperation) -> dict[int, str]:
        return {axis: self.scalar(value) for axis, value in kernel.valid_of(op).items()}

    def read(self, op: kernel.ReadOp) -> None:
        part = self.part(op.result)
        accesses = self.accesses(op, part)
        self.load(op, part, accesses, accesses.address)

    def gather(self, op: kernel.GatherOp) -> None:
        offsets = self.env[op.offsets]
        part = self.part(op.result, [offsets])
        accesses = Accesses(self.coordinates, part, "0", [], self.limits(op), assumed=self.assumed)
        self.load(op, part, accesses, offsets.at)

    def load(
        self, op: kernel.ReadOp | kernel.GatherOp, part: Part, accesses: Accesses, offset: Callable[[int], str]
    ) -> None:
        """What each register of a thread reads; 0 where the tile is beyond the extent."""
        zero = f"({c_scalar(element(op.result.type))})0"
        names = {}
        for r in part.registers():
            text, valid = f"{self.pointers[op.buffer]}[{offset(r)}]", " && ".join(accesses.valid(r))
            names[r] = f"{valid} ? {text} : {zero}" if valid else text
        self.define(op.result, part, names)

    def write(self, op: kernel.WriteOp) -> None:
        accesses = self.accesses(op, self.env[op.value].part)
        self.store(op, accesses, accesses.address)

    def scatter(self, op: kernel.ScatterOp) -> None:
        part = self.env[op.value].part
        accesses = Accesses(self.coordinates, part, "0", [], self.limits(op), assumed=self.assumed)
        self.store(op, accesses, self.env[op.offsets].at)

    def store(self, op: kernel.WriteOp | kernel.ScatterOp, accesses: Accesses, offset: Callable[[int], str]) -> None:
        """Each element of a thread that is within the extent is written by one thread."""
        held, pointer = self.env[op.value], self.pointers[op.buffer]
        for r in held.part.registers():
            condition = " && ".join([*accesses.once(), *accesses.valid(r)])
            store = f"{pointer}[{offset(r)}] = {held.at(r)};"
            self.line(f"if ({condition}) {store}" if condition else store)

    def product(self, op: kernel.MmaOp) -> None:
        """A product of tensor cores, whose sums replace those before."""
        held = self.env[op.acc]
        self.define(op.result, held.part, {r: held.at(r) for r in held.part.registers()})
        total, b = self.env[op.result], self.operand(op, left=False)
        if op.warpgroup:
            steps = WarpgroupProduct(total, op, self.operand(op, left=True), b).steps
        else:
            steps = WarpProduct(total, op, self.held_operand(op) if op.held else self.operand(op, left=True), b).steps
        for line in steps(op.steps.value.data, self.name()):
            self.line(line)

    def operand(self, op: kernel.MmaOp, left: bool) -> Operand:
        buffer, strides = (op.a if left else op.b), [int(n) for n in op.strides.get_values()][0 if left else 2 :][:2]
        total, layout = self.env[op.acc].part.layout, self.layouts.get(buffer)
        assert total is not None
        steps = op.steps.value.data
        return Operand(self.pointers[buffer], op.shape, left, strides, layout, total, self.coordinates, steps)

    def held_operand(self, op: kernel.MmaOp) -> HeldOperand:
        """A left factor in registers, rounded two elements at a time where it is rounded."""
        made, name = op.a.owner, element_of(op.b)
        if isinstance(made, arith.TruncFOp) and element(made.input.type) == "f32":
            held, pack, zero = self.env[made.input], f"mlc_pair_{name}", "0.0f"
        else:
            held, pack, zero = self.env[op.a], "mlc_pair", f"({c_scalar(name)})0"
        return HeldOperand(held, op.shape, lambda a, b: f"{pack}({a}, {b})", zero, self.coordinates)

    def specialize(self, op: kernel.SpecializeOp) -> None:
        """The warps that copy, of which one thread does, and those that compute, which take the others' registers."""
        threads, registers = self.fn.attributes[THREADS], op.registers
        assert isinstance(threads, IntegerAttr) and registers is not None
        kept, taken = registers.get_values()
        consumers = threads.value.data - op.threads.value.data
        self.open(f"if ({THREAD} >= {consumers})")
        self.line(f"mlc_release_registers<{kept}>();")
        self.open(f"if ({THREAD} == {consumers})")
        self.block(op.producer.block)
        self.close()
        self.close()
        self.open("else")
        self.line(f"mlc_take_registers<{taken}>();")
        self.barrier = f"mlc_group_barrier<{consumers}>();"
        self.block(op.consumer.block)
        self.close()

    # -- control -------------------------------------------------------------------------------------------------------

    def parallel(self, op: scf.ParallelOp) -> None:
        """The iterations of a block: each grid-th one of a collapsed loop; all, in order, in a serial kernel."""
        block, count = op.body.block, self.name()
        extents_ = [
            f"({self.scalar(u)} - {self.scalar(l)})"
            for l, u in zip(op.lowerBound, op.upperBound, strict=True)  # noqa: E741
        ]
        self.line(f"const int64_t {count} = {' * '.join(extents_)};")
        t, first, step = self.name(), *(("0", "1") if self.serial else (self.first_block(), "gridDim.x"))
        self.before.append(count)
        self.open(f"for (int64_t {t} = {first}; {t} < {count}; {t} += {step})")
        self.turn = f"(({t} - {first}) / {step})"
        for n, (arg, lower) in enumerate(zip(block.args, op.lowerBound, strict=True)):
            inner = " * ".join(extents_[n + 1 :])
            text = f"{t} / ({inner})" if inner else t
            text = f"{text} % {extents_[n]}" if n else text
            name = self.name()
            self.line(f"const int64_t {name} = {self.scalar(lower)} + {text};")
            self.alias(arg, name)
        busy = busy_threads(block, self.coordinates)
        self.assumed = frozenset(busy)
        if busy:
            self.open(f"if ({' && '.join(busy)})")
        self.block(block)
        if busy:
            self.close()
        self.assumed = frozenset()
        self.close()

    def first_block(self) -> str:
        """A block's first iteration of a parallel loop. Loops follow each other round the grid, so that a block that
        has an iteration of one takes none of the next while others have none."""
        if not self.before or self.depth > 1:
            return "blockIdx.x"
        return f"(blockIdx.x + gridDim.x - ({' + '.join(self.before)}) % gridDim.x) % gridDim.x"

    def loop(self, op: scf.ForOp) -> None:
        block = op.body.block
        for arg, init, result in zip(block.args[1:], op.iter_args, op.results, strict=True):
            held = self.env[init]
            self.define(result, held.part, held.names)
            self.env[arg] = self.env[result]
        i, (lower, upper, step) = self.name(), (self.scalar(v) for v in (op.lb, op.ub, op.step))
        if UNROLL in op.attributes:
            self.line(f"#pragma unroll {UNROLLED}")
        elif any(isinstance(o, kernel.MmaOp) for o in op.walk()):  # has products enough for one iteration
            self.line("#pragma unroll 1")
        self.open(f"for (int64_t {i} = {lower}; {i} < {upper}; {i} += {step})")
        self.alias(block.args[0], i)
        self.block(block)
        assert block.last_op is not None
        for value, result in zip(block.last_op.operands, op.results, strict=True):
            for register, target in self.env[result].names.items():
                self.line(f"{target} = {self.env[value].at(register)};")
        self.close()


def element_rows(arg: SSAValue) -> int:
    """The rows of a scratch array: blocks."""
    return int(arg.type.get_shape()[0])  # type: ignore[attr-defined]
