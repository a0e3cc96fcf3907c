"""Partitions beside one rank: each operator of a model along each of its factors, and whole models on meshes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region

from mlc.dialects.comm.reductions import NUMBERS
from mlc.dialects.comm.world import simulated
from mlc.dialects.dist import EXTENT, INFERRED, MESH, SHARDING, MeshAttr, ShardingAttr, State
from mlc.dialects.dist.states import WHOLE, PartialAttr, SplitAttr
from mlc.dialects.graph import GraphOp, RoutineOp, SizedOp, StructuredOp
from mlc.dialects.semantics.dims import evaluate, parse_dim, parse_guard
from mlc.dialects.semantics.expr import Index, walk
from mlc.dialects.semantics.interpreter import interpret, main_of
from mlc.dialects.types import STRING, element_of, shape_of
from mlc.dialects.weights import WeightStore
from mlc.passes.context import MlcContext
from mlc.passes.distribute.choice.matching import linear_strategy
from mlc.passes.distribute.choice.written import STATE, set_states
from mlc.passes.distribute.distribute import Distribute
from mlc.passes.distribute.insert_reshards import InsertReshards
from mlc.passes.distribute.partition import Partition
from mlc.passes.distribute.rules.derive import rules_of
from mlc.passes.distribute.rules.strategy import Strategy
from mlc.passes.distribute.verify_spmd import VerifySpmd
from mlc.passes.graph import graph_pipeline
from mlc.passes.graph.verify_graph import VerifyGraph

Data = np.ndarray[Any, Any]
Random = np.random.Generator
AXIS = "a"
NOTHING = ("all its extents are 1", "its result is one element, and it reduces nothing")
"""Reasons of operators that have nothing to divide."""
TIGHT, LOOSE = 1e-5, 2e-2  # of floats of 32 bits or more, and of 16


@dataclass
class Found:
    """What was tried: operators with rules, reasons of those without, and partitions that were compared."""

    operators: int = 0
    ruled: int = 0
    compared: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)


def check_operators(model: Any, feeds: Mapping[str, Data], random: Random, found: Found, most: int = 12) -> None:
    """Partition each operator of an imported model on 2 and 3 ranks, along each factor that it has.

    Raises:
        AssertionError: the ranks compute something else; names operator, strategy and ranks.
    """
    seen: list[tuple[Operation, list[Data], Data]] = []
    with np.errstate(all="ignore"):
        wanted = lambda op, operands, result: seen.append((op, operands, result))  # noqa: E731
        interpret(model.module, model.weights, feeds, wanted)
    for op, operands, result in seen[:most]:
        if not isinstance(op, GraphOp) or isinstance(op, RoutineOp | SizedOp) or not operands or _is_open(op):
            continue
        rules = [rules_of(op, blocks, _uneven(op, blocks)) for blocks in (2, 3)]
        if any(why in NOTHING for why in rules[0].refused):
            continue
        found.operators += 1
        found.ruled += any(each.strategies for each in rules)
        if not any(each.strategies for each in rules):
            found.refused.update(sorted({_kind(why) for why in rules[0].refused})[:1])
        for blocks, each in zip((2, 3), rules, strict=True):
            linear = linear_strategy(op, _one_partial(op, random))
            for strategy in [*each.strategies, *([linear] if linear else [])]:
                _compare(op, strategy, blocks, operands, result, random)
                found.compared += 1
                found.kinds[_kind(strategy.why)] += 1


def _is_open(op: GraphOp) -> bool:
    """Whether an operator alone does not have the extents that it reads: whole models are compared then."""
    shapes = [d for x in (*op.operands, *op.results) for d in shape_of(x)]
    if not isinstance(op, StructuredOp):
        return not all(isinstance(d, int) for d in shapes)
    read = {e.name for s in op.statements() for e in walk(s.value) if isinstance(e, Index) and e.name not in s.iters}
    return bool(read) or not all(isinstance(d, int) for d in [*shapes, *(b for s in op.statements() for b in s.bounds)])


def _uneven(op: GraphOp, blocks: int) -> frozenset[int]:
    """The extents of an operator that the ranks do not divide evenly."""
    extents = {d for x in (*op.operands, *op.results) for d in shape_of(x)}
    return frozenset(d for d in extents if isinstance(d, int) and d > 1 and d % blocks)


def _kind(text: str) -> str:
    return "".join("" if c.isdigit() else c for c in text)


def _one_partial(op: GraphOp, random: Random) -> tuple[State, ...]:
    at = int(random.integers(len(op.operands)))
    static = all(isinstance(d, int) for x in (*op.operands, *op.results) for d in shape_of(x))
    numeric = static and element_of(op.operands[at]) in ("f32", "f64", "i32", "i64")
    return tuple(PartialAttr.of("add") if n == at and numeric else WHOLE for n in range(len(op.operands)))


def _compare(op: GraphOp, strategy: Strategy, blocks: int, operands: list[Data], result: Data, random: Random) -> None:
    sources = [_source(x, state, blocks, random) for x, state in zip(op.operands, strategy.operands, strict=True)]
    module = _module_of(op, strategy, sources, blocks)
    before = str(module)
    for each in (InsertReshards(AXIS), VerifySpmd(AXIS), Partition(AXIS), VerifyGraph()):
        each.apply(MlcContext(), module)
    parts = [_parts(x, state, blocks, random) for x, state in zip(operands, sources, strict=True)]
    results: list[Data] = [result] * blocks

    def run(rank: int) -> None:
        given = {f"x{n}": each[rank] for n, each in enumerate(parts)}
        with np.errstate(all="ignore"):
            results[rank] = interpret(module, WeightStore(), given)["y"]

    simulated(blocks, run)
    for rank, y in enumerate(results):
        assert_equal(y, result, f"rank {rank} of {blocks}\n{before}\n{module}")


def assert_equal(found: Data, wanted: Data, what: str) -> None:
    """Raises AssertionError where arrays differ by more than the order of sums explains."""
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), f"{found.dtype}{found.shape}: {what}"
    if found.dtype.kind not in "fcV" and found.dtype.name != "bfloat16":
        assert np.array_equal(found, wanted), what
        return
    coarse = found.dtype.itemsize == 2 and found.dtype.kind in "fV"
    one, two = (x.astype(np.float32) if coarse else x for x in (found, wanted))
    finite = np.abs(two[np.isfinite(two)])
    scale = float(finite.max(initial=1.0)) * (LOOSE if coarse else TIGHT)
    np.testing.assert_allclose(one, two, rtol=LOOSE if coarse else TIGHT, atol=scale, err_msg=what)


def _source(x: Any, need: State, blocks: int, random: Random) -> State:
    """A random state of an operand, from which its reader's state is made."""
    if isinstance(need, PartialAttr):
        return need
    fits = [n for n, d in enumerate(shape_of(x)) if isinstance(d, int) and d > 1]
    dims = [SplitAttr.of(n) for n in fits if element_of(x) != STRING]
    sums = [PartialAttr.of("add")] if element_of(x) in NUMBERS and element_of(x)[0] == "i" else []
    states: list[State] = [WHOLE, *dims, *sums]
    return states[int(random.integers(len(states)))]


def _module_of(op: GraphOp, strategy: Strategy, sources: list[State], blocks: int) -> ModuleOp:
    block = Block(arg_types=op.operand_types)
    made = op.clone()
    made.operands = block.args
    set_states(made, strategy.operands, strategy.result, strategy.why)
    last = ReturnOp(made.results[0])
    set_states(last, (WHOLE,), None, "the result")
    block.add_ops([made, last])
    named = [DictionaryAttr({"graph.name": StringAttr(f"x{n}"), STATE: s}) for n, s in enumerate(sources)]
    main = FuncOp("main", (op.operand_types, op.result_types), Region(block), arg_attrs=ArrayAttr(named),
                  res_attrs=ArrayAttr([DictionaryAttr({"graph.name": StringAttr("y")})]))  # fmt: skip
    module = ModuleOp([main])
    module.attributes[MESH] = MeshAttr.of({AXIS: blocks})
    return module


def _parts(x: Data, state: State, blocks: int, random: Random) -> list[Data]:
    """What each rank has of an array."""
    if isinstance(state, SplitAttr):
        return np.array_split(x, blocks, axis=state.dim)
    if not isinstance(state, PartialAttr):
        return [x] * blocks
    if x.dtype.kind == "f":  # shares that do not cancel
        return [x * np.asarray(share, x.dtype) for share in random.dirichlet([4.0] * blocks)]
    rest = [random.integers(-3, 4, x.shape).astype(x.dtype) for _ in range(blocks - 1)]
    return [np.asarray(x - sum(rest), x.dtype), *rest]


MESHES: tuple[dict[str, int], ...] = ({"a": 2}, {"a": 3}, {"a": 2, "b": 2})


def check_whole(model: Any, feeds: Mapping[str, Data], random: Random, found: Found) -> None:
    """Divide a random dimension of each argument of an imported model, and compare all ranks with one.

    Raises:
        AssertionError: a rank has other results.
    """
    check_runs(model, [feeds], random, found)


def check_runs(model: Any, runs: Sequence[Mapping[str, Data]], random: Random, found: Found) -> None:
    """The same of arguments of several sizes, which one partition serves. Runs that one rank refuses are left out.

    Raises:
        AssertionError: a rank has other results.
    """
    given = [(feeds, wanted) for feeds in runs if (wanted := _of_one_rank(model, feeds)) is not None]
    mesh = MESHES[int(random.integers(len(MESHES)))]
    main = main_of(model.module)
    specs, sizes = [_spec(x, mesh, random) for x in main.args], [shape_of(x) for x in main.args]
    model.module.attributes[MESH] = MeshAttr.of(mesh)
    main.arg_attrs = ArrayAttr(
        DictionaryAttr({**a.data, SHARDING: ShardingAttr.of(s)})
        for a, s in zip(main.arg_attrs or (), specs, strict=True)
    )
    Distribute().apply(MlcContext(weights=model.weights), model.module)
    VerifyGraph().apply(MlcContext(), model.module)
    for feeds, wanted in given:
        for rank, each in enumerate(_of_ranks(model, feeds, specs, mesh, sizes)):
            for name, y in each.items():
                shapes = {n: x.shape for n, x in feeds.items()}
                assert_equal(y, wanted[name], f"{name} on rank {rank} of {mesh} with {specs} of {shapes}")
        found.compared += 1


def _of_one_rank(model: Any, feeds: Mapping[str, Data]) -> dict[str, Data] | None:
    main = main_of(model.module)
    sizes = _sizes([shape_of(x) for x in main.args], feeds)
    guards = (parse_guard(each.data)[0] for each in main.attributes.get("graph.guards", ()))
    with suppress(Exception), np.errstate(all="ignore"):  # sizes that the model does not take
        if all(evaluate(each, sizes) >= 0 for each in guards):
            return interpret(model.module, model.weights, feeds)
    return None


def _sizes(shapes: Sequence[Any], feeds: Mapping[str, Data]) -> dict[str, int]:
    pairs = zip(shapes, (x.shape for x in feeds.values()), strict=True)
    return {str(d): n for pair in pairs for d, n in zip(*pair, strict=True)}


def _of_ranks(
    model: Any, feeds: Mapping[str, Data], specs: Sequence[list[list[str]]], mesh: dict[str, int], shapes: Any
) -> list[dict[str, Data]]:
    ranks, added = int(np.prod(list(mesh.values()))), list(main_of(model.module).arg_attrs or ())[len(specs) :]
    results: list[dict[str, Data]] = [{}] * ranks
    sizes = _sizes(shapes, feeds)

    def run(rank: int) -> None:
        given = {name: _box(x, spec, mesh, rank) for (name, x), spec in zip(feeds.items(), specs, strict=True)}
        for each in (a.data for a in added):
            whole = np.empty((evaluate(parse_dim(each[EXTENT].data), sizes), 0), np.int8)
            given[each["graph.name"].data] = _box(whole, each[INFERRED].axes, mesh, rank)
        with np.errstate(all="ignore"):
            results[rank] = interpret(model.module, model.weights, given)

    simulated(ranks, run)
    return results


def _spec(x: Any, mesh: Mapping[str, int], random: Random) -> list[list[str]]:
    """Mesh axes that divide dimensions of an argument."""
    shape: list[Any] = list(shape_of(x))
    found: list[list[str]] = [[] for _ in shape]
    for axis, size in mesh.items():
        fits = [n for n, d in enumerate(shape) if not isinstance(d, int) or d > 1]
        if fits and element_of(x) != STRING and random.random() < 0.7:
            n = fits[int(random.integers(len(fits)))]
            found[n].append(axis)
            shape[n] = -(-shape[n] // size)
    return found


def _box(x: Data, spec: Sequence[Sequence[str]], mesh: Mapping[str, int], rank: int) -> Data:
    positions = dict(zip(mesh, np.unravel_index(rank, tuple(mesh.values())), strict=True))
    for dim, axes in enumerate(spec):
        for axis in axes:
            x = np.array_split(x, mesh[axis], axis=dim)[int(positions[axis])]
    return x


def simplified(imported: Any) -> Any:
    """An imported model after the graph stage, which is what is partitioned."""
    ctx = MlcContext(weights=imported.weights)
    for each in graph_pipeline():
        each.apply(ctx, imported.module)
    return imported
