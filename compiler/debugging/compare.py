"""``mlc compare``: a compiled model's outputs beside a reference's, and where they differ, the step that is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mlc.api import make_options, open_built
from mlc.debugging.conclusion import conclusion_of
from mlc.debugging.kernels import Stepwise, expose
from mlc.debugging.passes import INTERPRETED, Versions, compare_passes
from mlc.debugging.report import Comparison, Row
from mlc.debugging.rounding import sensitivity
from mlc.debugging.values import made_by_nodes, onnxruntime_values, outputs_of, read
from mlc.dialects.semantics.interpreter import interpret
from mlc.driver import lower as pipeline
from mlc.driver.artifact.write_artifact import write_outside
from mlc.driver.cache.disk_cache import Cache
from mlc.driver.compile import Built, compile_source, import_source
from mlc.driver.onnx_source import OnnxSource
from mlc.driver.source import ModelSource
from mlc.driver.sources import source_of
from mlc.errors import InputError
from mlc.options import Options
from mlc.pipelines import STAGES
from mlc.pipelines.backends import backend_of
from mlc.tools.difference import difference

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from mlc.dialects.weights import WeightStore
    from mlc.runtime import Model

Array = np.ndarray[Any, Any]
Feed = Callable[["Model"], Mapping[str, Array]]
Say = Callable[[str], None]


@dataclass
class Search:
    """A comparison under way. ``expected``: the reference's outputs by name, where the user has them."""

    source: ModelSource
    options: Options
    feed: Feed
    expected: Mapping[str, Array] | None
    tolerance: float | None
    say: Say
    inputs: dict[str, Array] = field(default_factory=dict)
    states: dict[str, Array] = field(default_factory=dict)

    def run(self, every: bool) -> Comparison:
        """Compare the outputs; where one is wrong, or with ``every`` in any case, also the steps."""
        self.say("compiling")
        with open_built(compile_source(self.source, self.options), self.options.threads or None) as net:
            self.inputs = {name: np.asarray(x) for name, x in self.feed(net).items()}
            self.states = {name: net.get_state(name) for name in net.states}
            compiled = net.run(self.inputs)
            found = Comparison(self._reference)
            found.outputs = list(self._outputs(compiled))
            if not found.right:
                found.sensitivity = self._sensitivity(net, list(compiled.values()))
        if every or not found.right:
            found.nodes = self._nodes(found)
            found.passes, found.kernels = self._lowered(found.sensitivity or 0.0)
        found.conclusion = conclusion_of(found)
        return found

    @cached_property
    def _model(self) -> Any:
        """The ONNX model, where the source is one that onnxruntime can be the reference of."""
        return read(self.source.model) if isinstance(self.source, OnnxSource) and not self.source.cache else None

    @cached_property
    def _imported(self) -> Any:
        return import_source(self.source, self.options)

    @property
    def _reference(self) -> str:
        if self.expected is not None:
            return "the expected values"
        return "onnxruntime" if self._model is not None else "the imported graph, interpreted"

    @cached_property
    def _interpreted(self) -> dict[str, Array]:
        self.say("interpreting the graph")
        return interpret(self._imported.module, self._imported.weights, {**self.inputs, **self.states})

    def _wanted(self) -> Mapping[str, Array]:
        if self.expected is not None:
            return self.expected
        if self._model is None:
            return self._interpreted
        self.say("running onnxruntime")
        found = onnxruntime_values(self._model, [each.name for each in self._model.graph.output], self.inputs)
        return {name: x for output, value in found.items() for name, x in outputs_of(output, value).items()}

    def _outputs(self, compiled: Mapping[str, Array]) -> list[Row]:
        wanted = self._wanted()
        if unknown := sorted(wanted.keys() - compiled.keys()):
            hint = f"Its outputs: {', '.join(compiled)}"
            raise InputError(f"The model has no output '{unknown[0]}'", hint=hint)
        return [
            Row(name, f"{x.dtype}{list(x.shape)}", difference(x, np.asarray(wanted[name]), self.tolerance))
            if name in wanted
            else Row(name, f"{x.dtype}{list(x.shape)}", None, "no expected value")
            for name, x in compiled.items()
        ]

    def _sensitivity(self, net: Model, compiled: Sequence[Array]) -> float:
        """How far the outputs move where each input moves by the rounding error of its type, up or down."""

        def run(values: Sequence[Array]) -> list[Array]:
            for name, value in self.states.items():
                net.set_state(name, value)
            return list(net.run(dict(zip(self.inputs, values, strict=True))).values())

        return sensitivity(run, list(self.inputs.values()), compiled)

    def _nodes(self, found: Comparison) -> list[Row]:
        from mlc.debugging.nodes import compare_nodes

        if self._model is None:
            return []
        self.say("comparing nodes")
        try:
            values = onnxruntime_values(self._model, list(made_by_nodes(self._model)), self.inputs)
        except InputError as error:
            found.notes.append(f"The nodes were not compared: {error.message}.")
            return []
        return list(compare_nodes(self._model, {**values, **self.inputs}, self.tolerance))

    def _lowered(self, moves: float) -> tuple[list[Row], list[Row]]:
        """The rows of passes and of kernels. ``moves``: how far rounding moves the outputs."""
        given, wanted = {**self.inputs, **self.states}, self._interpreted  # before the passes change the module
        module, weights, versions = self._imported.module, self._imported.weights, Versions()
        self.say("running passes")
        pipeline.run(module, weights, self.options, INTERPRETED, [versions])
        self.say("comparing passes")
        passes = compare_passes(versions, weights, given, wanted, self.tolerance, moves)
        expose(module)
        steps = Stepwise(module.clone(), weights, self._run_exposed(module, weights), self.tolerance)
        self.say("comparing kernels")
        return passes, list(steps.rows(given))

    def _run_exposed(self, module: ModuleOp, weights: WeightStore) -> Mapping[str, Array]:
        """The outputs of a module after the fuse stage, compiled."""
        self.say("compiling kernels")
        pipeline.run(module, weights, self.options, STAGES[len(INTERPRETED) : -1])
        lowered = pipeline.code(module, weights, self.options)
        toolchain = backend_of(self.options.target).toolchain(self.options.cc)
        built = Built(write_outside(lowered, self.options, toolchain, Cache.default()), cached=False)
        with open_built(built, self.options.threads or None) as net:
            return net.run(self.inputs)


def compare(
    model: Any,
    inputs: Mapping[str, Any],
    expected: Mapping[str, Any] | None = None,
    *,
    steps: bool = False,
    tolerance: float | None = None,
    say: Say = lambda step: None,
    **options: Any,
) -> Comparison:
    """Hold a compiled model to a reference, and where they differ, find the step that is wrong.

    ``model``: as for ``mlc.compile``. ``inputs``: arrays by name. ``expected``: the right outputs by name; without them
    those of onnxruntime, or for a PyTorch program those of the imported graph, interpreted in NumPy. ``steps``: compare
    the steps even where the outputs are right. ``tolerance``: of floats, as a share of the largest value; by default
    1e-4 for f32, 1e-10 for f64, 1e-2 for f16, 5e-2 for bf16. ``options``: of ``mlc.compile`` (``dims``, ``target``,
    ``numerics``, …).

    Raises:
        InputError: the model, an input or an expected value is wrong, or onnxruntime is not installed.
    """
    arrays = {name: np.asarray(x) for name, x in inputs.items()}
    wanted = None if expected is None else {name: np.asarray(x) for name, x in expected.items()}
    return Search(source_of(model), make_options(**options), lambda net: arrays, wanted, tolerance, say).run(steps)
