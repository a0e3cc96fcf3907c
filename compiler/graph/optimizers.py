"""Optimizers of ``mlc.optim`` as ``AdamOptimizer(learning_rate).minimize(loss)``, with names of TensorFlow 1."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlc import optim
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import as_array
from mlc.graph.ends import Variable
from mlc.graph.gradients import gradients
from mlc.graph.node import Call, Node
from mlc.graph.updates import Group, Update, assign_add, group
from mlc.optim.transform import GradientTransformation, apply_updates

OTHER_NAMES = {"learning_rate": "lr", "epsilon": "eps", "use_nesterov": "nesterov", "decay": "alpha"}
"""TensorFlow's names of options by those of ``mlc.optim``; ``beta1`` and ``beta2`` are ``betas``."""


class Optimizer:
    """Updates of variables by a gradient transformation of ``mlc.optim``: ``Optimizer(optim.chain(…))``."""

    name = "Optimizer"

    def __init__(self, transformation: GradientTransformation) -> None:
        if not isinstance(transformation, GradientTransformation):
            what = f"Optimizer cannot take a {type(transformation).__name__}"
            raise InputError(what, hint="Give a transformation, such as optim.adam(1e-3)")
        self.factory: Callable[..., GradientTransformation] = _same
        self.options: dict[str, Any] = {"transformation": transformation}

    def compute_gradients(self, loss: Node, var_list: Sequence[Variable] | None = None) -> list[tuple[Node, Variable]]:
        """(gradient, variable) of the variables, by default those that are trainable and that ``loss`` depends on.

        Raises:
            InputError: there is none.
        """
        variables = [v for v in var_list or variables_below(loss) if v.trainable]
        if not variables:
            raise InputError(f"{loss} depends on no variable", hint="A variable of floats is trained: Variable([0.0])")
        return list(zip(gradients(loss, variables), variables, strict=True))

    def apply_gradients(
        self, grads_and_vars: Sequence[tuple[Node, Variable]], global_step: Variable | None = None, name: str = ""
    ) -> Group:
        """A node whose run updates the variables, and counts in ``global_step``."""
        variables = [v for _, v in grads_and_vars]
        given: dict[str, Node] = {v.name: g for g, v in grads_and_vars}
        first = self._made().init({v.name: v.initial for v in variables})
        leaves, structure = trees.flatten(first)
        label = name or self.name.removesuffix("Optimizer")
        slots = [Variable(x, f"{label}/slot{n}", trainable=False) for n, x in enumerate(leaves)]
        values = {v.name: v for v in variables}
        step = Call(_step, self.factory, self.options, values, given, structure, slots, name=label)
        updates = [Update(v, step[0][v.name], f"{label}/{v.name}") for v in variables]
        updates += [Update(slot, step[1][n], f"{label}/update{n}") for n, slot in enumerate(slots)]
        return group(*updates, *([] if global_step is None else [assign_add(global_step, 1)]), name=f"{label}/minimize")

    def minimize(
        self,
        loss: Node,
        global_step: Variable | None = None,
        var_list: Sequence[Variable] | None = None,
        name: str = "",
    ) -> Group:
        """A node whose run takes one step: each variable moves as the gradient of ``loss`` says. Its value is None.

        Raises:
            InputError: ``loss`` depends on no variable of floats.
        """
        return self.apply_gradients(self.compute_gradients(loss, var_list), global_step, name)

    def _made(self) -> GradientTransformation:
        """The transformation, for the shapes of its state: nodes among the options have any value."""
        return self.factory(**{name: 0.0 if isinstance(x, Node) else x for name, x in self.options.items()})


def _same(transformation: GradientTransformation) -> GradientTransformation:
    return transformation


def _step(
    factory: Callable[..., GradientTransformation],
    options: Mapping[str, Any],
    values: dict[str, Any],
    given: dict[str, Any],
    structure: trees.Tree,
    slots: list[Any],
) -> tuple[dict[str, Any], list[Any]]:
    """New variables, and the leaves of the new state."""
    updates, state = factory(**options).update(given, trees.unflatten(structure, slots), values)
    return apply_updates(values, updates), [as_array(x) for x in trees.leaves(state)]


def variables_below(node: Node) -> list[Variable]:
    """The variables that a node depends on, in the order in which they were made."""
    seen: set[Node] = set()
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if each not in seen:
            seen.add(each)
            waiting += each.dependencies
    found = [each for each in seen if isinstance(each, Variable)]
    return sorted(found, key=lambda v: v.graph.nodes.index(v))


def _options(factory: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str) -> dict[str, Any]:
    """The options of ``mlc.optim``.

    Raises:
        InputError: one that there is not.
    """
    parameters = inspect.signature(factory).parameters
    betas = {key: kwargs.pop(key) for key in ("beta1", "beta2") if key in kwargs}
    named = {key if key in parameters else OTHER_NAMES.get(key, key): x for key, x in kwargs.items()}
    if betas and "betas" in parameters:
        default = parameters["betas"].default
        named["betas"] = (betas.get("beta1", default[0]), betas.get("beta2", default[1]))
    try:
        return dict(inspect.signature(factory).bind(*args, **named).arguments)
    except TypeError as error:
        raise InputError(f"{name}: {error}", hint=f"Its options: {', '.join(parameters)}") from None


def _class(name: str, factory: Callable[..., GradientTransformation]) -> type[Optimizer]:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        self.factory, self.options = factory, _options(factory, args, kwargs, name)

    doc = f"``mlc.optim.{factory.__name__}``; options also by TensorFlow's names, and as nodes."
    return type(name, (Optimizer,), {"__init__": __init__, "__doc__": doc, "name": name, "__module__": __name__})


def _momentum(lr: Any, momentum: Any = 0.9, nesterov: bool = False) -> GradientTransformation:
    return optim.sgd(lr, momentum, nesterov)


def _factories() -> dict[str, Callable[..., GradientTransformation]]:
    """Functions of ``mlc.optim`` with a learning rate, by their names."""
    found = {name: getattr(optim, name) for name in optim.__all__}
    return {name: f for name, f in found.items() if inspect.isfunction(f) and "lr" in inspect.signature(f).parameters}


NAMES = {"gradientdescent": optim.sgd, "momentum": _momentum}
SPELLED = ("SGD", "GradientDescent", "Momentum", "Adagrad", "Adadelta", "RMSProp", "Adam", "AdamW", "NAdam", "Lion",
           "LBFGS")  # fmt: skip
CLASSES: dict[str, type[Optimizer]] = {}


def optimizer_class(name: str) -> type[Optimizer] | None:
    """The class ``AdamOptimizer`` for a function ``adam`` of ``mlc.optim``; None where there is none of the name."""
    known = {**_factories(), **NAMES}
    short = name.removesuffix("Optimizer").lower()
    if not name.endswith("Optimizer") or short not in known:
        return None
    if name not in CLASSES:
        CLASSES[name] = _class(name, known[short])
    return CLASSES[name]
