"""A compiled program that is called as the module that it was exported from: with tensors, in the module's trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike
from typing import Any, Literal

import numpy as np
import torch
import torch.utils._pytree as pytree
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind

from mlc.errors import RunError
from mlc.frontends.torch.dtypes import array_of
from mlc.frontends.torch.signature import CHANGED, STATE, tensor_of
from mlc.frontends.torch.trees import output_names
from mlc.runtime import Model

BFLOAT16 = "bfloat16"
Kind = Literal["tensor", "complex", "size"]
"""What an output is as a result: a tensor, one of complex numbers whose parts it has [.., 2], or a Python integer."""


class TorchModel(Model):
    """A model whose call takes tensors in the arguments' trees of a module, and gives its result's tree of tensors.

    Neither is copied where it is contiguous. ``state`` holds the buffers that the program changes, by name; a call
    reads them and puts their new values in their place, new tensors, as the module would. It begins with copies of the
    program's own, and may be assigned to. Calls from several threads share it. A tensor that the program changes is
    written into. ``run`` and the rest are those of ``Model``, with arrays by name: state among inputs and outputs.
    """

    def __init__(self, path: str | PathLike[str], threads: int | None = None, form: Form | None = None) -> None:
        super().__init__(path, threads)
        assert form is not None
        self.form = form
        names = list(self.outputs)
        self._order = [names.index(name) for name in form.names if name in names]
        self._carried = [names.index(name) for name in self.inputs if name.startswith(STATE)]
        self._changed = [(names.index(CHANGED + name), leaf) for leaf, name in form.inputs if CHANGED + name in names]
        self.state: dict[str, torch.Tensor] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results of the module for these arguments. RunError where their structure is another."""
        leaves = self.form.leaves(args, kwargs)
        given = (*(leaves[n] for n, _ in self.form.inputs), *self.state.values())
        found = Model.__call__(self, *map(to_array, given))
        results = found if isinstance(found, tuple) else (found,)
        pairs = zip(self.state.items(), self._carried, strict=True)
        self.state = {name: to_tensor(results[n], x.is_complex()) for (name, x), n in pairs}
        for n, leaf in self._changed:
            _write(leaves[leaf], results[n])
        return self.form.result([results[n] for n in self._order], to_leaf)

    def __reduce__(self) -> tuple[object, ...]:
        self._open_library()
        return type(self), (str(self.path), self.threads, self.form), {"state": self.state}

    def with_state(self, program: ExportedProgram) -> TorchModel:
        """This model, with the state of ``program``."""
        names = [name.removeprefix(STATE) for name in self.inputs if name.startswith(STATE)]
        self.state = {name: tensor_of(program, name).detach().clone() for name in names}
        return self


class Form:
    """The trees of a program's arguments and results.

    ``inputs``: which leaves of the arguments are inputs of the model, and their names; ``outputs``: for each leaf of
    the results None where it is the next output, else its value in a tuple.
    """

    def __init__(self, program: ExportedProgram) -> None:
        signature = program.graph_signature
        users = [s.arg for s in signature.input_specs if s.kind == InputKind.USER_INPUT]
        self.inputs = [(n, arg.name) for n, arg in enumerate(users) if not hasattr(arg, "value")]
        given = [spec.arg for spec in signature.output_specs if spec.kind == OutputKind.USER_OUTPUT]
        self.outputs = [(getattr(arg, "value", None),) if hasattr(arg, "value") else None for arg in given]
        self.kinds = [_kind(program, arg) for arg in given]
        self.names = output_names(program)
        self.takes, self.gives = program.call_spec.in_spec, program.call_spec.out_spec

    def leaves(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The arguments' leaves."""
        found, spec = pytree.tree_flatten((args, kwargs))
        if spec != self.takes:
            expected = pytree.tree_unflatten(["*"] * self.takes.num_leaves, self.takes)
            hint = f"It was exported for (arguments, keyword arguments) = {expected}"
            raise RunError("The arguments have another structure than the program's", hint=hint)
        return found

    def result(self, arrays: Iterable[Any], leaf: Callable[[Any, Kind], Any]) -> Any:
        """The tree of the results; ``leaf`` makes one of an array and its kind."""
        rest = iter(arrays)
        pairs = zip(self.outputs, self.kinds, strict=True)
        leaves = [known[0] if known else leaf(next(rest), kind) for known, kind in pairs]
        return pytree.tree_unflatten(leaves, self.gives)


def _write(x: Any, array: np.ndarray[Any, Any]) -> None:
    """New elements of an argument: a tensor, or an array."""
    if isinstance(x, torch.Tensor):
        with torch.no_grad():
            x.copy_(to_tensor(array, x.is_complex()))
    else:
        np.copyto(x, array)


def _kind(program: ExportedProgram, arg: Any) -> Kind:
    if type(arg).__name__ == "SymIntArgument":
        return "size"
    node = next((node for node in program.graph.nodes if node.name == getattr(arg, "name", None)), None)
    return kind_of(node.meta.get("val") if node else None)


def kind_of(val: Any) -> Kind:
    """The kind of a result whose value torch describes so."""
    if isinstance(val, torch.SymInt):
        return "size"
    return "complex" if isinstance(val, torch.Tensor) and val.is_complex() else "tensor"


def to_leaf(array: np.ndarray[Any, Any], kind: Kind) -> Any:
    """A result in the form that torch has for its kind."""
    return int(array) if kind == "size" else to_tensor(array, kind == "complex")


def to_array(x: Any) -> Any:
    """A tensor's memory as an array, of complex numbers their parts [.., 2]; other arrays as they are."""
    if isinstance(x, np.ndarray) and x.dtype.kind == "c":
        return np.stack([x.real, x.imag], axis=-1)
    return array_of(x) if isinstance(x, torch.Tensor) else x


def to_tensor(array: np.ndarray[Any, Any], is_complex: bool = False) -> torch.Tensor:
    """A tensor that shares the array's memory; ``is_complex``: of complex numbers, the array of their parts [.., 2]."""
    if is_complex:
        parts = torch.from_numpy(array)  # whose strides say nothing where there are no elements
        return torch.view_as_complex(parts) if array.size else parts.sum(-1).to(parts.dtype.to_complex())
    if array.dtype.name == BFLOAT16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)
