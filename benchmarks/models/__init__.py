"""ONNX models with seeded random weights, one a family; nothing but onnx and NumPy is needed to make them.

    python -m benchmarks.models resnet50 -o resnet50.onnx
    python -m benchmarks.models bert -o bert.onnx --batch batch --set layers=2
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx

from benchmarks.models.bert import bert
from benchmarks.models.cache import cached
from benchmarks.models.dcgan import dcgan
from benchmarks.models.efficientnet import efficientnet_b0
from benchmarks.models.gpt2 import gpt2
from benchmarks.models.inputs import random_inputs
from benchmarks.models.llama import llama_decode, llama_prefill
from benchmarks.models.lstm import lstm
from benchmarks.models.mlp import mlp, mlp_tiny
from benchmarks.models.mobilenet import mobilenet_v2
from benchmarks.models.resnet import resnet18, resnet50
from benchmarks.models.squeezenet import squeezenet
from benchmarks.models.sweeps import OPERATORS
from benchmarks.models.unet import unet
from benchmarks.models.vgg import vgg16
from benchmarks.models.vit import vit

__all__ = ["FAMILIES", "OPERATORS", "build", "path", "random_inputs"]

FAMILIES: dict[str, Callable[..., onnx.ModelProto]] = {
    family.__name__: family
    for family in (
        mlp, mlp_tiny, resnet50, resnet18, vgg16, mobilenet_v2, efficientnet_b0, squeezenet, unet, dcgan, bert, vit,
        gpt2, llama_prefill, llama_decode, lstm,
    )  # fmt: skip
}


def build(name: str, **options: Any) -> onnx.ModelProto:
    """The model of a family; `options` are the arguments of its function, among them `batch` (int or symbol).

    A model of one operator, `op_…`, has no options. Raises ValueError if there is no such model or option.
    """
    if name in OPERATORS and not options:
        return OPERATORS[name]()
    if name not in FAMILIES:
        raise ValueError(f"no model {name!r}; there are: {', '.join(FAMILIES)}, and op_… of one operator")
    known = inspect.signature(FAMILIES[name]).parameters
    if unknown := set(options) - set(known):
        raise ValueError(f"{name} has no option {', '.join(sorted(unknown))}; it has: {', '.join(known)}")
    return FAMILIES[name](**options)


def path(name: str, **options: Any) -> Path:
    """The file of `build(name, **options)` in the user's cache."""
    return cached(name, sorted(options.items()), lambda: build(name, **options))
