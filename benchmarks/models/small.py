"""Small members of every family: the same operators as the real ones, with awkward sizes, compiled in a moment."""

from __future__ import annotations

from typing import Any

OPTIONS: dict[str, dict[str, Any]] = {
    "mlp": {"sizes": (37, 50, 33, 10)},
    "mlp_tiny": {"sizes": (13, 20, 33, 10)},
    "resnet50": {"image": 33, "blocks": (1, 2, 1, 1), "width": 12, "classes": 10},
    "resnet18": {"image": 33, "blocks": (1, 1, 2, 1), "width": 20, "classes": 10},
    "vgg16": {"image": 32, "stages": ((16,), (24, 40), (48,)), "hidden": 70, "classes": 10},
    "mobilenet_v2": {"image": 45, "stages": ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 2, 2)), "stem": 20, "head": 72,
                     "classes": 10},
    "efficientnet_b0": {"image": 45, "stages": ((1, 16, 1, 1, 3), (6, 24, 2, 2, 5)), "stem": 20, "head": 72,
                        "classes": 10},
    "squeezenet": {"image": 63, "fires": (((8, 16),), ((12, 28), (12, 28)), ((16, 40),)), "stem": 20, "classes": 10},
    "unet": {"image": 36, "width": 10, "depth": 2, "classes": 3},
    "dcgan": {"latent": 11, "widths": (36, 20)},
    "bert": {"tokens": 13, "layers": 2, "hidden": 64, "heads": 4, "vocabulary": 101, "positions": 32},
    "vit": {"image": 40, "patch": 8, "layers": 2, "hidden": 60, "heads": 3, "classes": 10},
    "gpt2": {"tokens": 11, "layers": 2, "hidden": 60, "heads": 3, "vocabulary": 101, "positions": 32},
    "llama_prefill": {"tokens": 11, "layers": 2, "hidden": 60, "heads": 6, "groups": 2, "inner": 100,
                      "vocabulary": 101},
    "llama_decode": {"past": 9, "layers": 2, "hidden": 60, "heads": 6, "groups": 2, "inner": 100,
                     "vocabulary": 101},
    "lstm": {"steps": 7, "inputs": 12, "hidden": 18},
}  # fmt: skip
