"""A model as a Python object: pickled, described, read-only, run on another thread."""

from __future__ import annotations

import asyncio
import copy
import multiprocessing
import pickle
import threading
from concurrent.futures import ProcessPoolExecutor, wait

import numpy as np
import pytest
from toy_build import SIGNATURE, arguments, assert_right

from mlc.runtime import Model, RunError, load


def run_elsewhere(net: Model, x: np.ndarray, shift: np.ndarray) -> tuple[int | None, list[np.ndarray]]:
    return net.threads, list(net(x, shift))


def test_a_model_goes_to_other_processes(toy):
    net, given = load(toy.library, 2), [arguments(n) for n in (3, 1, 6)]
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        for (x, shift), (threads, results) in zip(given, pool.map(run_elsewhere, [net] * 3, *zip(*given, strict=True)),
                                                  strict=True):  # fmt: skip
            assert threads == 2
            assert_right(results, x, shift)


def test_a_pickled_model_is_its_path_and_threads(toy):
    for threads in (None, 1, 3):
        data = pickle.dumps(load(toy.library, threads))
        again = pickle.loads(data)
        assert len(data) < 300 and (again.path, again.threads) == (toy.library.resolve(), threads)
        assert_right(copy.deepcopy(again)(*arguments(2)), *arguments(2))
    again.close()
    with pytest.raises(RunError, match="is closed"):
        pickle.dumps(again)


def test_inputs_and_outputs_are_read_only(toy):
    net = load(toy.library)
    for specs in (net.inputs, net.outputs):
        with pytest.raises(TypeError):
            specs["x"] = None
        with pytest.raises(TypeError):
            del specs["x"]


def test_html(build):
    names = [{**spec, "name": f"<b>{spec['name']}"} for spec in SIGNATURE["inputs"]]
    net = load(build(signature={**SIGNATURE, "inputs": names}).library)
    html = net._repr_html_()
    assert "<td>input</td><td>&lt;b&gt;x</td><td>float32[n, 8]</td>" in html and "<b>" not in html
    assert "<td>output</td><td>y</td><td>float32[n]</td>" in html
    assert repr(net) == "<mlc.Model toy(<b>x: float32[n, 8], <b>shift: float32[2*n]) -> (y: float32[n], " \
                        "total: float32[])>"  # fmt: skip


def test_calls_on_another_thread(toy):
    net, given = load(toy.library, 2), [arguments(n, n) for n in range(40)]
    futures = [net.run_async({"x": x, "shift": shift}) for x, shift in given]
    for (x, shift), future in zip(given, futures, strict=True):
        assert_right(list(future.result(10).values()), x, shift)
    x, shift = given[5]
    out = np.empty(5, np.float32)
    assert net.run_async({"x": x, "shift": shift}, {"y": out}).result(10)["y"] is out
    assert_right([out, out.sum()], x, shift)
    with pytest.raises(RunError, match="takes 2 inputs"):
        net.run_async({"x": x}).result(10)


def test_a_call_can_be_awaited(toy):
    net, (x, shift) = load(toy.library), arguments(4)

    async def both():
        calls = [asyncio.wrap_future(net.run_async({"x": x, "shift": shift})) for _ in range(2)]
        return await asyncio.gather(*calls)

    for results in asyncio.run(both()):
        assert_right(list(results.values()), x, shift)


def test_calls_that_wait_when_the_model_closes(toy):
    net, (x, shift) = load(toy.library), arguments(4)
    gate = threading.Event()
    net._queue.submit(gate.wait, 10)
    future = net.run_async({"x": x, "shift": shift})
    net.close()
    gate.set()
    with pytest.raises(RunError, match="is closed"):
        future.result(10)


def test_the_thread_goes_with_the_model(toy):
    net, (x, shift) = load(toy.library), arguments(4)
    before = set(threading.enumerate())
    wait([net.run_async({"x": x, "shift": shift})])
    (thread,) = set(threading.enumerate()) - before
    del net
    thread.join(10)
    assert not thread.is_alive()
