"""Functions on arrays as models of the command line: ``module:function`` and ``file.py:function``."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlc.errors import InputError, MlcError

if TYPE_CHECKING:
    from mlc.driver.source import Source
    from mlc.runtime import TensorSpec
    from mlc.tracing.source import TraceSource

FUNCTION = re.compile(r"(?P<module>[\w./\\-]+):(?P<name>[A-Za-z_]\w*(\.\w+)*)")
INPUT = re.compile(r"(?P<name>\w+)=(?P<type>\w+)(\[(?P<shape>[^\[\]]*)\])?")


def is_function(model: Path) -> bool:
    return FUNCTION.fullmatch(str(model)) is not None and not os.path.exists(model)


def refuse_types(inputs: Sequence[str]) -> None:
    """Raise InputError where types are given for the inputs of a model, which declares them itself."""
    if inputs:
        raise InputError(f"'--input {inputs[0]}' is for functions", hint="Fix dimensions of a model by --dim")


def refuse_function(model: Path) -> None:
    """Raise InputError for a function where a model or an artifact is needed."""
    if is_function(model):
        hint = f"'mlc compile {model} -i NAME=TYPE[SHAPE]' makes an artifact of it"
        raise InputError(f"{model} is a function without the types of its parameters", hint=hint)


def source_named(
    model: Path, types: Sequence[str], dims: Mapping[str, int], cache: int = 0
) -> tuple[Source, Mapping[str, int]]:
    """The source of a model, or of a function for inputs of ``types``, and the dimensions that are left to fix.

    Raises:
        InputError: types of a model's inputs, which it has itself; a function with a ``cache``; else as
            ``trace_function``.
    """
    if is_function(model):
        if cache:
            raise InputError(f"--cache is for decoders in ONNX, and {model} is a function", hint="Leave it out")
        return trace_function(model, types, dims), {}
    refuse_types(types)
    from mlc.driver.sources import source_of

    return source_of(model, cache), dims


def trace_function(model: Path, inputs: Sequence[str], dims: Mapping[str, int]) -> TraceSource:
    """The trace of a function for inputs such as ``x=f32[batch,784]``.

    Raises:
        InputError: no such module or function, inputs that are not its parameters, or an error in it (with its line).
    """
    from mlc.api import make_options
    from mlc.tracing.jit import Jitted

    found = FUNCTION.fullmatch(str(model))
    assert found is not None
    f = _function(found["module"], found["name"])
    static, shapes, donate = (f.static, f.shapes, f.donate) if isinstance(f, Jitted) else ((), {}, ())
    plain = f.function if isinstance(f, Jitted) else f
    jitted = Jitted(plain, tuple(static), shapes, True, tuple(donate), make_options())
    specs = specs_of_inputs(inputs, dims)
    try:
        jitted.signature.bind(**specs)
    except TypeError as error:
        takes = f"{found['name']}{jitted.signature}"
        raise InputError(f"{takes}: {error}", hint="Give --input NAME=TYPE[SHAPE] for each parameter") from None
    return _guarded(lambda: jitted.lower(**specs).source, str(model))


def jitted_named(model: Path) -> Callable[..., Any]:
    """The function that ``file.py:function`` names."""
    found = FUNCTION.fullmatch(str(model))
    assert found is not None
    return _function(found["module"], found["name"])


def specs_of_inputs(inputs: Sequence[str], dims: Mapping[str, int]) -> dict[str, TensorSpec]:
    specs = {}
    for text in inputs:
        name, spec = _spec(text, dims)
        if name in specs:
            raise InputError(f"'--input {name}' is given twice", hint="Give each input once")
        specs[name] = spec
    unknown = set(dims) - {d.strip() for text in inputs for d in text.partition("[")[2].rstrip("]").split(",")}
    if unknown:
        raise InputError(f"No input has a dimension '{min(unknown)}'", hint="Name it in --input x=f32[batch,784]")
    return specs


def _spec(text: str, dims: Mapping[str, int]) -> tuple[str, TensorSpec]:
    """``x=f32[batch,784]`` as a name and a type, with the dimensions fixed that ``dims`` gives."""
    from mlc.dialects.types import numpy_dtype
    from mlc.frontends.array import dtypes
    from mlc.runtime import TensorSpec

    found = INPUT.fullmatch(text)
    if found is None:
        raise InputError(f"'--input {text}' is not NAME=TYPE[SHAPE]", hint="Write it as --input x=f32[batch,784]")
    try:
        element = found["type"] if found["type"] in dtypes.SUPPORTED else dtypes.element(found["type"])
    except InputError as error:
        raise InputError(f"'--input {text}': {error.message}", hint=error.hint) from None
    extents = [d.strip() for d in (found["shape"] or "").split(",") if d.strip()]
    shape = tuple(dims.get(d, int(d) if d.isdecimal() else d) for d in extents)
    wrong = next((d for d in shape if isinstance(d, str) and not d.isidentifier()), None)
    if wrong is not None:
        raise InputError(f"'--input {text}': '{wrong}' is no dimension", hint="Write a number or a name")
    return found["name"], TensorSpec(numpy_dtype(element), shape)


def _function(module: str, name: str) -> Callable[..., Any]:
    """The function; imports its module, from the current folder too."""
    found: Any = _guarded(lambda: _module(module), module)
    for part in name.split("."):
        if not hasattr(found, part):
            raise InputError(f"{module} has no function '{name}'", hint="Write it as the module has it")
        found = getattr(found, part)
    if not callable(found):
        raise InputError(f"{module}:{name} is a {type(found).__name__}, not a function")
    return found


def _module(name: str) -> Any:
    path = Path(name)
    sys.path.insert(0, str(path.parent.absolute() if path.suffix == ".py" else Path.cwd()))
    if path.suffix != ".py":
        return _imported(name)
    if not os.path.isfile(path):
        raise InputError(f"{path} does not exist")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if not f"{name}.".startswith(f"{error.name}."):  # one that the user's own code imports
            raise
        hint = "Modules are looked up in the current folder and in $PYTHONPATH"
        raise InputError(str(error), hint=hint) from error


def _guarded(work: Callable[[], Any], what: str) -> Any:
    """The result of ``work``. An exception of the user's own code becomes an error that names its line."""
    from mlc.frontends.array.located import user_line

    try:
        return work()
    except (MlcError, MemoryError):
        raise
    except (Exception, SystemExit) as error:  # a script's own sys.exit() would end mlc with nothing written
        where = user_line(error.__traceback__)
        raise InputError(f"{where or what}: {type(error).__name__}: {error}") from error
