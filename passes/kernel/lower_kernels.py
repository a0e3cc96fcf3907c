"""Bufferization in destination-passing style (``lower-kernels``): graph operators in a kernel become ``poly.statement``
on buffers.

    kernel.func @k(%a: tensor<4x8xf32>) -> tensor<4xf32> {      kernel.func @k(%a: memref<4x8xf32>, %o: memref<4xf32>) {
      %e = graph.map "exp(x0)"(%a)                                  poly.statement "S0" ins(%a) outs(%o)
      %s = graph.reduce "add"(%e) {axes = [1]}               →        {domain = "0 <= i < 4 and 0 <= j < 8", accesses =
                                                                      ["b0[i, j]", "b1[i]"], monoid = "add"} do {exp}
      kernel.return %s }                                            kernel.return }

Elementwise values that are cheap, or have one reader, are recomputed by each reader; others get a local buffer. A value
with two readers also gets one if it is computed from an argument whose memory a result takes over: the second reader
would otherwise read the argument after the write.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, MemRefType, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.dialects.graph import (
    ContractOp,
    LibraryOp,
    MapOp,
    PadOp,
    ReduceOp,
    ReshapeOp,
    StructuredOp,
    ints_of,
    source_nodes,
)
from mlc.dialects.semantics.expr import Call, Const, Expr, ExprError, Index, Load, height, loads, substitute, walk
from mlc.dialects.semantics.statement import Statement
from mlc.dialects.types import FLOAT8, Shape, element_of, shape_of
from mlc.dialects.types import memref as memref_type
from mlc.passes.fuse.grouping.aliases import pairs_of_aliases
from mlc.passes.kernel.lowering.scalar_ops import TRANSCENDENTAL
from mlc.passes.kernel.lowering.statement import append_statement
from mlc.passes.legality import IllegalIR

CHEAP_OPS = 8  # scalar functions that a second reader may recompute
DEPTH = 64  # of an expression that is inlined: what walks expressions is recursive


@dataclass(frozen=True)
class LowerKernels(ModulePass):
    """Lower graph operators in kernels. ``float8``: the target has operations that widen floats of 8 bits (GPUs)."""

    name = "lower-kernels"
    float8: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pairs = pairs_of_aliases(op)
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp) and o.function_type.outputs]:
            _Lowering(fn, {n for n, _ in pairs.get(fn.sym_name.data, ())}, self.float8).run()


@dataclass
class _Lowering:
    fn: kernel.FuncOp
    replaced: set[int]  # arguments whose memory a result takes over
    float8: bool
    buffers: dict[SSAValue, SSAValue] = field(default_factory=dict)
    inlined: dict[SSAValue, Statement] = field(default_factory=dict)
    locals: list[SSAValue] = field(default_factory=list)  # values in local buffers
    taken: set[SSAValue] = field(default_factory=set)  # buffers of results that contain another value first
    held: dict[SSAValue, SSAValue] = field(default_factory=dict)  # the value that is in a buffer at this point
    anchor: Statement | None = None  # the contraction or window whose iterators the epilogue adopts
    anchored: Shape = ()  # its result's shape

    def run(self) -> None:
        old = self.fn.block
        self.order = {op: n for n, op in enumerate(old.ops)}
        returned = list(old.last_op.operands) if old.last_op else []
        results = list(dict.fromkeys(returned))
        types = [memref_type(element_of(v), shape_of(v)) for v in (*old.args, *results)]
        self.new = Block(arg_types=types)
        self.buffers.update(zip((*old.args, *results), self.new.args, strict=True))
        self.held.update((self.buffers[v], v) for v in old.args)
        ops = [o for o in old.ops if isinstance(o, StructuredOp)]
        self.chained = self.fn.fusion.form == "chain"
        for n, op in enumerate(ops):
            self._lower(op, set(results), ops[n + 1 :])
        for call in [o for o in old.ops if isinstance(o, LibraryOp)]:
            args = [self.buffers[v] for v in (*call.operands, *call.results)]
            self.new.add_op(kernel.LibraryCallOp(call.function, args, call.integers))
        self.new.add_op(kernel.ReturnOp())
        self._replace(types)

    def _replace(self, types: list[MemRefType]) -> None:
        body = self.fn.body
        for op in reversed(list(body.block.ops)):
            op.detach()
            op.drop_all_references()
        body.detach_block(body.block)
        body.add_block(self.new)
        self.fn.function_type = FunctionType.from_lists(types, [])

    def _lower(self, op: StructuredOp, results: set[SSAValue], later: list[StructuredOp]) -> None:
        statements = [self._resolve(self._adopt(s, op), op) for s in op.statements()]
        if statements[0].monoid:
            self.anchor = None if _reduces_rows(op) else op.statements()[0]
            self.anchored = shape_of(op.results[0])
        value = op.results[0]
        if value not in results:
            if len(statements) == 1 and self._inlines(statements[0], value, later):
                self.inlined[value] = statements[0]
                return
            self.buffers[value] = self._home(value, results)
        for s in statements:
            self._emit(s, op)
        self.held[self.buffers[value]] = value

    def _home(self, value: SSAValue, results: set[SSAValue]) -> SSAValue:
        """Return a buffer for ``value``: that of a value which overwrites it point by point later, or a local
        buffer."""
        last = self._replaces(value)
        if last in results and self.buffers[last] not in self.taken:
            self.taken.add(self.buffers[last])
            return self.buffers[last]
        home = next(
            (self.buffers[v] for v in self.locals if self._replaces(v) is value or self._may_overwrite(v, value)), None
        )
        if home is None:
            local = kernel.LocalOp(memref_type(element_of(value), shape_of(value)))
            self.new.add_op(local)
            home = local.result
        self.locals.append(value)
        return home

    def _replaces(self, value: SSAValue) -> SSAValue | None:
        """Return the result of the last reader of ``value``, if it has the same type and can overwrite ``value``, whose
        rows are reduced before; None otherwise."""
        *others, last = sorted({u.operation for u in value.uses}, key=self.order.__getitem__)
        if not isinstance(last, MapOp) or not any(map(_reduces_rows, others)):
            return None
        overwritten_first = any(self._reads_until(op) > self.order[last] for op in others)
        return last.result if last.result.type == value.type and not overwritten_first else None

    def _may_overwrite(self, value: SSAValue, last: SSAValue) -> bool:
        """Return whether ``last`` can overwrite ``value``, a matrix of a chain, because its operator is the last to
        read it, point by point."""
        op = last.owner
        if not self.chained or not isinstance(op, MapOp) or value.type != last.type:
            return False
        readers = [use.operation for use in value.uses]
        for reader in readers:  # which grow
            inlined = [v for v in reader.results if v in self.inlined]
            readers += [use.operation for v in inlined for use in v.uses if use.operation not in readers]
        real = [r for r in readers if not any(v in self.inlined for v in r.results)]
        return op in real and all(self.order[r] <= self.order[op] for r in real)

    def _reads_until(self, op: Operation) -> int:
        """Return the last position at which the operands of ``op`` are read: if readers recompute the value of ``op``,
        the position of the last of these."""
        readers = [op]
        for reader in readers:  # which grow
            given = any(isinstance(u.operation, kernel.ReturnOp) for r in reader.results for u in r.uses)
            if not given and isinstance(reader, StructuredOp) and not reader.statements()[0].monoid:
                users = dict.fromkeys(u.operation for u in reader.results[0].uses)
                readers += [user for user in users if user not in readers]
        return max(self.order[reader] for reader in readers)

    def _resolve(self, s: Statement, op: StructuredOp) -> Statement:
        """Replace each load of an operand by a load of its buffer, or by the expression that computes the operand."""

        def load(node: Load) -> Expr:
            operand = op.operands[node.operand]
            index = node.index or ()
            if operand in self.inlined:
                source = self.inlined[operand]
                at = {o.name: i for o, i in zip(source.out, index, strict=True) if isinstance(o, Index)}
                return substitute(source.value, index=lambda i: at.get(i.name, i))
            return Load(self._buffer_id(operand), index)

        return without_unit_iterators(replace(s, value=substitute(s.value, load)))

    def _adopt(self, s: Statement, op: StructuredOp) -> Statement:
        """Rewrite an elementwise statement over the anchor's result to the anchor's iterators (``g*F + f`` for a
        channel).

        The border of a padding, which reads nothing, keeps its own iteration space.
        """
        anchor = self.anchor
        if anchor is None or not isinstance(op, MapOp | PadOp) or not loads(s.value):
            return s
        if isinstance(op, MapOp) and shape_of(op.result) != self.anchored:
            return s  # of a chain, whose maps are on scores
        kept = [n for n, r in enumerate(anchor.reduction) if not r]
        at = dict(zip(s.iters, anchor.out, strict=True))
        value, *out = (substitute(e, index=lambda i: at.get(i.name, i)) for e in (s.value, *s.out))
        iters = tuple(anchor.iters[n] for n in kept)
        return Statement(iters, tuple(anchor.bounds[n] for n in kept), (False,) * len(kept), tuple(out), value)

    def _buffer_id(self, value: SSAValue) -> int:
        return list(self.buffers).index(value)

    def _inlines(self, s: Statement, value: SSAValue, later: list[StructuredOp]) -> bool:
        if s.monoid is not None or not _identity(s, value) or height(s.value) > DEPTH:
            return False
        users = {u.operation for u in value.uses}
        if any(_space(u) != shape_of(value) for u in users):
            return False  # a broadcast would recompute it for each element of the reader
        if any(isinstance(u, ContractOp) and u.product is not None and not _is_wide(value) for u in users):
            return False  # tensor cores read factors of 16 and 8 bits as they are
        reads = sum(load.operand == n for u in users for n, v in enumerate(u.operands) if v is value
                    for st in u.statements() for load in walk(st.value) if isinstance(load, Load))  # fmt: skip
        return reads <= 1 or _cheap(s.value) and not any(load.operand in self.replaced for load in loads(s.value))

    def _emit(self, s: Statement, op: StructuredOp) -> None:
        values, nodes = list(self.buffers), ", ".join(source_nodes(op)) or None
        if any(self.held.get(self.buffers[v]) is not v for v in (values[load.operand] for load in loads(s.value))):
            raise IllegalIR("it reads a value that is overwritten", op=op.name, node=nodes, stage="lower-kernels")
        try:
            append_statement(self.new, s, list(self.buffers.values()), self.buffers[op.results[0]], self.float8)
        except ExprError as error:
            hint = "Cast the operand, as in exp(f32(x0))"
            raise IllegalIR(str(error), op=op.name, node=nodes, stage="lower-kernels", hint=hint) from error


def _is_wide(value: SSAValue) -> bool:
    """Return whether the elements of a value are neither halves nor floats of 8 bits."""
    return element_of(value) not in ("f16", "bf16", *FLOAT8)


def _reduces_rows(op: StructuredOp) -> bool:
    """Return whether ``op`` reduces the trailing axes of its operand, so that its result has the leading iterators,
    with the same names."""
    if not isinstance(op, ReduceOp):
        return False
    rank, axes = len(shape_of(op.input)), ints_of(op.axes)
    return axes == tuple(range(rank - len(axes), rank))


def _identity(s: Statement, value: SSAValue) -> bool:
    """Return whether the point i, j, … writes the element i, j, … of ``value`` (0 along axes of extent 1)."""
    return all(isinstance(o, Index) or o == Const(0) and d == 1 for o, d in zip(s.out, shape_of(value), strict=True))


def without_unit_iterators(s: Statement) -> Statement:
    """Replace iterators of extent 1 by the constant 0, so that statements of shapes that differ in unit dimensions
    share iterators."""
    units = {name for name, bound in zip(s.iters, s.bounds, strict=True) if bound == 1}
    kept = [n for n, name in enumerate(s.iters) if name not in units]

    def drop(expr: Expr) -> Expr:
        return substitute(expr, index=lambda i: Const(0) if i.name in units else i)

    return Statement(
        tuple(s.iters[n] for n in kept),
        tuple(s.bounds[n] for n in kept),
        tuple(s.reduction[n] for n in kept),
        tuple(drop(o) for o in s.out),
        drop(s.value),
        s.monoid,
    )


def _space(op: Operation) -> Shape:
    """Return the iteration space of a reader: including the reduced axes of a reduction, without the border of a
    padding."""
    assert isinstance(op, StructuredOp) or op.name == "kernel.return"
    if not isinstance(op, StructuredOp) or isinstance(op, ReshapeOp):
        return (-1,)
    return shape_of(op.operands[0] if isinstance(op, ReduceOp | PadOp) else op.results[0])


def _cheap(expr: Expr) -> bool:
    calls = [node.fn for node in walk(expr) if isinstance(node, Call)]
    return len(calls) <= CHEAP_OPS and not (set(calls) & (TRANSCENDENTAL | {"div", "sqrt", "rsqrt"}))
