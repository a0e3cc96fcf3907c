"""A kernel of the loops level as a C function.

Register tiles become vector variables, one for each register: ``vector<14x32xf32>`` is one value in the IR and 28
variables in C. The threads of the team partition the outermost ``scf.parallel``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects import kernel
from mlc.dialects.types import element_of
from mlc.passes.codegen.c_like import c_memory
from mlc.passes.codegen.c_like.c_dims import c_dim
from mlc.passes.codegen.c_like.c_inline import has_partial_sums, inlines, is_dot, nibbles
from mlc.passes.codegen.c_like.c_ops import expression
from mlc.passes.codegen.c_like.c_types import element, layout
from mlc.passes.codegen.cpu.c_registers import CRegisters, written_buffers
from mlc.passes.codegen.cpu.register_arrays import register_shapes

TABLE = 16  # floats in a register that a table of 4 bits fills


def print_kernel(fn: kernel.FuncOp, symbol: str, lanes: int) -> str:
    """Return the C function ``symbol`` of a kernel, for vectors of ``lanes`` 4-byte elements."""
    return _Printer(fn, symbol, lanes=lanes).text()


@dataclass
class _Printer(CRegisters):
    def text(self) -> str:
        written = written_buffers(self.fn)
        shared = {n for pair in self.fn.in_place for n in pair}
        for n, arg in enumerate(self.fn.block.args):
            const = "" if arg in written else "const "
            restrict = "" if n in shared else "restrict "
            type_ = c_memory.pointer_type(element_of(arg))
            self.line(f"{const}{type_} *{restrict}b{n} = buf[{n}];")
            self.pointers[arg] = f"b{n}"
        for n, name in enumerate(self.fn.symbols):
            self.line(f"const int64_t {name} = dim[{n}];")
        if self.fn.serial is not None:
            self.line("if (tid) return;")
        if any(isinstance(o, kernel.RepeatOp) for o in self.fn.walk()):
            self.alone = True
            self.shapes = register_shapes(self.fn, self.lanes)
        self.count_rows()
        self.block(self.fn.block)
        head = f"void {self.symbol}(void *const *buf, const int64_t *dim, int64_t tid, int64_t threads) {{"
        unused = "  (void)buf, (void)dim, (void)tid, (void)threads;"
        return "\n".join([head, unused, *self.lines, "}"]) + "\n"

    # -- operations ----------------------------------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        self.name_rows(block.args)
        super().block(block)

    def op(self, op: Operation) -> None:
        self.print(op)
        self.name_rows(op.results)

    def other(self, op: Operation) -> None:
        match op:
            case kernel.PrefetchOp():
                self.line(f"mlc_prefetch({self.pointers[op.buffer]} + {self.scalar(op.offset)});")
            case kernel.RepeatOp():
                self.repeat(op)
            case kernel.ViewOp():
                self.view(op)
            case kernel.CopyOp():
                self.copy(op)
            case kernel.SlideOp():
                self.slide(op)
            case _:
                self.elementwise(op)

    def elementwise(self, op: Operation) -> None:
        name, properties = op.name, op.properties
        if isinstance(op, kernel.LanewiseOp):
            name, properties = op.op.data, dict(op.of.data)
        result = op.results[0]
        target = layout(result.type, self.lanes)
        source = element(op.operands[0].type)
        if is_dot(op) and inlines(result):
            return
        if (words := nibbles(op)) and source == "i32" and {c.width for c in target.chunks} == {TABLE}:
            table = f"mlc_nibbles_{target.element}x{TABLE}"
            self.define(result, [f"{table}({word}, {words[1]})" for word in self.env[words[0]].names])
            return
        dot = next((v.owner for v in op.operands if is_dot(v.owner) and inlines(v)), None)
        name = dot.op.data if isinstance(dot, kernel.LanewiseOp) else name
        tiles = [self.env[v] for v in self.operands(op)]
        strings = []
        for n, (_, c) in enumerate(target.positions()):
            args = [t.names[n] for t in tiles]
            strings.append(expression(name, args, source, target.element, target.chunks[c], properties))
        self.define(result, strings)

    def operands(self, op: Operation) -> Sequence[SSAValue]:
        """Return the operands of an operation; for the addition of an inlined dot product, the sum and the factors."""
        dot = next((n for n, v in enumerate(op.operands) if is_dot(v.owner) and inlines(v)), None)
        if dot is None:
            return op.operands
        factors = op.operands[dot].owner
        assert isinstance(factors, Operation)
        return (op.operands[1 - dot], *factors.operands)

    # -- control -------------------------------------------------------------------------------------------------------

    def parallel(self, op: scf.ParallelOp) -> None:
        """Print the iterations of part ``tid`` of a collapsed loop."""
        count, extents = self.counted(op)
        t = self.name()
        self.open(f"for (int64_t {t} = {count} * tid / threads; {t} < {count} * (tid + 1) / threads; {t}++)")
        self.iterators(op, extents, t)
        self.block(op.body.block)
        self.close()

    def repeat(self, op: kernel.RepeatOp) -> None:
        """Print a loop whose iteration number is a variable with the name of its symbol."""
        step = op.step.data
        bounds = [] if op.most is None else [f"{step} < {c_dim(op.most)}"]
        bounds += [] if op.limit is None else [f"{step} < *{self.pointers[op.limit]}"]
        bounds += [] if op.active is None else [f"*{self.pointers[op.active]}"]
        self.open(f"for (int64_t {step} = 0; {' && '.join(bounds)}; {step}++)")
        self.block(op.body.block)
        self.close()

    def loop(self, op: scf.ForOp) -> None:
        block = op.body.block
        for arg, init, result in zip(block.args[1:], op.iter_args, op.results, strict=True):
            self.define(result, self.env[init].names)
            self.env[arg] = self.env[result]
        i, (lower, upper, step) = self.name(), (self.scalar(v) for v in (op.lb, op.ub, op.step))
        self.open(f"for (int64_t {i} = {lower}; {i} < {upper}; {i} += {step})")
        self.alias(block.args[0], [i])
        if has_partial_sums(op):
            self.keep_in_memory(op)
        self.block(block)
        assert block.last_op is not None
        for value, result in zip(block.last_op.operands, op.results, strict=True):
            for target, text in zip(self.env[result].names, self.env[value].names, strict=True):
                self.line(f"{target} = {text};")
        self.close()

    def keep_in_memory(self, op: scf.ForOp) -> None:
        """Keep the totals of partial sums in memory while a block is summed, so that its tile gets the registers."""
        totals = [name for r in op.results for name in self.env[r].names if len(self.env[r].names) > 1]
        if totals:
            self.line(" ".join(f"MLC_IN_MEMORY({name});" for name in totals))
