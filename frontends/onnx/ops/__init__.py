"""Import functions of ONNX operators, one file a family. See ``docs/howto/add-an-operator.md``."""

from __future__ import annotations

from importlib import import_module

FAMILIES = (
    "cast",
    "contract",
    "control",
    "deformable",
    "determinant",
    "elementwise",
    "gather",
    "gradient",
    "microsoft.activations",
    "microsoft.attention",
    "microsoft.fused",
    "microsoft.normalization",
    "microsoft.nbits",
    "microsoft.products",
    "microsoft.quantized",
    "microsoft.rotary",
    "image",
    "misc",
    "ml.categories",
    "ml.features",
    "ml.maps",
    "ml.scores",
    "ml.svm",
    "ml.trees",
    "movement",
    "ngrams",
    "normalization",
    "order",
    "pad",
    "pool",
    "quantize",
    "random",
    "recurrent",
    "reduce",
    "resize",
    "roi_align",
    "sampling",
    "scan",
    "scatter",
    "selection",
    "sequence",
    "spectral",
    "suppression",
    "text",
    "training",
    "transposed",
)


def load_all() -> None:
    """Register every operator."""
    for family in FAMILIES:
        import_module(f"{__name__}.{family}")
