"""A kernel of the loops level as a CUDA function: the part of one thread in a thread block.

The threads of a block compute a vector of the IR together. Its distribution gives the elements that a thread holds in
registers: ``vector<64x64xf32>`` over 256 threads is 16 variables. Blocks take the iterations of the outermost
``scf.parallel``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import math, scf, vector
from xdsl.dialects.utils.fast_math import FastMathFlag
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects import kernel
from mlc.dialects.types import element_of, elements_in
from mlc.passes.codegen.c_like.c_memory import pointer_type
from mlc.passes.codegen.c_like.c_ops import expression
from mlc.passes.codegen.c_like.c_types import c_scalar, element
from mlc.passes.codegen.cuda.thread.block_reduce import SCALAR
from mlc.passes.codegen.cuda.thread.coordinates import GROUP, THREAD
from mlc.passes.codegen.cuda.thread.cuda_memory import busy_threads
from mlc.passes.codegen.cuda.thread.kernel_collectives import KernelCollectives, sums_warpgroups
from mlc.passes.codegen.cuda.thread.kernel_memory import DYNAMIC
from mlc.passes.codegen.cuda.thread.thread_part import Held

UNROLLED = 8  # steps of a staged sum: of more the compiler would hold all operands in registers at a time


def print_kernel(fn: kernel.FuncOp, symbol: str) -> str:
    """Return the CUDA function ``symbol`` of a kernel."""
    return _Printer(fn, symbol).text()


OF_BYTES = {"arith.sitofp": "i8", "arith.uitofp": "u8"}
"""The casts of bytes to floats for which the device headers have functions."""


@dataclass
class _Printer(KernelCollectives):
    before: list[str] = field(default_factory=list)  # the iterations of earlier parallel loops
    share: int = 1  # of a block's iterations those who take it have every so many-th

    def text(self) -> str:
        self.serial = self.fn.serial is not None
        parameters = [*self._buffers(), *(f"const int64_t {name}" for name in self.fn.symbols),
                      *(f"const __grid_constant__ mlc_tensor_map {name}" for name in self.maps.values())]  # fmt: skip
        self.block(self.fn.block)
        launch = self.fn.launch
        bounds = f"__launch_bounds__({launch.launched}, {launch.resident})"
        if (blocks := prod(launch.cluster)) > 1:
            bounds += f" __cluster_dims__({blocks}, 1, 1)"
        first = f'extern "C" __global__ void {bounds} {self.symbol}({", ".join(parameters)}) {{'
        shared = [f"MLC_DYNAMIC_SHARED({DYNAMIC}, {launch.dynamic});"] if launch.dynamic else []
        start = [*self._threads(), *shared, *self.head]
        return "\n".join([first, *(f"  {line}" for line in start), *self.lines, "}"]) + "\n"

    def _threads(self) -> list[str]:
        """Return the declarations of the number of a thread in its tile and, if several groups have their own tiles,
        the number of its group."""
        if self.groups == 1:
            return [f"const int {THREAD} = threadIdx.x; (void){THREAD};"]
        each = self.fn.launch.computing
        return [f"const int {THREAD} = threadIdx.x % {each}, {GROUP} = mlc_uniform(threadIdx.x / {each});"]

    def _buffers(self) -> list[str]:
        """Return the pointer parameters, and set each block's pointer to its own row of the scratch arrays.

        A buffer that is written and read is not ``__restrict__``: with it the compiler takes a thread's pointer for the
        only way to the elements, keeps them in registers across barriers, and misses the writes of other threads.
        """
        written = {o.buffer for o in self.fn.walk() if isinstance(o, kernel.WriteOp | kernel.ScatterOp)}
        written |= {o.args[-1] for o in self.fn.walk() if isinstance(o, kernel.LibraryCallOp)}
        written |= {o.buffer for o in self.fn.walk() if isinstance(o, kernel.ArriveOp)}
        args, own = self.fn.block.args, self.fn.scratch.arrays
        shared = {n for pair in self.fn.in_place for n in pair}
        parameters = []
        for n, arg in enumerate(args):
            const = "" if arg in written else "const "
            restrict = "" if n in shared or arg in written and _is_read(arg) else "__restrict__ "
            parameters.append(f"{const}{pointer_type(element_of(arg))} *{restrict}b{n}")
            self.pointers[arg] = f"b{n}"
            if n >= len(args) - own and element_rows(arg) > 1:
                row = elements_in(arg) // element_rows(arg)
                self.head.append(f"b{n} += (int64_t)blockIdx.x * {row};")
        return parameters

    # -- operations ----------------------------------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        super().block(block)
        self.end_order()

    def op(self, op: Operation) -> None:
        if not self.order.begin(op):
            self.end_order()
        self.print(op)
        self.order.active = False

    def other(self, op: Operation) -> None:
        match op:
            case kernel.ScatterOp():
                self.scatter(op)
            case kernel.SubviewOp():
                self.subview(op)
            case kernel.SpecializeOp():
                self.specialize(op)
            case _:
                if not self.collective(op):
                    self.elementwise(op)

    def broadcast(self, op: vector.BroadcastOp) -> None:
        source, part = self.env[op.source], self.part(op.vector)
        self.env[op.vector] = Held(part, {r: source.at(r) for r in part.registers()})

    def step(self, op: kernel.StepOp) -> None:
        part = self.part(op.result)
        axis = next(iter(part.axes), len(part.aligned) - 1)
        self.define(op.result, part, {r: self.coordinates.at(part, axis, r) for r in part.registers()})

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
            if name in OF_BYTES and source == "i8" and element(result.type) in ("f32", "f16"):
                names[r] = f"mlc_{element(result.type)}_of_{OF_BYTES[name]}({args[0]})"
                continue
            names[r] = expression(name, args, source, element(result.type), SCALAR, properties)
        self.define(result, part, names)

    def specialize(self, op: kernel.SpecializeOp) -> None:
        """Print the copying warps, one thread of which copies, and the computing warps, which take the others'
        registers."""
        threads, registers = self.fn.launch.launched, op.registers
        assert threads is not None and registers is not None
        kept, taken = registers.get_values()
        consumers = threads - op.threads.value.data
        self.open(f"if (threadIdx.x >= {consumers})")
        self.line(f"mlc_release_registers<{kept}>();")
        self.open(f"if (mlc_elected({consumers}))")
        self.block(op.producer.block)
        self.close()
        self.close()
        self.open("else")
        self.line(f"mlc_take_registers<{taken}>();")
        self.barrier = f"mlc_group_barrier<{consumers}>();" if self.groups == 1 else f"mlc_warpgroup_barrier({GROUP});"
        self.share = self.groups
        self.block(op.consumer.block)
        self.close()

    # -- control -------------------------------------------------------------------------------------------------------

    def parallel(self, op: scf.ParallelOp) -> None:
        """Print the iterations of a block: each grid-th one of a collapsed loop; in a serial kernel all, in order."""
        block, (count, extents) = op.body.block, self.counted(op)
        t, first, step = self.name(), *(("0", "1") if self.serial else (self.first_block(), "gridDim.x"))
        self.before.append(count)
        own, each = (first, step) if self.share == 1 else (f"{first} + {GROUP} * {step}", f"{self.share} * {step}")
        self.open(f"for (int64_t {t} = {own}; {t} < {count}; {t} += {each})")
        self.iteration = f"(({t} - {first}) / {step})"
        self.iterators(op, extents, t)
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
        """Return a block's first iteration of a parallel loop. Loops follow each other round the grid, so that blocks
        without an iteration of one loop take those of the next first."""
        if not self.before or self.depth > 1:
            return "blockIdx.x"
        return f"(blockIdx.x + gridDim.x - ({' + '.join(self.before)}) % gridDim.x) % gridDim.x"

    def loop(self, op: scf.ForOp) -> None:
        block = op.body.block
        for arg, init, result in zip(block.args[1:], op.iter_args, op.results, strict=True):
            held = self.env[init]
            if sums_warpgroups(arg):
                self.define_array(result, held)
            else:
                self.define(result, held.part, held.names)
            self.env[arg] = self.env[result]
        i, (lower, upper, step) = self.name(), (self.scalar(v) for v in (op.lb, op.ub, op.step))
        if kernel.loop_of(op).unroll:
            self.line(f"#pragma unroll {UNROLLED}")
        elif any(isinstance(o, kernel.MmaOp) for o in op.walk()):  # has products enough for one iteration
            self.line("#pragma unroll 1")
        self.open(f"for (int64_t {i} = {lower}; {i} < {upper}; {i} += {step})")
        self.name_scalar(block.args[0], i)
        self.block(block)
        self.carry(op)
        self.close()

    def carry(self, op: scf.ForOp) -> None:
        """Assign the values that a loop carries, all at once: a value is copied first if it is assigned to another one
        after it changes."""
        assert op.body.block.last_op is not None
        carried = [*zip(op.body.block.last_op.operands, op.results, strict=True)]
        moves = {
            target: source
            for value, result in carried
            for register, target in self.env[result].names.items()
            if (source := self.env[value].at(register)) != target
        }
        types = {target: c_scalar(element(r.type)) for _, r in carried for target in self.env[r].names.values()}
        kept = {source: self.name() for source in moves.values() if source in moves}
        for source, name in kept.items():
            self.line(f"const {types[source]} {name} = {source};")
        for target, source in moves.items():
            self.line(f"{target} = {kept.get(source, source)};")


def _is_read(buffer: SSAValue) -> bool:
    """Return whether an operation other than a write uses a buffer."""
    return any(not isinstance(use.operation, kernel.WriteOp | kernel.ScatterOp) for use in buffer.uses)


def element_rows(arg: SSAValue) -> int:
    """Return the rows of a scratch array, one for each block."""
    return int(arg.type.get_shape()[0])  # type: ignore[attr-defined]
