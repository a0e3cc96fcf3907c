"""``mlc.graph``: the graph style, in which a program is a graph that a session runs. Source: TensorFlow 1.

    from mlc import graph

    x, y = graph.Placeholder(), graph.Placeholder()
    w = graph.Variable(np.zeros(3, np.float32))
    loss = graph.mean((x @ w - y) ** 2)
    train = graph.AdamOptimizer(0.1).minimize(loss)
    with graph.Session() as session:
        for _ in range(100):
            value, _ = session.run([loss, train], {x: data, y: target})

Every function of ``mlc.numpy`` and ``mlc.nn`` makes a node here: ``graph.relu(x)``. What is fetched is traced and
compiled, once for each set of fetches, feeds and shapes.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import mlc.numpy as mnp
from mlc import nn as _nn
from mlc.frontends.array.missing import missing
from mlc.graph import aliases
from mlc.graph.control import cond as cond
from mlc.graph.control import while_loop as while_loop
from mlc.graph.ends import Constant as Constant
from mlc.graph.ends import Placeholder as Placeholder
from mlc.graph.ends import Variable as Variable
from mlc.graph.ends import placeholder as placeholder
from mlc.graph.gradients import gradients as gradients
from mlc.graph.graphs import Graph as Graph
from mlc.graph.graphs import get_default_graph as get_default_graph
from mlc.graph.graphs import name_scope as name_scope
from mlc.graph.graphs import reset_default_graph as reset_default_graph
from mlc.graph.layers import Dense as Dense
from mlc.graph.layers import Layer as Layer
from mlc.graph.layers import LeakyReLU as LeakyReLU
from mlc.graph.layers import Net as Net
from mlc.graph.layers import ReLU as ReLU
from mlc.graph.layers import Reshape as Reshape
from mlc.graph.layers import Sigmoid as Sigmoid
from mlc.graph.layers import Tanh as Tanh
from mlc.graph.models import SGD as SGD
from mlc.graph.models import Adadelta as Adadelta
from mlc.graph.models import Adagrad as Adagrad
from mlc.graph.models import Adam as Adam
from mlc.graph.models import AdamW as AdamW
from mlc.graph.models import HuberLoss as HuberLoss
from mlc.graph.models import Loss as Loss
from mlc.graph.models import MAELoss as MAELoss
from mlc.graph.models import Model as Model
from mlc.graph.models import MSELoss as MSELoss
from mlc.graph.models import RMSProp as RMSProp
from mlc.graph.models import SigmoidCrossEntropyLoss as SigmoidCrossEntropyLoss
from mlc.graph.models import SoftmaxCrossEntropyLoss as SoftmaxCrossEntropyLoss
from mlc.graph.models import StepOptimizer as StepOptimizer
from mlc.graph.node import Call as Call
from mlc.graph.node import Node as Node
from mlc.graph.operation import Operation as Operation
from mlc.graph.operation import RegisterGradient as RegisterGradient
from mlc.graph.optimizers import SPELLED, optimizer_class
from mlc.graph.optimizers import Optimizer as Optimizer
from mlc.graph.saver import Saver as Saver
from mlc.graph.session import InteractiveSession as InteractiveSession
from mlc.graph.session import Session as Session
from mlc.graph.session import get_default_session as get_default_session
from mlc.graph.updates import assign as assign
from mlc.graph.updates import assign_add as assign_add
from mlc.graph.updates import assign_sub as assign_sub
from mlc.graph.updates import global_variables_initializer as global_variables_initializer
from mlc.graph.updates import group as group

initialize_all_variables = global_variables_initializer
_OWN = [name for name, value in list(globals().items()) if getattr(value, "__module__", "").startswith("mlc.graph.")]
__all__ = sorted([*_OWN, *aliases.NODES, *aliases.TRACED, *(f"{each}Optimizer" for each in SPELLED)])


def __getattr__(name: str) -> Any:
    """Optimizers, TensorFlow's names, and functions of ``mlc.numpy`` and ``mlc.nn`` as makers of nodes."""
    if name.startswith("_"):
        raise AttributeError(f"module 'mlc.graph' has no attribute '{name}'")
    if (found := optimizer_class(name)) is not None:
        return found
    if name in aliases.NODES:
        return aliases.NODES[name]
    if name in ("nn", "train", "random"):
        return _Namespace(name)
    function = aliases.TRACED.get(name) or _of_arrays(aliases.OTHERS.get(name, name))
    if function is None:
        raise missing("mlc.graph", name, [*__all__, *mnp.__all__, *_nn.__all__])
    return function if isinstance(function, type) or not callable(function) else partial(Call, function)


def _of_arrays(name: str) -> Any:
    """The function or type of this name in ``mlc.numpy`` or ``mlc.nn``."""
    return next((getattr(module, name) for module in (mnp, _nn) if name in module.__all__), None)


class _Namespace(SimpleNamespace):
    """``graph.nn``, ``graph.train`` and ``graph.random``, where TensorFlow keeps some of these names."""

    def __init__(self, of: str) -> None:
        super().__init__(of=of)

    def __getattr__(self, name: str) -> Any:
        if self.of == "random" and hasattr(aliases.RANDOM, name):
            return getattr(aliases.RANDOM, name)
        if self.of == "train" and name == "Saver":
            return Saver
        found = getattr(_nn, name, None) if self.of == "nn" and name in _nn.MODULES else None
        return found or __getattr__(name)


def __dir__() -> list[str]:
    return sorted({*__all__, *mnp.__all__, *_nn.__all__})
