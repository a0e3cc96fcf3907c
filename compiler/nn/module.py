"""``Module``: a layer or a network as a dataclass that is a tree of its arrays.

Source: equinox (a layer is a dataclass is a pytree); names and modes are PyTorch's ``torch.nn.Module``.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar, dataclass_transform

from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.public import Deferred, publish_methods
from mlc.frontends.array.random.threefry import fold_in
from mlc.nn import naming

M = TypeVar("M", bound="Module")


def static(**options: Any) -> Any:
    """A field that is part of the structure and no array: a hashable value, such as a size or a function."""
    return dataclasses.field(metadata={"static": True}, **options)


def buffer(**options: Any) -> Any:
    """A field whose arrays are no parameters: state such as running statistics, which no optimizer changes."""
    return dataclasses.field(metadata={naming.BUFFER: True}, **options)


def inlined(**options: Any) -> Any:
    """A field that gives no part to names: ``0.weight`` and not ``layers.0.weight``."""
    return dataclasses.field(metadata={naming.INLINED: True}, **options)


@dataclasses.dataclass
class Call:
    """What the layers of a ``functional_call`` share: a random key, how often it was used, what each module gave last,
    by its identity, and who hears what sparse embeddings read."""

    key: Any
    draws: int = 0
    outputs: dict[int, Any] = dataclasses.field(default_factory=dict)
    reads: Callable[[Any, Any, Any], Any] | None = None


_call: ContextVar[Call | None] = ContextVar("functional call", default=None)


@dataclass_transform(field_specifiers=(static, buffer, inlined, dataclasses.field), eq_default=False)
class Module:
    """A network or layer: subclasses are dataclasses whose fields are arrays, modules and trees of them.

        class Block(nn.Module):
            linear: nn.Linear
            scale: float = nn.static(default=1.0)

            def __call__(self, x):
                return x + self.scale * nn.relu(self.linear(x))

    It is a tree, so ``mlc.jit``, ``mlc.grad`` and optimizers take and return it. A class may write an ``__init__`` of
    its own that sets the fields. ``training`` is the mode, part of the structure: a program is traced for each.
    """

    training = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._writes_init = "__init__" in vars(cls) or getattr(cls, "_writes_init", False)  # type: ignore[attr-defined]
        dataclasses.dataclass(init=not cls._writes_init, eq=False, repr=False)(cls)  # type: ignore[attr-defined]
        if "__call__" in vars(cls):
            setattr(cls, "__call__", _recording(vars(cls)["__call__"]))  # noqa: B010 - a method, to mypy
        if cls.__module__.startswith("mlc.nn."):
            publish_methods(cls)
        fields = dataclasses.fields(cls)  # type: ignore[arg-type]
        fixed = ("training", *(f.name for f in fields if f.metadata.get("static")))
        held = tuple(f.name for f in fields if f.name not in fixed)
        trees.register_fields(cls, held, fixed)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.__dataclass_fields__ and name != "training":  # type: ignore[attr-defined]
            what = f"{type(self).__name__} has no field '{name}'"
            raise InputError(what, hint=f"Declare it in the class: '{name}: nn.Linear', or '{name}: int = nn.static()'")
        super().__setattr__(name, value)

    def train(self: M, mode: bool = True) -> M:
        """Set the mode of this module and of all within it; returns it."""
        for each in modules(self):
            each.training = mode
        return self

    def eval(self: M) -> M:
        """Set the mode of inference: running statistics, no dropout."""
        return self.train(False)

    def state_dict(self) -> dict[str, Any]:
        """Parameters and buffers by PyTorch's names, as NumPy arrays in PyTorch's layouts."""
        return {name: _numpy(leaf) for name, leaf, _ in naming.named(self)}

    def load_state_dict(self: M, values: Mapping[str, Any], strict: bool = True) -> M:
        """Set parameters and buffers from arrays or tensors by name; returns the module.

        Raises:
            InputError: another shape, or with ``strict`` names that are missing or unknown.
        """
        leaves, structure = trees.flatten(self)
        names = [name for name, _, _ in naming.named(self)]
        made = naming.replaced(dict(zip(names, leaves, strict=True)), values, strict, type(self).__name__)
        vars(self).update(vars(trees.unflatten(structure, [made[name] for name in names])))
        return self

    def save(self, path: str | Path, *examples: Any, dims: Any = None, **options: Any) -> None:
        """Compile the call of the module for example arguments (or ``mlc.TensorSpec``s), with its arrays as constants,
        and write ``path``, ``net.so``, with its C header and weights; the C symbols begin with the name of the file.

        ``dims``: open dimensions by parameter, ``{"x": ("batch", 784)}``; ``options`` are those of ``mlc.compile``.
        ``eval()`` first, for running statistics and no dropout.

        Raises:
            InputError: no examples, or an operator that cannot be compiled.
            OutputError: a file cannot be written.
        """
        from mlc.export import named, traced

        traced(named(self), examples, dims, **{"name": Path(path).stem, **options}).save(path)

    def record(self, **buffers: Any) -> None:
        """Change buffers, within ``functional_call`` only: it returns a module that has them."""
        if _call.get() is not None:
            for name, value in buffers.items():
                setattr(self, name, value)

    def __repr__(self) -> str:
        fields = [f.name for f in dataclasses.fields(self)]  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(f'{n}={naming.shown(getattr(self, n))}' for n in fields)})"


def _recording(call: Callable[..., Any]) -> Callable[..., Any]:
    """A module's call, which is recorded where an argument is not there yet, such as a node of ``mlc.graph``."""

    @functools.wraps(call)
    def recording(self: Module, *args: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, Deferred) for x in args):
            return next(x for x in args if isinstance(x, Deferred)).deferred_module(self, args, kwargs)
        found = call(self, *args, **kwargs)
        if (shared := _call.get()) is not None:
            shared.outputs[id(self)] = found
        return found

    return recording


def _numpy(leaf: Any) -> Any:
    return leaf.numpy() if hasattr(leaf, "numpy") else leaf


def modules(tree: Any) -> list[Module]:
    """Every module in a tree, the outer ones first."""
    found = [tree] if isinstance(tree, Module) else []
    for _, child in trees.children(tree) or ():
        found += modules(child)
    return found


def functional_call(model: M, *args: Any, key: Any = None, **kwargs: Any) -> tuple[Any, M]:
    """``model(*args)``, and the model with what its layers recorded, such as running statistics.

    The model itself does not change. ``key``: of random numbers, for layers such as dropout.
    """
    return recorded(lambda copy: copy(*args, **kwargs), model, key)


def recorded(f: Callable[[Any], Any], model: M, key: Any = None) -> tuple[Any, M]:
    """``f(copy)`` of a copy of the model, and the copy with what its layers recorded."""
    return observed(f, model, key)[:2]


def observed(f: Callable[[Any], Any], model: M, key: Any = None) -> tuple[Any, M, dict[int, Any]]:
    """``recorded``, and what each module of the copy gave when it was called last, by ``id`` of the module."""
    leaves, structure = trees.flatten(model)
    copy = trees.unflatten(structure, leaves)
    shared = Call(key)
    before = _call.set(shared)
    try:
        return f(copy), copy, shared.outputs
    finally:
        _call.reset(before)


def reads_of_call() -> Callable[[Any, Any, Any], Any] | None:
    """What sparse embeddings give their indices and rows, and get the rows from: that of a training step."""
    call = _call.get()
    return None if call is None else call.reads


def hear_reads(reads: Callable[[Any, Any, Any], Any] | None) -> None:
    """Let sparse embeddings give what they read to ``reads(layer, indices, rows)``, until the ``functional_call`` ends.
    """
    call = _call.get()
    assert call is not None
    call.reads = reads


def next_key(layer: str = "nn.next_key") -> Any:
    """A random key (shape [2], uint32) for one use, from the key of the ``functional_call`` or of the training step.

    Each call gives another key, so a layer or a loss of one's own draws with it: ``random.normal(nn.next_key(),
    x.shape)``. ``layer``: who draws, for the error's text. Source: flax.linen.Module.make_rng.

    Raises:
        InputError: there is no key: the call is outside of ``functional_call``, or that has none.
    """
    call = _call.get()
    if call is None or call.key is None:
        raise InputError(f"{layer} draws random numbers", hint="Call nn.functional_call(model, x, key=…), or eval()")
    call.draws += 1
    return fold_in(call.key, call.draws)


def partition(tree: Any, trainable: Any = None) -> tuple[Any, Any]:
    """(parameters, the rest): the tree twice, each with None where the other has an array.

    Parameters are floats that are no buffers. ``trainable(name)``: which of them, by name; the others are frozen.
    """
    leaves, structure = trees.flatten(tree)
    chosen = [naming.is_parameter(leaf, kept) and (trainable is None or trainable(name))
              for name, leaf, kept in naming.named(tree)]  # fmt: skip
    sides = [[x if c == side else None for x, c in zip(leaves, chosen, strict=True)] for side in (True, False)]
    return trees.unflatten(structure, sides[0]), trees.unflatten(structure, sides[1])


def combine(parameters: Any, rest: Any) -> Any:
    """The tree that ``partition`` divided."""
    return trees.merged(parameters, rest)
