"""What the fuse stage decides of attentions and chains is written on the kernel, and the schedule obeys it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from benchmarks.attention import Shape, model
from mlc import target as targets
from mlc.dialects.kernel import FuncOp, Fusion
from mlc.dialects.poly import schedule_of
from mlc.dialects.weights import WeightStore
from mlc.driver import lower as pipeline
from mlc.driver.compile import lower_source
from mlc.driver.onnx_source import OnnxSource
from mlc.options import Options
from mlc.passes.context import MlcContext, gpu_facts
from mlc.passes.schedule.collapse_iterators import CollapseIterators
from mlc.passes.schedule.gpu.parts import split_stream, splittable_stream
from mlc.passes.schedule.polyhedral.statement_view import statements_of

FEW = [
    Shape(8, 4, 1, 1024, 32, 32),
    Shape(8, 2, 1, 1035, 20, 24),
    Shape(2, 1, 5, 1024, 16, 48),
    Shape(4, 2, 3, 4096, 64, 64, causal=True),
    Shape(8, 4, 3, 1024, 16, 24, open=True),
]


def kernels(shape: Shape, target: str, until: str) -> list[FuncOp]:
    """The kernels of an attention that have several products."""
    module = lower_source(OnnxSource.of(model(shape)), Options(target=targets.get(target)), until=until).module
    return [o for o in module.ops if isinstance(o, FuncOp) and o.fusion.form]


def scheduled(fn: FuncOp, target: str | targets.Target) -> list[FuncOp]:
    """The kernels that the schedule stage makes of one."""
    module, chosen = ModuleOp([fn.clone()]), targets.get(target) if isinstance(target, str) else target
    pipeline.run(module, WeightStore(), Options(target=chosen), ("schedule",))
    return [o for o in module.ops if isinstance(o, FuncOp)]


@pytest.mark.parametrize("shape", FEW, ids=str)
@pytest.mark.parametrize("name", ["cuda:sm_80", "cuda:sm_90"])
def test_parts_of_keys_are_those_that_the_statements_have_the_best_time_in(shape: Shape, name: str) -> None:
    """The graph's shapes and the statements' extents say the same."""
    (fn,) = kernels(shape, name, "kernel")
    module, target = ModuleOp([fn.clone()]), gpu_facts(targets.get(name))
    CollapseIterators().apply(MlcContext(target=target), module)
    stream = splittable_stream(statements_of(module.body.block.first_op))  # type: ignore[arg-type]
    split = split_stream(stream, target) if stream else None
    assert stream is not None and split is not None and fn.fusion.parts is not None
    assert fn.fusion == Fusion("attention", True, split.parts_of(stream.any_extent(stream.along)))


def test_the_schedule_makes_the_parts_that_were_decided() -> None:
    (fn,) = kernels(FEW[0], "cuda:sm_90", "kernel")
    decided = fn.fusion.parts
    fn.fusion = replace(fn.fusion, parts=4)  # another number than the estimate
    first, second = scheduled(fn, "cuda:sm_90")
    assert decided != 4 and first.sym_name.data.endswith("_parts") and "part@4" in str(schedule_of(first)[0])
    assert first.fusion == second.fusion == Fusion("attention", True)


def test_a_number_of_parts_that_there_cannot_be_is_refused_with_the_reason() -> None:
    (fn,) = kernels(Shape(4, 2, 1, 1031, 16, 24), "cuda:sm_90", "kernel")
    fn.fusion = replace(fn.fusion, parts=12)
    (whole,) = scheduled(fn, "cuda:sm_90")
    assert whole.fusion.refused == "part@12: its sum has 1031 terms, which are not 12 equal parts"
    assert whole.fusion.streamed and whole.fusion.parts is None


@pytest.mark.parametrize("target", ["x86-64-v3", "cuda:sm_90"])
def test_a_kernel_is_streamed_if_that_was_decided(target: str) -> None:
    (fn,) = kernels(Shape(4, 1, 2048, 2048, 64, 64), target, "kernel")
    assert fn.fusion == Fusion("attention", streamed=True)
    (streamed,) = scheduled(fn, target)
    fn.fusion = Fusion("attention")
    (whole,) = scheduled(fn, target)
    found = [any(p.streamed for nest in schedule_of(k) for p in nest.partitions) for k in (streamed, whole)]
    assert found == [True, False]


def test_what_no_block_fits_is_refused_with_the_reason() -> None:
    (fn,) = kernels(Shape(4, 1, 2048, 2048, 64, 64), "cuda:sm_90", "kernel")
    usual = gpu_facts(targets.get("cuda:sm_90"))
    large = replace(usual.heuristics, stream_tiles=((1024, 1024),))
    (whole,) = scheduled(fn, replace(usual, heuristics=large))
    assert whole.fusion.refused == "no blocks of rows and keys fit in fast memory" and not whole.fusion.streamed


def test_whole_rows_are_an_attention_that_is_not_streamed() -> None:
    (fn,) = kernels(Shape(12, 1, 197, 197, 64, 64), "x86-64-v4", "fuse")
    assert fn.fusion == Fusion("attention")


@pytest.mark.parametrize(
    "record, message",
    [
        (Fusion("softmax"), "the forms are attention and chain"),
        (Fusion(streamed=True), "name its form"),
        (Fusion("chain", parts=0), "has 0 parts"),
    ],
)
def test_contradictions_are_refused(record: Fusion, message: str) -> None:
    with pytest.raises(VerifyException, match=message):
        record.check()
