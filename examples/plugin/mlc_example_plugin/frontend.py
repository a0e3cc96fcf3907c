"""Networks of dense layers in JSON: {"inputs": 3, "layers": [{"weight": [[…]], "bias": […], "activation": "relu"}]}."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.ir import Block

from mlc.dialects.semantics.dims import Dim
from mlc.dialects.weights import WeightStore
from mlc.errors import InputError
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.module import argument, graph_module, returned
from mlc.frontends.build.ops.activations import ACTIVATIONS, activation
from mlc.frontends.build.ops.softmax import softmax
from mlc.frontends.build.symbols import symbol_name
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.imported import Imported


def import_layers(text: str, name: str, dims: Mapping[str, int]) -> Imported:
    """The network as a graph module that takes ``x`` [batch, inputs] and returns ``y``."""
    model, weights = read(text), WeightStore()
    build = Builder(Block(), weights)
    batch = dims.get("batch", Dim.symbol(symbol_name("batch")))
    x = argument(build, "x", "f32", (batch, model["inputs"]))
    for n, layer in enumerate(model["layers"]):
        with build.at(f"layer{n}"):
            try:
                x = build.named(dense(build, x, layer, f"layer{n}"), f"layer{n}")
            except NotSupported as why:
                raise InputError(f"Layer {n}: {why}", stage="import") from why
    with build.at("softmax"):
        y = build.named(softmax(build, x, [1]), "y")
    return Imported(graph_module(build, ["x"], {"y": returned(build, y)}), weights, name)


def read(text: str) -> dict[str, Any]:
    """The network. InputError if it is none: files are untrusted."""
    try:
        model = json.loads(text)
        assert isinstance(model["inputs"], int) and {"weight", "bias", "activation"} <= model["layers"][0].keys()
    except (ValueError, LookupError, TypeError, AttributeError, AssertionError) as error:
        raise InputError("The file has no network of dense layers", stage="import") from error
    return model


def dense(build: Builder, x: Tensor, layer: Mapping[str, object], name: str) -> Tensor:
    """activation(x · weight + bias)."""
    weight = Tensor.from_known(np.array(layer["weight"], np.float32), name=f"{name}.weight")
    bias = Tensor.from_known(np.array(layer["bias"], np.float32), name=f"{name}.bias")
    if layer["activation"] not in ACTIVATIONS:
        raise NotSupported(f"activation '{layer['activation']}'")
    y = build.map("x0 + x1", build.contract("mk,kn->mn", x, weight), bias)
    return build.formula(activation(str(layer["activation"])), y)


@dataclass(frozen=True)
class LayersSource:
    """A network in a JSON file."""

    path: Path
    kind: str = "json layers"

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.path.read_bytes()).hexdigest()

    @property
    def folder(self) -> Path:
        return self.path.parent

    def external_files(self) -> tuple[str, ...]:
        return ()

    def code(self) -> Mapping[str, str]:
        return {}

    def imported(self, dims: Mapping[str, int]) -> Imported:
        return import_layers(self.path.read_text(encoding="utf-8"), self.name, dims)

    def problems(self, dims: Mapping[str, int]) -> list[str]:
        try:
            self.imported(dims)
        except InputError as error:
            return [str(error)]
        return []

    def operators(self) -> Counter[str]:
        layers = read(self.path.read_text(encoding="utf-8"))["layers"]
        return Counter(each["activation"] for each in layers)
