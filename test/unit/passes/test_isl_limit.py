"""A kernel on which isl takes too long runs by the plain schedule, and computes the same."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import onnx
import pytest
from compiled import build, compare, references
from onnx import TensorProto, helper
from random_kernels import Builder, Kernels
from xdsl.dialects.builtin import ModuleOp

import mlc
from mlc.dialects.kernel import FuncOp
from mlc.dialects.poly import ScheduleError, schedule_of
from mlc.driver.lower import lower
from mlc.options import Options
from mlc.passes.loops.lower_tiles import LowerTiles
from mlc.passes.schedule.choose_schedule import ChooseSchedule
from mlc.passes.schedule.polyhedral import dependences
from mlc.passes.tile import tile_kernels
from mlc.passes.tile.tile_kernels import TileKernels
from mlc.pipelines import cpu

LIMITS = {ChooseSchedule: 500, TileKernels: 20_000, LowerTiles: 25_000}
"""Operations of isl that the kernels below take more of; their plain schedules take fewer."""


def module(seed: int) -> tuple[Builder, ModuleOp]:
    builder = Builder(seed)
    return builder, builder.module(*Kernels(builder, seed, ()).add(times=2))


@pytest.mark.parametrize("limited", LIMITS, ids=lambda each: each.name)
def test_beyond_the_limit(limited: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, limited.__name__, partial(limited, isl_operations=LIMITS[limited]))
    monkeypatch.setattr(tile_kernels, "covers", lambda tiles, extent: False)  # isl is asked whether tiles are legal
    plain = 0
    for seed in range(3):
        for answers in (dependences.element_access, dependences.meet):
            answers.cache_clear()
        builder, given = module(seed)
        expected = references(builder, given, [{}])
        again, other = module(seed)
        for fn in [o for o in lower(other, again.weights, Options(), "loops").module.ops if isinstance(o, FuncOp)]:
            plain += fn.origin.plain is not None
            assert fn.origin.plain is None or all(nest.serial for nest in schedule_of(fn))
        (folder := tmp_path / str(seed)).mkdir()
        compare(build(builder, given, folder, tmp_path), expected, f"seed {seed}")
    assert plain


def test_no_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "TileKernels", partial(TileKernels, isl_operations=10))
    builder, given = module(0)
    with pytest.raises(ScheduleError, match=r"kernel @\w+: tile-kernels needs more than 10 isl operations"):
        lower(given, builder.weights, Options(), "loops")


def test_sum_of_the_other_axis(tmp_path: Path) -> None:
    """``A / A.sum(1)`` of a square: the iterators have one extent, and do not belong together."""
    info = partial(helper.make_tensor_value_info, elem_type=TensorProto.FLOAT, shape=[8, 8])
    total = helper.make_node("ReduceSum", ["a", "axes"], ["s"], keepdims=0)
    nodes = [total, helper.make_node("Div", ["a", "s"], ["y"])]
    axes = helper.make_tensor("axes", TensorProto.INT64, [1], [1])
    graph = helper.make_graph(nodes, "square", [info("a")], [info("y")], [axes])
    path = tmp_path / "square.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]), path)
    a = np.random.default_rng(0).random((8, 8), np.float32)
    np.testing.assert_allclose(mlc.compile(path).run({"a": a})["y"], a / a.sum(1), rtol=1e-6)
