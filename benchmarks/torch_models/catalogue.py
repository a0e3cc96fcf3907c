"""The models by name: vision models of this folder, and models of transformers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from benchmarks.torch_models import language, patches, vision

Made = tuple[nn.Module, dict[str, Any]]
VISION: dict[str, tuple[Callable[[], nn.Module], int]] = {
    "convnext": (lambda: patches.convnext(16, (1, 1, 2, 1)), 64),
    "densenet": (lambda: vision.densenet((2, 2, 2), 8), 64),
    "efficientnet": (lambda: vision.mobile(vision.B0, nn.SiLU, True, 0.25), 64),
    "googlenet": (vision.googlenet, 64),
    "mixer": (lambda: patches.Mixer(64, 8, 32, 2), 64),
    "mobilenet_v2": (lambda: vision.mobile(vision.V2, nn.ReLU6, False, 0.25), 64),
    "mobilenet_v3": (lambda: vision.mobile(vision.V3, nn.Hardswish, True, 0.5), 64),
    "resnet18": (lambda: vision.resnet(width=0.25), 64),
    "resnet50": (lambda: vision.resnet((1, 1, 1, 1), True, 0.25), 64),
    "resnext": (lambda: vision.resnet((1, 1, 1, 1), True, 0.5, groups=8), 64),
    "shufflenet_v2": (lambda: vision.shufflenet(48), 64),
    "squeezenet": (vision.squeezenet, 64),
    "swin": (lambda: patches.Swin(24, (2, 2), 3, 4), 64),
    "unet": (lambda: vision.UNet(8), 32),
    "vgg16": (lambda: vision.vgg(0.125), 64),
    "vit": (lambda: patches.ViT(64, 8, 48, 2, 3), 64),
}
"""Small ones, with the side of their images."""
MODELS = [*(f"vision/{name}" for name in VISION), *(f"transformers/{name}" for name in language.NAMES)]
COMPILED = [
    *(f"vision/{name}" for name in VISION), *(f"transformers/{name}" for name in (
        "bert", "bloom", "distilbert", "electra", "gpt2", "gpt_neox", "llama", "mistral", "opt", "phi", "qwen2",
        "roberta", "t5", "bart", "vit", "beit",
    )),
]  # fmt: skip
"""Those that torch.compile is tried with too."""


def model(name: str) -> Made:
    """A model in evaluation mode with random weights, and its inputs by name."""
    folder, _, kind = name.partition("/")
    if folder == "transformers":
        return language.model(kind)
    torch.manual_seed(0)
    make, side = VISION[kind]
    made = _settled(make().eval())
    argument = "input" if isinstance(made, nn.Sequential) else "x"
    return made, {argument: torch.randn(2, 3, side, side)}


def _settled(module: nn.Module) -> nn.Module:
    """Batch normalization with statistics that are not 0 and 1."""
    for each in module.modules():
        if isinstance(each, nn.BatchNorm2d):
            each.running_mean.normal_(0, 0.1)  # type: ignore[union-attr]
            each.running_var.uniform_(0.5, 1.5)  # type: ignore[union-attr]
    return module
