"""``mlc.attribution``: which elements of an input a network's result comes from.

    f = mlc.function("model.onnx")                      # or a module of mlc.nn, a PyTorch program, any function
    by_pixel = mlc.attribution.integrated_gradients(f, images, labels)
"""

from typing import Any

from mlc.attribution.grad_cam import grad_cam, upsampled
from mlc.attribution.gradients import input_x_gradient, integrated_gradients, saliency, smooth_grad
from mlc.attribution.occlusion import occlusion
from mlc.attribution.relevance import layer_relevance
from mlc.frontends.array.missing import missing
from mlc.frontends.array.public import publish

__all__ = [
    "grad_cam", "input_x_gradient", "integrated_gradients", "layer_relevance", "occlusion", "saliency", "smooth_grad",
    "upsampled",
]  # fmt: skip

publish(globals(), __all__)


def __getattr__(name: str) -> Any:
    raise missing("mlc.attribution", name, __all__)
