"""A pass that runs again right after itself changes nothing: it finds in the module what it has done."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from mlc.api import make_options
from mlc.driver.compile import import_source
from mlc.driver.onnx_source import OnnxSource
from mlc.passes.context import MlcContext
from mlc.pipelines.backends import backend_of

PRODUCT = "{t}[200,136] a, {t}[136,152] b) => ({t}[200,152] y) {{ c = MatMul (a, b)  y = Relu (c) }}"
LAYER = "{t}[n,32] a, {t}[32,48] b) => ({t}[n,48] y) {{ c = MatMul (a, b)  d = Softmax (c)  y = Add (d, c) }}"
WINDOW = "{t}[1,8,12,12] a, {t}[8,8,3,3] b) => ({t}[1,8,10,10] y) {{ c = Conv (a, b)  y = Relu (c) }}"
BAND = "contract_0: contraction: S0 S1 | m/64p n/64vp |"
CASES = {
    "a layer": ("x86-64-v3", LAYER, "float", ""),
    "a convolution": ("x86-64-v4", WINDOW, "float", ""),
    "a layer on a GPU": ("cuda", LAYER, "float", ""),
    "a convolution on a GPU": ("cuda:sm_90", WINDOW, "float16", ""),
    "bulk copies": ("cuda:sm_90", PRODUCT, "float16", f"{BAND} k/64 | warps=4 copy=tma pingpong persist"),
    "asynchronous copies": ("cuda:sm_90", PRODUCT, "float16", f"{BAND} k/32 | warps=2x2 copy=async depth=3"),
    "stream-K": ("cuda", PRODUCT, "float", f"{BAND} k/16 | warps=2x2 streamk=5"),
    "several rows of tiles": ("cuda", PRODUCT, "float", f"{BAND} k/16 | raster=2"),
}


def again(each: ModulePass, ctx: MlcContext, module: ModuleOp) -> str:
    """The text of the module after another run of a pass, on a copy."""
    copy = module.clone()
    each.apply(ctx, copy)
    return str(copy)


@pytest.mark.parametrize("case", CASES)
def test_each_pass_changes_nothing_the_second_time(case: str, tmp_path: Path) -> None:
    name, graph, element, schedule = CASES[case]
    head = f'<ir_version: 10, opset_import: ["" : 18]> g ({graph.format(t=element)}'
    onnx.save(onnx.parser.parse_model(head), tmp_path / "net.onnx")
    (tmp_path / "schedule").write_text(schedule)
    options = make_options(name, schedule=str(tmp_path / "schedule") if schedule else None)
    imported = import_source(OnnxSource.of(tmp_path / "net.onnx"), options)
    ctx = MlcContext(weights=imported.weights, target=options.target)
    for stage, passes in backend_of(options.target).pipeline(options):
        for each in passes:
            each.apply(ctx, imported.module)
            assert again(each, ctx, imported.module) == str(imported.module), f"{stage}.{each.name}"
