"""Kernel copies: new kernels from some of the statements and arguments of another kernel."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, FunctionType, MemRefType
from xdsl.ir import Block, BlockArgument, Region, SSAValue

from mlc.dialects import kernel, poly
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.types import bytes_of
from mlc.passes.effects import erase_dead
from mlc.passes.kernel.lowering.array_names import array_names

Index = tuple[DimLike, ...]


class KernelCopy:
    """A kernel under construction. ``values`` maps the ``kept`` arguments and the local arrays of ``fn`` to those of
    the new kernel. New arguments, of types ``first``, come before the kept ones."""

    def __init__(self, fn: kernel.FuncOp, kept: Sequence[int], first: Sequence[MemRefType] = ()):
        olds = [fn.block.args[n] for n in kept]
        self.block = Block(arg_types=[*first, *(v.type for v in olds)])
        self.values: dict[SSAValue, SSAValue] = dict(zip(olds, self.block.args[len(first) :], strict=True))
        self.indices: dict[poly.StatementOp, Sequence[Index]] = {}
        for op in [o for o in fn.block.ops if isinstance(o, kernel.LocalOp)]:
            self.block.add_op(copy := op.clone())
            self.values[op.result] = copy.result

    def argument(self, type_: MemRefType) -> BlockArgument:
        """Add an argument after the others, and return it."""
        return self.block.insert_arg(type_, len(self.block.args))

    def statement(
        self, old: poly.StatementOp, bounds: Sequence[tuple[str, DimLike]], ins: Sequence[SSAValue], out: SSAValue,
        indices: Sequence[Index], body: Region,
    ) -> None:  # fmt: skip
        """Add a statement with the name and monoid of ``old``. ``indices``: the elements of ``ins`` and ``out`` that it
        accesses."""
        monoid, domain = old.monoid.data if old.monoid else None, poly.DomainAttr(bounds)
        made = poly.StatementOp(old.id.data, domain, [], ins, out, body, monoid, old.init)
        self.add(made, indices)

    def add(self, statement: poly.StatementOp, indices: Sequence[Index]) -> None:
        """Add ``statement``. ``indices``: the elements of its operands that it accesses."""
        self.indices[statement] = indices
        self.block.add_op(statement)

    def function(self, name: str, flops: DimLike | None) -> kernel.FuncOp:
        """Return the finished kernel, with the names of arrays in its accesses."""
        self.block.add_op(kernel.ReturnOp())
        erase_dead([o for o in self.block.ops if isinstance(o, kernel.LocalOp)])
        made = kernel.FuncOp(name, FunctionType.from_lists(list(self.block.arg_types), []), Region(self.block))
        names = array_names(made.block)
        for op, indices in self.indices.items():
            accesses = zip((names[v] for v in (*op.ins, op.out)), indices, strict=True)
            op.properties["accesses"] = ArrayAttr(poly.AccessAttr(a) for a in accesses)
        moved = sum((bytes_of(arg) for arg in self.block.args), 0)
        made.work = kernel.Work(flops, moved)
        return made
