"""ATen operators that make, move, read and write elements, against eager torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch.nn import functional as F  # noqa: E402
from unit.frontends.torch_frontend.programs import Case, Result, assert_equal, evaluated  # noqa: E402


def floats(*shape: int) -> Any:
    return torch.from_numpy(np.random.default_rng().normal(size=shape).astype(np.float32))


def integers(*shape: int, low: int = 0, high: int = 5) -> Any:
    return torch.from_numpy(np.random.default_rng().integers(low, high, shape))


def different(count: int, most: int) -> Any:
    return torch.from_numpy(np.random.default_rng().permutation(most)[:count])


def flags(*shape: int) -> Any:
    return torch.from_numpy(np.random.default_rng().random(shape) < 0.5)


def movement() -> dict[str, Case]:
    x, y = floats(2, 3, 4), floats(2, 3, 4)
    return {
        "view": (lambda a: a.view(6, -1), (x,)),
        "flatten": (lambda a: a.flatten(1), (x,)),
        "unflatten": (lambda a: a.unflatten(2, (2, 2)), (x,)),
        "view_dtype": (lambda a: a.view(torch.int32), (x,)),
        "permute": (lambda a: a.permute(2, 0, -2), (x,)),
        "transpose": (lambda a: a.transpose(0, -1), (x,)),
        "t": (lambda a: a.t(), (floats(3, 4),)),
        "movedim": (lambda a: a.movedim(0, 2), (x,)),
        "squeeze": (lambda a: a.squeeze(), (floats(1, 3, 1),)),
        "squeeze_axis": (lambda a: a.squeeze(0), (floats(1, 3, 1),)),
        "squeeze_axes": (lambda a: a.squeeze((0, 1)), (floats(1, 3, 1),)),
        "unsqueeze": (lambda a: a.unsqueeze(-1), (x,)),
        "expand": (lambda a: a.expand(5, -1, 4), (floats(3, 1),)),
        "repeat": (lambda a: a.repeat(2, 1, 3), (floats(2, 3),)),
        "repeat_interleave": (lambda a: a.repeat_interleave(3, dim=1), (x,)),
        "cat": (lambda a, b: torch.cat([a, b, a], 1), (x, y)),
        "cat_empty": (lambda a: torch.cat([torch.zeros(0), a], 1), (x,)),
        "cat_promoted": (lambda a, b: torch.cat([a, b]), (floats(3), integers(2))),
        "stack": (lambda a, b: torch.stack([a, b], 2), (x, y)),
        "split": (lambda a: a.split(3, 2), (x,)),
        "split_sizes": (lambda a: a.split([1, 3], 2), (x,)),
        "chunk": (lambda a: a.chunk(3, 2), (x,)),
        "unbind": (lambda a: a.unbind(1), (x,)),
        "slices": (lambda a: a[:, 1:, ::2], (x,)),
        "slice_negative": (lambda a: a[..., -3:-1], (x,)),
        "slice_beyond": (lambda a: a[:, 1:99], (x,)),
        "select": (lambda a: a[:, -1], (x,)),
        "narrow": (lambda a: a.narrow(2, 1, 2), (x,)),
        "flip": (lambda a: a.flip(0, 2), (x,)),
        "roll": (lambda a: a.roll(-1, 2), (x,)),
        "roll_axes": (lambda a: torch.roll(a, (1, 2), (1, 2)), (x,)),
        "roll_flat": (lambda a: a.roll(5), (x,)),
        "pad": (lambda a: F.pad(a, (1, 2, 0, 3), value=1.5), (x,)),
        "pad_crops": (lambda a: F.pad(a, (-1, 2)), (x,)),
        "pad_reflect": (lambda a: F.pad(a, (2, 1), mode="reflect"), (x,)),
        "pad_replicate": (lambda a: F.pad(a, (2, 1, 1, 2), mode="replicate"), (floats(1, 2, 3, 4),)),
        "pad_circular": (lambda a: F.pad(a, (2, 1), mode="circular"), (x,)),
        "pixel_shuffle": (lambda a: F.pixel_shuffle(a, 2), (floats(2, 8, 3, 5),)),
        "pixel_unshuffle": (lambda a: F.pixel_unshuffle(a, 2), (floats(2, 3, 4, 6),)),
        "channel_shuffle": (lambda a: F.channel_shuffle(a, 2), (floats(1, 6, 2, 2),)),
        "tril": (lambda a: a.tril(), (x,)),
        "triu": (lambda a: a.triu(1), (flags(4, 5),)),
        "diagonal": (lambda a: a.diagonal(1, 1, 2), (x,)),
        "diagonal_below": (lambda a: a.diagonal(-1), (floats(4, 3),)),
        "unfold": (lambda a: a.unfold(2, 3, 1), (x,)),
        "copied_into": (lambda a, b: torch.zeros(2, 3).copy_(a) + b, (integers(3), floats(2, 3))),
        "assigned_slice": (_assigned_slice, (x, floats(2, 2, 4))),
        "assigned_steps": (_assigned_steps, (x, floats(2, 3, 2))),
        "assigned_row": (_assigned_row, (x, floats(2, 4))),
        "meshgrid": (lambda a, b: torch.meshgrid(a, b, indexing="ij"), (floats(3), floats(2))),
        "sizes": (lambda a: a * a.shape[1] + a.numel(), (x,)),
    }


def _assigned_slice(x: Any, y: Any) -> Any:
    z = x.clone()
    z[:, 1:] = y
    return z


def _assigned_steps(x: Any, y: Any) -> Any:
    z = x.clone()
    z[:, :, 1::2] = y
    return z


def _assigned_row(x: Any, y: Any) -> Any:
    z = x.clone()
    z[:, -1] = y
    return z


def _assigned_inner(x: Any, i: Any, y: Any) -> Any:
    z = x.clone()
    z[:, i] = y
    return z


def indexing() -> dict[str, Case]:
    x = floats(4, 5, 6)
    return {
        "embedding": (F.embedding, (integers(2, 3), floats(5, 4))),
        "embedding_bag": (
            lambda i, w: F.embedding_bag(i, w, torch.tensor([0, 2, 2, 6]), mode="sum"),
            (integers(9), floats(5, 4)),
        ),
        "embedding_bag_mean": (
            lambda i, w: F.embedding_bag(i, w, torch.tensor([0, 4]), mode="mean"),
            (integers(9), floats(5, 4)),
        ),
        "randperm": (lambda a: a + torch.randperm(7).sort()[0], (floats(7),)),
        "as_strided": (lambda a: torch.as_strided(a, (2, 3), (7, 2), 1), (x,)),
        "as_strided_transposed": (lambda a: (a * 2).transpose(0, 2).as_strided((2, 3), (7, 2), 1), (x,)),
        "as_strided_transposed_input": (lambda a: a.as_strided((2, 3), (7, 2), 1) * 2, (floats(4, 5, 6).mT,)),
        "as_strided_beyond_a_slice": (lambda a: (a * 2)[1:3].as_strided((9, 4), (11, 3), 2), (x,)),
        "as_strided_from_a_slice": (lambda a: (a * 2)[1, 2:].as_strided((2, 3), (4, 1)), (x,)),
        "as_strided_expanded": (lambda a: (a + 1)[0, :, :1].expand(5, 3).as_strided((7, 2), (3, 5), 3), (x,)),
        "as_strided_scatter_transposed": (
            lambda a, b: (a * 2).transpose(0, 1).as_strided_scatter(b, (2, 3), (7, 2), 1),
            (x, floats(2, 3)),
        ),
        "overlapping_chunks": (
            lambda a: (a * 2).transpose(0, 1).reshape(5, 2, 12).as_strided((5, 3, 12), (24, 6, 1)),
            (x,),
        ),
        "embedding_int32": (lambda i, w: F.embedding(i.int(), w), (integers(2, 3), floats(5, 4))),
        "embedding_padding": (lambda i, w: F.embedding(i, w, padding_idx=0), (integers(2, 3), floats(5, 4))),
        "index_select": (lambda a, i: a.index_select(1, i), (x, integers(3))),
        "gather": (lambda a, i: a.gather(1, i), (x, integers(3, 2, 6))),
        "take_along_dim": (lambda a, i: torch.take_along_dim(a, i, 1), (x, integers(4, 2, 6))),
        "index_one": (lambda a, i: a[i], (x, integers(7, low=-4, high=4))),
        "index_inner": (lambda a, i: a[:, i], (x, integers(2, 2))),
        "index_pair": (lambda a, i, j: a[i, j], (x, integers(3, high=4), integers(3))),
        "index_broadcast": (lambda a, i, j: a[i, :, j], (x, integers(3, 1, high=4), integers(2))),
        "index_two_inner": (lambda a, i, j: a[:, i, j], (x, integers(3), integers(3))),
        "index_mask": (lambda a, m: torch.relu(a)[m].sum(), (floats(4, 5), flags(4, 5))),
        "index_constant": (lambda a: a[[0, 2, -1]], (x,)),
        "index_put": (lambda a, i, v: a.index_put((i,), v), (x, different(2, 4), floats(2, 5, 6))),
        "index_put_inner": (_assigned_inner, (x, different(2, 5), floats(4, 2, 6))),
        "index_put_pair": (lambda a, i, v: a.index_put((i, i), v), (x, different(2, 4), floats(1, 6))),
        "index_put_adds": (
            lambda a, i, v: a.index_put((i,), v, accumulate=True),
            (floats(4), integers(9, high=4), floats(9)),
        ),
        "index_add": (lambda a, i, v: a.index_add(1, i, v, alpha=2), (x, integers(3), floats(4, 3, 6))),
        "scatter": (lambda a, i, v: a.scatter(1, i, v), (x, different(5, 5).view(1, 5, 1), floats(4, 5, 6))),
        "scatter_number": (lambda a, i: a.scatter(2, i, 1.5), (x, integers(4, 2, 3))),
        "scatter_add": (lambda a, i, v: a.scatter_add(1, i, v), (x, integers(2, 7, 3), floats(2, 7, 3))),
        "scatter_reduce": (
            lambda a, i, v: a.scatter_reduce(0, i, v, reduce="amax"),
            (x, integers(9, 5, 6, high=4), floats(9, 5, 6)),
        ),
        **{
            f"scatter_{how}": (
                lambda a, i, v, how=how: a.scatter_reduce(0, i, v, how, include_self=False),
                (floats(6, 4), integers(9, 3, high=6), floats(9, 4)),
            )
            for how in ("sum", "amin", "mean")
        },
        "scatter_means_of_whole_numbers": (
            lambda a, i, v: a.scatter_reduce(1, i, v, "mean"),
            (integers(3, 5, high=50), integers(3, 9, high=5), integers(3, 9, high=50) - 25),
        ),
        "one_hot": (lambda i: F.one_hot(i, 5), (integers(2, 3),)),
        "masked_scatter": (lambda a, m, v: a.masked_scatter(m, v), (floats(4, 5), flags(4, 5), floats(20))),
        "masked_select": (lambda a, m: a.masked_select(m).sum(), (floats(4, 5), flags(5))),
        "nonzero": (lambda m: m.nonzero().sum(0), (flags(4, 5),)),
        "topk": (lambda a: a.topk(3, 1), (x,)),
        "topk_least": (lambda a: a.topk(2, largest=False), (x,)),
        "sort": (lambda a: a.sort(1), (x,)),
        "sort_stable": (lambda a: torch.sort(a, stable=True, descending=True), (integers(3, 9),)),
        "argsort": (lambda a: a.argsort(0, descending=True), (x,)),
        "bucketize": (torch.bucketize, (floats(7), torch.tensor([-1.0, 0.0, 0.5]))),
        "searchsorted": (torch.searchsorted, (torch.tensor([-1.0, 0.0, 0.5]), floats(7))),
        "msort": (torch.msort, (x,)),
        "tril_indices": (lambda a: a[torch.tril_indices(4, 5)[0]], (x,)),
        "take": (torch.take, (x, integers(6, high=100))),
    }


def creation() -> dict[str, Case]:
    x = floats(2, 3)
    return {
        "full": (lambda a: a + torch.full((2, 3), 2.5), (x,)),
        "full_of_integer": (lambda a: torch.full((3,), 7) + a.long().sum(), (x,)),
        "full_like": (lambda a: torch.full_like(a, 3), (integers(4),)),
        "zeros_ones": (lambda a: (torch.zeros(2, 1) + a, torch.ones(3, dtype=torch.float64)), (x,)),
        "zeros_like": (torch.zeros_like, (x,)),
        "ones_like": (lambda a: torch.ones_like(a, dtype=torch.int32), (x,)),
        "new_tensors": (lambda a: (a.new_zeros(2), a.new_ones(3), a.new_full((2,), 4.0)), (x,)),
        "arange": (lambda a: a + torch.arange(3), (x,)),
        "arange_floats": (lambda a: a[0, 0] + torch.arange(0.5, 3, 0.25), (x,)),
        "arange_down": (lambda a: a[0, 0] + torch.arange(9, 1, -2), (x,)),
        "linspace": (lambda a: a[0, 0] + torch.linspace(-1, 2, 7), (x,)),
        "eye": (lambda a: a @ torch.eye(3), (x,)),
        "tensor_of_numbers": (lambda a: a + torch.tensor([1.0, 2, 3]), (x,)),
        "scalar_tensor": (lambda a: torch.where(a > 0, torch.scalar_tensor(1.0), a), (x,)),
    }


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    return evaluated(movement() | indexing() | creation())


@pytest.mark.parametrize("name", movement() | indexing() | creation())
def test_tensors(name: str, results: dict[str, Result]) -> None:
    assert_equal(results[name])
