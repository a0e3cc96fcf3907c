"""``lower-tiles``: generate loops over tile instances from the schedule tree (isl), and the body of every instance.

    schedule_tree = "… { T0[n, m] -> [(n)] } …"     scf.parallel (%n) = (0) to (16) step (1) { scf.for %m … {
    poly.tile "T0" {sizes = [32, 14]}            →    %acc = scf.for %k … iter_args(%a = %zero : vector<14x32xf32>) {
    poly.statement "S0" …                               kernel.read, arith.mulf, arith.addf } kernel.write } }
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import islpy as isl
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp, StringAttr, i1
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import kernel, poly
from mlc.dialects.dims import Dim, DimLike, parse_dim
from mlc.passes.loops.ast_math import ast_expr
from mlc.passes.loops.index_math import Emitter
from mlc.passes.loops.local_arrays import Arrays
from mlc.passes.loops.point import Axis, Point
from mlc.passes.loops.prefetch import Prefetch
from mlc.passes.loops.tile_body import TileBody
from mlc.passes.loops.tile_values import TileValues
from mlc.passes.schedule.apply_schedules import following
from mlc.passes.schedule.raise_to_poly import PARAMS
from mlc.passes.schedule.schedule import SCHEDULE, Nest, groups_of, parse_schedule
from mlc.passes.schedule.view import ScheduleError, StatementView, params_of, statements_of
from mlc.passes.tile.tile_kernels import SERIAL, TREE

ENOUGH_TASKS = 16  # iterations of the parallel loop that balance well over a few threads
NODE = isl.ast_node_type
FOR, IF = isl.ast_node_type["for_"], isl.ast_node_type["if_"]  # by name: not in islpy's type stubs


@dataclass(frozen=True)
class LowerTiles(ModulePass):
    name = "lower-tiles"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp) and TREE in o.attributes]:
            with following(fn):
                _Lowering(fn).run()


@dataclass
class _Lowering:
    fn: kernel.FuncOp
    env: dict[str, SSAValue] = field(default_factory=dict)

    def run(self) -> None:
        fn = self.fn
        tree = fn.attributes[TREE]
        assert isinstance(tree, StringAttr)
        self.tiles = {t.id.data: t for t in fn.block.ops if isinstance(t, poly.TileOp)}
        self.statements = {s.name: s for s in statements_of(fn)}
        self.nests = _nests(fn)
        old = list(fn.block.ops)
        entry = Emitter(fn.block, self.env)
        for name, dim in params_of(fn).items():
            self.env[name] = entry.dim(dim)
        self.buffers = Arrays(fn, self.statements, self.nests).buffers(entry)
        node = isl.AstBuild.from_context(isl.Set("{ : }")).node_from_schedule(isl.Schedule(tree.data))
        self._node(node, entry, parallel=SERIAL not in fn.attributes)
        for op in reversed(old):
            op.detach()
            op.drop_all_references()
        fn.block.add_op(kernel.ReturnOp())
        del fn.attributes[TREE]
        fn.attributes.pop(PARAMS, None)

    def _node(self, node: isl.AstNode, out: Emitter, parallel: bool) -> None:
        kind = node.get_type()
        if kind == NODE.block:
            nodes = node.block_get_children()
            children = [nodes.get_at(n) for n in range(nodes.n_ast_node())]
            if parallel:
                self._check_blocks(children)
            for child in children:
                self._node(child, out, parallel)
        elif kind == FOR:
            self._parallel(node, out) if parallel else self._for(node, out)
        elif kind == IF:
            self._if(node, out, parallel)
        elif kind == NODE.user:
            self._alone(node, out) if parallel else self._instance(node.user_get_expr(), out)

    def _check_blocks(self, children: Sequence[isl.AstNode]) -> None:
        """Parts that threads share out apart do not wait for each other: what nests joined by ``&`` hand over is in
        one of them. isl makes no loop of a single block, and several of blocks that do not follow each other."""
        joined = [group for group in groups_of(self.nests) if len(group) > 1]
        tiles = [set(re.findall(r"\bT\d+(?=\()", child.to_C_str())) for child in children if joined]
        for group in joined:
            names = {s for nest in group for s in nest.statements}
            mine = {name for name, tile in self.tiles.items() if names & {s.data for s in tile.statements}}
            if sum(bool(mine & each) for each in tiles) > 1:
                hint = "need one loop over several blocks; give their tiles one size"
                raise ScheduleError(f"'{group[0]}': nests joined by '&' {hint}")

    def _parallel(self, node: isl.AstNode, out: Emitter) -> None:
        """Perfectly nested outer loops become one parallel loop, until it has iterations enough."""
        levels = [node]
        while _trip(levels) < ENOUGH_TASKS:
            body = levels[-1].for_get_body()
            if body.get_type() != FOR or _uses(body, levels):
                break
            levels.append(body)
        bounds = [self._bounds(level, out) for level in levels]
        block = Block(arg_types=[IndexType()] * len(levels))
        lower, upper, steps = (list(values) for values in zip(*bounds, strict=True))
        out.block.add_op(scf.ParallelOp(lower, upper, steps, Region(block)))
        for level, arg in zip(levels, block.args, strict=True):
            self.env[_name(level)] = arg
        self._node(levels[-1].for_get_body(), out.at(block), parallel=False)
        block.add_op(scf.ReduceOp())

    def _alone(self, node: isl.AstNode, out: Emitter) -> None:
        """A tile in no loop is one thread's: a parallel loop of one turn."""
        block = Block(arg_types=[IndexType()])
        first, last = out.constant(0), out.constant(1)
        out.block.add_op(scf.ParallelOp([first], [last], [last], Region(block)))
        self._node(node, out.at(block), parallel=False)
        block.add_op(scf.ReduceOp())

    def _for(self, node: isl.AstNode, out: Emitter) -> None:
        block = Block(arg_types=[IndexType()])
        out.block.add_op(scf.ForOp(*self._bounds(node, out), [], Region(block)))
        self.env[_name(node)] = block.args[0]
        self._node(node.for_get_body(), out.at(block), parallel=False)
        block.add_op(scf.YieldOp())

    def _if(self, node: isl.AstNode, out: Emitter, parallel: bool) -> None:
        condition = ast_expr(node.if_get_cond(), out)
        self._guarded(condition, node.if_get_then_node(), out, parallel)
        if node.if_has_else_node():
            true = out.emit(arith.ConstantOp(IntegerAttr(1, i1)))
            self._guarded(out.emit(arith.XOrIOp(condition, true)), node.if_get_else_node(), out, parallel)

    def _guarded(self, condition: SSAValue, node: isl.AstNode, out: Emitter, parallel: bool) -> None:
        block = Block()
        out.block.add_op(scf.IfOp(condition, [], Region(block)))
        self._node(node, out.at(block), parallel)
        block.add_op(scf.YieldOp())

    def _bounds(self, node: isl.AstNode, out: Emitter) -> tuple[SSAValue, SSAValue, SSAValue]:
        """(lower, exclusive upper, step) of an isl for node."""
        if node.for_is_degenerate():
            first = ast_expr(node.for_get_init(), out)
            return first, _plus_one(first, out), out.constant(1)
        condition = node.for_get_cond()
        last = ast_expr(condition.get_op_arg(1), out)
        inclusive = condition.get_op_type() == isl.ast_expr_op_type.le
        upper = _plus_one(last, out) if inclusive else last
        return ast_expr(node.for_get_init(), out), upper, ast_expr(node.for_get_inc(), out)

    def _coordinate(self, expr: isl.AstExpr, out: Emitter) -> DimLike:
        """An argument of a tile instance; a constant as such, for what follows from it, as (0 + @n) // 32 is 0."""
        if expr.get_type() == isl.ast_expr_type.int:
            return int(expr.get_val().to_str())
        name = f"t{len(self.env)}"
        self.env[name] = ast_expr(expr, out)
        return Dim.symbol(name)

    def _instance(self, call: isl.AstExpr, out: Emitter) -> None:
        tile = self.tiles[call.get_op_arg(0).get_id().get_name()]
        at: dict[str, DimLike] = {}
        axes: list[Axis] = []
        lanes: list[Axis] = []
        sizes = [int(s) for s in tile.sizes.get_values()]
        for n, (iterator, start, valid) in enumerate(zip(tile.iters, tile.starts, tile.lanes, strict=True)):
            name = iterator.data
            at[name] = parse_dim(start.data) + self._coordinate(call.get_op_arg(n + 1), out) * sizes[n]
            if sizes[n] > 1:
                axis = Axis(name, sizes[n], out.dim(parse_dim(valid.data)) if valid.data else None)
                at[name] = at[name] + Dim.symbol(axis.symbol)
                (lanes if name == tile.vector.data else axes).append(axis)
        members = [self.statements[s.data] for s in tile.statements]
        axes.sort(key=lambda axis: _is_panel(axis.iterator, tile.vector.data, members[0]))
        inner = parse_schedule("x: | | " + " ".join(i.data for i in tile.inner))[0].inner
        nest = next(n for n in self.nests if members[0].name in n.statements)
        ahead = Prefetch(self.buffers, nest)
        TileBody(members, TileValues(self.buffers), ahead).emit(out, Point(at, (*axes, *lanes)), inner)


def _is_panel(iterator: str, lanes: str, s: StatementView) -> bool:
    """Whether what is read along the lanes varies along ``iterator``. Rows come before panels in a register tile: a
    row's scalar is broadcast, used for each vector of the row, and dead."""
    return any(r.depends_on(iterator) for r in s.reads if r.depends_on(lanes))


def _nests(fn: kernel.FuncOp) -> tuple[Nest, ...]:
    attr = fn.attributes[SCHEDULE]
    assert isinstance(attr, StringAttr)
    return parse_schedule(attr.data)


def _plus_one(value: SSAValue, out: Emitter) -> SSAValue:
    return out.emit(arith.AddiOp(value, out.constant(1)))


def _name(node: isl.AstNode) -> str:
    return str(node.for_get_iterator().get_id().get_name())


def _trip(levels: Sequence[isl.AstNode]) -> int:
    """Iterations of nested loops, as far as they are known; a symbolic one may be 1."""
    total = 1
    for node in levels:
        if node.for_is_degenerate():
            continue
        bound = node.for_get_cond()
        last = bound.get_op_arg(1)
        if last.get_type() == isl.ast_expr_type.int:
            total *= int(last.get_val().to_str()) + (bound.get_op_type() == isl.ast_expr_op_type.le)
    return total


def _uses(node: isl.AstNode, levels: Sequence[isl.AstNode]) -> bool:
    """Whether the bounds of a loop mention an iterator of the loops round it."""
    text = node.for_get_init().to_C_str()
    text += "" if node.for_is_degenerate() else " " + node.for_get_cond().to_C_str()
    words = set(text.replace("(", " ").replace(")", " ").split())
    return any(_name(level) in words for level in levels)


