"""winograd: exact transforms, the same values from fewer products, and where the convolution stays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from graph_checks import GraphBuilder, apply, check, ops
from xdsl.ir import SSAValue

from mlc.dialects.graph import (
    ConvOp,
    MapOp,
    PadOp,
    ReshapeOp,
    SliceOp,
    TransposeOp,
    WinogradInputOp,
    WinogradOutputOp,
    ints_of,
    source_nodes,
)
from mlc.dialects.graph.minimal_filtering import matrices
from mlc.dialects.types import shape_of
from mlc.passes.graph.canonicalize_graph import CanonicalizeGraph
from mlc.passes.graph.fold_constants import FoldConstants
from mlc.passes.layout import layout_pipeline
from mlc.passes.layout.blocking.blocked_layout import blocked_conv
from mlc.passes.layout.winograd import Winograd
from mlc.target import CpuTarget

TOLERANCE = 3e-6  # of the largest value: F(4, 3) in float32, over at most 24 channels
BLOCK = 4
LAYOUTS = blocked_conv(2, BLOCK, BLOCK)


def conv(b: GraphBuilder, x: SSAValue, filters: int = 8, taps: int = 3, **attributes: Sequence[int]) -> SSAValue:
    """A convolution of blocked values by random weights."""
    weight = b.weight(filters // BLOCK, shape_of(x)[1], taps, taps, BLOCK, BLOCK)  # type: ignore[arg-type]
    strides, dilations = attributes.get("strides", [1, 1]), attributes.get("dilations", [1, 1])
    return b.add(ConvOp(x, weight, strides, dilations, layouts=LAYOUTS))


def always(m: int) -> Winograd:
    """The pass with a choice of tile that does not depend on the cost model's constants."""

    class Always(Winograd):
        def _tile(self, conv: ConvOp, constant: bool, target: CpuTarget) -> int:
            return m

    return Always()


@pytest.mark.parametrize("m", [2, 4])
def test_the_matrices_filter_in_one_dimension(m: int) -> None:
    at, g, bt = (np.array(rows) for rows in matrices(m))
    taps, data = np.random.default_rng(3).standard_normal((2, m + 2))
    expected = np.convolve(data, taps[2::-1], mode="valid")
    np.testing.assert_allclose(at @ ((g @ taps[:3]) * (bt @ data)), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("m", [2, 4])
@pytest.mark.parametrize(("height", "width"), [(6, 10), (7, 6), (9, 8), (3, 13)])
def test_whole_and_cut_tiles(m: int, height: int, width: int) -> None:
    b = GraphBuilder()
    module = check(b, [conv(b, b.input("n", 3, height, width, BLOCK))], always(m), FoldConstants(), tolerance=TOLERANCE)
    assert [ints_of(o.extents) for o in ops(module, WinogradOutputOp)] == [(height - 2, width - 2)]
    assert len(ops(module, PadOp)) == bool((height - 2) % m or (width - 2) % m)


def test_the_epilogue_with_a_bias_and_a_residual_is_fused() -> None:
    b = GraphBuilder()
    x, bias, residual = b.input(2, 2, 9, 8, BLOCK), b.weight(2, 1, 1, BLOCK), b.input(2, 2, 7, 6, BLOCK)
    y = b.add(MapOp("max(x0 * 2 + x1 - x2, x0)", [conv(b, x), bias, residual]))
    module = check(b, [y], always(4), tolerance=TOLERANCE)
    assert not ops(module, MapOp)
    assert source_nodes(ops(module, WinogradOutputOp)[0]) == ("node2", "node3")


def test_weights_of_run_time_are_transformed_in_each_run() -> None:
    b = GraphBuilder()
    x, weight = b.input(3, 2, 9, 8, BLOCK), b.input(2, 2, 3, 3, BLOCK, BLOCK)
    y = b.add(ConvOp(x, weight, [1, 1], [1, 1], layouts=LAYOUTS))
    assert ops(check(b, [y], always(4), tolerance=TOLERANCE), WinogradInputOp)


@pytest.mark.parametrize(("batch", "m"), [(1, 0), (32, 4)])
def test_the_cost_model_transforms_weights_of_run_time_for_many_images(batch: int, m: int) -> None:
    b = GraphBuilder()
    x, weight = b.input(batch, 32, 10, 10, 16), b.input(32, 32, 3, 3, 16, 16)
    module = b.module(b.add(ConvOp(x, weight, [1, 1], [1, 1], layouts=blocked_conv(2, 16, 16))))
    apply(b, module, [Winograd()])
    assert [o.m.value.data for o in ops(module, WinogradInputOp)] == ([m] if m else [])


@pytest.mark.parametrize("twice", [False, True])
def test_a_padding_becomes_larger_where_only_the_convolution_reads_it(twice: bool) -> None:
    b = GraphBuilder()
    padded = b.add(PadOp(b.input(1, 2, 7, 7, BLOCK), [0, 0, 1, 1, 0], [0, 0, 1, 1, 0]))
    module = check(b, [conv(b, padded), *([padded] if twice else [])], always(4), tolerance=TOLERANCE)
    assert len(ops(module, PadOp)) == 1 + twice


def test_a_padding_by_another_value_stays_as_it_is() -> None:
    b = GraphBuilder()
    padded = b.add(PadOp(b.input(1, 2, 7, 7, BLOCK), [0, 0, 1, 1, 0], [0, 0, 1, 1, 0], "-3"))
    assert len(ops(check(b, [conv(b, padded)], always(2), tolerance=TOLERANCE), PadOp)) == 2


def test_what_no_transform_fits_stays() -> None:
    b = GraphBuilder()
    x = b.input(1, 2, 12, 12, BLOCK)
    symbolic, doubles = b.input(1, 2, "h", 12, BLOCK), b.input(1, 2, 12, 12, BLOCK, element="f64")
    weight = b.stored(np.ones((1, 2, 3, 3, BLOCK, BLOCK)))
    results = [
        conv(b, x, strides=[2, 1]),
        conv(b, x, dilations=[1, 2]),
        conv(b, x, taps=5),
        conv(b, symbolic),
        b.add(ConvOp(doubles, weight, [1, 1], [1, 1], layouts=LAYOUTS)),
    ]
    module = check(b, results, always(4))
    assert len(ops(module, ConvOp)) == len(results) and not ops(module, WinogradInputOp)


@pytest.mark.parametrize(("channels", "extent", "m"), [(256, 58, 4), (16, 7, 0)])
def test_the_cost_model_takes_it_where_products_are_the_most_work(channels: int, extent: int, m: int) -> None:
    b = GraphBuilder()
    x = b.input(1, channels // BLOCK, extent, extent, BLOCK)
    y = b.add(
        ConvOp(x, b.weight(channels // BLOCK, channels // BLOCK, 3, 3, BLOCK, BLOCK), [1, 1], [1, 1], layouts=LAYOUTS)
    )
    module = b.module(y)
    apply(b, module, [Winograd()])
    assert [o.m.value.data for o in ops(module, WinogradInputOp)] == ([m] if m else [])


@pytest.mark.parametrize(("numerics", "expected"), [("strict", False), ("default", True), ("relaxed", True)])
def test_strict_numerics_leave_it_out(numerics: str, expected: bool) -> None:
    assert any(isinstance(p, Winograd) for p in layout_pipeline(numerics)) == expected


@pytest.mark.parametrize("axes", [(2, 3), (3,), (1, 2, 3)])
def test_reversed_filters_reverse_the_matrix(axes: tuple[int, ...]) -> None:
    """As of a derivative by the image: filters are not copied only to be reversed. Others stay."""
    b = GraphBuilder()
    x, weight = b.input(3, 2, 9, 8, BLOCK), b.input(8, 8, 3, 3)
    shape, steps = (8, 8, 3, 3), [-1 if n in axes else 1 for n in range(4)]
    flipped = b.add(SliceOp(weight, [d - 1 if s < 0 else 0 for d, s in zip(shape, steps, strict=True)], shape, steps))
    parts = b.add(ReshapeOp(flipped, (2, BLOCK, 2, BLOCK, 3, 3)))
    packed = b.add(TransposeOp(parts, [2, 0, 4, 5, 1, 3]))
    y = b.add(ConvOp(x, packed, [1, 1], [1, 1], layouts=LAYOUTS))
    module = check(b, [y], always(4), CanonicalizeGraph(), tolerance=TOLERANCE)
    assert bool(ops(module, SliceOp)) == (axes != (2, 3))
