"""onnxruntime's ``InferenceSession`` over a compiled model.

import mlc.onnxruntime as ort
session = ort.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
y, = session.run(None, {"x": x})
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from mlc.errors import RunError
from mlc.onnxruntime import errors
from mlc.onnxruntime.binding import IOBinding
from mlc.onnxruntime.environment import PROVIDER, check_providers
from mlc.onnxruntime.metadata import ModelMetadata, NodeArg
from mlc.onnxruntime.opened import Opened, opened
from mlc.onnxruntime.options import SessionOptions
from mlc.onnxruntime.values import OrtValue
from mlc.runtime import Model

_NOT_OURS = ("disabled_optimizers", "enable_fallback", "read_config_from_model")  # keywords of onnxruntime's class


class InferenceSession:
    """Compiles ``path_or_bytes`` on creation (the second time it comes from the cache), or loads an artifact (``.so``).

    ``sess_options``: see :class:`SessionOptions`. Providers other than the CPU's are ignored with a warning. Further
    keywords, such as ``dims``, go to ``mlc.compile``. ``model`` is the :class:`mlc.Model`.

    Raises:
        NoSuchFile, InvalidProtobuf, InvalidGraph, NotImplemented, Fail: the model cannot be read or compiled. Each is
            one of mlc's errors as well, see ``errors``.
    """

    def __init__(
        self,
        path_or_bytes: str | PathLike[str] | bytes,
        sess_options: Any = None,
        providers: Sequence[Any] | None = None,
        provider_options: Sequence[Any] | None = None,
        **options: Any,
    ) -> None:
        check_providers(providers, provider_options)
        for keyword in _NOT_OURS:
            options.pop(keyword, None)
        options["threads"] = options.get("threads") or getattr(sess_options, "intra_op_num_threads", 0) or None
        in_memory = isinstance(path_or_bytes, bytes | bytearray | memoryview)
        source = bytes(path_or_bytes) if in_memory else Path(fspath(path_or_bytes))  # type: ignore[arg-type]
        with errors.loading(source):
            self._opened: Opened = opened(source, sess_options, options)
        self._options = sess_options or SessionOptions()
        self._profiled: Mapping[str, Any] | None = None
        self._profiles = bool(getattr(sess_options, "enable_profiling", False))
        self._started = time.monotonic_ns()

    @property
    def model(self) -> Model:
        """The compiled model.

        Raises:
            NoModel: it is compiled for the values or lengths of the inputs of each run.
        """
        if self._opened.model is None:
            raise errors.NoModel("The model is compiled for the inputs of each run", hint="Use session.run")
        return self._opened.model

    def get_inputs(self) -> list[NodeArg]:
        """Inputs in the order of the model."""
        return self._opened.inputs

    def get_outputs(self) -> list[NodeArg]:
        """Outputs in the order of the model."""
        return self._opened.outputs

    def get_overridable_initializers(self) -> list[NodeArg]:
        """Inputs that have an initializer (from IR version 4 on). A run that gives values of some compiles the model
        again, with a warning, the first time for each set of them."""
        return self._opened.overridable

    def get_modelmeta(self) -> ModelMetadata:
        """The metadata of the model's file; of an artifact the name alone."""
        return self._opened.metadata

    def get_session_options(self) -> Any:
        """The options that the session was made with."""
        return self._options

    def get_providers(self) -> list[str]:
        """The one provider that there is."""
        return [PROVIDER]

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """The options of the provider: it has none."""
        return {PROVIDER: {}}

    def set_providers(
        self, providers: Sequence[Any] | None = None, provider_options: Sequence[Any] | None = None
    ) -> None:
        """Providers other than the CPU's are ignored with a warning."""
        check_providers(providers, provider_options)

    def enable_fallback(self) -> None:
        """No effect: there is one provider."""

    def disable_fallback(self) -> None:
        """No effect: there is one provider."""

    def run(
        self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any], run_options: Any = None
    ) -> list[Any]:
        """The outputs of these names, in their order; None or none: all.

        A list is converted to the input's dtype. A sequence is a list, a map a dictionary.

        Raises:
            MissingInputs, InvalidArgument: names, dtypes or shapes do not fit.
            RuntimeException: the run failed on its data.
        """
        self._check_outputs(output_names)
        if self._profiles:
            self._profiled = dict(input_feed)
        try:
            results = self._opened.run(input_feed)
        except RunError as error:
            raise self._error_of(error, input_feed) from error
        names = output_names or [output.name for output in self._opened.outputs if output.name in results]
        return [results[name] for name in names]

    def run_async(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Any],
        callback: Callable[[list[Any], Any, str], Any],
        user_data: Any,
        run_options: Any = None,
    ) -> None:
        """Returns at once; ``callback(results, user_data, error)`` runs on another thread; ``error`` is empty or says
        what went wrong."""
        self._check_outputs(output_names)
        future = self._opened.queue.submit(self.run, output_names, dict(input_feed))

        def done(_: object) -> None:
            error = future.exception()
            callback([] if error else future.result(), user_data, str(error or ""))

        future.add_done_callback(done)

    def run_with_ort_values(
        self, output_names: Sequence[str] | None, input_dict_ort_values: Mapping[str, Any], run_options: Any = None
    ) -> list[OrtValue]:
        """``run`` on values: their outputs are values."""
        feed = {name: value.numpy() for name, value in input_dict_ort_values.items()}
        return [OrtValue(result) for result in self.run(output_names, feed)]

    def io_binding(self) -> IOBinding:
        """Inputs and outputs bound to arrays of the caller, for :meth:`run_with_iobinding`."""
        return IOBinding(self.model)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: Any = None) -> None:
        """Runs on the bound inputs, and writes into the bound outputs."""
        if not iobinding.outputs:
            raise errors.InvalidArgument("No output is bound", hint="Call bind_output for each output of the run")
        given = {name: value.numpy() for name, value in iobinding.outputs.items() if value is not None}
        try:
            results = self.model.run(iobinding.inputs, given)
        except RunError as error:
            raise self._error_of(error, iobinding.inputs) from error
        iobinding.results = [OrtValue(results[name]) for name in iobinding.outputs]

    def end_profiling(self) -> str:
        """Writes the kernels' times of more runs on the last inputs, and gives the file's name; "" without a run.

        The file is a trace for Perfetto (JSON). ``SessionOptions.enable_profiling`` asks for it.
        """
        if self._profiled is None:
            return ""
        from mlc.driver.artifact.output_files import write_bytes
        from mlc.tools.trace import trace

        stamp = time.strftime("%Y-%m-%d_%H-%M-%S")
        path = f"{getattr(self._options, 'profile_file_prefix', 'onnxruntime_profile_')}_{stamp}.json"
        write_bytes(Path(path), trace(self.model, self._profiled).encode())
        self._profiled = None
        return path

    def get_profiling_start_time_ns(self) -> int:
        """When the session was made, of the clock ``time.monotonic_ns``."""
        return self._started

    def _check_outputs(self, names: Sequence[str] | None) -> None:
        """InvalidArgument where ``names`` are no list, or the model has no such outputs."""
        if isinstance(names, str):
            hint = f"Give the list ['{names}']"
            raise errors.InvalidArgument(f"The names of the outputs are the string '{names}'", hint=hint)
        if names and not self._opened.names.issuperset(names):
            unknown = [name for name in names if name not in self._opened.names]
            text = f"The model has the outputs {[o.name for o in self._opened.outputs]}, not {unknown}"
            raise errors.InvalidArgument(text)

    def _error_of(self, error: RunError, feed: Mapping[str, Any]) -> RunError:
        missing = [arg.name for arg in self._opened.inputs if arg.name not in feed]
        if missing:
            text = f"Required inputs ({missing}) are missing from input feed ({list(feed)})"
            return errors.MissingInputs(text, hint="Give an array for each")
        return errors.of_run(error)

