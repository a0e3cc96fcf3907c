"""Layers with ``forward`` and ``backward``, as courses build them. Source: tinynn, joelnet.

    net = Net([Dense(64), ReLU(), Dense(10)])

The forward function of a layer is traced, and its derivative is compiled. A subclass may also write ``forward`` and
``backward`` itself, in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import mlc.numpy as mnp
from mlc import nn
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.transforms.derivatives.linear_maps import vjp
from mlc.tracing.jit import jit

Parameters = dict[str, Any]


class Layer:
    """A function of parameters and inputs: subclasses write ``function(self, params, x)``, and ``build(self, x)`` where
    the parameters follow from the first input."""

    def __init__(self, name: str = "") -> None:
        self.name = name or type(self).__name__
        self.params: Parameters = {}
        self.grads: Parameters = {}
        self.is_training = True
        self.inputs: Any = None

    def function(self, params: Parameters, x: Any) -> Any:
        """The result, on arrays of mlc."""
        raise InputError(f"Layer {self.name} has no method 'function'", hint="Write it, or forward and backward")

    def build(self, x: np.ndarray[Any, Any]) -> None:
        """Make the parameters for the first input."""

    def forward(self, inputs: Any) -> np.ndarray[Any, Any]:
        """The result for inputs, which ``backward`` uses."""
        self.inputs = self.prepared(inputs)
        found: Array = _programs(self)[0](self.params, self.inputs)
        return found.numpy()

    def backward(self, grad: Any) -> np.ndarray[Any, Any]:
        """What reaches the inputs from ``grad``, which reaches the result; ``grads`` has what reaches the parameters.

        Raises:
            InputError: before ``forward``.
        """
        if self.inputs is None:
            raise InputError(
                f"backward of layer {self.name} before forward is not defined", hint="Call forward(inputs) first"
            )
        self.grads, found = _programs(self)[1](self.params, self.inputs, _floats(grad))
        return trees.leaves(found)[0].numpy()

    def prepared(self, inputs: Any) -> Any:
        """The inputs as an array, after the parameters have been made for its shape."""
        given = _floats(inputs)
        if not self.params:
            self.build(given)
        return given

    def set_phase(self, phase: str) -> None:
        """``"TRAIN"`` or ``"TEST"``."""
        self.is_training = phase.upper() == "TRAIN"

    @property
    def is_traced(self) -> bool:
        """Whether the layer is a traced function, which is a part of larger programs."""
        return type(self).forward is Layer.forward

    def __call__(self, inputs: Any) -> np.ndarray[Any, Any]:
        return self.forward(inputs)

    def __getstate__(self) -> dict[str, Any]:
        return {name: x for name, x in vars(self).items() if name != "_programs"}


def _floats(x: Any) -> np.ndarray[Any, Any]:
    given = as_array(x).numpy() if not isinstance(x, np.ndarray) else x
    return given.astype(np.float32) if given.dtype == np.float64 else given


def _programs(layer: Layer) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The compiled function of a layer, and its compiled pullback."""
    if "_programs" not in vars(layer):

        def backward(params: Parameters, x: Any, grad: Any) -> Any:
            return vjp(layer.function, params, x)[1](grad)

        vars(layer)["_programs"] = jit(layer.function), jit(backward)
    return vars(layer)["_programs"]


class Dense(Layer):
    """``x @ w + b`` for ``Dense(out)`` or ``Dense(in, out)``; weights by Xavier's uniform distribution."""

    def __init__(self, *sizes: int, rng: np.random.Generator | None = None, name: str = "") -> None:
        super().__init__(name)
        if len(sizes) not in (1, 2):
            raise InputError(
                f"Dense takes one size or two, not {len(sizes)}",
                hint="Give the number of outputs, or inputs and outputs",
            )
        self.sizes, self.rng = sizes, rng
        if len(sizes) == 2:
            self._initialize(sizes[0])

    def build(self, x: np.ndarray[Any, Any]) -> None:
        self._initialize(x.shape[-1])

    def _initialize(self, count: int) -> None:
        w = nn.init.xavier_uniform((self.sizes[-1], count), rng=self.rng)
        self.params = {"w": as_array(w.numpy().T.copy()), "b": mnp.zeros((self.sizes[-1],))}

    def function(self, params: Parameters, x: Any) -> Any:
        return x @ params["w"] + params["b"]


class Activation(Layer):
    """A function of each element, on arrays of mlc."""

    def __init__(self, f: Callable[..., Any], name: str = "") -> None:
        super().__init__(name or getattr(f, "__name__", ""))
        self.f = f

    def function(self, params: Parameters, x: Any) -> Any:
        return self.f(x)


class ReLU(Activation):
    """``max(x, 0)``."""

    def __init__(self) -> None:
        super().__init__(nn.relu, "ReLU")


class Sigmoid(Activation):
    """``1 / (1 + exp(-x))``."""

    def __init__(self) -> None:
        super().__init__(nn.sigmoid, "Sigmoid")


class Tanh(Activation):
    """The hyperbolic tangent."""

    def __init__(self) -> None:
        super().__init__(mnp.tanh, "Tanh")


class LeakyReLU(Layer):
    """``x``, times ``slope`` below 0."""

    def __init__(self, slope: float = 0.01) -> None:
        super().__init__()
        self.slope = slope

    def function(self, params: Parameters, x: Any) -> Any:
        return mnp.where(x > 0, x, self.slope * x)


class Reshape(Layer):
    """All dimensions but the first in another shape; ``Reshape()`` makes one of them."""

    def __init__(self, *shape: int) -> None:
        super().__init__()
        self.shape = shape or (-1,)

    def function(self, params: Parameters, x: Any) -> Any:
        return mnp.reshape(x, (x.shape[0], *self.shape))


class ModuleLayer(Layer):
    """A module of ``mlc.nn``, whose parameters are those of the layer."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__(type(module).__name__)
        self.module = module
        self.params = dict(_named(nn.partition(module)[0]))

    def function(self, params: Parameters, x: Any) -> Any:
        parameters, rest = nn.partition(self.module)
        _, structure = trees.flatten(parameters)
        return nn.combine(trees.unflatten(structure, [params[name] for name, _ in _named(parameters)]), rest)(x)

    def set_phase(self, phase: str) -> None:
        super().set_phase(phase)
        self.module.train(self.is_training)
        vars(self).pop("_programs", None)


def _named(tree: Any) -> list[tuple[str, Any]]:
    from mlc.nn.naming import named

    return [(name, leaf) for name, leaf, _ in named(tree)]


def as_layers(given: Sequence[Any]) -> list[Layer]:
    """Layers, modules of ``mlc.nn`` and functions on arrays as layers.

    Raises:
        InputError: one is none of these.
    """
    made = []
    for n, each in enumerate(given):
        has_both = hasattr(each, "forward") and hasattr(each, "backward")
        if not (has_both or isinstance(each, nn.Module) or callable(each)) or isinstance(each, type):
            raise InputError(f"Layer {n} of Net is {each!r}", hint="Give layers, such as Dense(10) and ReLU()")
        plain = each if has_both else ModuleLayer(each) if isinstance(each, nn.Module) else Activation(each)
        made.append(plain)
    return made


class Net:
    """Layers one after another."""

    def __init__(self, layers: Sequence[Any]) -> None:
        self.layers = as_layers(layers)

    def forward(self, inputs: Any) -> Any:
        """The result of the last layer."""
        for layer in self.layers:
            inputs = layer.forward(inputs)
        return inputs

    def backward(self, grad: Any) -> list[Parameters]:
        """What reaches the parameters of each layer, from what reaches the result."""
        for layer in reversed(self.layers):
            grad = layer.backward(grad)
        return [getattr(layer, "grads", {}) for layer in self.layers]

    @property
    def params(self) -> list[Parameters]:
        """The parameters of each layer."""
        return [getattr(layer, "params", {}) for layer in self.layers]

    @params.setter
    def params(self, params: Sequence[Parameters]) -> None:
        for layer, values in zip(self.layers, params, strict=True):
            if values:
                layer.params = dict(values)

    def get_params_and_grads(self) -> list[tuple[Parameters, Parameters]]:
        """(parameters, what reached them) of each layer that has some."""
        return [(x.params, x.grads) for x in self.layers if getattr(x, "params", None)]

    params_and_grads = get_params_and_grads

    def set_phase(self, phase: str) -> None:
        """``"TRAIN"`` or ``"TEST"`` for each layer."""
        for layer in self.layers:
            if hasattr(layer, "set_phase"):
                layer.set_phase(phase)

    def __call__(self, inputs: Any) -> Any:
        return self.forward(inputs)
