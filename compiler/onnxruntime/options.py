"""onnxruntime's options of sessions and runs, of which those with a meaning here have an effect."""

from __future__ import annotations

import warnings
from enum import IntEnum
from typing import Any

from mlc.onnxruntime import errors


class GraphOptimizationLevel(IntEnum):
    """How much onnxruntime rewrites a graph. mlc compiles the whole model at each of them."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(IntEnum):
    """Whether independent operators run at once. In mlc all threads share each kernel."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(IntEnum):
    """The order of operators; mlc's compiler chooses it."""

    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


class OrtAllocatorType(IntEnum):
    """Kinds of allocators; a model of mlc has one arena of a planned size."""

    INVALID = -1
    ORT_DEVICE_ALLOCATOR = 0
    ORT_ARENA_ALLOCATOR = 1


class OrtMemType(IntEnum):
    """Kinds of memory of a device."""

    CPU_INPUT = -2
    CPU_OUTPUT = -1
    CPU = -1
    DEFAULT = 0


class _Entries:
    """Options by name, of strings."""

    def __init__(self) -> None:
        self._entries: dict[str, str] = {}

    def _get(self, key: str, kind: str) -> str:
        if key not in self._entries:
            raise RuntimeError(f"The {kind} options have no entry '{key}'")
        return self._entries[key]


class SessionOptions(_Entries):
    """Options of a session.

    These have an effect: ``intra_op_num_threads`` (0: one a CPU), ``add_free_dimension_override_by_name`` and
    ``…_by_denotation`` (dimensions that the model is compiled for), ``enable_profiling``. The others are kept.
    """

    def __init__(self) -> None:
        super().__init__()
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 0
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.execution_order = ExecutionOrder.DEFAULT
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.enable_cpu_mem_arena = self.enable_mem_pattern = self.enable_mem_reuse = True
        self.enable_profiling = False
        self.profile_file_prefix = "onnxruntime_profile_"
        self.log_severity_level, self.log_verbosity_level, self.logid = -1, 0, ""
        self.use_deterministic_compute, self.use_per_session_threads = False, True
        self._optimized_model_filepath = ""
        self.dims: dict[str, int] = {}
        self.denotations: dict[str, int] = {}

    @property
    def optimized_model_filepath(self) -> str:
        """Where onnxruntime writes the model that it has rewritten. mlc writes none."""
        return self._optimized_model_filepath

    @optimized_model_filepath.setter
    def optimized_model_filepath(self, path: str) -> None:
        text = "mlc makes machine code of a model and no other ONNX file: nothing is written to"
        warnings.warn(f"{text} '{path}'; session.model.save('model.so') writes the artifact", stacklevel=2)
        self._optimized_model_filepath = path

    def add_free_dimension_override_by_name(self, name: str, value: int) -> None:
        """The dimension of that name is ``value`` in all runs."""
        self.dims[name] = value

    def add_free_dimension_override_by_denotation(self, denotation: str, value: int) -> None:
        """Dimensions of that denotation, such as DATA_BATCH, are ``value`` in all runs."""
        self.denotations[denotation] = value

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Keeps an entry for ``get_session_config_entry``."""
        self._entries[key] = value

    def get_session_config_entry(self, key: str) -> str:
        """The entry ``key``. RuntimeError where there is none."""
        return self._get(key, "session")

    def add_initializer(self, name: str, ortvalue: Any) -> None:
        """NotImplemented: weights are packed when the model is compiled."""
        hint = "Give a model with that initializer"
        raise errors.NotImplemented(f"The initializer '{name}' cannot be replaced", hint=hint)

    def add_external_initializers(self, names: Any, values: Any) -> None:
        """NotImplemented, as ``add_initializer``."""
        hint = "Keep their file beside the model"
        raise errors.NotImplemented("External initializers cannot be given as values", hint=hint)

    def register_custom_ops_library(self, library: str) -> None:
        """NotImplemented: an operator of mlc has a meaning that the compiler reads."""
        hint = "Define the operator in Python: docs/howto/add-an-operator.md"
        raise errors.NotImplemented(f"mlc cannot call the operators of the library '{library}'", hint=hint)

    def has_providers(self) -> bool:
        """Whether providers were added to the options."""
        return False


class RunOptions(_Entries):
    """Options of a run. They are kept, and have no effect: a run of a compiled model has one way."""

    def __init__(self) -> None:
        super().__init__()
        self.log_severity_level, self.log_verbosity_level, self.logid = -1, 0, ""
        self.terminate = self.only_execute_path_to_fetches = False

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Keeps an entry for ``get_run_config_entry``."""
        self._entries[key] = value

    def get_run_config_entry(self, key: str) -> str:
        """The entry ``key``. RuntimeError where there is none."""
        return self._get(key, "run")
