"""An exported program as a Python function on arrays, whose parameters are arguments too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind

from mlc.dialects.semantics.interpreter import main_of
from mlc.driver.cache.digest import of_bytes
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.complex.pair import ComplexArray
from mlc.frontends.array.functions.shaping import stack
from mlc.frontends.array.transforms.modules import Module, call
from mlc.frontends.torch.dtypes import array_of
from mlc.frontends.torch.program import import_program
from mlc.frontends.torch.signature import STATE, tensor_of
from mlc.torch.model import Form, Kind

NAME = "graph.name"


class TorchFunction:
    """A program as a function of its module's arguments, and by name of its parameters. It is traced, differentiated
    and compiled like every function on arrays.

    ``weights`` are its parameters of floats; ``state`` the buffers that the program changes, as they are at first.
    """

    def __init__(self, program: ExportedProgram, name: str, digest: str, dims: Mapping[str, int]) -> None:
        self.form = Form(program)
        specs = program.graph_signature.input_specs
        parameters = [spec.target for spec in specs if spec.kind == InputKind.PARAMETER]
        opened = [n for n in parameters if _is_varied(tensor_of(program, n))]
        imported = import_program(program, dims, name, opened, keep_rules=True)
        self.module = Module(of_bytes(f"{digest} {sorted(dims.items())}".encode()), imported)
        main = main_of(imported.module)
        names = [each.data[NAME].data for each in main.arg_attrs or ()]  # type: ignore[attr-defined]
        changed = [each.removeprefix(STATE) for each in names if each.startswith(STATE)]
        self.outputs = [each.data[NAME].data for each in main.res_attrs or ()]  # type: ignore[attr-defined]
        self.weights = {n: _array(program, n) for n in opened if n not in changed}
        self.state = {n: _array(program, n) for n in changed}

    def __call__(
        self,
        *args: Any,
        weights: Mapping[str, Any] | None = None,
        state: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        """The module's result with arrays for tensors; ``weights`` and ``state`` replace the program's, all or some.

        Of a program that changes buffers, the pair of it and of the new ``state``.

        Raises:
            InputError: another name of a weight, or arrays of other types or shapes.
            RunError: arguments of another structure.
        """
        leaves = self.form.leaves(args, kwargs)
        inputs = [leaves[n] for n, _ in self.form.inputs]
        given = (*inputs, *self._replaced("weights", weights), *self._replaced("state", state))
        results = dict(zip(self.outputs, call(self.module, [_given(x) for x in given]), strict=True))
        found = self.form.result([results[n] for n in self.form.names if n in results], _leaf)
        new = {n: _leaf(results[STATE + n], "complex" if _is_complex(x) else "tensor") for n, x in self.state.items()}
        return (found, new) if self.state else found

    def _replaced(self, kind: str, given: Mapping[str, Any] | None) -> list[Any]:
        own = getattr(self, kind)
        if unknown := set(given or {}) - set(own):
            what = f"{self.module.imported.name} has no {kind} {', '.join(sorted(unknown))}"
            raise InputError(what, hint=f"Its {kind}: {', '.join(own) or 'none'}")
        return list({**own, **(given or {})}.values())


def _is_varied(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def _is_complex(x: Array) -> bool:
    return isinstance(x, ComplexArray)


def _array(program: ExportedProgram, name: str) -> Array:
    tensor = tensor_of(program, name)
    return _leaf(as_array(array_of(tensor)), "complex" if tensor.is_complex() else "tensor")


def _given(x: Any) -> Array:
    """An argument of the module; of complex numbers their parts [.., 2]."""
    given = as_array(array_of(x) if isinstance(x, torch.Tensor) else x)
    return stack([given.re, given.im], axis=-1) if isinstance(given, ComplexArray) else given


def _leaf(x: Array, kind: Kind) -> Array:
    return ComplexArray(x[..., 0], x[..., 1]) if kind == "complex" else x
