"""Collective operations: those that the threads of a block execute together, such as reductions, products of tensor
cores, barriers and copies."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from xdsl.dialects import arith, vector
from xdsl.ir import Operation, SSAValue

from mlc.dialects import kernel
from mlc.dialects.kernel import root_of
from mlc.passes.codegen.c_like.c_types import c_scalar, element
from mlc.passes.codegen.cuda.launch_geometry import tensor_maps
from mlc.passes.codegen.cuda.thread.async_copies import bulk_step
from mlc.passes.codegen.cuda.thread.block_reduce import AxisReduction, BlockReduction, identity
from mlc.passes.codegen.cuda.thread.bulk_stores import BulkStore
from mlc.passes.codegen.cuda.thread.coordinates import GROUP
from mlc.passes.codegen.cuda.thread.cuda_memory import TileAccesses
from mlc.passes.codegen.cuda.thread.fragments import HeldOperand, Operand, WarpProduct
from mlc.passes.codegen.cuda.thread.kernel_memory import KernelMemory
from mlc.passes.codegen.cuda.thread.thread_part import Held
from mlc.passes.codegen.cuda.thread.warpgroup_products import Matrix, WarpgroupProduct
from mlc.passes.device.set_launch_geometry import consumer_groups


def sums_warpgroups(value: SSAValue) -> bool:
    """Return whether the only use of a value is as the accumulator of a product of warpgroups."""
    return [isinstance(use.operation, kernel.MmaOp) and bool(use.operation.warpgroup) for use in value.uses] == [True]


@dataclass
class KernelCollectives(KernelMemory, ABC):
    """A printer of operations across threads."""

    barrier: str = "__syncthreads();"  # of the threads that compute
    iteration: str = "0"  # how many iterations of the parallel loop the block has done
    matrices: dict[tuple[kernel.MmaOp, SSAValue], Matrix] = field(default_factory=dict)

    @cached_property
    def warpgroups(self) -> bool:
        """Whether warpgroups read shared memory, by the asynchronous proxy, so that a fence must make stores visible to
        it."""
        return any(isinstance(o, kernel.MmaOp) and o.warpgroup for o in self.fn.walk())

    @cached_property
    def groups(self) -> int:
        """The number of groups of threads that have tiles of their own."""
        return consumer_groups(self.fn)

    @cached_property
    def maps(self) -> dict[kernel.TensorMap, str]:
        """The parameter of each tensor map."""
        return {each: f"map{n}" for n, each in enumerate(tensor_maps(self.fn))}

    def collective(self, op: Operation) -> bool:
        """Print a product, a barrier or an asynchronous copy; return False for other operations."""
        match op:
            case kernel.MmaOp():
                self.product(op)
            case kernel.MmaWaitOp():
                self.product_wait(op)
            case kernel.BarrierOp():
                self.line(f"mlc_proxy_fence(); {self.barrier}" if self.warpgroups else self.barrier)
            case kernel.ClusterBarrierOp():
                self.line("mlc_cluster_barrier();")
            case kernel.OthersArrivedOp() | kernel.ArriveOp():
                self.semaphore(op)
            case kernel.ClusterRankOp():
                self.define(op.result, self.part(op.result), {0: "mlc_cluster_rank()"})
            case kernel.IterationOp():
                self.name_scalar(op.result, self.iteration)
            case kernel.BulkCopyOp() | kernel.MbarrierInitOp():
                self.line(bulk_step(op, self.maps, self.pointers, self.scalar))
            case kernel.MbarrierExpectOp() | kernel.MbarrierArriveOp() | kernel.MbarrierWaitOp():
                self.line(bulk_step(op, self.maps, self.pointers, self.scalar))
            case kernel.BulkStoreOp():
                self.bulk_store(op)
            case kernel.BulkStoreWaitOp():
                self.line("mlc_bulk_store_wait<0>();")
            case kernel.AsyncCopyOp():
                self.async_copy(op)
            case kernel.AsyncGatherOp():
                self.async_gather(op)
            case kernel.AsyncGroupOp():
                self.line("mlc_async_group();")
            case kernel.AsyncWaitOp():
                self.line(f"mlc_async_wait<{op.groups.value.data}>();")
            case _:
                return False
        return True

    def reduction(self, op: vector.ReductionOp) -> None:
        kind, held, name = op.kind.data.value, self.env[op.vector], element(op.vector.type)
        type_, neutral = c_scalar(name), identity(kind, name, c_scalar(name))
        accesses = TileAccesses(self.coordinates, held.part, "0", [])
        elements = []
        for r in held.part.registers():
            valid = " && ".join(accesses.valid(r))
            elements.append(f"({valid} ? {held.at(r)} : {neutral})" if valid else held.at(r))
        target = self.name()
        for step in BlockReduction(held.part, kind, name, type_).steps(target, elements):
            self.line(step)
        self.name_scalar(op.dest, target)

    def multi_reduction(self, op: kernel.MultiReductionOp) -> None:
        name, part = element(op.source.type), self.part(op.result)
        kind, base = op.kind.data.value, self.name()
        reduction = AxisReduction(self.coordinates, self.env[op.source], part, kind, name, c_scalar(name))
        for step in reduction.steps(base):
            self.line(step)
        self.define(op.result, part, reduction.results(base))
        if not reduction.in_place:
            self.line("__syncthreads();")

    def semaphore(self, op: kernel.OthersArrivedOp | kernel.ArriveOp) -> None:
        """Print whether a block is the last one of a tile; all its threads get the same answer."""
        at, blocks = f"{self.pointers[op.buffer]} + {self.scalar(op.at)}", f"(int)({self.scalar(op.blocks)})"
        if isinstance(op, kernel.ArriveOp):
            call = f"mlc_arrive({at}, {blocks})"
        else:
            call = f"mlc_others_arrived({at}, {blocks}, {self.scalar(op.when)})"
        self.define(op.result, self.part(op.result), {0: call})

    def product(self, op: kernel.MmaOp) -> None:
        """Print a product of tensor cores, whose sums replace those before."""
        if op.warpgroup:
            self.warpgroup_product(op)
            return
        held = self.env[op.acc]
        self.define(op.result, held.part, {r: held.at(r) for r in held.part.registers()})
        total, b = self.env[op.result], self.operand(op, left=False)
        steps = WarpProduct(total, op, self.held_operand(op) if op.held else self.operand(op, left=True), b).steps
        for line in steps(op.steps.value.data, self.name()):
            self.line(line)

    def warpgroup_product(self, op: kernel.MmaOp) -> None:
        """Print a product of warpgroups, which adds to an array: that of the accumulator, if no other operation reads
        it."""
        if op.promoted:
            self.promoted_product(op)
            return
        held = self.env[op.acc]
        if held.array is not None and sums_warpgroups(op.acc):
            self.env[op.result] = held
        else:
            self.define_array(op.result, Held(held.part, {r: held.at(r) for r in held.part.registers()}))
        self.warpgroup_steps(op, self.env[op.result])
        if not op.in_flight:
            self.arrival(self.env[op.result], 0)

    def promoted_product(self, op: kernel.MmaOp) -> None:
        """Print a product of warpgroups to a new array, and its addition to the accumulator."""
        held, name = self.env[op.acc], self.name()
        self.define(op.result, held.part, {r: held.at(r) for r in held.part.registers()})
        total = self.env[op.result]
        made = Held(held.part, {r: f"{name}[{n}]" for n, r in enumerate(total.names)}, name)
        self.line(f"{c_scalar(op.shape.total)} {name}[{len(made.names)}];")
        self.warpgroup_steps(op, made)
        self.arrival(made, 0)
        for r, text in total.names.items():
            self.line(f"{text} += {made.at(r)};")

    def warpgroup_steps(self, op: kernel.MmaOp, total: Held) -> None:
        matrices = self.matrices[op, op.a], self.matrices[op, op.b]
        starts = self.starts.get(op.a, "0"), self.starts.get(op.b, "0")
        for line in WarpgroupProduct(total, op, matrices, starts).steps():
            self.line(line)

    def local(self, op: kernel.LocalOp) -> None:
        """Declare a local array, and the descriptors of its first buffer if warpgroups multiply its elements."""
        super().local(op)
        products = [o for o in self.fn.walk() if isinstance(o, kernel.MmaOp) and o.warpgroup]
        for product, operand in ((o, each) for o in products for each in (o.a, o.b) if root_of(each) is op.result):
            matrix = Matrix(product, operand is product.a, self.name())
            total = self.part(product.result).layout
            assert total is not None
            self.line(matrix.declaration(self.pointers[op.result], total, self.coordinates))
            self.matrices[product, operand] = matrix

    def product_wait(self, op: kernel.MmaWaitOp) -> None:
        held = self.env[op.result] = self.env[op.sums]
        self.arrival(held, op.groups.value.data)

    def arrival(self, sums: Held, groups: int) -> None:
        """Wait until at most ``groups`` products are in flight; the compiler then reads the sums no earlier."""
        self.line(f"mlc_wgmma_wait<{groups}>();")
        self.line(f"mlc_wgmma_arrived({sums.array});")

    def operand(self, op: kernel.MmaOp, left: bool) -> Operand:
        buffer, strides = (op.a if left else op.b), [int(n) for n in op.strides.get_values()][0 if left else 2 :][:2]
        total, layout = self.env[op.acc].part.layout, self.layouts.get(buffer)
        assert total is not None
        steps = op.steps.value.data
        ring = self.pointers[root_of(buffer)], self.starts.get(buffer, "0")
        return Operand(self.pointers[buffer], ring, op.shape, left, strides, layout, total, self.coordinates, steps)

    def held_operand(self, op: kernel.MmaOp) -> HeldOperand:
        """Return a left factor in registers."""
        held, pack, zero = self.paired(op.a)
        return HeldOperand(held, op.shape, pack, zero, self.coordinates)

    def paired(self, value: SSAValue) -> tuple[Held, Callable[[str, str], str], str]:
        """Return the registers of a value of 16 bits, the function that packs two neighbours, and a zero. For a rounded
        value these are the registers before rounding, two of which are rounded at a time."""
        made, name = value.owner, element(value.type)
        if isinstance(made, arith.TruncFOp) and element(made.input.type) == "f32":
            return self.env[made.input], lambda a, b: f"mlc_pair_{name}({a}, {b})", "0.0f"
        return self.env[value], lambda a, b: f"mlc_pair({a}, {b})", f"({c_scalar(name)})0"

    def bulk_store(self, op: kernel.BulkStoreOp) -> None:
        held, pack, _ = self.paired(op.value)
        positions = [self.scalar(v) for v in op.coordinates]
        layout, pointer = self.layouts[op.staging], self.pointers[op.staging]
        each = (layout, self.maps[op.map], positions, self.coordinates, (self.groups, GROUP))
        for line in BulkStore(op, held, pack, pointer, *each).steps():
            self.line(line)
