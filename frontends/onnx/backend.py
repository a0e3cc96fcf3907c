"""mlc as an ``onnx.backend.base.Backend``.

from mlc.frontends.onnx import backend
backend.prepare(onnx.load("model.onnx")).run([x])
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, helper, numpy_helper
from onnx.backend.base import Backend, BackendRep, namedtupledict

from mlc.frontends.onnx.errors import UnsupportedError
from mlc.frontends.onnx.reading.load import NEWEST_OPSET
from mlc.frontends.onnx.sequences import flattened, layout_of, only_tensors, regrouped, with_elements

Array = np.ndarray[Any, Any]
MAX_CONSTANT = 4096  # elements of an input that a model is specialised on
MAX_SPECIALISED = 8


class MlcRep(BackendRep):
    """A compiled model. One whose structure depends on the values of inputs is compiled anew for each set of them."""

    def __init__(self, backend: type[MlcBackend], model: ModelProto, **options: Any) -> None:
        self.backend, self.model, self.options = backend, model, options
        given = {t.name for t in model.graph.initializer}
        self.inputs = [i.name for i in model.graph.input if i.name not in given]
        self.outputs = [o.name for o in model.graph.output]
        self.specialised: dict[Any, Any] = {}
        self.net = None
        if not only_tensors(model):
            return  # compiled for the sequences that come
        try:
            self.net = backend.compile(model, **options)
        except UnsupportedError as e:
            if not all(u.constant for u in e.found):
                raise

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Array, ...]:
        """Outputs in the model's order, which their names address too; lists of arrays where they are sequences."""
        given = self._given(inputs)
        if not only_tensors(self.model):
            return self._with_elements(given)
        feeds = flattened(self.model.graph.input, given)
        net, feeds = (self.net, feeds) if self.net is not None else self._special(feeds)
        results = net.run(feeds)
        return namedtupledict("Outputs", self.outputs)(*regrouped(self.model.graph.output, results))

    def _given(self, inputs: Any) -> dict[str, Any]:
        if isinstance(inputs, Mapping):
            return {name: inputs[name] for name in self.inputs}
        values = inputs if isinstance(inputs, Sequence) else [inputs]
        return dict(zip(self.inputs, values, strict=True))

    def _with_elements(self, given: dict[str, Any]) -> tuple[Any, ...]:
        """Runs the model compiled for sequences of these lengths and optionals that are there or not."""
        model, feeds = with_elements(self.model, given)
        key = layout_of(given)
        if key not in self.specialised:
            self._remember(key, type(self)(self.backend, model, **self.options))
        return self.specialised[key].run(feeds)

    def _remember(self, key: Any, made: Any) -> None:
        if len(self.specialised) >= MAX_SPECIALISED:
            self.specialised.pop(next(iter(self.specialised)))
        self.specialised[key] = made

    def _special(self, feeds: dict[str, Array]) -> tuple[Any, dict[str, Array]]:
        """The model compiled with some of its inputs as constants, as few as serve."""
        for names in _candidates({name: feeds[name] for name in self.inputs if name in feeds}):
            rest = {n: a for n, a in feeds.items() if n not in names}
            key = tuple((n, feeds[n].dtype.str, feeds[n].shape, _contents(feeds[n])) for n in names)
            if key not in self.specialised:
                try:
                    net = self.backend.compile(with_constants(self.model, {n: feeds[n] for n in names}), **self.options)
                except UnsupportedError as e:
                    error = e
                    continue
                self._remember(key, net)
            return self.specialised[key], rest
        raise error


def _candidates(feeds: Mapping[str, Array]) -> Iterator[tuple[str, ...]]:
    """Which inputs to make constants: short lists after the first, then all after the first, then all."""
    names = [n for n, a in feeds.items() if a.size <= MAX_CONSTANT]
    after = [n for n in names if n != next(iter(feeds))]
    yield tuple(n for n in after if feeds[n].ndim <= 1)
    yield tuple(after)
    yield tuple(names)


def _contents(array: Array) -> Any:
    return tuple(array.flat) if array.dtype == object else array.tobytes()  # the bytes of strings are their addresses


def with_constants(model: ModelProto, values: Mapping[str, Array]) -> ModelProto:
    """A copy of a model in which inputs have become initializers."""
    result = ModelProto()
    result.CopyFrom(model)
    result.graph.initializer.extend(numpy_helper.from_array(a, n) for n, a in values.items())
    kept = [i for i in model.graph.input if i.name not in values]
    del result.graph.input[:]
    result.graph.input.extend(kept)
    return result


class MlcBackend(Backend):
    """Compiles for the CPU of this machine."""

    @classmethod
    def compile(cls, model: ModelProto, **options: Any) -> Any:
        """A compiled model: ``run({name: array}) -> {name: array}``."""
        import mlc

        return mlc.compile(model, **options)

    @classmethod
    def prepare(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> MlcRep:
        """Compile a model.

        Raises:
            MlcError: it is not valid, or not supported.
        """
        return MlcRep(cls, model, **kwargs)

    @classmethod
    def run_model(cls, model: ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any) -> tuple[Array, ...]:
        """Compile a model and run it once."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls, node: NodeProto, inputs: Any, device: str = "CPU", outputs_info: Any = None, **kwargs: Any
    ) -> tuple[Array, ...]:
        """Run one operator on arrays; ``opset_version`` chooses its version (the newest by default)."""
        opset = kwargs.pop("opset_version", NEWEST_OPSET)
        names = [n for n in node.input if n]
        arrays = inputs if isinstance(inputs, Mapping) else dict(zip(names, inputs, strict=True))
        infos = [
            helper.make_tensor_value_info(
                n, helper.np_dtype_to_tensor_dtype(np.asarray(arrays[n]).dtype), np.shape(arrays[n])
            )
            for n in dict.fromkeys(names)
        ]
        outputs = [onnx.ValueInfoProto(name=n) for n in node.output if n]
        graph = helper.make_graph([node], "node", infos, outputs)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid(node.domain, opset)])
        return cls.run_model(model, arrays, device, **kwargs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether code for ``device`` can be made."""
        return device.split(":")[0].upper() == "CPU"


prepare = MlcBackend.prepare
run_model = MlcBackend.run_model
run_node = MlcBackend.run_node
supports_device = MlcBackend.supports_device
