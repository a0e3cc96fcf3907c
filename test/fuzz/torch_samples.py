"""Calls of torch operators with edge cases: the samples of torch's own database of operators (``op_db``)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch.testing._internal.common_methods_invocations import op_db

UNDEFINED = {"empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided", "empty_permuted"}
"""Operators whose elements are whatever the memory held."""
DRAWN = {
    "bernoulli", "cauchy", "exponential", "geometric", "log_normal", "multinomial", "nn.functional.dropout",
    "nn.functional.alpha_dropout", "nn.functional.dropout2d", "nn.functional.dropout3d",
    "nn.functional.feature_alpha_dropout", "nn.functional.rrelu",
    "nn.functional.multi_head_attention_forward", "normal", "rand_like", "randint", "randint_like",
    "randn", "randn_like", "uniform", "nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d",
    "svd_lowrank", "pca_lowrank",
}  # fmt: skip
"""Operators that draw random numbers, from another generator."""


TIED = {"kthvalue", "mode", "topk", "sort", "msort", "argsort"}
"""Operators that give the position of any of equal elements: of whole numbers their values alone are compared."""


@dataclass(frozen=True)
class Sample:
    """A function of tensors, which calls one operator, and the tensors to call it with."""

    name: str
    function: Callable[..., Any]
    tensors: tuple[torch.Tensor, ...]
    is_exact: bool
    text: str


def operators() -> dict[str, Any]:
    """The operators of the database by name, with their variants: ``nn.functional.pad.reflect``."""
    return {".".join(part for part in (info.name, info.variant_test_name) if part): info for info in op_db}


def samples(name: str, dtype: torch.dtype, count: int, seed: int, grad: bool = False) -> list[Sample]:
    """At most ``count`` samples of an operator, chosen by the seed; none where torch has none of that type."""
    info = operators()[name]
    if dtype not in info.supported_dtypes("cpu") or grad and dtype not in info.supported_backward_dtypes("cpu"):
        return []
    torch.manual_seed(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = [_sample(name, info, each) for each in info.sample_inputs("cpu", dtype, requires_grad=grad)]
    usable = [each for each in given if _is_dense(each)]
    return sorted(Random(seed).sample(usable, min(count, len(usable))), key=usable.index)


def _sample(name: str, info: Any, sample: Any) -> Sample:
    leaves, tree = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
    at = [n for n, x in enumerate(leaves) if isinstance(x, torch.Tensor)]

    def function(*tensors: torch.Tensor) -> Any:
        filled = list(leaves)
        for n, x in zip(at, tensors, strict=True):
            filled[n] = x
        first, args, kwargs = pytree.tree_unflatten(filled, tree)
        found = sample.output_process_fn_grad(info.op(first, *args, **kwargs))
        is_tied = info.name in TIED and isinstance(found, tuple) and not found[0].is_floating_point()
        return found[0] if is_tied else found

    words = [str(list(x.shape)) if isinstance(x, torch.Tensor) else str(x) for x in leaves]
    is_exact = info.name not in UNDEFINED | DRAWN
    return Sample(name, function, tuple(leaves[n] for n in at), is_exact, ", ".join(words)[:150])


def _is_dense(sample: Sample) -> bool:
    return all(x.layout == torch.strided and not x.is_quantized for x in sample.tensors)


def tensors_of(results: Any) -> Iterator[torch.Tensor]:
    """The tensors among the results of a sample."""
    return (x for x in pytree.tree_leaves(results) if isinstance(x, torch.Tensor))
