"""Reductions, products, attention, normalization, convolutions, pools, resampling, recurrent layers: eager torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch.nn import functional as F  # noqa: E402
from unit.frontends.torch_frontend.programs import Case, Result, assert_equal, evaluated  # noqa: E402


def floats(*shape: int, dtype: str = "float32") -> Any:
    return torch.from_numpy(np.random.default_rng().normal(size=shape)).to(getattr(torch, dtype))


def integers(*shape: int, low: int = -4, high: int = 5) -> Any:
    return torch.from_numpy(np.random.default_rng().integers(low, high, shape))


def flags(*shape: int, share: float = 0.5) -> Any:
    return torch.from_numpy(np.random.default_rng().random(shape) < share)


def reductions() -> dict[str, Case]:
    x, n = floats(3, 4, 5), integers(3, 4)
    found: dict[str, Case] = {}
    for dtype in ("float32", "float64", "float16", "bfloat16"):
        y = floats(3, 4, 5, dtype=dtype)
        found[f"sum_{dtype}"] = lambda a: a.sum(1), (y,)
        found[f"mean_{dtype}"] = lambda a: a.mean((0, 2), keepdim=True), (y,)
        found[f"amax_{dtype}"] = lambda a: a.amax(-1), (y,)
        found[f"softmax_{dtype}"] = lambda a: a.softmax(1), (y,)
        found[f"var_{dtype}"] = lambda a: a.var(2), (y,)
    return found | {
        "sum_all": (torch.sum, (x,)),
        "sum_integers": (lambda a: a.int().sum(0), (n,)),
        "sum_predicates": (lambda a: a.sum(), (flags(9),)),
        "sum_dtype": (lambda a: a.sum(0, dtype=torch.float64), (n,)),
        "mean_all": (torch.mean, (x,)),
        "prod": (lambda a: a.prod(1), (x,)),
        "prod_all": (torch.prod, (floats(5),)),
        "amin": (lambda a: a.amin((0, 1)), (x,)),
        "max_all": (torch.max, (x,)),
        "max_axis": (lambda a: a.max(1), (x,)),
        "min_axis": (lambda a: a.min(2, keepdim=True), (x,)),
        "max_two": (torch.max, (x, floats(5))),
        "argmax": (lambda a: a.argmax(1), (x,)),
        "argmax_all": (torch.argmax, (x,)),
        "argmin_kept": (lambda a: a.argmin(0, keepdim=True), (n,)),
        "aminmax": (lambda a: tuple(torch.aminmax(a, dim=1)), (x,)),
        "any": (lambda a: a.any(1), (n,)),
        "all": (torch.all, (flags(3, share=0.9),)),
        "std": (lambda a: a.std(1, correction=0), (x,)),
        "var_mean": (lambda a: torch.var_mean(a, dim=(1, 2), keepdim=True), (x,)),
        "var_all": (torch.var, (x,)),
        "logsumexp": (lambda a: a.logsumexp((0, 1)), (x,)),
        "norm": (lambda a: a.norm(dim=1), (x,)),
        "norm_1": (lambda a: torch.linalg.vector_norm(a, 1, dim=0), (x,)),
        "norm_3": (lambda a: torch.linalg.vector_norm(a, 3, dim=0), (x,)),
        "norm_inf": (lambda a: torch.linalg.vector_norm(a, float("inf")), (x,)),
        "normalize": (lambda a: F.normalize(a, dim=1), (x,)),
        "cosine": (lambda a, b: F.cosine_similarity(a, b, dim=1), (x, floats(3, 4, 5))),
        "cumsum": (lambda a: a.cumsum(1), (x,)),
        "cumsum_predicates": (lambda a: a.cumsum(0), (flags(6),)),
        "cumprod": (lambda a: a.cumprod(2), (x,)),
        "count_nonzero": (lambda a: torch.count_nonzero(a, dim=1), (n,)),
        "median": (lambda a: a.median(1), (x,)),
        "softmax_dtype": (lambda a: F.softmax(a, -1, dtype=torch.float64), (x,)),
        "log_softmax": (lambda a: F.log_softmax(a, 0), (x,)),
        "softmin": (lambda a: F.softmin(a, 1), (x,)),
        "cdist": (torch.cdist, (floats(2, 3, 4), floats(2, 5, 4))),
    }


def products() -> dict[str, Case]:
    q, k, v = floats(2, 4, 3, 8), floats(2, 4, 5, 8), floats(2, 4, 5, 6)
    attend = F.scaled_dot_product_attention
    return {
        "mm": (torch.mm, (floats(3, 4), floats(4, 5))),
        "bmm": (torch.bmm, (floats(2, 3, 4), floats(2, 4, 5))),
        "matmul_batched": (torch.matmul, (floats(2, 1, 3, 4), floats(5, 4, 2))),
        "matmul_vector": (torch.matmul, (floats(2, 3, 4), floats(4))),
        "vector_matmul": (torch.matmul, (floats(4), floats(2, 4, 3))),
        "dot": (torch.dot, (floats(6), floats(6))),
        "mv": (torch.mv, (floats(3, 6), floats(6))),
        "outer": (torch.outer, (floats(3), floats(4))),
        "matmul_half": (torch.matmul, (floats(3, 4, dtype="bfloat16"), floats(4, 5, dtype="bfloat16"))),
        "matmul_groups": (
            lambda x, w, ends: torch._grouped_mm(x, w, offs=ends),
            (
                floats(16, 16, dtype="bfloat16"),
                floats(4, 16, 8, dtype="bfloat16"),
                torch.tensor([4, 4, 11, 16], dtype=torch.int32),
            ),
        ),
        "matmul_integers": (torch.matmul, (integers(3, 4), integers(4, 2))),
        "addmm": (lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2), (floats(5), floats(3, 4), floats(4, 5))),
        "baddbmm": (torch.baddbmm, (floats(2, 3, 5), floats(2, 3, 4), floats(2, 4, 5))),
        "linear": (F.linear, (floats(2, 3, 4), floats(5, 4), floats(5))),
        "linear_vector": (F.linear, (floats(4), floats(5, 4))),
        "bilinear": (F.bilinear, (floats(3, 4), floats(3, 5), floats(2, 4, 5), floats(2))),
        "einsum": (lambda a, b: torch.einsum("bij,bkj->bik", a, b), (floats(2, 3, 4), floats(2, 5, 4))),
        "tensordot": (lambda a, b: torch.tensordot(a, b, dims=([1], [0])), (floats(3, 4), floats(4, 2, 2))),
        "attention": (attend, (q, k, v)),
        "attention_scale": (lambda a, b, c: attend(a, b, c, scale=0.3), (q, k, v)),
        "attention_causal": (lambda a, b, c: attend(a, b, c, is_causal=True), (q, k, v)),
        "attention_added": (lambda a, b, c, m: attend(a, b, c, m), (q, k, v, floats(3, 5))),
        "attention_mask": (lambda a, b, c, m: attend(a, b, c, m), (q, k, v, flags(2, 1, 3, 5, share=0.8))),
        "attention_masked_row": (
            lambda a, b, c: attend(a, b, c, torch.arange(3)[:, None] > torch.arange(5)),
            (q, k, v),
        ),
        "attention_heads_shared": (
            lambda a, b, c: attend(a, b, c, enable_gqa=True),
            (q, floats(2, 2, 5, 8), floats(2, 2, 5, 8)),
        ),
        "attention_3d": (attend, (floats(4, 3, 8), floats(4, 5, 8), floats(4, 5, 6))),
    }


def layers() -> dict[str, Case]:
    x, image, weight = floats(3, 4, 6), floats(2, 6, 7, 9), floats(6)
    return {
        "layer_norm": (lambda a, w: F.layer_norm(a, (6,), w, w), (x, weight)),
        "layer_norm_plain": (lambda a: F.layer_norm(a, (4, 6), eps=1e-3), (x,)),
        "layer_norm_half": (lambda a: F.layer_norm(a, (6,)), (floats(3, 6, dtype="float16"),)),
        "rms_norm": (lambda a, w: F.rms_norm(a, (6,), w, 1e-5), (x, weight)),
        "rms_norm_plain": (lambda a: F.rms_norm(a, (6,)), (x,)),
        "group_norm": (lambda a, w: F.group_norm(a, 3, w, w), (image, weight)),
        "group_norm_plain": (lambda a: F.group_norm(a, 2), (image,)),
        "instance_norm": (lambda a: F.instance_norm(a), (image,)),
        "batch_norm": (lambda a, w: F.batch_norm(a, w, w * w + 0.1, w, w), (image, weight)),
        "batch_norm_rows": (lambda a, w: F.batch_norm(a, w, w * w + 0.1), (floats(3, 6), weight)),
        "local_response_norm": (lambda a: F.local_response_norm(a, 3), (image,)),
        "conv1d": (lambda a, w: F.conv1d(a, w, padding=1, stride=2), (floats(2, 4, 9), floats(5, 4, 3))),
        "conv2d": (lambda a, w, b: F.conv2d(a, w, b, padding=(1, 0)), (image, floats(5, 6, 3, 2), floats(5))),
        "conv2d_groups": (lambda a, w: F.conv2d(a, w, groups=3, dilation=2), (image, floats(9, 2, 3, 3))),
        "conv2d_same": (lambda a, w: F.conv2d(a, w, padding="same"), (image, floats(5, 6, 3, 2))),
        "conv2d_no_batch": (F.conv2d, (floats(6, 7, 9), floats(5, 6, 3, 3))),
        "conv3d": (F.conv3d, (floats(1, 2, 4, 5, 6), floats(3, 2, 2, 3, 3))),
        "conv_transpose1d": (lambda a, w: F.conv_transpose1d(a, w, stride=2), (floats(2, 4, 5), floats(4, 3, 3))),
        "conv_transpose2d": (
            lambda a, w, b: F.conv_transpose2d(a, w, b, stride=2, padding=1, output_padding=1),
            (image, floats(6, 4, 3, 3), floats(4)),
        ),
        "conv_transpose2d_groups": (lambda a, w: F.conv_transpose2d(a, w, groups=2), (image, floats(6, 2, 3, 3))),
        "max_pool1d": (lambda a: F.max_pool1d(a, 3, 2), (floats(2, 4, 9),)),
        "max_pool2d": (lambda a: F.max_pool2d(a, 3, 2, 1), (image,)),
        "max_pool2d_ceil": (lambda a: F.max_pool2d(a, 2, ceil_mode=True), (image,)),
        "max_pool2d_dilated": (lambda a: F.max_pool2d(a, 2, 1, dilation=2), (image,)),
        "max_pool2d_positions": (lambda a: F.max_pool2d(a, 3, 2, 1, return_indices=True), (image,)),
        "max_pool3d": (lambda a: F.max_pool3d(a, 2), (floats(1, 2, 4, 5, 6),)),
        "avg_pool1d": (lambda a: F.avg_pool1d(a, 3, 2, 1), (floats(2, 4, 9),)),
        "avg_pool2d": (lambda a: F.avg_pool2d(a, 3, 2, 1), (image,)),
        "avg_pool2d_inside": (lambda a: F.avg_pool2d(a, 3, 2, 1, count_include_pad=False), (image,)),
        "avg_pool2d_ceil": (lambda a: F.avg_pool2d(a, 2, ceil_mode=True), (image,)),
        "avg_pool2d_divisor": (lambda a: F.avg_pool2d(a, 2, divisor_override=3), (image,)),
        "avg_pool3d": (lambda a: F.avg_pool3d(a, 2), (floats(1, 2, 4, 5, 6),)),
        "adaptive_avg_one": (lambda a: F.adaptive_avg_pool2d(a, 1), (image,)),
        "adaptive_avg_whole": (lambda a: F.adaptive_avg_pool2d(a, (7, 3)), (image,)),
        "adaptive_avg_uneven": (lambda a: F.adaptive_avg_pool2d(a, (3, 4)), (image,)),
        "adaptive_avg_1d": (lambda a: F.adaptive_avg_pool1d(a, 4), (floats(2, 4, 9),)),
        "adaptive_max": (lambda a: F.adaptive_max_pool2d(a, (3, 4)), (image,)),
        "dropout": (lambda a: F.dropout(a, 0.5, training=False), (x,)),
        "im2col": (lambda a: F.unfold(a, 3, padding=1), (image,)),
    }


def images() -> dict[str, Case]:
    x = floats(2, 3, 5, 4)
    grid = torch.rand(2, 4, 6, 2) * 2.4 - 1.2
    found: dict[str, Case] = {
        f"grid_sample_{mode}_{border}_{corners}": (
            lambda a, g, m=mode, b=border, c=corners: F.grid_sample(a, g, mode=m, padding_mode=b, align_corners=c),
            (x, grid),
        )
        for mode in ("bilinear", "nearest", "bicubic")
        for border in ("zeros", "border")
        for corners in (False, True)
    }
    for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "area"):
        found[f"upsample_factor_{mode}"] = lambda a, m=mode: F.interpolate(a, scale_factor=2, mode=m), (x,)
        found[f"upsample_fraction_{mode}"] = lambda a, m=mode: F.interpolate(a, scale_factor=1.6, mode=m), (x,)
        found[f"upsample_size_{mode}"] = lambda a, m=mode: F.interpolate(a, size=(7, 3), mode=m), (x,)
    for mode in ("bilinear", "bicubic"):
        found[f"upsample_corners_{mode}"] = (
            lambda a, m=mode: F.interpolate(a, size=(9, 7), mode=m, align_corners=True),
            (x,),
        )
        found[f"upsample_antialias_{mode}"] = (
            lambda a, m=mode: F.interpolate(a, size=(3, 2), mode=m, antialias=True),
            (x,),
        )
    return found | {
        "upsample_1d": (lambda a: F.interpolate(a, scale_factor=3, mode="linear"), (floats(2, 3, 5),)),
        "upsample_3d": (lambda a: F.interpolate(a, scale_factor=2, mode="trilinear"), (floats(1, 2, 3, 2, 3),)),
        "affine_grid": (lambda t: F.affine_grid(t, [2, 3, 4, 5], align_corners=False), (floats(2, 2, 3),)),
    }


def recurrent() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for name in ("LSTM", "GRU", "RNN"):
        for both in (False, True):
            layer = getattr(torch.nn, name)(4, 5, num_layers=2, bidirectional=both, batch_first=not both)
            found[f"{name}_{'both' if both else 'batch_first'}"] = layer, (floats(3, 2, 4),)
    found["RNN_relu"] = torch.nn.RNN(4, 5, nonlinearity="relu", bias=False), (floats(3, 2, 4),)
    found["LSTM_cell"] = torch.nn.LSTMCell(4, 5), (floats(2, 4),)
    found["GRU_cell"] = torch.nn.GRUCell(4, 5), (floats(2, 4),)
    return found


FAMILIES = {f.__name__: f for f in (reductions, products, layers, images, recurrent)}
NAMES = [(family, name) for family, cases in FAMILIES.items() for name in cases()]


@pytest.fixture(scope="module")
def results() -> dict[str, dict[str, Result]]:
    with torch.no_grad():
        return {family: evaluated(cases()) for family, cases in FAMILIES.items()}


@pytest.mark.parametrize("family, name", NAMES)
def test_layers(family: str, name: str, results: dict[str, dict[str, Result]]) -> None:
    assert_equal(results[family][name], rtol=1e-4, atol=1e-5)
