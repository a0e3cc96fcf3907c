"""The backend tests of the onnx package (nodes, stored and light models), through the reference interpreter and through
compiled code, many at a time (``batches.py``).

``expected_failures.txt`` names those that fail, with reasons; a test that it names and that passes fails the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import image_libraries
import pytest
from batches import Batch, batches, in_order
from cases import Case, as_array, assert_same, cases, expected_failure, expected_failures, small_cases

from mlc.dialects.semantics.interpreter import interpret
from mlc.frontends.onnx import import_model
from mlc.frontends.onnx.backend import MlcBackend

WAYS = ("interpreted", "compiled")


class Interpreted:
    """An imported model that the reference interpreter runs."""

    def __init__(self, model: Any) -> None:
        self.imported = import_model(model)

    def run(self, feeds: dict[str, Any]) -> dict[str, Any]:
        return interpret(self.imported.module, self.imported.weights, feeds)


class InterpreterBackend(MlcBackend):
    @classmethod
    def compile(cls, model: Any, **options: Any) -> Interpreted:
        return Interpreted(model)


BACKENDS = {"interpreted": InterpreterBackend, "compiled": MlcBackend}


def run_case(name: str, way: str) -> None:
    case = cases()[name]
    net = BACKENDS[way].prepare(case.model)
    for inputs, outputs in case.data_sets:
        assert_outputs(net.run([as_array(value) for value in inputs]), outputs, case)


def assert_outputs(results: Sequence[Any], outputs: Sequence[Any], case: Case) -> None:
    for actual, wanted in zip(results, outputs, strict=True):
        assert_same(actual, as_array(wanted), case.rtol, case.atol)


@pytest.fixture(scope="session")
def batch_of(request: pytest.FixtureRequest) -> dict[str, Batch]:
    """Return the batch of each selected compiled test that is in one."""
    items = [item for item in request.session.items if getattr(item, "function", None) is test_node]
    return batches(i.callspec.params["name"] for i in items if i.callspec.params["way"] == "compiled")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", in_order(cases()))
def test_node(name: str, way: str, batch_of: dict[str, Batch], monkeypatch: pytest.MonkeyPatch) -> None:
    if name not in small_cases():
        monkeypatch.delenv("MLC_CFLAGS", raising=False)  # a whole network runs longer than it compiles
    if way == "compiled" and "image_decoder" in name and (why := image_libraries.missing()):
        pytest.skip(why)
    reason = expected_failure(name, way)
    if reason is not None:
        with pytest.raises(Exception):  # noqa: B017, PT011 - what is unsupported fails in many ways
            run_case(name, way)
        return
    batch = batch_of.get(name) if way == "compiled" else None
    if batch is not None and name in batch.outputs:
        assert_outputs(batch.outputs[name], cases()[name].data_sets[0][1], cases()[name])
        return
    run_case(name, way)
    assert batch is None or batch.error is None, f"right alone, and not beside others: {batch.error}: {batch.names}"


def test_every_expected_failure_names_a_test() -> None:
    unused = [e.glob for e in expected_failures() if not any(e.matches(n, w) for n in cases() for w in WAYS)]
    assert not unused
