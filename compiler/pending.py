"""A model that is being compiled in the background: its first calls run in the reference interpreter.

net = mlc.compile("model.onnx", wait=False)
y = net(x)               # at once: the interpreter's answer, unless the compiled model is there first
net.result()             # the compiled model; waits for it
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.ir import SSAValue

from mlc.dialects.graph import RunCounterOp
from mlc.dialects.graph.base import optional_axes
from mlc.dialects.semantics.dims import evaluate, parse_guard, symbols_of
from mlc.dialects.semantics.interpreter import interpret, main_of, names
from mlc.dialects.types import STRING, element_of, numpy_dtype, shape_of
from mlc.errors import RunError
from mlc.expressions import signature_names
from mlc.frontends.imported import Imported
from mlc.runtime import Model, TensorSpec, arrays
from mlc.runtime.signature import STRINGS, GuardError, solve_dims
from mlc.tracing import background

MODEL_FIELDS = ("aliases", "dims", "name", "path", "signature", "states", "threads")
AT_ONCE = 0.05  # seconds to wait for an artifact of the cache


class PendingModel:
    """A :class:`mlc.Model` to be: ``inputs`` and ``outputs`` are known, calls and ``run`` answer at once.

    Until the compiled model is there, the reference interpreter answers: the same numbers but for the order of sums.
    Models with strings, random numbers or states, calls with ``out`` and inputs that do not fit wait for it.
    """

    def __init__(self, imported: Imported, compiling: Callable[[], Model]) -> None:
        self._imported: Imported | None = imported
        main = main_of(imported.module)
        self.inputs = _specs(names(main.arg_attrs), main.args)
        self.outputs = _specs(names(main.res_attrs), main.get_return_op().operands)  # type: ignore[union-attr]
        for name, attributes in zip(self.outputs, main.res_attrs or (), strict=True):
            self.outputs[name] = replace(self.outputs[name], optional=optional_axes(attributes))
        self._interpretable = _is_interpretable(imported.module, [*self.inputs.values(), *self.outputs.values()])
        self._future: Future[Model] = background.submit(compiling)
        with suppress(TimeoutError):
            self._future.exception(AT_ONCE)

    def done(self) -> bool:
        """Whether the compiled model is there, or could not be made."""
        return self._future.done()

    def result(self) -> Model:
        """The compiled model, when it is there.

        Raises:
            MlcError: it could not be compiled.
        """
        model = self._future.result()
        self._imported = None  # its weights may go
        return model

    def __call__(self, *values: Any, **named: Any) -> Any:
        """As ``Model.__call__``."""
        if len(values) + len(named) == len(self.inputs) and not set(named) & set(list(self.inputs)[: len(values)]):
            found = self._interpreted({**dict(zip(self.inputs, values, strict=False)), **named})
            if found is not None:
                return next(iter(found.values())) if len(found) == 1 else tuple(found.values())
        return self.result()(*values, **named)

    def run(self, inputs: Mapping[str, Any], out: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """As ``Model.run``."""
        found = None if out else self._interpreted(inputs)
        return self.result().run(inputs, out) if found is None else found

    def __getattr__(self, name: str) -> Any:
        """Any other attribute of ``Model``, after waiting for the compiled model."""
        if name.startswith("_") or not hasattr(Model, name) and name not in MODEL_FIELDS:
            raise AttributeError(f"a model that is being compiled has no '{name}'")
        return getattr(self.result(), name)

    def __repr__(self) -> str:
        return repr(self.result()) if self.done() else f"<{type(self).__name__}: being compiled>"

    def _interpreted(self, inputs: Mapping[str, Any]) -> dict[str, Any] | None:
        """The interpreter's outputs. None where the compiled model is ready first, or must report an error."""
        imported = self._imported
        if imported is None or self.done() or not self._interpretable or inputs.keys() != self.inputs.keys():
            return None
        try:
            given = {name: arrays.as_input(name, spec, inputs[name]) for name, spec in self.inputs.items()}
            self._check_sizes(imported.module, list(given.values()))
            found = interpret(imported.module, imported.weights, given, self._observe)
        except Exception:
            return None
        return {name: found[name] for name in self.outputs}

    def _check_sizes(self, module: ModuleOp, given: Sequence[np.ndarray[Any, Any]]) -> None:
        main = main_of(module)
        shown = {symbol: signature_names(symbol) for symbol in symbols_of(d for a in main.args for d in shape_of(a))}
        sizes = solve_dims(self.inputs, [array.shape for array in given], sorted(shown.values()))
        dims = {symbol: sizes[name] for symbol, name in shown.items()}
        for guard in main.attributes.get("graph.guards", ArrayAttr([])):  # type: ignore[attr-defined]
            if evaluate(parse_guard(guard.data)[0], dims) < 0:  # type: ignore[operator]
                raise GuardError("a guard does not hold")

    def _observe(self, *_: object) -> None:
        if self.done():
            raise RunError("the compiled model is there")


def _specs(named: Sequence[str], values: Sequence[SSAValue]) -> dict[str, TensorSpec]:
    return {name: _spec(value) for name, value in zip(named, values, strict=True)}


def _spec(value: SSAValue) -> TensorSpec:
    dtype = STRINGS if (element := element_of(value)) == STRING else numpy_dtype(element)
    return TensorSpec(dtype, tuple(d if isinstance(d, int) else signature_names(str(d)) for d in shape_of(value)))


def _is_interpretable(module: ModuleOp, specs: Sequence[TensorSpec]) -> bool:
    """Whether the interpreter's answer is the compiled model's: no strings, and no count of runs."""
    has_random = any(isinstance(op, RunCounterOp) for op in module.walk())
    return not has_random and all(spec.dtype != STRINGS for spec in specs)
