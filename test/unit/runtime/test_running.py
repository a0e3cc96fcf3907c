"""Running a compiled model from Python."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from toy_build import SIGNATURE, arguments, assert_right

from mlc.runtime import InputError, RunError, TensorSpec, load


@pytest.mark.parametrize("threads", [None, 1, 2, 4, 7])
@pytest.mark.parametrize("n", [0, 1, 3, 17, 1000])
def test_right_for_any_threads_and_size(toy, threads, n):
    with load(toy.library, threads) as net:
        for seed in range(5):
            x, shift = arguments(n, seed)
            assert_right(net(x, shift), x, shift)


def test_bits_do_not_depend_on_threads(toy):
    x, shift = arguments(101)
    results = [load(toy.library, threads)(x, shift)[0].tobytes() for threads in (1, 2, 3, 4)]
    assert len(set(results)) == 1


def test_description(toy):
    net = load(toy.library)
    assert net.inputs == {"x": TensorSpec(np.dtype("float32"), ("n", 8)), "shift": TensorSpec(np.dtype("f4"), ("2*n",))}
    assert list(net.outputs) == ["y", "total"] and net.dims == ("n",) and net.name == "toy"
    assert repr(net) == "<mlc.Model toy(x: float32[n, 8], shift: float32[2*n]) -> (y: float32[n], total: float32[])>"


@pytest.mark.parametrize("threads", [0, -3])
def test_unfit_thread_count(toy, threads):
    with pytest.raises(InputError, match="threads"):
        load(toy.library, threads)


@pytest.mark.parametrize("threads", [1, 3])
def test_many_threads_at_once(toy, threads):
    net = load(toy.library, threads)

    def check(seed):
        for i in range(30):
            x, shift = arguments((seed * 31 + i * 7) % 60, i)
            assert_right(net(x, shift), x, shift)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(check, range(8)))


def test_close_during_calls(toy):
    net = load(toy.library, 2)
    x, shift = arguments(2000)
    started = threading.Barrier(3)

    def call_until_closed():
        started.wait()
        try:
            while True:
                assert_right(net(x, shift), x, shift)
        except RunError as error:
            return str(error)

    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(call_until_closed) for _ in range(2)]
        started.wait()
        net.close()
        assert all("is closed" in call.result(timeout=60) for call in calls)
    net.close()


def test_load_and_close_leave_no_threads(toy):
    def count():
        time.sleep(0.01)  # a thread that was joined is listed a little longer
        return len(os.listdir("/proc/self/task"))

    def settles(expected):
        return any(count() == expected for _ in range(1000))

    gc.collect()  # threads of models that earlier tests have dropped
    before = min(count() for _ in range(10))
    for _ in range(30):
        with load(toy.library, 3) as net:
            assert settles(before + 2)
            x, shift = arguments(3)
            assert_right(net(x, shift), x, shift)
        del net
        assert settles(before)


def test_profile(toy):
    net = load(toy.library, 2)
    rows = net.profile(*arguments(50))
    assert [kernel["name"] for kernel, _ in rows] == ["scale", "sum_reversed", "total"]
    assert all(0 < ns < 60e9 for _, ns in rows)
    assert rows[0][0]["flops"] == 800 and rows[0][0]["bytes"] == 232
    assert SIGNATURE["kernels"][0]["flops"] == "16*n"


def test_a_trace_has_a_track_for_each_thread(toy):
    net, given = load(toy.library, 3), arguments(200_000)
    kernels = {kernel["name"] for kernel, _ in net.profile(*given)}
    seen = set()
    for _ in range(200):
        events = net.trace(*given)
        assert {kernel["name"] for kernel, *_ in events} == kernels
        seen |= {thread for _, thread, _, _ in events}
        for track in seen:
            times = [time for _, thread, begin, end in events if thread == track for time in (begin, end)]
            assert times == sorted(times) and all(0 <= time < 60e9 for time in times)
        if seen == {0, 1, 2}:
            break
    assert seen == {0, 1, 2}
    assert_right(net(*given), *given)
    alone = load(toy.library, 1).trace(*given)
    assert [(kernel["name"], thread) for kernel, thread, *_ in alone] == [(name, 0) for name in sorted(kernels)]


FORK = """
import os, sys
import numpy as np
from mlc.runtime import load
net = load(sys.argv[1], 3)
x = np.arange(80, dtype=np.float32).reshape(10, 8); shift = np.zeros(20, np.float32)
before = net(x, shift)[0]
child = os.fork()
if child == 0:
    same = (net(x, shift)[0] == before).all()
    again = load(sys.argv[1], 2)
    same &= (again(x, shift)[0] == before).all()
    net.close(); again.close(); del net, again
    os._exit(0 if same else 1)
assert (net(x, shift)[0] == before).all()
assert os.waitpid(child, 0)[1] == 0
"""

ALONE = """
import sys
sys.modules.update(dict.fromkeys(["xdsl", "onnx", "islpy", "ml_dtypes", "torch", "typer", "rich"]))
import numpy as np
from mlc.runtime import load
with load(sys.argv[1]) as net:
    assert net(np.ones((2, 8), np.float32), np.zeros(4, np.float32))[0].shape == (2,)
net.close()
"""


@pytest.mark.parametrize("script", [FORK, ALONE], ids=["fork", "alone"])
def test_in_a_process_of_its_own(toy, script):
    result = subprocess.run([sys.executable, "-c", script, toy.library], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    assert "DeprecationWarning" in result.stderr or result.stderr == ""
