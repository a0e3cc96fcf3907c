"""The arrays that a model is given: how they may be passed, which fit, and what happens to others."""

from __future__ import annotations

from collections import defaultdict

import ml_dtypes
import numpy as np
import pytest
from toy_build import arguments, assert_right

from mlc.errors import MlcError
from mlc.runtime import RunError, TensorSpec, arrays, load
from mlc.runtime.arrays import as_input
from mlc.runtime.library import Plan


def test_ways_to_pass_arguments(toy):
    net = load(toy.library)
    x, shift = arguments(5)
    expected = net(x, shift)[0]
    assert (net(x, shift=shift)[0] == expected).all()
    assert (net(shift=shift, x=x)[0] == expected).all()
    assert (net.run({"shift": shift, "x": x})["y"] == expected).all()


def test_strided_reversed_unaligned_and_readonly_arrays(toy):
    net = load(toy.library)
    x, shift = arguments(6)
    expected = net(x, shift)[0]
    wide = np.zeros((6, 16), np.float32)
    wide[:, ::2] = x
    unaligned = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float32).reshape(6, 8)
    assert not unaligned.flags.aligned and not unaligned.flags.writeable
    for variant in (wide[:, ::2], x[::-1].copy()[::-1], np.asfortranarray(x), unaligned):
        assert (net(variant, shift)[0] == expected).all()


class Exporter:
    """An array of another framework: only DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack_without_copy(toy):
    x, shift = arguments(4)
    net = load(toy.library)
    assert_right(net(Exporter(x), Exporter(shift)), x, shift)
    assert np.shares_memory(as_input("x", net.inputs["x"], Exporter(x)), x)
    assert as_input("x", net.inputs["x"], x) is x


def test_half_precision_inputs():
    for dtype in (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)):
        spec = TensorSpec(dtype, (2,))
        array = np.ones(2, dtype)
        assert as_input("x", spec, array) is array
        with pytest.raises(RunError, match="float32"):
            as_input("x", spec, np.ones(2, np.float32))


def test_output_into_the_callers_arrays(toy):
    net = load(toy.library)
    x, shift = arguments(9)
    y = np.empty(9, np.float32)
    results = net.run({"x": x, "shift": shift}, out={"y": y})
    assert list(results) == ["y", "total"]
    assert results["y"] is y
    assert_right((y, results["total"]), x, shift)


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ({"y": np.empty(8, np.float32)}, r"'y' must be float32 of the shape \(9,\).*\(8,\)"),
        ({"y": np.empty(9, np.float64)}, "float64"),
        ({"y": np.empty(18, np.float32)[::2]}, "contiguous"),
        ({"y": np.frombuffer(bytes(36), np.float32)}, "writable"),
        ({"y": [0.0] * 9}, "list"),
        ({"z": np.empty(9, np.float32)}, r"\['y', 'total'\].*'z'"),
    ],
)
def test_unfit_output_arrays(toy, out, message):
    x, shift = arguments(9)
    with pytest.raises(RunError, match=message):
        load(toy.library).run({"x": x, "shift": shift}, out=out)


def test_overlapping_arrays(toy):
    x, shift = arguments(9)
    with pytest.raises(RunError, match="overlaps"):
        load(toy.library).run({"x": x, "shift": shift}, out={"y": shift[:9]})
    block = np.empty(9, np.float32)
    with pytest.raises(RunError, match="overlaps"):
        load(toy.library).run({"x": x, "shift": shift}, out={"y": block, "total": block[:1].reshape(())})


def floats(*shape):
    return np.ones(shape, np.float32)


@pytest.mark.parametrize(
    ("args", "named", "message"),
    [
        ((floats(3, 8),), {}, "takes 2 inputs: 'x', 'shift'; given: 1 by position"),
        ((floats(3, 8), floats(6), floats(1)), {}, "3 by position"),
        ((floats(3, 8),), {"x": floats(6)}, "'x'"),
        ((floats(3, 8),), {"typo": floats(6)}, "typo"),
        ((floats(3, 7), floats(6)), {}, r"'x' must be float32\[n, 8\], that is \(3, 8\) for n=3.*\(3, 7\)"),
        ((floats(3, 8), floats(7)), {}, r"'shift' must be float32\[2\*n\], that is \(6,\) for n=3.*\(7,\)"),
        ((floats(24), floats(6)), {}, r"2-dimensional.*\(24,\)"),
        ((floats(3, 8).astype(np.float64), floats(6)), {}, "dtype float64.*astype"),
        ((floats(3, 8).astype(">f4"), floats(6)), {}, "dtype >f4"),
        ((np.ones((3, 8), int), floats(6)), {}, "dtype int64"),
        (([[1.0] * 8] * 3, floats(6)), {}, "dtype float64"),
        (([[1.0], [1.0, 2.0]], floats(6)), {}, "'x' of type list is not an array"),
        ((None, floats(6)), {}, "is a NoneType. Give a NumPy array"),
    ],
)
@pytest.mark.parametrize("first", [True, False], ids=["first call", "after one that fits"])
def test_unfit_inputs(toy, args, named, message, first):
    net = load(toy.library)
    if not first:
        net(floats(3, 8), floats(6))
    with pytest.raises(RunError, match=message):
        net(*args, **named)


def test_names_are_never_made_up(toy):
    given = defaultdict(lambda: floats(6), {"x": floats(3, 8), "typo": floats(6)})
    with pytest.raises(RunError, match="typo"):
        load(toy.library).run(given)
    assert list(given) == ["x", "typo"]


class Broken:
    """No array, and raises when asked for what an array has."""

    @property
    def dtype(self):
        raise OSError("no device")


def test_broken_objects(toy):
    with pytest.raises(RunError, match="'x' must be float32"):
        load(toy.library)(Broken(), floats(6))


def test_one_look_up_tells_that_a_call_like_one_before_fits(toy, monkeypatch):
    net = load(toy.library)
    x, shift = arguments(5)
    net(x, shift)
    monkeypatch.setattr(arrays, "as_input", lambda *_: pytest.fail("checked again"))
    assert_right(net(x + 1, shift), x + 1, shift)
    assert_right(tuple(net.run({"x": x, "shift": shift}).values()), x, shift)


def test_a_look_up_sees_all_that_matters():
    array = np.ones((2, 2), np.float32)
    unaligned = np.frombuffer(b"\0" + array.tobytes(), np.uint8)[1:].view(np.float32).reshape(2, 2)
    others = [array.T.copy().T, array.astype("f8"), array.astype(">f4"), array[:1], array.view(np.matrix), unaligned]
    keys = {arrays.layouts([other]) for other in [array, *others]}
    assert len(keys) == 7 and arrays.layouts([array.copy()]) in keys
    assert arrays.layouts([np.float32(1)]) != arrays.layouts([np.array(1, np.float32)])


def test_plans_are_forgotten_when_there_are_many(toy, monkeypatch):
    monkeypatch.setattr("mlc.runtime.model._MAX_PLANS", 3)
    net = load(toy.library)
    for n in [*range(8), *range(8)]:
        assert_right(net(*arguments(n)), *arguments(n))


def test_an_output_beyond_memory(toy):
    plan = Plan({}, None, (("y", (1 << 60,), np.dtype("f4")),))
    with pytest.raises(RunError, match=r"'y' of the shape \(1152921504606846976,\), 4611686018427387904 bytes"):
        load(toy.library)._open_library().call(plan, (), {})


def test_absurd_dimension(toy):
    huge = np.lib.stride_tricks.as_strided(floats(0), (0, 8), (0, 4))
    assert load(toy.library)(huge, floats(0))[0].shape == (0,)


def test_a_copy_that_no_memory_holds():
    huge = np.lib.stride_tricks.as_strided(np.zeros(4, np.float32), (1 << 40, 8), (0, 4))
    with pytest.raises(RunError, match=r"Input 'x' of the shape \(1099511627776, 8\) is not contiguous, and memory"):
        as_input("x", TensorSpec(np.dtype(np.float32), ("n", 8)), huge)


@pytest.mark.parametrize("given", [[1], None, "x"])
def test_names_of_a_run_are_a_dictionary(toy, given):
    with pytest.raises(RunError, match=f"takes arrays by name, not a {type(given).__name__}"):
        load(toy.library).run(given)


@pytest.mark.parametrize("threads", [0, -1, 1 << 40, "two", 2.5])
def test_numbers_of_threads(toy, threads):
    with pytest.raises(MlcError, match="1 to 1024"):
        load(toy.library, threads)
