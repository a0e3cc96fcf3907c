"""Files that are no models, models with a mistake, external data: a short message that says what, where and what to do;
nothing half-written; no traceback."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from refusals import Place, Refuses, add_model, save, wide_model, write

import mlc
from mlc.cli import main

# ---- files that are no models


@pytest.mark.parametrize("command", ["compile", "run", "bench", "inspect"])
def test_no_such_file(place: Place, refuses: Refuses, command: str) -> None:
    refuses(command, place.inputs / "none.onnx", says=("none.onnx", "No such file"))


def test_a_folder(place: Place, refuses: Refuses) -> None:
    refuses("compile", place.inputs, says=("directory",))


def test_an_empty_file(place: Place, refuses: Refuses) -> None:
    refuses("compile", write(place, b""), says=("m.onnx", "empty"))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file(place: Place, refuses: Refuses, share: float) -> None:
    data = wide_model().SerializeToString()
    refuses("compile", write(place, data[: int(share * len(data))]), says=("m.onnx", "cut short"))


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes(place: Place, refuses: Refuses, seed: int) -> None:
    refuses("compile", write(place, random.Random(seed).randbytes(3000)), says=("m.onnx",))


def test_the_cache_is_not_asked_for_what_is_no_model(place: Place, refuses: Refuses) -> None:
    refuses("cache", "why", write(place, b"garbage"), says=("m.onnx", "not an ONNX model"))


def test_text(place: Place, refuses: Refuses) -> None:
    refuses("compile", write(place, b"hello, I am a model\n" * 50), says=("m.onnx", "ONNX"))


# ---- models with a mistake in them


def test_unknown_operators_are_all_listed(place: Place, refuses: Refuses) -> None:
    nodes = [
        helper.make_node("Frobnicate", ["x"], ["a"], name="first"),
        helper.make_node("Grumble", ["a"], ["y"], name="second"),
    ]
    refuses("compile", save(place, add_model(*nodes)), says=("Frobnicate", "Grumble", "first", "second"))


def test_unknown_operators_are_listed_by_check(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    path = save(place, add_model(helper.make_node("Frobnicate", ["x"], ["y"], name="first")))
    with pytest.raises(SystemExit) as caught:
        main(["check", str(path)])
    assert caught.value.code == 2
    assert "Frobnicate" in capsys.readouterr().out


@pytest.mark.parametrize("opset", [0, 999, -4])
def test_an_unknown_opset(place: Place, refuses: Refuses, opset: int) -> None:
    refuses("compile", save(place, add_model(opset=opset)), says=("opset",))


def test_wrong_types(place: Place, refuses: Refuses) -> None:
    integers = numpy_helper.from_array(np.arange(4), "w")
    node = helper.make_node("Add", ["x", "w"], ["y"], name="sum")
    refuses("compile", save(place, add_model(node, weights=(integers,))), says=("sum", "Add"))


def test_shapes_that_do_not_fit(place: Place, refuses: Refuses) -> None:
    weights = numpy_helper.from_array(np.ones((5, 2), np.float32), "w")
    node = helper.make_node("MatMul", ["x", "w"], ["y"], name="mm")
    refuses("compile", save(place, add_model(node, weights=(weights,))), says=("mm", "MatMul"))


def test_a_cycle(place: Place, refuses: Refuses) -> None:
    nodes = [helper.make_node("Add", ["x", "b"], ["a"], name="one"), helper.make_node("Relu", ["a"], ["b"], name="two")]
    final = helper.make_node("Relu", ["b"], ["y"])
    refuses("compile", save(place, add_model(*nodes, final)), says=("cycle", "one"))


def test_a_missing_initializer(place: Place, refuses: Refuses) -> None:
    node = helper.make_node("Add", ["x", "gone"], ["y"], name="sum")
    refuses("compile", save(place, add_model(node)), says=("gone", "sum"))


def test_weights_of_the_wrong_length(place: Place, refuses: Refuses) -> None:
    for dims in ([4, 4], [3], [400, 400]):
        tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims, raw_data=b"\0" * 16)
        node = helper.make_node("Add", ["x", "w"], ["y"], name="sum")
        refuses("compile", save(place, add_model(node, weights=(tensor,))), says=("'w'",))


@pytest.mark.parametrize("dims", [[-4], [2, -1], [1 << 62, 1 << 62], [1 << 32, 1 << 32], [(1 << 63) - 1]])
def test_negative_absurd_and_overflowing_initializers(place: Place, refuses: Refuses, dims: list[int]) -> None:
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims, raw_data=b"\0" * 16)
    node = helper.make_node("Add", ["x", "w"], ["y"], name="sum")
    refuses("compile", save(place, add_model(node, weights=(tensor,))), says=("'w'",))


@pytest.mark.parametrize("shape", [(-4, 4), (1 << 40, 1 << 40), ((1 << 63) - 1,)])
def test_negative_absurd_and_overflowing_inputs(place: Place, refuses: Refuses, shape: tuple[int, ...]) -> None:
    refuses("compile", save(place, add_model(shape=shape)), says=("x",))


# ---- external data


def external(place: Place, location: str, **entries: str) -> Path:
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=value)
    node = helper.make_node("Add", ["x", "w"], ["y"], name="sum")
    return save(place, add_model(node, weights=(tensor,)))


@pytest.mark.parametrize("location", ["../secret", "/etc/passwd", "sub/../../secret", "link", "", "absent"])
def test_external_data_outside_the_folder_or_absent(place: Place, refuses: Refuses, location: str) -> None:
    (place.inputs.parent / "secret").write_bytes(b"\0" * 16)
    (place.inputs / "link").symlink_to(place.inputs.parent / "secret")
    refuses("compile", external(place, location), says=("'w'",))


@pytest.mark.parametrize(
    "entries", [{}, {"length": "12"}, {"offset": "8"}, {"offset": "-4"}, {"offset": str(1 << 63)}, {"length": "x"}]
)
def test_external_data_of_the_wrong_length(place: Place, refuses: Refuses, entries: dict[str, str]) -> None:
    (place.inputs / "w.bin").write_bytes(b"\0" * (15 if not entries else 16))
    refuses("compile", external(place, "w.bin", **entries), says=("'w'",))


def test_no_process_ends_by_a_signal_on_damaged_models(place: Place) -> None:
    """Models with random bytes changed either compile or are refused."""
    data = bytearray(wide_model().SerializeToString())
    generator = random.Random(5)
    for _ in range(30):
        damaged = bytearray(data)
        for _ in range(3):
            damaged[generator.randrange(200) if generator.random() < 0.8 else -generator.randrange(1, 200)] ^= (
                1 << generator.randrange(8)
            )
        problems = mlc.check(bytes(damaged))
        assert all(isinstance(problem, str) for problem in problems)
    shutil.rmtree(place.inputs)


def test_the_onnx_package_is_what_we_think() -> None:
    """The helpers above build valid models: what is refused is refused for its mistake."""
    onnx.checker.check_model(add_model())
    onnx.checker.check_model(wide_model())
