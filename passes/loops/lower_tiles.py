"""AST generation (``lower-tiles``): isl generates loops over tile instances from the schedule tree, and each instance
gets its tile body.

schedule_tree = "… { T0[n, m] -> [(n)] } …"     scf.parallel (%n) = (0) to (16) step (1) { scf.for %m … {
poly.tile "T0" {sizes = [32, 14]}            →    %acc = scf.for %k … iter_args(%a = %zero : vector<14x32xf32>) {
poly.statement "S0" …                               kernel.read, arith.mulf, arith.addf } kernel.write } }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import islpy as isl
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp, i1
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import kernel, poly
from mlc.dialects.poly import LoopNest, ScheduleError, groups_of, schedule_of
from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.dialects.types import shape_of
from mlc.passes.context import cpu_facts, machine_of
from mlc.passes.loops.body.local_arrays import Arrays
from mlc.passes.loops.body.prefetch import Prefetch
from mlc.passes.loops.body.tile_body import TileBody
from mlc.passes.loops.body.tile_instance import TileInstance
from mlc.passes.loops.body.tile_values import TileValues
from mlc.passes.loops.index.constants import fold_constants
from mlc.passes.loops.index.index_builder import IndexBuilder
from mlc.passes.loops.index.isl_ast import (
    ast_expr,
    bounds_mention,
    children_of,
    iterator_name,
    loop_bounds,
    tiles_in,
    trip_count,
)
from mlc.passes.schedule.apply_schedules import following
from mlc.passes.schedule.polyhedral.bounded import ISL_OPERATIONS, bounded
from mlc.passes.schedule.polyhedral.running_reductions import masked_beyond, running_of
from mlc.passes.schedule.polyhedral.statement_view import StatementView, statements_of
from mlc.passes.tile.tile_kernels import tile_plainly
from mlc.target import Target

NODE = isl.ast_node_type
FOR, IF = isl.ast_node_type["for_"], isl.ast_node_type["if_"]  # by name: not in islpy's type stubs


@dataclass(frozen=True)
class LowerTiles(ModulePass):
    """Lower tiled kernels to loops. If isl cannot generate the loops of a rule's schedule in time, the plain schedule
    replaces it."""

    name = "lower-tiles"
    isl_operations: int = ISL_OPERATIONS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        loops = Loops()
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp) and o.schedule_tree is not None]:
            with following(fn):
                before = list(fn.block.ops)
                try:
                    self._lower(fn, machine_of(ctx), loops)
                except ScheduleError as error:
                    _undo(fn, before)
                    tile_plainly(fn, error, self.isl_operations)
                    self._lower(fn, machine_of(ctx), loops)

    def _lower(self, fn: kernel.FuncOp, target: Target, loops: Loops) -> None:
        with bounded(fn, self.name, self.isl_operations):
            _Lowering(fn, target, loops).run()


class Loops(dict[str, isl.AstNode]):
    """The loops that isl has generated for schedule trees. Layers repeat each other with other constants, so that half
    of the kernels of a network have trees that others have too."""

    def __missing__(self, tree: str) -> isl.AstNode:
        build = isl.AstBuild.from_context(isl.Set("{ : }"))
        self[tree] = build.node_from_schedule(isl.Schedule(tree))
        return self[tree]


def _has_symbols(fn: kernel.FuncOp) -> bool:
    """Return whether an argument has a symbolic extent."""
    return any(not isinstance(extent, int) for value in fn.block.args for extent in shape_of(value))


def _undo(fn: kernel.FuncOp, before: Sequence[Operation]) -> None:
    """Erase the operations of a kernel except the statements and local arrays that it had ``before``."""
    tiles = [o for o in before if isinstance(o, poly.TileOp)]
    for op in [*reversed([o for o in fn.block.ops if o not in before]), *tiles]:
        op.detach()
        op.drop_all_references()


@dataclass
class _Lowering:
    fn: kernel.FuncOp
    target: Target
    loops: Loops
    env: dict[str, SSAValue] = field(default_factory=dict)

    def run(self) -> None:
        fn = self.fn
        tree = fn.schedule_tree
        assert tree is not None
        self.tiles = {t.id.data: t for t in fn.block.ops if isinstance(t, poly.TileOp)}
        self.statements = {s.name: s for s in statements_of(fn)}
        self.nests = schedule_of(fn)
        self._check_blocks_of_threads()
        old = list(fn.block.ops)
        entry = IndexBuilder(fn.block, self.env, hoists=not self.target.thread_blocks and _has_symbols(fn))
        for name, dim in next(iter(self.statements.values())).params.values.items():
            self.env[name] = entry.dim(dim)
        self.running = running_of(self.nests, self.statements)
        arrays = Arrays(fn, self.statements, self.nests, self.running, self.target)
        self.buffers = arrays.buffers(entry)
        scales = {name: arrays.access_in_block(a) if a else None for name, a in self.running.scales.items()}
        self.running = replace(self.running, scales=scales)
        self.statements = {name: arrays.in_block(s) for name, s in self.statements.items()}
        self._node(self.loops[tree.data], entry, parallel=fn.serial is None)
        for op in reversed(old):
            op.detach()
            op.drop_all_references()
        fn.block.add_op(kernel.ReturnOp())
        fold_constants(fn.block)
        fn.schedule_tree = None

    def _check_blocks_of_threads(self) -> None:
        """Raise ScheduleError if a schedule for a CPU has a part that concerns thread blocks: on a CPU one thread
        computes a tile."""
        if self.target.thread_blocks:
            return
        padded = [item for nest in self.nests for item in nest.band if item.padded and item.vectorized]
        if padded:
            why = f"padded tiles of vectors (vp) are for GPUs, not for '{self.target.name}'"
            raise ScheduleError(f"schedule item {padded[0]}: {why}")
        if blocks := [split for nest in self.nests for split in nest.partitions if split.points]:
            why = f"padded blocks (p) are for GPUs, not for '{self.target.name}'"
            raise ScheduleError(f"schedule item {blocks[0]}: {why}")
        if found := next((nest for nest in self.nests if nest.block is not None), None):
            raise ScheduleError(f"'{found}': a fourth section is for GPUs, not for '{self.target.name}'; leave it out")

    def _node(self, node: isl.AstNode, out: IndexBuilder, parallel: bool) -> None:
        kind = node.get_type()
        if kind == NODE.block:
            children = children_of(node)
            if parallel:
                self._check_blocks(children)
            for child in children:
                self._node(child, out, parallel)
        elif kind == FOR:
            self._parallel(node, out) if parallel else self._for(node, out)
        elif kind == IF:
            self._if(node, out, parallel)
        elif kind == NODE.user:
            self._in_one_thread(node, out) if parallel else self._instance(node.user_get_expr(), out)

    def _check_blocks(self, children: Sequence[isl.AstNode]) -> None:
        """Check that nests joined by ``&`` are in one child: threads partition each child separately, without a barrier
        between children. Blocks of other sizes may be in another child. isl makes no loop of a single block, and
        several loops of blocks that are not consecutive."""
        joined = [group for group in groups_of(self.nests) if len(group) > 1]
        inside = [tiles_in(child) for child in children if joined]
        for group in joined:
            for tiles in self._tiles_by_size(group).values():
                if sum(bool(tiles & each) for each in inside) > 1:
                    hint = "need one loop over several blocks; give their tiles one size"
                    raise ScheduleError(f"'{group[0]}': nests joined by '&' {hint}")

    def _tiles_by_size(self, group: Sequence[LoopNest]) -> dict[tuple[str, ...], set[str]]:
        """Return the tiles of joined nests by the sizes of their tiled blocks, which begin at different points."""
        found: dict[tuple[str, ...], set[str]] = {}
        for name, tile in self.tiles.items():
            nest = next((n for n in group if tile.statements.data[0].data in n.statements), None)
            if nest is not None:
                names = [i.data for i in tile.iters]
                tiled = [split.iterator for split in nest.shared if split.tiled]
                starts = tuple(tile.starts.data[names.index(i)].data for i in tiled)
                found.setdefault(starts, set()).add(name)
        return found

    def _parallel(self, node: isl.AstNode, out: IndexBuilder) -> None:
        """Collapse perfectly nested outer loops into one parallel loop, until it has enough iterations for load
        balance."""
        levels = [node]
        while trip_count(levels) < self.target.tasks(4):
            body = levels[-1].for_get_body()
            if body.get_type() != FOR or bounds_mention(body, levels):
                break
            levels.append(body)
        bounds = [loop_bounds(level, out) for level in levels]
        block = Block(arg_types=[IndexType()] * len(levels))
        lower, upper, steps = (list(values) for values in zip(*bounds, strict=True))
        out.block.add_op(scf.ParallelOp(lower, upper, steps, Region(block)))
        for level, arg in zip(levels, block.args, strict=True):
            self.env[iterator_name(level)] = arg
        self._node(levels[-1].for_get_body(), out.at(block), parallel=False)
        block.add_op(scf.ReduceOp())

    def _in_one_thread(self, node: isl.AstNode, out: IndexBuilder) -> None:
        """Let one thread run a tile outside of loops: a parallel loop of one iteration."""
        block = Block(arg_types=[IndexType()])
        first, last = out.constant(0), out.constant(1)
        out.block.add_op(scf.ParallelOp([first], [last], [last], Region(block)))
        self._node(node, out.at(block), parallel=False)
        block.add_op(scf.ReduceOp())

    def _for(self, node: isl.AstNode, out: IndexBuilder) -> None:
        block = Block(arg_types=[IndexType()])
        out.block.add_op(scf.ForOp(*loop_bounds(node, out), [], Region(block)))
        self.env[iterator_name(node)] = block.args[0]
        self._node(node.for_get_body(), out.at(block), parallel=False)
        block.add_op(scf.YieldOp())

    def _if(self, node: isl.AstNode, out: IndexBuilder, parallel: bool) -> None:
        condition = ast_expr(node.if_get_cond(), out)
        self._guarded(condition, node.if_get_then_node(), out, parallel)
        if node.if_has_else_node():
            true = out.emit(arith.ConstantOp(IntegerAttr(1, i1)))
            self._guarded(out.emit(arith.XOrIOp(condition, true)), node.if_get_else_node(), out, parallel)

    def _guarded(self, condition: SSAValue, node: isl.AstNode, out: IndexBuilder, parallel: bool) -> None:
        block = Block()
        out.block.add_op(scf.IfOp(condition, [], Region(block)))
        self._node(node, out.at(block), parallel)
        block.add_op(scf.YieldOp())

    def _coordinate(self, expr: isl.AstExpr, out: IndexBuilder) -> DimLike:
        """Return an argument of a tile instance. A constant stays a number, for simplification: (0 + @n) // 32 is 0."""
        if expr.get_type() == isl.ast_expr_type.int:
            return int(expr.get_val().to_str())
        name = f"t{len(self.env)}"
        self.env[name] = ast_expr(expr, out)
        return Dim.symbol(name)

    def _instance(self, call: isl.AstExpr, out: IndexBuilder) -> None:
        tile = self.tiles[call.get_op_arg(0).get_id().get_name()]
        members = [self.statements[s.data] for s in tile.statements]
        nest = next(n for n in self.nests if members[0].name in n.statements)
        instance = TileInstance(tile, nest, members, out)
        instance.place([self._coordinate(call.get_op_arg(n + 1), out) for n in range(len(tile.iters))])
        if not self.target.thread_blocks:  # one thread has any number of points, a block of threads whole tiles
            instance.mask()
        body = self._body(instance.members, nest, initial=bool(tile.initial))
        body.emit(out, instance.context(), nest.inner)

    def _body(self, members: Sequence[StatementView], nest: LoopNest, initial: bool) -> TileBody:
        """Return the body of a tile. On a GPU the lanes of a vector are threads."""
        values = TileValues(self.buffers, running=self.running)
        if self.target.thread_blocks:
            beyond = masked_beyond(nest, [*self.statements.values()])
            return TileBody(members, replace(values, in_registers=False, beyond=beyond), initial=initial)
        ahead = None if nest.streamed else Prefetch(self.buffers, nest, cpu_facts(self.target))
        return TileBody(members, values, ahead, chunked=True, initial=initial)
