"""What a trainer is given: a model, an optimizer and a loss of the right kinds, else an error that says a way out."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlc.errors import InputError
from mlc.frontends.array.array import Array
from mlc.nn.naming import named
from mlc.optim.transform import GradientTransformation
from mlc.train.callbacks import Callback


def kind_of(value: Any) -> str:
    """``the function f``, ``the class Linear``, ``the string 'adam'``, ``an object of torch.optim.sgd.SGD``."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, str):
        return f"the string {value!r}"
    if callable(value) and hasattr(value, "__name__"):
        return f"the function {value.__name__}"
    return "None" if value is None else f"an object of {type(value).__module__}.{type(value).__qualname__}"


def check_model(model: Any) -> None:
    """Raises: InputError: the model, or a leaf of it, is no array: a function, a class, a module of another library."""
    for name, leaf, _ in named(model):
        if isinstance(leaf, Array) or np.asarray(leaf).dtype.kind in "biufcV":
            continue
        what = f"The model has at '{name}' {kind_of(leaf)}" if name else f"The model is {kind_of(leaf)}"
        raise InputError(what, hint=_way_out(leaf))


def _way_out(leaf: Any) -> str:
    if isinstance(leaf, type):
        return f"Give an instance, {leaf.__name__}(…)"
    if callable(leaf) and hasattr(leaf, "__name__"):
        tree = "or the tree of arrays that the function takes, which the loss then calls"
        return f"A function has no parameters: give a module, such as nn.Sequential(nn.Linear(2, 8), f), {tree}"
    return "Give a module of mlc.nn or a tree of arrays; load_state_dict takes the weights of a torch module"


def check_optimizer(optimizer: Any) -> None:
    """Raises: InputError: it is no gradient transformation of mlc.optim, such as ``optim.adam`` that is not called."""
    if isinstance(optimizer, GradientTransformation):
        return
    raise InputError(
        f"The optimizer is {kind_of(optimizer)}",
        hint="Give a gradient transformation of mlc.optim, such as optim.adam(1e-3)",
    )


def check_functions(loss: Any, trainable: Any, **others: Any) -> None:
    """Raises: InputError: the loss, what says which parameters are trained, or another option, is no function."""
    if not callable(loss):
        hint = "Give a function: lambda model, x, y: nn.mse_loss(model(x), y)"
        raise InputError(f"The loss is {kind_of(loss)}", hint=hint)
    if trainable is not None and not callable(trainable):
        hint = "Give a function of a parameter's name: lambda name: name.startswith('head')"
        raise InputError(f"trainable is {kind_of(trainable)}", hint=hint)
    for name, given in others.items():
        if given is not None and not callable(given):
            raise InputError(f"{name} is {kind_of(given)}", hint="Give a function, or leave it out")


def check_callbacks(callbacks: Any) -> list[Callback]:
    """The callbacks of a run, one or several.

    Raises:
        InputError: one is no ``train.Callback``.
    """
    found = [callbacks] if not isinstance(callbacks, list | tuple) else list(callbacks)
    for each in found:
        if not isinstance(each, Callback):
            hint = "Give objects of train.Callback, such as train.EarlyStopping(); callback= takes a function"
            raise InputError(f"A callback is {kind_of(each)}", hint=hint)
    return found
