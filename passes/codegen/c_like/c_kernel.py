"""A kernel of the loops level as a C function.

Register tiles become vector variables, one for each register: ``vector<14x32xf32>`` is one value in the IR and 28
variables in C. The threads of the team partition the outermost ``scf.parallel``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith, scf, vector
from xdsl.ir import Operation, SSAValue

from mlc.dialects import kernel
from mlc.dialects.graph import dims_of
from mlc.dialects.semantics.dims import parse_dim
from mlc.dialects.types import element_of, elements_in
from mlc.passes.codegen.c_like import c_memory, c_reduce
from mlc.passes.codegen.c_like.c_dims import c_dim
from mlc.passes.codegen.c_like.c_inline import has_partial_sums, inlines, is_dot4
from mlc.passes.codegen.c_like.c_literal import literal
from mlc.passes.codegen.c_like.c_ops import expression
from mlc.passes.codegen.c_like.c_text import CText
from mlc.passes.codegen.c_like.c_types import Chunk, Tile, element, layout, vector_name
from mlc.passes.tile.tile_kernels import SERIAL


def print_kernel(fn: kernel.FuncOp, symbol: str, lanes: int) -> str:
    """The C function ``symbol`` of a kernel, for vectors of ``lanes`` 4-byte elements."""
    return _Printer(fn, symbol, lanes).text()


@dataclass
class _Printer(CText):
    fn: kernel.FuncOp
    symbol: str
    lanes: int
    env: dict[SSAValue, Tile] = field(default_factory=dict)
    pointers: dict[SSAValue, str] = field(default_factory=dict)

    def text(self) -> str:
        written = {o.buffer for o in self.fn.walk() if isinstance(o, kernel.WriteOp)}
        written |= {o.args[-1] for o in self.fn.walk() if isinstance(o, kernel.LibraryCallOp)}
        shared = {n for pair in self.fn.in_place for n in pair}
        for n, arg in enumerate(self.fn.block.args):
            const = "" if arg in written else "const "
            restrict = "" if n in shared else "restrict "
            type_ = c_memory.pointer_type(element_of(arg))
            self.line(f"{const}{type_} *{restrict}b{n} = buf[{n}];")
            self.pointers[arg] = f"b{n}"
        for n, name in enumerate(self.fn.symbols):
            self.line(f"const int64_t {name} = dim[{n}];")
        if SERIAL in self.fn.attributes:
            self.line("if (tid) return;")
        self.block(self.fn.block)
        head = f"void {self.symbol}(void *const *buf, const int64_t *dim, int64_t tid, int64_t threads) {{"
        unused = "  (void)buf, (void)dim, (void)tid, (void)threads;"
        return "\n".join([head, unused, *self.lines, "}"]) + "\n"

    # -- values --------------------------------------------------------------------------------------------------------

    def scalar(self, value: SSAValue) -> str:
        return self.env[value].names[0]

    def define(self, value: SSAValue, strings: Sequence[str]) -> None:
        """Declare the variables of ``value``; a value that is inlined gets none, but its expression as name."""
        if inlines(value):
            self.alias(value, [f"({t})" for t in strings])
            return
        shape, base, names = layout(value.type, self.lanes), self.name(), []
        for n, ((_, c), text) in enumerate(zip(shape.positions(), strings, strict=True)):
            names.append(base if len(strings) == 1 else f"{base}_{n}")
            self.line(f"{shape.c_type(shape.chunks[c])} {names[-1]} = {text};")
        self.env[value] = Tile(shape, tuple(names))

    def alias(self, value: SSAValue, strings: Sequence[str]) -> None:
        self.env[value] = Tile(layout(value.type, self.lanes), tuple(strings))

    # -- operations ----------------------------------------------------------------------------------------------------

    def op(self, op: Operation) -> None:
        match op:
            case arith.ConstantOp():
                self.constant(op)
            case kernel.SymbolOp():
                self.alias(op.result, [c_dim(parse_dim(op.dim.data))])
            case vector.BroadcastOp():
                self.broadcast(op)
            case kernel.ReadOp():
                self.read(op)
            case kernel.WriteOp():
                self.write(op)
            case kernel.PrefetchOp():
                self.line(f"mlc_prefetch({self.pointers[op.buffer]} + {self.scalar(op.offset)});")
            case kernel.GatherOp():
                self.gather(op)
            case kernel.SlideOp():
                self.slide(op)
            case kernel.StepOp():
                self.step(op)
            case vector.ReductionOp():
                self.reduction(op)
            case kernel.MultiReductionOp():
                self.multi_reduction(op)
            case kernel.LibraryCallOp():
                args = [*(self.pointers[v] for v in op.args), *map(c_dim, dims_of(op.integers)), "tid", "threads"]
                self.line(f"mlc_{op.function.data}({', '.join(args)});")
            case kernel.LocalOp():
                self.local(op)
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
            self.alias(op.result, [text])

    def elementwise(self, op: Operation) -> None:
        name, properties = op.name, op.properties
        if isinstance(op, kernel.LanewiseOp):
            name, properties = op.op.data, dict(op.of.data)
        result = op.results[0]
        target = layout(result.type, self.lanes)
        source = element(op.operands[0].type)
        if is_dot4(op) and inlines(result):
            return
        tiles = [self.env[v] for v in self.operands(op)]
        name = "dot4" if len(tiles) == 3 and isinstance(op, arith.AddiOp) else name
        strings = []
        for n, (_, c) in enumerate(target.positions()):
            args = [t.names[n] for t in tiles]
            strings.append(expression(name, args, source, target.element, target.chunks[c], properties))
        self.define(result, strings)

    def operands(self, op: Operation) -> Sequence[SSAValue]:
        """The operands of an operation; for the addition of an inlined dot product, the sum and the factors."""
        dot = next((n for n, v in enumerate(op.operands) if is_dot4(v.owner) and inlines(v)), None)
        if dot is None:
            return op.operands
        factors = op.operands[dot].owner
        assert isinstance(factors, Operation)
        return (op.operands[1 - dot], *factors.operands)

    def broadcast(self, op: vector.BroadcastOp) -> None:
        source, target = self.env[op.source], layout(op.vector.type, self.lanes)
        rank = len(target.shape)
        padded = (1,) * (rank - len(source.layout.shape)) + source.layout.shape
        same = padded[-1] == target.shape[-1]
        filled: dict[tuple[str, int], str] = {}
        strings = []
        for leading, c in target.positions():
            inner = leading[rank - len(source.layout.shape) :]
            text = source.at(inner, c if same else 0)
            if not same:
                text = self.fill(text, target.element, target.chunks[c], filled)
            strings.append(text)
        self.alias(op.vector, strings)

    def fill(self, text: str, name: str, chunk: Chunk, filled: dict[tuple[str, int], str]) -> str:
        """A vector variable with ``text`` in each lane, declared once; a read is not shared: rows load when used."""
        if chunk.width == 1:
            return text
        if text.startswith("("):
            return f"mlc_fill_{vector_name(name, chunk.width)}{text}"
        key = (text, chunk.width)
        if key not in filled:
            filled[key] = self.name()
            type_ = vector_name(name, chunk.width)
            value = f"-(int32_t){text}" if name == "i1" else text
            self.line(f"{type_} {filled[key]} = mlc_fill_{type_}({value});")
        return filled[key]

    def step(self, op: kernel.StepOp) -> None:
        shape = layout(op.result.type, self.lanes)
        strings = []
        for leading, c in shape.positions():
            chunk = shape.chunks[c]
            if chunk.width == 1:
                strings.append(str(sum(leading)))
            else:
                lanes = ", ".join(str(chunk.start + n) for n in range(chunk.width))
                strings.append(f"({shape.c_type(chunk)}){{{lanes}}}")
        self.define(op.result, strings)

    def reduction(self, op: vector.ReductionOp) -> None:
        self.define(op.dest, [c_reduce.reduction(op.kind.data.value, self.env[op.vector])])

    def multi_reduction(self, op: kernel.MultiReductionOp) -> None:
        """The rows of each vector of the result, combined lane by lane where the vectors can exchange lanes."""
        kind, tile, target = op.kind.data.value, self.env[op.source], layout(op.result.type, self.lanes)
        results = []
        for leading, c in target.positions():
            chunk = target.chunks[c]
            rows = [(*leading, n) for n in range(chunk.start, chunk.start + chunk.valid)]
            if vectors := c_reduce.row_vectors(kind, tile, rows, chunk):
                results.append(self.combined_rows(kind, vectors, target.element, chunk))
                continue
            lanes = ", ".join(c_reduce.reduction(kind, c_reduce.row(tile, at)) for at in rows)
            results.append(f"({target.c_type(chunk)}){{{lanes}}}" if chunk.width > 1 else lanes)
        self.define(op.result, results)

    def combined_rows(self, kind: str, rows: Sequence[str], name: str, chunk: Chunk) -> str:
        """A variable whose lane i combines the lanes of ``rows[i]``: exchanges of lanes between pairs of rows, for half
        of the rows at a time, in the order of a reduction of one vector."""
        type_, vectors = vector_name(name, chunk.width), self.name()
        self.line(f"{type_} {vectors}[{chunk.width}] = {{{', '.join(rows)}}};")
        half = chunk.width // 2
        while half:
            for n in range(half):
                pair = f"{vectors}[{n}]", f"{vectors}[{n + half}]"
                text = c_reduce.combined(kind, pair, name, Chunk(0, chunk.width, chunk.width))
                self.line(f"mlc_exchange_{half}_{type_}({vectors} + {n}); {pair[0]} = {text};")
            half //= 2
        return f"{vectors}[0]"

    # -- memory --------------------------------------------------------------------------------------------------------

    def local(self, op: kernel.LocalOp) -> None:
        name, size = self.name(), elements_in(op.result)
        assert isinstance(size, int)
        self.line(f"_Alignas(64) {c_memory.pointer_type(element_of(op.result))} {name}[{max(size, 1)}];")
        self.pointers[op.result] = name

    def _strides(self, op: kernel.ReadOp | kernel.WriteOp) -> list[str]:
        return [str(s) if isinstance(s, int) else self.scalar(s) for s in op.mixed_strides]

    def read(self, op: kernel.ReadOp) -> None:
        shape, strides = layout(op.result.type, self.lanes), self._strides(op) or ["0"]
        pointer, base = self.pointers[op.buffer], self.scalar(op.offset)
        lanes = self.scalar(op.lanes) if op.lanes else None
        axis = c_memory.transposed_axis(shape, strides)
        if axis is not None:
            self.read_transposed(op, axis, strides)
            return
        strings = []
        for leading, c in shape.positions():
            at = c_memory.offset(base, leading, shape.chunks[c], strides)
            if strides[-1] == "2" and lanes is None and c_memory.in_pairs(shape):
                strings.append(c_memory.read_pairs(pointer, at, shape, c, op.odd is not None))
            else:
                strings.append(c_memory.read(pointer, at, shape, shape.chunks[c], strides[-1], lanes))
        self.define(op.result, strings)

    def slide(self, op: kernel.SlideOp) -> None:
        rows, last = self.env[op.rows], self.env[op.next]
        self.define(op.result, [c_memory.slide(rows, last, leading, c) for leading, c in rows.layout.positions()])

    def read_transposed(self, op: kernel.ReadOp, axis: int, strides: Sequence[str]) -> None:
        """Read square blocks, of as many points along ``axis`` as a vector has lanes, and transpose them in
        registers."""
        shape, pointer, base = layout(op.result.type, self.lanes), self.pointers[op.buffer], self.scalar(op.offset)
        lanes = self.scalar(op.lanes) if op.lanes else None
        squares: dict[tuple[tuple[int, ...], int], str] = {}
        names = []
        for leading, c in shape.positions():
            chunk, n = shape.chunks[c], leading[axis] % shape.chunks[c].width
            at = (*leading[:axis], leading[axis] - n, *leading[axis + 1 :])
            if (at, c) not in squares:
                vectors = c_memory.read_transposed(pointer, base, shape, chunk, at, axis, strides, lanes)
                squares[at, c] = self.square(vectors, shape.c_type(chunk), chunk.width)
            names.append(f"{squares[at, c]}[{n}]")
        self.alias(op.result, names)

    def square(self, vectors: Sequence[str], type_: str, size: int) -> str:
        """Declare an array of ``size`` vectors: the columns of ``vectors``."""
        name = self.name()
        self.line(f"{type_} {name}[{size}] = {{{', '.join(vectors)}}};")
        self.line(f"mlc_transpose_{type_}({name});")
        return name

    def write(self, op: kernel.WriteOp) -> None:
        tile, strides = self.env[op.value], self._strides(op) or ["0"]
        pointer, base = self.pointers[op.buffer], self.scalar(op.offset)
        lanes = self.scalar(op.lanes) if op.lanes else None
        for (leading, c), value in zip(tile.layout.positions(), tile.names, strict=True):
            chunk = tile.layout.chunks[c]
            at = c_memory.offset(base, leading, chunk, strides)
            self.line(c_memory.write(pointer, at, tile, value, chunk, strides[-1], lanes))

    def gather(self, op: kernel.GatherOp) -> None:
        shape, offsets = layout(op.result.type, self.lanes), self.env[op.offsets]
        lanes = self.scalar(op.lanes) if op.lanes else None
        strings = []
        if op.lane_offsets is not None:
            constant = [int(p) for p in op.lane_offsets.get_values()]
            for leading, c in shape.positions():
                at = offsets.at(leading, 0) if len(offsets.names) > 1 else offsets.names[0]
                chunk = shape.chunks[c]
                strings.append(c_memory.gather_constant(self.pointers[op.buffer], at, shape, chunk, constant, lanes))
            self.define(op.result, strings)
            return
        for (_, c), at in zip(shape.positions(), offsets.names, strict=True):
            strings.append(c_memory.gather(self.pointers[op.buffer], at, shape, shape.chunks[c], lanes))
        self.define(op.result, strings)

    # -- control -------------------------------------------------------------------------------------------------------

    def parallel(self, op: scf.ParallelOp) -> None:
        """The iterations of part ``tid`` of a collapsed loop."""
        block, count, names = op.body.block, self.name(), []
        extents = [
            f"({self.scalar(u)} - {self.scalar(l)})"
            for l, u in zip(op.lowerBound, op.upperBound, strict=True)  # noqa: E741
        ]
        self.line(f"const int64_t {count} = {' * '.join(extents)};")
        t = self.name()
        self.open(f"for (int64_t {t} = {count} * tid / threads; {t} < {count} * (tid + 1) / threads; {t}++)")
        for n, (arg, lower) in enumerate(zip(block.args, op.lowerBound, strict=True)):
            inner = " * ".join(extents[n + 1 :])
            text = f"{t} / ({inner})" if inner else t
            text = f"{text} % {extents[n]}" if n else text
            names.append(self.name())
            self.line(f"const int64_t {names[-1]} = {self.scalar(lower)} + {text};")
            self.alias(arg, [names[-1]])
        self.block(block)
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
