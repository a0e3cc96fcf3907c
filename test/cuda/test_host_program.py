"""Models compiled for a GPU, loaded and run as every artifact: each against onnxruntime."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from fake_gpu import Gpu, model, random

import mlc
import mlc.numpy as mnp
from mlc.runtime import Model

Feed = dict[str, Any]
TARGET = "cuda:sm_90"


def mlp() -> onnx.ModelProto:
    return model(
        "net (float[n,8] x) => (float[n,4] y) { a = MatMul(x, w)\n b = Relu(a)\n y = MatMul(b, v) }",
        w=random(8, 16), v=random(16, 4),
    )  # fmt: skip


def convolutions() -> onnx.ModelProto:
    return model(
        """net (float[n,3,8,8] x) => (float[n,5] y) {
             c = Conv<kernel_shape=[3,3], pads=[1,1,1,1]>(x, w)
             e = Relu(c)
             p = MaxPool<kernel_shape=[2,2], strides=[2,2]>(e)
             q = Conv<kernel_shape=[3,3], group=8>(p, d)
             g = GlobalAveragePool(q)
             h = Flatten(g)
             y = Gemm(h, k, b) }""",
        w=random(8, 3, 3, 3), d=random(8, 1, 3, 3), k=random(8, 5), b=random(5),
    )  # fmt: skip


def transformer() -> onnx.ModelProto:
    return model(
        """net (float[b,s,16] x) => (float[b,s,16] y) {
             n = LayerNormalization<axis=-1>(x, g)
             q = MatMul(n, wq)
             k = MatMul(n, wk)
             v = MatMul(n, wv)
             t = Transpose<perm=[0,2,1]>(k)
             a = MatMul(q, t)
             p = Softmax<axis=-1>(a)
             o = MatMul(p, v)
             z = Add(x, o)
             u = MatMul(z, w1)
             h = Tanh(u)
             w = MatMul(h, w2)
             y = Add(z, w) }""",
        g=random(16), wq=random(16, 16) / 4, wk=random(16, 16) / 4, wv=random(16, 16) / 4,
        w1=random(16, 32) / 4, w2=random(32, 16) / 4,
    )  # fmt: skip


def counted_loop() -> onnx.ModelProto:
    return model(
        """net (float[1,8] x) => (float[1,8] y, float[9,1,8] ys) {
             trips = Constant<value = int64 {9}>()
             go = Constant<value = bool {1}>()
             y, ys = Loop(trips, go, x) <body = body (int64 i, bool c, float[1,8] a)
                 => (bool d, float[1,8] s, float[1,8] t) {
               d = Identity(c)
               m = MatMul(a, w)
               s = Tanh(m)
               n = MatMul(s, w)
               t = Relu(n) }> }""",
        w=random(8, 8),
    )


def loop_with_condition() -> onnx.ModelProto:
    return model(
        """net (float[4] x, float limit) => (float[4] y) {
             trips = Constant<value = int64 {50}>()
             go = Constant<value = bool {1}>()
             y = Loop(trips, go, x) <body = body (int64 i, bool c, float[4] a) => (bool d, float[4] s) {
               f = Constant<value_float = 1.5>()
               s = Mul(a, f)
               m = ReduceMax<keepdims=0>(s)
               d = Less(m, limit) }> }"""
    )


def branch() -> onnx.ModelProto:
    return model(
        """net (float[n] x) => (float[n] y) {
             s = ReduceSum<keepdims=0>(x)
             zero = Constant<value_float = 0.0>()
             c = Greater(s, zero)
             y = If(c) <then_branch = t () => (float[n] p) { p = Exp(x) },
                        else_branch = e () => (float[n] p) { q = Neg(x)  p = Abs(q) }> }"""
    )


def nonzero() -> onnx.ModelProto:
    return model(
        """net (float[n] x, float[n] v) => (float[k] y, int64[1,k] z) {
             zero = Constant<value_float = 0.0>()
             c = Greater(x, zero)
             z = NonZero(c)
             y = Compress<axis=0>(v, c) }"""
    )


def size_from_data() -> onnx.ModelProto:
    return model(
        """net (int64 n, float[3] x) => (float[k,3] y) {
             zero = Constant<value = int64 {0}>()
             one = Constant<value = int64 {1}>()
             r = Range(zero, n, one)
             f = Cast<to=1>(r)
             a = Constant<value = int64[1] {1}>()
             u = Unsqueeze(f, a)
             y = Mul(u, x) }"""
    )


def sorting() -> onnx.ModelProto:
    return model(
        """net (float[n,9] x) => (float[n,3] y, int64[n,3] z) {
             k = Constant<value = int64[1] {3}>()
             y, z = TopK(x, k) }"""
    )


def strings() -> onnx.ModelProto:
    return model("net (string[n] a, string[n] b) => (string[n] y) { y = StringConcat(a, b) }")


def feeds_of_strings() -> list[Feed]:
    return [{"a": np.array(["x", "yz", ""], object), "b": np.array(["1", "2", "3"], object)}]


CASES: dict[Callable[[], onnx.ModelProto], Callable[[], list[Feed]]] = {
    mlp: lambda: [{"x": random(n, 8)} for n in (3, 5, 1)],
    convolutions: lambda: [{"x": random(n, 3, 8, 8)} for n in (2, 3)],
    transformer: lambda: [{"x": random(2, 5, 16)}, {"x": random(1, 9, 16)}],
    counted_loop: lambda: [{"x": random(1, 8)}],
    loop_with_condition: lambda: [{"x": abs(random(4)), "limit": np.array(n, np.float32)} for n in (30, 300)],
    branch: lambda: [{"x": abs(random(5))}, {"x": -abs(random(7))}],
    nonzero: lambda: [{"x": random(n), "v": random(n)} for n in (9, 20)],
    size_from_data: lambda: [{"n": np.array(n), "x": random(3)} for n in (4, 40)],
    sorting: lambda: [{"x": random(4, 9)}],
    strings: feeds_of_strings,
}


def check(net: Model, source: onnx.ModelProto, feeds: list[Feed]) -> None:
    session = onnxruntime.InferenceSession(source.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    for feed in feeds:
        found = net.run(feed)
        for name, expected in zip(names, session.run(names, feed), strict=True):
            assert found[name].shape == expected.shape
            if expected.dtype == object:
                assert found[name].tolist() == expected.tolist()
            else:
                np.testing.assert_allclose(found[name], expected, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
def test_a_model_agrees_with_onnxruntime(make: Callable[[], onnx.ModelProto], gpu: Gpu) -> None:
    source, feeds = make(), CASES[make]()
    with mlc.compile(source, target=TARGET) as net:
        check(net, source, feeds)
        check(net, source, feeds)  # again, on graphs of earlier runs
        assert len(net.profile(**feeds[0])) == len(net.signature["kernels"])
        check(net, source, feeds[:1])


def test_random_operators_depend_on_the_run_counter_as_on_a_cpu(gpu: Gpu) -> None:
    source = model("net (float[3,4] x) => (float[3,4] y) { r = RandomNormalLike<seed=1.0>(x)\n y = Add(x, r) }")
    x = random(3, 4)
    with mlc.compile(source, target=TARGET) as net, mlc.compile(source) as cpu:
        for n in (0, 1, 2**33, 2**33):
            net.seed(n), cpu.seed(n)
            np.testing.assert_allclose(net(x), cpu(x), rtol=1e-5, atol=1e-6)


def test_a_traced_training_step_agrees_with_the_cpu(gpu: Gpu) -> None:
    def loss(w: Any, x: Any, y: Any) -> Any:
        return mnp.mean((mnp.tanh(x @ w["a"]) @ w["b"] - y) ** 2)

    def step(w: Any, x: Any, y: Any) -> Any:
        grads = mlc.grad(loss)(w, x, y)
        return {name: w[name] - 0.1 * grads[name] for name in w}

    w, x, y = {"a": random(6, 8), "b": random(8, 2)}, random(5, 6), random(5, 2)
    jitted = mlc.jit(step, target=TARGET, wait=True)
    expected = mlc.jit(step, wait=True)(w, x, y)
    for name, found in jitted(w, x, y).items():
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected[name]), rtol=1e-4, atol=1e-6)
    for traced in jitted.programs.values():
        traced.model.close()


UPDATES: dict[str, Callable[[Any, Any], Any]] = {
    "product": lambda w, x: w - 0.5 * (x.mT @ (x @ w)),
    "decay": lambda w, x: 0.9 * w + 0.1,
    "centred": lambda w, x: w - mnp.mean(w, axis=1, keepdims=True),
    "centred across": lambda w, x: w - mnp.mean(w, axis=0, keepdims=True),
    "scaled by all": lambda w, x: w / mnp.sum(w * w),
}


@pytest.mark.parametrize("shape", [(6, 4), (67, 129)])
@pytest.mark.parametrize("name", UPDATES)
def test_a_donated_argument_is_updated_in_place(name: str, shape: tuple[int, int], gpu: Gpu) -> None:
    """No copy is left; the emulation finds a thread that reads an element after another has overwritten it."""
    w, x = random(*shape), random(5, shape[0])
    jitted, reference = (mlc.jit(UPDATES[name], target=target, wait=True, donate="w") for target in (TARGET, "cpu"))
    expected = np.asarray(reference(w.copy(), x))
    before = gpu.counts()
    np.testing.assert_allclose(np.asarray(jitted(w.copy(), x)), expected, rtol=2e-4, atol=1e-4)
    assert not {"cuGraphAddMemcpyNode", "cuMemcpyDtoDAsync_v2"} & set(gpu.since(before))
    for traced in jitted.programs.values():
        traced.model.close()


def test_an_argument_that_a_later_kernel_reads_is_updated_last(gpu: Gpu) -> None:
    def step(n: Any, w: Any, x: Any) -> Any:
        return n + 1, w.mT @ x, w + n

    n, w, x = np.array(3, np.float32), random(40, 40), random(40, 40)
    jitted = mlc.jit(step, target=TARGET, wait=True, donate=("n", "w"))
    for found, wanted in zip(jitted(n.copy(), w.copy(), x), (n + 1, w.T @ x, w + n), strict=True):
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-4, atol=1e-4)
    before = gpu.counts()
    jitted(n.copy(), w.copy(), x)
    assert not {"cuGraphAddMemcpyNode", "cuMemcpyDtoDAsync_v2"} & set(gpu.since(before))
    for traced in jitted.programs.values():
        traced.model.close()


def test_state_lives_on_the_device(gpu: Gpu) -> None:
    def step(w: Any, n: Any, x: Any) -> Any:
        return w - 0.02 * (x.mT @ (x @ w)), n + 1, mnp.mean((x @ w) ** 2)

    w, x = random(6, 4), random(5, 6)
    trainings = [mlc.jit(step, state=("w", "n"), target=target).create(w, 0) for target in (TARGET, "cpu")]
    for n in range(3):
        found, expected = (float(training(x)) for training in trainings)
        np.testing.assert_allclose(found, expected, rtol=1e-4)
        if n == 0:
            trainings[0].set_state("n", np.array(8))
    ours, theirs = (training.get_state("w") for training in trainings)
    np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4)
    assert trainings[0].get_state("n") == 10


def test_tensor_maps_are_encoded_for_the_sizes_of_a_run(gpu: Gpu, tmp_path: Path) -> None:
    """The driver checks what it encodes; runs of the same sizes and addresses have one graph."""
    w, v = (random(*shape).astype(np.float16) for shape in ((64, 72), (72, 8)))
    source = model(
        """net (float16[n,64] x) => (float16[n,8] y) {
             a = MatMul(x, w)
             b = Relu(a)
             y = MatMul(b, v) }""",
        w=w, v=v,
    )  # fmt: skip
    tiles = "contraction: S0 S1 | m/64p n/64vp | k/64 | warps=4 copy=tma"
    (tmp_path / "mine").write_text(f"contract_2: {tiles}\n")
    with mlc.compile(source, target=TARGET, schedule=str(tmp_path / "mine")) as net:
        for n in (70, 130, 130):
            before = gpu.counts()
            x = random(n, 64).astype(np.float16)
            wanted = np.maximum(x.astype(float) @ w, 0) @ v
            np.testing.assert_allclose(net(x), wanted, rtol=0, atol=2e-3 * np.abs(wanted).max())
            assert gpu.since(before)["cuTensorMapEncodeTiled"] == 3  # two operands, and the result
        assert "cuGraphInstantiateWithFlags" not in gpu.since(before)
