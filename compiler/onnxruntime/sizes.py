"""Sizes of inputs for which a model was not compiled: a session compiles it again for them, as the model declares them.

A model is compiled for the sizes that its guards allow: where ``x`` of ``n`` and ``y`` of ``m`` elements are added, m
is n. onnxruntime decides this anew in each run, and broadcasts a ``y`` of one element.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mlc import api
from mlc.errors import InputError
from mlc.runtime import Model
from mlc.runtime.signature import SizeError

if TYPE_CHECKING:
    from onnx import ModelProto, ValueInfoProto

MAX_VARIANTS = 8

Run = Callable[[Mapping[str, Any]], dict[str, Any]]
Shapes = tuple[tuple[int, ...], ...]


class OtherSizes:
    """``run``, or a variant of the model for the sizes of a feed that ``run`` refuses; the last ones are kept.

    ``whole`` gives the model with its weights; ``runner`` makes a run of a compiled model.
    """

    def __init__(
        self, run: Run, whole: Callable[[], ModelProto], options: Mapping[str, Any], runner: Callable[[Model], Run]
    ) -> None:
        self.run, self.whole, self.options, self.runner = run, whole, options, runner
        self.variants: dict[Shapes, Run | None] = {}  # None: the model cannot have these sizes

    def __call__(self, feed: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs by name.

        Raises:
            RunError: of ``run``, where the model cannot have these sizes.
        """
        try:
            return self.run(feed)
        except SizeError as error:
            variant = self._variant(feed, error)
            if variant is None:
                raise
            return variant(feed)

    def _variant(self, feed: Mapping[str, Any], error: SizeError) -> Run | None:
        shapes = {name: np.shape(value) for name, value in feed.items()}
        key = tuple(shapes.values())
        if key not in self.variants:
            if len(self.variants) >= MAX_VARIANTS:
                self.variants.pop(next(iter(self.variants)))
            self.variants[key] = self._compiled(shapes, error)
        return self.variants[key]

    def _compiled(self, shapes: Mapping[str, tuple[int, ...]], error: SizeError) -> Run | None:
        model = self.whole()
        inputs = [value for value in model.graph.input if value.name in shapes]
        if not all(_takes(value, shapes[value.name], self.options["dims"]) for value in inputs):
            return None
        for value in inputs:
            _fix(value, shapes[value.name])
        warnings.warn(f"mlc compiles the model again for these sizes. {error.message}", stacklevel=2)
        try:
            return self.runner(api.compile(model, **{**self.options, "dims": {}}))
        except InputError:
            return None


def _takes(value: ValueInfoProto, shape: tuple[int, ...], fixed: Mapping[str, int]) -> bool:
    """Whether an input is declared so that it may have a shape; ``fixed``: sizes of named dimensions."""
    if not value.type.tensor_type.HasField("shape"):
        return True
    dims = [fixed.get(d.dim_param, d.dim_value) for d in value.type.tensor_type.shape.dim]
    return len(dims) == len(shape) and all(d in (0, -1, size) for d, size in zip(dims, shape, strict=True))


def _fix(value: ValueInfoProto, shape: tuple[int, ...]) -> None:
    del value.type.tensor_type.shape.dim[:]
    for size in shape:
        value.type.tensor_type.shape.dim.add(dim_value=size)
