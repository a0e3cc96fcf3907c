"""``mlc.export_onnx``: a function, a module, an ONNX or PyTorch model as an ONNX model."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlc.errors import InputError
from mlc.frontends.imported import Imported
from mlc.nn.files import written_whole
from mlc.torch.source import is_program
from mlc.tracing.jit import Jitted, jit
from mlc.tracing.traced import Traced

if TYPE_CHECKING:
    from onnx import ModelProto

Dims = Mapping[str, Sequence[Any] | Mapping[int, str]]


def export_onnx(model: Any, *examples: Any, dims: Any = None, path: str | PathLike[str] | None = None) -> ModelProto:
    """An ONNX model (opset 20) that computes the same; written to ``path`` where one is given.

    Args:
        model: a function on arrays, a jitted one, or a module of ``mlc.nn`` (``trainer.model``), with its arrays as
            constants; or a path to an ONNX model or exported PyTorch program, or either itself, without ``examples``.
        examples: arguments, or ``mlc.TensorSpec``s in their place.
        dims: open dimensions, ``{"x": ("batch", 784)}`` or ``{"x": {0: "batch"}}`` by the name of a parameter; of a
            model, fixed values of its symbols.

    Raises:
        InputError: no examples for a function, or an operator that has no form in ONNX; names where it comes from.
        OutputError: the file cannot be written.
    """
    from mlc.export.graphs import model_of

    made = model_of(imported(model, examples, dims))
    if path is not None:
        written_whole(Path(path), lambda file: file.write_bytes(made.SerializeToString()))
    return made


def imported(model: Any, examples: Sequence[Any], dims: Any) -> Imported:
    if is_program(model) or not callable(model):  # a program of PyTorch is callable as well
        from mlc.driver.sources import source_of

        return source_of(model).imported(dims or {})
    return traced(model, examples, dims).imported()


def traced(model: Callable[..., Any], examples: Sequence[Any], dims: Any = None, **options: Any) -> Traced:
    """The trace of a function or module for example arguments; ``options`` are those of ``jit``.

    Raises:
        InputError: no examples; ``dims`` of no parameter.
    """
    if not examples:
        what = f"{_name(model)} is to be traced without example arguments"
        raise InputError(what, hint="Give arrays or TensorSpecs: (x, dims={'x': ('batch', 784)})")
    function = model.function if isinstance(model, Jitted) else model
    shapes = _shapes(function, examples, dims or {})
    if isinstance(model, Jitted) and not shapes:
        return model.lower(*examples)
    return jit(named(function), shapes=shapes, **options).lower(*examples)


def named(model: Any) -> Callable[..., Any]:
    """A module as a function with the parameters of its call, and the name of its class."""
    if inspect.isfunction(model):
        return model

    def function(*args: Any) -> Any:
        return model(*args)

    function.__name__ = _name(model)
    function.__signature__ = inspect.signature(model)  # type: ignore[attr-defined]
    return function


def _name(model: Any) -> str:
    return str(getattr(model, "__name__", type(model).__name__)).strip("<>")


def _shapes(function: Callable[..., Any], examples: Sequence[Any], dims: Dims) -> dict[str, Sequence[Any]]:
    """The shapes of parameters, from ``dims``, in the form that ``jit`` takes."""
    parameters = list(inspect.signature(function).parameters)
    if unknown := sorted(set(dims) - set(parameters)):
        hint = f"Its parameters are {', '.join(parameters)}"
        what = f"dims has '{unknown[0]}', which is no parameter of {_name(function)}"
        raise InputError(what, hint=hint)
    shapes: dict[str, Sequence[Any]] = {}
    for name, wanted in dims.items():
        example = examples[parameters.index(name)]
        rank = len(example.shape)
        by_axis = {n % rank: each for n, each in wanted.items()} if isinstance(wanted, Mapping) else None
        shapes[name] = wanted if by_axis is None else [by_axis.get(n) for n in range(rank)]  # type: ignore[assignment]
    return shapes


__all__ = ["export_onnx", "named", "traced"]
