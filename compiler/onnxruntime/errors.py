"""onnxruntime's exceptions, each one of mlc's errors as well, so that handlers of either kind catch it.

Source: onnxruntime.capi.onnxruntime_pybind11_state, which has one exception class for each status code.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mlc.errors import ArtifactError, InputError, MlcError, OutputError, RunError


class Fail(MlcError):
    """A failure that no other class names, such as a missing C compiler."""


class InvalidArgument(RunError):
    """Names, dtypes or shapes of arrays that do not fit the model."""


class MissingInputs(InvalidArgument, ValueError):
    """A run without some of the inputs; onnxruntime raises ValueError."""


class RuntimeException(RunError):
    """A run that failed on its data: an index or a size out of range, no memory."""


class NoSuchFile(InputError, FileNotFoundError):
    """There is no such model."""

    def __init__(self, *args: Any, **named: Any) -> None:
        InputError.__init__(self, *args, **named)

    __str__ = InputError.__str__


class InvalidProtobuf(InputError):
    """The file is no ONNX model."""


class InvalidGraph(InputError):
    """The model is malformed."""


class NotImplemented(InputError):  # noqa: A001 - onnxruntime's name
    """The model has an operator, or the program asks for an option, that mlc does not have."""


class NoModel(RunError):
    """The session has no model."""


class ModelLoaded(RunError):
    """Not raised: a session loads its model once, when it is made."""


class EPFail(RunError):
    """Not raised: there is one provider."""


class EngineError(RunError):
    """Not raised: there is one engine."""


class ModelLoadCanceled(RunError):
    """Not raised: loading is not cancelled."""


class ModelRequiresCompilation(RunError):
    """Not raised: each model is compiled."""


class NotFound(RunError):
    """Not raised."""


class DeviceReset(RunError):
    """Not raised on CPUs."""


@contextmanager
def loading(path: Any) -> Iterator[None]:
    """Errors of reading and compiling a model as onnxruntime's classes."""
    from mlc.frontends.onnx.errors import UnsupportedError

    try:
        yield
    except UnsupportedError as error:
        raise _as(NotImplemented, error) from error
    except (InputError, ArtifactError) as error:
        raise _as(_kind_of(error, path), error) from error
    except OutputError:
        raise
    except MlcError as error:
        raise _as(Fail, error) from error


def _kind_of(error: MlcError, path: Any) -> type[MlcError]:
    if not isinstance(path, bytes) and not path.exists():
        return NoSuchFile
    return InvalidProtobuf if "is not an ONNX model" in error.message else InvalidGraph


def of_run(error: RunError) -> RunError:
    """The error of a run as one of onnxruntime's classes: wrong arguments, or a run that failed on its data."""
    wrong_argument = error.message.startswith(("Input ", "Output ", "Model ", "The model accepts"))
    return _as(InvalidArgument if wrong_argument else RuntimeException, error)


def _as(kind: type[Any], error: MlcError) -> Any:
    return kind(error.message, node=error.node, op=error.op, stage=error.stage, hint=error.hint)
