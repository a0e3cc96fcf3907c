"""Calls whose arrays are like those of the call before: the short way gives what the long one gives, and no more."""

from __future__ import annotations

import gc
import sys
import weakref
from types import MappingProxyType

import numpy as np
import pytest
from toy_build import arguments, assert_right

from mlc.runtime import RunError, library, load

pytestmark = pytest.mark.skipif(library.Call is None, reason="installed without a C compiler")


class Named(np.ndarray):
    """An array of another class."""


def test_the_second_call_goes_the_short_way(toy, monkeypatch):
    net = load(toy.library, 2)
    net(*arguments(9))
    monkeypatch.setattr(net, "_execute", None)
    for seed in range(4):
        x, shift = arguments(9, seed)
        assert_right(net(x, shift), x, shift)
        assert_right(tuple(net.run({"x": x, "shift": shift}).values()), x, shift)
        by_name = net.run({"shift": shift, "x": x})
        assert list(by_name) == list(net.outputs)
        assert_right(tuple(by_name.values()), x, shift)
        with pytest.raises(TypeError):
            net(*arguments(10))


def test_what_differs_goes_the_long_way(toy):
    net = load(toy.library, 1)
    x, shift = arguments(6)
    for other in (x, x.view(Named), np.asfortranarray(x), np.repeat(x, 2, 0)[::2], x.astype("f4", order="K")):
        net(x, shift)
        assert_right(net(other, shift), x, shift)
        assert_right(net(other, shift=shift), x, shift)
        assert_right(tuple(net.run(MappingProxyType({"x": other, "shift": shift})).values()), x, shift)
    for n in (6, 0, 1, 200, 6):
        more, moved = arguments(n)
        assert_right(net(more, moved), more, moved)


@pytest.mark.parametrize(
    "wrong", [np.zeros((6, 8)), np.zeros((6, 8), ">f4"), np.zeros(48, "f4"), np.zeros((8, 6), "f4"), "text", None]
)
def test_errors_are_those_of_the_long_way(toy, wrong):
    net = load(toy.library, 1)
    _, shift = arguments(6)
    with pytest.raises(RunError) as first:
        net(wrong, shift)
    net(*arguments(6))
    with pytest.raises(RunError) as again:
        net(wrong, shift)
    assert str(again.value) == str(first.value)
    with pytest.raises(RunError) as again:
        net.run({"x": wrong, "shift": shift})
    assert str(again.value) == str(first.value)
    for values in ((), (shift,), (*arguments(6), shift)):
        with pytest.raises(RunError, match="takes 2 inputs"):
            net(*values)
        with pytest.raises(RunError, match="takes 2 inputs"):
            net.run(dict(zip(("x", "y", "shift"), values, strict=False)))


def test_nothing_is_kept_or_lost(toy):
    net = load(toy.library, 1)
    x, shift = arguments(6)
    net(x, shift)
    gc.collect()  # cycles of earlier tests hold references to None and to the data type
    counts = [sys.getrefcount(each) for each in (x, shift, x.dtype, None)]
    results = [net(x, shift) for _ in range(1000)]
    named = [net.run({"x": x, "shift": shift}) for _ in range(1000)]
    wrong = ({"x": x, "y": shift}, {"x": x}, {"x": 1, "shift": shift}, [x])
    missing = [net._repeat_named(each) for each in wrong * 1000]
    watched = [weakref.ref(results[0][0]), *map(weakref.ref, named[0].values())]
    assert {type(each) for each in missing} == {type(None)}
    del results, named, missing
    assert [ref() for ref in watched] == [None] * len(watched)
    assert abs(sum(counts) - sum(sys.getrefcount(each) for each in (x, shift, x.dtype, None))) < 100


def test_a_closed_model_does_not_run(toy):
    net = load(toy.library, 2)
    net(*arguments(6))
    watched = weakref.ref(net._library)
    net.close()
    gc.collect()
    assert watched() is None
    with pytest.raises(RunError, match="is closed"):
        net(*arguments(6))


def test_without_the_extension(toy, monkeypatch):
    monkeypatch.setattr(library, "Call", None)
    net = load(toy.library, 2)
    for seed in range(3):
        x, shift = arguments(7, seed)
        assert_right(net(x, shift), x, shift)
