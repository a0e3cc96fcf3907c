"""The effects of every operation of kernels, and what xDSL's passes then do with them."""

from __future__ import annotations

import pytest
from xdsl.dialects import arith, math, scf, vector
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser
from xdsl.traits import MemoryEffect, MemoryEffectKind, NoMemoryEffect, get_effects, is_side_effect_free
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination
from xdsl.transforms.dead_code_elimination import DeadCodeElimination
from xdsl.transforms.loop_invariant_code_motion import LoopInvariantCodeMotionPass

from mlc.dialects.graph import Graph
from mlc.dialects.kernel import Kernel
from mlc.dialects.kernel.effects import Accesses, Orders, ReadsPosition
from mlc.dialects.poly import Poly
from mlc.passes.context import MlcContext

PURE, ORDERS = "pure", "orders threads"
EFFECTS = {
    "kernel.func": "unknown",  # a symbol: xDSL erases none
    "kernel.return": PURE,
    "kernel.call": PURE,  # on tensors
    "kernel.local": "allocates result",
    "kernel.library_call": "reads ins, writes out",
    "kernel.index": PURE,
    "kernel.symbol": PURE,
    "kernel.read": "reads buffer",
    "kernel.write": "writes buffer",
    "kernel.prefetch": "reads buffer, writes buffer",  # which keeps it: it has no result
    "kernel.gather": "reads buffer",
    "kernel.scatter": "writes buffer",
    "kernel.slide": PURE,
    "kernel.step": PURE,
    "kernel.lanewise": PURE,
    "kernel.barrier": ORDERS,
    "kernel.cluster_barrier": ORDERS,
    "kernel.cluster_rank": PURE,
    "kernel.iteration": "reads its position",
    "kernel.mma": "reads a, reads b",
    "kernel.mma_wait": ORDERS,
    "kernel.multi_reduction": PURE,
    "kernel.arrive": ORDERS,
    "kernel.others_arrived": "reads buffer",
    "kernel.async_copy": "reads buffer, writes target",
    "kernel.async_gather": "reads buffer, writes target",
    "kernel.async_group": ORDERS,
    "kernel.async_wait": ORDERS,
    "kernel.subview": PURE,
    "kernel.repeat": "of its region, reads limit, reads active",
    "kernel.view": PURE,
    "kernel.copy": "reads source, writes target",
    "kernel.bulk_copy": "reads buffer, writes target, writes barrier",
    "kernel.mbarrier_init": "writes barrier",
    "kernel.mbarrier_expect": ORDERS,
    "kernel.mbarrier_arrive": ORDERS,
    "kernel.mbarrier_wait": ORDERS,
    "kernel.specialize": "of its region",
    "kernel.bulk_store": "reads staging, writes staging, writes buffer",
    "kernel.bulk_store_wait": ORDERS,
    "poly.statement": "of its region, reads ins, writes out",
    "poly.yield": PURE,
    "poly.tile": ORDERS,
}


def text_of(trait: MemoryEffect) -> str:
    match trait:
        case Accesses(reads, writes, allocates):
            lists = (("reads", reads), ("writes", writes), ("allocates", allocates))
            return ", ".join(f"{verb} {name}" for verb, names in lists for name in names)
        case Orders():
            return ORDERS
        case ReadsPosition():
            return "reads its position"
        case NoMemoryEffect():
            return PURE
    return "of its region"


def test_every_operation_declares_its_effects() -> None:
    found = {}
    for op in (*Kernel.operations, *Poly.operations):
        lines = [text_of(trait) for trait in op.traits.traits if isinstance(trait, MemoryEffect)]
        found[op.name] = ", ".join(sorted(lines, key=lambda text: not text.startswith("of"))) or "unknown"
    assert found == EFFECTS


@pytest.mark.parametrize("op", [*Kernel.operations, *Poly.operations], ids=lambda op: op.name)
def test_names_of_buffers_are_those_of_the_definition(op: type[IRDLOperation]) -> None:
    defined = op.get_irdl_definition()
    known = {name for name, _ in (*defined.operands, *defined.results)} | vars(op).keys()
    for trait in op.traits.traits:
        if isinstance(trait, Accesses):
            assert {*trait.reads, *trait.writes, *trait.allocates} <= known


@pytest.mark.parametrize("dialect", [arith.Arith, math.Math], ids=lambda each: each.name)
def test_scalar_operations_are_pure(dialect: object) -> None:
    operations = dialect.operations  # type: ignore[attr-defined]
    assert [op.name for op in operations if not any(isinstance(t, NoMemoryEffect) for t in op.traits.traits)] == []


def parsed(body: str) -> ModuleOp:
    ctx = MlcContext()
    for dialect in (Builtin, arith.Arith, scf.Scf, vector.Vector, Kernel, Poly, Graph):
        ctx.load_dialect(dialect)
    text = f"kernel.func @k(%a: memref<8xf32>, %b: memref<8xf32>, %n: index) {{ {body} kernel.return }}"
    return Parser(ctx, text).parse_module()


def names(module: ModuleOp) -> list[str]:
    return [op.name.removeprefix("kernel.") for op in module.walk()][2:-1]


READ = "kernel.read %a[%n] {strides = array<i64>} : memref<8xf32> -> f32"
WRITE = "kernel.write %{value}, %{to}[%n] {{strides = array<i64>}} : f32, memref<8xf32>"


def test_effects_name_buffers() -> None:
    module = parsed(f"%x = {READ} " + WRITE.format(value="x", to="b"))
    read, write = [op for op in module.walk() if op.name in ("kernel.read", "kernel.write")]
    assert [(e.kind, e.value) for e in get_effects(read) or ()] == [(MemoryEffectKind.READ, read.operands[0])]
    assert [(e.kind, e.value) for e in get_effects(write) or ()] == [(MemoryEffectKind.WRITE, write.operands[1])]
    assert not is_side_effect_free(read)


def test_dead_code_goes_and_effects_stay() -> None:
    module = parsed(f"""
        %x = {READ}
        %l = kernel.local : memref<8xf32>
        %s = kernel.step : vector<8xi32>
        %r = kernel.cluster_rank
        %i = kernel.iteration
        kernel.prefetch %a[%n] : memref<8xf32>
        kernel.barrier
        kernel.async_wait {{groups = 0 : i64}}
    """)
    DeadCodeElimination().apply(MlcContext(), module)
    assert names(module) == ["prefetch", "barrier", "async_wait"]


@pytest.mark.parametrize("between", ["", WRITE.format(value="x", to="b"), "kernel.barrier"])
def test_equal_reads_are_one_where_nothing_is_written_between(between: str) -> None:
    pair = WRITE.format(value="x", to="b") + WRITE.format(value="y", to="b")
    module = parsed(f"%x = {READ} {between} %y = {READ} {pair}")
    CommonSubexpressionElimination().apply(MlcContext(), module)
    assert names(module).count("read") == (2 if between else 1)


def test_what_is_invariant_leaves_a_loop_but_what_accesses_memory_does_not() -> None:
    module = parsed(f"""
        scf.for %j = %n to %n step %n {{
            %s = kernel.step : vector<8xi32>
            %m = kernel.multi_reduction %v {{kind = #vector.kind<add>}} : vector<8x4xi32> -> vector<8xi32>
            %i = kernel.iteration
            %x = {READ}
            {WRITE.format(value="x", to="b")}
        }}
    """.replace("%s = kernel.step", "%v = kernel.step : vector<8x4xi32> %s = kernel.step"))
    LoopInvariantCodeMotionPass().apply(MlcContext(), module)
    assert names(module) == ["step", "step", "multi_reduction", "scf.for", "iteration", "read", "write", "scf.yield"]
