"""Sizes of inputs for which a model was not compiled: a session compiles it again for them, as the model declares them.

A model is compiled for the sizes that its guards allow: where ``x`` of ``n`` and ``y`` of ``m`` elements are added, m
is n. onnxruntime decides this anew in each run, and broadcasts a ``y`` of one element. So a variant first has the
extents of 1 fixed and leaves the others open; where it does not take the sizes either, one has all of them fixed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
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
Sizes = dict[tuple[str, int], int]  # of axes of inputs


class OtherSizes:
    """``run``, or a variant of the model for the sizes of a feed that ``run`` refuses; the last ones are kept.

    ``whole`` gives the model with its weights; ``runner`` makes a run of a compiled model.
    """

    def __init__(
        self, run: Run, whole: Callable[[], ModelProto], options: Mapping[str, Any], runner: Callable[[Model], Run]
    ) -> None:
        self.run, self.whole, self.options, self.runner = run, whole, options, runner
        self.variants: dict[frozenset[Any], Run | None] = {}  # None: the model cannot have these sizes
        self.inputs: list[ValueInfoProto] = []  # as the model declares them

    def __call__(self, feed: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs by name.

        Raises:
            RunError: of ``run``, where the model cannot have these sizes.
        """
        try:
            return self.run(feed)
        except SizeError as error:
            refused = error
        for sizes in self._ways(feed):
            variant = self._variant(sizes, refused)
            with suppress(SizeError):
                if variant is not None:
                    return variant(feed)
        raise refused

    def _ways(self, feed: Mapping[str, Any]) -> Iterator[Sizes]:
        """The sizes that a variant may fix: those that are 1, if not all are; all of them."""
        self.inputs = self.inputs or [_copy(value) for value in self.whole().graph.input]
        given = {value.name: np.shape(feed[value.name]) for value in self.inputs if value.name in feed}
        inputs, fixed = [value for value in self.inputs if value.name in given], self.options["dims"]
        if not all(_takes(value, given[value.name], fixed) for value in inputs):
            return
        every = {(name, axis): size for name, shape in given.items() for axis, size in enumerate(shape)}
        if all(value.type.tensor_type.HasField("shape") for value in inputs):
            some = {at for value in inputs for at in _decided(value, given[value.name], fixed)}
            if any(every[at] == 1 for at in some) and len(some) < len(every):
                yield {at: size for at, size in every.items() if at in some}
        yield every

    def _variant(self, sizes: Sizes, error: SizeError) -> Run | None:
        key = frozenset(sizes.items())
        if key not in self.variants:
            if len(self.variants) >= MAX_VARIANTS:
                self.variants.pop(next(iter(self.variants)))
            self.variants[key] = self._compiled(sizes, error)
        return self.variants[key]

    def _compiled(self, sizes: Sizes, error: SizeError) -> Run | None:
        model = self.whole()
        for value in model.graph.input:
            _fix(value, {axis: size for (name, axis), size in sizes.items() if name == value.name})
        warnings.warn(f"mlc compiles the model again for these sizes. {error.message}", stacklevel=2)
        try:
            return self.runner(api.compile(model, **{**self.options, "dims": {}}))
        except InputError:
            return None


def _copy(value: ValueInfoProto) -> ValueInfoProto:
    copy = type(value)()
    copy.CopyFrom(value)
    return copy


def _takes(value: ValueInfoProto, shape: tuple[int, ...], fixed: Mapping[str, int]) -> bool:
    """Whether an input is declared so that it may have a shape; ``fixed``: sizes of dimensions and axes."""
    if not value.type.tensor_type.HasField("shape"):
        return True
    dims = value.type.tensor_type.shape.dim
    sizes = [fixed.get(d.dim_param, fixed.get(f"{value.name}:{n}", d.dim_value)) for n, d in enumerate(dims)]
    return len(sizes) == len(shape) and all(d in (0, -1, size) for d, size in zip(sizes, shape, strict=True))


def _decided(value: ValueInfoProto, shape: tuple[int, ...], fixed: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """The axes of an input that are 1, or whose sizes the model or ``fixed`` says."""
    for axis, d in enumerate(value.type.tensor_type.shape.dim):
        if shape[axis] == 1 or d.dim_value > 0 or d.dim_param in fixed or f"{value.name}:{axis}" in fixed:
            yield value.name, axis


def _fix(value: ValueInfoProto, sizes: Mapping[int, int]) -> None:
    """Give axes of an input these sizes; of one that is declared without a shape, all of them."""
    dims = value.type.tensor_type.shape.dim
    while len(dims) <= max(sizes, default=-1):
        dims.add()
    for axis, size in sizes.items():
        dims[axis].Clear()
        dims[axis].dim_value = size
