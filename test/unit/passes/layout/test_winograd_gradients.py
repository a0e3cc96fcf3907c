"""winograd-gradients: the same derivative by filters from fewer products, and where the convolution stays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from graph_checks import GraphBuilder, apply, check, ops
from xdsl.ir import SSAValue

from mlc.dialects.graph import ConvOp, PadOp, ReshapeOp, WinogradPointsOp, layout
from mlc.dialects.graph.minimal_filtering import matrices, transform
from mlc.passes.layout import layout_pipeline
from mlc.passes.layout.winograd_gradients import WinogradGradients
from mlc.target import CpuTarget

TOLERANCE = 3e-6  # of the largest value
BLOCK = 4
Window = Sequence[int]


def gradient(b: GraphBuilder, image: Sequence[int | str], adjoint: Sequence[int | str], element: str = "f32",
             dilations: Window = (1, 1)) -> SSAValue:  # fmt: skip
    """The derivative by filters for operands [N, C, X…, b]."""
    blocks = [int(image[-1]), int(adjoint[-1])]
    layouts = [layout(4, [(0, n)], [1, 0, 2, 3]) for n in blocks]
    x, y = b.input(*image, element=element), b.input(*adjoint, element=element)
    return b.add(ConvOp(x, y, [1, 1], dilations, layouts=[*layouts, layout(4, [*enumerate(blocks)])]))


class Always(WinogradGradients):
    """The pass with a choice of tile that does not depend on the cost model's constants."""

    tile = 4

    def _tile(self, conv: ConvOp, target: CpuTarget) -> int:
        return self.tile


class Small(Always):
    tile = 2


@pytest.mark.parametrize("m", [2, 4])
def test_the_matrices_sum_in_one_dimension(m: int) -> None:
    random, g = np.random.default_rng(), np.array(matrices(m)[1])
    data, adjoint = random.standard_normal(m + 2), random.standard_normal(m)
    expected = [adjoint @ data[k : k + m] for k in range(3)]
    points = (np.array(transform(m, True)) @ adjoint) * (np.array(transform(m, False)) @ data)
    np.testing.assert_allclose(g.T @ points, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("step", [Always(), Small()], ids=["F(3, 4)", "F(3, 2)"])
@pytest.mark.parametrize(("height", "width"), [(4, 8), (5, 4), (7, 6), (1, 11)])
def test_whole_and_cut_tiles(step: Always, height: int, width: int) -> None:
    b = GraphBuilder()
    taps = gradient(b, (3, 2, height + 2, width + 2, BLOCK), (3, 5, height, width, BLOCK))
    module = check(b, [taps], step, tolerance=TOLERANCE)
    assert len(ops(module, WinogradPointsOp)) == 2 and not ops(module, ConvOp)
    assert len(ops(module, PadOp)) == 2 * bool(height % step.tile or width % step.tile)


def test_blocks_of_other_widths() -> None:
    b = GraphBuilder()
    module = check(b, [gradient(b, (3, 1, 7, 10, 3), (3, 2, 5, 8, BLOCK))], Always(), tolerance=TOLERANCE)
    assert not ops(module, ConvOp)


def test_tiles_of_the_image_are_made_again() -> None:
    """Those of the convolution itself would stay in memory until the derivative."""
    b = GraphBuilder()
    module = check(b, [gradient(b, (2, 1, 6, 6, BLOCK), (2, 1, 4, 4, BLOCK))], Always(), tolerance=TOLERANCE)
    assert [bool(o.barrier) for o in ops(module, ReshapeOp)] == [True, False, False]


def test_what_no_transform_fits_stays() -> None:
    b = GraphBuilder()
    results = [
        gradient(b, (3, 2, 10, 10, BLOCK), (3, 2, 4, 4, BLOCK), dilations=(2, 2)),
        gradient(b, (3, 2, 6, 6, BLOCK), (3, 2, 4, 4, BLOCK), element="f64"),
        gradient(b, (3, 2, 6, 6, BLOCK), (3, 2, 2, 2, BLOCK)),
        gradient(b, ("n", 2, 6, 6, BLOCK), ("n", 2, 4, 4, BLOCK)),
        b.add(ConvOp(b.input(2, 3, 6, 6), b.input(5, 3, 4, 4), [1, 1], [1, 1])),
    ]
    module = b.module(*results)
    apply(b, module, [Always()])
    assert len(ops(module, ConvOp)) == len(results)


@pytest.mark.parametrize(("batch", "channels", "extent", "taken"), [(32, 128, 16, True), (1, 16, 4, False)])
def test_the_cost_model_takes_it_where_products_are_the_most_work(
    batch: int, channels: int, extent: int, taken: bool
) -> None:
    b = GraphBuilder()
    shapes = ((batch, channels // 16, n, n, 16) for n in (extent + 2, extent))
    module = b.module(gradient(b, *shapes))
    apply(b, module, [WinogradGradients()])
    assert bool(ops(module, WinogradPointsOp)) == taken


@pytest.mark.parametrize(("numerics", "expected"), [("strict", False), ("default", True), ("relaxed", True)])
def test_strict_numerics_leave_it_out(numerics: str, expected: bool) -> None:
    assert any(isinstance(p, WinogradGradients) for p in layout_pipeline(numerics)) == expected  # type: ignore[arg-type]
